"""What an id opens: whatever it names, wherever that stands, and never something that has to be guessed."""

from __future__ import annotations

import pytest

import ireneo
from ireneo.errors import BadInput, MemoryNotFound, MessageNotFound, NotFound, SummaryNotFound


@pytest.fixture
async def memory(memory: ireneo.Memory) -> ireneo.Memory:
    """A memory with a long talk in it."""
    said = [{"role": role, "content": f"{role} {turn}"} for turn in range(40) for role in ("user", "assistant")]
    await (await memory.session("talk")).append(said)
    return memory


async def ids(memory: ireneo.Memory) -> list[str]:
    return [message.id for message in await (await memory.session("talk")).messages()]


async def test_each_id_opens_what_it_names(memory: ireneo.Memory) -> None:
    session = await memory.session("talk")
    message = (await ids(memory))[5]
    fact = (await memory.remember("Anna lives in Porto.", session="talk", messages=(message,))).record
    pin = await session.pin("Never push.")
    block = next(row for row in (await session.context(300)).view if row.what == "summary")
    for length in (9, 28):
        opened = await memory.lookup(fact.id[:length])
        assert opened.memory is not None
        assert opened.memory.evidence[0].messages == (message,)
        behind = (await memory.lookup(message[:length])).expanded
        assert behind is not None
        assert [each.id for each in behind.messages] == [message]
        behind = (await memory.lookup(block.id[:length])).expanded
        assert behind is not None
        assert behind.summary is not None
        assert behind.summary.id == block.id
        noted = await memory.lookup(pin.id[:length])
        assert (noted.note, noted.session) == (pin, "talk")
        # What was typed without its prefix is found as well.
        for id in (fact.id, block.id, pin.id):
            assert await memory.lookup(id[2:length]) == await memory.lookup(id[:length])
    assert (await memory.lookup("talk")).diary is not None
    with pytest.raises(NotFound, match="There is nothing called"):
        await memory.lookup("_" + fact.id[2:])


async def test_what_might_be_several_is_refused_with_some_of_them(memory: ireneo.Memory) -> None:
    session = await memory.session("talk")
    every = await ids(memory)
    for tried in (
        lambda: memory.lookup("m_"),
        lambda: session.expand("m_"),
        lambda: session.rewind("m_"),
        lambda: session.fork("other", at="m_"),
        lambda: session.append({"role": "user", "content": "x"}, after="m_"),
        lambda: memory.forget(message="m_", preview=True),
    ):
        with pytest.raises(BadInput, match="too short for the id of one") as said:
            await tried()
        assert any(id[:9] in str(said.value) for id in every), said.value
    await session.context(300)
    for tried in (lambda: session.expand("s_"), lambda: memory.lookup("s_"), lambda: session.dispute("s_", "No.")):
        with pytest.raises(BadInput, match="too short for the id of one summary: s_"):
            await tried()
    # So many messages are told that two of them begin alike, and a memory beside them.
    begun = sorted({id[:4] for id in every if sum(other[:4] == id[:4] for other in every) > 1})
    if begun:
        with pytest.raises(BadInput, match="Several of them begin with"):
            await memory.lookup(begun[0])


async def test_memories_are_named_by_the_same_rules(memory: ireneo.Memory) -> None:
    kept = [(await memory.remember(f"The key number {n} is at home.")).record.id for n in range(3)]
    for tried in (
        lambda: memory.restore(["m_"]),
        lambda: memory.used(["m_"]),
        lambda: memory.forget(memory="m_", preview=True),
        lambda: memory.dispute("m_", "It is not."),
    ):
        with pytest.raises(BadInput, match="too short for the id of one memory") as said:
            await tried()
        assert kept[0][:9] in str(said.value)
    for tried in (
        lambda: memory.restore(["m_nothing"]),
        lambda: memory.used([""]),
        lambda: memory.forget(memory="m_nothing", preview=True),
        lambda: memory.dispute("m_nothing", "It is not."),
    ):
        with pytest.raises(MemoryNotFound):
            await tried()


async def test_what_is_not_there_is_said_and_a_memory_is_told_from_a_message(memory: ireneo.Memory) -> None:
    session = await memory.session("talk")
    fact = (await memory.remember("Anna lives in Porto.")).record.id
    with pytest.raises(MessageNotFound, match="is a memory, and no message of session talk"):
        await session.expand(fact)
    for name in ("m_nothing", "p_nothing", "nobody"):
        with pytest.raises(NotFound, match=r"There is nothing called .* in space 'default'"):
            await memory.lookup(name)
    with pytest.raises(SummaryNotFound):
        await memory.lookup("s_nothing")
    with pytest.raises(NotFound):
        await memory.lookup((await ids(memory))[0], session="another")


async def test_the_id_that_a_log_gave_opens_all_of_that_entry(memory: ireneo.Memory) -> None:
    from ireneo.log.message import Text

    session = await memory.session("logged")
    await session.append(
        [ireneo.Draft(role="user", parts=(Text(text=each),), source_id="entry-1") for each in ("one", "two")]
    )
    behind = (await memory.lookup("entry-1")).expanded
    assert behind is not None
    assert [each.text for each in behind.messages] == ["one", "two"]
    with pytest.raises(BadInput, match="2 messages have the id entry-1 in their log: m_"):
        await memory.forget(message="entry-1", preview=True)


async def test_an_agents_tool_opens_a_memory_too(memory: ireneo.Memory) -> None:
    session = await memory.session("talk")
    message = (await ids(memory))[5]
    fact = (await memory.remember("Anna lives in Porto.", session="talk", messages=(message,))).record
    expand, _ = session.tools()
    told = await expand(fact.id[:9])
    assert f"[{fact.id}] semantic memory" in told
    assert "Anna lives in Porto." in told
    assert message in told
    assert "There is no message m_nothing" in await expand("m_nothing")
    assert "too short" in await expand("m_")
