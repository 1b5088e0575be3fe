"""What a model's reply about a story says: its sentences, each with what it is worth to whoever goes on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from ireneo.grounding.story import sentences, with_quotation_marks
from ireneo.language.files import either, topic
from ireneo.language.story_topics import Turns
from ireneo.patterns import lazy_re
from ireneo.prompts.replies import StoryReply

WORTH = 5.0
"""What a sentence is worth, 1 to 10, of which a model doesn't say it."""
_WORTH = lazy_re(r"(?:(?<!\s)\s++)?\[(10|[1-9])(?:/10)?\](?P<ends>[.!?…]*)")
_ENDS = ".!?…。！？"
_CLOSES = "\"'”’»」』)]*_ "


class ToldSentence(Struct, frozen=True):
    """A sentence of a model, and what it says that it is worth."""

    text: str
    worth: float


def told(reply: StoryReply) -> list[ToldSentence]:
    """The sentences of a reply's text, each with the worth that stands in brackets behind it, or else before it."""
    text = with_quotation_marks(reply.text)
    marks = list(_WORTH.finditer(text))
    if not marks:
        return [ToldSentence(each, WORTH) for each in sentences(text)]
    leads = not text[: marks[0].start()].strip()
    starts = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    worths = [float(mark[1]) for mark in marks]
    worths = [WORTH, *worths] if leads else [*worths, WORTH]
    out: list[ToldSentence] = []
    held, most = "", 0.0
    for number, (start, end, worth) in enumerate(zip(starts, ends, worths, strict=True)):
        ending = marks[number]["ends"] if number < len(marks) and not leads else ""
        held, most = f"{held}{text[start:end]}{ending}", max(most, worth)
        # A bracket in the midst of a sentence is for all of it.
        if held.rstrip(_CLOSES)[-1:] not in _ENDS and number < len(marks) and not leads:
            continue
        out += [ToldSentence(each, most) for each in sentences(held)]
        held, most = "", 0.0
    return out


def bare_text(reply: StoryReply) -> str:
    """The text of a reply without what it says that its sentences are worth."""
    return _WORTH.sub(r"\g<ends>", reply.text)


def prose(reply: StoryReply) -> list[str]:
    """The sentences of a reply's text."""
    return [each.text for each in told(reply)]


LONGEST_JOINED = 400
"""Characters up to which a sentence stands with the one before it that it points back to."""
_POINTS_BACK = lazy_re(lambda: rf"{either(topic(Turns).points_back)}\b", re.IGNORECASE)


def points_back(text: str) -> bool:
    """Whether a sentence says little, or of somebody else, without the one before it, such as “She told him”."""
    return bool(_POINTS_BACK.match(text))


def standing_alone(kept: Iterable[ToldSentence]) -> list[ToldSentence]:
    """The sentences, each that points back together with the one before it: so any of them may be shown alone."""
    out: list[ToldSentence] = []
    for each in kept:
        whole = f"{out[-1].text} {each.text}" if out and points_back(each.text) else ""
        if whole and len(whole) <= LONGEST_JOINED:
            out[-1] = ToldSentence(whole, max(out[-1].worth, each.worth))
        else:
            out.append(each)
    return out
