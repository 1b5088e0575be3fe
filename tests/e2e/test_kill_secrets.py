"""A process that is killed with signal 9 while it takes secrets out leaves whole sessions; the next one finishes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.planted import planted

import ireneo
from ireneo import Draft
from ireneo.log.message import Text

TOKEN = planted("github classic", 5).secrets[0]
SESSIONS, MESSAGES = 3, 60
MENDS = """
import asyncio, sys, ireneo

async def main():
    async with ireneo.open(sys.argv[1]) as memory:
        print("begins", flush=True)
        await memory.secrets(repair=True)
        print("done", flush=True)

asyncio.run(main())
"""


def said(session: int) -> list[Draft]:
    texts = [f"{session}.{number}: open it with {TOKEN} " + "and wait " * 20 for number in range(MESSAGES)]
    return [Draft(role="user", parts=(Text(text=text),)) for text in texts]


async def fill(place: Path) -> None:
    """Sessions of which every message has a secret, and a memory of each."""
    async with ireneo.open(place, durability="normal", keep_secrets=True) as memory:
        for number in range(SESSIONS):
            session = await memory.session(f"watch {number}")
            ids = (await session.append(said(number))).ids
            await memory.remember(f"Gate {number} opens with {TOKEN}.", messages=[ids[0]], session=session.id)


@pytest.mark.parametrize("wait_seconds", [0.0, 0.05, 0.2])
def test_the_next_run_goes_on_and_no_byte_is_left(tmp_path: Path, wait_seconds: float) -> None:
    place = tmp_path / "memory.db"
    asyncio.run(fill(place))
    process = subprocess.Popen([sys.executable, "-c", MENDS, str(place)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    time.sleep(wait_seconds)
    process.kill()
    process.wait()
    process.stdout.close()

    async def look() -> None:
        async with ireneo.open(place) as memory:
            assert [info.messages for info in await memory.sessions()] == [MESSAGES] * SESSIONS
            assert (await memory.secrets(repair=True)).complete
            for number in range(SESSIONS):
                session = await memory.session(f"watch {number}", must_exist=True)
                assert (await session.append(said(number), after="root")).new == 0
                told = [each.text for each in await session.messages()]
                assert all("[REDACTED github-token]" in text for text in told)
            assert len(list(await memory.recall("Which gate opens?", kind="semantic"))) == SESSIONS

    asyncio.run(look())
    assert TOKEN.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
