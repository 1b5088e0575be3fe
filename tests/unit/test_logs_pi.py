"""pi's sessions: older ones in a line, newer ones as a tree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from ireneo.errors import UnreadableLog
from ireneo.formats.logs.format import LoggedSession
from ireneo.formats.logs.pi import Pi
from ireneo.log.message import Call, Media, Opaque, Text, Thinking

HEADER: dict[str, object] = {
    "type": "session",
    "id": "s-1",
    "timestamp": "2026-02-01T10:00:00Z",
    "cwd": "/home/ada/kiln",
}


def entry(
    role: str, content: object, name: str | None = None, parent: str | None = None, **more: object
) -> dict[str, object]:
    at = "2026-02-01T10:00:05Z"
    tree = {"id": name, "parentId": parent} if name else {}
    return {"type": "message", "timestamp": at, "message": {"role": role, "content": content, **more}, **tree}


def called(name: str, tool: str = "bash", **arguments: object) -> dict[str, object]:
    return {"type": "toolCall", "id": name, "name": tool, "arguments": arguments}


def answer(call: str, text: str, *, failed: object = False) -> dict[str, object]:
    return entry("toolResult", [{"type": "text", "text": text}], toolCallId=call, toolName="bash", isError=failed)


def lines(*entries: object) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in entries]


def read(*entries: object) -> LoggedSession:
    (session,) = Pi().read(lines(HEADER, *entries), "file")
    return session


def test_a_session_is_read_in_its_order_with_calls_and_their_results() -> None:
    session = read(
        entry("user", "Fire the kiln."),
        entry("assistant", [{"type": "text", "text": "I do."}, called("c1", command="make fire")]),
        answer("c1", "make: *** [fire] Error 2", failed=True),
        entry("assistant", [called("c2", "read", path="Makefile")]),
        answer("c2", "fire:\n\tcold"),
        entry("assistant", [{"type": "text", "text": "It is cold."}]),
    )
    assert session.id == "s-1"
    assert session.faults == ()
    drafts = session.path
    assert [draft.role for draft in drafts] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert drafts[1].parts == (Text(text="I do."), Call(id="c1", name="bash", arguments={"command": "make fire"}))
    assert [result.failed for draft in drafts for result in draft.results] == [True, False]
    assert [result.call_id for draft in drafts for result in draft.results] == ["c1", "c2"]
    assert drafts[0].at == datetime(2026, 2, 1, 10, 0, 5, tzinfo=UTC)


def test_a_result_without_a_flag_tells_by_itself() -> None:
    session = read(entry("assistant", [called("c1", command="make")]), answer("c1", "Exit code 2\nbroken", failed=None))
    assert session.path[1].results[0].failed is True


def test_each_turn_tells_where_it_is_worked() -> None:
    session = read(
        entry("user", "One."), entry("assistant", [{"type": "text", "text": "Done."}]), entry("user", "Two.")
    )
    records = [draft.record.payload for draft in session.path if draft.record]
    assert records[0] == [HEADER, entry("user", "One.")]
    assert records[2] == [{"cwd": "/home/ada/kiln"}, entry("user", "Two.")]


def test_what_was_noted_stays_with_the_message_before_it() -> None:
    changed = {"type": "model_change", "timestamp": "2026-02-01T10:01:00Z", "provider": "p", "modelId": "m"}
    session = read(entry("user", "One."), changed)
    record = session.path[0].record
    assert record is not None
    assert record.payload == [HEADER, entry("user", "One."), changed]


def test_a_compaction_is_a_summary_and_an_extension_is_no_user() -> None:
    at = "2026-02-01T10:00:05Z"
    session = read(
        {"type": "compaction", "timestamp": at, "summary": "We fired it.", "tokensBefore": 9, "firstKeptEntryIndex": 1},
        {"type": "branch_summary", "timestamp": at, "summary": "A way that led nowhere.", "fromId": "x"},
        {"type": "custom_message", "timestamp": at, "customType": "weather", "content": "It rains.", "display": True},
        entry("bashExecution", None, command="ls", output="ash", exitCode=1),
    )
    assert [(draft.origin, draft.role) for draft in session.path] == [
        ("summary", "user"),
        ("summary", "user"),
        ("injected", "user"),
        ("injected", "user"),
    ]
    assert session.path[0].text == "We fired it."
    assert session.path[3].text == "Ran `ls`\n```\nash\n```\n\nCommand exited with code 1"


def test_a_newer_session_is_a_tree_whose_head_is_its_last_entry() -> None:
    session = read(
        entry("user", "One.", "a"),
        entry("assistant", [{"type": "text", "text": "First."}], "b", "a"),
        entry("user", "Two.", "c", "b"),
        entry("user", "Another two.", "d", "b"),
        {"type": "label", "id": "e", "parentId": "d", "timestamp": "t", "targetId": "a", "label": "start"},
        entry("assistant", [{"type": "text", "text": "Second."}], "f", "e"),
    )
    assert [draft.text for draft in session.path] == ["One.", "First.", "Another two.", "Second."]
    assert len(session.nodes) == 5
    assert [draft.source_id for draft in session.path] == ["a", "b", "d", "f"]


def test_a_session_that_was_rewound_and_left_stands_where_it_was_rewound_to() -> None:
    session = read(
        entry("user", "One.", "a"),
        entry("user", "Two.", "b", "a"),
        {"type": "label", "id": "c", "parentId": "a", "timestamp": "t", "targetId": "a"},
    )
    assert [draft.text for draft in session.path] == ["One."]


def test_an_entry_that_follows_nothing_is_named_and_kept() -> None:
    session = read(entry("user", "One.", "a"), entry("user", "Two.", "c", "gone"), entry("user", "Three.", "c", "a"))
    assert [draft.text for draft in session.path] == ["One.", "Two."]
    assert [fault.message for fault in session.faults] == [
        "Line 3 follows an entry that is not there; it was put behind the one before it.",
        "Line 4 has the id of an earlier entry; it was left out.",
    ]


def test_thinking_keeps_its_signature_only_where_its_signer_is_known_and_the_reply_is_whole() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "sig"}
    session = read(
        entry("assistant", [thought], api="anthropic-messages", stopReason="stop"),
        entry("assistant", [thought], api="anthropic-messages", stopReason="aborted"),
        entry("assistant", [thought], api="openai-responses", stopReason="stop"),
    )
    assert [draft.parts for draft in session.path] == [
        (Thinking(text="Hm.", signature="sig", format="anthropic"),),
        (Thinking(text="Hm."),),
        (Thinking(text="Hm."),),
    ]


def test_a_reply_that_failed_is_the_harness_speaking_and_one_without_a_word_is_a_note() -> None:
    session = read(
        entry("user", "One."),
        entry("assistant", [], stopReason="error", errorMessage="overloaded"),
        entry("assistant", [], stopReason="aborted"),
    )
    assert [(draft.text, draft.origin) for draft in session.path] == [("One.", "spoken"), ("overloaded", "injected")]
    assert session.faults == ()


def test_pictures_and_strange_blocks_are_kept() -> None:
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    session = read(entry("user", [picture, {"type": "smell"}]))
    assert session.path[0].parts == (
        Media(media_type="image/png", data="aGk="),
        Opaque(format="pi", payload={"type": "smell"}),
    )


def test_damaged_lines_are_named_and_the_rest_is_read() -> None:
    damaged = [
        *lines(HEADER),
        b'{"type": "message", "mess\n',
        b"[1]\n",
        *lines(entry("wizard", "x"), entry("user", "One.")),
    ]
    (session,) = Pi().read(damaged, "file")
    assert [draft.text for draft in session.path] == ["One."]
    assert [fault.line for fault in session.faults] == [2, 3, 4]


def test_a_file_without_a_header_is_called_after_the_file_and_one_with_two_holds_two() -> None:
    (session,) = Pi().read(lines(entry("user", "One.")), "file")
    assert session.id == "file"
    two = lines(HEADER, entry("user", "One."), {**HEADER, "id": "s-2"}, entry("user", "Two."))
    assert [session.id for session in Pi().read(two, "file")] == ["s-1", "s-2"]


@pytest.mark.parametrize("entries", [[], [HEADER], [HEADER, {"type": "model_change"}]])
def test_a_session_in_which_nobody_speaks_is_none(entries: Sequence[object]) -> None:
    with pytest.raises(UnreadableLog):
        list(Pi().read(lines(*entries), "file"))


def test_a_note_behind_a_rewind_to_the_beginning_is_kept() -> None:
    label = {"type": "label", "id": "b", "parentId": None, "label": "start over"}
    session = read(entry("user", "Fire the kiln.", "a"), label)
    record = session.nodes[-1].draft.record
    assert record is not None
    assert isinstance(record.payload, list)
    assert label in record.payload
