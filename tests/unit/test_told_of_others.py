"""Of whom "he" and "she" speak in what users say, and what of somebody's allergies and animals is over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo.sync
from ireneo.memories.extract import extract_facts

AT = datetime(2024, 5, 14, 9, tzinfo=UTC)

TOLD = [
    ("My son is called Anselm, he's allergic to lupins.", "Anselm", "allergy", "lupins"),
    ("Anselm is my son and he's allergic to lupins.", "Anselm", "allergy", "lupins"),
    ("Meine Tochter heißt Jette. Sie ist allergisch gegen Soja.", "Jette", "allergy", "Soja"),
    ("Ich wohne in Kiel und arbeite bei Holzmann.", "user", "employer", "Holzmann"),
    ("I'm Odile and I work at a foundry.", "user", "employer", "foundry"),
    ("my birthday is on 3 May", "user", "birthday", "3 May"),
    # Where somebody's people live and what they do.
    ("My wife Odile left Fenwick. She works at Tarn & Co.", "Odile", "employer", "Tarn & Co"),
    ("My sister is moving house. She's a nurse.", "user's sister", "job", "nurse"),
    ("My aunt Ruth called. She's moved to Bergen!", "Ruth", "home", "Bergen"),
    ("My brother Tam lives in Wick, he's a joiner.", "Tam", "home", "Wick"),
    ("My friend Jo is vegan.", "Jo", "diet", "vegan"),
    ("Mein Bruder Veit wohnt in Kiel, er arbeitet bei Holzmann.", "Veit", "employer", "Holzmann"),
    ("Mein Schwager Udo ist Elektriker.", "Udo", "job", "Elektriker"),
]
NOT_TOLD = [
    "My brother is 17.",
    "My sister drives a van.",
    "Meine Schwägerin Ulla ist Engländerin.",
    "Mein Bruder ist Raucher.",
]


@pytest.mark.parametrize(("text", "subject", "attribute", "value"), TOLD)
def test_a_fact_is_told_of_whom_it_speaks(text: str, subject: str, attribute: str, value: str) -> None:
    facts = extract_facts(text, speaker="user", at=AT)
    assert (subject, attribute, value) in {(each.subject, each.attribute, each.value) for each in facts}
    found = next(each for each in facts if each.attribute == attribute and each.value == value)
    assert all(piece.rstrip(".") in text for piece in found.quote.split(" … "))


@pytest.mark.parametrize("text", NOT_TOLD)
def test_of_others_what_changes_often_fills_no_slot(text: str) -> None:
    facts = extract_facts(text, speaker="user", at=AT)
    assert {each.attribute for each in facts if each.value[:1].islower() or each.value[:1].isdigit()} <= {""}
    assert "job" not in {each.attribute for each in facts}


@pytest.mark.parametrize(
    "text", ["My partner is called Lou. He paid 14 grand.", "My dog Bran died. He'd a great innings."]
)
def test_of_whom_it_is_not_known_whether_he_or_she_is_quoted_as_it_was_said(text: str) -> None:
    told = [each for each in extract_facts(text, speaker="user", at=AT) if not each.attribute]
    assert [each.text for each in told if not each.against] == [f"On 14 May 2024 the user said: “{text}”"]


@pytest.mark.parametrize(
    "text",
    [
        "My boss met Karim yesterday. He's moved to Bergen.",
        "My brother Veit and my uncle Ruben are here. He's moved to Bergen.",
        "My wife Odile is well. He's moved to Bergen.",
        "He's moved to Bergen.",
    ],
)
def test_where_several_may_be_meant_nothing_is_told_of_either(text: str) -> None:
    assert "home" not in {each.attribute for each in extract_facts(text, speaker="user", at=AT)}


def held_after(tmp_path: Path, *texts: str) -> list[str]:
    with ireneo.sync.open(tmp_path / "memory.db", durability="normal") as memory:
        session = memory.session("chat")
        for number, text in enumerate(texts):
            at = (AT + timedelta(days=10 * number)).isoformat()
            session.append([{"role": "user", "content": text, "timestamp": at}])
        memory.work(until_idle=True)
        return [each.text for each in memory.memories(limit=100) if each.kind == "semantic"]


@pytest.mark.parametrize(
    ("before", "after", "stays", "gone"),
    [
        ("I'm allergic to lupins and eggs.", "I can eat eggs again", "lupins", "allergic to eggs"),
        ("My son Anselm is allergic to lupins and eggs.", "Anselm can eat eggs again!", "lupins", "allergic to eggs"),
        ("Ich bin allergisch gegen Soja und Eier.", "Eier darf ich wieder essen", "Soja", "gegen Eier"),
        ("I can't eat mussels.", "I can eat mussels again", "", "can't"),
        ("We've got two cats, Marmite and Otto.", "Otto died last week :(", "cat is called Marmite", "Otto"),
    ],
)
def test_what_may_be_eaten_again_and_who_is_no_more(
    tmp_path: Path, before: str, after: str, stays: str, gone: str
) -> None:
    held = held_after(tmp_path, before, after)
    assert not any(gone in each for each in held)
    assert not stays or any(stays in each for each in held)
