"""What becomes of a pin in contexts once it was released by hand."""

from __future__ import annotations

from tests.golden.material import run, said, user

import ireneo
from ireneo import Session
from ireneo.log.message import Draft, Text, chain
from ireneo.summaries.pins import constraints, valid_pins

RULE = "Never push the tide tables before noon."
WORK = [each for part in range(30) for each in run(f"make part_{part}", f"part {part} is done " * 12)]
TALK = "The parts of the harbour are told from north to south, and each has its table. " * 20
BUDGET = 600


async def text(session: Session, budget: int = BUDGET) -> str:
    context = await session.context(budget, to="openai")
    return "\n".join(str(each["content"]) for each in context.messages)


async def test_a_released_rule_leaves_a_context_that_was_built_before() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("tides")
        await session.append([*user(f"{TALK} {RULE} {TALK}"), *WORK, *said("Built.")])
        await session.pin("The old tables are kept.")
        await session.append([*user("Now the rest."), *WORK])
        before = await text(session)
        assert RULE in before
        assert "The old tables are kept." in before
        await session.release(RULE)
        await session.release("The old tables")
        after = await text(session)
        assert RULE not in after
        assert "The old tables" not in after
        assert "Lifted" not in after
        assert [each.text for each in await session.pins()] == []
        assert await text(session) == after


async def test_what_was_released_is_told_where_its_words_are_still_shown() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("tides")
        await session.append([*WORK, *user(RULE), *said("I won't.")])
        await text(session)
        await session.release(RULE)
        lifted = f"[PINNED] Lifted, and holds no longer:\n- {RULE}"
        assert lifted in await text(session)
        assert lifted in await text(session, 100_000)


async def test_a_pin_at_the_end_is_gone_as_soon_as_it_is_released() -> None:
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("tides")
        await session.append([*user("Build all parts."), *WORK])
        pin = await session.pin(RULE)
        assert RULE in await text(session)
        await session.release(pin.id)
        assert RULE not in await text(session)
        assert RULE not in await text(session, 100_000)


def test_a_release_in_a_list_that_is_cut_again_pins_nothing() -> None:
    pinned = f"[PINNED] Constraints that stand, word for word:\n- {RULE}\n- Keep the old tables."
    lifted = f"[PINNED] Lifted, and holds no longer:\n- {RULE}"
    drafts = [Draft(role="user", parts=(Text(text=each),), origin="injected") for each in (pinned, lifted)]
    messages = chain(None, drafts, lambda parts: (1, 0))
    pins, lifts = constraints(messages)
    assert [each.text for each in valid_pins(pins, lifts)] == ["Keep the old tables."]


async def test_contexts_of_whatever_budget_change_no_pins() -> None:
    rules = ["Keep the old tables around.", "why do you always read them in pieces", RULE]
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("tides")
        for rule in rules:
            await session.append([*user(rule), *WORK[:20], *said("Done.")])
        await session.append([*user("Go on."), *WORK, *user("And the last."), *WORK])
        there = [each.text for each in await session.pins()]
        assert there == rules
        for budget in (4_000, 1_500, 500):
            await text(session, budget)
            assert [each.text for each in await session.pins()] == there
