"""The options that the user chose from an agent's list, in the words of the list."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import any_of, topic
from ireneo.language.topics import OwnWords
from ireneo.log.message import Message
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import CHOICE, choice_pattern
from ireneo.summaries.statements import prose
from ireneo.summaries.steps import clip
from ireneo.summaries.summary import Line, Summary

MOST_OPTIONS = 12
LONGEST_OPTION = 160
"""The maximum number of characters of an option that are kept."""
LONGEST_HEADED = 280
"""The maximum number of characters that are kept of an option with a text besides its heading."""
LINES_BEFORE = 6
"""How many lines before a list may contain its question."""
LONGEST_CHOICE = 240
"""A longer message itself says what it wants."""
BARE_CHOICE = 3
"""A message of at most this many characters is only a number, so the chosen option is shown."""
OFFERED, CHOSEN = 0.2, 9.0
"""The weights of a list of options, kept for a later choice, and of a choice."""
_OPTION = lazy_re(
    r"^\s{0,6}(?:[-*] |\| ?)?(?P<hashes>#{1,4} )?(?:\*\*)?(?P<label>option )?\(?(?P<number>[1-9a-f])"
    r"(?:(?:\*\*)?[.):](?:\*\*)?|(?(label) [-–—]|(?!)))\s+(?P<said>\S.*)$",
    re.I | re.M,
)
KEPT = lazy_re(r"(?:^|: |; )(?P<number>[1-9A-F])\. (?P<said>.*?)(?=; [1-9A-F]\. |$)")
_CELLS = lazy_re(r" ?\| ?")
_ENDS_OPTION = lazy_re(r"^(?:#|---|\*\*\*)", re.M)
_FIRST = ("1", "A")
LIST = "I listed: "


def options_line(message: Message) -> Line | None:
    """The numbered list at the end of the agent's words, if any."""
    found: dict[str, str] = {}
    begins, first = 0, _FIRST[0]
    items = list(_OPTION.finditer(message.text))
    labelled = [option for option in items if option["label"]]
    # A list inside "Option 1" contains no options.
    items = labelled if len(labelled) > 1 else items
    for place, option in enumerate(items):
        number = option["number"].upper()
        if number in _FIRST:
            # Answers refer to the last list.
            found, begins, first = {}, option.start(), number
        if ord(number) == ord(first) + len(found):
            end = items[place + 1].start() if place + 1 < len(items) else None
            found[number] = _option_text(option, message.text[option.end() : end])
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


def _option_text(option: re.Match[str], body: str) -> str:
    """The text of an option: its line, or the first statement under its heading if it has one."""
    # In a table an option is in one cell, and its meaning in the next.
    said = _CELLS.sub(" — ", " ".join(option["said"].replace("**", "").split()).rstrip(" |"))
    if option["hashes"]:
        under = next(prose(_ENDS_OPTION.split(body, maxsplit=1)[0]), "")
        return clip(f"{said}: {under}" if under else said, LONGEST_HEADED)
    return clip(said, LONGEST_HEADED if " — " in said else LONGEST_OPTION)


def refers_to_list(said: str) -> bool:
    """Whether a question is at the list at the end of the agent's words, or shortly after it."""
    behind = said[max((option.end() for option in _OPTION.finditer(said)), default=0) :]
    paragraphs = [each for each in behind.split("\n\n")[1:] if each.strip()]
    return len(paragraphs) <= PARAGRAPHS_BEHIND


PARAGRAPHS_BEHIND = 1


def is_options(line: Line) -> bool:
    """Whether a line lists options."""
    return line.text.startswith(LIST)


class UserChoice(Struct, frozen=True, kw_only=True):
    """An option that the user chose by number from those that the agent offered."""

    line: Line
    offered: int
    """The position of the message that offers them."""
    options: tuple[str, ...]
    """The beginning of each option."""
    rejected: tuple[str, ...]
    """The beginnings of options that were not chosen."""
    explained: tuple[str, ...] = ()
    """The whole text of these in the list."""


def find_choices(parts: Sequence[Summary | Message], lines: Mapping[str, Sequence[Line]]) -> list[UserChoice]:
    """The options that user messages among `parts` chose by number, right after they were offered.

    `lines` are the strategy lines of each block, by its id.
    """
    out: list[UserChoice] = []
    offered: Line | None = None
    for part in parts:
        if isinstance(part, Summary):
            offered = next((line for line in reversed(lines.get(part.id, ())) if is_options(line)), None)
        elif part.role == "user" and part.draft.origin == "spoken":
            choice = _chosen_option(part, offered) if offered is not None else None
            out += [choice] if choice else []
            offered = None
    return out


def _chosen_option(message: Message, offered: Line) -> UserChoice | None:
    text = " ".join(message.text.split())
    if len(text) > LONGEST_CHOICE:
        return None
    options = {found["number"]: found["said"] for found in KEPT.finditer(offered.text.removeprefix(LIST))}
    first = choice_pattern().match(text)
    named = first or _REFERS.search(text)
    numbers = list(dict.fromkeys(CHOICE.findall(named[0].upper()))) if named else []
    asked = f"I asked: “{offered.subject}” " if offered.subject else ""
    sources = (*offered.sources, message.id)
    told = "; ".join(f"{each}: {options[each]}" for each in numbers if each in options)
    if not told:
        return None
    begun = {number: said[:_BEGINNING].partition(": ")[0].rstrip(" .…").casefold() for number, said in options.items()}
    return UserChoice(
        line=Line(
            text=f"{asked}The user {'chose' if first else 'meant'} {told}",
            weight=CHOSEN,
            position=message.position,
            sources=sources,
        ),
        offered=offered.position,
        options=tuple(begun.values()),
        rejected=tuple(
            said for number, said in begun.items() if first and number not in numbers and len(said) >= _TELLING
        ),
        explained=tuple(said.casefold() for number, said in options.items() if first and number not in numbers),
    )


_REFERS = lazy_re(
    lambda: (
        rf"\b{any_of(topic(OwnWords).refers_to)} (?:the )?(?:{any_of(topic(OwnWords).points)}s? )?#?[1-9](?!\w|\.\w)"
        r"(?:(?:,? ?(?:&|and|und|or|oder) |, ?)#?[1-9](?!\w|\.\w))*"
        # "Fix 3 files" refers to no item.
        rf"(?=\s*(?:$|[.,;:!?)&]|{any_of(topic(OwnWords).chosen)}\b))"
    ),
    re.I,
)
"""A reference to items of a list by their numbers."""
_BEGINNING, _TELLING = 40, 8
"""How many characters of an option identify a line about it, and the fewest that suffice."""
_BEFORE_OPTION = lazy_re(r"[\s:;,(–—-]*(?:\(?\b[1-9A-F]\b[.):]*)?[\s:;,–—-]*$", re.I)
_LEAD_WORDS = 3


def without_rejected(lines: Sequence[Line], choices: Sequence[UserChoice]) -> list[Line]:
    """Remove the options that the user did not choose from `lines`; a line that lists them keeps its introduction."""
    out: list[Line] = []
    for line in lines:
        said = line.text.casefold()
        of_line = [each for each in choices if each.offered == line.position and not is_options(line)]
        choice = next((each for each in of_line if any(option in said for option in each.rejected)), None)
        if choice is None:
            # A sentence about an option that was not chosen means nothing without it.
            bare = said.rstrip(".")
            if not any(len(bare) >= _TELLING and bare in each for choice in of_line for each in choice.explained):
                out.append(line)
            continue
        begins = min(said.index(option) for option in choice.options if option and option in said)
        lead = _BEFORE_OPTION.sub("", line.text[:begins])
        out += [replace(line, text=lead)] if len(lead.split()) >= _LEAD_WORDS else []
    return out
