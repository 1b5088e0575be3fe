"""The cues of claims, and the checks that their texts must pass, shared by all readers of runs.

A cue names a claim by codes, without what is specific to one run. ``go test ⇒ <any>`` is an occasion, which counts how
often a program was run and failed in any way. ``go test ⇒ setup failed`` is a failure. ``go test ⇒ <any> → with:-tags``
is a trap with its way out, whatever the error was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.lessons.faults import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT, WITHOUT_A_WORD
from ireneo.lessons.shell import TriedCall
from ireneo.log.calls import has_instruction
from ireneo.log.message import Message, MessageId, Thinking
from ireneo.patterns import lazy_re


def with_limits(text: str, limits: str) -> str:
    """The sentence of a lesson, followed by its limits."""
    said, but = text.strip(), limits.strip()
    if not but:
        return said
    end = "" if said.endswith((".", "!", "?", "”")) else "."
    return f"{said}{end} {but}"


LONGEST = 420
"""The maximum number of characters of a lesson."""
MOST_SOURCES = 8
Messages = Mapping[MessageId, Message]


def is_supported(text: str, sources: Sequence[MessageId], messages: Messages) -> bool:
    """Whether `text` may become a lesson: short, no instruction to its reader, and grounded in its sources."""
    if not text or len(text) > LONGEST or not text.isprintable() or has_instruction(text):
        return False
    cited = [messages[name] for name in sources if name in messages]
    return bool(cited) and not check_text(text, SourceIndex(texts_of(cited)))


def texts_of(messages: Iterable[Message]) -> list[str]:
    """The texts of `messages`, with the agent's thoughts, since a reason is often only thought."""
    said = list(messages)
    thought = [part.text for each in said for part in each.parts if isinstance(part, Thinking) and part.text]
    return [*source_texts(said), *thought]


def cited_sources(ids: Iterable[MessageId], messages: Messages) -> tuple[MessageId, ...]:
    """The ids of known messages, each once, in the order of the run, at most `MOST_SOURCES`."""
    named = sorted({name for name in ids if name in messages}, key=lambda name: messages[name].position)
    return tuple(named[:MOST_SOURCES])


ENDS_IN = " ⇒ "
GOT_OVER = " → "
"""Separators of the parts of a cue: the program, its error, and the remedy."""
ANY = "<any>"
UNREAD = " <unread>"
"""In a cue, follows a tool for files if the file had not been read before."""
ASKED = "<asked> "
"""Prefix of the cues of wishes that users express repeatedly."""
REFUSED = "<refused> "
"""Prefix of the cues of commands that users refused."""
PLACE = "<place>"
"""Part of the cue of a path that doesn't exist, after its project."""
UNKNOWN = "<unknown>"
"""Part of the cue of a name that a tool doesn't know, after its project."""
_FAULT_WORDS = {
    ANY: "any error",
    FOUND_NOTHING: "found nothing",
    TIMED_OUT: "timed out",
    TESTS_FAILED: "tests failed",
    WITHOUT_A_WORD: "no error named",
}
_REMEDY_WORDS = {
    "first": "{} first",
    "use": "{}",
    "with": "with {}",
    "without": "without {}",
    "no": "no {}",
    "one": "one of {} at a time",
    "swap": "{1} for {0}",
    "in": "in {}",
    "set": "{} set",
    "write": "write {}",
}
"""The codes of a remedy in words."""
_NAME_CHARACTERS = 80
_PLAIN = {
    FOUND_NOTHING: "finds nothing",
    TESTS_FAILED: "fails in its tests",
    TIMED_OUT: "runs into its time limit",
    WITHOUT_A_WORD: "fails",
}
_MARKS = lazy_re(r"^<[a-z]+> ")


def occasion_of(cue: str) -> str:
    """The claim that counts how often another could have shown: for an error its program's, otherwise itself."""
    if GOT_OVER in cue or ENDS_IN not in cue:
        return cue
    return f"{cue.partition(ENDS_IN)[0]}{ENDS_IN}{ANY}"


def is_statistic(cue: str) -> bool:
    """Whether a claim only counts failures; no lesson is made of it."""
    return ENDS_IN in cue and GOT_OVER not in cue


def describe_claim(cue: str) -> str:
    """The cue of a claim in words, as a name for people."""
    if ENDS_IN not in cue:
        return _MARKS.sub("", cue)
    action, _, rest = cue.partition(ENDS_IN)
    fault, _, label = rest.partition(GOT_OVER)
    doing = f"{action.removesuffix(UNREAD)} unread" if action.endswith(UNREAD) else action
    said = f"{doing}{ENDS_IN}{_FAULT_WORDS.get(fault, fault)}"
    return f"{said}{GOT_OVER}{describe_remedy(label)}" if label else said


def describe_remedy(label: str) -> str:
    """The code of a remedy in words."""
    code, *given = label.split(":", 2 if label.startswith("swap:") else 1)
    return _REMEDY_WORDS[code].format(*given) if given and code in _REMEDY_WORDS else label


def cue_action(each: TriedCall) -> str:
    """The first part of a cue: the program or tool."""
    name = cue_part(each.program)
    return f"{name}{UNREAD}" if each.unread else name


def cue_part(said: str) -> str:
    """Return `said` on one line and shortened, without the separators of a cue."""
    return " ".join(said.replace(ENDS_IN.strip(), "=>").replace(GOT_OVER.strip(), "->").split())[:_NAME_CHARACTERS]


def describe_failure(failed: TriedCall, fault: str) -> str:
    """The words for a call that fails with an error."""
    of = " of a file that was not read before" if failed.unread else ""
    bare = _SAYS_NOTHING.search(fault) is not None
    return f"`{failed.shown}`{of} {_PLAIN.get(fault) or ('fails' if bare else f'fails with “{fault}”')}"


_SAYS_NOTHING = lazy_re(r"(?i)\bexit(?:ed|s)? (?:with )?(?:an? )?(?:code|status|error)\b|^found (?:…|\d+) errors?\b")
"""An error message that says nothing but that there was an error."""
