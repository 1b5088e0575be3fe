"""Whatever happens to a Claude Code log, no line that is whole is lost, and the reader does not fall over."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from ireneo.formats.logs.claude_code import ClaudeCode
from ireneo.formats.logs.format import LoggedSession

SESSION = "11111111-1111-4111-8111-111111111111"


def line(kind: str, uuid: str, parent: str | None, message: dict[str, object]) -> dict[str, object]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": SESSION,
        "isSidechain": False,
        "timestamp": "2026-03-01T10:00:00Z",
        "message": message,
    }


def prompt(uuid: str, parent: str | None) -> dict[str, object]:
    return line("user", uuid, parent, {"role": "user", "content": f"words of {uuid}"})


def block(uuid: str, parent: str | None, reply: str, content: dict[str, object]) -> dict[str, object]:
    return line("assistant", uuid, parent, {"role": "assistant", "id": reply, "content": [content]})


def answer(uuid: str, parent: str | None, call: str) -> dict[str, object]:
    content = [{"type": "tool_result", "tool_use_id": call, "content": f"result of {call}"}]
    return line("user", uuid, parent, {"role": "user", "content": content})


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, object]]:
    """A log as the agent writes it: replies with parallel calls, whose results come in any order among the calls."""
    out: list[dict[str, object]] = []
    last: str | None = None
    for turn in range(draw(st.integers(1, 4))):
        out.append(prompt(f"u{turn}", last))
        last = f"u{turn}"
        for step in range(draw(st.integers(0, 3))):
            calls = draw(st.integers(1, 4))
            waiting: list[tuple[str, str]] = []
            parent, latest = last, last
            for index in range(calls):
                uuid = f"a{turn}.{step}.{index}"
                call = {"type": "tool_use", "id": f"c{uuid}", "name": "Bash", "input": {}}
                out.append(block(uuid, parent, f"m{turn}.{step}", call))
                waiting.append((uuid, f"c{uuid}"))
                parent = uuid
                if draw(st.booleans()):
                    latest = _answered(out, waiting.pop(draw(st.integers(0, len(waiting) - 1))))
            for pair in draw(st.permutations(waiting)):
                latest = _answered(out, pair)
            last = latest
    return out


def _answered(out: list[dict[str, object]], pair: tuple[str, str]) -> str:
    uuid, call = pair
    out.append(answer(f"r{uuid}", uuid, call))
    return f"r{uuid}"


def read(lines: Sequence[bytes]) -> list[LoggedSession]:
    return list(ClaudeCode().read(lines, "log"))


def encoded(lines: Sequence[dict[str, object]]) -> list[bytes]:
    return [json.dumps(one).encode() for one in lines]


def kept(sessions: Sequence[LoggedSession]) -> Counter[str]:
    return Counter(
        str(raw.get("uuid"))
        for session in sessions
        for node in session.nodes
        if node.draft.record is not None and isinstance(node.draft.record.payload, list)
        for raw in node.draft.record.payload
    )


def is_a_tree(session: LoggedSession) -> bool:
    return all(node.parent is None or node.parent < index for index, node in enumerate(session.nodes))


@settings(deadline=None)
@given(turns())
def test_each_call_is_answered_directly_behind_its_reply(lines: list[dict[str, object]]) -> None:
    (session,) = read(encoded(lines))
    drafts = session.path
    assert len(drafts) == len(session.nodes)
    open_calls: set[str] = set()
    for draft in drafts:
        if draft.role == "tool":
            open_calls -= {result.call_id for result in draft.results}
        else:
            assert not open_calls
            open_calls = {call.id for call in draft.calls}
    assert not open_calls


@settings(deadline=None)
@given(turns(), st.data())
def test_the_order_of_lines_loses_none(lines: list[dict[str, object]], data: st.DataObject) -> None:
    sessions = read(encoded(data.draw(st.permutations(lines))))
    assert kept(sessions) == Counter(str(one["uuid"]) for one in lines)
    assert all(is_a_tree(session) for session in sessions)


@settings(deadline=None)
@given(turns(), st.data())
def test_lines_that_are_missing_take_no_other_with_them(lines: list[dict[str, object]], data: st.DataObject) -> None:
    left = [one for one in lines if data.draw(st.booleans())] or lines[:1]
    sessions = read(encoded(left))
    assert kept(sessions) == Counter(str(one["uuid"]) for one in left)
    assert all(is_a_tree(session) for session in sessions)


parents = st.sampled_from([None, "u0", "u1", "a0.0.0", "ra0.0.0", "nowhere", 7, "u2", "u3"])


@settings(deadline=None)
@given(turns(), st.lists(parents, min_size=40, max_size=40))
def test_parents_that_make_no_sense_lose_no_line(lines: list[dict[str, object]], wrong: list[object]) -> None:
    mixed = [one | {"parentUuid": parent} for one, parent in zip(lines, wrong, strict=False)]
    sessions = read(encoded(mixed))
    assert kept(sessions) == Counter(str(one["uuid"]) for one in mixed)
    assert all(is_a_tree(session) for session in sessions)


rubbish = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"", b"null", b"[]", b"{", b'{"type": "user"}', b'"\\ud800"', b'{"type": 7, "uuid": []}']),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "uuid", "parentUuid", "message", "content", "data", "sessionId", "x"]), inner
            )
        ),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(deadline=None)
@given(turns(), st.data())
def test_rubbish_between_and_behind_the_lines_loses_none(lines: list[dict[str, object]], data: st.DataObject) -> None:
    mixed: list[bytes] = []
    for good in encoded(lines):
        mixed.extend(data.draw(st.lists(rubbish, max_size=2)))
        mixed.append(good + data.draw(st.sampled_from([b"", b"\n", b"\r\n", b' {"type": "summary"}', b' {"type'])))
    sessions = read(mixed)
    found = kept(sessions)
    assert all(found[str(one["uuid"])] == 1 for one in lines)


@settings(deadline=None)
@given(turns(), st.data())
def test_a_cut_anywhere_costs_one_line_and_is_named(lines: list[dict[str, object]], data: st.DataObject) -> None:
    whole = b"\n".join(encoded(lines))
    first = len(encoded(lines)[0])
    cut = data.draw(st.integers(first, len(whole)))
    left = whole[:cut].split(b"\n")
    complete = sum(1 for index, one in enumerate(encoded(lines)) if index < len(left) and left[index] == one)
    sessions = read(left)
    assert sum(kept(sessions).values()) == complete
    torn = len([one for one in left if one]) - complete
    assert [fault.line for fault in sessions[0].faults] == [complete + 1] * torn
