"""The offline summariser of stories: sentences, names, and what is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.golden.small_story import story, story_record

from ireneo.log.message import Draft, Message, Role, Text, message_id
from ireneo.summaries.speech import find_recaps
from ireneo.summaries.story_names import key_words, names_in
from ireneo.summaries.summary import Section
from ireneo.summaries.tell_story import (
    DEEP_LINES,
    LEAF_LINES,
    LEAF_NAMES,
    MAX_SENTENCE,
    clipped,
    is_chatter,
    is_heading,
    salience,
    sentences,
    tell_deeper,
    tell_leaf,
)


def messages(*said: str | tuple[str, str], roles: Sequence[Role] = ("assistant",)) -> list[Message]:
    out: list[Message] = []
    for number, each in enumerate(said):
        author, text = each if isinstance(each, tuple) else (None, each)
        role = roles[number % len(roles)]
        parts = (Text(text=text, author=author),)
        out.append(
            Message(
                id=message_id(out[-1].id if out else None, role, parts),
                parent=out[-1].id if out else None,
                position=number,
                turn=number + 1,
                tokens=0,
                thinking_tokens=0,
                total_tokens=0,
                draft=Draft(role=role, parts=parts),
            )
        )
    return out


def lines(sections: Sequence[Section], name: str = "story") -> list[str]:
    return [line.text for section in sections if section.name == name for line in section.lines]


def names(sections: Sequence[Section]) -> list[str]:
    return [
        mention.name
        for section in sections
        if section.name == "artifacts"
        for line in section.lines
        for mention in line.names
    ]


def test_quotations_stay_whole_and_abbreviations_end_nothing() -> None:
    text = 'Mr. Hale rose. "I lied. Forgive me," he said. "Where is she?" asked Dr. Mora.'
    assert [each for each, _ in sentences(text)] == [
        "Mr. Hale rose.",
        '"I lied. Forgive me," he said.',
        '"Where is she?" asked Dr. Mora.',
    ]


def test_stage_directions_and_markup_come_off() -> None:
    assert list(sentences("(laughs) *The door opens slowly.* (all laugh)")) == [("The door opens slowly.", True)]


def test_long_sentences_end_at_a_clause() -> None:
    long = "The old ferry came in from Marrow, " * 24
    assert clipped(long).endswith("Marrow…")
    assert len(clipped(long)) <= MAX_SENTENCE


def test_a_name_is_what_is_written_large_within_sentences() -> None:
    found = names_in(["Vera met Captain Orsk of Marrow.", "Then Orsk left.", "Orsk was tired, and The Captain knew."])
    assert found[0] == ("Captain Orsk of Marrow",)
    assert found[2] == ("Orsk", "Captain")
    assert key_words("Captain Orsk of Marrow") == ("captain", "orsk", "marrow")


def test_german_nouns_are_no_names() -> None:
    told = tell_leaf(
        messages(
            "Viktor wartete am Ofen. Anna kam in die alte Mühle, und der Müller schloss die Tür.",
            "„Wo ist der Brief?“, fragte Anna. Da gestand Viktor, dass er ihn verbrannt hatte.",
        )
    )
    assert set(names(told)) == {"Anna", "Viktor"}


def test_french_is_not_taken_for_german() -> None:
    told = tell_leaf(messages("La mère de Claire avait caché la lettre des Duval à Lyon, dans le four des voisins."))
    assert names(told) == ["Claire", "Duval", "Lyon"]


def test_scripts_without_case_have_names_too() -> None:
    told = tell_leaf(
        messages("太郎は京都に着いた。花子が駅で待っていた。", "花子は黙っていた。マルコは太郎を許さなかった。")
    )
    assert {"太郎", "花子"} <= set(names(told))
    assert lines(told)


@pytest.mark.parametrize(
    "idle", ["Hello!", "Yeah, okay, sure.", "Haha, that is the best thing I heard all day.", "Can I go with?", "Hm."]
)
def test_chatter_is_left_out(idle: str) -> None:
    assert is_chatter(idle)


def test_titles_of_chapters_are_headings() -> None:
    assert is_heading("The Captain's Last Journey to Marrow")
    assert not is_heading("The captain left for Marrow with his last crew.")


def test_turns_of_the_story_weigh_more_than_the_dice() -> None:
    turn = salience("Mother Quill dies, and Edwin confesses that he betrayed her.")
    assert turn > 2 * salience("The sky above the harbour was a pale grey colour.")
    assert salience("He attacks, and I roll a d20 for damage.") < 0.5 * salience("He attacks the old keeper at night.")


def test_a_character_is_named_before_what_she_says_and_a_narrator_is_not() -> None:
    told = lines(tell_leaf(story()))
    assert any("Vera: I lied about the letter. My brother Edwin wrote it, and Aldous knew." in line for line in told)
    assert "Aldous is arrested." not in told  # It is too short to say anything.
    assert any("Captain Orsk arrives with two guards" in line for line in told)
    assert not any("Haha" in line or "Lol" in line for line in told)


def test_the_narrator_of_a_game_is_known_by_what_he_says() -> None:
    said = [
        ("MO", "You see the gate of Fort Dunmere, and the guards before it are dead. The banner of Ilse is burning."),
        ("JO", "I look for my bow, and I hide behind the wall of the fort."),
        ("AL", "I follow her, and I whisper to my raven that we are there."),
    ]
    told = lines(tell_leaf(messages(*said * 8)))
    assert told[0].startswith("You see the gate")
    assert any("JO: I look for my bow, and I hide behind the wall of the fort." in line for line in told)


def test_idle_sentences_of_a_turn_give_way_to_an_ellipsis() -> None:
    said = (
        "The queen betrayed the harbour and sold the fleet for a crown. It was a bright and breezy sort of morning, and"
        " it looked as if it would stay so. And then her own captain murdered her in the tower with a stolen knife."
    )
    told = lines(tell_leaf(messages(("Vera", said), ("Tom", "We buried the old keeper beside the chapel last night."))))
    assert told[0].startswith("Vera: The queen betrayed the harbour and sold the fleet for a crown. … And then her own")


def test_an_author_who_writes_of_the_character_by_the_last_name_is_no_narrator() -> None:
    turns = [
        ("Marten Holm", f'Holm puts the {what} down and looks at the door of the mill. "Nobody leaves this house."')
        for what in ("lamp", "knife", "letter", "bottle", "bread", "rope")
    ]
    others = [("Ilse Rane", '"I did not take it." I sit down.'), ("Jo Quell", '"I saw nothing." I drink my tea.')]
    told = lines(tell_leaf(messages(*(each for turn in turns for each in (turn, *others)))))
    assert [line for line in told if line.startswith("Marten Holm: Holm puts the ")]


def test_user_and_assistant_are_told_apart_where_they_speak_of_themselves() -> None:
    told = tell_leaf(
        messages(
            "I moved to Lisbon with my sister Ruth.", "Lisbon is where Ruth was born.", roles=("user", "assistant")
        )
    )
    assert lines(told) == ["User: I moved to Lisbon with my sister Ruth.", "Lisbon is where Ruth was born."]
    assert "User" not in names(told)


def test_nothing_said_is_nothing_told() -> None:
    assert tell_leaf([]) == ()
    assert tell_leaf(messages("", "   ")) == ()
    assert tell_deeper([]) == ()


def test_a_leaf_is_bounded() -> None:
    many = messages(
        *(f"In the year of fire Lord Quorl{'abcdefghij'[n % 10]}{n} found the key of Mark{n}." for n in range(300))
    )
    told = tell_leaf(many)
    assert len(lines(told)) == LEAF_LINES
    assert len(names(told)) <= LEAF_NAMES


def test_a_deeper_summary_tells_of_all_its_time() -> None:
    parts = []
    for number in range(24):
        stretch = messages(
            *(f"In the town Bel{number} the keeper number {n} found a secret letter." for n in range(12))
        )
        parts.append(story_record(stretch, tell_leaf(stretch)))
    told = lines(tell_deeper(parts))
    assert len(told) <= DEEP_LINES
    assert all(any(f"Bel{number} " in line for line in told) for number in range(0, 24, 2))


WELCOME = "Welcome back, everybody, and thanks to our friends at Bellweather Mugs, the mugs that whistle."
RECAP = (
    "So, last we left off, the three wardens had carried the drowned bell up from the lake of Orrin. Sister Maud paid "
    "the ferryman with her own ring, since nobody else had anything left. In the night Corvin rang the bell against "
    "her will, and all the dead of the old village came up the shore. Two of the wardens fled, and Maud stayed. "
    "She bargained with the eldest of the dead, a miller called Hanno, who gave her until the thaw to bring his "
    "daughter home. And that is where we left off."
)
SCENE = (
    "You stand on the shore, and you see your tracks in the snow, all of them going into the water and none of them "
    "coming out. What do you do?"
)


def campaign(*, scenes: int = 70) -> list[Message]:
    said = [("GM", WELCOME), ("JO", "Hello hello!"), ("GM", RECAP), ("AL", "Poor Maud."), ("GM", SCENE)]
    for n in range(scenes):
        said.append(("GM", f"Behind the {n}th door lies a chamber with a dragon, and the dragon attacks the wardens."))
        said.append(("JO", f"I attack the dragon with arrow {n}, and I look for the secret key to door {n}."))
    return messages(*said)


def test_a_recap_is_told_whole_and_what_is_played_behind_it_is_none() -> None:
    found = find_recaps(campaign())
    assert [RECAP[start:end] for start, end in found.values()] == [RECAP]
    assert not find_recaps(
        messages(("GM", SCENE * 4), ("JO", "We left off our boots at the door, if you recall, did we not?"))
    )


def test_a_recap_goes_on_behind_what_is_thrown_in_and_ends_before_the_game() -> None:
    cut = RECAP.index(" She bargained")
    said = campaign(scenes=2)
    parts = messages(
        ("GM", f"{RECAP[:cut]} The bell cracked, the lake rose as far as the chapel, and nobody slept. And--"),
        ("JO", "Poor Maud!"),
        ("GM", "-- " + RECAP[cut:]),
        ("GM", SCENE * 3),
    )
    found = find_recaps([*parts, *said[5:]])
    assert [name for name, _ in found] == [parts[0].id, parts[2].id]


def test_a_recap_without_its_opener_is_known_by_its_end() -> None:
    (span,) = find_recaps(messages(("GM", RECAP.removeprefix("So, last we left off, ") + " " + SCENE))).values()
    assert span == (0, len(RECAP) - len("So, last we left off, "))


def test_a_deep_summary_keeps_every_recap_however_much_else_there_is() -> None:
    parts = [story_record(stretch, tell_leaf(stretch)) for stretch in (campaign(), *[campaign()[5:]] * 12)]
    told = " ".join(lines(tell_deeper(parts)))
    for sentence, _ in sentences(RECAP):
        assert sentence in told or sentence.startswith("And that is")
    assert "Bellweather" not in told.replace(WELCOME, "", 1)


def test_neighbouring_sentences_stay_together() -> None:
    text = "Hanno opened the gate for the army. He had been promised his daughter in return. She was not among them."
    assert lines(tell_leaf(messages(text))) == [text]


def test_names_are_weighed_by_the_messages_that_have_them() -> None:
    said = ("LAURA", "I think that the smith knows where Maren hid the ledger of Corvin."), ("LIAM", "Ask Maren.")
    (line,) = [
        line
        for section in tell_leaf(messages(*said * 4, roles=("user",)))
        if section.name == "artifacts"
        for line in section.lines
    ]
    assert [mention.name for mention in line.names] == ["Maren", "Corvin"]
