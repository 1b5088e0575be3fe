"""What choosing among the lines of summaries needs to know of each line, and what of it is kept between contexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from ireneo.context.offline.dead_ends import overturned, succeeded
from ireneo.context.offline.names import SAID, SUBJECT
from ireneo.context.render import order, say
from ireneo.context.summary import Line, SectionName, Summary
from ireneo.context.weigh import Count, Recount
from ireneo.grounding.artifacts import artifacts

DONE: tuple[SectionName, ...] = ("operations", "artifacts")
"""The sections that tell how an operation ended."""


class Statement(Struct, frozen=True, kw_only=True, gc=False):
    """A line of a section, with what it costs and names: nothing that depends on a budget, or on other lines."""

    section: SectionName
    line: Line
    cost: int
    """Of the line without the names that may follow it, with the break behind it."""
    said: tuple[str, ...]
    """The names that stand in the line as it is written."""
    about: tuple[str, ...]
    """The names in its subject, or in its text where it has none."""
    about_worth: float
    """What each of these is worth."""
    names: tuple[str, ...]
    """The names that may follow it, as the line has them."""
    weights: tuple[float, ...]
    """How likely each of them is to be needed again."""
    costs: tuple[int, ...]
    """What each of them costs behind others."""


class _Block(Struct, frozen=True):
    """What is known of a summary."""

    summary: Summary
    statements: tuple[Statement, ...]
    succeeded: Mapping[str, int]
    """Where each approach succeeded last within it."""


class Statements:
    """The statements of summaries as one tokenizer counts them.

    Kept are those of the blocks that were asked for last, since the next context shows nearly the same ones.
    """

    def __init__(self, count: Count) -> None:
        """Begin with nothing."""
        self.count = count
        self.recount = Recount(count)
        """For what rebuilds say again besides, such as pins."""
        self._kept: dict[str, _Block] = {}

    def clear(self) -> None:
        """Let go of everything."""
        self._kept = {}
        self.recount.clear()

    def keep(self, summaries: Iterable[Summary]) -> None:
        """Look through these summaries, those alone that were not asked for last; the others are let go of."""
        self.recount.turn()
        self._kept = {summary.id: self._block(summary) for summary in summaries}

    def done(self, summaries: Iterable[Summary]) -> dict[str, int]:
        """Where each approach succeeded last."""
        out: dict[str, int] = {}
        for summary in summaries:
            for name, position in self._block(summary).succeeded.items():
                out[name] = max(out.get(name, -1), position)
        return out

    def of(self, summary: Summary, done: Mapping[str, int]) -> Iterator[Statement]:
        """The statements of a block; a dead end of an approach that was `done` later is none."""
        for statement in self._block(summary).statements:
            if statement.section != "dead_ends" or not overturned(statement.line, done):
                yield statement

    def state(self, section: SectionName, line: Line) -> Statement:
        """What a line says and costs."""
        written = say(section, line, ())
        about, worth = (line.subject, SUBJECT) if line.subject else (line.text, SAID)
        names = tuple(mention.name for mention in line.names)
        return Statement(
            section=section,
            line=line,
            cost=self.count(written) + 1,
            said=tuple(artifacts(written)),
            about=tuple(artifacts(about)),
            about_worth=worth,
            names=names,
            weights=tuple(mention.weight for mention in line.names),
            costs=tuple(self.count(f" {name}") for name in names),
        )

    def _block(self, summary: Summary) -> _Block:
        known = self._kept.get(summary.id)
        # The same stretch may have been summarised anew meanwhile: an id alone tells nothing.
        if known is not None and (known.summary is summary or known.summary == summary):
            return known
        statements = tuple(
            self.state(name, line)
            for name in order(summary)
            # The constraints of all blocks stand together, in a place of their own.
            if name != "constraints"
            for line in summary.lines(name)
        )
        done = succeeded(line for name in DONE for line in summary.lines(name))
        return _Block(summary, statements, done)
