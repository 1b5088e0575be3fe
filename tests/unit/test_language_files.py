"""The data files of languages: whole, and read by sections; what they may hold; and words side by side."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from ireneo.language import spoken, story_topics, topics
from ireneo.language.files import LANGUAGES, any_of, fill_placeholders, of_language, sections, topic
from ireneo.language.spoken import Moments
from ireneo.language.topics import Times, Topic, Words

FOLDER = Path(topics.__file__).parent
KINDS: list[type[Topic]] = [
    each
    for module in (topics, story_topics, spoken)
    for each in vars(module).values()
    if isinstance(each, type) and Topic in each.__bases__
]


def test_every_file_is_a_language() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(LANGUAGES)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_file_read_by_sections_is_the_same(code: str) -> None:
    whole = tomllib.loads((FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
    pieces = {name: tomllib.loads(text)[name] for name, text in sections(code).items()}
    assert pieces == whole
    assert set(whole) <= {kind.__name__.lower() for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_language_is_read_by_what_a_topic_may_hold(kind: type[Topic]) -> None:
    for code in LANGUAGES:
        of_language(kind, code)
    together = topic(kind)
    assert all(getattr(together, field) for field in kind.__struct_fields__)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pattern_compiles(kind: type[Topic]) -> None:
    for text in strings(topic(kind)):
        re.compile(text)
        # Those of times are filled with what all languages call a month.
        assert kind in (Times, Moments) or not re.search(r"\{[a-z_]+\}", text), text


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Struct):
        return [text for field in value.__struct_fields__ for text in strings(getattr(value, field))]
    if isinstance(value, dict):
        return strings(tuple(value.values()))
    return [text for each in value for text in strings(each)] if isinstance(value, tuple) else []


def test_the_words_of_languages_stand_side_by_side() -> None:
    assert {"the", "der", "le"} <= topic(Words).telling
    assert "der" not in of_language(Words, "en").telling
    assert of_language(Words, "nl").stop == frozenset()


def test_what_a_topic_does_not_know_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"stopp": ["the"]}, Words)


def test_patterns_are_put_together() -> None:
    assert fill_placeholders("{who} owes", {"who": "(?:I|{name})", "name": "[A-Z]{1,3}"}) == "(?:I|[A-Z]{1,3}) owes"
    assert not re.search(any_of([]), "anything")
    with pytest.raises(KeyError):
        fill_placeholders("{nobody}", {})
