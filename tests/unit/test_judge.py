"""Which forms of sentences bind later work, which beyond the task at hand, and what is near to them and binds not."""

from __future__ import annotations

import pytest

from ireneo.summaries.judge import judge
from ireneo.summaries.own_words import own_words

ALWAYS = (
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
    "Tests live beside the code.",
    "Errors get wrapped with the name of the file.",
    "Migrations are never edited once they are merged.",
    "Handlers don't talk to the database directly.",
    "Names of tables are singular.",
    "We squash before merging.",
    "We use uv here, not pip.",
    "we always put the fixtures in their own file",
    "In this repo we name branches after the ticket.",
    "I prefer small functions.",
    "I'd like you to explain before you change code.",
    "I don't like clever one-liners.",
    "The docs folder is generated.",
    "Warum startest du schon wieder die ganze Testreihe?",
    "Ich habe dir gesagt, dass du den vorhandenen Helfer nehmen sollst.",
    "Den Server starte ich selbst.",
    "Das ist nur ein Prototyp.",
    "Niemand benutzt das bisher.",
    "In Zukunft zeig mir erst den Plan.",
    "Tests liegen neben dem Code.",
    "Ich mag keine cleveren Einzeiler.",
    "Der Ordner wird automatisch generiert.",
)
THIS_TASK = (
    "Once an order is paid, hide the button.",
    "Before any page is written, write down its fields.",
    "The short page should be enough.",
    "For tiers, show a line each.",
    "We should move the files with the tool instead of by hand.",
    "Don't touch the importer while you are at it.",
    "Do not print anything when the file is empty.",
    "Nothing in the vendored folder should be edited.",
    "No emojis in the output.",
    "If the user is not logged in, just return an empty list.",
    "When there is no token, fall back to the anonymous client.",
    "If you find an old cache, just delete it and build a new one.",
    "If a value is missing, log a warning and go on.",
    "The parser must not depend on the network.",
    "It should still work without a config file.",
    "Only admins should be able to delete a shop.",
    "The default should be the smaller model.",
    "The timestamps need to come from the server.",
    "Both screens have to share the same store.",
    "These should be stored as integers.",
    "At most five pictures in one message.",
    "Limit the name to 40 characters.",
    "Make them two columns max.",
    "As few dependencies as possible.",
    "Keep it minimal.",
    "Let's go with the second layout.",
    "Yes, let's use one table for both.",
    "ok, we go with sqlite then",
    "I'd rather have one command for both.",
    "Drop the cache idea.",
    "Forget about the mobile version for now.",
    "We don't need the wizard any more.",
    "no need to keep the old endpoint",
    "That's the job of the caller.",
    "the point is to validate once, not in every handler",
    "I want the plan in a file before any code is written.",
    "Can we keep to plain SQL for all queries?",
    "Perhaps we should stay with Python for all scripts?",
    "Could you please stop adding comments?",
    "Do it the way the other handlers do it.",
    "Name it like the other flags.",
    "Follow the pattern of the user service.",
    "Use the wrapper, not the raw client.",
    "The fix belongs in the loader, not in the test.",
    "put it in the service instead of the controller",
    "only the title, not the whole row",
    "Make sure the old URLs still work.",
    "without breaking the existing tests",
    "Everything else stays as it is.",
    "so that the old client keeps working",
    "Keep in mind that we are on the free plan.",
    "Bear in mind the server has one gigabyte of memory.",
    "Remember this runs on Windows too.",
    "Bedenke, dass wir nur den freien Tarif haben.",
    "I'll write the proxy part myself.",
    "The only file that helpers may read is the sample of the settings.",
    "Fix the page so that it doesn't need the charts.",
    "Explain the idea before you change anything.",
    "Wenn der Benutzer nicht angemeldet ist, gib einfach eine leere Liste zurück.",
    "Falls ein Wert fehlt, protokolliere eine Warnung.",
    "Der Parser darf nicht vom Netz abhängen.",
    "Nur Administratoren sollen einen Laden löschen können.",
    "Die Zeitstempel müssen vom Server kommen.",
    "Höchstens fünf Bilder in einer Nachricht.",
    "Beschränke den Namen auf 40 Zeichen.",
    "Nehmen wir die zweite Variante.",
    "Wir brauchen den Assistenten nicht mehr.",
    "Wir verwenden hier uv, nicht pip.",
    "Vielleicht sollten wir bei Python bleiben?",
    "Mach es genauso wie bei den anderen Befehlen.",
    "Lege es im Dienst ab statt im Controller.",
    "Ändere das so, dass die alten Adressen weiterhin funktionieren.",
    "Erklär mir den Plan, bevor du etwas änderst.",
    "Das ist Aufgabe des Aufrufers.",
)
NOTHING = (
    "There are currently no tests for this project.",
    "I might be wrong, but we only write rows at night.",
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


def test_an_item_of_a_list_of_tasks_binds_only_where_it_restricts() -> None:
    listed = "I want you to do the following:\n- rename the loader\n- copy the pages, so that the old ones still work"
    found = {each.text: judge(each).strength for each in own_words(listed)}
    assert found["rename the loader"] == 0 < found["copy the pages, so that the old ones still work"]


def test_a_short_text_is_its_writers_own_though_it_names_nobody() -> None:
    typed = (
        "For orders of the last two years show the name of the shop and the sum in one line, "
        "and where there is no room for both of them, at most two lines."
    )
    assert judge(next(own_words(typed))).strength > 0
