"""What of a sentence about a story its sources show: names wherever they stand, numbers in words, quotations."""

from __future__ import annotations

import pytest

from ireneo.grounding.check import is_first_person, names_own_character, story_sentence_faults
from ireneo.grounding.story import StorySourceIndex, quotations, sentences, with_quotation_marks, without_wrong_clauses
from ireneo.language.numbers import numbers_in_words
from ireneo.language.topics import Voice

ENGLISH = StorySourceIndex(
    [
        "Vera: I *never* lied. The letter burned three years ago, on 4 March 1851, in Port Alder. It is a long way.",
        "Holm: 'I don't know,' he said. The old man laughed at the captain, who owes me forty guineas. Will you come?",
    ]
)
GERMAN = StorySourceIndex(
    [
        "Vera ging nach Hause und sagte zu Holm, dass sie den Brief verbrannt habe und nicht mehr daran denken wolle.",
        "Der alte Mann lachte und gab ihr drei Münzen, die er in dem Hafen von Lübeck gefunden hatte.",
    ]
)


def unknown(evidence: StorySourceIndex, text: str) -> list[str]:
    return [claim.text for claim in evidence.check_sentence(text)[1]]


@pytest.mark.parametrize(
    "text",
    [
        "Vera told the Captain that he owed her 40 guineas.",
        "“I never lied,” Vera said to Holm.",
        "Holm's laugh was old, and he said “I don't know” to her.",
        "Three years later the two met in Port Alder.",
        "Frightened, Vera and Holm fled. Quietly, she burned it.",
        "The Captain laughed. Captain Holm did not come.",
        "On 4 March 1851 the letter burned.",
    ],
)
def test_what_the_sources_show(text: str) -> None:
    for sentence in sentences(text):
        assert unknown(ENGLISH, sentence) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Zed laughed.", "Zed"),
        ("Zed's laugh was old.", "Zed"),
        ("Zed laughs.", "Zed"),
        ("Zed then burned it.", "Zed"),
        ("Zed slowly burned it.", "Zed"),
        ("Zed didn't burn it.", "Zed"),
        ("Zed, old and grey, laughed.", "Zed"),
        ("Zed, the captain, laughed.", "Zed"),
        ("Zed, who laughed, lied.", "Zed"),
        ("Zed and Vera came.", "Zed"),
        ("Zed, Vera and Holm came.", "Zed"),
        ("“I never lied,” Zed said.", "Zed"),
        ("Then came the end: Zed laughed.", "Zed"),
        ("She saw Al and Vera.", "Al"),
        ("Vera Lund laughed.", "Lund"),
        ("She felt Hope.", "Hope"),
        ("Stan laughed.", "Stan"),
        ("He owed fifty guineas.", "fifty"),
        ("He owed 14 guineas.", "14"),
        ("It burned in 1852.", "1852"),
        ("On 5 March it burned.", "5 March"),
        ("She said “I lied.”", "I lied."),
        ("He called it “treason”.", "treason"),
        ("He said 「I lied」.", "I lied"),
    ],
)
def test_what_they_do_not_show(text: str, wrong: str) -> None:
    assert unknown(ENGLISH, text) == [wrong]


def test_a_word_that_begins_a_sentence_may_stand_there_in_another_form() -> None:
    index = StorySourceIndex(
        ["Vera scried for the ring. Chromatics have no family, and she was driven away in a rage."]
    )
    for text in (
        "Raging Vera left.",
        "Scrying showed Vera the ring.",
        "Chromatic lizards have no family.",
        "Driving exhausted Vera.",
    ):
        assert unknown(index, text) == []
    for text in ("Sterling showed Vera the ring.", "Zorg laughed.", "Scrying's ring shone."):
        assert unknown(index, text)


def test_a_number_in_words_is_known_as_it_stands() -> None:
    index = StorySourceIndex(["Vera, you see hundreds and hundreds of sets of eyes."])
    assert unknown(index, "Vera saw hundreds of eyes.") == []
    assert unknown(index, "Vera saw thousands of eyes.") == ["thousands"]


def test_one_of_several_is_known_where_all_of_them_are() -> None:
    index = StorySourceIndex(["The Carvers guard the gate."])
    assert unknown(index, "He spoke to a Carver at the gate.") == []
    assert unknown(index, "He spoke to a Carve at the gate.") == ["Carve"]


def test_in_german_a_capital_says_little() -> None:
    assert unknown(GERMAN, "Mit großer Angst verbrannte Vera den Brief in dem Hafen und bekam 3 Münzen.") == []
    assert unknown(GERMAN, "Die Verzweiflung wuchs, und der Mut sank.") == []
    assert unknown(GERMAN, "Zarkon verbrannte den Brief.") == ["Zarkon"]
    assert unknown(GERMAN, "Vera bekam fünf Münzen, als Zarkon lachte.") == ["fünf", "Zarkon"]


def test_in_a_script_without_capitals_names_are_looked_for_as_they_stand() -> None:
    evidence = StorySourceIndex(["维拉：「信没有烧掉。」霍尔姆离开了灯塔。"])
    assert evidence.has_name("霍尔姆")
    assert not evidence.has_name("扎尔孔")
    assert unknown(evidence, "维拉说「信没有烧掉」。") == []
    assert unknown(evidence, "维拉说「我爱你」。") == ["我爱你"]


def test_a_word_that_is_known_for_an_invention_is_one_everywhere() -> None:
    text = "Slowly, Rain of all people came."
    assert unknown(ENGLISH, "Zarkon, at last.") == []
    assert [claim.text for claim in ENGLISH.check_sentence("Zarkon, at last.", ["zarkon"])[1]] == ["zarkon"]
    assert unknown(ENGLISH, text) == ["Rain"]


def test_a_sentence_about_something_else_is_told_by_its_words() -> None:
    assert ENGLISH.is_foreign("Dragons laughed around empty castles, besieging helpless villages.") is False
    assert ENGLISH.is_foreign("Dragons gathered outside empty castles, besieging helpless villages.")
    assert not ENGLISH.is_foreign("Dragons slept.")


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("three hundred and twenty pounds", [320]),
        ("five and twenty men, or thirty", [25, 30]),
        ("twenty and thirty", [20, 30]),
        ("in nineteen forty-one", [1941]),
        ("one of them, the second, the third", [3]),
        ("twenty-first of two", [21, 2]),
        ("a hundred thousand and two dozen", [100_002, 12]),
        ("einundzwanzig Männer, dreihundert Frauen", [21, 300]),
    ],
)
def test_numbers_in_words(text: str, worth: list[int]) -> None:
    found = [value for _, value in numbers_in_words(text)]
    assert found == worth or "dozen" in text


def test_sentences_keep_their_quotations_and_titles() -> None:
    text = (
        "Mr. Hook said: “I lied. I burned it.” She wept. “Where?” she asked. J. R. Smith left. It was I. He came.\nEnd"
    )
    assert sentences(text) == [
        "Mr. Hook said: “I lied. I burned it.”",
        "She wept.",
        "“Where?” she asked.",
        "J. R. Smith left.",
        "It was I.",
        "He came.",
        "End",
    ]
    assert sentences("“I lied. " + "He came back to the house by the sea. " * 20)[0] == "“I lied."


def test_quotation_marks() -> None:
    assert with_quotation_marks("He said 'I don't know' of the boys' dog and the girls' cat.") == (
        "He said “I don't know” of the boys' dog and the girls' cat."
    )
    assert quotations('“a b” «c» ‘d’ "e" 「f」 “…”') == ["a b", "c", "d", "e", "f"]


@pytest.mark.parametrize(
    ("voice", "text", "shown"),
    [
        ("third", "I lied.", "I"),
        ("third", "You lied.", "You"),
        ("third", "We went home.", "We w"),
        ("second", "I lied.", "I"),
        ("first", "You lied.", "You"),
        ("third", "The user asked Holm.", "The user"),
        ("third", "Vera: “I left.”", "Vera:"),
        ("third", "In this chapter Holm left.", "In this chapter"),
        ("third", "The scene opens with Holm.", "The scene opens"),
        ("third", "1. Holm left.", "1. H"),
    ],
)
def test_a_story_is_told(voice: Voice, text: str, shown: str) -> None:
    faults = story_sentence_faults(text, voice, True, lambda role: True)
    assert any(f"“{shown}" in fault for fault in faults), faults


def test_what_is_said_in_a_story_is_no_fault() -> None:
    assert story_sentence_faults("She said: “You and I.”", "third", True, lambda role: True) == []
    assert story_sentence_faults("I could not help laughing.", "first", True, lambda role: True) == []
    assert story_sentence_faults("The player took the piano.", "third", True, lambda role: role != "player") == []
    assert story_sentence_faults("I soldati partirono.", "third", False, lambda role: True) == []


def test_who_remembers_is_not_somebody_else() -> None:
    assert names_own_character("Vera left.", "Vera")
    assert names_own_character("I saw Vera leave.", "Vera Lund")
    assert not names_own_character("They called me Vera.", "Vera")
    assert not names_own_character("He said “Vera left.”", "Vera")
    assert is_first_person("He gave me the ring.")
    assert not is_first_person("He said “I left.”")


def test_names_of_the_cast_are_known_though_nobody_utters_them() -> None:
    told = "Marlow laughed at Vera, who lied."
    cast = StorySourceIndex(["Vera: I never lied. The old man laughed."], names=["Vera (a captain), Marlow Quint"])
    assert unknown(StorySourceIndex(["Vera: I never lied. The old man laughed."]), told) == ["Marlow"]
    assert unknown(cast, told) == []
    assert unknown(cast, "Zed laughed at Vera.") == ["Zed"]
    assert unknown(cast, "“A captain is late,” said Marlow Quint.") == ["A captain is late,"]


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("Vera lied to Holm about the letter, and Zed laughed at her.", "Vera lied to Holm about the letter."),
        ("Zed burned the letter, and Holm laughed at the old man.", "Holm laughed at the old man."),
        ("The captain, who hated Zed, owed Holm forty guineas.", "The captain owed Holm forty guineas."),
        ("Vera gave the letter to Holm, who was afraid of Zed.", "Vera gave the letter to Holm."),
        ("Vera took the letter and told Zed of it.", "Vera took the letter."),
        ("Vera struck the old man; Holm laughed at Zed.", "Vera struck the old man."),
        ("Holm told her that the letter had burned, while Zed slept.", "Holm told her that the letter had burned."),
        ("Vera left, and Zed burned the letter.", "Vera left."),
        # What limits, leads on to or is the subject of the rest can't go without it, nor may a stump stand.
        ("Vera would have gone to Port Alder, unless Zed came.", ""),
        ("Vera and Zed went to Port Alder.", ""),
        ("The wounded captain and Zed left the port.", ""),
        ("When Zed came, Vera left the port.", ""),
        ("While Vera was asleep, and while Zed was awake, Holm left.", ""),
        ("Vera told Holm, as Zed had asked her to, of the letter.", ""),
        ("Neither Vera, Zed nor Holm came.", ""),
        ("Zed was the captain of Port Alder.", ""),
        ("Als Zed kam, ging Vera nach Hause.", ""),
    ],
)
def test_of_a_sentence_stands_what_is_one_without_its_wrong_clause(sentence: str, left: str) -> None:
    assert without_wrong_clauses(sentence, lambda clause: "Zed" in clause) == left


def test_a_title_is_known_in_whichever_letters_it_stands() -> None:
    evidence = StorySourceIndex(["Vera: I put on the boots of haste and cast wall of stone. I am full of hope."])
    assert unknown(evidence, "Vera wore her Boots of Haste and cast Wall of Stone.") == []
    assert unknown(evidence, "She felt Hope.") == ["Hope"]
    assert unknown(evidence, "She wore Boots of Stone.") == ["Boots", "Stone"]
