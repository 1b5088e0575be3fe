"""What is a name: who is called Élodie, Łukasz or Şule is remembered, asked for and told as Anna is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.golden.story import logged

import ireneo.sync
from ireneo import Draft
from ireneo.log.message import Text
from ireneo.memories.extract import extract_facts
from ireneo.memories.ranking import read_question
from ireneo.memories.senses import names_another
from ireneo.summaries.cast import known_cast, render_cast
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.story import make_leaf

AT = datetime(2024, 5, 14, 9, tzinfo=UTC)
PLAIN = "Tomasa"
NAMES = ("Élodie", "Øyvind", "Łukasz", "Şule", "Čedomir", "Đorđe", "İpek", "Tomáš", "Ağça", "Paweł", "Günay")

SAID = [
    "My sister is called {}.",
    "{} is my brother.",
    "Hi, I'm {}, 34, from Leeds.",
    "Call me {}.",
    "I live in {} with my cat.",
    "I was born in {}.",
    "I work at {} Oy as a nurse.",
    "I'm married to {}.",
    "I have two cats called {} and Mia.",
    "My friend {} lives in Rome and works as a baker.",
    "Meine Schwester heißt {}.",
    "Ich bin {}, 34, aus Bremen.",
    "Ich wohne in {}.",
    "Nenn mich {}.",
]
CHANGES = [
    ("My choir is {}, Finn, Gus and me.", "{} has left the choir."),
    ("My dog is called Rex.", "No, he's called {}, not Rex."),
    ("{} uses a Fairphone.", "{} has switched to an iPhone now."),
    ("My friend {} lives in Rome.", "{} moved to Oslo in May."),
    ("Zu viert im Büro: {}, Beate, Cem und ich.", "{} hat gekündigt."),
    ("Meine Tochter {} ist 6.", "{} ist jetzt 7."),
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_them_is_heard(name: str) -> None:
    for text in SAID:
        known = [
            [str((fact.kind, fact.subject, fact.attribute, fact.text)).replace(called, PLAIN) for fact in facts]
            for called in (PLAIN, name)
            for facts in [extract_facts(text.format(called), speaker="Ines", at=AT)]
        ]
        assert known[0], text
        assert known[1] == known[0]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    return held_after_changes(tmp_path_factory.mktemp("plain"), PLAIN)


def held_after_changes(folder: Path, name: str) -> list[list[str]]:
    held: list[list[str]] = []
    for number, texts in enumerate(CHANGES):
        with ireneo.sync.open(folder / f"{number}.db", durability="normal") as memory:
            for days, text in enumerate(texts):
                at = (AT + timedelta(days=10 * days)).isoformat()
                memory.session("chat").append([{"role": "user", "content": text.format(name), "timestamp": at}])
            memory.work(until_idle=True)
            found = memory.memories(state="any", limit=100)
        held.append(sorted(f"{each.holds} {each.text}".replace(name, PLAIN) for each in found))
    return held


@pytest.mark.parametrize("name", ["Élodie", "Łukasz"])
def test_what_changes_for_them_changes(tmp_path: Path, plain: list[list[str]], name: str) -> None:
    assert held_after_changes(tmp_path, name) == plain


@pytest.mark.parametrize("name", NAMES)
def test_they_are_asked_for_by_name(name: str) -> None:
    assert names_another(f"Where do I live, and where does {name}?")
    assert not read_question(f"Where do I live, and where does {name}?").own


PLAYED = (
    ("GM", "You make your way to the tavern of Old Harrow. A woman called {}, the innkeeper, greets you."),
    ("GM", "{} smiles and pours the ale. {} waits. Brom, what do you do?"),
    ("Nick", "I grab a mug. I'm playing Brom Ironfoot, the dwarf cleric, for those who just joined."),
    ("GM", "Brom, your mug is empty already. {} shrugs."),
    ("Nick", "Then I ask {} for another."),
    ("GM", "Brom snores. {} locks the door."),
)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_of_a_storys_cast(name: str) -> None:
    drafts = [Draft(role="user", parts=(Text(text=text.replace("{}", name), author=who),)) for who, text in PLAYED]
    lines = render_cast(known_cast([make_leaf(logged(drafts), Policy(name="story", story=StorySettings()))]), 700, len)
    assert f"- {name}: the innkeeper" in lines
