"""Claude Code's logs: each way in which its lines differ from a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.claude_code import ClaudeCode
from ireneo.formats.logs.format import LoggedSession
from ireneo.log.message import Call, Draft, Media, Opaque, Result, Text, Thinking

SESSION = "11111111-1111-4111-8111-111111111111"
OLDER = "22222222-2222-4222-8222-222222222222"


def user(uuid: str, parent: str | None, content: object, **more: object) -> dict[str, object]:
    return _line("user", uuid, parent, {"role": "user", "content": content}, more)


def reply(uuid: str, parent: str | None, message: str, *blocks: object, **more: object) -> dict[str, object]:
    return _line("assistant", uuid, parent, {"role": "assistant", "id": message, "content": list(blocks)}, more)


def result(uuid: str, parent: str | None, call: str, content: object = "done", **more: object) -> dict[str, object]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    if "is_error" in more:
        block["is_error"] = more.pop("is_error")
    return user(uuid, parent, [block], **more)


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def call(name_of: str, name: str = "Bash", **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": name_of, "name": name, "input": arguments}


def _line(
    kind: str, uuid: str, parent: str | None, message: dict[str, object], more: dict[str, object]
) -> dict[str, object]:
    given: dict[str, object] = {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "isSidechain": False,
        "timestamp": "2026-03-01T10:00:00.000Z",
        "message": message,
    }
    return given | more


def note(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, **more}


def read(*lines: dict[str, object] | bytes, name: str = "log") -> list[LoggedSession]:
    return list(ClaudeCode().read(_bytes(lines), name))


def one(*lines: dict[str, object] | bytes) -> LoggedSession:
    sessions = read(*lines)
    assert len(sessions) == 1
    return sessions[0]


def _bytes(lines: tuple[dict[str, object] | bytes, ...]) -> Iterator[bytes]:
    for line in lines:
        yield (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"


def path(session: LoggedSession, at: int | None = None) -> list[Draft]:
    node = session.head if at is None else at
    out: list[Draft] = []
    index: int | None = node
    while index is not None:
        out.append(session.nodes[index].draft)
        index = session.nodes[index].parent
    return out[::-1]


def told(session: LoggedSession) -> list[str]:
    """The path to the head in short: a letter for the role, and the line it came from."""
    return [f"{draft.role[0]}:{draft.source_id}" for draft in path(session)]


def payload(draft: Draft) -> list[dict[str, object]]:
    assert draft.record is not None
    assert isinstance(draft.record.payload, list)
    return draft.record.payload


# --- one reply, many lines ---


def test_the_lines_of_one_reply_are_one_draft() -> None:
    session = one(
        user("u1", None, "build it"),
        reply("a1", "u1", "m1", {"type": "thinking", "thinking": "hm", "signature": "sig"}),
        reply("a2", "a1", "m1", text("I build.")),
        reply("a3", "a2", "m1", call("c1", command="make")),
        result("r1", "a3", "c1"),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1"]
    assert path(session)[1].parts == (
        Thinking(text="hm", signature="sig", format="anthropic"),
        Text(text="I build."),
        Call(id="c1", name="Bash", arguments={"command": "make"}),
    )


def test_results_of_parallel_calls_follow_their_reply_in_one_chain() -> None:
    session = one(
        user("u1", None, "look"),
        reply("a1", "u1", "m1", call("c1")),
        result("r1", "a1", "c1"),
        reply("a2", "a1", "m1", call("c2")),
        result("r2", "a2", "c2"),
        reply("a3", "r2", "m2", text("seen")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "t:r2", "a:a3"]
    assert [part.call_id for draft in path(session) for part in draft.results] == ["c1", "c2"]


def test_the_next_reply_follows_all_results_though_it_names_the_first() -> None:
    session = one(
        user("u1", None, "look"),
        reply("a1", "u1", "m1", call("c1")),
        reply("a2", "a1", "m1", call("c2")),
        result("r2", "a2", "c2"),
        result("r1", "a1", "c1"),
        reply("a3", "r1", "m2", text("seen")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r2", "t:r1", "a:a3"]


def test_a_result_that_comes_late_still_stands_behind_its_reply() -> None:
    session = one(
        user("u1", None, "look"),
        reply("a1", "u1", "m1", call("c1"), call("c2")),
        result("r1", "a1", "c1"),
        reply("a2", "r1", "m2", text("seen")),
        result("r2", "a1", "c2"),
        user("u2", "a2", "good"),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "t:r2", "a:a2", "u:u2"]


def test_a_result_that_stands_before_its_reply_is_put_behind_it() -> None:
    session = one(
        user("u1", None, "look"),
        result("r1", "a1", "c1", "Exit code 1"),
        reply("a1", "u1", "m1", call("c1")),
        reply("a2", "r1", "m2", text("seen")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "a:a2"]


def test_words_that_came_with_a_result_wait_for_all_results() -> None:
    with_words = [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}, text("and be quick")]
    session = one(
        user("u1", None, "look"),
        reply("a1", "u1", "m1", call("c1"), call("c2")),
        user("r1", "a1", with_words),
        result("r2", "a1", "c2"),
        reply("a2", "r2", "m2", text("seen")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "t:r2", "u:r1", "a:a2"]
    words = path(session)[4]
    assert words.joined
    assert words.origin == "spoken"
    assert words.text == "and be quick"


def test_the_same_call_answered_twice_keeps_the_first_answer() -> None:
    session = one(
        user("u1", None, "look"),
        reply("a1", "u1", "m1", call("c1")),
        result("r1", "a1", "c1", "first"),
        result("r2", "a1", "c1", "second"),
        reply("a2", "r2", "m2", text("seen")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "a:a2"]
    assert [fault.line for fault in session.faults] == [4]
    assert [line["uuid"] for line in payload(path(session)[2])] == ["r1", "r2"]


# --- the tree ---


def test_two_prompts_after_the_same_message_are_a_fork() -> None:
    session = one(
        user("u1", None, "hello"),
        reply("a1", "u1", "m1", text("hi")),
        user("u2", "a1", "try this"),
        reply("a2", "u2", "m2", text("tried")),
        user("u3", "a1", "no, that"),
        reply("a3", "u3", "m3", text("done")),
    )
    assert told(session) == ["u:u1", "a:a1", "u:u3", "a:a3"]
    abandoned = next(i for i, node in enumerate(session.nodes) if node.draft.source_id == "a2")
    assert [draft.source_id for draft in path(session, abandoned)] == ["u1", "a1", "u2", "a2"]


def test_a_rewind_to_before_the_first_message_is_a_second_root() -> None:
    session = one(
        user("u1", None, "hello"), reply("a1", "u1", "m1", text("hi")), user("u2", None, "hello, and in French")
    )
    assert told(session) == ["u:u2"]
    assert [node.parent for node in session.nodes] == [None, 0, None]


def test_a_branch_in_which_only_the_harness_speaks_is_no_fork() -> None:
    session = one(
        user("u1", None, "hello"),
        reply("a1", "u1", "m1", text("hi")),
        user("i1", "a1", "<local-command-caveat>Caveat</local-command-caveat>", isMeta=True),
        user("i2", "i1", "<command-name>/exit</command-name>"),
        user("i3", "i2", "<local-command-stdout>Bye</local-command-stdout>"),
        reply("a2", "i1", "m2", text("No response requested."), isApiErrorMessage=True),
        user("u2", "a2", "go on"),
    )
    assert told(session) == ["u:u1", "a:a1", "u:i1", "u:i2", "u:i3", "a:a2", "u:u2"]


def test_a_parent_that_says_nothing_is_looked_through() -> None:
    session = one(
        user("u1", None, "hello"),
        note("system", uuid="s1", parentUuid="u1", sessionId=SESSION, subtype="api_error"),
        note("progress", uuid="p1", parentUuid="s1", sessionId=SESSION, data={"type": "hook_progress"}),
        reply("a1", "p1", "m1", text("hi")),
    )
    assert told(session) == ["u:u1", "a:a1"]
    assert session.nodes[1].parent == 0


def test_a_compaction_goes_on_behind_its_logical_parent() -> None:
    session = one(
        user("u1", None, "hello"),
        reply("a1", "u1", "m1", text("hi")),
        note(
            "system",
            subtype="compact_boundary",
            uuid="b1",
            parentUuid=None,
            logicalParentUuid="a1",
            sessionId=SESSION,
        ),
        user("u2", "b1", "This session is being continued from …", isCompactSummary=True),
        reply("a2", "u2", "m2", text("going on")),
    )
    assert told(session) == ["u:u1", "a:a1", "u:u2", "a:a2"]
    assert [draft.origin for draft in path(session)] == ["spoken", "spoken", "summary", "spoken"]


@pytest.mark.parametrize("logical", [None, "gone"])
def test_a_compaction_whose_parent_is_not_in_the_file_goes_on_behind_the_last_message(logical: str | None) -> None:
    session = one(
        user("u1", None, "hello"),
        note(
            "system",
            subtype="compact_boundary",
            uuid="b1",
            parentUuid=None,
            logicalParentUuid=logical,
            sessionId=SESSION,
        ),
        user("u2", "b1", "This session is being continued from …", isCompactSummary=True),
    )
    assert told(session) == ["u:u1", "u:u2"]


def test_an_unknown_parent_is_the_message_before_with_all_its_results() -> None:
    session = one(
        user("u1", "gone", "hello"),
        reply("a1", "u1", "m1", call("c1"), call("c2")),
        result("r1", "a1", "c1"),
        result("r2", "a1", "c2"),
        reply("a2", "lost", "m2", text("seen")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "t:r2", "a:a2"]


def test_parents_that_go_in_a_circle_lose_nothing() -> None:
    session = one(
        user("u1", "a1", "hello"),
        reply("a1", "u2", "m1", text("hi")),
        user("u2", "u1", "go on"),
    )
    assert sorted(str(node.draft.source_id) for node in session.nodes) == ["a1", "u1", "u2"]


def test_a_line_before_its_parent_is_put_behind_it() -> None:
    session = one(
        user("u1", None, "hello"),
        reply("a2", "u2", "m2", text("yes")),
        user("u2", "u1", "sure?"),
        user("u3", "a2", "k"),
    )
    assert told(session) == ["u:u1", "u:u2", "a:a2", "u:u3"]


def test_of_two_lines_with_one_uuid_the_first_counts() -> None:
    changed = reply("a1", "u1", "m1", text("hi"), gitBranch="other")
    session = one(user("u1", None, "hello"), reply("a1", "u1", "m1", text("hi")), user("u1", None, "hello"), changed)
    assert told(session) == ["u:u1", "a:a1"]
    assert payload(path(session)[1]) == [reply("a1", "u1", "m1", text("hi")), changed]


# --- who speaks ---


@pytest.mark.parametrize(
    "words",
    [
        "<local-command-stdout>Bye</local-command-stdout>",
        "<command-name>/model</command-name>\n<command-args></command-args>",
        "<bash-input>git status</bash-input>",
        "<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>",
        "<system-reminder>\nThe file changed.\n</system-reminder>",
        "[Request interrupted by user for tool use]",
        "Caveat: The messages below were generated by the user while running local commands. DO NOT respond",
        "<task-notification>\n<task-id>b1</task-id></task-notification>",
        "Operation stopped by hook: A release is being built.\n\nTry it again in a minute.",
    ],
)
def test_the_harness_in_the_users_place_is_injected(words: str) -> None:
    assert path(one(user("u1", None, words)))[0].origin == "injected"


@pytest.mark.parametrize(
    "words",
    [
        "Why does <b> not close?",
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>7</command-args>",
        "<task>write a poem</task>",
        "Why do I get this?\n> Operation stopped by hook: A release is being built.",
    ],
)
def test_the_user_is_spoken(words: str) -> None:
    assert path(one(user("u1", None, words)))[0].origin == "spoken"


def test_words_beside_a_reminder_are_the_users() -> None:
    draft = path(one(user("u1", None, [text("<ide_opened_file>a.py</ide_opened_file>"), text("and this?")])))[0]
    assert draft.origin == "spoken"


def test_the_prompt_of_a_command_is_injected() -> None:
    assert path(one(user("u1", None, [text("# Review\nDo it well.")], isMeta=True)))[0].origin == "injected"


def test_an_error_of_the_api_is_injected() -> None:
    session = one(
        user("u1", None, "hello"),
        reply("a1", "u1", "m1", text("API Error: 529 overloaded"), isApiErrorMessage=True),
    )
    assert path(session)[1].origin == "injected"


# --- what the user typed while the agent worked ---


def queue(operation: str, content: str | None = None) -> dict[str, object]:
    line = note("queue-operation", operation=operation, sessionId=SESSION, timestamp="2026-03-01T10:00:01Z")
    return line if content is None else line | {"content": content}


def steering(*between: dict[str, object]) -> LoggedSession:
    return one(
        user("u1", None, "build"),
        reply("a1", "u1", "m1", call("c1")),
        *between,
        result("r1", "a1", "c1"),
        reply("a2", "r1", "m2", text("yes")),
    )


def test_queued_words_that_no_line_carries_are_said_where_they_left_the_queue() -> None:
    session = steering(queue("enqueue", "in Go, please"), queue("remove"))
    assert [draft.text for draft in path(session) if draft.role == "user"] == ["build", "in Go, please"]
    assert [draft.role for draft in path(session)] == ["user", "assistant", "tool", "user", "assistant"]
    assert path(session)[3].origin == "spoken"


def test_queued_words_are_not_said_twice() -> None:
    carried = [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}, text("in Go, please")]
    session = one(
        user("u1", None, "build"),
        reply("a1", "u1", "m1", call("c1")),
        queue("enqueue", "in Go, please"),
        queue("remove"),
        user("r1", "a1", carried),
    )
    assert [draft.text for draft in path(session) if draft.role == "user"] == ["build", "in Go, please"]


def test_words_that_were_said_before_may_be_queued_again() -> None:
    session = steering(queue("enqueue", "build"), queue("remove"))
    assert [draft.text for draft in path(session) if draft.role == "user"] == ["build", "build"]


def test_queued_words_that_the_user_took_back_are_not_said() -> None:
    session = steering(queue("enqueue", "in Go"), queue("popAll", "in Go"), queue("remove"))
    assert [draft.text for draft in path(session) if draft.role == "user"] == ["build"]


def test_a_queued_command_to_the_harness_is_not_said() -> None:
    session = steering(queue("enqueue", "/compact"), queue("remove"))
    assert [draft.text for draft in path(session) if draft.role == "user"] == ["build"]


def test_queued_words_that_are_handed_in_as_an_attachment_are_said_once() -> None:
    prompt = {"type": "queued_command", "prompt": "in Go, please", "commandMode": "prompt"}
    attachment = note("attachment", uuid="q1", parentUuid="r1", sessionId=SESSION, attachment=prompt)
    session = one(
        user("u1", None, "build"),
        reply("a1", "u1", "m1", call("c1")),
        queue("enqueue", "in Go, please"),
        result("r1", "a1", "c1"),
        attachment,
        queue("remove"),
        reply("a2", "q1", "m2", text("yes")),
    )
    assert told(session) == ["u:u1", "a:a1", "t:r1", "u:q1", "a:a2"]


# --- sub-agents ---


def test_a_sidechain_is_a_session_of_its_own() -> None:
    main, side = read(
        user("u1", None, "find it"),
        reply("a1", "u1", "m1", call("c1", "Task")),
        user("s1aaaaaaaaa", None, "search for it", isSidechain=True),
        reply("s2", "s1aaaaaaaaa", "n1", text("found"), isSidechain=True),
        result("r1", "a1", "c1", "found"),
    )
    assert main.id == SESSION
    assert told(main) == ["u:u1", "a:a1", "t:r1"]
    assert side.id == f"{SESSION}/sidechain-s1aaaaaa"
    assert told(side) == ["u:s1aaaaaaaaa", "a:s2"]


def test_two_sidechains_that_interleave_are_told_apart() -> None:
    sessions = read(
        user("u1", None, "find both"),
        user("s1", None, "one", isSidechain=True),
        user("t1", None, "two", isSidechain=True),
        reply("s2", "s1", "n1", text("found one"), isSidechain=True),
        reply("t2", "t1", "n2", text("found two"), isSidechain=True),
    )
    assert [told(session) for session in sessions] == [["u:u1"], ["u:s1", "a:s2"], ["u:t1", "a:t2"]]


def test_a_sub_agent_with_an_id_is_named_after_it() -> None:
    sessions = read(
        user("s1", None, "search", isSidechain=True, agentId="ab12"),
        reply("s2", "s1", "n1", text("found"), isSidechain=True, agentId="ab12"),
        note("progress", uuid="p1", sessionId=SESSION, data={"type": "hook_progress"}),
        name="agent-ab12",
    )
    assert [session.id for session in sessions] == [f"{SESSION}/agent-ab12"]
    assert len(payload(path(sessions[0])[1])) == 2


def test_what_progress_lines_pass_on_is_the_sub_agents_session() -> None:
    def passed(uuid: str, inner: dict[str, object]) -> dict[str, object]:
        data = {"type": "agent_progress", "agentId": "ab12", "prompt": "search", "message": inner}
        return note("progress", uuid=uuid, parentUuid="a1", sessionId=SESSION, data=data, parentToolUseID="c1")

    asked = {"type": "user", "uuid": "s1", "message": {"role": "user", "content": [text("search")]}}
    said = {"type": "assistant", "uuid": "s2", "message": {"role": "assistant", "id": "n1", "content": [text("found")]}}
    main, side = read(
        user("u1", None, "find it"),
        reply("a1", "u1", "m1", call("c1", "Task")),
        passed("p1", asked),
        passed("p2", said),
        passed("p3", said),
        result("r1", "p3", "c1", "found"),
    )
    assert told(main) == ["u:u1", "a:a1", "t:r1"]
    assert side.id == f"{SESSION}/agent-ab12"
    assert told(side) == ["u:s1", "a:s2"]
    assert [line["uuid"] for draft in path(side) for line in payload(draft)] == ["p1", "p2"]


# --- whose session it is ---


def test_lines_copied_from_the_older_session_belong_to_the_newer() -> None:
    session = one(
        user("u1", None, "hello") | {"sessionId": OLDER},
        reply("a1", "u1", "m1", text("hi")) | {"sessionId": OLDER},
        user("u2", "a1", "go on"),
    )
    assert session.id == SESSION
    assert told(session) == ["u:u1", "a:a1", "u:u2"]


def test_all_of_a_file_that_is_named_after_a_session_is_that_session() -> None:
    lines = (user("u1", None, "hello") | {"sessionId": OLDER}, user("u2", "gone", "go on"))
    assert [session.id for session in read(*lines, name=f"2026-03-01_{SESSION}")] == [SESSION]
    assert [session.id for session in read(*lines, name="log")] == [OLDER, SESSION]


def test_sessions_in_one_file_are_read_one_at_a_time() -> None:
    def lines() -> Iterator[bytes]:
        yield json.dumps(user("u1", None, "hello") | {"sessionId": OLDER}).encode()
        yield json.dumps(user("u2", None, "hello")).encode()
        raise AssertionError("the first session was complete before this line was asked for")

    assert next(ClaudeCode().read(lines(), "log")).id == OLDER


# --- what is kept ---


def test_every_line_is_kept_in_one_record() -> None:
    lines = (
        note("summary", summary="A title", leafUuid="a2"),
        note("file-history-snapshot", messageId="u1", snapshot={}),
        user("u1", None, "hello"),
        note("queue-operation", operation="enqueue", content="x", sessionId=SESSION),
        reply("a1", "u1", "m1", text("hi")),
        note("system", uuid="s1", parentUuid="a1", subtype="turn_duration", sessionId=SESSION),
        reply("a2", "a1", "m1", text("there")),
        note("pr-link", prNumber=7, sessionId=SESSION),
        user("e1", "a2", []),
    )
    kept = [line for node in one(*lines).nodes for line in payload(node.draft)]
    assert kept == list(lines)


def test_parts_that_tell_all_need_no_native() -> None:
    blocks = [text("a"), {"type": "redacted_thinking", "data": "zzz"}, call("c1")]
    assert path(one(reply("a1", None, "m1", *blocks)))[0].native is None


def test_a_block_with_keys_of_its_own_is_kept_native() -> None:
    cited = text("a") | {"citations": [{"url": "x"}]}
    session = one(reply("a1", None, "m1", text("b")), reply("a2", "a1", "m1", cited))
    native = path(session)[0].native
    assert native is not None
    assert native.format == "anthropic"
    assert native.payload == {"role": "assistant", "content": [text("b"), cited]}


def test_pictures_and_unknown_blocks_are_parts() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    draft = path(one(user("u1", None, [picture, {"type": "hologram", "x": 1}, "and words"])))[0]
    assert draft.parts == (
        Media(media_type="image/png", data="AAAA"),
        Opaque(format="anthropic", payload={"type": "hologram", "x": 1}),
        Text(text="and words"),
    )


def test_a_block_that_is_no_block_stays_as_it_is() -> None:
    session = one(
        reply("a1", None, "m1", text("a"), {"type": "tool_use", "id": "c1"}),
        user("u1", "a1", [{"type": "tool_result", "tool_use_id": "c0", "content": "b"}, {"type": "text"}]),
    )
    assert [draft.role for draft in path(session)] == ["assistant", "tool", "user"]
    assert path(session)[0].parts == (
        Text(text="a"),
        Opaque(format="claude-code", payload={"type": "tool_use", "id": "c1"}),
    )
    assert path(session)[2].joined


def test_a_result_may_be_blocks_and_carries_its_flag() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    session = one(
        reply("a1", None, "m1", call("c1")), result("r1", "a1", "c1", [text("a"), picture, text("b")], is_error=True)
    )
    answer = path(session)[1].parts[0]
    assert answer == Result(
        call_id="c1",
        parts=(Text(text="a"), Media(media_type="image/png", data="AAAA"), Text(text="b")),
        failed=True,
    )


@pytest.mark.parametrize(
    ("content", "flag", "failed"),
    [("Exit code 1\nno", None, True), ("Exit code 1\nno", False, False), ("fine", None, None), ("fine", True, True)],
)
def test_a_failure_is_derived_only_where_there_is_no_flag(content: str, flag: bool | None, failed: bool | None) -> None:
    more = {} if flag is None else {"is_error": flag}
    session = one(reply("a1", None, "m1", call("c1")), result("r1", "a1", "c1", content, **more))
    assert path(session)[1].results[0].failed is failed


def test_time_and_id_are_those_of_the_first_line() -> None:
    draft = path(one(user("u1", None, "hello")))[0]
    assert draft.source_id == "u1"
    assert draft.at == datetime(2026, 3, 1, 10, tzinfo=UTC)


# --- lines that are broken ---


def test_two_values_on_a_line_are_both_kept() -> None:
    both = json.dumps(user("u1", None, "hello")).encode() + json.dumps(note("summary", summary="T")).encode()
    session = one(both, reply("a1", "u1", "m1", text("hi")))
    assert told(session) == ["u:u1", "a:a1"]
    assert len(payload(path(session)[0])) == 2
    assert [fault.line for fault in session.faults] == [1]
    assert "2 JSON values" in session.faults[0].message


def test_a_line_cut_off_at_the_end_is_named_and_the_rest_is_kept() -> None:
    cut = json.dumps(reply("a1", "u1", "m1", text("hi"))).encode()[:-20]
    session = one(user("u1", None, "hello"), cut)
    assert told(session) == ["u:u1"]
    assert [fault.line for fault in session.faults] == [2]


def test_bytes_that_are_no_utf_8_are_replaced_and_named() -> None:
    line = json.dumps(user("u1", None, "h?llo")).encode().replace(b"h?llo", b"h\xffllo")
    session = one(line)
    assert path(session)[0].text == "h\ufffdllo"
    assert [fault.line for fault in session.faults] == [1]
    assert "UTF-8" in session.faults[0].message


def test_half_a_character_is_replaced_and_named() -> None:
    session = one(user("u1", None, "smile \ud83d"))
    assert path(session)[0].text == "smile \ufffd"
    assert [fault.line for fault in session.faults] == [1]


def test_a_line_that_is_no_object_is_named() -> None:
    session = one(user("u1", None, "hello"), b"[1, 2]", b"", b"null")
    assert [fault.line for fault in session.faults] == [2, 4]


def test_nesting_without_end_is_a_fault_and_not_a_crash() -> None:
    session = one(user("u1", None, "hello"), b"[" * 200_000)
    assert [fault.line for fault in session.faults] == [2]


@pytest.mark.parametrize("lines", [(), (b"rubbish",), (note("summary", summary="T", leafUuid="x"),)])
def test_a_log_without_a_message_is_unreadable(lines: tuple[dict[str, object] | bytes, ...]) -> None:
    with pytest.raises(UnreadableLog, match="holds no message"):
        read(*lines)
