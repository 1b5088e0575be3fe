"""What came of a run, and how it is shown."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ireneo.adapters.opening import open_store
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.engine.session import Session
from ireneo.ports.store import Store, Transaction
from racing.checks import duplicate_anchors, faults_of, integrity, lost, said_twice, stored_ids, wasted
from racing.ledger import JumpingClock, calls_of, lines_of, operations_done
from racing.model import ScriptedModel
from racing.run import Run
from racing.tale import KEY, POLICY
from racing.worker import BUDGETS

WIDE = 1_000_000
"""A budget for which no text is told ahead of its leaf: those are written for the budgets that are asked for."""

SHOWN = 6
"""So many faults are told in full."""


class Result(Struct, frozen=True, kw_only=True):
    """What a run left behind."""

    leases: bool
    seed: int
    seconds: float
    race_seconds: float
    operations: int
    kills: int
    jumps: int
    cuts: int
    """Connections that the proxy has cut."""
    acknowledged: int
    pruned: int
    """Of those that were acknowledged, what was taken out on purpose."""
    contexts: int
    """That were looked at: during the race, and of every branch at its end."""
    texts: int
    untrusted: int
    calls: int
    unanswered: int
    """Calls that a kill cut short."""
    wasted: int
    """Calls for a text that another had written meanwhile."""
    zeros: Mapping[str, int]
    """What must never be, and how often it was."""
    integrity: str
    counts: Mapping[str, int]
    faults: Sequence[str]
    """The first of what must never be, in words."""


async def counted(run: Run, began: float) -> Result:
    """Look at what a run left behind; `began` is when it was begun."""
    folder = run.folder
    store = await open_store(run.database)
    try:
        faults = [(kind, detail) for kind, _, detail in (line.partition("\t") for line in lines_of(folder, "faults"))]
        at_end = await _contexts(store, run, faults)

        def look(tx: Transaction) -> tuple[set[str], tuple[int, int, int], int, list[str]]:
            wrong = [*tx.upkeep.faults(), *tx.upkeep.corrupted().faults]
            return stored_ids(tx)[0], duplicate_anchors(tx), said_twice(tx), wrong

        stored, (duplicates, texts, untrusted), twice, wrong = await store.read(look)
        faults += [("store", each) for each in wrong]
        due = await _due(store, run)
    finally:
        await store.close()
    calls = calls_of(folder)
    counts = Counter(lines_of(folder, "counts"))
    kinds = Counter(kind for kind, _ in faults)
    gone = lost(folder, stored)
    return Result(
        leases=run.leases,
        seed=run.seed,
        seconds=round(time.monotonic() - began, 1),
        race_seconds=round(run.race_seconds, 1),
        operations=sum(operations_done(folder, number) for number in range(run.processes)),
        kills=len(run.killed),
        jumps=run.jumps,
        cuts=run.proxy.cuts if run.proxy else 0,
        acknowledged=len(lines_of(folder, "acks")),
        pruned=len(set(lines_of(folder, "acks")) & set(lines_of(folder, "pruned"))),
        contexts=counts["contexts"] + at_end,
        texts=texts,
        untrusted=untrusted,
        calls=len(calls),
        unanswered=sum(call.ended is None for call in calls),
        wasted=wasted(calls, run.killed),
        zeros={
            "duplicate anchors": duplicates,
            "covered twice or never": kinds["cover"],
            "acknowledged and lost": len(gone),
            "stored twice": twice,
            "leaks from other branches": kinds["leak"],
            "faults of the store": kinds["store"],
            "errors": kinds["error"],
            "texts still due": due,
        },
        integrity="ok" if run.proxy else integrity(run.database),
        counts=counts,
        faults=[f"{kind}: {detail}" for kind, detail in faults[:SHOWN]],
    )


async def _contexts(store: Store, run: Run, faults: list[tuple[str, str]]) -> int:
    """Look at every branch as it is shown at the end; says how many contexts that were."""
    names = await store.read(lambda tx: tx.sessions.branches(KEY))
    means = _means(store, run)
    for name in names:
        for budget in BUDGETS:
            faults += await faults_of(store, await Session(means, KEY, name, None).context(budget))
    return len(names) * len(BUDGETS)


async def _due(store: Store, run: Run) -> int:
    """How many texts are due, on all branches together."""
    names = await store.read(lambda tx: tx.sessions.branches(KEY))
    return sum([await Session(_means(store, run), KEY, name, None).due(WIDE) for name in names])


def _means(store: Store, run: Run) -> Resources:
    model = ScriptedModel(run.ledger, random.Random(run.seed), 0.0)
    clock = JumpingClock(run.folder / "clock")
    return Resources(store=store, count=EstimatedTokenizer().count, clock=clock, models=Models.of(model), preset=POLICY)


def show(results: Sequence[Result]) -> str:
    """The runs side by side."""
    rows: list[tuple[str, ...]] = [("", *("leases" if each.leases else "no leases" for each in results))]
    for name in (
        "operations",
        "kills",
        "jumps",
        "cuts",
        "acknowledged",
        "pruned",
        "contexts",
        "texts",
        "untrusted",
        "calls",
    ):
        rows.append((name, *(f"{getattr(each, name):,}" for each in results)))
    rows.append(("calls cut short by a kill", *(f"{each.unanswered:,}" for each in results)))
    rows.append(("calls wasted", *(f"{each.wasted:,} ({each.wasted / max(each.calls, 1):.1%})" for each in results)))
    for name in results[0].zeros:
        rows.append((name, *(f"{each.zeros[name]:,}" for each in results)))
    rows.append(("integrity of the file", *(each.integrity for each in results)))
    rows.append(("race, seconds", *(f"{each.race_seconds:.0f}" for each in results)))
    rows.append(("in all, seconds", *(f"{each.seconds:.0f}" for each in results)))
    lines = ["  ".join((f"{row[0]:<26}", *(f"{cell:>14}" for cell in row[1:]))) for row in rows]
    lines += [f"{'leases' if each.leases else 'no leases'}: {fault}" for each in results for fault in each.faults]
    counts = [", ".join(f"{name} {times}" for name, times in sorted(each.counts.items())) for each in results]
    return "\n".join((f"seed {results[0].seed}", *lines, *(f"counted: {each}" for each in counts)))
