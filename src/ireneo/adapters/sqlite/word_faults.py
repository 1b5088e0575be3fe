"""What is wrong with the index of words of a space: where it doesn't fit what is stored."""

from __future__ import annotations

from collections.abc import Mapping

import apsw

from ireneo.adapters.sqlite.queries import SQL

NAMED = 20
"""So many faults of one kind are named."""

WORD_SENTENCES: Mapping[str, str] = {
    "messages_without_document": "{1} messages of session {0!r} are in no index of words.",
    "documents_of_nothing": "{1} documents of session {0!r} are of messages that aren't there.",
    "documents_without_words": "{1} documents of session {0!r} have no words in the index.",
    "words_of_no_document": "The index has the words of {1} documents of session {0!r} that aren't there.",
    "memories_without_words": "Memory {0} has no words in the index.",
    "wrong_counts_of_messages": "Of the index {0} terms were counted, and {1} are there.",
    "wrong_counts_of_memories": "Of the index {0} terms were counted, and {1} are there.",
}
"""What the rows of each query say."""


def find_word_faults(database: apsw.Connection, space: str) -> list[str]:
    """What is wrong with the index of a space, a sentence each."""
    found: list[str] = []
    for query, sentence in WORD_SENTENCES.items():
        rows = database.execute(SQL[query], {"space": space}).fetchall()
        found += [sentence.format(*row) for row in rows[:NAMED]]
        if len(rows) > NAMED:
            found.append(f"There are more faults of this kind than these {NAMED}.")
    return found
