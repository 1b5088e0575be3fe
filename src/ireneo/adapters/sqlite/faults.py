"""What is wrong with a SQLite file: damage, and rows that point to what is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import apsw

from ireneo.adapters.sqlite.queries import SQL

NAMED = 20
"""So many faults of one kind are named."""

SENTENCES: Mapping[str, str] = {
    "rows_of_no_session": "{1} belongs to session number {0}, which is not there.",
    "messages_of_no_segment": "Positions {2} to {3} of {where} stand on segment {4}, which is not there.",
    "segments_without_parent": "Segment {2} of {where} goes on after position {3}, and no message is there.",
    "segments_without_first": "Segment {2} of {where} begins at position {3}, and no message is there.",
    "segments_with_gaps": "Segment {2} of {where} has a gap at position {3}.",
    "messages_behind_another": "Message {3} at position {2} of {where} stands behind a message that isn't its parent.",
    "messages_with_wrong_total": "Message {3} at position {2} of {where} gives a total that its path doesn't cost.",
    "sessions_with_wrong_counts": (
        "Of {where} {2} messages with {3} tokens were counted, and {4} messages with {5} tokens are there."
    ),
    "branches_to_nothing": "Branch {2!r} of {where} points to position {3}, and no message is there.",
    "payloads_of_nothing": "A payload hangs on position {2} of segment {3} of {where}, and no message is there.",
    "summaries_of_nothing": "Summary {4} of {where} covers positions {2} to {3}, and its messages aren't there.",
    "rebuilds_of_nothing": (
        "The mark of a rebuild to {3} tokens hangs on position {2} of {where}, and its message isn't there."
    ),
    "annotations_of_nothing": "Annotation {3} hangs on position {2} of {where}, and its message isn't there.",
    "leases_with_unknown_token": "The lease on {2!r} of {where} has token {3}, and only {4} were given.",
}
"""What the rows of each query say; `where` names their session."""


def find_faults(database: apsw.Connection) -> list[str]:
    """What is wrong, a sentence each. Of a file that is damaged only that is told: its rows can't be trusted."""
    damage = list(_damage(database))
    return damage or [sentence for query in SENTENCES for sentence in _faults(database, query)]


def _damage(database: apsw.Connection) -> Iterator[str]:
    try:
        database.execute(SQL["refresh_words"]).fetchall()
        for (found,) in database.execute(SQL["check_file"]):
            if found != "ok":
                yield f"The file is damaged: {found}."
    except apsw.CorruptError as fault:
        yield f"The file is damaged, so far that it can't be checked: {fault}."


def _faults(database: apsw.Connection, query: str) -> Iterator[str]:
    rows = database.execute(SQL[query], {"most": NAMED + 1}).fetchall()
    for row in rows[:NAMED]:
        yield SENTENCES[query].format(*row, where=f"session {row[1]!r} of space {row[0]!r}")
    if len(rows) > NAMED:
        yield f"There are more faults of this kind than these {NAMED}."
