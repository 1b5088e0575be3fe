"""Who is who in a story: bounded, the same on every way to it, and of nobody who isn't in what was heard."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import calm, memory_over

from ireneo import Context, Draft
from ireneo.adapters.in_memory import InMemoryStore
from ireneo.log.message import Text, heard_by
from ireneo.summaries.cast import DEEP_LINES, LEAF_LINES

from .checks import caught_up
from .material import TINY_STORY

NAMES = ("Brannoc", "Ysolde", "Tamsin", "Quill", "Merrow", "Dagny", "Ossian", "Perrin", "Wystan", "Elsbeth")
AUTHORS = ("Rook", "Linnet", "Heron")
SAYINGS = (
    "{a} walked to the old mill. {a} said nothing.",
    "{a}, a half-elf ranger, opened the door and {b} nodded.",
    "The blacksmith {a} laughed. {b} looked at {a}.",
    "{a}, whose real name is {b}, took the lantern.",
    "From now on call me {a}.",
    "My brother {a} promised to come.",
    "{a} is dead, and {b} killed {c}.",
    "{a} is {b}'s sister. {c}, come here!",
    "You reach the village of the millers. {a} waved.",
    "I play {a}. {b}, what do you do?",
)
ROOMS = (256, 640, 900, 1_500, 12_000)
FILLER = " The rain went on, and the fire burned low while they waited for the morning to come." * 3

lines = st.tuples(
    st.sampled_from(SAYINGS),
    st.permutations(NAMES),
    st.sampled_from(AUTHORS),
    st.sampled_from([None, None, ("Rook",), ("Linnet", "Heron"), ()]),
)
tales = st.lists(lines, min_size=16, max_size=40)


def told(tale: list[tuple[str, list[str], str, tuple[str, ...] | None]]) -> list[Draft]:
    return [
        Draft(
            role="user",
            parts=(Text(text=text.format(a=who[0], b=who[1], c=who[2]) + FILLER, author=author, present=present),),
        )
        for text, who, author, present in tale
    ]


def cast(context: Context) -> str:
    return "\n".join(row.text for row in context.pins if row.id == "cast")


@calm(4)
@given(tale=tales, room=st.sampled_from(ROOMS), one_by_one=st.booleans())
async def test_the_cast_is_bounded_and_the_same_on_every_way_to_it(tale: list, room: int, *, one_by_one: bool) -> None:
    drafts = told(tale)
    shown: list[str] = []
    for step in (len(drafts), 1 if one_by_one else 7):
        store = InMemoryStore()
        session = await memory_over(store).session("run")
        for start in range(0, len(drafts), step):
            await session.append(drafts[start : start + step])
            if step < len(drafts):
                await session.context(600, preset=TINY_STORY)
        await caught_up(session, TINY_STORY)
        context = await session.context(room, preset=TINY_STORY)
        shown.append(cast(context))
        assert context.tokens <= room
        assert sum(row.tokens for row in context.pins if row.id == "cast") <= room // 10
        stored = await store.read(lambda tx, key=session.key: tx.summaries.get(key, tx.upkeep.summaries(key)))
        for each in stored:
            most = LEAF_LINES if each.depth < 2 else DEEP_LINES
            assert len(each.lines("cast")) <= sum(most)
    assert shown[0] == shown[1]


@calm(4)
@given(tale=tales, viewpoint=st.sampled_from(["", *AUTHORS]), back=st.integers(0, 39))
async def test_nobody_is_in_the_cast_who_is_not_in_what_was_heard_on_the_path(
    tale: list, viewpoint: str, back: int
) -> None:
    session = await memory_over(InMemoryStore()).session("run")
    drafts = told(tale)
    await session.append([told([(SAYINGS[0], list(NAMES), author, None)])[0] for author in AUTHORS])
    await session.append(drafts)
    await session.context(900, preset=TINY_STORY)
    path = await session.messages()
    # What is undone is not known either, nor what was learned in it.
    await session.rewind(path[3 + back % len(drafts)].id)
    await session.append(told([("Nobody came.", list(NAMES), "Rook", None)] * 12))
    path = await session.messages()
    heard = [each.draft for each in path if not viewpoint or heard_by(each.draft, viewpoint)]
    words = " ".join([draft.text for draft in heard] + list(AUTHORS))
    context = await session.context(1_500 if back % 2 else 800, preset=TINY_STORY, viewpoint=viewpoint)
    for name in re.findall(r"[A-Z][a-z]+", " ".join(line for line in cast(context).splitlines() if line[:1] == "-")):
        assert name in words
