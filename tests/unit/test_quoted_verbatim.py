"""What stands in quotation marks are words of the message; what a sentence corrects in itself takes the right value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.types import Record

from .test_corrections import told_after

_WORDS = re.compile(r"[^\W_]+|…|\[[^\]]*\]")
_QUOTED = re.compile(r"(?:said|sagte[^:]*): [“„](.*)[”“]$", re.S)


def parts_quoted(record: Record) -> list[list[str]]:
    """The words of each part of a quotation, without the names in brackets; empty if a memory is none."""
    found = _QUOTED.search(record.text)
    parts = re.split(r"…|\[[^\]]*\]", found[1]) if found else []
    return [words for part in parts if (words := _WORDS.findall(part))]


@pytest.mark.parametrize(
    "said",
    [
        "Ich vertrage keine Hefe mehr, Kuchen also nur vom Blech.",
        "Ich vertrage keine Mandeln, Eier und Birnen.",
        "Und ich selbst trinke keinen Wein mehr, Bier nur am Wochenende.",
        "Ich wohne in Graz und arbeite bei Magna.",
        "Mein Bruder Ulf ist Maurer. Er wohnt in Bonn und spielt Geige im Orchester.",
        "Mein Bruder Ulf lebt in Gotha, Quatsch, in Erfurt, und arbeitet dort als Koch.",
        "Der Boiler ist hin, 900 Euro, sagt der Uwe. Also baden wir seit Montag bei den Nachbarn im Keller.",
        "The boiler broke on Monday and cost us 900. So we're bathing at the neighbours' in Kent Street.",
        "The parade is on the sixth of May and I have stall 12. No, that is last year's letter. Stall 7.",
        "My sister Ana is a nurse. She keeps two alpacas behind the mill and sells their wool in Hull on Sundays.",
        "My cousin Ned lives in Derby, no wait, Crewe, with four whippets.",
    ],
)
def test_a_quotation_has_words_of_the_message_alone(tmp_path: Path, said: str) -> None:
    words = _WORDS.findall(said)
    quoted = [part for each in told_after(tmp_path, said) for part in parts_quoted(each)]
    runs = {tuple(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1)}
    assert quoted or "Ned" in said
    assert [part for part in quoted if tuple(part) not in runs] == []


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("My cousin Ned lives in Derby, no wait, Crewe, with four whippets.", "home", "Crewe"),
        ("My brother Ned is a joiner. He lives in Derby, sorry, Crewe.", "home", "Crewe"),
        ("I work for Siemens, no, for Bosch.", "employer", "Bosch"),
        ("I live in Derby – I mean Crewe.", "home", "Crewe"),
        ("Ich wohne in Gotha, ach nein, in Erfurt.", "home", "Erfurt"),
        ("Mein Bruder Ulf lebt in Gotha, Quatsch, in Erfurt, und arbeitet dort als Koch.", "home", "Erfurt"),
        ("I live in Derby, sorry, Mum is calling.", "home", "Derby"),
    ],
)
def test_what_a_sentence_corrects_in_itself_fills_the_slot(
    tmp_path: Path, said: str, attribute: str, value: str
) -> None:
    told = told_after(tmp_path, said)
    assert [each.value for each in told if each.attribute == attribute and each.holds] == [value]


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("Ich vertrage keine Hefe mehr, Kuchen also nur vom Blech.", ["Hefe"]),
        ("Ich vertrage keine Mandeln, Eier und Birnen.", ["Birnen", "Eier", "Mandeln"]),
    ],
)
def test_what_is_not_tolerated_any_more_is_an_allergy(tmp_path: Path, said: str, values: list[str]) -> None:
    told = told_after(tmp_path, said)
    assert sorted(each.value for each in told if each.attribute == "allergy" and each.holds) == values


def test_an_allergy_that_was_refuted_ends_however_it_was_told(tmp_path: Path) -> None:
    ill = "Oats are fine, but aspirin brings me out in hives."
    told = told_after(tmp_path, ill, "The allergy clinic says I'm not allergic to aspirin after all.", days=9)
    assert not [each.text for each in told if each.holds and "hives" in each.text]
    with ireneo.sync.open(tmp_path / "other.db", durability="normal") as memory:
        memory.session("talk").append([{"role": "user", "content": ill}])
        memory.work(until_idle=True)
        memory.remember("I'm not allergic to oats.")
        assert [each.text for each in memory.memories(text="hives")], "nobody reacts to oats"
        memory.remember("I'm not allergic to aspirin.")
        assert not [each.text for each in memory.memories(text="hives") if "aspirin" in each.text]


@pytest.mark.parametrize(
    ("known", "attribute", "holds"),
    [("Unser Kater Mikesch ist zwölf.", "pet", False), ("Mein Sohn Mikesch ist zwölf.", "child", True)],
)
def test_only_a_pet_that_fell_asleep_in_the_night_is_dead(
    tmp_path: Path, known: str, attribute: str, holds: bool
) -> None:
    told = told_after(tmp_path, known, "Mikesch ist heute Nacht eingeschlafen.", days=30)
    assert [each.holds for each in told if each.attribute == attribute] == [holds]
