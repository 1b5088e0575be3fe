"""What no branch leads to is taken out, and what is left is seen as it was, byte for byte."""

from __future__ import annotations

import msgspec
import pytest
from tests.golden.material import session as material

import ireneo
from ireneo.errors import BadInput, SessionNotFound

BUDGETS = (300, 2000)


async def contexts(session: ireneo.Session) -> list[bytes]:
    """What a session's contexts look like, at several budgets."""
    return [
        msgspec.json.encode((cut.messages, cut.view, cut.pins))
        for cut in [await session.context(budget) for budget in BUDGETS]
    ]


@pytest.mark.parametrize("at", [0, 20, 41, 90, 96])
async def test_forks_before_inside_and_after_what_is_summarised(memory: ireneo.Memory, at: int) -> None:
    main = await memory.session("run")
    await main.append(material(2))
    await contexts(main)
    messages = await main.messages()
    at_most = min(at, len(messages) - 1)
    gone = await main.fork("gone", at=messages[at_most].id)
    await gone.append(["Try it another way.", *material(1)])
    kept = await main.fork("kept", at=messages[at_most].id)
    await kept.append(material(1)[2:])
    await main.append(material(1))
    for session in (gone, kept, main):
        await contexts(session)
    before = [await contexts(session) for session in (main, kept)]
    own = (await gone.messages())[at_most + 1 :]
    would = await main.prune("gone", dry_run=True)
    assert (would.messages, would.tokens) == (len(own), sum(message.tokens for message in own))
    assert (await main.prune(dry_run=True)).messages == 0
    await main.drop("gone")
    assert await main.prune(dry_run=True) == would
    pruned = await main.prune()
    assert (pruned.messages, pruned.tokens) == (would.messages, would.tokens)
    # Sessions that were open before, and those that are opened anew.
    anew = [await memory.session("run", branch=name) for name in ("main", "kept")]
    assert [await contexts(session) for session in anew] == before
    assert [await contexts(session) for session in (main, kept)] == before
    assert [each for each in await memory.doctor() if each.kind == "fault"] == []
    assert (await main.prune()).messages == 0


async def test_what_a_rewind_left_behind(memory: ireneo.Memory) -> None:
    session = await memory.session("run")
    await session.append(material(2))
    await contexts(session)
    messages = await session.messages()
    await session.rewind(messages[9].id)
    await session.append("Now something else.")
    before = await contexts(session)
    assert (await session.prune(dry_run=True)).messages == len(messages) - 10
    pruned = await session.prune()
    assert pruned.messages == len(messages) - 10
    assert pruned.summaries > 0
    assert await contexts(session) == before
    assert await memory.doctor() == []


async def test_a_branch_that_shares_all_its_messages_takes_nothing_with_it(memory: ireneo.Memory) -> None:
    session = await memory.session("run")
    await session.append(material(1))
    await session.fork("mark")
    assert (await session.prune("mark", dry_run=True)).messages == 0
    await session.drop("mark")
    assert (await session.prune()).messages == 0
    assert list(await session.branches()) == ["main"]


async def test_the_only_branch_is_not_dropped(memory: ireneo.Memory) -> None:
    session = await memory.session("run")
    with pytest.raises(SessionNotFound):
        await session.prune()
    await session.append(material(1))
    for refused in (session.drop, lambda name: session.prune(name, dry_run=True)):
        with pytest.raises(BadInput, match="'main' is the only branch of session run, and nothing would lead"):
            await refused("main")
        with pytest.raises(BadInput, match="no branch 'side'; it has: main"):
            await refused("side")
    side = await session.fork("side")
    await side.rewind("root")
    with pytest.raises(BadInput, match="the only branch of session run that leads to a message"):
        await session.drop("main")
    await session.drop("side")
    assert list(await session.branches()) == ["main"]
