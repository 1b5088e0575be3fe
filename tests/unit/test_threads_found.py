"""Which sentences of a story open a thread, which only look like it, and which resolve one."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from ireneo.log.message import Draft, Message, Role, Text, chain
from ireneo.summaries.find_threads import find_threads
from ireneo.summaries.summary import Thread, ThreadChanges


def lines(*said: tuple[str, str]) -> list[Message]:
    """A dialogue of (who, words)."""
    drafts = [Draft(role="user", parts=(Text(text=text, author=who),)) for who, text in said]
    return list(chain(None, drafts, lambda parts: (1, 0)))


def prose(*paragraphs: str, role: Role = "assistant") -> list[Message]:
    """A narrator's paragraphs."""
    drafts = [Draft(role=role, parts=(Text(text=text),)) for text in paragraphs]
    return list(chain(None, drafts, lambda parts: (1, 0)))


def opened(messages: Sequence[Message], before: Sequence[Thread] = ()) -> list[tuple[str, str, str]]:
    return [(thread.kind, thread.who, thread.whom) for thread in find_threads(messages, before).opened]


def alone(text: str) -> list[tuple[str, str, str]]:
    """What a line of Vera's opens that she says to Tom."""
    return opened(lines(("Tom", "I am listening."), ("Vera", text)))


OPENS = [
    ("I promise I'll bring the letter before spring.", "promise", "Vera", "Tom"),
    ("I swear to you by my father's grave that I will find the harbour.", "promise", "Vera", "Tom"),
    ("I swore an oath to guard the lighthouse.", "promise", "Vera", "Tom"),
    ("I'll guard the lighthouse for your mother, I promise.", "promise", "Vera", "Tom"),
    ("I'll come back for you.", "promise", "Vera", "Tom"),
    ("I swear I will never abandon you.", "promise", "Vera", "Tom"),
    ("I shall avenge my sister.", "promise", "Vera", "Tom"),
    ("You have my word that I will keep the lantern lit.", "promise", "Vera", "Tom"),
    ("I'll pay you back when the ship comes in.", "promise", "Vera", "Tom"),
    ("I owe you forty crowns.", "debt", "Vera", "Tom"),
    ("You owe me a horse.", "debt", "Tom", "Vera"),
    ("I am in your debt for the boat.", "debt", "Vera", "Tom"),
    ("I lent Anselm my father's sword.", "debt", "Anselm", "Vera"),
    ("Don't tell anyone about the cellar.", "secret", "Vera", "Tom"),
    ("Nobody must know that the duke is dead.", "secret", "Vera", "Tom"),
    ("What happened at the mill stays between us.", "secret", "Vera", "Tom"),
    ("I never told Anselm about the child.", "secret", "Vera", "Anselm"),
    ("You betrayed me.", "wound", "Vera", "Tom"),
    ("I will never forgive you for the fire.", "wound", "Vera", "Tom"),
    ("You left me to die in the snow.", "wound", "Vera", "Tom"),
    ("He murdered my brother.", "wound", "Vera", ""),
    ("We have to find my sister Anselma.", "quest", "Vera", ""),
    ("If you touch the boy again, I'll burn your boat.", "threat", "Vera", "Tom"),
    ("You have until Sunday, or the mill burns.", "threat", "Vera", "Tom"),
    ("I still haven't paid Anselm for the horse.", "debt", "Vera", "Anselm"),
    ("Wir müssen meine Schwester finden.", "quest", "Vera", ""),
    ("Wenn du dem Jungen etwas tust, brennt dein Boot.", "threat", "Vera", "Tom"),
    ("Ich verspreche dir, dass ich den Brief bringe.", "promise", "Vera", "Tom"),
    ("Du kannst auf mich zählen, ich bringe den Brief morgen.", "promise", "Vera", "Tom"),
    ("Verlasst euch auf mich, ich bringe den Brief morgen.", "promise", "Vera", "Tom"),
    ("Ich schulde dir zwanzig Taler.", "debt", "Vera", "Tom"),
    ("Sag es niemandem.", "secret", "Vera", "Tom"),
    ("Du hast mich verraten!", "wound", "Vera", "Tom"),
    ("Je te promets que la lettre arrivera.", "promise", "Vera", "Tom"),
    ("Je te dois cent francs.", "debt", "Vera", "Tom"),
    ("Ne le dis à personne.", "secret", "Vera", "Tom"),
    ("Je ne te pardonnerai jamais.", "wound", "Vera", "Tom"),
    ("Te prometo que volveré con la carta.", "promise", "Vera", "Tom"),
    ("Te debo mil pesos.", "debt", "Vera", "Tom"),
    ("No se lo digas a nadie.", "secret", "Vera", "Tom"),
    ("Nunca te perdonaré.", "wound", "Vera", "Tom"),
]


@pytest.mark.parametrize(("text", "kind", "who", "whom"), OPENS)
def test_a_line_opens_a_thread(text: str, kind: str, who: str, whom: str) -> None:
    assert alone(text) == [(kind, who, whom)]


@pytest.mark.parametrize(
    "text",
    [
        "I promise.",
        "I swear this dice hates me.",
        "I promise you it's fun.",
        "I swear it's late.",
        "I swear to god I will scream.",
        "I can't promise I'll be there.",
        "If I promise I'll go, will you stop?",
        "I'll be right back, I promise.",
        "We'll have more of the show soon, I promise.",
        "I owe you nothing.",
        "I owe you an apology.",
        "Having paid his debts, he went to Lucerne.",
        "Anselm paid his debts and went to Lucerne.",
        "What do I owe you?",
        "I owe you one.",
        "Don't tell me what to do.",
        "There is a secret door behind the shelf.",
        "There is a table between us and the door.",
        "Nobody can see what's going on.",
        "You killed it!",
        "Forgive me, I was late.",
        "Curse you, roll again.",
        "Who wants to go first?",
        "What do you want to do?",
        "Where did it go?",
        "Why don't we go left?",
        "She said not a word to Anselm, though she was cold.",
        "But the truth is, there are a lot of people in Orm.",
        "Anselm is my half-brother.",
        "He carried me through the snow when I was a child.",
        "Anselm came on a Sunday and offered me forty crowns for the boat.",
        "She was cursed by Anselm, the witch of the mill.",
    ],
)
def test_what_only_looks_like_one_opens_nothing(text: str) -> None:
    assert alone(text) == []


def test_the_words_are_those_of_the_story() -> None:
    found = find_threads(lines(("Tom", "Well?"), ("Vera", "Sit down. I promise I'll bring the letter. Now eat.")), ())
    assert [thread.text for thread in found.opened] == ["I promise I'll bring the letter."]
    assert found.opened[0].position == 1
    assert found.opened[0].source is not None


def test_what_has_its_point_in_the_next_sentence_is_carried_with_it() -> None:
    says, point = "There's something I never told you.", "It was me who cut the rope of the ferry."
    [alone] = find_threads(lines(("Tom", "Well?"), ("Vera", f"{says} {point}")), ()).opened
    [parted] = find_threads(lines(("Tom", "Well?"), ("Vera", says), ("Tom", "What?"), ("Vera", point)), ()).opened
    assert alone.kind == parted.kind == "secret"
    assert alone.text == parted.text == f"{says} {point}"
    assert not find_threads(lines(("Tom", "Well?"), ("Vera", says), ("Tom", "Not now.")), ()).opened


def test_whom_a_line_is_said_to_is_who_is_named_in_it() -> None:
    row = lines(("Anselm", "Good evening."), ("Tom", "Sit down."), ("Vera", "Anselm, I owe you a horse."))
    assert opened(row) == [("debt", "Vera", "Anselm")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Anselm had promised her that he would mend the roof.", "promise"),
        ("Hedda owed him her fortune, and he owed her a great deal of money.", "debt"),
        ("“I'll never leave you,” said Anselm.", "promise"),
        ("Anselm betrayed her in the end.", "wound"),
    ],
)
def test_a_narrator_tells_of_threads(text: str, kind: str) -> None:
    assert [each[0] for each in opened(prose(text))] == [kind]


def test_among_several_who_is_meant_is_left_open() -> None:
    talk = lines(("Tom", "The tide is in."), ("Anselm", "It is."), ("Vera", "I promise I'll bring the letter."))
    assert opened(talk) == [("promise", "Vera", "")]
    named = lines(("Tom", "The tide is in."), ("Anselm", "It is."), ("Vera", "Tom, I promise I'll bring the letter."))
    assert opened(named) == [("promise", "Vera", "Tom")]


@pytest.mark.parametrize(
    "text", ["He had promised her that he would mend the roof.", "She was cursed by the witch of the mill."]
)
def test_what_nobody_known_has_is_no_thread(text: str) -> None:
    assert opened(prose(text)) == []


def test_in_prose_who_speaks_is_said_beside_the_words() -> None:
    assert opened(prose("“I'll never leave you,” said Anselm.")) == [("promise", "Anselm", "")]


def test_what_the_system_or_a_tool_says_is_no_story() -> None:
    assert opened(prose("I promise I'll bring the letter.", role="system")) == []


def closes(opening: tuple[str, str], ending: tuple[str, str], between: int = 3) -> bool:
    """Whether `ending` resolves what `opening` opens: in one stretch, and over two."""
    talk = [("Anselm", f"Pass the bread number {number}.") for number in range(between)]
    row = lines(("Tom", "Well?"), ("Vera", "Well."), opening, *talk, ending)
    first, second = row[:4], row[4:]
    before = find_threads(first, ()).opened
    assert len(before) == 1
    whole = find_threads(row, ()).opened
    later = find_threads(second, before)
    assert (later.closed == (before[0].id,)) == (not whole)
    return not whole


PROMISE = ("Vera", "Tom, I promise I'll bring the letter from the harbour.")
DEBT = ("Vera", "Tom, I owe you forty crowns.")
WOUND = ("Vera", "Tom, you betrayed me.")
QUEST = ("Vera", "Tom, we have to free my sister Anselma.")


@pytest.mark.parametrize(
    ("opening", "ending"),
    [
        (PROMISE, ("Vera", "Tom, I kept my promise.")),
        (PROMISE, ("Tom", "Vera, you broke your promise.")),
        (PROMISE, ("Tom", "Vera, I release you from your promise.")),
        (PROMISE, ("Vera", "Here is the letter from the harbour, Tom.")),
        (DEBT, ("Tom", "Vera, your debt is paid.")),
        (DEBT, ("Vera", "Here are the forty crowns, Tom.")),
        (DEBT, ("Tom", "Vera, we're even.")),
        (WOUND, ("Vera", "I forgive you, Tom.")),
        (PROMISE, ("Anselm", "Vera brought Tom the letter from the harbour last night.")),
        (DEBT, ("Tom", "Keep it, Vera. Call it a gift.")),
        (DEBT, ("Anselm", "Vera and Tom were both drowned in the storm. Vera is dead.")),
        (QUEST, ("Vera", "Anselma! At last. We freed her from the mill, Tom.")),
        (QUEST, ("Anselm", "Anselma is dead. They freed nobody.")),
        (
            ("Vera", "Tom, if Silas touches the boy again, I'll kill him."),
            ("Tom", "They found Silas in the ditch, stone dead."),
        ),
        (("Vera", "Tom, ich schulde dir zwanzig Taler."), ("Tom", "Vera, wir sind quitt.")),
        (("Vera", "Tom, tu m'as trahi."), ("Vera", "Tom, je te pardonne.")),
    ],
)
def test_a_thread_comes_to_its_end(opening: tuple[str, str], ending: tuple[str, str]) -> None:
    assert closes(opening, ending)


@pytest.mark.parametrize(
    ("opening", "ending"),
    [
        (PROMISE, ("Vera", "Tom, I have not kept my promise.")),
        (PROMISE, ("Anselm", "Peter, I kept my promise.")),
        (PROMISE, ("Vera", "Here is the bread, Tom.")),
        (PROMISE, ("Tom", "Did you bring the letter from the harbour?")),
        (DEBT, ("Tom", "Is the debt paid?")),
        (WOUND, ("Vera", "I can't forgive you, Tom.")),
        (PROMISE, ("Vera", "I haven't brought the letter from the harbour, Tom.")),
        (QUEST, ("Vera", "When we find Anselma in the mill, we shall dance.")),
        (QUEST, ("Tom", "Anselm freed the dog from the mill.")),
        (DEBT, ("Tom", "I paid forty crowns for the boat.")),
    ],
)
def test_what_only_looks_like_its_end_leaves_it_open(opening: tuple[str, str], ending: tuple[str, str]) -> None:
    assert not closes(opening, ending)


def test_a_thread_that_is_taken_up_again_is_one() -> None:
    row = lines(
        ("Tom", "Well?"),
        ("Vera", "I promise I'll bring the letter from the harbour."),
        ("Tom", "Truly?"),
        ("Vera", "Yes, I promise I'll bring the letter from the old harbour."),
    )
    [thread] = find_threads(row, ()).opened
    assert "old harbour" in thread.text


def test_the_same_words_again_open_nothing_new() -> None:
    row = lines(("Tom", "Well?"), ("Vera", "I owe you forty crowns."), ("Vera", "I owe you forty crowns."))
    assert len(find_threads(row, ()).opened) == 1


def test_the_same_story_gives_the_same_threads() -> None:
    row = lines(*[(who, text) for text, *_ in OPENS for who in ("Vera", "Tom")])
    assert find_threads(row, ()) == find_threads(row, ())
    assert isinstance(find_threads([], ()), ThreadChanges)


def test_it_is_linear() -> None:
    def seconds(count: int) -> float:
        row = lines(
            *[("Vera" if n % 2 else "Tom", f"I walked {n} miles to the mill and told Anselm.") for n in range(count)]
        )
        begin = time.process_time()
        find_threads(row, ())
        return time.process_time() - begin

    seconds(200)
    # Ten times the messages take far less than a hundred times as long.
    assert seconds(3_000) < 60 * max(seconds(300), 0.002)


@pytest.mark.parametrize(
    "text",
    [
        "I don't tell anyone what to do.",
        "We were trying not to tell anyone our plan.",
        "I'll send you the fresh ones, I swear they're good.",
        "I swear if the roof falls, I'm leaving.",
        "I give you my word it was raining.",
        "One cannot know what a man is.",
    ],
)
def test_a_manner_of_speaking_opens_nothing(text: str) -> None:
    assert alone(text) == []


def test_what_a_recap_tells_again_is_no_thread() -> None:
    told = (
        "Last time, as we left off, the party came to the well. I promise I'll bring the letter. "
        + "They went on. " * 40
    )
    assert opened(lines(("Tom", "Well?"), ("Vera", told))) == []
