"""The texts that models wrote: under which names they stand, and which of them is shown of a block.

Of an agent's work the leaves are written from notes, and what no block has taken up yet waits as a piece of its own.
All deeper blocks are rolled up from the texts under them, so that nothing is asked for twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from msgspec.structs import replace

from ireneo.context.compose import ContextOptions
from ireneo.log.message import digest
from ireneo.log.tree import Head, SessionKey
from ireneo.ports.store import Span, Transaction
from ireneo.prompts import FAMILIES
from ireneo.prompts.replies import Voice
from ireneo.summaries.notes import is_written, noted, rolled_up, statements_of, with_later
from ireneo.summaries.summary import Summary, SummaryId, SummaryLevel, Writing, anchor
from ireneo.summaries.work import is_kept

WAITING_DEPTH = 0
"""The depth of notes that wait for the blocks that will take them up."""
WORDS_BEFORE = 8
"""Messages right before a block that stand beside it in the words of who said them, at the most."""


def text_summarizer(summary: Summary, disputes: Sequence[str], voice: Voice) -> str:
    """The summarizer of the text that a model writes of what the canonical `summary` covers, in view of `disputes`."""
    doubts = f"/{digest('d', *(each.encode() for each in sorted(disputes)))[:12]}" if disputes else ""
    return f"{undisputed(summary.level, summary.summarizer, voice)}{doubts}"


def undisputed(level: SummaryLevel, summarizer: str, voice: Voice) -> str:
    """The summarizer of the texts that a model writes of canonical summaries of that level and `summarizer`."""
    return f"{FAMILIES[level]}/{voice}/{summarizer}"


def waiting_summarizer(summarizer: str, voice: Voice) -> str:
    """The summarizer of notes that wait for the blocks of `summarizer` that will take them up."""
    return f"{undisputed('turn', summarizer, voice)}/waiting"


def text_id(summary: Summary, disputes: Sequence[str], voice: Voice) -> SummaryId:
    """The anchor of that text: written twice, it is the same."""
    return anchor(summary.level, summary.first, summary.last, text_summarizer(summary, disputes, voice))


def best_texts(
    tx: Transaction,
    key: SessionKey,
    summaries: Sequence[Summary],
    options: ContextOptions,
    voice: Voice,
    known: Collection[str] | None,
) -> list[Summary]:
    """For each summary the text by a model, in view of all its disputes, or of none; itself where there is none.

    Only what is among `known`, where that is given.
    """
    wanted: list[list[SummaryId]] = []
    for summary in summaries:
        disputes = [note.id for note in options.disputes.get(summary.stretch, ())]
        names = [text_id(summary, disputes, voice), *([text_id(summary, (), voice)] if disputes else [])]
        wanted.append([name for name in names if known is None or name in known])
    found = {text.id: text for text in tx.summaries.get(key, [name for names in wanted for name in names])}
    out: list[Summary] = []
    for summary, names in zip(summaries, wanted, strict=True):
        out.append(next((found[name] for name in names if name in found), summary))
    return out


def is_noted(tx: Transaction, key: SessionKey, summarizer: str, voice: Voice) -> bool:
    """Whether anybody wrote notes for the blocks of a `summarizer`, on whichever branch."""
    beginning = undisputed("turn", summarizer, voice)
    return any(each == beginning or each.startswith(f"{beginning}/") for each in tx.summaries.summarizers(key))


def waiting_notes(tx: Transaction, key: SessionKey, head: Head, summarizer: str, voice: Voice) -> list[Summary]:
    """The notes along the path to `head` that were taken of what no block covered then, in order."""
    found: Sequence[Span] = tx.summaries.spans(key, head.id, waiting_summarizer(summarizer, voice), WAITING_DEPTH)
    return list(tx.summaries.get(key, [span.id for span in found]))


class NotedTexts:
    """The texts of the blocks of an agent's work along one path, within one transaction."""

    def __init__(
        self,
        tx: Transaction,
        key: SessionKey,
        head: Head,
        options: ContextOptions,
        voice: Voice,
        known: Collection[str] | None = None,
    ) -> None:
        """Look which notes there are; with `known`, none but these are heeded."""
        self._tx = tx
        self._key = key
        self._head = head
        self._options = options
        self._voice = voice
        self._known = known
        summarizer = options.policy.summarizer
        waiting = waiting_notes(tx, key, head, summarizer, voice) if is_noted(tx, key, summarizer, voice) else None
        self._there = waiting is not None
        self.waiting = [each for each in waiting or () if known is None or each.id in known]
        """The notes that wait for their blocks."""
        self.used: Sequence[str] = ()
        """The ids of the stored texts of which the last ones were made."""
        self._used: dict[str, None] = {}
        self.rolled: dict[SummaryId, Summary] = {}
        """The texts that nobody needs to write any more, since all that stands under them is written."""

    def of(self, blocks: Sequence[Summary], made: Mapping[SummaryId, Summary]) -> list[Summary]:
        """For each block the best text; `made` are blocks that are not stored yet."""
        if not self._there or self._options.policy.strategy is not None:
            return list(blocks)
        self._used = {}
        texts = [text for text, _ in self._all(blocks, made)]
        if texts and is_written(texts[-1]):
            texts[-1] = self._with_later(texts[-1])
        self.used = tuple(self._used)
        return texts

    def _all(self, blocks: Sequence[Summary], made: Mapping[SummaryId, Summary]) -> list[tuple[Summary, bool]]:
        direct = best_texts(self._tx, self._key, blocks, self._options, self._voice, self._known)
        out: list[tuple[Summary, bool]] = []
        for block, text in zip(blocks, direct, strict=True):
            if text.writing is not None:
                self._used[text.id] = None
                out.append((text, True))
            else:
                out.append(self._rolled_up(block, made) if block.sources else self._from_waiting(block))
        return out

    def _with_later(self, text: Summary) -> Summary:
        """The last text, with what was noted of the messages behind it: not all of them are shown whole."""
        behind = [each for each in self.waiting if each.last_position > text.last_position]
        lines = [(name, line) for name, line in statements_of(behind) if line.position > text.last_position]
        self._used.update((each.id, None) for each in behind)
        return with_later(text, lines) if lines else text

    def _rolled_up(self, block: Summary, made: Mapping[SummaryId, Summary]) -> tuple[Summary, bool]:
        stored = {
            each.id: each for each in self._tx.summaries.get(self._key, [s for s in block.sources if s not in made])
        }
        under = [made.get(source) or stored[source] for source in block.sources]
        found = self._all(under, made)
        parts, final = [text for text, _ in found], all(final for _, final in found)
        written = [each.writing for each in parts if is_written(each) and each.writing]
        if not written:
            return block, final
        sections = rolled_up(block, parts)
        return self._keep(replace(block, sections=tuple(sections), writing=_unpaid(written)), final=final)

    def _from_waiting(self, block: Summary) -> tuple[Summary, bool]:
        """A block of which notes were taken before it was one, or for a longer one that begins where it does."""
        pieces = [*self.waiting, *(self._longer(block) if block.depth == WAITING_DEPTH else ())]
        over = [
            each
            for each in pieces
            if each.first_position <= block.last_position and each.last_position >= block.first_position
        ]

        def is_known(position: int) -> bool:
            return any(each.first_position <= position <= each.last_position for each in over)

        written = [each.writing for each in over if each.writing]
        if not written:
            return block, False
        self._used.update((each.id, None) for each in over)
        begin = self._begin(block)
        lines = [
            (name, line)
            for name, line in statements_of(over, replaced=True)
            if begin <= line.position <= block.last_position
        ]
        sections = noted(block, lines, is_known)
        text = replace(block, sections=tuple(sections), writing=_unpaid(written))
        whole = all(is_known(place) for place in range(block.first_position, block.last_position + 1))
        return self._keep(text, final=whole)

    def _longer(self, block: Summary) -> list[Summary]:
        """The texts of leaves that begin within a block that is shown in the place of one that is not whole yet."""
        summarizer = undisputed("turn", self._options.policy.summarizer, self._voice)
        found = self._tx.summaries.spans(self._key, self._head.id, summarizer, 1, block.first_position)
        ids = [each.id for each in found if each.first_position <= block.last_position]
        return [
            each for each in self._tx.summaries.get(self._key, ids) if self._known is None or each.id in self._known
        ]

    def _begin(self, block: Summary) -> int:
        """Where what a block takes up begins: with the words that stand right before it."""
        place = block.first_position
        before = self._tx.log.path(self._key, block.last, max(place - WORDS_BEFORE, 0), place - 1) if place else ()
        return place - sum(1 for _ in takewhile(lambda each: is_kept(each, self._options.policy), reversed(before)))

    def _keep(self, text: Summary, *, final: bool) -> tuple[Summary, bool]:
        """Give a text its own name where it is `final`; else it stands under that of its block, and is not stored."""
        if not final or self._known is not None:
            return text, final
        text = replace(text, id=text_id(text, (), self._voice), summarizer=text_summarizer(text, (), self._voice))
        self.rolled[text.id] = text
        self._used[text.id] = None
        return text, True


def _unpaid(written: Sequence[Writing]) -> Writing:
    """How a text was written for which nobody was asked, of texts that were."""
    first, last = min(each.seen_first for each in written), max(each.seen_last for each in written)
    return replace(
        written[-1],
        tokens_in=0,
        tokens_out=0,
        repaired=False,
        struck=0,
        disputes=(),
        seen_first=first,
        seen_last=last,
    )
