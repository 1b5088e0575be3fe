"""The overview of a story for narrow contexts: which are stored, whether one is due, and what it is written from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.story import told_room
from ireneo.context.story_blocks import mostly_model_written
from ireneo.context.view import ContextOptions
from ireneo.engine.context import StoredReader, text_id
from ireneo.engine.story_writing import StoryJob
from ireneo.errors import SummaryNotFound
from ireneo.language.topics import Voice
from ireneo.log.message import head_of
from ireneo.log.tree import SessionKey
from ireneo.ports.store import Transaction
from ireneo.summaries.cast import known_cast
from ireneo.summaries.overview import (
    OVERVIEW,
    OVERVIEW_DEPTH,
    asked_budget,
    is_current,
    is_narrow,
    overview_summarizer,
    said_within,
)
from ireneo.summaries.policy import Policy
from ireneo.summaries.story import make_deeper, settings
from ireneo.summaries.story_path import StoryPath
from ireneo.summaries.summary import Summary

LEAST_TOKENS, MOST_TOKENS = 800, 8_000
"""The least and the most tokens that an overview is asked to have."""
NO_ROOM = 400
"""With less room than this none is asked for."""


def budgets_asked(tx: Transaction, key: SessionKey, policy: Policy) -> set[int]:
    """The budgets of narrow contexts for which an overview was written, or for which one was lacking."""
    ending = f"/{policy.summarizer}{OVERVIEW}"
    written = {asked_budget(each) for each in tx.summaries.summarizers(key) if ending in each}
    return written | {
        mark.budget_tokens for mark in tx.rebuilds.of_session(key) if mark.summarizer == policy.summarizer
    }


def due_overview(reader: StoredReader, row: Sequence[Summary]) -> Summary | None:
    """The overview of the path that is to be written for contexts of the reader's budget, but for its content."""
    options, voice = reader.options, reader.voice
    if settings(options.policy).running or not is_narrow(row, options.budget):
        return None
    if any(each.first == row[0].first and is_current(each, row, options.notes) for each in reader.overviews()):
        return None
    if told_room(StoryPath(reader, options.policy), options) < NO_ROOM:
        return None
    bare = replace(
        row[0],
        depth=OVERVIEW_DEPTH,
        last=row[-1].last,
        last_position=row[-1].last_position,
        summarizer=overview_summarizer(options.policy.summarizer, options.budget),
        source_tokens=sum(node.source_tokens for node in row),
        leaves=sum(node.leaves for node in row),
        sections=(),
        sources=(),
    )
    disputes = [note.id for note in said_within(bare, options.notes)]
    return replace(bare, id=text_id(bare, disputes, voice))


def is_told(path: StoryPath, row: Sequence[Summary]) -> bool:
    """Whether models told most of the leaves under a row, so that an overview can be written."""
    return mostly_model_written(_leaf_texts(path, row))


def _leaf_texts(path: StoryPath, row: Sequence[Summary]) -> Sequence[Summary]:
    return path.reader.texts([leaf for node in row for leaf in path.under(node, 1)])


def overview_job(
    tx: Transaction, key: SessionKey, overview: Summary, options: ContextOptions, voice: Voice
) -> StoryJob:
    """What an overview is written from: the texts of all leaves on its path. Raises SummaryNotFound."""
    place = overview.last_position
    (last,) = tx.log.path(key, overview.last, place, place)
    options = replace(options, notes=tuple(tx.annotations.on_path(key, last.id)))
    reader = StoredReader(tx, key, head_of(last), options, voice)
    path = StoryPath(reader, options.policy)
    row = path.row()
    leaves = _leaf_texts(path, row)
    if not row or (row[0].first, row[-1].last) != (overview.first, overview.last):
        raise SummaryNotFound(f"Summaries that {overview.id} was to tell were taken out of the store.")
    whole = make_deeper(leaves, leaves, options.policy)
    played = [(each.player, each.full or each.name) for each in known_cast([overview]).people if each.player]
    return StoryJob(
        offline=replace(
            whole,
            id=overview.id,
            depth=OVERVIEW_DEPTH,
            summarizer=overview.summarizer,
            sources=tuple(text.id for text in reader.texts(row)),
        ),
        parts=tuple(leaves),
        played=tuple(played),
        disputes=tuple(said_within(overview, options.notes)),
        voice=voice,
        seen_by=options.policy.seen_by,
        room=min(max(told_room(path, options), LEAST_TOKENS), MOST_TOKENS),
        window_tokens=settings(options.policy).window_tokens,
    )
