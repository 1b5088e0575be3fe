"""What holds of the proxy for whatever a client does to its list, and however a stream is cut."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm

import ireneo
from ireneo.faces.proxy.requests import ChatRequest, answer_reader, read_request
from ireneo.faces.proxy.sessions import ProxySessions, ProxySettings

Json = dict[str, Any]
TOLD = "the ferry crosses the sound in the grey of the morning and the keeper counts the lamps along the quay"


OURS = ("[STORY] 9 messages · open with s_aaaaaaa\n", "[SUMMARIZED] 3 calls · open with s_aaaaaaa\n## Status\n- ")
"""What a model may make up after the contexts that it was shown."""


def message(number: int, role: str) -> Json:
    begins = OURS[number % 2] if number % 5 == 0 else ""
    return {"role": role, "content": f"{begins}{number} {TOLD} {number}."}


def requested(messages: list[Json]) -> ChatRequest:
    found = read_request(json.dumps({"model": "m", "messages": messages}).encode(), "openai")
    assert found is not None
    return found


WHATS = ("goes on", "goes on", "swipe", "edit", "delete", "cut", "note", "again")
STEPS = st.lists(st.tuples(st.sampled_from(WHATS), st.integers(0, 99)), min_size=1, max_size=8)


def change(chat: list[Json], what: str, at: int, number: int) -> None:
    """What a client does to its list."""
    if what == "goes on":
        chat += [message(number, "assistant"), message(number + 1, "user")]
    elif what == "swipe":
        chat[-1] = message(number, chat[-1]["role"])
    elif what == "edit":
        chat[at] = message(number, chat[at]["role"])
    elif what == "delete":
        del chat[at]
    elif what == "cut":
        del chat[at + 1 :]
    elif what == "note":
        chat.insert(at, message(number, "system"))
    if all(each["role"] == "system" for each in chat):
        chat.append(message(number + 1, "user"))


@calm(10)
@given(begins=st.integers(1, 40), steps=STEPS, budget=st.sampled_from([600, 2_000, 50_000]))
def test_the_branch_says_what_the_list_says_whatever_was_done_to_it(
    begins: int, steps: list[tuple[str, int]], budget: int
) -> None:
    async def run() -> None:
        async with ireneo.open(":memory:") as memory:
            cutting = ProxySettings(budget=budget, whole_lists=True)
            sessions = ProxySessions(memory, cutting, lambda _: None)
            chat = [message(at, "user" if at % 2 == 0 else "assistant") for at in range(begins)]
            for step, (what, number) in enumerate(steps):
                change(chat, what, number % len(chat), begins + 2 * step)
                if what == "again":
                    # Another process: what is at hand is gone.
                    sessions = ProxySessions(memory, cutting, lambda _: None)
                request = requested(chat)
                said = [each["content"] for each in request.said]
                body, laid = await sessions.lay(request, "talk")
                path = await laid.kept.session.messages()
                assert [each.text.strip() for each in path] == said
                sent = json.loads(body)["messages"] if body else chat
                assert sent[-1] == chat[-1] or len(sent) == 1
                assert body is None or budget < 50_000
                if what != "cut":
                    await laid.kept.keep(laid, [{"role": "assistant", "content": f"answer {step}  "}])
                    chat.append({"role": "assistant", "content": f"answer {step}"})
                    path = await laid.kept.session.messages()
                    assert [each.text.strip() for each in path] == [*said, f"answer {step}"]

    asyncio.run(run())


@calm(40)
@given(
    listed=st.lists(st.sampled_from(["system", "user", "assistant", "developer"]), min_size=1, max_size=40),
    tools=st.booleans(),
)
def test_a_context_that_says_all_leaves_the_request_as_it_is(listed: list[str], tools: bool) -> None:
    messages = [message(number, role) for number, role in enumerate(listed)]
    found = read_request(json.dumps({"messages": messages, "tools": [{}] * tools}).encode(), "openai")
    if found is None:
        assert set(listed) <= {"system", "developer"}
        return
    whole = ireneo.compact(found.said, 1_000_000, to="openai")
    assert found.with_context(whole) is None
    # Whatever is put in its place: prompt, and what floats, are sent on, each where it was.
    cut = found.with_context(ireneo.compact(found.said[-1:], 1_000_000, to="openai"))
    if len(found.said) > 1:
        assert cut is not None
        sent = json.loads(cut)["messages"]
        assert sent == [*found.prompt, *(each for behind, each in found.floating if behind), found.said[-1]] + [
            each for behind, each in found.floating if not behind
        ]


@calm(40)
@given(
    pieces=st.lists(st.text(max_size=8), min_size=1, max_size=6),
    cuts=st.lists(st.integers(0, 2_000), max_size=12),
    carriage=st.booleans(),
)
def test_a_stream_says_the_same_however_it_is_cut(pieces: list[str], cuts: list[int], carriage: bool) -> None:
    end = "\r\n" if carriage else "\n"
    lines = [
        json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]}, ensure_ascii=False) for piece in pieces
    ]
    data = "".join(f": ping{end}data: {line}{end}{end}" for line in [*lines, "[DONE]"]).encode()
    places = sorted({0, *(cut % len(data) for cut in cuts), len(data)})
    reader = answer_reader("openai", "text/event-stream; charset=utf-8")
    for first, last in pairwise(places):
        reader.feed(data[first:last])
    said = "".join(pieces)
    assert reader.is_complete
    assert reader.answers() == ([{"role": "assistant", "content": said}] if said else [])


def test_user_and_assistant_take_turns_in_what_is_sent_on_if_they_did_in_what_came() -> None:
    prompt = {"role": "system", "content": "You are a helper."}
    chat = [prompt, *(message(number * 5 + 1, "assistant" if number % 2 else "user") for number in range(81))]

    async def sent() -> list[str]:
        async with ireneo.open(":memory:") as memory:
            sessions = ProxySessions(memory, ProxySettings(budget=600), lambda sentence: None)
            body, _ = await sessions.lay(requested(chat), "")
            assert body is not None
            return [each["role"] for each in json.loads(body)["messages"]]

    roles = asyncio.run(sent())
    assert len(roles) < len(chat)
    assert roles[:2] == ["system", "user"]
    assert all(one != other for one, other in pairwise(roles))


def test_a_list_in_which_nothing_is_said_is_stored_by_none() -> None:
    for empty in ({"role": "user"}, {"role": "user", "content": None}, {"role": "assistant", "content": ""}):
        assert read_request(json.dumps({"messages": [empty]}).encode(), "openai") is None
        assert len(requested([{"role": "user", "content": "Are you there?"}, empty]).said) == 2
