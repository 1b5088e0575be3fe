"""Which claims become lessons, in which words, and with what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace
from tests.unit.lesson_runs import NOW, TRAP, observed

from ireneo.lessons.lessons import (
    applies,
    best_worded,
    cost_per_run,
    expected_cost,
    is_worth_a_lesson,
    lesson_drafts,
    projects_of,
)
from ireneo.lessons.run import Observation
from ireneo.log.message import MessageId
from ireneo.memories.kinds import KINDS
from ireneo.memories.reconcile import reconcile
from ireneo.memories.record import MemoryId, Record


def learned(observations: Sequence[Observation], known: Record | None = None) -> Record | None:
    """The lesson that these make, beside what is known."""
    there: dict[MemoryId, Record] = {known.id: known} if known else {}
    for offer in lesson_drafts(observations, known, NOW).drafts:
        done = reconcile(offer, list(there.values()))
        there.update({each.id: each for each in (done.record, *done.changed)})
        known = done.record
    return known


def test_a_claim_seen_in_two_runs_is_a_lesson_with_a_piece_of_evidence_for_each() -> None:
    record = learned([observed(session="one", days=9), observed(session="two", days=2)])
    assert record is not None
    assert (record.kind, record.cue, record.origin, record.seen) == ("failure", TRAP, "run", 2)
    assert record.sessions == ("one", "two")
    assert record.at == NOW - timedelta(days=2)
    assert projects_of(record) == {"ledger"}
    assert record.signature == "bin/test ⇒ any error → bin/migrate first"


def test_a_way_out_is_told_that_helped_twice_or_that_somebody_explained() -> None:
    assert not is_worth_a_lesson([observed()])
    assert not is_worth_a_lesson([observed(tokens=9_000)])
    assert is_worth_a_lesson([observed(2)])
    assert is_worth_a_lesson([observed(), observed(session="two")])
    assert is_worth_a_lesson([replace(observed(), why="The tests need the tables.")])
    assert not is_worth_a_lesson([observed(text=""), observed(session="two", text="")])


def test_ways_that_as_often_do_not_help_are_not_told() -> None:
    tried = [replace(observed(session=name), vain=2) for name in ("one", "two", "three")]
    assert not is_worth_a_lesson(tried)
    assert is_worth_a_lesson([replace(each, vain=0) for each in tried])


def test_a_failure_without_a_way_out_is_a_statistic() -> None:
    bare = "`bin/test` fails with “no such table”."
    seen = [observed(9, cue="bin/test ⇒ no such table", text=bare, session=name) for name in ("one", "two", "three")]
    assert not is_worth_a_lesson(seen)


def test_what_is_of_one_run_only_is_refused() -> None:
    assert not is_worth_a_lesson([observed(3, text="`bin/test` fails with “no such table”: use `/tmp/x/rows.db`.")])


def test_the_words_that_say_why_are_taken() -> None:
    bare = observed(session="one")
    full = replace(observed(session="two"), text=f"{bare.text} “It needs tables.” (the agent)", why="It needs tables.")
    assert best_worded([bare, full]) == full
    assert best_worded([full, bare]) == full


def test_limits_stand_behind_the_lesson() -> None:
    limit = "Not where `bin/migrate` ran."
    record = learned([replace(observed(2), limits=limit)])
    assert record is not None
    assert record.text.endswith(f"first. {limit}")


def test_learned_again_or_in_another_order_it_is_the_same() -> None:
    seen = [observed(session=name, days=age) for name, age in (("one", 9), ("two", 5), ("three", 1))]
    record = learned(seen)
    assert learned(seen[::-1]) == record
    assert learned(seen, record) == record
    assert not lesson_drafts(seen, record, NOW + timedelta(days=1)).drafts


def test_a_lesson_keeps_the_words_that_somebody_gave_it() -> None:
    record = learned([observed(2, session="one", days=3)])
    assert record is not None
    own = replace(record, text="Run `bin/migrate` before the tests.")
    drawn = lesson_drafts([observed(2, session="one", days=3), observed(session="two")], own, NOW)
    assert drawn.words == ""
    assert [each.text for each in drawn.drafts] == [own.text]


def test_better_words_are_offered_where_a_later_run_says_why() -> None:
    first = observed(2, session="one", days=3)
    record = learned([first])
    assert record is not None
    later = replace(
        observed(session="two"), text=f"{first.text} “It needs tables.” (the agent)", why="It needs tables."
    )
    drawn = lesson_drafts([first, later], record, NOW)
    assert drawn.words == later.text
    assert not lesson_drafts([first, later], replace(record, text=drawn.words), NOW).words


def test_what_was_sure_is_overturned_by_a_run_that_shows_the_contrary() -> None:
    sure = [observed(6, session=f"run {number}", days=9 - number) for number in range(6)]
    record = learned([*sure, observed(0, 3, session="last", days=0, text="")], learned(sure))
    assert record is not None
    assert record.state == "retired"
    unsure = [replace(each, broke=5) for each in sure]
    kept = learned([*unsure, observed(0, 3, session="last", days=0, text="")], learned(unsure))
    assert kept is not None
    assert kept.state == "active"


def test_a_fact_and_a_way_have_the_fields_of_their_kinds() -> None:
    fact = observed(2, cue="ledger <command:tests> bin/test", category="factual", text="`bin/test` runs the tests.")
    fact = replace(fact, conditions={"subject": "ledger", "attribute": "the tests: bin/test", "value": "bin/test"})
    record = learned([fact, replace(fact, session="two", sources=(MessageId("m_two"),))])
    assert record is not None
    assert (record.kind, record.subject, record.attribute) == ("semantic", "ledger", "the tests: bin/test")
    assert record.evidence[0].conditions == {"project": "ledger"}
    way = observed(3, cue="a ⇒ b → first:c", category="procedural", text="When `a` fails with “b”, run `c` first.")
    kept = learned([replace(way, task_type="check")])
    assert kept is not None
    assert (kept.kind, kept.task_type, kept.name) == ("procedural", "check", "a ⇒ b → c first")
    assert KINDS["procedural"].holds(kept, NOW)


def test_lessons_of_one_project_stay_with_it() -> None:
    assert applies(["ledger"], ["ledger"])
    assert not applies(["ledger"], ["atlas"])
    assert not applies(["ledger", "marks"], ["atlas"])
    assert applies(["ledger", "*"], ["atlas"])
    assert applies([], ["atlas"])
    assert applies(["ledger"], [""])


def test_what_is_past_and_what_is_elsewhere_costs_less() -> None:
    new, old, other = observed(days=1), observed(days=300), observed(days=1, project="atlas")
    assert cost_per_run(new) == cost_per_run(old)
    assert expected_cost([new], NOW, ["ledger"]) > 4 * expected_cost([old], NOW, ["ledger"])
    assert expected_cost([other], NOW, ["ledger"]) * 4 == expected_cost([new], NOW, ["ledger"])
