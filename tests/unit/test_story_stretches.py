"""Several adjacent leaves of a story are asked for in one question, and each stays a text of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace
from tests.story_parts import replied, shown

from ireneo.adapters.in_memory import InMemoryStore
from ireneo.engine.memory import Memory
from ireneo.engine.models import Models
from ireneo.engine.resources import Resources
from ireneo.engine.story_writing import story_text
from ireneo.errors import BadReply
from ireneo.log.message import Draft, Text
from ireneo.log.tree import SessionKey
from ireneo.ports.models import Prompt
from ireneo.ports.store import Transaction
from ireneo.summaries.policy import Policy, StorySettings
from ireneo.summaries.summary import Summary
from ireneo.testing.scripted import ManualClock, Scripted, ScriptedLLM

KEY = SessionKey("work", "story")
POLICY = Policy(name="small", story=StorySettings(leaf_messages=4, fan_in=2, limit=2, live_messages=2), live_share=0.5)
PEOPLE = ("Vera", "Holm", "Tam", "Mira", "Quint", "Anselm", "Bodo", "Clara", "Dietrich")
THINGS = ("boat", "lamp", "letter", "ring", "ladder", "kettle", "pistol", "oar", "anchor")


def told(leaf: int) -> str:
    """The sentence that tells a leaf: what its first message says."""
    return f"{PEOPLE[leaf]} carried the {THINGS[leaf]} down the stairs of the lighthouse before the morning came."


def drafts(leaves: int, often: tuple[int, ...] = ()) -> list[Draft]:
    """The messages of so many leaves, and the ones that stay live behind them; in those of `often` comes Rurik."""
    out = []
    for leaf in range(leaves):
        loud = "Then Rurik was loud." if leaf in often else "The wind was loud."
        lines = (told(leaf), loud, f"Nobody saw the {THINGS[leaf]} again.", "The tide came in.")
        out += [Draft(role="user", parts=(Text(text=line, author="Narrator"),)) for line in lines]
    return [*out, *(Draft(role="user", parts=(Text(text="And then?", author="Narrator"),)) for _ in range(3))]


def leaves_in(messages: str) -> tuple[int, ...]:
    """The leaves whose messages these are, by the names in them."""
    return tuple(leaf for leaf, name in enumerate(PEOPLE) if f"{name} carried" in messages)


def parts_of(prompt: Prompt) -> dict[int, tuple[int, ...]]:
    """The leaves that each text is asked for of, by its number."""
    return {number: leaves_in(messages) for number, messages in shown(prompt).items()}


def good(prompt: Prompt) -> Scripted:
    return replied(prompt, lambda messages: {"text": " ".join(f"{told(leaf)} [7]" for leaf in leaves_in(messages))})


class Kept(Struct, frozen=True):
    """What became of a story."""

    model: ScriptedLLM
    leaves: Mapping[int, Summary]
    """The texts that were written of its leaves."""
    deeper: int
    """How many deeper texts were written."""
    failed: int

    @property
    def asked(self) -> list[list[tuple[int, ...]]]:
        """The leaves that each question asked for."""
        return [[*parts_of(prompt).values()] for prompt in self.model.prompts]


def summarised(
    leaves: int, script: Callable[[Prompt], Scripted] = good, policy: Policy = POLICY, often: tuple[int, ...] = ()
) -> Kept:
    model = ScriptedLLM(script)

    async def main() -> Kept:
        store = InMemoryStore()
        resources = Resources(
            store=store,
            count=lambda text: len(text) // 4 + 1,
            clock=ManualClock(),
            models=Models.of(model),
            preset=policy,
        )
        session = await Memory(resources, KEY.space).session(KEY.session)
        await session.append(drafts(leaves, often))
        report = await session.summarise(10_000)

        def look(tx: Transaction) -> tuple[list[Summary], int]:
            head = tx.log.head(KEY)
            assert head is not None
            name = f"story-1/third/{policy.summarizer}"
            spans = [tx.summaries.spans(KEY, head.id, name, depth) for depth in (1, 2, 3)]
            return list(tx.summaries.get(KEY, [span.id for span in spans[0]])), sum(map(len, spans[1:]))

        found, deeper = await store.read(look)
        failed = sum(each.did == "failed" for each in report.summaries)
        return Kept(model, {text.first_position // 4: text for text in found}, deeper, failed)

    return asyncio.run(main())


def test_leaves_that_are_due_are_asked_for_in_one_question_with_what_covers_them() -> None:
    kept = summarised(6)
    assert kept.asked[0] == [(0,), (1,), (2,), (3,), (4,), (5,), (0, 1), (2, 3)][: len(kept.asked[0])]
    assert len(kept.asked[0]) > 4
    assert {leaf: story_text(text) for leaf, text in kept.leaves.items()} == {leaf: told(leaf) for leaf in range(6)}
    assert kept.deeper >= 2
    for leaf, text in kept.leaves.items():
        (line,) = text.lines("story")
        assert (line.weight, line.position // 4) == (7.0, leaf)
        assert text.writing is not None
        assert (text.writing.trusted, text.writing.struck, text.writing.prompt) == (True, 0, "story-5/third")
    paid = [text.writing.tokens_in for text in kept.leaves.values() if text.writing is not None]
    assert sum(map(bool, paid)) == 1, "the question is paid for once"


def test_a_leaf_that_comes_by_itself_is_asked_for_by_itself() -> None:
    kept = summarised(1)
    assert kept.asked == [[(0,)]]
    assert "Part 1" not in kept.model.prompts[0].user


def test_a_text_that_the_reply_lacks_costs_a_question_and_the_others_nothing() -> None:
    def lacking(prompt: Prompt) -> Scripted:
        answer = good(prompt)
        assert isinstance(answer, dict)
        if isinstance(texts := answer.get("texts"), list):
            return {"texts": [text for text in texts if text["number"] != 2]}
        return answer

    kept = summarised(3, lacking)
    assert kept.asked == [[(0,), (1,), (2,), (0, 1)], [(1,)]]
    assert sorted(kept.leaves) == [0, 1, 2]


def test_only_the_text_that_is_wrong_is_asked_for_again_with_its_messages_alone() -> None:
    wrong = "Zarkon carried the lamp down the stairs, and laughed at Zarkon's brother in the lighthouse."

    def lying(prompt: Prompt) -> Scripted:
        answer = good(prompt)
        assert isinstance(answer, dict)
        if isinstance(texts := answer.get("texts"), list):
            return {"texts": [{**text, "text": wrong} if text["number"] == 2 else text for text in texts]}
        return answer

    kept = summarised(3, lying)
    assert kept.asked == [[(0,), (1,), (2,), (0, 1)], [(1,)]]
    assert wrong in kept.model.prompts[1].user
    assert story_text(kept.leaves[1]) == told(1)
    assert [kept.leaves[leaf].writing.repaired for leaf in range(3)] == [False, True, False]  # type: ignore[union-attr]


def test_a_model_that_can_only_write_one_text_is_asked_for_each() -> None:
    def simple(prompt: Prompt) -> Scripted:
        return BadReply("It is cut off.") if len(parts_of(prompt)) > 1 else good(prompt)

    kept = summarised(3, simple)
    assert kept.asked[:4] == [[(0,), (1,), (2,), (0, 1)], [(0,)], [(1,)], [(2,)]]
    assert sorted(kept.leaves) == [0, 1, 2]


def test_a_leaf_on_which_a_model_fails_takes_no_other_with_it() -> None:
    def failing(prompt: Prompt) -> Scripted:
        if "Tam carried" in prompt.user.partition("<messages>")[2]:
            return BadReply("It says nothing.")
        return good(prompt)

    kept = summarised(6, failing)
    assert sorted(kept.leaves) == [0, 1, 3, 4, 5]


def test_a_text_names_those_of_earlier_parts_and_nobody_whom_only_a_later_part_shows() -> None:
    def naming(prompt: Prompt) -> Scripted:
        said = {1: "Quint was not there with Vera.", 2: "Vera was not there with Holm.", 3: told(2)}
        texts = {
            number: f"{told(leaves[0])} {said.get(number or leaves[0] + 1, '')}"
            for number, leaves in parts_of(prompt).items()
        }
        if 0 in texts:
            return {"text": texts[0]}
        return {"texts": [{"number": number, "text": text} for number, text in texts.items()]}

    kept = summarised(5, naming)
    assert story_text(kept.leaves[0]) == told(0)
    assert story_text(kept.leaves[1]) == f"{told(1)} Vera was not there with Holm."


def test_a_text_may_name_whom_several_later_parts_show() -> None:
    def naming(prompt: Prompt) -> Scripted:
        return replied(prompt, lambda messages: {"text": f"{told(leaves_in(messages)[0])} Rurik saw it from the door."})

    assert "Rurik" in story_text(summarised(5, naming, often=(2, 3)).leaves[0])
    assert "Rurik" not in story_text(summarised(5, naming, often=(2,)).leaves[0])


def test_a_narrow_window_takes_fewer_leaves_together() -> None:
    story = POLICY.story
    assert story is not None
    kept = summarised(6, policy=replace(POLICY, story=replace(story, window_tokens=90)))
    assert all(len(question) == 1 or sum(map(len, question)) < 6 for question in kept.asked)
    assert sorted(kept.leaves) == list(range(6))


def test_a_leaf_is_shown_all_threads_that_are_open_also_those_that_no_deeper_text_carries() -> None:
    things = THINGS[:5]

    def owning(prompt: Prompt) -> Scripted:
        def text(messages: str) -> dict[str, object]:
            leaves = leaves_in(messages)
            has = [(PEOPLE[leaf], thing) for leaf in leaves for thing in things] if len(leaves) == 1 else []
            opened = [{"kind": "possession", "text": f"{who} has the {what}.", "who": who} for who, what in has]
            return {"text": " ".join(f"{told(leaf)} [7]" for leaf in leaves), "names": [], "opened": opened}

        return replied(prompt, text)

    # So small a window that each leaf is asked for alone, in view of all before it.
    story = StorySettings(leaf_messages=4, fan_in=2, limit=2, live_messages=2, window_tokens=90)
    kept = summarised(9, owning, replace(POLICY, story=story))
    alone = [(parts, prompt) for prompt in kept.model.prompts if len(parts := [*parts_of(prompt).values()]) == 1]
    leaf, prompt = max((parts[0][0], prompt.user) for parts, prompt in alone if len(parts[0]) == 1)
    assert leaf > 6
    threads = prompt.partition("<threads>")[2].partition("</threads>")[0]
    open_before = [f"{who} has the {thing}." for who in PEOPLE[:leaf] for thing in things]
    assert [each for each in open_before if each not in threads] == []
