"""What must hold of a context, and of the story once everybody is done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import apsw

from ireneo import Context
from ireneo.log.message import Message, MessageId
from ireneo.ports.store import Store, Transaction
from racing.ledger import Call, lines_of
from racing.tale import KEY, words_in

EVER = 10_000_000
"""Behind the last position of any path."""
AT_A_TIME = 500


async def faults_of(store: Store, made: Context) -> list[tuple[str, str]]:
    """What is wrong with a context: its kind and where. Raises MessageNotFound where its messages were pruned since."""
    if not made.view:
        return []
    path = await store.read(lambda tx: tx.log.path(KEY, MessageId(made.view[-1].last), 0, EVER))
    return [*_uncovered(made, path), *_leaks(made, path)]


def _uncovered(made: Context, path: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Where the view leaves a message of the path out, or shows it twice."""
    place = {message.id: message.position for message in path}
    due = 0
    for row in made.view:
        first, last = place.get(MessageId(row.first)), place.get(MessageId(row.last))
        if first != due or last != due + row.covers - 1:
            yield "cover", f"{row.what} {row.id} covers {first} to {last}, and {due} comes next"
            return
        due += row.covers
    if due != len(path):
        yield "cover", f"{len(path) - due} messages at the end are not covered"


def _leaks(made: Context, path: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Words that are shown, and stand in no message of the path."""
    shown = words_in([json.dumps(made.messages), *(row.text for row in (*made.view, *made.pins))])
    for word in sorted(shown - words_in(message.text for message in path)):
        yield "leak", f"{word} is on another path"


def stored_ids(tx: Transaction) -> tuple[set[str], set[str]]:
    """The ids of every message that is stored, and of those that a branch leads to."""
    heads = [head.id for head in tx.sessions.branches(KEY).values() if head]
    kept = _on_paths(tx, heads)
    return kept | _on_paths(tx, [end.id for end in tx.upkeep.abandoned_heads(KEY)]), kept


def said_twice(tx: Transaction) -> int:
    """How many messages say what another has said: each is said once, so that another was stored once more."""
    heads = [*tx.sessions.branches(KEY).values(), *tx.upkeep.abandoned_heads(KEY)]
    texts = {each.id: each.text for head in heads if head for each in tx.log.path(KEY, head.id, 0, EVER)}
    return len(texts) - len(set(texts.values()))


def _on_paths(tx: Transaction, heads: Sequence[MessageId]) -> set[str]:
    found: set[str] = set()
    for head in heads:
        found.update(message.id for message in tx.log.path(KEY, head, 0, EVER))
    return found


PASSING = "/whole"
"""How the summarizers of blocks end that only a narrow context shows."""


def duplicate_anchors(tx: Transaction) -> tuple[int, int, int]:
    """How many stretches are stored twice by one summarizer; how many texts are of a model, and untrusted."""
    ids = tx.upkeep.summaries(KEY)
    seen: Counter[tuple[str, ...]] = Counter()
    texts = untrusted = 0
    for start in range(0, len(ids), AT_A_TIME):
        for each in tx.summaries.get(KEY, ids[start : start + AT_A_TIME]):
            # One block over all of the past, where a budget holds nothing else, is named after the texts that it was
            # made from: of these there may be several, and none of them covers anything in the row.
            if not each.summarizer.endswith(PASSING):
                seen[each.level, each.first, each.last, each.summarizer] += 1
            texts += each.writing is not None
            untrusted += each.writing is not None and not each.writing.trusted
    return sum(times - 1 for times in seen.values()), texts, untrusted


def lost(folder: Path, stored: set[str]) -> set[str]:
    """What was acknowledged, was not pruned, and is not there."""
    return set(lines_of(folder, "acks")) - set(lines_of(folder, "pruned")) - stored


def wasted(calls: Sequence[Call], killed: Mapping[tuple[int, int], float]) -> int:
    """How many calls were made, or went on, for a text that another had written: at the end, or when they were killed.

    `killed` says when a process was killed, by its number and its life.
    """
    written: dict[str, list[Call]] = {}
    for call in calls:
        if call.did in ("written", "repaired", "offline"):
            written.setdefault(call.name, []).append(call)
    out = 0
    for call in calls:
        end = killed.get((call.process, call.life))
        others = [each for each in written.get(call.name, ()) if each is not call and each.ended]
        cut = not call.did and end is not None and any((each.ended or end) < end for each in others)
        out += call.did == "taken_over" or cut
    return out


def integrity(database: str) -> str:
    """What SQLite says of the file."""
    connection = apsw.Connection(database)
    try:
        return "; ".join(str(row[0]) for row in connection.execute("PRAGMA integrity_check"))
    finally:
        connection.close()
