"""Whether a lesson in a model's words can stand: shown by its messages, no instruction, more than any model knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ireneo.grounding.check import check_text
from ireneo.grounding.claims import Claim, claims
from ireneo.grounding.error_text import error_text
from ireneo.grounding.evidence import Evidence
from ireneo.grounding.neutral import instruction_like
from ireneo.grounding.sources import call_text, source_texts
from ireneo.lessons.study import MOST_SOURCES
from ireneo.lessons.wording import limited
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.prompts.lessons.reply import Taught

MOST_WORDS = 60
REPEATED_WORDS = 4
"""So many words in a row out of a sentence that orders something are that order."""
OWN_TOOLS = "ireneo"
"""What memory's own tools are called by in a log: what they answer was recalled."""
_OF_SOMETHING = frozenset(("path", "identifier", "error", "command", "quotation"))
"""Claims that name something of the project or its tools; a number alone, or a proper name, does not."""
_ORDERS = lazy_re(
    r"\b(?:always|never|must|should|shall|please|make sure|be sure|remember to|do not|don['’]t|ensure|required? to"
    r"|before (?:you|any|each|every|running)|first,? run|need(?:s)? to|you (?:can|may|have))\b",
    re.I,
)
_PLACE = lazy_re(r"(?<![\w/.:-])[\w.-]+(?:/[\w-]+(?:\.[\w-]+)*)+")
"""Names with a slash; in prose some are words side by side, which a lesson can do without."""
_SENTENCE = lazy_re(r"(?<=[.!?])\s+|\n+")
_WORD = lazy_re(r"(?<![\w./:@|&=+-])[\w./:@|&=+-]*\w")


def limits_of(taught: Taught) -> str:
    """When a lesson does not apply, as it stands behind it."""
    when = " ".join(taught.not_when.split()).rstrip(".")
    if not when:
        return ""
    return f"{when}." if when.lower().startswith(("not ", "it does not")) else f"It does not apply: {when}."


def fault_of(taught: Taught, shown: Sequence[Message]) -> str:
    """Why a lesson can't stand, in a sentence; empty where it can. `shown` are the messages that it numbers, from 1."""
    said = limited(taught.lesson, limits_of(taught))
    cited = cited_by(taught.messages, shown)
    if error_text(taught.lesson) or error_text(said):
        return "It is an error text, and no lesson."
    if instruction_like(said) or instruction_like(taught.task_type):
        return "It repeats an instruction."
    if len(said.split()) > MOST_WORDS:
        return f"It has more than {MOST_WORDS} words."
    if any(not 1 <= number <= len(shown) for number in taught.messages):
        return "It names a message that was not shown."
    if not cited:
        return "It names no message that shows it."
    if taught.category == "failure" and not taught.not_when.strip():
        return "It does not say when it does not apply."
    return _claims_fault(taught, cited) or _orders_fault(taught, cited)


def cited_by(numbers: Iterable[int], shown: Sequence[Message]) -> list[Message]:
    """The messages that are meant by `numbers`, each once; as many as are kept as sources, so that those show it."""
    return [shown[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(shown)][:MOST_SOURCES]


def speaks_of(text: str, cited: Sequence[Message]) -> bool:
    """Whether the messages show anything of what `text` names; only then do they speak for or against it."""
    evidence = Evidence(source_texts(cited))
    return any(evidence.supports(claim) for claim in _named(text))


def _claims_fault(taught: Taught, cited: Sequence[Message]) -> str:
    if not _named(taught.lesson):
        return "It names nothing of this project or its tools; any model knows it."
    said, texts = limited(taught.lesson, limits_of(taught)), source_texts(cited)
    placed = next((each for each in _PLACE.findall(said) if not any(each in text for text in texts)), "")
    if placed:
        return f"“{placed[:80]}” stands in none of its messages."
    missing = check_text(said, Evidence(texts))
    return f"The {missing[0].kind} “{missing[0].text[:80]}” stands in none of its messages." if missing else ""


def _named(text: str) -> list[Claim]:
    return [claim for claim in claims(text) if claim.kind in _OF_SOMETHING]


def _orders_fault(taught: Taught, cited: Sequence[Message]) -> str:
    """What an output asks for is nobody's experience until somebody did it."""
    said = limited(taught.lesson, limits_of(taught))
    done = Evidence([call_text(call) for each in cited for call in each.draft.calls])
    spoken = Evidence(text for each in cited if each.role != "tool" for text in source_texts([each]))
    for claim in claims(said):
        if claim.kind == "command" and not done.supports(claim) and not spoken.supports(claim):
            return f"Nobody ran “{claim.text[:80]}” in its messages; that an output names it is no experience."
    runs = _runs(said)
    for each in cited:
        if each.role != "tool":
            continue
        for sentence in _SENTENCE.split("\n".join(source_texts([each]))):
            if _ORDERS.search(sentence) and runs & _runs(sentence):
                return "It repeats what an output asks for."
    return ""


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [word.lower() for word in _WORD.findall(text)]
    return {tuple(words[at : at + REPEATED_WORDS]) for at in range(len(words) - REPEATED_WORDS + 1)}
