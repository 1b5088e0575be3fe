"""Faults that users of other systems reported: each docstring names the report, each test holds it off."""

from __future__ import annotations

import asyncio
import json

import ireneo
from ireneo import Context

Messages = list[dict[str, object]]


def call(number: int, name: str = "read", **arguments: object) -> dict[str, object]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def calls(*made: dict[str, object], text: str | None = None) -> dict[str, object]:
    return {"role": "assistant", "content": text, "tool_calls": list(made)}


def result(number: int, text: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def run(steps: int, request: str = "Find the slow query.") -> Messages:
    """A request and the calls that it takes."""
    out = [user(request)]
    for number in range(steps):
        out.append(calls(call(number, path=f"src/part_{number}.py")))
        out.append(result(number, f"def handle_{number}(row): " + "scan the table, " * 60))
    return out


def words(context: Context) -> str:
    return json.dumps([context.system, context.messages], ensure_ascii=False)


def test_one_matched_call_keeps_no_orphans_beside_it() -> None:
    """langchain-ai/langchain#38352: a matched call kept the other, orphaned results of its message."""
    messages = [*run(20), calls(call(90), call(91)), result(90, "one"), result(92, "of a call that nobody made")]
    for budget in (256, 600, 3_000, 100_000):
        context = ireneo.compact(messages, budget)
        assert context.violations == ()


def test_chained_compactions_leave_no_orphans() -> None:
    """earendil-works/pi#4570, #6832: an orphaned result survived one compaction after another."""
    messages: list[dict[str, object]] = run(30)
    for number in range(100, 112):
        messages = [*messages, calls(call(number, path="src/late.py")), result(number, "late " * 200)]
        context = ireneo.compact(messages, 1_500)
        assert context.violations == ()
        messages = context.messages


async def test_what_stands_for_a_missing_result_goes_when_the_result_comes() -> None:
    """openclaw/openclaw#7527: a synthetic result outlived its call, and the session could not be saved any more."""
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append([user("Build it."), calls(call(1, "bash", command="make"))])
        waiting = await session.context(4_000)
        assert "not answered" in words(waiting)
        await session.append(result(1, "built"))
        answered = await session.context(4_000)
        assert "not answered" not in words(answered)
        assert answered.violations == waiting.violations == ()


def server_turn(number: int) -> Messages:
    found = {"type": "web_search_tool_result", "tool_use_id": f"srv_{number}", "content": []}
    used = {
        "type": "server_tool_use",
        "id": f"srv_{number}",
        "name": "web_search",
        "input": {"query": f"fact {number}"},
    }
    said = {"type": "text", "text": "It says much. " * 60}
    return [user(f"Look up fact {number}."), {"role": "assistant", "content": [used, found, said]}]


def test_pairs_of_the_providers_own_tools_stay_together() -> None:
    """anthropics/claude-code#56515, #76879: a compaction split the pairs of server tools."""
    messages = [message for number in range(12) for message in server_turn(number)]
    for budget in range(256, 3_000, 250):
        assert ireneo.compact(messages, budget, to="anthropic").violations == ()


def thought(number: int) -> Messages:
    sealed = {"type": "thinking", "thinking": f"Part {number} may be it. " * 30, "signature": f"c2ln{number}"}
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"path": f"part_{number}.py"}}
    back = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "rows " * 300}
    return [{"role": "assistant", "content": [sealed, use]}, {"role": "user", "content": [back]}]


def test_thinking_is_whole_or_gone() -> None:
    """openclaw/openclaw#97645, earendil-works/pi#9391: thinking was shortened, or stayed behind a changed prefix."""
    messages = [user("Find the slow part."), *(message for number in range(15) for message in thought(number))]
    given = {
        json.dumps(block)
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
    }
    for budget in (500, 2_000, 6_000, 100_000):
        context = ireneo.compact(messages, budget)
        kept = [block for message in context.messages for block in message["content"] if isinstance(block, dict)]  # type: ignore[attr-defined]
        thoughts = [block for block in kept if block["type"] == "thinking"]
        assert all(json.dumps(block) in given for block in thoughts)
        assert bool(thoughts) == (context.messages == messages)


def test_what_fits_is_not_compacted_again() -> None:
    """Kilo-Org/kilocode#10888: a summary was summarised right away, from 250,000 to 80,000 to 5,000 tokens."""
    once = ireneo.compact(run(40), 3_000)
    assert once.tokens > 1_500
    assert ireneo.compact(once.messages, 3_000).messages == once.messages


def test_a_rule_of_the_users_is_not_forgotten() -> None:
    """anthropics/claude-code#6354, #19471: rules were forgotten after a compaction."""
    messages = [*run(10, "Make the import faster. Never touch the migrations folder."), *run(3, "And the export.")]
    for topic in ("the tests", "the docs", "the names", "the logs", "the errors", "the types"):
        messages += [user(f"Now look at {topic}."), {"role": "assistant", "content": f"I looked at {topic}. " * 40}]
    for budget in (700, 1_500, 3_000):
        assert "Never touch the migrations folder" in words(ireneo.compact(messages, budget))


def test_a_failure_is_not_forgotten() -> None:
    """openclaw/openclaw#1084: a compaction forgot a failure, so that the same was done again, and compacted again."""
    failed = [
        calls(call(900, "bash", command="psql -f rebuild.sql")),
        result(900, "Exit code 127\npsql: command not found"),
        calls(call(901, "bash", command="python rebuild.py")),
        result(901, "rebuilt 12 tables"),
    ]

    messages = [user("Rebuild the tables."), *failed, *run(40)[1:]]
    for budget in (600, 1_500, 4_000):
        assert "psql: command not found" in words(ireneo.compact(messages, budget))
    assert "I tried `psql -f rebuild.sql` — it failed: psql: command not found." in words(ireneo.compact(messages, 600))


def test_no_request_is_put_into_the_users_mouth() -> None:
    """NousResearch/hermes-agent#62365: a summary invented a request, and the agent carried it out."""
    messages = run(40)
    for budget in (400, 1_500, 5_000):
        for message in ireneo.compact(messages, budget).messages:
            if message["role"] == "user" and message not in messages:
                assert str(message["content"]).startswith(("(My own notes", "[The conversation begins here"))


async def test_what_is_appended_while_a_context_is_made_is_not_lost() -> None:
    """earendil-works/pi#7150, PostHog/code#1272: a message that came during a compaction was acknowledged and lost."""
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        await session.append(run(60))
        _, appended = await asyncio.gather(session.context(2_000), session.append("One more thing: keep the API."))
        assert (await session.messages())[-1].id == appended.ids[0]
        assert "One more thing" in words(await session.context(2_000))


def test_pictures_leave_a_marker() -> None:
    """openai/codex#33493: pictures were kept until nothing else fitted, or vanished without a trace."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 400}}
    messages = [user("Compare these screens.")]
    for number in range(12):
        messages.append({"role": "user", "content": [{"type": "text", "text": f"Screen {number}."}, picture]})
    context = ireneo.compact(messages, 2_500)
    assert context.tokens <= 2_500
    assert "image/png left out" in words(context)


def test_the_system_prompt_is_counted() -> None:
    """langchain-ai/langchain#34664: the count of tokens left out the system prompt."""
    messages = [{"role": "user", "content": "Hello."}]
    bare = ireneo.compact({"messages": messages, "system": "Be brief."}, 8_000, to="anthropic")
    full = ireneo.compact({"messages": messages, "system": "Be brief. " * 1_000}, 8_000, to="anthropic")
    assert full.tokens > bare.tokens + 2_000


def test_a_session_with_room_left_is_not_compacted() -> None:
    """anthropics/claude-code#94481: at 12 % of the window it compacted again and again."""
    messages = run(8)
    whole = ireneo.compact(messages, 1_000_000)
    assert ireneo.compact(messages, whole.tokens * 8).messages == messages


def test_a_prompt_that_is_larger_than_the_budget_does_not_stop_the_compaction() -> None:
    """MoonshotAI/kimi-code#2325: with more fixed words than the threshold, a compaction could never succeed."""
    prompt = {"role": "system", "content": "Rule: keep the API stable. " * 5_000}
    context = ireneo.compact([prompt, *run(20)], 2_000)
    assert context.tokens <= 2_000
    assert "left out" in words(context)
    assert ireneo.compact(context.messages, 2_000).messages == context.messages


def test_what_is_done_is_not_told_as_open() -> None:
    """openai/codex#38931, github/copilot-cli#3153: finished work was planned and done again after a compaction."""
    messages = [*run(12), {"role": "assistant", "content": "The slow query is fixed."}, *run(25, "Now the docs.")]
    block = next(row for row in ireneo.compact(messages, 2_500).view if row.what == "summary")
    assert block.last != block.first
    assert "The slow query is fixed." in block.text
    assert "PARTIAL" not in block.text.split("\n\n")[0]


def test_no_block_is_an_empty_skeleton() -> None:
    """openclaw/openclaw#120663: of 164 compactions, 77 kept an empty skeleton."""
    for budget in (400, 800, 1_600):
        blocks = [row for row in ireneo.compact(run(60), budget).view if row.what == "summary"]
        assert blocks
        assert all(any("src/part_" in line for line in row.text.splitlines()[1:]) for row in blocks)


def test_nothing_is_trimmed_without_a_trace() -> None:
    """openclaw/openclaw#10099, blueberrycongee/wuu#142: what was not summarised was dropped in silence."""
    messages = run(60)
    for budget in (256, 1_000, 4_000):
        assert sum(row.covers for row in ireneo.compact(messages, budget).view) == len(messages)


def test_an_old_request_is_not_told_beside_its_summary() -> None:
    """openclaw/openclaw#75972: the summary and what it covers were both sent, and an instruction was obeyed twice."""
    messages = [message for number in range(9) for message in run(4, f"Rename the table number {number} to t{number}.")]
    for budget in (600, 2_000, 6_000):
        context = ireneo.compact(messages, budget)
        requests = [row.text for row in context.view if row.what != "summary" and row.text.startswith("Rename")]
        blocks = "\n".join(row.text for row in context.view if row.what == "summary")
        assert len(requests) == len(set(requests))
        assert not any(f"- {request}" in blocks for request in requests)


def test_the_newest_request_is_there_word_by_word() -> None:
    """mastra-ai/mastra#25372: the agent missed what the user had said last."""
    messages = [*run(60), user("Stop. Write down first what you have found in the logs of part_7.")]
    for budget in (256, 500, 2_000):
        assert "Write down first what you have found in the logs of part_7." in words(ireneo.compact(messages, budget))


async def test_going_back_on_a_compacted_run_brings_back_what_was_there() -> None:
    """Cyrax321/CONTINUUM#1053: a rewind on a compacted run deleted what it should have restored."""
    async with ireneo.open(":memory:") as memory:
        session = await memory.session("run")
        then = (await session.append(run(10))).ids
        whole = await session.context(100_000)
        await session.append(run(50, "And now the rest."))
        assert any(row.what == "summary" for row in (await session.context(2_000)).view)
        await session.rewind(then[-1])
        assert [message.id for message in await session.messages()] == list(then)
        assert (await session.context(100_000)).messages == whole.messages
