"""How much speaks for a sentence of a user's: rules are told apart from steps by their build, and not by phrases."""

from __future__ import annotations

import pytest

from ireneo.lessons.binding import generality, is_general_ruling
from ireneo.lessons.rule_weights import RULES, weight

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

BINDING = """\
please don't squash merges, we lose the points to bisect
never edit the generated clients by hand
prefer small modules over long ones
we should be passing ids instead of names wherever we can
migrations should not live in core, that's what the db folder is for
no, we dropped the retry on purpose
Every handler must return a typed result
Ask me before you delete any branch
We use tabs here, not spaces
use the shared clock like we do everywhere else
let's not write all the docs at the very end
ledger settings are supposed to be in `etc/ledger.toml`, not `ledger.toml`
Bitte nie direkt auf main committen.
Frag mich, bevor du einen Branch löschst.
Rechnungen gehören in den Ordner ledger, nicht nach etc.""".splitlines()
OF_A_TASK = """\
don't check this in
let's not do the clever thing
we need a --quiet flag on `sync` and `run`
include the path as a property of the JSON, unless the flag is set
No man... the fix is to use a set in the reader, not change the comment
no... rows.py should be ledger.py in core
Rows should have the ID, not the name
We just enable if there is an endpoint, and not otherwise
As for `-q` it's also OK that it does not write any stats
Keep in mind that for drafts we have no rows
uhh no, our test isn't valid, even when I remove the flag there is no row shown
yes please, update the documentation
We don't need any mapping to types
if the flag is present, we always use the local zone
should we never use the cache here?
then nothing else), and add a map of all modules to the readme
Seems if the reader handled every row, we wouldn't have any problem
different than the user's one, which can happen at any time
you can always look at the log for that, let's get on with what we print
only 1 is a "row" in English, every other number has rows
no settings we don't expect or know of
there is no need to update anything if we never wrote it
we have a section of settings and a command for each reader
Das hier bitte nicht einchecken.""".splitlines()


OUTRIGHT = """\
can we not put generated charts under version control?
could you please stop renaming my columns
Why do I have to keep telling you not to touch the seed data?
I don't want customers' addresses in our log files
we only want snapshots of the public screens, the others change daily
the house rule is to never log a customer's name
it doesn't make sense to open pull requests with failing tests
there's no point in mocking the clock in unit tests
not as an attachment, but as a link in the ticket
the importer must NEVER write outside of its own schema
I'll start the workers myself
i'll run the migrations myself. what should I see?
there's no need to keep old clients working. we're still prototyping
remember this is only a prototype, so keep plans short and simple
we shouldn't hard-code tenant names
I don't want every service to have its own pipeline
we must never swallow exceptions
from now on, never ask me whether to go on if it seems plain
you should not be editing files of the release branch
we want integration tests, not mocks
that is wrong, just use the ledger tool for exports as per @rules/exports.md
Wir wollen keine Adressen von Kunden in unseren Protokollen
Muss ich dir immer wieder sagen, dass du die Testdaten nicht anfassen sollst?""".splitlines()
ALIKE = """\
you're wrong about the cache, it is shared, because both workers mount the same volume
why didnt you switch into the checkout of the ledger?
you did not write the note in the right format, see @notes.md
update the eslint rule to allow unused variables
please update the rule so that it has a description
why did you start to change code before reading the steps?
why do we only sometimes write tests for the importers?
why aren't you putting the migrations into separate commits?
yes there are, the suites are one folder up, beside the server
we don't want a @../rows/debug.go file. This is too much.
Let's NOT send the mail if the only change is in the notes
I shouldn't get any of the fields I'm removing
stop putting the field I'm removing back in
I want to avoid switching between the till and the office when guests pay
I will write the proxy part myself
do not make such careless mistakes
I asked you for the log of the worker
We only want to keep the text narrow, but backgrounds look better when they never stop
Nothing is showing up when running it
let's take these rows and never look back
do not create any new unit tests
can we add a chart to the report?
can you stop the server?
why do we need the second index?
why did the import stop?
I don't want it in the header
we don't want that column any more
this is a tool I tried yesterday
It's not clear that the cache helps
it doesn't make sense to me
the total should match
there's no point, leave it
We have a copy of it somewhere
can we use the other endpoint for this?
that's not what I see
the page does NOT load
remember the bug from yesterday?
why do you say so?
we didn't change the parser?
the button should be blue
did I tell you about the outage?
why aren't we seeing any rows?
Each one should have a title
just run it again
yes it does
no, it is fine
This is a draft, so the titles may change
The totals don't match the invoice
looks like we need another index
don't merge the branch yet
I'd do it myself
I'll do that manually
I ran it myself and saw the error
can you tidy up so that in future we don't have them any more
read @notes.md and make a plan
use the template in @notes.md for this page
no, show me the other list
I want the left one, not the right one
why did you add the index?
why didn't you see the second row?
why didn't the second import run?
Kannst du den Server anhalten?
Warum haben wir den zweiten Index?""".splitlines()


@pytest.mark.parametrize("said", BINDING)
def test_what_binds_whoever_comes_next_has_the_form_of_it(said: str) -> None:
    assert generality(said) > 0
    assert is_general_ruling(said)


@pytest.mark.parametrize(
    "said",
    [
        "that's not how we write fixtures: they are built by hand",
        "we agreed not to cache totals, compute them each time",
        "we deploy only through the pipeline",
        "I told you before, no logic in the templates",
        "please write the release notes in French from now on",
        "I'm running the server already, so no need to start it yourself",
        "I want to avoid fakes in the integration tests",
        "I'd like to avoid a second parser as much as possible",
        "we're not using the old importer, we're just using the new one",
        "I shouldn't have to copy the rates by hand",
        "I don't love having samples in the root folder",
        "I basically never want the rates file to change",
        "next time tell the team what changes before you rename a column",
        "no inline styles please",
        "fixtures live next to the tests, not in a shared folder",
        "you need to restart the importer after changing the rates, it doesn't reload",
        "I prefer short functions, one step each",
        "Das ist nicht, wie wir Ordner benennen",
        "Die Clients sind generiert, also bitte nie von Hand ändern",
        "Fixtures liegen bei uns neben dem Test",
        "Ich habe doch gesagt, keine Logik in den Vorlagen",
        "Schreibe die Commits ab jetzt auf Deutsch",
    ],
)
def test_a_way_of_working_and_what_follows_from_a_fact_bind_by_their_form(said: str) -> None:
    assert is_general_ruling(said)


@pytest.mark.parametrize(
    "said",
    [
        "so no errors any more?",
        "don't write any code",
        "Don't change anything, tell me about the other ways first",
        "I'd like to make it easy to add readers in the future",
        "in the future, I'd like to add a second ledger",
        "Please ask me any question that you have as we write the plan",
        "I thought it was broken",
        "I don't like that",
        "we're not done with the reader",
        "the result is not the same every time, look for another one",
        "it works so no need to change the reader",
        "the total should be on the left",
        "users have to log in if the token is old",
        "we wanted to know how we got there",
        "I prefer the second one",
        "when I search, I don't find LEDGER_PATH anywhere in the code",
        "the rows should be sorted",
        "to hide this in the future, set the flag",
        "Wie habe ich das gesagt?",
    ],
)
def test_a_report_a_wish_for_the_program_and_a_choice_do_not(said: str) -> None:
    assert not is_general_ruling(said)


@pytest.mark.parametrize("said", OF_A_TASK)
def test_a_wish_an_answer_a_question_and_a_cut_off_text_are_of_their_task(said: str) -> None:
    assert not is_general_ruling(said)


@pytest.mark.parametrize("said", RULED)
def test_what_holds_beyond_this_case_is_a_rule(said: str) -> None:
    assert weight(said) >= RULES


@pytest.mark.parametrize("said", STEPS)
def test_a_step_a_question_and_a_report_are_none(said: str) -> None:
    assert weight(said) < RULES


def test_what_was_said_once_is_told_where_it_says_what_it_is_about() -> None:
    assert is_general_ruling("Logging goes through our logger, not print")
    assert is_general_ruling("On `git commit -m 'Mend it'`: “no, I did not ask for any commit”")
    assert not is_general_ruling("On changing `rows.py`: “No, I don't like that at all.”")
    assert not is_general_ruling("We want to keep that variable since it is our standard")
    assert not is_general_ruling(
        "On “The reader takes both.”: “No man, that's simply not true, we already read every row”"
    )
    assert not is_general_ruling("everything works, you are a wonder, never seen any better")
    assert not is_general_ruling("Maybe we could use our logger and not print?")
    assert not is_general_ruling("We don't want this: 5. The change of [2/3] may be too broad")


@pytest.mark.parametrize("said", OUTRIGHT)
def test_a_form_that_leaves_no_doubt_needs_no_other_sign(said: str) -> None:
    assert is_general_ruling(said)


@pytest.mark.parametrize("said", ALIKE)
@pytest.mark.parametrize("conceded", [False, True])
def test_what_only_looks_like_one_is_of_its_task(said: str, conceded: bool) -> None:
    assert not is_general_ruling(said, conceded=conceded)


def test_what_stands_in_brackets_is_of_the_sentence_before_it() -> None:
    assert not is_general_ruling("(the ledger should be the source of truth)")
    assert is_general_ruling("Is the pool fine here? (we use the queue explicitly elsewhere to not block the writers)")


@pytest.mark.parametrize(
    "said", ["(of the ledger) (rows, clock)", "", "()", "( )", ", ;", "？！", " - ", "…", "`", "(…)?", "."]
)
def test_what_holds_no_clause_binds_nobody(said: str) -> None:
    assert not is_general_ruling(said)
    assert not is_general_ruling(said, conceded=True)


REPORTED = """\
every row is shown twice when I open the page
everything loads fine locally
all other rows are updated when i pick another day
none of the pages work anymore
we get all the rows, since we don't filter by day
we never saw such rows
everything we add destroys the rows before
all days should be sortable
don't use colored rows, put the total below
none of the rows load: KeyError: always the same day is missing
never run the seeds for the time being
please change only the given rows, don't touch the said table
don't sort the rows, filter as mentioned above
no, stick to the plan and never skip week 3
always take the mock store for this.
stop showing sold-out rows in the ledger
don't send me to the page of the harbour
Prefer salt to tar
I thought we were using sqlite everywhere while testing?
Ring the bell on each tide. (default: true)
in the future perhaps we'll add more harbours
never add what is no part of this chat
I'll do a rollback and never touch the rows again
No ledger columns available
Rows must be listed in the ledger: rows.js:41 (anonymous)
alles läuft jetzt wieder
alle Zeilen sind leer, wenn ich den Tag wechsle""".splitlines()
HELD = """\
as to the tides, I remind you that we rely on the almanac, not on a table
if the agent needs a key of the harbour, it should directly ask me, the user, for it
All errors get wrapped, never swallowed
everything is formatted with our own formatter, nothing by hand
we never write to the store outside of a transaction
every table has to have a created_at column
we don't mock the store, we use the one in memory""".splitlines()


@pytest.mark.parametrize("said", REPORTED)
def test_what_happened_and_how_it_looks_is_no_rule(said: str) -> None:
    assert not is_general_ruling(said)


@pytest.mark.parametrize("said", HELD)
def test_how_all_of_a_kind_is_done_is_one(said: str) -> None:
    assert is_general_ruling(said)


@pytest.mark.parametrize(
    "said",
    [
        "the notes should always hold the following:",
        "always write the rules that I laid out in my last message",
        "make sure that rule mentions that tables must never be locked",
        "update the rule so that you always name the table",
        "separately, I want each table at the end of every run to have a name of its own",
        "that is the wrong table name, tables should never be named after files",
        "didn't we say to always lock the tables? if not, it should",
    ],
)
def test_what_points_at_another_text_rules_on_nothing(said: str) -> None:
    assert not is_general_ruling(said)
