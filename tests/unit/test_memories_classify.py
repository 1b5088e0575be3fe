"""Of which kind a text is: tables of sentences with the kind that a reader would give, and how many are hit."""

from __future__ import annotations

import pytest

from ireneo.memories.intake import classify
from ireneo.memories.record import Kind

LEARNT: tuple[tuple[Kind, str], ...] = (
    # The rules were written with these at hand: each of them must hold.
    ("failure", "I tried pinning numpy to 1.26 — abandoned because the wheel needs glibc 2.35."),
    ("failure", "I tried to split the module into two files, but that made a circular import."),
    ("failure", "We attempted an in-place upgrade of the cluster and it failed at the third node."),
    ("failure", "Tried `go mod vendor` to get around the proxy: it didn't work."),
    ("failure", "Mocking the clock doesn't work because the scheduler reads the monotonic one."),
    ("failure", "Never run the migration against the replica again: it locks every table."),
    ("failure", "Don't use recursive globbing here, it crashes on the symlink loop."),
    ("failure", "I gave up on the async client because the server closes idle connections."),
    ("failure", "`npm ci` fails with ERESOLVE when the lock file is from version 6."),
    ("failure", "Calling close() twice raises a RuntimeError in this version."),
    ("failure", "Switching to the nightly compiler was a dead end."),
    ("failure", "I reverted the cache change because the tests got flaky."),
    ("failure", "We tried raising the timeout to 90 seconds, to no avail."),
    ("failure", "My attempt to patch the header in place failed."),
    ("failure", "I tried the brute-force search; it timed out on the large input."),
    ("failure", "The nightly build crashed: out of memory."),
    ("episodic", "We had dinner with Olga by the canal."),
    ("semantic", "As a child I had a tortoise."),
    ("procedural", "If the build fails: clear the cache and run it again."),
    ("procedural", "To release: first bump the version, then tag, then push the tag."),
    ("procedural", "1. Boil the water\n2. Add the noodles\n3. Wait four minutes"),
    ("procedural", "Always run `make lint` before you commit."),
    ("procedural", "Before deploying, run the smoke tests on staging."),
    ("procedural", "Never merge a branch before the second review is in."),
    ("procedural", "How to rotate the keys: create a new pair, deploy it, then delete the old one."),
    ("procedural", "First check the logs, then restart the worker."),
    ("procedural", "Remember to update the changelog when you add a flag."),
    ("procedural", "To reset the router, hold the button for ten seconds."),
    ("procedural", "Start by reading the failing test, then find the function it calls."),
    ("procedural", "When the disk is full, delete the old artifacts in the build folder."),
    ("procedural", "If the login page hangs, clear the cookies and sign in again."),
    ("procedural", "Preheat the oven to 220 degrees, then put the bread in and wait half an hour."),
    ("procedural", "Make sure to export the data before you delete an account."),
    ("procedural", "Step 1: open the valve. Step 2: drain the tank."),
    ("procedural", "Steps to publish: (1) build the wheel (2) upload it to the index"),
    ("semantic", "My favourite colour is green."),
    ("semantic", "Anna lives in Porto."),
    ("semantic", "I prefer tabs over spaces."),
    ("semantic", "The staging server runs Debian 12."),
    ("semantic", "Karl is allergic to peanuts."),
    ("semantic", "The API expects timestamps in UTC."),
    ("semantic", "My sister works as a nurse."),
    ("semantic", "Our office has no lift."),
    ("semantic", "Ravi was born in Chennai."),
    ("semantic", "The licence of the parser is MIT."),
    ("semantic", "I don't eat meat."),
    ("semantic", "Vera speaks Czech and German."),
    ("semantic", "We have two cats, Pixel and Dot."),
    ("semantic", "The tests are written in Go."),
    ("semantic", "Invoices must be kept for ten years."),
    ("semantic", "The house belongs to his aunt."),
    ("semantic", "I always drink coffee black."),
    ("semantic", "The old kettle is broken."),
    ("semantic", "Marta's birthday is 4 June."),
    ("episodic", "Yesterday we went to the museum with the kids."),
    ("episodic", "I met Clara at the station this morning."),
    ("semantic", "Anna moved to Porto in March 2024."),
    ("episodic", "We deployed version 3.2 on Friday at 18:00."),
    ("episodic", "Karl called me two days ago about the invoice."),
    ("episodic", "I fixed the flaky test by freezing the clock."),
    ("episodic", "Last May I ran my first half marathon."),
    ("episodic", "The meeting was cancelled at the last minute."),
    ("episodic", "Ravi sent the signed contract."),
    ("episodic", "The storm knocked out the power for three hours."),
    ("episodic", "We were in Lisbon last summer."),
    ("episodic", "The captain sold the ship and left the harbour at dawn."),
    ("episodic", "In 2019 the company opened a second warehouse."),
    ("episodic", "My grandmother told me how she had crossed the border."),
    ("episodic", "I had a long talk with Vera yesterday."),
    ("episodic", "The user asked for a dark theme and then changed her mind."),
    ("episodic", "On 3 May the certificate expired and the site was down."),
    ("episodic", "He didn't come to the dinner."),
)

UNSEEN: tuple[tuple[Kind, str], ...] = (
    # Written before the rules were tried on them, and not used to better them.
    ("failure", "Running the exporter with eight threads ended in a deadlock, so I went back to one."),
    ("failure", "I tried sed for the nested quotes and gave up after an hour."),
    ("failure", "Using sudo pip here broke the system Python."),
    ("failure", "Attempted to reuse the old socket; got ECONNRESET every time, so it does not work."),
    ("failure", "Tried feeding the sourdough twice a day: no effect."),
    ("failure", "The regex approach failed because the grammar is recursive."),
    ("failure", "Upgrading to version 5 did not help."),
    ("failure", "I tried vinegar on the stain, but it only spread."),
    ("procedural", "To brew the tea, warm the pot and steep the leaves for three minutes."),
    ("procedural", "After each deploy, check the error rate for ten minutes."),
    ("procedural", "Run the formatter, then the linter, then the tests."),
    ("procedural", "Don't forget to lock the back door when you leave."),
    ("procedural", "For a refund: open the order, click Refund, and enter the amount."),
    ("procedural", "Always ask Karl before you touch the billing tables."),
    ("procedural", "First, gather the receipts. Next, sum them up. Finally, fill in the form."),
    ("procedural", "Deploys go through staging first: push to the branch, wait for green, promote."),
    ("procedural", "When you add a column, write a migration and run it twice."),
    ("procedural", "1) plug in the cable 2) press the red button"),
    ("semantic", "Tom hates coriander."),
    ("semantic", "The database password is stored in the vault."),
    ("semantic", "I am a vegetarian."),
    ("semantic", "The ferry costs twelve euros."),
    ("semantic", "Elena's husband is called Piotr."),
    ("semantic", "Our fiscal year ends in September."),
    ("semantic", "There are four lighthouses on the island."),
    ("semantic", "The user wants short answers."),
    ("semantic", "Water boils at 100 degrees at sea level."),
    ("semantic", "My dog has three legs."),
    ("semantic", "The duke distrusts his brother."),
    ("semantic", "Port 5432 is taken by the old instance."),
    ("semantic", "Nora was the first doctor in the village."),
    ("episodic", "We finished the roof just before the rain."),
    ("episodic", "I saw a fox in the garden tonight."),
    ("episodic", "Piotr lost his passport on the way to Oslo."),
    ("episodic", "The build broke at noon and Sam repaired it."),
    ("episodic", "Last week's demo went well."),
    ("episodic", "She read the letter aloud and burned it."),
    ("episodic", "The agent renamed the module and all tests passed."),
    ("episodic", "I forgot my umbrella on the train on Monday."),
    ("episodic", "Two guards came in and took the prisoner away."),
    ("episodic", "The price was raised twice in 2023."),
)

SLOTS = (
    ("My favourite colour is green.", ("user", "favourite colour", "green")),
    ("my favorite colours are green and blue", ("user", "favorite colours", "green and blue")),
    ("My name is Vera Lind.", ("user", "name", "Vera Lind")),
    ("Anna lives in Porto.", ("Anna", "home", "Porto")),
    ("Anna now lives in New York", ("Anna", "home", "New York")),
    ("I live in Rio de Janeiro.", ("user", "home", "Rio de Janeiro")),
    ("Karl works at Brandt & Sons.", ("Karl", "employer", "Brandt & Sons")),
    ("Karl works as a nurse.", ("Karl", "job", "nurse")),
    ("The capital of Peru is Lima.", ("Peru", "capital", "Lima")),
    ("The port of the staging server is 8080.", ("staging server", "port", "8080")),
    ("The staging server's port is 8080.", ("staging server", "port", "8080")),
    ("Peru's capital is Lima.", ("Peru", "capital", "Lima")),
    ("Marta's birthday is 4 June.", ("Marta", "birthday", "4 June")),
    ("Ravi was born in Chennai.", ("Ravi", "birthplace", "Chennai")),
    ("My boss is Karl.", ("user", "boss", "Karl")),
    ("My friend is Karl.", ("user", "friend", "Karl")),
    ("I like green.", ("user", "like", "green")),
    ("Anna moved to Porto in March 2024.", ("Anna", "home", "Porto")),
    ("I'm allergic to cashews.", ("user", "allergy", "cashews")),
    ("I am 34 years old.", ("user", "age", "34")),
)
NO_SLOTS = (
    "My favourite colour is not green.",
    "My favourite colour used to be green.",
    "My sister is tall.",
    "My boss is nice.",
    "The server's owner is on holiday.",
    "Today's price is 30 francs.",
    "My boss is going home.",
    "He lives in Porto.",
    "Anna and Karl live in Porto.",
    "Anna lives in Porto or in Faro.",
    "I think Anna lives in Porto.",
    "Does Anna live in Porto?",
    "Anna lives in Porto when it is cold.",
    "Everyone lives in Porto.",
    "The end of summer is near.",
    "My name is important to me.",
)


def hits(table: tuple[tuple[Kind, str], ...]) -> list[str]:
    return [text for kind, text in table if classify(text, "user").kind == kind]


@pytest.mark.parametrize(("kind", "text"), LEARNT)
def test_each_sentence_that_the_rules_were_written_with_is_of_its_kind(kind: Kind, text: str) -> None:
    assert classify(text, "user").kind == kind


def test_of_sentences_that_the_rules_were_not_written_with_most_are_hit() -> None:
    found = hits(UNSEEN)
    missed = [f"{kind}: {text}" for kind, text in UNSEEN if text not in found]
    assert len(found) >= 34, "\n".join(missed)


@pytest.mark.parametrize(("text", "slot"), SLOTS)
def test_a_plain_statement_has_a_slot(text: str, slot: tuple[str, str, str]) -> None:
    guess = classify(text, "user")
    assert (guess.subject, guess.attribute, guess.value) == slot
    assert guess.kind == "semantic"


@pytest.mark.parametrize("text", NO_SLOTS)
def test_what_is_not_plain_has_none(text: str) -> None:
    guess = classify(text, "user")
    assert (guess.subject, guess.attribute, guess.value) == ("", "", "")


def test_of_an_unknown_speaker_nothing_is_read() -> None:
    assert classify("My favourite colour is green.").subject == ""
    assert classify("Anna lives in Porto.").subject == "Anna"
