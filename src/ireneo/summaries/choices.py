"""What a user chose by its number: "2", "let's do 2 for now", "option 3, but off by default".

Such words say nothing without the list that they answer, which stands in the agent's words before them. So the list is
kept where the agent ends a turn with it, and what was chosen is told in the agent's words beside the user's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ireneo.language.files import LANGUAGES, either, from_data, of_language
from ireneo.language.topics import OwnWords
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Line, Summary

MOST_OPTIONS = 6
LONGEST_OPTION = 160
"""Characters of one that are kept."""
LINES_BEFORE = 4
"""Lines before the list in which the question stands that it answers."""
LONGEST_CHOICE = 240
"""Characters of a message that chooses: a longer one says by itself what it wants."""
OFFERED, CHOSEN = 0.2, 9.0
"""The list is kept for what will be chosen of it, and hardly ever shown: the prose says what it says."""
_OPTION = lazy_re(
    r"^\s{0,6}(?:\*\*|#{1,4} )?(?:option )?\(?(?P<number>[1-9])[.):](?:\*\*)?\s+(?P<said>\S.*)$", re.I | re.M
)
_KEPT = lazy_re(r"(?:^|: |; )(?P<number>[1-9])\. (?P<said>.*?)(?=; [1-9]\. |$)")
LIST = "I listed: "


def options_line(message: Message) -> Line | None:
    """The numbered list with which the agent ends its words; None where it numbers none."""
    found: dict[str, str] = {}
    begins = 0
    for option in _OPTION.finditer(message.text):
        if option["number"] == "1":
            # The last list is the one that an answer is about.
            found, begins = {}, option.start()
        if int(option["number"]) == len(found) + 1:
            found[option["number"]] = clip(" ".join(option["said"].replace("**", "").split()), LONGEST_OPTION)
    if not 2 <= len(found) <= MOST_OPTIONS:
        return None
    listed = "; ".join(f"{number}. {said}" for number, said in found.items())
    before = message.text[:begins].replace("**", "").split("\n")[-LINES_BEFORE:]
    asked = next((line.strip(" #*") for line in reversed(before) if line.rstrip(" *").endswith("?")), "")
    return Line(
        text=LIST + listed,
        subject=asked if len(asked) <= LONGEST_OPTION else "",
        weight=OFFERED,
        position=message.position,
        sources=(message.id,),
    )


def is_options(line: Line) -> bool:
    """Whether a line lists options."""
    return line.text.startswith(LIST)


def choice_lines(parts: Sequence[Summary | Message], lines: Mapping[str, Sequence[Line]]) -> list[Line]:
    """What the user's messages among `parts` chose of the options that the work before them ended with.

    `lines` are what each part of work decided or offered, by its id.
    """
    out: list[Line] = []
    offered: Line | None = None
    for part in parts:
        if isinstance(part, Summary):
            offered = next((line for line in reversed(lines.get(part.id, ())) if is_options(line)), None)
        elif part.role == "user" and part.draft.origin == "spoken":
            out += _chosen(part, offered) if offered is not None else []
            offered = None
    return out


def _chosen(message: Message, offered: Line) -> list[Line]:
    text = " ".join(message.text.split())
    if len(text) > LONGEST_CHOICE:
        return []
    options = {found["number"]: found["said"] for found in _KEPT.finditer(offered.text.removeprefix(LIST))}
    first = _choosing().match(text)
    numbers = list(dict.fromkeys(_DIGIT.findall(first[0]))) if first else []
    asked = f"I asked: “{offered.subject}” " if offered.subject else ""
    sources = (*offered.sources, message.id)
    told = "; ".join(f"{each}: {options[each]}" for each in numbers if each in options)
    if not told:
        return []
    return [Line(text=f"{asked}The user chose {told}", weight=CHOSEN, position=message.position, sources=sources)]


_DIGIT = lazy_re(r"[1-9]")


@from_data
def _choosing() -> re.Pattern[str]:
    """What a message begins with that chooses by number."""
    known = [of_language(OwnWords, code) for code in LANGUAGES]
    before = either([word for each in known for word in each.chooses])
    behind = either([word for each in known for word in each.chosen])
    # "3 files failed" and "1. The lint fails" choose nothing.
    number = rf"(?:option |number |#)?[1-9](?=$|[.!]$| ?[,;!?+&]| {behind}\b)"
    return lazy_re(rf"^(?:{before}[,.!]? ){{0,4}}{number}(?:(?: {behind} | ?[+&] ?|, ?){number}){{0,2}}", re.I)
