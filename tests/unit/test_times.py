"""When something was said or happened: as whoever hands it in says, never made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

import ireneo
from ireneo import Draft, Memory, Session
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.engine.resources import Resources
from ireneo.formats.values import parse_time
from ireneo.log.message import Text
from ireneo.testing.scripted import ManualClock

NOON = datetime(2031, 5, 1, 12, tzinfo=UTC)
THEN = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def memory_at(moment: datetime) -> Memory:
    return Memory(
        Resources(store=InMemoryStore(), count=EstimatedTokenizer().count, clock=ManualClock(moment)),
        "mine",
    )


async def times(session: Session) -> list[datetime | None]:
    return [message.draft.at for message in await session.messages()]


@pytest.mark.parametrize(
    "written",
    [
        "1:56 pm on 8 May, 2023",
        "2023/05/08 (Mon) 13:56",
        "May 8, 2023 1:56 PM",
        "Mon, 08 May 2023 15:56:00 +0200",
        "Monday, 8th of May 2023 at 1:56 p.m.",
        "2023-05-08T13:56:00Z",
        " 1683554160 ",
        1683554160,
        1683554160000,
    ],
)
def test_a_time_is_read_as_people_and_programs_write_it(written: object) -> None:
    assert parse_time(written) == THEN


@pytest.mark.parametrize(
    "written",
    [
        "May 8",
        "8 May at noon",
        "2023",
        "May 2023",
        "05/08/2023",
        "13:56",
        "Chapter 8, May 2023",
        "in 2023 we moved to 8 May Street",
        "31 February 2023",
        17,
        12.5,
        "17",
        True,
        None,
        "9" * 400,
        float("nan"),
        float("inf"),
    ],
)
def test_what_is_no_full_date_is_no_time(written: object) -> None:
    assert parse_time(written) is None


async def test_what_is_appended_is_said_now() -> None:
    session = await memory_at(NOON).session("live")
    await session.append("Where were we?")
    await session.append({"role": "assistant", "content": "At the tests."})
    assert await times(session) == [NOON, NOON]


@pytest.mark.parametrize("key", ["timestamp", "created_at", "createdAt", "sent_at", "time", "date"])
async def test_what_a_caller_says_of_the_time_stands(key: str) -> None:
    session = await memory_at(NOON).session("live")
    said: dict[str, object] = {"role": "user", "content": "Good morning.", key: THEN.isoformat()}
    await session.append([said, {"role": "assistant", "content": "Good morning!"}])
    await session.append(Draft(role="user", parts=(Text(text="And now?"),), at=THEN + timedelta(days=1)))
    assert await times(session) == [THEN, THEN, THEN + timedelta(days=1)], "a reply is said when its turn is"


async def test_frameworks_times_stand() -> None:
    memory = memory_at(NOON)
    session = await memory.session("langchain")
    await session.append([HumanMessage("Hello.", additional_kwargs={"timestamp": THEN.isoformat()})])
    assert await times(session) == [THEN]
    session = await memory.session("pydantic-ai")
    later = THEN.astimezone(timezone(timedelta(hours=2))) + timedelta(seconds=3)
    await session.append(
        [
            ModelRequest(parts=[UserPromptPart(content="Hello.", timestamp=THEN)]),
            ModelResponse(parts=[TextPart(content="Hello!")], timestamp=later),
        ]
    )
    assert await times(session) == [THEN, later]


async def test_a_history_without_times_is_of_when_it_was_told_and_what_is_offered_again_keeps_its_time() -> None:
    memory = memory_at(NOON)
    session = await memory.session("taken-over")
    history = [{"role": role, "content": f"{role} {number}"} for number in range(2) for role in ("user", "assistant")]
    await session.append(history, after="root")
    assert await times(session) == [NOON] * 4
    dated = [{**each, "timestamp": THEN.isoformat()} for each in history]
    again = await session.append([*dated, {"role": "user", "content": "And today?"}], after="root")
    assert again.new == 1
    assert await times(session) == [NOON] * 5


async def test_a_message_between_dated_ones_is_of_the_time_before_it_and_a_later_turn_of_today() -> None:
    session = await memory_at(NOON).session("mixed")
    later = (THEN + timedelta(days=3)).isoformat()
    await session.append(
        [
            {"role": "assistant", "content": "Welcome."},
            {"role": "user", "content": "Hello.", "timestamp": THEN.isoformat()},
            {"role": "user", "content": "Still there?"},
            {"role": "assistant", "content": "Yes.", "timestamp": later},
            {"role": "user", "content": "And now?"},
        ]
    )
    assert await times(session) == [THEN, THEN, THEN, THEN + timedelta(days=3), NOON]


async def test_messages_without_a_time_are_of_the_time_given_with_them() -> None:
    session = await memory_at(NOON).session("replayed")
    await session.append("I live in Porto.", at=THEN)
    dated = {"role": "user", "content": "And now in Braga.", "timestamp": (THEN + timedelta(days=3)).isoformat()}
    await session.append([dated, {"role": "assistant", "content": "Noted."}, "Thanks."], at=THEN + timedelta(days=4))
    assert [message.at for message in await session.messages()] == [
        THEN,
        THEN + timedelta(days=3),
        THEN + timedelta(days=3),
        THEN + timedelta(days=4),
    ]


UNDATED = """\
{"messages": [
 {"role": "user", "content": "Make the integration tests pass in kestrel."},
 {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function":
   {"name": "bash", "arguments": "{\\"command\\": \\"pip install numpy==1.26\\"}"}}]},
 {"role": "tool", "tool_call_id": "c1", "content": "error: no matching distribution for numpy==1.26\\nexit code: 1"},
 {"role": "assistant", "content": "", "tool_calls": [{"id": "c2", "type": "function", "function":
   {"name": "bash", "arguments": "{\\"command\\": \\"pip install numpy\\"}"}}]},
 {"role": "tool", "tool_call_id": "c2", "content": "Successfully installed numpy-2.1\\nexit code: 0"},
 {"role": "assistant", "content": "numpy 2 is installed; the wheels of 1.26 are gone."}
]}
"""


async def test_what_a_log_without_times_teaches_bears_no_date(tmp_path: Path) -> None:
    """Least of all the one at which it was read."""
    async with ireneo.open(tmp_path / "memory.db") as memory:
        lines = UNDATED.encode().splitlines(keepends=True)
        await memory.import_log(lines, ireneo.log_format("openai"), name="undated")
        await memory.work(until_idle=True)
        found = await memory.recall("numpy wheels", limit=20)
        assert {each.kind for each in found} == {"episodic", "failure", "message"}
        assert [each.at for each in found] == [None] * len(found)
        brief = (await memory.brief(goal="install numpy", about_to="pip install numpy==1.26")).markdown
        assert "it failed: error: no matching distribution" in brief
        today = datetime.now().astimezone()
        assert str(today.year) not in brief


@pytest.mark.parametrize("name", ["openai", "anthropic", "openai-responses"])
async def test_a_time_beside_a_message_is_kept_and_not_sent(name: str) -> None:
    """A provider refuses keys that it doesn't know."""
    session = await memory_at(NOON).session("live")
    said = {"role": "user", "content": [{"type": "text", "text": "Hello."}], "timestamp": THEN.isoformat()}
    if name == "openai-responses":
        said = {"role": "user", "content": "Hello.", "created_at": THEN.timestamp()}
    await session.append(said, format=name)
    assert await times(session) == [THEN]
    for messages in (
        (await session.context(600, to=name)).messages,
        ireneo.compact([said], budget=600).messages,
    ):
        assert not {"timestamp", "created_at"} & set().union(*messages), messages
