"""What was recalled into a context is never evidence for a new memory, and no words of anybody."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireneo import Draft, Memory, chat_format
from ireneo.language.words import terms
from ireneo.log.message import Call, Result, Role, Text, opens_turn
from ireneo.memories.record import Kind, MemoryId
from ireneo.ports.store import Transaction
from ireneo.types import Record

from .houses import House, calm, housed, stores
from .material import FORMATS, Teller
from .promises import strings

FACTS: tuple[tuple[Kind, str], ...] = (
    ("semantic", "The quarzine pump runs on port 7401."),
    ("semantic", "Merle never deploys on a Friday."),
    ("episodic", "I restarted the quarzine pump, and two bookings were lost."),
    ("failure", "I tried to reload the quarzine pump — abandoned because it drops bookings."),
    ("procedural", "Drain the quarzine pump; stop it; start it with its log on."),
)
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


async def learn(memory: Memory) -> list[Record]:
    """Remember something of each kind, as a user's word."""
    done = [
        await memory.remember(text, kind=kind, task_type="pump" if kind == "procedural" else "") for kind, text in FACTS
    ]
    return [each.record for each in done]


async def recalled(memory: Memory) -> str:
    """A brief that shows all of it, with a scratchpad."""
    await memory.scratchpad("pump").write(goal="Mend the quarzine pump", facts=["The quarzine pump leaks at night."])
    brief = await memory.brief(
        goal="What of the quarzine pump and the Friday Merle deploys?", task_type="pump", task="pump"
    )
    assert len(brief.lines) == len(FACTS)
    assert "Scratchpad" in brief.markdown
    return brief.markdown


def put(brief: str, role: Role, mixed: bool) -> list[Draft]:
    """A message in that role that is the brief, or holds it among other words."""
    text = f"Look at this:\n{brief}\nNothing else for now." if mixed else brief
    if role != "tool":
        return [Draft(role=role, parts=(Text(text=text),))]
    call = Call(id="b1", name="memory_brief", arguments={"goal": "mend"})
    result = Result(call_id="b1", parts=(Text(text=text),))
    return [Draft(role="assistant", parts=(call,)), Draft(role="tool", parts=(result,))]


def listed(to: str, drafts: Sequence[Draft]) -> object:
    """As an application has it, in its provider's format."""
    payload = chat_format(to).encode(drafts)
    return payload.messages if payload.system is None else {"system": payload.system, "messages": payload.messages}


@calm(8)
@given(store=stores, to=st.sampled_from(FORMATS), role=st.sampled_from(ROLES), mixed=st.booleans(), work=st.booleans())
async def test_a_brief_in_any_role_and_format_teaches_nothing(
    store: str, to: str, role: Role, mixed: bool, work: bool
) -> None:
    async with housed(store) as house:
        memory = await house.memory()
        known = await learn(memory)
        brief = await recalled(memory)
        before = [replace_uses(each) for each in await memory.get([each.id for each in known])]
        session = await memory.session("run")
        drafts = [*Teller().tell(["instruct", "ask"]), *put(brief, role, mixed), *Teller("b").tell(["ask", "read"])]
        await session.append(chat_format(to).decode(listed(to, drafts)))
        turns = sum(message.opens_turn for message in await session.messages())
        # Not every format has a place for what a system says later on: it stands in the user's then.
        assert turns in ({2, 3} if mixed and role == "system" else {2 + (mixed and role == "user")})
        await nothing_is_searched(house, "quarzine")
        await nothing_is_pinned(session_pins=[pin.text for pin in await session.pins()])
        if work:
            await session.append(Teller("c").tell(["work", "answer"] * 4))
            context = await session.context(1_500, to="openai")
            blocks = "\n".join(row.text for row in context.view if row.what == "summary")
            assert "quarzine" not in blocks
        path = await session.messages()
        echo = next(message for message in path if "quarzine" in " ".join(strings(message_strings(message.draft))))
        for record in known:
            again = await memory.remember(
                record.text,
                kind=record.kind,
                task_type=record.task_type,
                origin="agent",
                messages=[echo.id],
                session="run",
            )
            assert again.did == "ignored"
        assert [replace_uses(each) for each in await memory.get([each.id for each in known])] == before


async def nothing_is_searched(house: House, word: str) -> None:
    (term,) = terms(word)

    def look(tx: Transaction) -> None:
        assert tx.search.count("mine", "messages", [term])[term] == 0
        assert tx.search.count("mine", "memories", [term])[term] > 0

    await (await house.store()).read(look)


async def nothing_is_pinned(session_pins: Sequence[str]) -> None:
    assert not any("Merle" in text or "quarzine" in text for text in session_pins)


def message_strings(draft: Draft) -> list[str]:
    """Every text in a message."""
    return [draft.text, *(result.text for result in draft.results)]


def replace_uses(record: Record) -> tuple[MemoryId, str, int, float, object]:
    """What evidence makes of a memory."""
    return record.id, record.state, record.seen, record.confidence, record.evidence


@pytest.mark.parametrize("shown", [False, True])
async def test_an_agent_that_repeats_a_memory_is_no_new_evidence_and_a_user_is(shown: bool) -> None:
    async with housed() as house:
        memory = await house.memory()
        known = await learn(memory)
        brief = await memory.brief(goal="quarzine pump Friday Merle", task_type="pump")
        lines = {line.id: line.text for line in brief.lines}
        session = await memory.session("run")
        await session.append([{"role": "user", "content": brief.markdown}, {"role": "user", "content": "Go on."}])
        for record in known:
            text = lines[record.id] if shown else record.text
            told = await session.append({"role": "assistant", "content": f"As I know: {text}"})
            again = await memory.remember(
                text, kind=record.kind, task_type=record.task_type, origin="agent", messages=told.ids, session="run"
            )
            assert again.did == "ignored", again.reason
        for record in known:
            told = await session.append({"role": "user", "content": record.text})
            said = await memory.remember(
                record.text, kind=record.kind, task_type=record.task_type, messages=told.ids, session="run"
            )
            assert said.did == "reinforced", said.reason
            assert said.record.seen == record.seen + 1


async def test_a_finished_scratchpad_that_holds_what_was_recalled_learns_nothing_of_it() -> None:
    async with housed() as house:
        memory = await house.memory()
        known = await learn(memory)
        pad = memory.scratchpad("pump")
        await pad.write(goal="Mend it", facts=[FACTS[0][1], "The seal of the pump is worn."])
        done = await pad.finish()
        assert [each.did for each in done] == ["ignored", "added"]
        assert (await memory.get([known[0].id]))[0].seen == 1


async def test_only_words_of_their_own_open_a_turn() -> None:
    async with housed() as house:
        memory = await house.memory()
        await learn(memory)
        brief = await recalled(memory)
        for to in FORMATS:
            alone, mixed = (chat_format(to).decode(listed(to, put(brief, "user", each))) for each in (False, True))
            assert [opens_turn(draft) for draft in alone] == [False]
            assert [opens_turn(draft) for draft in mixed] == [True]
