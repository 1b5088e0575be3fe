"""Conversations with gold beside them: how many of the facts told are in memory, and what is held that shouldn't be.

    python benchmarks/told_facts.py <folder> [--dump told.txt] [--model NAME [--base-url URL]]

The folder has `conversations.jsonl` (id, user, language, turns with role, at and text), `gold.jsonl` (conversation,
turn, fact, kind, holds_at_end, replaces), `traps.jsonl` (conversation, turn, must_not_be_kept) and `sets.jsonl`
(conversation, set, at_end, gone). Every turn is appended with its time, `work` reads what was said by rules, or by a
model where one is named (its key is in ``IRENEO_API_KEY``), all conversations at once. What is held then is compared
with the gold by the words that both have. Words are a thermometer: whether a fact is there is for readers to decide,
and the dump shows them all that is held, and what isn't any more, beside the gold. "Nell moved out" has all the words
of what it ends, and so these three figures are taken three times: of all that is held, of what was told before the
change alone, which is what should have ended, and of what is held as a fact, without the events: what was said or done
on a day stays so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

import ireneo
from ireneo.types import Models, Record

ENOUGH = 0.5
"""The share of a fact's telling words that a memory must have for it to count as there."""
COMMON = frozenset(
    "a an the is are was were has have had in on at of for to with and or no not since from by as it its their his her "
    "he she they that this der die das ein eine ist sind hat im am in auf mit und seit von bei nicht zu".split()
)


class Counts(Struct):
    """What was found over all conversations."""

    wanted: int = 0
    there: int = 0
    changes: int = 0
    superseded: int = 0
    held: int = 0
    outdated: int = 0
    traps: int = 0
    trapped: int = 0
    sets: int = 0
    whole: int = 0
    superseded_before: int = 0
    outdated_before: int = 0
    whole_before: int = 0
    facts: int = 0
    superseded_facts: int = 0
    outdated_facts: int = 0
    whole_facts: int = 0


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    path = folder / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


class Held(Struct):
    """What is held after a conversation, and what was and isn't any more."""

    records: list[Record]
    turns: dict[str, int]
    """By its id, which turn a message was."""

    def before(self, turn: int) -> list[Record]:
        """What holds still that was told before a turn alone."""
        return [
            each
            for each in self.records
            if each.holds and max((self.turns[m] for e in each.evidence for m in e.messages), default=0) < turn
        ]


async def told(conversation: Mapping[str, object], models: Models) -> Held:
    with tempfile.TemporaryDirectory() as folder:
        async with ireneo.open(Path(folder) / "memory.db", durability="normal", model=models) as memory:
            session = await memory.session(str(conversation["id"]))
            turns = dict[str, int]()
            for number, turn in enumerate(conversation["turns"]):  # type: ignore[arg-type,var-annotated]
                said = {"role": turn["role"], "content": turn["text"], "timestamp": turn["at"]}
                turns |= dict.fromkeys((await session.append([said])).ids, number)
            await memory.work(until_idle=True)
            return Held(records=list(await memory.memories(state="any", limit=500)), turns=turns)


async def all_told(conversations: Iterable[Mapping[str, object]], models: Models) -> list[Held]:
    return await asyncio.gather(*(told(each, models) for each in conversations))


def telling(text: str, *without: str) -> set[str]:
    words = re.findall(r"[^\W_]+", text.casefold())
    return {word[:6] for word in words} - {word[:6] for word in (*COMMON, *(each.casefold() for each in without))}


def nearest(fact: str, user: str, records: Iterable[Record]) -> tuple[float, Record | None]:
    """The share of a fact's words that the memory nearest to it has, and that memory."""
    words = telling(fact, user)
    shares = [(len(words & telling(each.text)) / max(1, len(words)), each) for each in records]
    return max(shares, key=lambda share: share[0], default=(0.0, None))


def compared(
    conversation: Mapping[str, object],
    held: Held,
    gold: Sequence[Mapping[str, object]],
    traps: Sequence[Mapping[str, object]],
    sets: Sequence[Mapping[str, object]],
    counts: Counts,
) -> list[str]:
    """Count what of the gold is held; the lines of the dump."""
    user, records = str(conversation["user"]), held.records
    changed = {str(fact["replaces"]): int(str(fact["turn"])) for fact in gold if fact.get("replaces")}
    active = [each for each in records if each.holds]
    facts = [each for each in active if each.kind != "episodic"]
    counts.held += len(active)
    counts.facts += len(facts)
    told_lines = [
        f"===== {conversation['id']} {user}",
        "-- gold: + there, - missing; x no longer so, ! held all the same",
    ]
    for fact in gold:
        share, record = nearest(str(fact["fact"]), user, active)
        found = share >= ENOUGH
        if fact["holds_at_end"]:
            counts.wanted += 1
            counts.there += found
            told_lines.append(f"{'+' if found else '-'} {fact['fact']}")
            if fact.get("replaces"):
                counts.changes += 1
                _, old = nearest(str(fact["replaces"]), user, records)
                counts.superseded += found and (old is None or not old.holds or old is record)
                still, _ = nearest(str(fact["replaces"]), user, held.before(int(str(fact["turn"]))))
                counts.superseded_before += found and still < ENOUGH
                still, as_fact = nearest(str(fact["replaces"]), user, facts)
                counts.superseded_facts += found and (still < ENOUGH or as_fact is record)
        else:
            counts.outdated += found
            still, _ = nearest(str(fact["fact"]), user, held.before(changed.get(str(fact["fact"]), len(held.turns))))
            counts.outdated_before += still >= ENOUGH
            counts.outdated_facts += nearest(str(fact["fact"]), user, facts)[0] >= ENOUGH
            found = still >= ENOUGH
            told_lines.append(f"{'!' if found else 'x'} {fact['fact']}")
    for trap in traps:
        share, record = nearest(str(trap["must_not_be_kept"]), user, active)
        counts.traps += 1
        counts.trapped += share >= 0.6
        told_lines += [f"! trap: {trap['must_not_be_kept']} <- {record.text}"] if record and share >= 0.6 else []
    for each in sets:
        values, gone = (" ".join(r.text for r in active).casefold(), [str(value) for value in each["gone"]])  # type: ignore[attr-defined]
        counts.sets += 1
        counts.whole += all(telling(str(v)) & telling(values) for v in each["at_end"]) and all(  # type: ignore[attr-defined]
            not any(nearest(v, user, [r])[0] == 1 for r in active if not r.evidence[-1].against) for v in gone
        )
        counts.whole_facts += all(telling(str(v)) & telling(values) for v in each["at_end"]) and all(  # type: ignore[attr-defined]
            not any(nearest(v, user, [r])[0] == 1 for r in facts) for v in gone
        )
        last = {value: _last_named(conversation, value) for value in gone}
        counts.whole_before += all(telling(str(v)) & telling(values) for v in each["at_end"]) and all(  # type: ignore[attr-defined]
            nearest(value, user, held.before(turn))[0] < 1 for value, turn in last.items()
        )
    told_lines.append("-- held (what no longer holds in brackets)")
    for record in sorted(records, key=lambda one: one.recorded):
        line = f"{record.at:%Y-%m-%d} {record.kind[:4]} {record.text}"
        told_lines.append(line if record.holds else f"[{line}] {record.reason}")
    return told_lines


def _last_named(conversation: Mapping[str, object], value: str) -> int:
    """The turn that says last of a value what is so of it."""
    turns: Sequence[Mapping[str, object]] = conversation["turns"]  # type: ignore[assignment]
    named = [number for number, turn in enumerate(turns) if telling(value) & telling(str(turn["text"]))]
    return max(named, default=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dump", type=Path)
    parser.add_argument("--model", help="who reads what was said, such as openai:NAME; else rules do")
    parser.add_argument("--base-url", help="another server that speaks like the model's provider")
    given = parser.parse_args()
    gold, traps, sets = (lines(given.folder, name) for name in ("gold", "traps", "sets"))
    counts, dump = Counts(), list[str]()
    conversations = lines(given.folder, "conversations")
    key = os.environ.get("IRENEO_API_KEY")
    models = ireneo.models(given.model, base_url=given.base_url, api_key=key, timeout_seconds=3500)
    for conversation, held in zip(conversations, asyncio.run(all_told(conversations, models)), strict=True):
        of = [[each for each in rows if each["conversation"] == conversation["id"]] for rows in (gold, traps, sets)]
        dump += compared(conversation, held, *of, counts)
    if given.dump:
        given.dump.write_text("\n".join(dump) + "\n", encoding="utf-8")
    print(f"facts that hold at the end and are in memory   {counts.there} of {counts.wanted}")
    rows = (
        (
            "changes: the new held, the old no longer",
            counts.superseded,
            counts.superseded_before,
            counts.superseded_facts,
            counts.changes,
        ),
        ("outdated among what is held", counts.outdated, counts.outdated_before, counts.outdated_facts, counts.held),
        (
            "sets of which all is held and nothing gone",
            counts.whole,
            counts.whole_before,
            counts.whole_facts,
            counts.sets,
        ),
    )
    for name, of_all, before, as_fact, most in rows:
        print(f"{name:46} {of_all} of {most}; of what was told before the change {before}; events apart {as_fact}")
    print(f"facts, and no events, among what is held       {counts.facts}")
    print(f"traps that read as held                        {counts.trapped} of {counts.traps}")


if __name__ == "__main__":
    main()
