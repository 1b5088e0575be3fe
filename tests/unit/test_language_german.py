"""German: what binds, what a statement says, when it was and where a sentence ends; through the public verbs, too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import ireneo
from ireneo.language.numbers import numbers_in_words
from ireneo.language.times import time_window
from ireneo.language.words import language_of, sentences
from ireneo.log.message import Draft, Message, Text, chain
from ireneo.memories.extract import single_fact
from ireneo.memories.facts import cardinality_of
from ireneo.memories.ranking import read_question
from ireneo.summaries.pins import find_lifts, find_pins, valid_pins

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
"""A Wednesday."""


def said(text: str, *others: str) -> list[Message]:
    """What a user says, one message after the other."""
    return chain(None, [Draft(role="user", parts=(Text(text=each),)) for each in (text, *others)], lambda parts: (1, 0))


def pinned(text: str) -> list[str]:
    return [pin.text for pin in find_pins(said(text)[0])]


@pytest.mark.parametrize(
    "rule",
    [
        "Bitte ändere die Tests nicht.",
        "Niemals auf main pushen.",
        "Nur die Dateien in src anfassen.",
        "Keine neuen Abhängigkeiten.",
        "Du darfst die Datenbank nicht löschen.",
        "Die öffentliche Schnittstelle muss unverändert bleiben.",
        "Verwende immer uv statt pip.",
        "Ab jetzt auf Deutsch antworten.",
        "Fass die Migrationen nicht an.",
        "Ändern Sie die Konfiguration nicht.",
        "Frag mich vorher, wenn du etwas löschst.",
        "Auf keinen Fall Geheimnisse ausgeben.",
        "Der Ordner vendor ist tabu.",
        "Vermeide globale Variablen.",
        "Alle Funktionen müssen Docstrings haben.",
    ],
)
def test_a_rule_is_pinned(rule: str) -> None:
    assert pinned(f"Ich habe gestern lange daran gearbeitet. {rule} Danke dir.") == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "Kannst du mir sagen, was der Fehler bedeutet?",
        "Das Programm ist gestern abgestürzt.",
        "Ich habe den Server neu gestartet und das Protokoll gelesen.",
        "Wir waren im Urlaub und haben viel gesehen.",
        "Diese Ausgabe verstehe ich noch.",
    ],
)
def test_what_binds_nobody_is_not_pinned(text: str) -> None:
    assert pinned(text) == []


def test_a_rule_is_lifted_in_german() -> None:
    messages = said("Ändere die Tests nicht.", "Du darfst die Tests jetzt wieder ändern.")
    pins = [pin for message in messages for pin in find_pins(message)]
    lifts = [lift for message in messages for lift in find_lifts(message)]
    assert [pin.text for pin in valid_pins(pins, lifts)] == []
    others = said("Ändere die Tests nicht.", "Du darfst die Doku jetzt wieder ändern.")
    kept = valid_pins(find_pins(others[0]), find_lifts(others[1]))
    assert [pin.text for pin in kept] == ["Ändere die Tests nicht."]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "Das gilt z. B. für Hunde, d. h. für alle. Siehe Nr. 5 im Anhang. Fertig.",
            ["Das gilt z. B. für Hunde, d. h. für alle.", "Siehe Nr. 5 im Anhang.", "Fertig."],
        ),
        ("Am 3. Mai kam sie an. Dann ging sie.", ["Am 3. Mai kam sie an.", "Dann ging sie."]),
        ("Im 19. Jahrhundert war das anders. Heute nicht.", ["Im 19. Jahrhundert war das anders.", "Heute nicht."]),
        ("Der 2. Versuch gelang. Gut.", ["Der 2. Versuch gelang.", "Gut."]),
        (
            "Dr. Müller kostet ca. 5 Mio. Euro usw. im Jahr. Ja.",
            ["Dr. Müller kostet ca. 5 Mio. Euro usw. im Jahr.", "Ja."],
        ),
        ("„Komm her.“ Dann ging er. »Ja.« Gut.", ["„Komm her.“", "Dann ging er.", "»Ja.«", "Gut."]),
        ("Sie ist jetzt 3. Das stimmt.", ["Sie ist jetzt 3.", "Das stimmt."]),
    ],
)
def test_a_full_stop_may_end_no_sentence(text: str, parts: list[str]) -> None:
    assert list(sentences(text)) == parts


def test_a_german_quotation_is_whole() -> None:
    text = "Er sagte: „Ich komme. Warte auf mich.“ Dann schwieg er."
    assert list(sentences(text, longest_quoted=400)) == [
        "Er sagte: „Ich komme. Warte auf mich.“",
        "Dann schwieg er.",
    ]


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Ich wohne in Köln.", ("Ann", "home", "Köln")),
        ("Ich wohne jetzt in Frankfurt am Main.", ("Ann", "home", "Frankfurt am Main")),
        ("Ich bin nach Berlin gezogen.", ("Ann", "home", "Berlin")),
        ("Mein Lieblingsessen ist Pizza.", ("Ann", "lieblingsessen", "Pizza")),
        ("Meine Lieblingsfarbe ist jetzt Grün", ("Ann", "lieblingsfarbe", "Grün")),
        ("Ich heiße Jörg Müller.", ("Ann", "name", "Jörg Müller")),
        ("Mein Name ist Jörg.", ("Ann", "name", "Jörg")),
        ("Ich arbeite bei Siemens.", ("Ann", "employer", "Siemens")),
        ("Ich arbeite als Ärztin.", ("Ann", "job", "Ärztin")),
        ("Mein Beruf ist Lehrer", ("Ann", "job", "Lehrer")),
        ("Ich bin 34 Jahre alt.", ("Ann", "age", "34")),
        ("Ich wurde in Linz geboren.", ("Ann", "birthplace", "Linz")),
        ("Mein Geburtstag ist am 3. Mai", ("Ann", "birthday", "3. Mai")),
        ("Jürgen wohnt in Graz.", ("Jürgen", "home", "Graz")),
        ("Die Hauptstadt von Portugal ist Lissabon.", ("Portugal", "hauptstadt", "Lissabon")),
    ],
)
def test_a_plain_statement_fills_a_slot(text: str, slot: tuple[str, str, str]) -> None:
    fact = single_fact(text, "Ann")
    assert fact
    assert (fact.subject, fact.attribute, fact.value) == slot


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne nicht in Köln.",
        "Vielleicht wohne ich in Köln.",
        "Mein Name ist wichtig.",
        "Er wohnt in Köln.",
        "Wohnst du in Köln?",
    ],
)
def test_other_statements_fill_none(text: str) -> None:
    assert single_fact(text, "Ann") is None


def test_attributes_may_hold_several_values() -> None:
    assert {cardinality_of(each) for each in ("Allergien", "Hobby", "kinder")} == {"set"}
    assert {cardinality_of(each) for each in ("Lieblingsfarbe", "home", "Beruf")} == {"one"}


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("Was habe ich gestern gesagt?", "2026-03-17", "2026-03-18"),
        ("Was war vorgestern?", "2026-03-16", "2026-03-17"),
        ("Wo war ich letzte Woche?", "2026-03-09", "2026-03-16"),
        ("Was kauften wir im März?", "2026-03-01", "2026-04-01"),
        ("Was geschah letzten Mai?", "2025-05-01", "2025-06-01"),
        ("Was habe ich für nächsten Montag geplant?", "2026-03-23", "2026-03-24"),
        ("Was war am Montag?", "2026-03-16", "2026-03-17"),
        ("Was war am 3. Mai?", "2025-05-03", "2025-05-04"),
        ("Was geschah am 03.05.2022?", "2022-05-03", "2022-05-04"),
        ("Wen traf ich im Sommer 2021?", "2021-06-01", "2021-09-01"),
        ("Was geschah vor dem 3. Mai 2022?", None, "2022-05-03"),
        ("Was geschah seit März?", "2026-03-01", None),
        ("Was kam bis Ende Mai?", None, "2025-06-01"),
        ("Was war zwischen März und Mai 2022?", "2022-03-01", "2022-06-01"),
        ("Was war im Jahr 2023?", "2023-01-01", "2024-01-01"),
    ],
)
def test_words_of_time_name_a_window(text: str, since: str | None, until: str | None) -> None:
    window = time_window(text, NOW)
    assert window is not None
    assert window.since == (since and datetime.fromisoformat(since).replace(tzinfo=UTC))
    assert window.until == (until and datetime.fromisoformat(until).replace(tzinfo=UTC))


def test_people_count_back() -> None:
    window = time_window("Was ist vor drei Tagen passiert?", NOW)
    assert window is not None
    assert window.holds(NOW - timedelta(days=3))
    assert not window.holds(NOW - timedelta(days=5))


def test_a_city_is_no_month() -> None:
    assert time_window("Wer war in Chiang Mai?", NOW) is None


def test_a_question_says_whom_it_asks_of_and_what_for() -> None:
    asked = read_question("Wann bin ich nach Köln gezogen?", now=NOW)
    assert (asked.side, asked.asks_when, asked.past) == ("user", True, False)
    assert read_question("Wie viele Katzen hast du erwähnt?").asks_how_many
    assert read_question("Kannst du mir sagen, wo mein Pass liegt?").side == "user"
    assert read_question("Was hast du mir empfohlen?").side == "assistant"
    assert read_question("Was geschah vor dem Umzug?").past


def test_the_language_and_the_numbers_of_a_text() -> None:
    text = "Der Hund ist nicht mit der Katze in den Garten gegangen, und das war auch gut so."
    assert language_of(text) == "de"
    assert numbers_in_words("Es waren dreihundert Leute, und einundzwanzig blieben.") == [
        ("dreihundert", 300),
        ("einundzwanzig", 21),
    ]


async def test_the_pins_of_a_german_session_are_carried(tmp_path: Path) -> None:
    rule = "Bitte ändere die Tests nicht."
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        session = await memory.session("arbeit")
        told: list[dict[str, object]] = [{"role": "user", "content": f"Räume das Modul auf. {rule}"}]
        for number in range(60):
            told.append({"role": "assistant", "content": f"Schritt {number} ist getan. " + "Es gab viel zu tun. " * 20})
            told.append({"role": "user", "content": f"Mach mit Teil {number} weiter. " + "Das sieht gut aus. " * 20})
        await session.append(told)
        assert rule in [pin.text for pin in await session.pins()]
        context = await session.context(3_000)
    assert rule in str(context.messages)


async def test_a_german_statement_is_a_fact_that_a_new_one_takes_the_place_of(tmp_path: Path) -> None:
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        first = (await memory.remember("Ich wohne in Köln.", origin="user")).record
        assert (first.kind, first.attribute, first.value) == ("semantic", "home", "Köln")
        moved = await memory.remember("Ich wohne jetzt in Hamburg.", origin="user")
        assert moved.did == "superseded"


async def test_a_german_question_is_narrowed_to_its_time(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        session = await memory.session("tagebuch")
        await session.append(
            [
                {"role": "user", "content": "Ich habe im Garten Tomaten gepflanzt.", "timestamp": then.isoformat()}
                for then in (now - timedelta(days=40), now - timedelta(days=1), now - timedelta(days=90))
            ]
        )
        found = await memory.recall("Wo habe ich gestern Tomaten gepflanzt?", explain=True)
    (dated,) = [each for each in found if "time" in dict(each.parts)]
    assert found[0] == dated


async def test_a_german_question_finds_what_tells_what_it_asks_for_in_other_words(tmp_path: Path) -> None:
    trip = "Im August will ich mit Jana zwei Wochen nach Südtirol wandern gehen."
    async with ireneo.open(tmp_path / "memory.db", durability="normal") as memory:
        session = await memory.session("chat")
        await session.append([{"role": "user", "content": each} for each in ("Die Waschmaschine ist kaputt.", trip)])
        found = await memory.recall("Urlaub planen")
    assert found[0].text == trip
