"""No verb holds the event loop: what computes for long runs in a thread beside it, however long the session is.

A time would tell something else on every machine. So the calls of Python functions are counted that the loop's thread
makes without a break, which is one step of the loop: a verb that leaves the computing to others makes a few hundred.
`benchmarks/event_loop.py` has the milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.events import Handle
from types import FrameType

import pytest
from tests.property.verbs import RUN, VERBS, Verb, furnish, memory_with_all

from ireneo import Memory
from ireneo.adapters.in_memory import InMemoryStore

CALLS = 4_500
"""Some milliseconds."""
TURNS = 32


class Steps:
    """Counts the calls of each step of the loop in whose thread it is entered."""

    def __init__(self) -> None:
        self.longest = 0
        self._now = 0

    def __enter__(self) -> Steps:
        sys.setprofile(self._count)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _count(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._now = 0 if frame.f_code is Handle._run.__code__ else self._now + 1
            self.longest = max(self.longest, self._now)


async def calls_of(memory: Memory, verb: Verb) -> int:
    with Steps() as steps:
        await verb(memory)
    return steps.longest


def work(turns: int) -> list[dict[str, object]]:
    """What an agent did, with a failure in every turn."""
    out: list[dict[str, object]] = []
    for number in range(turns):
        file, name = f"src/app_{number}.py", f"c{number}"
        command = {"name": "bash", "arguments": json.dumps({"command": f"pytest {file}"})}
        out += [
            {"role": "user", "content": f"Fix the bug number {number} in {file}, and never touch the tests."},
            {"role": "assistant", "tool_calls": [{"id": name, "type": "function", "function": command}]},
            {"role": "tool", "tool_call_id": name, "content": f"ERROR in {file}\n" * 20 + "exit status 1"},
            {"role": "assistant", "content": f"I have looked at number {number}."},
        ]
    return out


def appends(said: list[dict[str, object]]) -> Verb:
    async def verb(memory: Memory) -> None:
        await (await memory.session(RUN)).append(said)

    return verb


@pytest.fixture(scope="module")
def counted() -> dict[str, int]:
    """By verb, the calls of its longest step: on a run of many turns, and where all modules are loaded already."""

    async def main() -> dict[str, int]:
        memory = memory_with_all(InMemoryStore())
        await furnish(memory, messages=20)
        for verb in VERBS.values():
            await verb(memory)
        memory = memory_with_all(InMemoryStore())
        await furnish(memory, messages=2 * TURNS)
        verbs = {"append of all": appends(work(TURNS)), **VERBS}
        return {name: await calls_of(memory, verb) for name, verb in verbs.items()}

    return asyncio.run(main())


def test_no_step_of_any_verb_computes_for_long(counted: dict[str, int]) -> None:
    assert {name: calls for name, calls in counted.items() if calls > CALLS} == {}


def test_a_long_step_is_found() -> None:
    async def holds(_: Memory) -> None:
        for number in range(2 * CALLS):
            work(number % 2)

    assert asyncio.run(calls_of(memory_with_all(InMemoryStore()), holds)) > CALLS
