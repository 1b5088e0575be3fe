"""Formats are found by name, and by what stands in a list."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest

from ireneo import compact
from ireneo.errors import UnknownFormat, UnreadableLog
from ireneo.formats.chat.format import CHAT_FORMATS, Payload, chat_format
from ireneo.formats.chat.reading import read_given
from ireneo.log.message import Draft, Text

USER: dict[str, object] = {"role": "user", "content": "Hello."}
REPLY: dict[str, object] = {"role": "assistant", "content": "Hello."}


def test_each_format_is_found_by_its_name() -> None:
    assert sorted(CHAT_FORMATS) == ["anthropic", "gemini", "langchain", "openai", "openai-responses", "pydantic-ai"]
    for name in CHAT_FORMATS:
        assert chat_format(name).name == name


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(UnknownFormat, match=r"no chat format 'gopher'; the formats are anthropic, gemini, langchain"):
        chat_format("gopher")


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ([{"role": "system", "content": "Be brief."}, USER], "openai"),
        ([{"role": "developer", "content": "Be brief."}, USER], "openai"),
        ([USER, {"role": "assistant", "content": None, "tool_calls": []}], "openai"),
        ([{"role": "tool", "tool_call_id": "a", "content": ""}], "openai"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x.org"}}]}], "openai"),
        ([USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run"}]}], "anthropic"),
        ([USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": ""}]}], "anthropic"),
        ([USER, {"role": "assistant", "content": [{"type": "mcp_tool_use", "id": "a"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "image", "source": {}}]}], "anthropic"),
        ({"system": "Be brief.", "messages": [USER, REPLY]}, "anthropic"),
        (Payload(messages=[USER], system="Be brief."), "anthropic"),
        ([USER, {"type": "function_call", "call_id": "a", "name": "run", "arguments": "{}"}], "openai-responses"),
        ([USER, {"type": "reasoning", "summary": []}, REPLY], "openai-responses"),
        ([USER, {"type": "web_search_call", "id": "ws_1"}], "openai-responses"),
        ([{"type": "message", **USER}], "openai-responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "Hello."}]}], "openai-responses"),
        ({"input": "Hello."}, "openai-responses"),
        (
            [{"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "run"}]}],
            "anthropic",
        ),
        ({"input": [USER], "instructions": "Be brief."}, "openai-responses"),
        ([{"role": "user", "parts": [{"text": "Hello."}]}], "gemini"),
        ([{"parts": [{"text": "Hello."}]}], "gemini"),
        ({"contents": [{"role": "user", "parts": []}], "system_instruction": {"parts": []}}, "gemini"),
        # Valid in several; OpenAI's asks the least of a list.
        ([USER, REPLY], "openai"),
        ({"messages": [USER]}, "openai"),
        (Payload(messages=[USER]), "openai"),
    ],
)
def test_a_list_tells_its_format(payload: object, name: str) -> None:
    assert compact(payload, 10_000).format == name


@pytest.mark.parametrize("payload", [None, "hello", 7, {}, [1], [{}], [{"role": "model"}], [{"role": []}]])
def test_what_is_no_message_list_is_refused(payload: object) -> None:
    with pytest.raises(UnreadableLog):
        compact(payload, 10_000)


def test_a_format_is_loaded_when_a_message_is_in_it() -> None:
    code = (
        "import sys, ireneo\n"
        "ireneo.compact([{'role': 'user', 'content': 'Hello.'}], 1_000)\n"
        "print(*sorted(name for name in sys.modules if name.startswith('ireneo.formats.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "ireneo.formats.chat.openai" in loaded
    others = ("anthropic", "gemini", "langchain", "pydantic_ai", "responses")
    assert not {f"ireneo.formats.chat.{name}" for name in others} & set(loaded)
    light = {"ireneo.formats.logs.format"}
    assert {name for name in loaded if name.startswith("ireneo.formats.logs.")} <= light


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"role": "vera"}, "its role 'vera' is unknown; expected one of system, user, assistant, tool"),
        ({"origin": "dreamt"}, "its origin 'dreamt' is unknown; expected one of spoken, injected, summary"),
        ({"at": datetime(2026, 5, 3)}, "its `at` is no datetime with a zone"),
        ({"at": "2026-05-03"}, "its `at` is no datetime with a zone"),
        ({"parts": "Hello."}, "its parts can't be stored"),
        ({"parts": (Text(text=5),)}, "Expected `str`, got `int`"),  # type: ignore[arg-type]
        ({"parts": (Text(text="Hello.", present="Vera"),)}, "its parts can't be stored"),  # type: ignore[arg-type]
    ],
)
def test_a_draft_that_could_not_be_read_again_is_refused(wrong: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"role": "user", "parts": (Text(text="Hello."),)}
    with pytest.raises(UnreadableLog, match=re.escape(f"message 1: {says}") if says.startswith("its") else says):
        read_given([USER, Draft(**{**good, **wrong})])


def test_who_speaks_and_who_hears_it_stands_beside_the_content() -> None:
    said: list[dict[str, object]] = [
        {"role": "user", "content": "Only between us.", "name": "Mara", "present": ["Mara", "Ada"]},
        {"role": "assistant", "content": "Yes.", "author": "Ada", "present": "Mara", "at": "2026-03-03T10:00:00Z"},
        {"role": "user", "content": "Good evening, all.", "author": "Mara"},
        {"role": "user", "content": "A plain word.", "name": "Mara"},
    ]
    read = read_given(said).drafts
    assert [(draft.author, draft.present) for draft in read] == [
        ("Mara", ("Mara", "Ada")),
        ("Ada", ("Mara",)),
        ("Mara", None),
        # A name alone is the provider's field, which goes back as it came.
        (None, None),
    ]
    assert read[1].at is not None
    assert all("present" not in str(draft.native) and "author" not in str(draft.native) for draft in read)


def test_listeners_that_are_no_names_are_refused() -> None:
    with pytest.raises(UnreadableLog, match=r"^message 1: its `present` is no list of names; give one such as"):
        read_given([USER, {"role": "user", "content": "Only between us.", "present": True}])
