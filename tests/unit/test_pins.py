"""Which sentences bind, how much, and which sentences let go of which."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.property.hostile.rules import RULES, TALK, Rule

from ireneo.log.message import Draft, Message, Origin, Result, Role, Text, chain
from ireneo.summaries.pins import (
    BY_HAND,
    MAX_CHARACTERS,
    MAX_PINS,
    MEDIUM,
    MILD,
    STANDING,
    STRONG,
    find_lifts,
    find_pins,
    valid_pins,
    with_later_orders,
)
from ireneo.summaries.summary import Line


def said(*texts: str, role: Role = "user", origin: Origin = "spoken") -> list[Message]:
    drafts = [Draft(role=role, parts=(Text(text=text),), origin=origin) for text in texts]
    return list(chain(None, drafts, lambda parts: (1, 0)))


def found(text: str, role: Role = "user", origin: Origin = "spoken") -> list[str]:
    return [line.text for line in find_pins(said(text, role=role, origin=origin)[0])]


BINDING = {
    "Whatever you do, never drop the table.": STANDING,
    "From now on you must reply in French.": STANDING,
    "From now on reply in French.": STANDING,
    "Do not merge anything without asking me.": STANDING,
    "Never force-push.": STRONG,
    "And please never edit the generated files.": STRONG,
    "The schema must not change.": STRONG,
    "The config file is read-only.": STRONG,
    "Please ask me before you install packages.": STRONG,
    "Every endpoint must have a test.": MEDIUM,
    "Don't rename the columns.": MEDIUM,
    "Keep the lines under 100 characters.": MEDIUM,
    "Leave the old tests untouched.": MEDIUM,
    "We don't use mocks here.": MEDIUM,
    "Every public function needs a docstring.": MEDIUM,
    "Use double quotes.": MILD,
    "Spaces only.": MEDIUM,
    "Niemals die Datenbank löschen.": STRONG,
    "Can we not commit the drafts?": MEDIUM,
    "can we stick to our logger?": MEDIUM,
    "Können wir die Entwürfe bitte nicht einchecken?": MEDIUM,
    "2, and never push the tide tables": STRONG,
    "The latter is the preferred approach.": STRONG,
    "You SHOULD NUMBER EACH TABLE in your answers.": STRONG,
    "The table was supposed to be in `~/tide/a.toml`, not in `~/a.toml`": STRONG,
    "It's not expected that the loader knows about other harbours.": STRONG,
    "No, I did not say commit anything": MEDIUM,
    "As lightweight as possible, please.": MEDIUM,
    "It doesn't make sense to commit in a broken state": STRONG,
    "That should be a harbour table": MILD,
    "The name needs to come from the tide table.": STRONG,
    "Fail loudly when a table is missing.": MILD,
    "So einfach wie möglich bitte.": MEDIUM,
}


@pytest.mark.parametrize(("sentence", "weight"), BINDING.items())
def test_what_binds_is_found_with_its_strength(sentence: str, weight: float) -> None:
    (line,) = find_pins(said(sentence)[0])
    assert (line.text, line.weight) == (sentence, weight)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
def test_a_rule_is_found_among_talk_word_for_word(rule: Rule) -> None:
    assert found(f"{TALK[0]} {TALK[1]}\n\n- {rule.text}\n\n{TALK[2]}") == [rule.text]
    assert found(rule.text, role="system") == [rule.text]


@pytest.mark.parametrize(
    "text",
    [
        *TALK,
        "Should we never push to main?",
        "Must it always be UTC?",
        "I never saw that error before.",
        "We only looked at the first page.",
        "It was always broken.",
        "Nobody told me about it.",
        "I always thought that it was slow.",
        "Don't worry about it.",
        "Never mind.",
        "2, but hidden by default",
        "Ok, option 2, the map only for now",
        "Can we use our tide tables?",
        "Use the following rules:",
        "Look at this:\n```\nNever push to main.\nmust not change\n```",
        "<system-reminder>Always use the todo tool.</system-reminder>",
        "| must | never |\n| --- | --- |",
        "ok",
        "",
    ],
)
def test_what_binds_nothing_is_not_found(text: str) -> None:
    assert found(text) == []


def test_no_pin_ends_at_the_number_of_the_next_answer() -> None:
    pins = found("1. i prefer the salt bell, 2. keep the tar bell as it is, it rings on each tide")
    assert not [pin for pin in pins if pin.endswith("2.")]


@pytest.mark.parametrize(
    ("role", "origin"), [("assistant", "spoken"), ("tool", "spoken"), ("user", "injected"), ("user", "summary")]
)
def test_only_users_and_the_system_bind(role: Role, origin: Origin) -> None:
    assert found("Never push to main.", role=role, origin=origin) == []


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("It must be awesome to see them up close.", []),
        ("Never leave me again!", []),
        ('*takes her arm* "Do not go anywhere without asking me."', []),
        ("I brought the key. (OOC: never decide what Mara does)", ["never decide what Mara does"]),
        ("Never leave me! ((please keep replies under 200 words))", ["please keep replies under 200 words"]),
        ("OOC: Always write in the past tense.\nShe nods.", ["Always write in the past tense."]),
        ("[Out of character - never kill off Bram.] We ride.", ["never kill off Bram."]),
        ("She waits. (OOC: pls dont decide what Mara feels, ok?)", ["pls dont decide what Mara feels, ok?"]),
        ("((short replies please))", ["short replies please"]),
        ("(OOC: can you pls not write for my character?)", ["can you pls not write for my character?"]),
        ("((sorry for the late reply)) (OOC: brb, dinner)", []),
        ("(außerhalb der Rolle: Niemals die Zeit überspringen.)", ["Niemals die Zeit überspringen."]),
    ],
)
def test_in_a_story_only_what_is_said_beside_it_binds(text: str, bound: list[str]) -> None:
    (plain,) = said(text)
    assert [line.text for line in find_pins(plain, in_story=True)] == bound
    authored = replace(plain, draft=Draft(role="user", parts=(Text(text=text, author="Mara"),)))
    assert [line.text for line in find_pins(authored)] == bound


def test_a_card_binds_in_a_story() -> None:
    (card,) = said("Never speak for Mara.", role="system")
    assert [line.text for line in find_pins(card, in_story=True)] == ["Never speak for Mara."]


def test_a_block_of_ours_brings_its_pins_back() -> None:
    block = "[PINNED] Constraints that stand, word for word:\n- Never push. · m_abcdefg\n- Use tabs."
    (message,) = said(block, origin="injected")
    assert [(line.text, line.weight) for line in find_pins(message)] == [
        ("Never push.", BY_HAND),
        ("Use tabs.", BY_HAND),
    ]


def test_of_a_very_long_sentence_the_clause_that_binds_is_pinned() -> None:
    story = "the service was moved to another machine in the night " * 8
    (text,) = found(f"Since {story}, never restart it by hand.")
    assert len(text) <= MAX_CHARACTERS
    assert text == "never restart it by hand."


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
def test_a_rule_is_lifted_by_its_own_lift_and_no_other(rule: Rule) -> None:
    (pin,) = find_pins(said(rule.text)[0])
    for other in RULES:
        lifts = [replace(line, position=5) for line in find_lifts(said(other.lift)[0])]
        assert lifts, other.lift
        assert (valid_pins([pin], lifts) == []) == (other is rule), other.lift


@pytest.mark.parametrize(
    "sentence",
    [
        "Can you push to the release branch now?",
        "I pushed to the release branch.",
        "The release branch is broken again.",
        "You can now read the docs.",
        "You may push to the branch of the docs now.",
        "You may push now.",
        "Forget what I said about tabs.",
        "Never push to the release branch.",
    ],
)
def test_what_lifts_nothing(sentence: str) -> None:
    pins = find_pins(said("Never push to the release branch.")[0])
    lifts = [replace(line, position=5) for line in find_lifts(said(sentence)[0])]
    assert valid_pins(pins, lifts) == pins


@pytest.mark.parametrize(
    ("rule", "free"),
    [
        ("Please keep your answers short.", "You can stop keeping it so short now."),
        ("Please keep your answers short.", "You don't need to keep your answers short any more."),
        ("Bitte antworte immer kurz.", "Du musst nicht mehr kurz antworten."),
    ],
)
def test_who_is_freed_of_a_rule_has_no_other_one(rule: str, free: str) -> None:
    messages = said(rule, free)
    pins = [line for message in messages for line in find_pins(message)]
    lifts = [line for message in messages for line in find_lifts(message)]
    assert [line.text for line in pins] == [rule]
    assert valid_pins(pins, lifts) == []


def standing(*texts: str) -> list[str]:
    messages = said(*texts)
    pins = [line for message in messages for line in find_pins(message)]
    lifts = [line for message in messages for line in find_lifts(message)]
    return [line.text for line in with_later_orders(valid_pins(pins, lifts), lifts)]


@pytest.mark.parametrize(
    ("rule", "order", "shown"),
    [
        ("Keep the old importer around for now.", "It works, so delete the old importer.", ""),
        ("Please never delete the seed files.", "ok, now you can remove the seed files", ""),
        ("Behalte den alten Importer.", "Jetzt lösche den alten Importer.", ""),
        ("Please keep the old importer around.", "Remove the old importer script.", "later"),
        ("Don't rename the ledger columns.", "Rename the ledger columns after all, as Ada asks.", "later"),
        ("Please keep the old importer around.", "Don't delete anything of the old importer.", "alone"),
        ("Please keep the old importer around.", "Remove the old exporter.", "alone"),
        ("Never push to the release branch.", "Push the notes to the wiki.", "alone"),
    ],
)
def test_a_later_order_ends_a_rule_or_stands_beside_it(rule: str, order: str, shown: str) -> None:
    found = [text for text in standing(rule, order) if text.startswith(rule)]
    assert found == {"": [], "later": [f"{rule} (later: “{order}”)"], "alone": [rule]}[shown]


def test_a_lift_holds_for_what_was_said_before_it_only() -> None:
    messages = said("Never push to main.", "You can push to main now.", "Never push to main!")
    pins = [line for message in messages for line in find_pins(message)]
    lifts = [line for message in messages for line in find_lifts(message)]
    assert [line.position for line in valid_pins(pins, lifts)] == [2]


def test_a_rule_said_twice_stands_once_where_it_was_said_last() -> None:
    pins = [line for message in said("Use tabs.", "never push", "use tabs") for line in find_pins(message)]
    assert [(line.text, line.position) for line in valid_pins(pins, [])] == [("never push", 1), ("use tabs", 2)]


def test_a_part_of_a_pinned_sentence_is_not_pinned_beside_it() -> None:
    (whole,) = find_pins(said("Make it faster, but keep the API stable.")[0])
    part = Line(text="keep the API stable.", weight=STRONG, position=whole.position, sources=whole.sources)
    (line,) = valid_pins([whole, part], [])
    assert (line.text, line.weight) == (whole.text, STRONG)


def test_of_too_many_the_strongest_stand_in_the_order_in_which_they_were_set() -> None:
    pins = [Line(text=f"rule {n}", weight=1.0 + n % 2, position=n, sources=()) for n in range(2 * MAX_PINS)]
    kept = valid_pins(pins, [])
    assert [line.position for line in kept] == list(range(1, 2 * MAX_PINS, 2))


@pytest.mark.parametrize("text", ["From now on you must never touch the ring.", "You may touch the ring again."])
def test_a_line_of_a_story_binds_nobody_and_lifts_nothing(text: str) -> None:
    spoken = Draft(role="user", parts=(Text(text=text, author="Vera"),))
    plain = Draft(role="user", parts=(Text(text=text),))
    line, told = chain(None, [spoken, plain], lambda parts: (1, 0))
    assert find_pins(line) == []
    assert find_lifts(line) == []
    assert find_pins(told) or find_lifts(told)


REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the "
    "user said:\n"
)


def returned(text: str, *, failed: bool | None) -> list[str]:
    """What is pinned of a tool's result."""
    part = Result(call_id="c1", parts=(Text(text=text),), failed=failed)
    (message,) = chain(None, [Draft(role="tool", parts=(part,))], lambda parts: (1, 0))
    return [line.text for line in find_pins(message)]


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        (f"{REFUSED}don't check the tide tables in", ["don't check the tide tables in"]),
        (f"{REFUSED}no, use ferries instead of boats\n\nNote: never mind.", ["no, use ferries instead of boats"]),
        (f"{REFUSED}wait, let's talk about this", []),
        (
            "The user provided feedback:\n<feedback>\nKeep the piers as they are.\n</feedback>",
            ["Keep the piers as they are."],
        ),
        (
            'User has answered your questions: "Which format should it be?"="CSV", "What next?"="Go on". Continue.',
            ['"Which format should it be?"="CSV"'],
        ),
        ("1  Never push to main.\n2  All files must be kept.", []),
    ],
)
def test_what_a_user_says_in_a_result_binds(text: str, pins: list[str]) -> None:
    assert returned(text, failed=None if "answered" in text else True) == pins


def test_what_a_tool_read_binds_nobody() -> None:
    assert returned(f"log line: {REFUSED}never push", failed=False) == []


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        (
            "> The footer shows the tide.\n\nThis should not be changed.",
            ["> The footer shows the tide. This should not be changed."],
        ),
        ("The old piers are listed. Don't touch them.", ["The old piers are listed. Don't touch them."]),
        (
            "Never touch these files:\n- piers.csv\n- boats.csv\n\nThanks!",
            ["Never touch these files: - piers.csv - boats.csv"],
        ),
        ("Show the tide first. Keep the tables sorted.", ["Keep the tables sorted."]),
    ],
)
def test_a_rule_stands_with_what_it_speaks_of(text: str, pins: list[str]) -> None:
    assert found(text) == pins


def test_a_list_that_is_announced_ends_with_its_last_item() -> None:
    listed = "Install the following tools:\n\n- never-fail\n- keep\n\nDo not install any plugins."
    assert found(listed) == ["Do not install any plugins."]


@pytest.mark.parametrize(
    "text",
    [
        'Can we change "There are two harbours here. Never use both of them." to something shorter?',
        "I got this feedback on the branch:\n\nThe loader must never skip a row. Keep the cache warm.",
        "Implement the following plan:\n\n# Plan: tides\n\nNever write the tables twice.\n\nYou must keep the log.",
        "Fails again:\n\n2026-01-02 12:00:01 must not be empty\nTraceback (last call last):\nValueError: never None",
        "$ harbour sync\nAll files must be kept.",
        "tides.yaml: two keys are not allowed here at line 2 column 12",
        "<issue>\nThe loader must not skip rows.\n</issue>",
        "### Expected behaviour\n\nThe tables should never be empty.",
        "Please read it.\n\ndiff --git a/x b/x\n@@ -1 +1 @@\n-keep the tide\n+never keep the tide",
        "> We never deploy on Fridays.\n\nWho says so?",
        "The flag is defined in the loader but never read.",
        "can you check the new tests, that they don't repeat each other, don't test the library and help",
        "could you write a script that would:\n- start a session, do not commit but validate that it is there\n- stop",
        "It must be awesome to see the tide.",
        "The server should return 200 here, but returns 500.",
        "If I start a session, then don't commit but stash, what happens?",
        "We need to add the harbour to the tables.",
        'Change it to "never sync the tables" please',
        "No problem, go on.",
        "Please fix the following issue for the repository in /harbour.",
        "I might be wrong, but we only write tables if the tide has changed",
        "If we had a boat of our own, we would never wait for the tide",
        "no, write the plan",
        "Make sure you find any table that isn't read.",
        "Sync this table now",
        "the cache is enabled by default",
        "Can you sync the tables too?",
    ],
)
def test_what_is_quoted_asked_or_done_once_is_no_rule(text: str) -> None:
    assert found(text) == []


def test_a_system_says_rules_in_any_mood() -> None:
    text = (
        "# Policy\n\nYou are a harbour agent.\n\n- Ask for the ship's name first.\n- A berth can be changed only once."
    )
    assert found(text, role="system") == ["Ask for the ship's name first.", "A berth can be changed only once."]


@pytest.mark.parametrize(
    "text",
    [
        "The export must always show the number of rows. And disable when nothing is selected.",
        "Please never push to main. Or only when I say so.",
        "Der Knopf muss immer sichtbar sein. Und gesperrt, wenn nichts gewählt ist.",
    ],
)
def test_what_continues_a_constraint_under_a_condition_is_part_of_it(text: str) -> None:
    assert found(f"{text} The lint fails.") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "We don't want a table for each harbour. We want one for all of them.",
        "Don't print the log. Instead, write it to a file.",
        "There is no need to stop after each harbour. You can go on until one of them fails.",
        "Never read the raw tables. This includes the ones in the archive.",
        "Put nothing into the old file, don't touch it. As we need it for the other harbours.",
        "Ändere die alte Tabelle nicht. Das gilt für alle Häfen.",
    ],
)
def test_a_constraint_stands_with_its_limit_its_reason_or_what_is_wanted_in_its_place(text: str) -> None:
    assert found(f"{text} The lint fails.") == [text]


@pytest.mark.parametrize(
    "behind",
    [
        "And fix the lint.",
        "When nothing is selected it fails.",
        "And what if nothing is selected?",
        "You can see the log in the terminal.",
        "Just tell me what to do.",
        "I want to see the log.",
    ],
)
def test_what_only_follows_a_constraint_is_no_part_of_it(behind: str) -> None:
    assert found(f"Never push to main. {behind}") == ["Never push to main."]
    assert found("Never push to main.\n\nAnd disable it when nothing is selected.") == ["Never push to main."]


@pytest.mark.parametrize(
    "text",
    [
        "Just this once skip the changelog.",
        "For this commit only, don't run the linter.",
        "Only for this change, never add tests.",
        "Nur für diesen Commit keine Tests ausführen.",
    ],
)
def test_what_says_itself_that_it_holds_once_binds_nothing_later(text: str) -> None:
    assert found(text) == []
    assert found(f"Never use sleep in tests. {text}") == ["Never use sleep in tests."]


def test_what_is_limited_to_a_session_binds_in_it() -> None:
    assert found("For this session only, never push.") == ["For this session only, never push."]


def test_a_constraint_that_sets_another_figure_takes_the_place_of_the_earlier_one() -> None:
    def stands(*texts: str) -> list[str]:
        return [line.text for line in valid_pins([line for each in said(*texts) for line in find_pins(each)], [])]

    assert stands("Use Postgres 15 in CI, not 14.", "Actually use Postgres 16 in CI.") == [
        "Actually use Postgres 16 in CI."
    ]
    bans = ["Never touch port 8080.", "Never touch port 9090."]
    assert stands(*bans) == bans


@pytest.mark.parametrize(
    ("text", "pins"),
    [
        ("For the nightly report NOT at start, ONLY once somebody opens it.", ["For the nightly report NOT at start"]),
        ("We don't want it in the public build, yeah?", ["We don't want it in the public build"]),
        ("I wrote a helper that joins the paths, don't join them by hand.", ["I wrote a helper that joins the paths"]),
        (
            "Answer in this form:\n```\nid: text\n```\nNever put two ids on one line.",
            ["Never put two ids on one line."],
        ),
        ("I think this is the slowest one and most work, let's leave it", []),
    ],
)
def test_emphasis_and_bans_bind_and_what_only_points_at_the_agents_words_does_not(text: str, pins: list[str]) -> None:
    assert [pin[: len(told)] for pin, told in zip(found(text), pins, strict=True)] == pins


def test_a_pasted_screen_with_an_earlier_rule_is_no_second_pin_and_is_let_go_of_with_it() -> None:
    rule = "keep all the colours of the report that we have"
    first, _, pasted, after = said(f"Please {rule}.", "Thanks.", f"it looks wrong:\n v * ok - {rule}\n v other", "ok")
    pins = [*find_pins(first), *find_pins(pasted)]
    assert len(pins) == 2
    assert [line.text for line in valid_pins(pins, [])] == [f"Please {rule}."]
    released = Line(text=f"Please {rule}.", weight=BY_HAND, position=after.position, sources=())
    assert valid_pins(pins, [released]) == []


@pytest.mark.parametrize(
    "text",
    [
        "You can read the old notes in docs/tides.md if you need to, don't read all of them.",
        "for 3 drop the seconds, we only need minutes",
        "item 2: use the lamp only at night",
    ],
)
def test_an_offer_and_an_order_for_an_item_of_a_list_bind_nothing_later(text: str) -> None:
    assert found(text) == []


def test_how_to_do_something_is_a_part_of_the_task_in_a_template() -> None:
    template = (
        "# Review the tide tables\n\n" + "Each table has a row for every harbour and every hour of the day. " * 20
    )
    assert found("Use file names to refer to a table.") == ["Use file names to refer to a table."]
    assert found(f"{template}\n\nUse file names to refer to a table.") == []
    assert found(f"{template}\n\nNever touch the tables of last year.") == ["Never touch the tables of last year."]
