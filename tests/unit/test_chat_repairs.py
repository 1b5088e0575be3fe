"""What a cut has torn is repaired, and what became of each piece can be read."""

from __future__ import annotations

import pytest

import ireneo
from ireneo.formats.chat.anthropic import AnthropicMessages
from ireneo.formats.chat.format import ChatFormat
from ireneo.formats.chat.openai import OpenAIChat
from ireneo.log.message import Call, Draft, Media, Opaque, Result, Role, Text, Thinking

OPENAI, ANTHROPIC = OpenAIChat(), AnthropicMessages()
both = pytest.mark.parametrize("form", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])


def said(role: Role, words: str) -> Draft:
    return Draft(role=role, parts=(Text(text=words),))


def calls(*ids: str) -> Draft:
    return Draft(role="assistant", parts=tuple(Call(id=name, name="run", arguments={}) for name in ids))


def results(*ids: str, text: str = "ok") -> Draft:
    return Draft(role="tool", parts=tuple(Result(call_id=name, parts=(Text(text=text),)) for name in ids))


def block(name: str, text: str = "ok") -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": name, "content": text}


def reread(form: ChatFormat, drafts: list[Draft]) -> list[tuple[str, str]]:
    """Who says what in the list that `drafts` become."""
    payload = form.encode(drafts)
    assert form.validate(payload) == []
    told: list[tuple[str, str]] = []
    for draft in form.decode(payload):
        seen = [f"{made.name}({made.id})" for made in draft.calls]
        seen += [f"{each.call_id}: {each.text}" for each in draft.results]
        told.append((draft.role, " ".join([draft.text, *seen]).strip()))
    return told


@both
def test_an_unanswered_call_is_answered_for(form: ChatFormat) -> None:
    assert reread(form, [said("user", "Go."), calls("a"), said("user", "Stop!")]) == [
        ("user", "Go."),
        ("assistant", "run(a)"),
        ("tool", "a: [no result: this call was not answered]"),
        ("user", "Stop!"),
    ]


def test_the_answer_is_an_error_where_the_format_has_a_flag() -> None:
    messages = ANTHROPIC.encode([said("user", "Go."), calls("a", "b"), results("b")]).messages
    missing = block("a", "[no result: this call was not answered]") | {"is_error": True}
    assert messages[2] == {"role": "user", "content": [block("b"), missing]}


@both
def test_a_result_without_its_call_is_quoted(form: ChatFormat) -> None:
    kept = [said("user", "Go."), results("gone", "gone as well"), calls("a"), results("a")]
    lost = "[result of a call that is no longer shown] ok"
    told = reread(form, kept)
    assert told[0] == ("user", "Go.")
    assert told[1][1].splitlines() in ([lost, lost], [lost, "", lost])
    assert told[2:] == [("assistant", "run(a)"), ("tool", "a: ok")]


@both
def test_one_matched_call_does_not_keep_the_orphans_beside_it(form: ChatFormat) -> None:
    told = reread(form, [said("user", "Go."), calls("a"), results("gone", "a")])
    assert told == [
        ("user", "Go."),
        ("assistant", "run(a)"),
        ("tool", "a: ok"),
        ("user", "[result of a call that is no longer shown] ok"),
    ]


@both
def test_a_result_is_moved_to_its_call(form: ChatFormat) -> None:
    torn = [said("user", "Go."), calls("a", "b"), results("b"), said("user", "Well?"), results("a", text="late")]
    told = reread(form, torn)
    assert [text for role, text in told if role == "tool"] in (["b: ok a: late"], ["b: ok", "a: late"])
    assert told[-1] == ("user", "Well?")


@both
def test_the_first_of_two_results_stays(form: ChatFormat) -> None:
    told = reread(form, [said("user", "Go."), calls("a"), results("a"), results("a", text="again")])
    assert told[2:] == [("tool", "a: ok"), ("user", "[another result of a call that is already answered] again")]


def test_ids_that_come_again_are_told_apart() -> None:
    round_trip = [calls("a"), results("a")]
    kept = [said("user", "Go."), *round_trip, calls("a", "a_2"), results("a_2", "a"), calls("a"), said("user", "Stop!")]
    told = reread(ANTHROPIC, kept)
    assert [text for role, text in told if role == "assistant"] == ["run(a)", "run(a_3) run(a_2)", "run(a_4)"]
    assert [text for role, text in told if role == "tool"] == [
        "a: ok",
        "a_2: ok a_3: ok",
        "a_4: [no result: this call was not answered]",
    ]


def test_openai_ids_are_told_apart_within_a_message_only() -> None:
    told = reread(OPENAI, [calls("a", "a"), results("a", "a"), calls("a"), results("a")])
    assert [text for role, text in told if role == "assistant"] == ["run(a) run(a_2)", "run(a)"]


@both
def test_a_missing_id_is_given(form: ChatFormat) -> None:
    assert reread(form, [said("user", "Go."), calls(""), results("")])[1:] == [
        ("assistant", "run(call)"),
        ("tool", "call: ok"),
    ]


def test_the_user_begins() -> None:
    assert reread(ANTHROPIC, [said("system", "Be brief."), said("assistant", "Hello.")]) == [
        ("system", "Be brief."),
        ("user", "[The conversation begins here.]"),
        ("assistant", "Hello."),
    ]
    assert ANTHROPIC.encode([]).messages == []


def test_a_later_system_prompt_is_quoted() -> None:
    drafts = [
        said("system", "A"),
        said("system", "B"),
        said("user", "Go."),
        said("system", "Hurry."),
        said("system", ""),
    ]
    payload = ANTHROPIC.encode(drafts)
    assert payload.system == [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    assert [message["content"] for message in payload.messages] == ["Go.", "[system] Hurry."]


def test_blank_texts_go_and_users_stay_apart() -> None:
    signed = Thinking(text="Hm.", signature="c2ln")
    drafts = [
        said("user", "One"),
        said("user", " \n"),
        said("user", "Two"),
        Draft(role="assistant", parts=(signed,)),
        Draft(role="assistant", parts=(Thinking(text="unsigned"), Text(text=""))),
        Draft(role="assistant", parts=(signed, Text(text=" "), Text(text="Yes."), signed)),
    ]
    assert ANTHROPIC.encode(drafts).messages == [
        {"role": "user", "content": "One"},
        {"role": "user", "content": "Two"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "text", "text": "Yes."},
            ],
        },
    ]


def test_an_error_that_says_nothing_says_so() -> None:
    silent = Draft(role="tool", parts=(Result(call_id="a", parts=(), failed=True),))
    messages = ANTHROPIC.encode([said("user", "Go."), calls("a"), silent]).messages
    told = block("a", "[the call failed and said nothing]") | {"is_error": True}
    assert messages[2] == {"role": "user", "content": [told]}


def test_half_a_server_pair_becomes_a_note() -> None:
    found: dict[str, object] = {"type": "advisor_tool_result", "tool_use_id": "s", "content": {"type": "advice"}}
    result = Result(call_id="s", parts=(Opaque(format="anthropic", payload=found),))
    call = Call(id="s", name="advisor", arguments={}, server=True)
    whole = Draft(role="assistant", parts=(call, result, Text(text="So.")))
    assert ANTHROPIC.decode(ANTHROPIC.encode([said("user", "Go."), whole]))[1] == whole
    torn = [said("user", "Go."), Draft(role="assistant", parts=(call,)), Draft(role="assistant", parts=(result,))]
    assert [text for _, text in reread(ANTHROPIC, torn)[1:]] == [
        "[call of advisor, not shown as one] {}",
        "[result of a call that is no longer shown] [anthropic advisor_tool_result, 76 bytes, not shown]",
    ]


@both
def test_parts_move_to_a_role_that_holds_them(form: ChatFormat) -> None:
    result = results("a").parts[0]
    drafts = [
        Draft(role="user", parts=(Text(text="Go."), Call(id="x", name="run", arguments={}))),
        Draft(role="assistant", parts=(*calls("a").parts, result, Text(text="Done."))),
        Draft(role="assistant", parts=calls("b").parts),
        Draft(role="user", parts=(Text(text="And?"), results("b").parts[0])),
        Draft(role="tool", parts=(Media(media_type="image/png", data="aGk="),)),
    ]
    told = reread(form, drafts)
    assert told[0][1].split() == ["Go.", "[call", "of", "run,", "not", "shown", "as", "one]", "{}"]
    assert told[1:5] == [("assistant", "Done. run(a)"), ("tool", "a: ok"), ("assistant", "run(b)"), ("tool", "b: ok")]
    assert told[5] == ("user", "And?")
    assert len(told) == 7


def test_joined_words_stand_alone_when_their_results_are_gone() -> None:
    words = Draft(role="user", parts=(Text(text="Quick!"),), joined=True)
    together = ANTHROPIC.encode([said("user", "Go."), calls("a"), results("a"), words]).messages
    assert together[2] == {"role": "user", "content": [block("a"), {"type": "text", "text": "Quick!"}]}
    alone = {"role": "user", "content": "Quick!"}
    assert ANTHROPIC.encode([said("user", "Go."), words]).messages == [{"role": "user", "content": "Go."}, alone]
    summary = Draft(role="user", parts=(Text(text="[SUMMARIZED]"),), origin="summary")
    assert ANTHROPIC.encode([said("user", "Go."), summary, words]).messages[-1] == alone


def test_an_empty_message_that_is_left_out_is_told() -> None:
    given = [{"role": role, "content": text} for role, text in (("user", "hi"), ("assistant", " "), ("user", "there"))]
    told = ireneo.compact(given, 4_000, to="anthropic")
    assert [each["content"] for each in told.messages] == ["hi", "there"]
    assert [each.message.partition(": ")[2] for each in told.repaired] == [
        "an empty message is left out: anthropic takes none."
    ]
    kept = ireneo.compact(given, 4_000, to="openai")
    assert (kept.messages, kept.repaired) == (given, ())
