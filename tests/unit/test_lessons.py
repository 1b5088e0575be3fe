"""Which claims become lessons, in which words, and with what evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace
from tests.unit.lesson_runs import NOW, observed

from ireneo.lessons.lessons import (
    applies,
    best_worded,
    cost_of,
    expected_cost,
    is_generic,
    lesson_drafts,
    projects_of,
    worth_telling,
)
from ireneo.lessons.run import Observation
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
    assert (record.kind, record.cue, record.origin, record.seen) == ("failure", "bin/test ⇒ no such table", "run", 2)
    assert record.sessions == ("one", "two")
    assert record.at == NOW - timedelta(days=2)
    assert projects_of(record) == {"ledger"}
    assert record.signature == record.cue


def test_once_in_one_run_is_no_lesson_unless_it_cost_a_lot() -> None:
    assert not worth_telling([observed()])
    assert worth_telling([observed(tokens=9_000)])
    assert worth_telling([observed(2)])
    assert not worth_telling([observed(text=""), observed(session="two", text="")])


def test_cheap_ways_that_mostly_fail_are_not_told() -> None:
    way = "When `bin/test` fails with “no such table”, run `bin/migrate` first; then it passed."
    cue = "bin/test ⇒ no such table → first:bin/migrate"
    tried = [observed(1, 2, session=name, cue=cue, category="procedural", text=way) for name in ("one", "two", "three")]
    assert not worth_telling(tried)
    assert worth_telling([replace(each, broke=0) for each in tried])


def test_what_any_model_knows_is_refused() -> None:
    plain = "`python` fails with “SyntaxError: invalid syntax”."
    generic = observed(2, cue="python ⇒ SyntaxError: invalid syntax", text=plain)
    assert is_generic(generic)
    assert not worth_telling([generic, replace(generic, session="two")])
    assert is_generic(observed(2, cue="go test ⇒ <tests>", text="`go test` fails in its tests."))
    assert is_generic(observed(2, cue="ls ⇒ no such file", text="`ls` fails with “no such file”."))
    helped = "`python` fails with “SyntaxError: invalid syntax”: use `python3`; then it passed."
    assert not is_generic(replace(generic, text=helped))


def test_what_is_of_one_run_only_is_refused() -> None:
    assert not worth_telling([observed(3, text="`bin/test` fails with “no such table”: use `/tmp/x/rows.db`.")])


def test_tests_that_break_are_told_only_where_they_broke_in_two_runs() -> None:
    said = "`make test` fails in its tests, such as `TestKeepsRows`."
    broken = observed(3, cue="make test ⇒ <tests>", text=said)
    assert not worth_telling([broken])
    assert worth_telling([broken, replace(broken, session="two")])


def test_the_words_that_say_what_to_do_are_taken() -> None:
    bare = observed(session="one", text="`bin/test` fails with “no such table”.")
    full = observed(session="two")
    assert best_worded([bare, full]) == full
    assert best_worded([full, bare]) == full


def test_limits_stand_behind_the_lesson() -> None:
    limit = "Not where `bin/migrate` ran."
    record = learned([replace(observed(2), limits=limit)])
    assert record is not None
    assert record.text.endswith(f"then it passed. {limit}")


def test_learned_again_or_in_another_order_it_is_the_same() -> None:
    seen = [observed(session=name, days=age) for name, age in (("one", 9), ("two", 5), ("three", 1))]
    record = learned(seen)
    assert learned(seen[::-1]) == record
    assert learned(seen, record) == record
    assert not lesson_drafts(seen, record, NOW + timedelta(days=1)).drafts


def test_a_lesson_keeps_its_words_when_more_is_seen() -> None:
    record = learned([observed(2, session="one", days=3, text="`bin/test` fails with “no such table”.")])
    assert record is not None
    more = learned([observed(2, session="one", days=3, text=record.text), observed(session="two")], record)
    assert more is not None
    assert (more.text, more.seen, more.id) == (record.text, 2, record.id)


def test_better_words_are_offered_where_a_later_run_shows_what_to_do() -> None:
    first = observed(2, session="one", days=3, text="`bin/test` fails with “no such table”.")
    record = learned([first])
    assert record is not None
    drawn = lesson_drafts([first, observed(session="two")], record, NOW)
    assert drawn.words == observed().text
    better = replace(record, text=drawn.words)
    assert not lesson_drafts([first, observed(session="two")], better, NOW).words


def test_what_was_sure_is_overturned_by_a_run_that_shows_the_contrary() -> None:
    sure = [observed(6, session=f"run {number}", days=9 - number) for number in range(6)]
    record = learned([*sure, observed(0, 3, session="last", days=0, text="")], learned(sure))
    assert record is not None
    assert record.state == "retired"
    unsure = [replace(each, broke=9) for each in sure]
    kept = learned([*unsure, observed(0, 3, session="last", days=0, text="")], learned(unsure))
    assert kept is not None
    assert kept.state == "active"


def test_a_fact_and_a_way_have_the_fields_of_their_kinds() -> None:
    fact = observed(2, cue="ledger <command:tests> bin/test", category="factual", text="`bin/test` runs the tests.")
    fact = replace(fact, conditions={"subject": "ledger", "attribute": "the tests: bin/test", "value": "bin/test"})
    record = learned([fact])
    assert record is not None
    assert (record.kind, record.subject, record.attribute) == ("semantic", "ledger", "the tests: bin/test")
    assert record.evidence[0].conditions == {"project": "ledger"}
    way = observed(3, cue="a ⇒ b → first:c", category="procedural", text="When `a` fails with “b”, run `c` first.")
    kept = learned([replace(way, task_type="check")])
    assert kept is not None
    assert (kept.kind, kept.task_type, kept.name) == ("procedural", "check", "a ⇒ b: c first")
    assert KINDS["procedural"].holds(kept, NOW)


def test_lessons_of_one_project_stay_with_it() -> None:
    assert applies(["ledger"], "ledger")
    assert not applies(["ledger"], "atlas")
    assert applies(["ledger", "marks"], "atlas")
    assert applies([], "atlas")
    assert applies(["ledger"], "")


def test_what_is_past_and_what_is_elsewhere_costs_less() -> None:
    new, old, other = observed(days=1), observed(days=300), observed(days=1, project="atlas")
    assert cost_of([new]) == cost_of([old])
    assert expected_cost([new], NOW, "ledger") > 4 * expected_cost([old], NOW, "ledger")
    assert expected_cost([other], NOW, "ledger") * 4 == expected_cost([new], NOW, "ledger")


def test_words_of_one_project_are_not_told_to_others() -> None:
    cue = "pytest ⇒ No module named pytest"
    own = "`pytest` fails with “No module named pytest”: use `bin/test`; then it passed."
    bare = "`pytest` fails with “No module named pytest”."
    here = [observed(cue=cue, text=own, session=name) for name in ("a", "b")]
    there = observed(cue=cue, text=bare, session="c", project="till")
    assert lesson_drafts(here, None, NOW).drafts[0].text == own
    assert lesson_drafts([*here, there], None, NOW).drafts[0].text == bare
    known = learned(here)
    assert lesson_drafts([*here, there], known, NOW).words == bare
    too = replace(there, text=own)
    assert lesson_drafts([*here, too], known, NOW).words == ""


def test_tests_of_one_project_are_not_named_to_others() -> None:
    cue = "go test ⇒ <tests>"
    way = "run one test alone by `go test` with `-run`."
    named = f"`go test` fails in its tests, such as `TestRows` and `TestSum`: {way}"
    here = [observed(cue=cue, text=named, session=name) for name in ("a", "b")]
    there = observed(cue=cue, text=named.replace("TestRows", "TestTill"), session="c", project="till")
    known = learned(here)
    assert known is not None
    assert known.text == named
    bare = "`go test` fails in its tests: run one test alone by `go test` with `-run`."
    assert lesson_drafts([*here, there], known, NOW).words == bare
    assert lesson_drafts([*here, there], None, NOW).drafts[0].text == bare
