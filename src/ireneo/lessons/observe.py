"""What claims of runs are called, and when their words may be told: what every reader of runs shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.faults import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT, WITHOUT_A_WORD
from ireneo.lessons.shell import TriedCall
from ireneo.log.message import Message, MessageId, Thinking
from ireneo.patterns import lazy_re

# A lesson in words: what it says, and when that does not apply.


def limited(text: str, limits: str) -> str:
    """The sentence of a lesson with its limits behind it."""
    said, but = text.strip(), limits.strip()
    if not but:
        return said
    end = "" if said.endswith((".", "!", "?", "”")) else "."
    return f"{said}{end} {but}"


# What claims of runs are called, and when their words may be told: what every reader of runs shares.


LONGEST = 420
"""Characters of a lesson."""
MOST_SOURCES = 8
Messages = Mapping[MessageId, Message]


def is_supported(text: str, sources: Sequence[MessageId], messages: Messages) -> bool:
    """Whether `text` may be told: short, no instruction to a reader, and all that it names stands in its sources."""
    if not text or len(text) > LONGEST or not text.isprintable() or instruction_like(text):
        return False
    cited = [messages[name] for name in sources if name in messages]
    return bool(cited) and not check_text(text, SourceIndex(texts_of(cited)))


def texts_of(messages: Iterable[Message]) -> list[str]:
    """What `messages` say, and what their agent thought: a reason is as often only thought."""
    said = list(messages)
    thought = [part.text for each in said for part in each.parts if isinstance(part, Thinking) and part.text]
    return [*source_texts(said), *thought]


def cited_sources(ids: Iterable[MessageId], messages: Messages) -> tuple[MessageId, ...]:
    """Ids each once, in the order in which they stand in the run, at most so many."""
    named = sorted({name for name in ids if name in messages}, key=lambda name: messages[name].position)
    return tuple(named[:MOST_SOURCES])


# Claims are named by codes that forget what is of one run only.
#
# ``go test ⇒ <any>`` is an occasion: how often it was run, and failed at all. ``go test ⇒ setup failed`` is a failure.
# ``go test ⇒ <any> → with:-tags`` is a trap with its way out, whatever the error said. ``go test: -tags`` is what the
# agent itself explained.


ENDS_IN = " ⇒ "
GOT_OVER = " → "
"""What stands between the parts of a cue: the program, its error, and the remedy."""
ANY = "<any>"
UNREAD = " <unread>"
"""What stands behind a tool for files in a cue, where it was used on a file that was not read before."""
EXPLAINED = "<explained> "
"""What the cues of claims in the agent's own words begin with."""
DEMANDED = "<demanded> "
"""What the cues of claims in the environment's own words begin with."""
ASKED = "<asked> "
"""What the cues of claims begin with by which users ask for the same again and again."""
REFUSED = "<refused> "
"""What the cues of claims begin with by which users refused a command."""
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
    "fewer": "without {}",
}
"""How the codes of a claim read in its name."""
_NAME_CHARACTERS = 80
_PLAIN = {
    FOUND_NOTHING: "finds nothing",
    TESTS_FAILED: "fails in its tests",
    TIMED_OUT: "runs into its time limit",
    WITHOUT_A_WORD: "fails",
}
_MARKS = lazy_re(r"^<[a-z]+> ")


def occasion_of(cue: str) -> str:
    """The claim whose observations tell how often another could have shown: the program's of an error, else itself."""
    if GOT_OVER in cue or ENDS_IN not in cue:
        return cue
    return f"{cue.partition(ENDS_IN)[0]}{ENDS_IN}{ANY}"


def is_statistic(cue: str) -> bool:
    """Whether a claim only says that something fails, and how: it is counted, and no lesson is made of it."""
    return ENDS_IN in cue and GOT_OVER not in cue


def claim_words(cue: str) -> str:
    """The code of a claim in words: as a name that people read."""
    if ENDS_IN not in cue:
        return _MARKS.sub("", cue)
    action, _, rest = cue.partition(ENDS_IN)
    fault, _, label = rest.partition(GOT_OVER)
    doing = f"{action.removesuffix(UNREAD)} unread" if action.endswith(UNREAD) else action
    said = f"{doing}{ENDS_IN}{_FAULT_WORDS.get(fault, fault)}"
    return f"{said}{GOT_OVER}{remedy_words(label)}" if label else said


def remedy_words(label: str) -> str:
    """The code of a remedy in words."""
    code, *given = label.split(":", 2 if label.startswith("swap:") else 1)
    return _REMEDY_WORDS[code].format(*given) if given and code in _REMEDY_WORDS else label


def action_of(each: TriedCall) -> str:
    """The name of what was done, as a cue begins with it."""
    name = plain_name(each.program)
    return f"{name}{UNREAD}" if each.unread else name


def plain_name(said: str) -> str:
    """`said` on one line and short, without what stands between the parts of a cue."""
    return " ".join(said.replace(ENDS_IN.strip(), "=>").replace(GOT_OVER.strip(), "->").split())[:_NAME_CHARACTERS]


def fails_with(failed: TriedCall, fault: str) -> str:
    """The words for a call that ends in an error."""
    of = " of a file that was not read before" if failed.unread else ""
    return f"`{failed.shown}`{of} {_PLAIN.get(fault) or f'fails with “{fault}”'}"
