"""An answer is read tolerantly around its JSON, and strictly within."""

from __future__ import annotations

import json
import time
from typing import Annotated

import pytest
from msgspec import Meta, Struct

from ireneo.adapters.llm.requests import read_reply, schema, with_shape
from ireneo.errors import BadReply


class Line(Struct, frozen=True):
    title: str
    parts: list[Line] = []


class Told(Struct, frozen=True):
    summary: str
    lines: tuple[Line, ...] = ()
    note: str | None = None


class Chapter(Struct, frozen=True):
    text: str
    parts: Annotated[list[str], Meta(max_length=2)]
    names: Annotated[list[Annotated[str, Meta(max_length=10)]], Meta(max_length=3)] = []
    owed: list[Debt] = []


class Debt(Struct, frozen=True):
    whom: Annotated[str, Meta(max_length=10)]


class Bare(Struct, frozen=True):
    pins: list[str] = []


GOOD = '{"summary": "done", "lines": [{"title": "x"}]}'
READ = Told("done", (Line("x"),))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nLet me know if you need more.",
        f"Sure! Here is the summary of {{name}}:\n\n{GOOD}",
        f'<think>The schema is {{"summary": …}}. So {{"summary": "maybe"}}.</think>\n{GOOD}',
        f"{GOOD}\n{GOOD}",
        f'{{"weather": "fine"}} {GOOD}',
        f'{GOOD[:-1]}, "mood": "good"}}',
        f"\ufeff{GOOD}",
    ],
)
def test_what_stands_around_the_object_does_not_matter(text: str) -> None:
    assert read_reply(text, Told) == READ


def test_line_breaks_in_strings_are_let_pass() -> None:
    assert read_reply('{"summary": "one\ntwo\t{three}"}', Told).summary == "one\ntwo\t{three}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("<think>hm</think>", "is empty"),
        ("I'm sorry, I can't help with that.", "no JSON object"),
        ('["summary"]', "no JSON object"),
        ('"summary"', "no JSON object"),
        (GOOD[:-1], "no JSON object"),
        ('{"summary": "done", "lines": [{"title": "x"}', "no JSON object"),
        ('{"summary": "done" "note": {"summary": "inside"}}', "no JSON object"),
        ('{"summary": NaN}', "no JSON object"),
        ('{"summary": null}', "Expected `str`"),
        ('{"summary": 3}', "Expected `str`"),
        ('{"summary": ["done"]}', "Expected `str`"),
        ('{"summary": "done", "lines": [{"name": "x"}]}', "missing required field `title`"),
        ('{"summary": "\\ud800"}', "half of a character"),
        ('{"error": {"message": "overloaded"}}', "none of summary, lines, note"),
        (f'{GOOD}{{"summary": "not done"}}', "different things"),
    ],
)
def test_what_is_no_answer(text: str, says: str) -> None:
    with pytest.raises(BadReply, match=says):
        read_reply(text, Told)


def test_what_is_too_much_in_an_optional_list_costs_no_answer() -> None:
    names, owed = ["Ada", "x" * 11, "Bo", "Cy", "Dot"], [{"whom": "x" * 11}, {"whom": "Ada"}]
    read = read_reply(json.dumps({"text": "t", "parts": ["a", "b"], "names": names, "owed": owed}), Chapter)
    assert read == Chapter("t", ["a", "b"], ["Ada", "Bo", "Cy"], [Debt("Ada")])


def test_what_is_too_much_where_all_is_needed_is_no_answer() -> None:
    with pytest.raises(BadReply, match="length <= 2"):
        read_reply('{"text": "t", "parts": ["a", "b", "c"]}', Chapter)


def test_an_object_about_something_else_is_not_an_empty_answer() -> None:
    assert read_reply('{"pins": []}', Bare) == Bare()
    for text in ("{}", '{"error": "overloaded"}', '{"answer": {"pins": ["x"]}}'):
        with pytest.raises(BadReply, match="none of pins"):
            read_reply(text, Bare)


@pytest.mark.parametrize("text", ["{" * 200_000, '{"a":' * 100_000, "[{}" * 100_000, "{} " * 200_000])
def test_rubbish_is_told_fast(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(BadReply):
        read_reply(text, Told)
    assert time.process_time() - begun < 5


def test_the_shape_is_told_in_one_piece() -> None:
    told = schema(Told)
    text = json.dumps(told)
    assert "$ref" not in text
    assert "$defs" not in text
    assert isinstance(told, dict)
    assert told["required"] == ["summary"]
    line = told["properties"]["lines"]["items"]
    assert line["properties"]["title"] == {"type": "string"}
    assert line["properties"]["parts"]["items"] == {"type": "object"}


def test_the_shape_stands_last() -> None:
    asked = with_shape("user: fix it\n", Bare)
    assert asked.startswith("user: fix it\n\nAnswer with one JSON object and nothing else")
    assert json.loads(asked.splitlines()[-1]) == schema(Bare)
