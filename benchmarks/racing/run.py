"""Start the processes, kill them, start them again, jump the clock, and cut their connections."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import random
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

import ireneo
from racing.ledger import Ledger, operations_done, set_clock
from racing.tale import KEY, message_with, word_of
from racing.worker import Part, take_part

if TYPE_CHECKING:
    from tests.cutting_proxy import CuttingProxy

BEGINNING = multiprocessing.get_context("forkserver")
"""How processes are begun: each by itself, and what all of them import is imported once."""
BEGINNING.set_forkserver_preload(["ireneo.adapters.postgres.store", "ireneo.engine.memory", "ireneo.engine.work"])
LEASE_SECONDS = (0.2, 2.0, 0.5, 3.0, 0.3, 2.0, 3.0, 2.0)
"""Of each process in turn."""
CUT_EVERY = 10
"""So many operations lie between two cuts of a connection, on the average; half of them hide a commit too."""
JUMPS = (-3600.0, -60.0, 0.0, 60.0, 3600.0)
LOOK_SECONDS = 0.02
TELL_SECONDS = 15.0
STUCK_SECONDS = 300.0
"""Whoever has still not written what is due by then never will. The lease of a process that was killed lasts for two
minutes more where the clock was put back from one of the small jumps to the other; the rest is written after that."""


class Run:
    """One run of the race."""

    def __init__(
        self,
        folder: Path,
        proxy: CuttingProxy | None,
        *,
        processes: int,
        operations: int,
        seed: int,
        leases: bool,
        small: bool,
        quiet: bool,
    ) -> None:
        """Make the story, of one message: in `folder`, or in the database behind `proxy`."""
        self.folder, self.leases, self.seed, self.proxy = folder, leases, seed, proxy
        self.database = proxy.behind if proxy else str(folder / "story.db")
        """What everybody works on, as the processes do not see it: without the proxy."""
        self.processes, self.operations = processes, operations
        self.killed: dict[tuple[int, int], float] = {}
        """When a process was killed, by its number and its life."""
        self.jumps = 0
        self.race_seconds = 0.0
        self._kill_every, self._jump_every = (60, 100) if small else (200, 500)
        self._longest = 0.1 if small else 0.3
        self._quiet = quiet
        self._running: dict[int, BaseProcess] = {}
        self._chance = random.Random(seed)
        self._lives = [0] * (processes + 2)
        self.ledger = Ledger(folder, processes + 2, 0)
        set_clock(folder / "clock", 0.0)
        asyncio.run(self._begin())

    async def _begin(self) -> None:
        word = word_of(self.processes + 2, 0, 1)
        async with ireneo.open(self.database, space=KEY.space, keep_secrets=True) as memory:
            session = await memory.session(KEY.session)
            made = await session.append(message_with(word, self._chance))
        self.ledger.acknowledged(made.ids)

    def race(self) -> None:
        """Let every process do its operations, however often it is killed."""
        began = told = time.monotonic()
        running = {number: self._start(number) for number in range(self.processes)}
        self._running = running
        kill, jump = self._pause(self._kill_every), self._pause(self._jump_every)
        cut = self._pause(CUT_EVERY)
        while running:
            time.sleep(LOOK_SECONDS)
            now, done = time.monotonic(), self._done()
            for number, process in list(running.items()):
                if not process.is_alive():
                    del running[number]
                    self._look_at(process, number)
            if running and done > kill:
                kill = done + self._pause(self._kill_every)
                number = self._chance.choice(list(running))
                self._kill(running[number], number)
                running[number] = self._start(number)
            if done > jump:
                jump = done + self._pause(self._jump_every)
                self.jumps += 1
                set_clock(self.folder / "clock", self._chance.choice(JUMPS))
            if self.proxy and done > cut:
                cut = done + self._pause(CUT_EVERY)
                self.proxy.commits_to_hide = self._chance.choice((0, 1))
                self.proxy.cut(self._chance)
            if now > told + TELL_SECONDS:
                told = now
                self._tell(f"{now - began:.0f} s: {done} operations, {len(self.killed)} kills")
        self.race_seconds = time.monotonic() - began
        self._tell(f"raced {self.race_seconds:.0f} s: {self._done()} operations, {len(self.killed)} kills")

    def stop(self) -> None:
        """End whoever is still running, as when the race is broken off."""
        for process in self._running.values():
            process.kill()

    def finish(self) -> None:
        """Let two processes write what is still due, and kill one of them on the way."""
        began = time.monotonic()
        numbers = (self.processes, self.processes + 1)
        self._running = {number: self._start(number, finish=True) for number in numbers}
        first, second = self._running.values()
        time.sleep(self._chance.uniform(0.8, 2.0))
        self._kill(first, numbers[0])
        second.join(STUCK_SECONDS)
        if second.is_alive():
            fault = f"what is due was not written within {STUCK_SECONDS:.0f} seconds: {self._said_by(numbers[1])}"
            self.ledger.fault("error", fault)
            self._kill(second, numbers[1])
        else:
            self._look_at(second, numbers[1])
        self._tell(f"finished {time.monotonic() - began:.0f} s")

    def _start(self, number: int, *, finish: bool = False) -> BaseProcess:
        part = Part(
            folder=str(self.folder),
            database=self.proxy.url if self.proxy else self.database,
            number=number,
            life=self._lives[number],
            operations=self.operations,
            seed=self.seed,
            leases=self.leases,
            lease_seconds=LEASE_SECONDS[number % len(LEASE_SECONDS)],
            longest_seconds=self._longest,
        )
        self._lives[number] += 1
        process = BEGINNING.Process(target=_take_part, args=(part, finish), daemon=True)
        process.start()
        return process

    def _kill(self, process: BaseProcess, number: int) -> None:
        if process.is_alive():
            process.kill()
            process.join()
            self.killed[number, self._lives[number] - 1] = time.monotonic()
        else:
            self._look_at(process, number)

    def _look_at(self, process: BaseProcess, number: int) -> None:
        """Note whether a process that has ended by itself did so as it should."""
        if process.exitcode:
            self._tell(f"process {number} ended with {process.exitcode}")
            self.ledger.fault("error", f"process {number} ended with {process.exitcode}: {self._said_by(number)}")

    def _said_by(self, number: int) -> str:
        """The last that a process said: of a fault, or of what it can't write yet."""
        return (self.folder / f"{number}.err").read_text()[-600:]

    def _pause(self, operations: int) -> float:
        return self._chance.uniform(0.5 * operations, 1.5 * operations)

    def _done(self) -> int:
        return sum(operations_done(self.folder, number) for number in range(self.processes))

    def _tell(self, what: str) -> None:
        if not self._quiet:
            print(f"  {'leases' if self.leases else 'no leases'}, {what}", flush=True)


def _take_part(part: Part, finish: bool) -> None:
    """Be one of the processes; what it has to say of a fault goes into a file."""
    with (part.place / f"{part.number}.err").open("ab") as errors:
        os.dup2(errors.fileno(), 2)
    if finish:
        logging.basicConfig(level=logging.DEBUG)
    asyncio.run(take_part(part, finish=finish))
