"""Whichever doors a session comes through, in whichever order: one path, one set of ids, and no secret in a file."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.databases import new_database
from tests.examples import times
from tests.planted import KINDS, Planted, bytes_in, left, planted
from tests.progress import progress_of

import ireneo
from ireneo.formats.logs.format import log_format

OPENAI = log_format("openai")
SESSION = "the-talk"
Messages = list[dict[str, object]]

SECRETS = st.builds(planted, st.sampled_from(sorted(KINDS)), st.integers(0, 3))
PLAIN = st.sampled_from(["Look at the tests.", "make: *** [all] Error 2", "All of them pass.", '{"id": 3}'])
DOORS = ("import", "learn", "append", "message by message")


@st.composite
def talks(draw: st.DrawFn) -> tuple[Messages, list[Planted]]:
    """A run in which secrets stand wherever a message has words: said, handed to a tool, come back, known by name."""
    used: list[Planted] = []

    def words() -> str:
        if draw(st.booleans()):
            return draw(PLAIN)
        used.append(draw(SECRETS))
        return f"{draw(PLAIN)}\n{used[-1].text}\n"

    out: Messages = [{"role": draw(st.sampled_from(["system", "user"])), "content": words()}]
    for number in range(draw(st.integers(1, 4))):
        given = draw(st.sampled_from(["plain", "call", "structured"]))
        out.append({"role": "user", "content": f"{number}: {words()}"})
        if given == "plain":
            out.append({"role": "assistant", "content": words()})
            continue
        arguments = json.dumps({"command": words(), "more": [words()]})
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "run", "arguments": arguments}}
        out.append({"role": "assistant", "content": None, "tool_calls": [call]})
        back = json.dumps({"stdout": words(), "code": 1}) if given == "structured" else words()
        out.append({"role": "tool", "tool_call_id": f"call_{number}", "content": back})
        out.append({"role": "assistant", "content": words()})
    return out, used


async def through(memory: ireneo.Memory, door: str, messages: Messages, keep: bool | None) -> None:
    """Let the whole of a session come in through one door."""
    if door in ("import", "learn"):
        lines = [json.dumps({"id": SESSION, "messages": messages}).encode() + b"\n"]
        for done in await progress_of(memory.import_log, lines, OPENAI, name="talk", keep_secrets=keep):
            assert done.session == SESSION
        if door == "learn":
            await memory.learn([SESSION])
        return
    session = await memory.session(SESSION)
    if door == "append":
        await session.append(messages, after="root", format="openai")
        return
    after = "root"
    for each in messages:
        done = await session.append([each], after=after, format="openai")
        after = done.ids[-1] if done.ids else after


def in_a_folder(work: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        new_database(Path(folder) / "a.db")
        work(Path(folder))


@settings(deadline=None, max_examples=times(6))
@given(talks(), st.lists(st.sampled_from(DOORS), min_size=2, max_size=4))
def test_a_session_has_one_path_and_no_secret_through_whichever_doors_it_comes(
    talk: tuple[Messages, list[Planted]], doors: list[str]
) -> None:
    messages, used = talk

    def work(folder: Path) -> None:
        paths: set[tuple[str, ...]] = set()

        async def come() -> None:
            async with ireneo.open(folder / "a.db", durability="normal") as memory:
                for door in doors:
                    await through(memory, door, messages, None)
                    session = await memory.session(SESSION)
                    paths.add(tuple(each.id for each in await session.messages()))
                    (info,) = await memory.sessions()
                    assert info.messages == len(messages)

        asyncio.run(come())
        assert len(paths) == 1
        assert left(bytes_in(folder), used) == []

    in_a_folder(work)


@settings(deadline=None, max_examples=times(6))
@given(talks(), st.lists(st.tuples(st.sampled_from(DOORS), st.booleans()), min_size=2, max_size=4), st.data())
def test_what_is_stored_with_its_secrets_stays_and_no_later_door_makes_a_second_path_of_it(
    talk: tuple[Messages, list[Planted]], doors: list[tuple[str, bool]], data: st.DataObject
) -> None:
    messages, _ = talk
    grown = data.draw(st.integers(1, len(messages)))

    def work(folder: Path) -> None:
        async def come() -> None:
            before: tuple[str, ...] = ()
            for number, (door, keep) in enumerate(doors):
                whole = messages if number else messages[:grown]
                async with ireneo.open(folder / "a.db", durability="normal", keep_secrets=keep) as memory:
                    await through(memory, door, whole, keep)
                    now = tuple(each.id for each in await (await memory.session(SESSION)).messages())
                    (info,) = await memory.sessions()
                assert now[: len(before)] == before
                assert info.messages == len(now)
                before = now

        asyncio.run(come())

    in_a_folder(work)


@settings(deadline=None, max_examples=times(4))
@given(talks())
async def test_what_the_model_was_shown_comes_back_as_the_same_messages(talk: tuple[Messages, list[Planted]]) -> None:
    messages, _ = talk
    async with ireneo.open(":memory:") as memory:
        session = await memory.session(SESSION)
        first = await session.append(messages, after="root", format="openai")
        shown = await session.context(budget=200_000, to="openai")
        again = await session.append(list(shown.messages), after="root", format="openai")
        assert (again.ids, again.new, again.redacted) == (first.ids, 0, {})


@settings(deadline=None, max_examples=times(4))
@given(talks(), st.lists(st.sampled_from(DOORS), min_size=1, max_size=2), st.sampled_from(DOORS))
def test_what_the_doctor_took_them_out_of_is_what_would_have_come_in_without(
    talk: tuple[Messages, list[Planted]], doors: list[str], later: str
) -> None:
    messages, used = talk

    async def ids(memory: ireneo.Memory) -> list[str]:
        return [each.id for each in await (await memory.session(SESSION)).messages()]

    def work(folder: Path) -> None:
        async def come() -> None:
            async with ireneo.open(":memory:") as memory:
                await through(memory, "import", messages, None)
                clean = await ids(memory)
            async with ireneo.open(folder / "a.db", durability="normal", keep_secrets=True) as memory:
                for door in doors:
                    await through(memory, door, messages, None)
            async with ireneo.open(folder / "a.db", durability="normal") as memory:
                assert (await memory.secrets(repair=True)).complete
                assert await ids(memory) == clean
                await through(memory, later, messages, None)
                assert await ids(memory) == clean
                assert (await memory.secrets()).found == ()
                assert [each for each in await memory.doctor() if each.kind == "fault"] == []

        asyncio.run(come())
        assert left(bytes_in(folder), used) == []

    in_a_folder(work)
