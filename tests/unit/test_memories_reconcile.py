"""What becomes of offers, kind by kind."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations
from typing import Unpack

import pytest
from msgspec.structs import replace

from ireneo.errors import BadInput
from ireneo.memories.facts import facts
from ireneo.memories.intake import MemoryDetails, memory_draft
from ireneo.memories.kinds import KINDS, success
from ireneo.memories.reconcile import Reconciled, reconcile
from ireneo.memories.record import MOST_EVIDENCE, Period, Record, normalised_words

START = datetime(2031, 5, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Book:
    """The memories under whatever key, as a store would keep them."""

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}
        self.now = START

    def tell(self, text: str, **told: Unpack[MemoryDetails]) -> Reconciled:
        """Tell something a day after what was told before."""
        self.now += DAY
        offer = memory_draft(text, told, self.now)
        key = KINDS[offer.kind].key(offer)
        done = reconcile(offer, [each for each in self.kept.values() if (each.kind, each.key) == (offer.kind, key)])
        self.kept.update({each.id: each for each in (done.record, *done.changed)})
        return done

    def state(self, value: str) -> str:
        return next(each.state for each in self.kept.values() if value in (each.value, each.text))


def colour(book: Book, value: str, **told: Unpack[MemoryDetails]) -> Reconciled:
    return book.tell(f"It is {value}.", **{"subject": "Vera", "attribute": "colour", "value": value, **told})


def test_a_new_value_takes_the_place_of_the_old_one_which_stays() -> None:
    book = Book()
    assert colour(book, "green").did == "added"
    done = colour(book, "blue")
    assert (done.did, done.record.state, [each.state for each in done.changed]) == (
        "superseded",
        "active",
        ["superseded"],
    )
    (green,) = done.changed
    assert green.superseded_by == done.record.id
    assert green.periods == (Period(start=START + DAY, end=START + 2 * DAY),)
    assert green.retired == START + 2 * DAY
    assert "“green”" in done.reason


def test_a_value_that_comes_back_has_two_periods() -> None:
    book = Book()
    for value in ("green", "blue", "green"):
        done = colour(book, value)
    assert done.did == "superseded"
    assert [each.end for each in done.record.periods] == [START + 2 * DAY, None]
    assert book.state("blue") == "superseded"


def test_a_late_word_about_the_past_goes_where_it_belongs() -> None:
    book = Book()
    colour(book, "green", at=START - 10 * DAY)
    colour(book, "blue", at=START)
    done = colour(book, "red", at=START - 5 * DAY)
    assert (done.did, done.record.state) == ("added", "superseded")
    assert done.record.periods == (Period(start=START - 5 * DAY, end=START),)
    assert book.state("blue") == "active"


def test_a_correction_of_the_same_date_takes_the_whole_place() -> None:
    book = Book()
    colour(book, "green", at=START)
    colour(book, "green")
    colour(book, "blue", at=START)
    assert book.state("green") == "retired"
    assert book.state("blue") == "active"


def test_a_less_trusted_word_is_disputed_and_a_more_trusted_one_supersedes() -> None:
    book = Book()
    colour(book, "green")
    done = colour(book, "blue", origin="tool")
    assert (done.did, done.record.state, done.changed) == ("disputed", "disputed", ())
    assert book.state("green") == "active"
    assert colour(book, "blue").did == "superseded"
    assert colour(book, "green", origin="agent").did == "disputed"
    assert book.state("blue") == "active"


def test_what_is_said_to_have_ended_ends() -> None:
    book = Book()
    colour(book, "green")
    done = colour(book, "green", until=START + 1.5 * DAY)
    assert done.record.state == "retired"
    assert done.record.valid_to == START + 1.5 * DAY
    row = KINDS["semantic"]
    assert row.holds(done.record, START + 1.2 * DAY)
    assert not row.holds(done.record, START + 2 * DAY)


def test_what_is_denied_holds_no_more() -> None:
    book = Book()
    colour(book, "green")
    assert colour(book, "green", against=True, origin="tool").record.state == "active"
    done = colour(book, "green", against=True)
    assert (done.did, done.record.state) == ("overturned", "retired")


def test_what_speaks_against_nothing_that_is_known_overturns_nothing() -> None:
    book = Book()
    book.tell("The proxy drops uploads.", signature="upload ⇒ dropped")
    done = book.tell("Uploads work", kind="failure", signature="uploads", against=True)
    assert (done.did, done.changed) == ("added", ())
    assert "Nothing that it speaks against was known" in done.reason


def test_the_same_words_reinforce_and_the_same_evidence_is_ignored() -> None:
    book = Book()
    first = book.tell("The kettle leaks.")
    again = book.tell("the kettle leaks", messages=["m_1"])
    same = book.tell("The kettle leaks!", messages=["m_1"])
    assert [first.did, again.did, same.did] == ["added", "reinforced", "ignored"]
    assert same.record.id == first.record.id
    assert (same.record.seen, same.record.text) == (2, "The kettle leaks.")
    assert same.record.confidence > first.record.confidence


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The kettle leaks.", "The kettle does not leak."),
        ("Anna is here.", "Anna isn't here."),
        ("It takes 4 minutes.", "It takes 5 minutes."),
        ("It costs 1.5 euros", "It costs 15 euros"),
        ("Anna beat Karl.", "Karl beat Anna."),
        ("Anna lives in Porto.", "Anna lived in Porto."),
        ("Fly to Rome.", "Fly from Rome."),
        ("It was -5 outside", "It was 5 outside"),
    ],
)
def test_what_differs_in_a_name_a_number_a_tense_or_a_negation_is_not_alike(one: str, other: str) -> None:
    assert normalised_words(one) != normalised_words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna isn't here.", "- anna is not here"),
        ("The kettle is on a shelf", "kettle is on shelf!"),
        ("It’s “late”", "it is late"),
        ("Anna is here [m_abcdefg]", "Anna is  here."),
    ],
)
def test_what_differs_in_form_only_is_alike(one: str, other: str) -> None:
    assert normalised_words(one) == normalised_words(other)


def test_events_are_told_apart_by_day_and_session() -> None:
    book = Book()
    day = START - 40 * DAY
    first = book.tell("We had pancakes.", kind="episodic", at=day, session="a")
    assert book.tell("We had pancakes.", kind="episodic", at=day + DAY / 2).record.id == first.record.id
    assert book.tell("We had pancakes.", kind="episodic", session="a").record.id == first.record.id
    assert book.tell("We had pancakes.", kind="episodic", at=day + 3 * DAY, session="a").did == "added"
    assert book.tell("We had pancakes.", kind="episodic", at=day, session="b").did == "added"
    assert len(book.kept) == 3


def test_an_episode_fades_and_faster_once_reflected_on() -> None:
    from msgspec.structs import replace

    record = Book().tell("We went to Oslo.", kind="episodic").record
    row = KINDS["episodic"]
    worth = [row.retention(record, START + days * DAY) for days in (1, 10, 100, 1000)]
    assert worth == sorted(worth, reverse=True)
    reflected = replace(record, reflected=START + 10 * DAY)
    assert row.retention(reflected, START + 10 * DAY) == worth[1]
    assert row.retention(reflected, START + 100 * DAY) < worth[2]


def test_a_fact_never_fades_and_a_failure_does_slowly() -> None:
    book = Book()
    fact, failure, episode = (
        book.tell("The kettle leaks.").record,
        book.tell("I tried glue; it failed.", kind="failure").record,
        book.tell("We went to Oslo.", kind="episodic").record,
    )
    old = START + 3000 * DAY
    assert KINDS["semantic"].retention(fact, old) == KINDS["semantic"].retention(fact, START + 9 * DAY)
    kept = {
        each.kind: KINDS[each.kind].retention(each, old) / KINDS[each.kind].retention(each, START + 9 * DAY)
        for each in (failure, episode)
    }
    assert kept["episodic"] < kept["failure"] < 1


def test_other_steps_are_another_version() -> None:
    book = Book()
    first = book.tell("Run a.", task_type="release", name="tag").record
    done = book.tell("Run b.", task_type="Release", name="tag ")
    assert (first.version, done.record.version, done.did) == (1, 2, "superseded")
    assert book.state("Run a.") == "superseded"


def test_what_helped_ranks_before_what_harmed() -> None:
    from msgspec.structs import replace

    record = Book().tell("Run a.", task_type="release").record
    tried = [(9, 0), (1, 0), (0, 0), (5, 5), (1, 3), (0, 3)]
    ranks = [success(replace(record, helped=helped, harmed=harmed)) for helped, harmed in tried]
    assert ranks == sorted(ranks, reverse=True)
    assert all(0 <= each <= 1 for each in ranks)
    assert ranks[2] == 0.5


def test_a_failure_is_overturned_when_it_works_later_and_stands_when_it_fails_again() -> None:
    book = Book()
    told: MemoryDetails = {"signature": "make ⇒ missing", "conditions": {"make": "4.3"}}
    assert book.tell("I tried make; it failed.", **told).did == "added"
    assert book.tell("make failed again", **told).did == "reinforced"
    done = book.tell("make works", signature="make ⇒ missing", against=True)
    assert (done.did, done.record.state, len(done.record.evidence)) == ("overturned", "retired", 3)
    assert done.record.reason == "overturned: the user said on 4 May 2031: “make works”."
    assert done.record.text == "I tried make; it failed."
    early = book.tell("make worked", signature="make ⇒ missing", against=True, at=START)
    assert early.record.state == "retired"
    again = book.tell("make failed", **told)
    assert (again.did, again.record.state, again.record.id) == ("reinforced", "active", done.record.id)


def test_a_failure_does_not_fit_other_conditions() -> None:
    record = Book().tell("It failed.", kind="failure", conditions={"make": "4.3", "os": "linux"}).record
    fits = KINDS["failure"].fits
    assert fits(record, {})
    assert fits(record, {"make": "4.3", "python": "3.12"})
    assert not fits(record, {"make": "4.4"})


def test_evidence_is_kept_from_both_ends_and_counted_on() -> None:
    book, times = Book(), MOST_EVIDENCE + 36
    for _ in range(times):
        done = book.tell("The kettle leaks.")
    assert (done.record.seen, len(done.record.evidence)) == (times, MOST_EVIDENCE)
    assert done.record.evidence[0].recorded == START + DAY
    assert done.record.evidence[-1].recorded == START + times * DAY


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_kind_words_its_memories_in_one_line(kind: str) -> None:
    record = Book().tell("First this.\n  Then that.", kind=kind, task_type="tidy").record  # type: ignore[typeddict-item]
    line = KINDS[record.kind].line(record, START)
    assert "\n" not in line
    assert "First this." in line
    assert "Then that." in line


@pytest.mark.parametrize(
    ("text", "told", "says"),
    [
        ("", {}, "empty"),
        (" \n", {}, "empty"),
        ("x" * 65_537, {}, "65,537 bytes"),
        ("é" * 40_000, {}, "80,000 bytes"),
        ("half \ud800", {}, "surrogate"),
        ("x", {"kind": "mood"}, "'mood'"),
        ("x", {"origin": "god"}, "'god'"),
        ("x", {"at": datetime(2031, 5, 1)}, "no zone"),
        ("x", {"until": datetime(2031, 5, 1)}, "no zone"),
        ("x", {"at": "yesterday"}, "datetime"),
        ("x", {"at": START, "until": START - DAY}, "before"),
        ("x", {"confidence": 3}, "from 0 to 1"),
        ("x", {"trust": -0.1}, "from 0 to 1"),
        ("x", {"salience": float("nan")}, "from 0 to 1"),
        ("x", {"messages": "m_1"}, "list of ids"),
        ("x", {"subject": 3}, "give a string"),
        ("x", {"subject": "a\x1fb"}, "can't be stored"),
        ("x", {"name": "n" * 1001}, "1,001 characters"),
        ("x", {"conditions": {"a": 1}}, "names with texts"),
        (b"x", {}, "give a string"),
        ("\x00\u200b", {}, "is empty"),
        ("x", {"subjct": "Vera"}, "called 'subjct'"),
        ("x", {"messages": ["\ud800"]}, "surrogate"),
        ("x", {"conditions": {"a": "\ud800"}}, "surrogate"),
        ("x", {"conditions": {"log": "n" * 1_000_000}}, "1,000,003 bytes"),
    ],
)
def test_bad_input_is_told_in_one_sentence(text: str, told: MemoryDetails, says: str) -> None:
    with pytest.raises(BadInput, match=says) as raised:
        memory_draft(text, told, START)
    assert str(raised.value).count("\n") == 0
    assert str(raised.value).endswith(".")


def test_what_is_told_goes_before_what_the_words_say() -> None:
    assert memory_draft("My favourite colour is green.", {}, START).attribute == "favourite colour"
    assert memory_draft("My favourite colour is green.", {"origin": "agent"}, START).attribute == ""
    assert memory_draft("My favourite colour is green.", {"kind": "episodic"}, START).attribute == ""
    told = memory_draft("My favourite colour is green.", {"subject": "Vera", "attribute": "taste"}, START)
    assert (told.kind, told.subject, told.attribute, told.value) == ("semantic", "Vera", "taste", "")
    assert memory_draft("make broke", {"signature": "make ⇒ 2"}, START).kind == "failure"
    assert memory_draft("x", {"origin": "tool"}, START).trust == 0.5
    zone = timezone(timedelta(hours=2))
    assert memory_draft("x", {"at": START.astimezone(zone)}, START).at == START


def chosen(records: Sequence[Record]) -> list[str]:
    return [each.id for each in records]


@pytest.mark.parametrize("kind", list(KINDS))
def test_settling_twice_is_settling_once(kind: str) -> None:
    book = Book()
    for text in ("one thing", "another", "one thing"):
        told: MemoryDetails = {"kind": kind, "task_type": "t", "subject": "a", "attribute": "b"}  # type: ignore[typeddict-item]
        book.tell(text, **(told | MemoryDetails(signature="s") if kind == "failure" else told))
    records = list(book.kept.values())
    settle = KINDS[records[0].kind].settle
    once = settle(records)
    assert settle(once) == once == settle(records[::-1])
    assert chosen(once) == sorted(chosen(once))


def told_of_vera(book: Book, attribute: str, value: str, **told: Unpack[MemoryDetails]) -> Reconciled:
    return book.tell(f"Vera: {value}.", **{"subject": "Vera", "attribute": attribute, "value": value, **told})


@pytest.mark.parametrize("attribute", ["allergy", "Food allergies", "hobby", "children", "pets", "spoken languages"])
def test_an_attribute_that_holds_several_values_is_added_to(attribute: str) -> None:
    book = Book()
    told_of_vera(book, attribute, "cashews")
    done = told_of_vera(book, attribute, "penicillin")
    assert (done.did, done.changed) == ("added", ())
    assert [book.state(value) for value in ("cashews", "penicillin")] == ["active", "active"]
    ended = told_of_vera(book, attribute, "cashews", against=True)
    assert ended.did == "overturned"
    assert [book.state(value) for value in ("cashews", "penicillin")] == ["retired", "active"]


@pytest.mark.parametrize(
    "attribute", ["home", "status", "address", "email address", "pronouns", "opening hours", "DNS"]
)
def test_an_attribute_that_holds_one_value_is_replaced(attribute: str) -> None:
    book = Book()
    told_of_vera(book, attribute, "the first")
    assert told_of_vera(book, attribute, "the second").did == "superseded"
    assert [book.state(value) for value in ("the first", "the second")] == ["superseded", "active"]


def test_a_value_that_is_told_to_add_takes_the_place_of_none() -> None:
    book = Book()
    told_of_vera(book, "instrument", "cello")
    assert told_of_vera(book, "instrument", "oboe", adds=True).did == "added"
    told_of_vera(book, "instrument", "drums")
    assert [book.state(value) for value in ("cello", "oboe", "drums")] == ["active"] * 3
    listed = facts(list(book.kept.values()))
    assert [(each.record.value, each.period.end, each.believed_to) for each in listed] == [
        (value, None, None) for value in ("cello", "oboe", "drums")
    ]


def test_values_that_were_superseded_where_several_hold_come_back() -> None:
    """As a database holds them that was written when every slot held one value."""
    book = Book()
    told_of_vera(book, "allergy", "cashews")
    (old,) = book.kept.values()
    book.kept[old.id] = replace(old, state="superseded", periods=(Period(start=old.at, end=old.at + DAY),))
    done = told_of_vera(book, "allergy", "penicillin")
    assert [each.state for each in done.changed] == ["active"]
    assert book.state("cashews") == "active"


def test_what_adds_needs_an_attribute() -> None:
    with pytest.raises(BadInput, match="`subject` and `attribute`"):
        memory_draft("It rained.", {"kind": "episodic", "adds": True}, START)


def test_in_which_order_the_values_of_a_slot_are_told_makes_no_difference() -> None:
    words: list[tuple[str, MemoryDetails]] = [
        ("cello", {"at": START}),
        ("oboe", {"at": START + DAY, "adds": True}),
        ("cello", {"at": START + 2 * DAY, "against": True}),
    ]
    ends = set()
    for order in permutations(words):
        book = Book()
        for value, told in order:
            told_of_vera(book, "instrument", value, recorded=START + 9 * DAY, **told)
        ends.add(tuple(sorted((each.value, each.state, each.periods) for each in book.kept.values())))
    assert len(ends) == 1
