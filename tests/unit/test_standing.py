"""How much speaks for a sentence of a user's: rules are told apart from steps by their build, and not by phrases."""

from __future__ import annotations

import pytest

from ireneo.lessons.rulings import RULES, stands_alone, weight

RULED = """\
Dates in the ledger are always ISO 8601, with a zone.
hmm, that's a concern of the store, models don't know about files
Comments are for why, the code already says what.
one migration per branch please
I run the deploys, you prepare them
isn't there a helper for that in the clock module already?
tests that need the network are not acceptable
Before touching the schema, talk to me.
Logging goes through our logger, not print
Generated clients are not checked in
we name tests after what happens, not after methods
You can't catch Exception here, catch what you expect
Nein, das gehört in die Konfiguration, nicht in den Code.
Frag mich, bevor du etwas löschst.""".splitlines()
STEPS = """\
can you add a test for the empty case?
ok, let's do option 2
the button is still blue
I get a 500 when I open the page
rename it to load_rows
please show me the diff
Let's start with the parser and then do the writer
how would that look with two sessions?
remove the print in line 40
I think the fault is in the cache
it prints the header twice, once a file
this one is done, next please
make the title bold
Zeig mir bitte jetzt den Unterschied.
das sieht gut aus""".splitlines()


@pytest.mark.parametrize("said", RULED)
def test_what_holds_beyond_this_case_is_a_rule(said: str) -> None:
    assert weight(said) >= RULES


@pytest.mark.parametrize("said", STEPS)
def test_a_step_a_question_and_a_report_are_none(said: str) -> None:
    assert weight(said) < RULES


def test_what_was_said_once_is_told_where_it_says_what_it_is_about() -> None:
    assert stands_alone("Logging goes through our logger, not print")
    assert stands_alone("On `git commit -m 'Mend it'`: “no, I did not ask for any commit”")
    assert not stands_alone("On changing `rows.py`: “No, I don't like that at all.”")
    assert not stands_alone("We want to keep that variable since it is our standard")
    assert not stands_alone("On “The reader takes both.”: “No man, that's simply not true, we already read every row”")
    assert not stands_alone("everything works, you are a wonder, never seen any better")
    assert not stands_alone("Maybe we could use our logger and not print?")
    assert not stands_alone("We don't want this: 5. The change of [2/3] may be too broad")
