"""Who is who in a story: what is found, what is told, and what isn't."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.golden.story import logged

from ireneo import Draft
from ireneo.log.message import Text
from ireneo.summaries.cast import (
    DEEP_LINES,
    CastMember,
    KnownCast,
    aliases,
    cast_section,
    known_cast,
    render_cast,
    render_players,
)
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.story import make_deeper, make_leaf
from ireneo.summaries.summary import Summary

POLICY = Policy(name="story", story=StorySettings())


def leaf(*lines: tuple[str, str]) -> Summary:
    drafts = [
        Draft(role="user" if author else "assistant", parts=(Text(text=text, author=author or None),))
        for author, text in lines
    ]
    return make_leaf(logged(drafts), POLICY)


def told(*nodes: Summary) -> list[str]:
    return render_cast(known_cast(nodes), 700, len)


PLAYED = leaf(
    ("GM", "You make your way to the tavern of Old Harrow. A woman called Sela, the innkeeper, greets you."),
    ("GM", "Sela smiles and pours the ale. Sela waits. Brom, what do you do?"),
    ("Nick", "I grab a mug. I'm playing Brom Ironfoot, the dwarf cleric, for those who just joined."),
    ("GM", "Brom, your mug is empty already."),
    ("Nick", "Then I ask for another."),
    ("GM", "Lia, you see a stranger at the door. Lia?"),
    ("Anna", "I reach for my bow. Nick, pass the chips."),
    ("GM", "Lia, the stranger bows."),
    ("Anna", "I bow as well. Brom is dead! (laughs)"),
    ("GM", "Lia, your brother Edric walks in. Edric nods to Brom."),
    ("Anna", "My brother Edric? I hug him."),
    ("GM", "Lia, Brom, the night falls. Lia?"),
    ("Anna", "I go to sleep. I play Lia as a light sleeper."),
    ("GM", "Brom snores. Lia dreams. Sela locks the door. Edric waits."),
)


def test_who_plays_whom_is_known_by_who_answers() -> None:
    assert set(told(PLAYED)) >= {
        "- Brom Ironfoot (played by Nick): the dwarf cleric",
        "- Sela: the innkeeper",
        "Narrator: GM",
    }
    edric = next(line for line in told(PLAYED) if "Edric" in line)
    assert edric == "- Edric: Lia’s brother"
    assert not any(line.startswith(("- Nick", "- Anna", "- GM")) for line in told(PLAYED))


def test_who_speaks_in_the_story_is_nobodys_player() -> None:
    lines = [
        ("Mara", "*Mara sets the lantern down.* I am Mara, the keeper of the light. Agnes, my daughter, helps me."),
        *[("Tom", "Agnes, what do you say? *Tom turns to Agnes.*"), ("Mara", "*Agnes nods.* Mara waits.")] * 6,
    ]
    assert set(told(leaf(*lines))) >= {"- Mara: the keeper of the light", "- Agnes: Mara’s daughter"}
    assert not any("played by" in line for line in told(leaf(*lines)))


def test_a_jest_kills_nobody() -> None:
    assert not any("dead" in line for line in told(PLAYED))


def test_whom_a_player_plays_is_not_told_dead() -> None:
    ends = "The day Edric died was cold. Brom has died as well, and Brom is dead."
    dead = leaf(("Anna", "Oh no."), ("GM", "Brom dies. Edric is dead."), ("Nick", "What a day."), ("GM", ends))
    lines = told(PLAYED, dead)
    assert "- Brom Ironfoot (played by Nick): the dwarf cleric" in lines
    assert "- Edric: Lia’s brother; dead" in lines


def test_who_is_played_in_one_part_of_a_long_story_alone_is_none_of_its_cast() -> None:
    turns = [line for _ in range(9) for line in (("Anna", "It is your turn, Zorro."), ("Paul", "Then I draw a card."))]
    jest = leaf(*turns, ("GM", "Zorro waits. Then Zorro wins, and Zorro smiles. Zorro nods and Zorro laughs."))
    assert "- Zorro (played by Paul)" in told(jest, jest, PLAYED)
    assert not any("Zorro" in line for line in told(*[PLAYED] * 8, jest, jest, *[PLAYED] * 8))


RENAMED = leaf(
    ("Mara", "I keep the inn here, as my mother did before me."),
    ("Tom", "From now on call me Crow. Nobody may know that Tom came back."),
    ("Mara", "As you like, Crow. And Sister Agnes, the healer of the valley, is waiting upstairs."),
    ("Mara", "Crow turned to the stairs, and Agnes opened the door."),
    ("Tom", "Agnes nodded, and Crow said nothing."),
)


def test_a_renaming_splits_nobody() -> None:
    assert "- Tom (also Crow)" in told(RENAMED)
    assert aliases([RENAMED])["Crow"] == "Tom"
    # Nor does it where the new name is all that the later part has.
    later = leaf(("Mara", "Crow came in. Crow looked tired."), ("Tom", "Mara smiled, and Crow sat down."))
    assert "- Tom (also Crow)" in told(RENAMED, later)
    deep = make_deeper([RENAMED, later], [RENAMED, later], POLICY)
    assert told(deep) == told(RENAMED, later)


def test_who_wants_a_name_no_more_had_it() -> None:
    known = known_cast(
        [
            leaf(
                ("Crow", "I climb the wall. Crow was never caught."),
                ("Mara", "Crow, come down from there!"),
                ("Agnes", "Don't call me Crow any more. I mean it, Mara."),
                ("Mara", "Then come down, Agnes. Crow is gone."),
            )
        ]
    )
    assert {"Agnes", "Crow"} in [set(each.names) for each in known.people]


def test_who_says_another_name_of_their_own_at_a_roll_call_has_both_and_is_nobodys_player() -> None:
    scene = [
        ("Lark", "*Lark ties the boat.* I have a roll of forty names, and no ferry."),
        ("Tom", "Lark, who is on that roll?"),
        ("Lark", "Lark is a word from a roll call. My name is Edda Marsh. From today I go by Edda."),
        ("Tom", "*Tom nods.* Then come in, Edda. The soup is hot, and Tom is hungry."),
    ]
    known = known_cast([leaf(*scene, *scene[:2])])
    assert [set(each.names) >= {"Lark", "Edda"} for each in known.people if "Lark" in each.names] == [True]
    assert {each.name for each in known.people} == {"Lark", "Tom"}
    assert not any(each.player for each in known.people)


def test_main_characters_are_named_and_nobody_is_whom_only_one_sentence_names() -> None:
    scene = [
        ("Wil Tarn", "I take the oar, and Wil pushes off. My map is dry."),
        ("Mara Voss", "Mara nods and takes the other one."),
        ("Old Jost", "Jost coughs and looks at the water."),
    ]
    once = ("Mara Voss", "My sister Dora, the weaver, would laugh at us.")
    assert told(leaf(*scene * 15, once)) == ["Who is who:", "- Wil Tarn, Mara Voss, Old Jost"]


def test_who_narrates_a_written_play_and_acts_in_it_is_of_the_cast_and_two_who_speak_are_two() -> None:
    played = leaf(
        *[
            ("Alva Brandt", f"Slowly Brandt shuts drawer {number}. Then Brandt laughed. The wind shakes the shed.")
            for number in range(8)
        ],
        *[("Suri", f"I count crate {number} and wonder.") for number in range(8)],
        ("Suri", "I am Suri Hallam, if you must know."),
        ("Hallam", "So you are my daughter."),
        ("Hallam", "I have looked for you everywhere."),
        ("Hallam", "Come home, Suri."),
        ("Alva Brandt", "They saw that Teo fell. Teo is dead. The shed is quiet."),
    )
    assert "Alva Brandt" in [each.name for each in known_cast([played]).people]
    assert not any("also" in line for line in told(played))
    assert aliases([played]).get("Hallam", "Hallam") == "Hallam"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hobb walked home. Hobb is dead.", "- Hobb: dead"),
        ("Caleb, whose real name is Bren, sat down. Caleb waited. Bren listened.", "- Caleb (also Bren)"),
        ("Ruan, also known as Otter, laughed. Otter waved. Ruan waved too.", "- Ruan (also Otter)"),
        ("Old Hobb is dead. They say that Hobb walked home alone.", "- Hobb: dead"),
        ("Ilse waited. Ilse is the captain of the guard. Ilse laughed.", "- Ilse: the captain of the guard"),
        (
            "Da kam Vera, auch Elster genannt, herein. Man sah, wie Vera lachte und Elster nickte.",
            "- Vera (also Elster)",
        ),
        ("Holm, der Wirt, lachte laut. Vera sah ihn an. Da hörte man, wie Holm lachte.", "- Holm: der Wirt"),
    ],
)
def test_what_is_plainly_said_is_told(text: str, said: str) -> None:
    assert said in told(leaf(("", text)))


@pytest.mark.parametrize(
    "text",
    [
        "If Hobb is dead, we must hurry. Then Hobb walked in. Hobb smiled.",
        "My aunt, Hobb, and I went home. Hobb walked ahead. Hobb sang.",
        "Hobb, the door is open. Hobb walked in. Hobb sat down.",
        "Hobb is a tired man. Hobb walked in. Hobb sat down.",
        "“My brother Hobb walked in,” he said. Hobb sat down. Hobb waited.",
        "Hobb was nearly killed. Hobb walked in. Hobb sat down.",
    ],
)
def test_what_is_not_plain_is_not_told(text: str) -> None:
    assert told(leaf(("", text))) == []


def test_who_acts_after_a_death_is_alive() -> None:
    dead = leaf(("", "So Hobb is dead. They say that Hobb walked home alone."))
    alive = leaf(("", "Hobb walked in. Hobb sat down. Hobb laughed. Hobb asked for ale. Hobb waited. Hobb left."))
    assert told(dead) == ["Who is who:", "- Hobb: dead"]
    assert told(dead, alive) == []


PROSE = leaf(
    *(
        ("", text)
        for text in (
            "Captain Hobb walked down to the quay. Captain Hobb waited there for the ferry.",
            "“The ferry is late,” said Mr. Hobb. “Long Peter Vane is never late.”",
            "“Never,” said Long Peter. Vane laughed. Long Peter shook his head. Long Peter Vane looked at the sea.",
            "Cap'n Hobb nodded. Vane sat down, and Hobb sat down beside Vane.",
        )
    )
)


def test_one_man_has_several_titles() -> None:
    known = {each.name: set(each.names) for each in known_cast([PROSE]).people}
    assert {"Captain Hobb", "Cap'n Hobb", "Mr. Hobb"} <= known["Captain Hobb"]


def test_summaries_of_an_earlier_version_say_nothing() -> None:
    assert told() == []
    assert cast_section([(), ()], DEEP_LINES) is None


def test_it_has_no_more_than_its_room() -> None:
    known = known_cast([PLAYED])

    def size(lines: Sequence[str]) -> int:
        return sum(len(line) + 1 for line in lines)

    for room in range(0, 400, 13):
        assert size(render_cast(known, room, len)) <= room


def test_beside_a_models_prose_only_players_and_other_names_are_told() -> None:
    known = KnownCast(
        people=(
            CastMember(name="Vera", names=("Vera",), full="Vera Lund", player="ANNA", is_so=("a nurse",), weight=9.0),
            CastMember(name="Holm", names=("Holm",), full="Holm", aliases=("the Heron",), weight=5.0),
            CastMember(name="Tam", names=("Tam",), full="Tam", is_so=("a keeper",), weight=4.0),
            CastMember(name="Mira", names=("Mira",), full="Mira", player="OLGA", weight=0.2),
        ),
        narrator="PAUL",
    )
    lines = ["Played: Vera by ANNA; told by PAUL", "- Holm, also the Heron"]
    assert render_players(known, 100, len) == lines
    assert render_players(known, len(lines[0]) + 1, len) == lines[:1]
    assert render_players(KnownCast(), 100, len) == []


NOVEL = Draft(role="user", parts=(Text(text="“Tom, I owe you forty crowns,” said Vera Holm. Vera Holm laughed."),))


def test_of_a_novel_rules_do_not_tell_who_is_who() -> None:
    found = make_leaf(logged([NOVEL, NOVEL]), POLICY)
    assert not found.lines("cast")


def test_a_writer_of_several_characters_plays_none_of_those_who_answer() -> None:
    voiced = [
        turn
        for what in ("horses", "goats", "hens", "dogs", "bees", "geese")
        for turn in (
            ("Ilse Rane", f'"Tam, are the {what} fed?" I look round for the boy.'),
            ("Marten Holm", f'A small boy nods. "The {what} are, miss." Holm laughs at him, and Tam runs off.'),
        )
    ]
    assert not [line for line in told(leaf(*voiced, *voiced)) if "played by" in line]


def test_a_thing_that_bears_a_name_is_not_its_owner() -> None:
    said = [
        ("Ilse Rane", 'I read the name on the boat: BRYN\'S REST, in white. "Bryn is dead, Holm."'),
        ("Marten Holm", 'I go on board, and I push her off. "BRYN\'S REST is ours, then. He drowned, poor Bryn."'),
        ("Ilse Rane", 'I wait until BRYN\'S REST leaves the quay. "Bryn died for this," I say.'),
    ]
    assert told(leaf(*said, *said)) == ["Who is who:", "- Ilse Rane, Marten Holm", "- Bryn: dead (says Ilse Rane)"]
