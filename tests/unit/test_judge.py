"""Which forms of sentences bind later work, which beyond the task at hand, and what is near to them and binds not."""

from __future__ import annotations

import pytest

from ireneo.summaries.own_words import own_words
from ireneo.summaries.pins import judge

ALWAYS = (
    "you never push before the tests ran",
    "This is not a bank's system, but a small hobby project.",
    "Make this a rule.",
    "Are you remembering the changelog?",
    "It's important to keep changes small.",
    "Make sure that every page has a title.",
    "I'd much rather see it fail than have it go on with made-up rows.",
    "Why do you run the whole suite again?",
    "you keep forgetting the changelog",
    "why are you using npm again",
    "I told you to use the existing helper.",
    "You were supposed to ask before you push.",
    "You have notes on how to name branches.",
    "I'll start the server myself.",
    "leave the commits to me",
    "I do the reviews.",
    "This is only a prototype.",
    "Nobody uses this yet, so no migrations.",
    "We are still in early development, breaking changes are fine.",
    "From now on answer in German.",
    "In future, show me the plan first.",
    "next time run the linter before you say it's done",
    "Remember that for later: we deploy on Fridays.",
    "We squash before merging.",
    "We use uv here, not pip.",
    "we always put the fixtures in their own file",
    "In this repo we name branches after the ticket.",
    "I prefer small functions.",
    "I'd like you to explain before you change code.",
    "I don't like clever one-liners.",
    "Warum startest du schon wieder die ganze Testreihe?",
    "Ich habe dir gesagt, dass du den vorhandenen Helfer nehmen sollst.",
    "Den Server starte ich selbst.",
    "Das ist nur ein Prototyp.",
    "Niemand benutzt das bisher.",
    "In Zukunft zeig mir erst den Plan.",
    "Ich mag keine cleveren Einzeiler.",
    "Keep the glossary up to date as names are settled.",
    "Whenever you add a column, update the diagrams too.",
    "Update docs/tides.md each time you rename a station.",
    "Why do you test three stations at a time",
    "Halte die Dokumentation immer aktuell.",
    "I did not ask you for a forecast.",
)
THIS_TASK = (
    "Don't you dare delete the logbook",
    "no 7% hard coded pls, the toll comes from settings.TOLL",
    "no timestamps written by hand plz",
    "so no mocks please",
    "no deploys today please",
    "dont rename the gauges, ok?",
    "Fass die Tabelle nicht an, ja?",
    "short answers please",
    "second person pls",
    "never forget that the gate is locked at night",
    "Ne touche jamais au dossier des cartes",
    "N'efface pas les journaux.",
    "Surtout ne le renomme pas",
    "Ne pas modifier le calendrier.",
    "The short page should be enough.",
    "Don't touch the importer while you are at it.",
    "Do not print anything when the file is empty.",
    "Nothing in the vendored folder should be edited.",
    "No emojis in the output.",
    "The parser must not depend on the network.",
    "It should still work without a config file.",
    "The default should be the smaller model.",
    "The timestamps need to come from the server.",
    "These should be stored as integers.",
    "Limit the name to 40 characters.",
    "Tests live beside the code.",
    "Errors get wrapped with the name of the file.",
    "Migrations are never edited once they are merged.",
    "Handlers don't talk to the database directly.",
    "Names of tables are singular.",
    "The docs folder is generated.",
    "Tests liegen neben dem Code.",
    "Der Ordner wird automatisch generiert.",
    "Keep it minimal.",
    "Keep the tide table updated with the newest row.",
    "Let's go with the second layout.",
    "Yes, let's use one table for both.",
    "ok, we go with sqlite then",
    "I'd rather have one command for both.",
    "Scrap the cache idea.",
    "Forget about the mobile version for now.",
    "We don't need the wizard any more.",
    "no need to keep the old endpoint",
    "That's the job of the caller.",
    "the point is to validate once, not in every handler",
    "I want the plan in a file before any code is written.",
    "Can we keep to plain SQL for all queries?",
    "Perhaps we should stay with Python for all scripts?",
    "Could you please stop adding comments?",
    "Follow the pattern of the user service.",
    "Use the wrapper, not the raw client.",
    "The fix belongs in the loader, not in the test.",
    "Everything else stays as it is.",
    "Keep in mind that we are on the free plan.",
    "Bear in mind the server has one gigabyte of memory.",
    "Remember this runs on Windows too.",
    "Bedenke, dass wir nur den freien Tarif haben.",
    "I'll write the proxy part myself.",
    "The only file that helpers may read is the sample of the settings.",
    "Der Parser darf nicht vom Netz abhängen.",
    "Nur Administratoren sollen einen Laden löschen können.",
    "Die Zeitstempel müssen vom Server kommen.",
    "Nehmen wir die zweite Variante.",
    "Wir brauchen den Assistenten nicht mehr.",
    "Wir verwenden hier uv, nicht pip.",
    "Vielleicht sollten wir bei Python bleiben?",
    "Das ist Aufgabe des Aufrufers.",
    "No hardcoded widths.",
    "Small charts, no nested tables.",
    "I'm settling on the wide layout.",
    "I've decided against a second table.",
    "I only wanted the first row.",
    "Delete only the two lowest rows.",
    "The other charts stay unchanged.",
    "For now just the harbour.",
    "Convert it to a table but keep all of the text.",
    "Lösche nur die zwei untersten Zeilen.",
    "Bitte ändere die Tests nicht.",
    "No untyped tides allowed.",
    "Only the harbour master should be able to see it.",
    "Leave the border of the map transparent.",
    "Use the shared parts as much as you can.",
    "We will by default use the third method.",
)
NOTHING = (
    "ok so no harbour trip.",
    "well then no soup tonight",
    "no sailing for me this weekend",
    "no take the other rope please",
    "you never listen",
    "always remember that i love you",
    "never forget how much we miss you",
    "it should never happen, right?",
    "Can you look at the gate, ok?",
    "Il ne touche jamais au dossier des cartes.",
    "Ne t'inquiète pas.",
    "You're still not consistent.",
    "Add a sample of the settings so we don't commit the keys of the harbour.",
    "Make sure nothing that was moved breaks the page.",
    "When you are done, update the glossary.",
    "Why did you drop the harbour page?",
    "Why do you drop the harbour page?",
    "Make stations only appear if a harbour is chosen.",
    "Late trains have some problems.",
    "I don't like where this goes.",
    "We run in many walls here.",
    "There is no test of the tide tables as yet.",
    "I may be mistaken, though we only write rows at night.",
    "If I run it with an empty list, it just stopped.",
    "You don't need to explain.",
    "So you keep track of what is done.",
    "Don't worry about it.",
    "I don't know which one is right.",
    "Don't you think it is slow?",
    "It doesn't print anything when the file is empty.",
    "No problem, go on.",
    "If that works, commit it.",
    "If it fails again, show me the log.",
    "If I click the button, nothing happens.",
    "When I run it I get an empty list.",
    "The button should be blue but it is green.",
    "You should see the log in the terminal.",
    "This should fix the crash.",
    "We should look into that.",
    "It should have worked.",
    "Should the parser depend on the network?",
    "There are at most five pictures in the folder.",
    "I only get five pictures.",
    "Let's go on with the next step.",
    "Let's see.",
    "I need the log of yesterday.",
    "We can skip to step four.",
    "Why did the test fail?",
    "you forgot the comma in line 3",
    "I told the team about it.",
    "Why do we need the lock here?",
    "I'll have a look myself.",
    "I deployed it myself yesterday.",
    "The prototype is broken.",
    "In the future we may support Windows.",
    "Next time slot is at ten.",
    "Tests fail on my machine.",
    "Errors show up in the console.",
    "We use the second one in the other repo, why?",
    "We always get this error.",
    "I like it.",
    "I want to see the log.",
    "I'd like a button there.",
    "Can you add a button?",
    "Shouldn't we have seen an error?",
    "Can we keep going?",
    "It looks like the other handlers.",
    "It opens the list, not the detail page.",
    "The old URLs still work.",
    "I don't remember the port.",
    "Note the log below.",
    "Wenn ich auf den Knopf klicke, passiert nichts.",
    "Wenn das klappt, committe es.",
    "Der Knopf sollte jetzt funktionieren.",
    "Kannst du einen Knopf hinzufügen?",
    "Warum schlägt der Test fehl?",
    "Ich habe es gestern selbst gestartet.",
    "Der Prototyp ist kaputt.",
    "Die Tests schlagen auf meinem Rechner fehl.",
    "Ich sehe nur fünf Bilder.",
    "Lass uns mal schauen.",
    "Zeig mir das Protokoll.",
    "Füge einen Knopf hinzu.",
    "Das sieht aus wie bei den anderen.",
    "Es gibt höchstens fünf Bilder in dem Ordner.",
    "Wir haben gestern das Modell gewechselt.",
    "Was machst du da?",
    "Danke, das passt.",
    "Kein Problem.",
    "Sort the stations by name and make sure we keep the accents.",
    "Update the map and use the wider frame instead of the old one.",
    "Sortiere die Häfen und verwende immer die neue Karte.",
    "When the map is not there, I want the legend to go to the left.",
    "I want you to draw the map based on the source of truth.",
    "Cache-Control: no-cache, max-age=0, must-revalidate",
    "Let's assume we lost the second buoy.",
    "The new lamp does a better job of it.",
    "The rope is too long, it goes into the water.",
    "No for both.",
    "We must hurry.",
    "It works for the other harbours so it must work here.",
    "The pier should not be showing on the map, fix it.",
    "Das Ruder sollte immer links sein, behebe das.",
    "The buoy will not go away unless I restart it.",
    "Same with the tides they are all showing up.",
    "I want you to draw a map for each of these.",
    "No I want the new map in the folder.",
    "I just want to make sure that the tides are right.",
    "We use to struggle with the tides.",
)


@pytest.mark.parametrize("sentence", ALWAYS)
def test_what_holds_beyond_the_task_binds_and_lasts(sentence: str) -> None:
    judged = judge(next(own_words(sentence)))
    assert judged.strength > 0
    assert judged.lasts


@pytest.mark.parametrize("sentence", THIS_TASK)
def test_a_restriction_of_the_task_binds_and_need_not_last(sentence: str) -> None:
    judged = judge(next(own_words(sentence)))
    assert judged.strength > 0
    assert not judged.lasts


@pytest.mark.parametrize("sentence", NOTHING)
def test_steps_questions_and_reports_bind_nothing(sentence: str) -> None:
    assert not judge(next(own_words(sentence))).strength


def test_an_item_of_a_list_of_tasks_binds_nothing_by_its_form() -> None:
    listed = "I want you to do the following:\n- scrap the loader\n- rename the pages"
    assert not any(judge(each).strength for each in own_words(listed))
    assert judge(next(own_words("Scrap the loader."))).strength > 0


def test_a_short_text_is_its_writers_own_though_it_names_nobody() -> None:
    typed = (
        "On small screens the list of the last ten orders shows the name of the shop twice, which looks odd there, "
        "no need for the second one."
    )
    assert judge(next(own_words(typed))).strength > 0


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't eat meat any more, only fish.",
        "My brother doesn't sail at night, only by day.",
        "I never take the ferry, by the way, only the train.",
        "Ich esse kein Fleisch mehr, nur Fisch.",
    ],
)
def test_a_habit_is_no_rule(sentence: str) -> None:
    (said,) = own_words(sentence)
    assert judge(said).strength == 0


@pytest.mark.parametrize(
    "sentence",
    [
        "Don't use tugs, only pilots.",
        "We don't use tugs here, only pilots.",
        "I don't mind the tide, only use the charts.",
    ],
)
def test_what_is_left_of_a_ban_binds(sentence: str) -> None:
    (said,) = own_words(sentence)
    assert judge(said).strength > 0
