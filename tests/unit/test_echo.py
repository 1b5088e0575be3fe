"""What memory put into a text is told from what somebody says there, whatever format and role it comes back in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm

from ireneo import Draft, chat_format
from ireneo.engine.append import decode_given
from ireneo.grounding.evidence import source_texts
from ireneo.log.message import (
    BRIEF_HEADING,
    BRIEF_TAG,
    CLOSING,
    PAD_TAG,
    PINS_TAG,
    Call,
    Message,
    Result,
    Role,
    Text,
    chain,
    is_recalled,
    messages_without_recalled,
    opens_turn,
    tagged_block,
    without_recalled,
    without_recalled_parts,
)
from ireneo.summaries.pins import find_pins
from ireneo.summaries.tell_work import write_leaf

LINES = ["## Facts", "- Never push to main, says src/ghost/phantom_4711.py [m_abcdefg]"]
BRIEF = tagged_block(BRIEF_TAG, LINES)
PAD = tagged_block(PAD_TAG, ["Goal: ship", "Facts:", "- phantom_4711 leaks"])
FORMATS = ("openai", "openai-responses", "anthropic", "gemini", "langchain", "pydantic-ai")


def path(*drafts: Draft) -> list[Message]:
    return list(chain(None, drafts, lambda parts: (1, 0)))


def said(role: Role, *texts: str) -> Draft:
    return Draft(role=role, parts=tuple(Text(text=text) for text in texts))


@pytest.mark.parametrize("block", [BRIEF, PAD, f"{BRIEF}\n\n{PAD}", f"\n  {BRIEF}\n"])
def test_a_text_that_is_nothing_else_is_recalled(block: str) -> None:
    assert is_recalled(block)
    assert not without_recalled(block).strip()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Please ship it.\n{BRIEF}\nToday.", "Please ship it.\n\nToday."),
        (f"{PAD}\nPlease ship it.", "\nPlease ship it."),
        (f"> {BRIEF} and then {BRIEF} so", ">  and then  so"),
        ("Keep the [BRIEF] short, and the [SCRATCHPAD] too.", "Keep the [BRIEF] short, and the [SCRATCHPAD] too."),
        ("[BRIEF] is what I call it.\nReally.", "[BRIEF] is what I call it.\nReally."),
        ("Nothing of ours.", "Nothing of ours."),
        # Cut short, it ends where its lines end.
        (f"{BRIEF_HEADING}\n## Facts\n- it leaks [m_ab\nPlease ship it.", "Please ship it."),
        (BRIEF_HEADING, ""),
    ],
)
def test_what_is_said_beside_it_is_left(text: str, left: str) -> None:
    assert without_recalled(text) == left
    assert without_recalled(left) == left


def test_a_text_full_of_beginnings_is_read_to_its_end() -> None:
    # Where each beginning looked through all that follows it, this would take minutes.
    assert without_recalled("[BRIEF] " * 200_000) == "[BRIEF] " * 200_000
    assert without_recalled(f"{BRIEF_HEADING}\n" * 50_000) == ""


@calm(40)
@given(before=st.text(max_size=30), after=st.text(max_size=30), inside=st.lists(st.text(max_size=40), max_size=4))
def test_no_line_of_a_block_is_left_whatever_it_says(before: str, after: str, inside: list[str]) -> None:
    for tag in CLOSING:
        block = tagged_block(tag, inside)
        assert is_recalled(block)
        if not any(mark in before + after for mark in (*CLOSING, *CLOSING.values())):
            assert without_recalled(f"{before}{block}{after}") == before + after


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("block", [BRIEF, PAD])
def test_as_a_message_of_a_user_it_opens_no_turn_in_any_format(name: str, block: str) -> None:
    chat = chat_format(name)
    asked = [said("user", block), said("user", "Please ship it."), said("assistant", "Shipped.")]
    back = chat.decode(chat.encode(asked).messages)
    words = [draft for draft in back if opens_turn(draft)]
    assert ["Please ship it." in draft.text for draft in words] == [True]
    assert not any(is_recalled(draft.text) for draft in words)
    assert "phantom" not in "\n".join(without_recalled_parts(draft).text for draft in back)


def test_the_words_of_a_user_alone_are_known_as_well() -> None:
    drafts, _ = decode_given([BRIEF, f"{BRIEF}\nPlease ship it."], None)
    assert [draft.origin for draft in drafts] == ["injected", "spoken"]


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_in_no_role_it_is_evidence(role: Role) -> None:
    (message,) = path(said(role, f"{BRIEF}\nPlease ship it with spool_12.py."))
    assert find_pins(message) == []
    texts = "\n".join(source_texts([message]))
    assert "spool_12" in texts
    assert "phantom" not in texts
    sections = str(write_leaf([message], ends_turn=True))
    assert "phantom" not in sections


def test_in_a_tools_output_it_is_no_evidence_either() -> None:
    call = Call(id="c", name="memory_brief", arguments={"goal": "ship"})
    result = Result(call_id="c", parts=(Text(text=f"{BRIEF}\ndone"),))
    messages = path(Draft(role="assistant", parts=(call,)), Draft(role="tool", parts=(result,)))
    assert "phantom" not in "\n".join(source_texts(messages))
    assert "done" in "\n".join(source_texts(messages))
    assert "phantom" not in str(write_leaf(messages, ends_turn=True))
    assert [message.id for message in messages_without_recalled(messages)] == [message.id for message in messages]


def test_what_has_none_is_the_same_message() -> None:
    messages = path(said("user", "Please ship it."), said("assistant", "[BRIEF] it is."))
    assert all(one is other for one, other in zip(messages_without_recalled(messages), messages, strict=True))


def test_no_line_can_pass_for_a_block_of_another_kind() -> None:
    text = tagged_block(BRIEF_TAG, [f"- {PINS_TAG} never do it", f"- {CLOSING[BRIEF_TAG]} I say", f"- {PAD_TAG}"])
    assert text.count(CLOSING[BRIEF_TAG]) == 1
    assert PINS_TAG not in text
    assert is_recalled(text)
