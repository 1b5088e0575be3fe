"""Scratchpads: one for each task of a space."""

from __future__ import annotations

from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect
from ireneo.testing.conformance.learned import pad
from ireneo.testing.conformance.material import MINUTE, NOON, SPACE


@check
async def a_pad_comes_back(store: Store) -> None:
    """A scratchpad comes back equal; a task without one has none."""
    wanted = pad("Mend “it”.\n\x00 \U0001f9e0")
    async with store.write() as tx:
        expect(await tx.pads.read(SPACE, wanted.task), None, "the scratchpad before it was written")
        await tx.pads.write(SPACE, wanted)
    async with store.read() as tx:
        expect(await tx.pads.read(SPACE, wanted.task), wanted, "the scratchpad")
        expect(await tx.pads.read(SPACE, wanted.task.upper()), None, "that of another task")
        expect(await tx.pads.read(SPACE, ""), None, "that of no task")


@check
async def a_pad_is_rewritten_whole(store: Store) -> None:
    """A scratchpad takes the place of the one that its task had, and leaves those of others."""
    other = pad("other")
    async with store.write() as tx:
        await tx.pads.write(SPACE, pad("task"))
        await tx.pads.write(SPACE, other)
    rewritten = pad("task", "to do something else", NOON + MINUTE)
    async with store.write() as tx:
        await tx.pads.write(SPACE, rewritten)
    async with store.read() as tx:
        expect(await tx.pads.read(SPACE, "task"), rewritten, "the scratchpad")
        expect(await tx.pads.read(SPACE, "other"), other, "the other one")
        expect(len(await tx.pads.list(SPACE)), 2, "how many there are")


@check
async def a_pad_goes(store: Store) -> None:
    """A scratchpad that is taken out is gone; to take out one that isn't there says so."""
    async with store.write() as tx:
        await tx.pads.write(SPACE, pad("task"))
        await tx.pads.write(SPACE, pad("other"))
        expect(await tx.pads.remove(SPACE, "task"), True, "whether it was there")
        expect(await tx.pads.remove(SPACE, "task"), False, "whether it was there still")
    async with store.read() as tx:
        expect(await tx.pads.read(SPACE, "task"), None, "the scratchpad")
        expect([each.task for each in await tx.pads.list(SPACE)], ["other"], "the tasks that are left")


@check
async def pads_are_listed_by_time(store: Store) -> None:
    """The scratchpad that was written last stands first, those of one time by task."""
    pads = [pad("c", written=NOON), pad("a", written=NOON + MINUTE), pad("d", written=NOON - MINUTE), pad("b")]
    async with store.write() as tx:
        for each in pads:
            await tx.pads.write(SPACE, each)
    async with store.read() as tx:
        expect([each.task for each in await tx.pads.list(SPACE)], ["a", "b", "c", "d"], "the tasks in order")
