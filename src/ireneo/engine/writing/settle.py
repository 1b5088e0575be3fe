"""Make one record of what a model said and stands, and of what the structure shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.offline.names import SAID, Tally
from ireneo.context.offline.prose import finding_score
from ireneo.context.pins import STRONG, standing
from ireneo.context.summary import Line, Section, SectionName, Summary
from ireneo.engine.writing.lines import Said
from ireneo.grounding.artifacts import artifacts
from ireneo.grounding.sources import source_texts
from ireneo.grounding.status import Outcome, overclaims
from ireneo.log.echo import without_recalled
from ireneo.log.message import Message
from ireneo.patterns import lazy_re

_QUOTED = lazy_re(r"“[^“”]{0,1000}+”")

BESIDE = 0.5
"""What the offline line of a section weighs where a model's stand beside it."""
ORDER: tuple[SectionName, ...] = (
    *("goal", "direction", "strategy", "operations", "discoveries", "achieved"),
    *("dead_ends", "worked", "constraints", "lifted", "artifacts", "status"),
)
ONE_LINE: frozenset[SectionName] = frozenset({"goal", "strategy", "status"})
"""Sections in which a model's words take the place of the offline ones; in the others they stand beside them."""


def settle(
    offline: Summary,
    said: Sequence[Said],
    quotes: Sequence[Line],
    lost: Sequence[str],
    messages: Sequence[Message],
    outcomes: Sequence[Outcome],
) -> tuple[Section, ...]:
    """Put together the sections of `offline`, what was `said` of the same messages, and the constraints in `quotes`.

    Operations, names, the user's words and what is pinned come from the structure whatever a model says, and so do
    its dead ends; `lost` are critical artifacts that nothing else names. Nothing is COMPLETE over what failed last.
    """
    finder = _Finder(messages)
    out: list[Section] = []
    for name in ORDER:
        told = [finder.line(each) for each in said if each.section == name]
        known = list(offline.lines(name))
        if name in ONE_LINE:
            lines = told or [_humble(line, outcomes) for line in known]
        elif name == "constraints":
            lines = standing([*known, *quotes], offline.lines("lifted"))
        elif name == "dead_ends":
            lines = _dead_ends(told, known)
        elif told and name in ("discoveries", "worked", "achieved"):
            lines = [*told, *(replace(line, weight=line.weight * BESIDE) for line in known)]
        else:
            lines = [*known, *told]
        if name == "artifacts" and lost:
            lines.append(finder.lost(lost))
        if lines:
            out.append(Section(name=name, lines=tuple(lines)))
    return tuple(out)


def _humble(line: Line, outcomes: Sequence[Outcome]) -> Line:
    """A line that the structure gave: it looks at the last piece of the stretch alone, before which a check failed."""
    if not overclaims(_QUOTED.sub(" ", line.text), outcomes):
        return line
    why = f"PARTIAL — {outcomes[-1].subject} failed last"
    return replace(line, text=re.sub(r"\bCOMPLETE\b(?: —.*)?", lambda _: why, line.text))


def quoted(constraints: Sequence[str], messages: Sequence[Message]) -> list[Line]:
    """The constraints that a model quoted, as far as a user or the system said them, letter for letter."""
    out: list[Line] = []
    for quote in constraints:
        words = " ".join(quote.split()).strip("“”\"'")
        for message in messages:
            if message.role not in ("user", "system") or message.draft.origin != "spoken" or len(words) < 6:
                continue
            if words in " ".join(without_recalled(message.text).split()):
                out.append(Line(text=words, weight=STRONG, position=message.position, sources=(message.id,)))
                break
    return out


def _dead_ends(told: Sequence[Line], known: Sequence[Line]) -> list[Line]:
    """Those that the structure shows, and of those that a model tells the ones that name something else."""
    named = [set(artifacts(line.text)) | {line.subject} for line in known]
    new = [
        line
        for line in told
        if not any(
            line.text == each.text or (set(artifacts(line.text)) and set(artifacts(line.text)) <= names)
            for each, names in zip(known, named, strict=True)
        )
    ]
    return sorted([*known, *new], key=lambda line: line.position)


class _Finder:
    """Finds the messages that a statement rests on."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._names = [(message, _names(message)) for message in messages]

    def line(self, said: Said) -> Line:
        """The statement as a line: its sources are the messages that name what it names, at most the last three."""
        named = set(artifacts(said.text))
        rests = [message for message, names in self._names if named & names][-3:] or [self._messages[-1]]
        return Line(
            text=said.text,
            weight=1.5 + finding_score(said.text) + min(len(named), 4) * 0.5,
            position=rests[-1].position,
            sources=tuple(message.id for message in rests),
        )

    def lost(self, names: Sequence[str]) -> Line:
        """The line that brings back what no other names."""
        tally = Tally()
        tally.add(" ".join(names), SAID)
        last = self._messages[-1]
        text = "; ".join(name for name in names if not artifacts(name))
        return Line(text=text or "Also", names=tally.mentions(), weight=1.0, position=last.position, sources=(last.id,))


def _names(message: Message) -> set[str]:
    return {name for text in source_texts([message]) for name in artifacts(text)}
