"""Whatever is said of somebody, by whichever name, is shown before they are forgotten; taken, nothing of it is left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.property.forgetting.material import all_told, opened, raw
from tests.property.invariants.houses import calm, housed, stores

from ireneo import Draft
from ireneo.log.message import Text
from ireneo.log.tree import SessionKey

NAME = "Ottilie"
OF_HER = (
    "My sister {name} keeps {mark}.",
    "{name} wants {mark}.",
    "She found {mark}.",
    "I gave her {mark}.",
    "My sister sold {mark}.",
    "Otti painted {mark}.",
    "My siblings share {mark}.",
    "Sis hid {mark}.",
)
OF_OTHERS = ("The tide brought {mark}.", "Who mends {mark}?", "My brother sawed {mark}.")
lines = st.lists(st.sampled_from([*OF_HER, *OF_OTHERS]), min_size=1, max_size=7)


@calm(7)
@given(store=stores, said=lines, of_memory=st.sets(st.integers(0, 7), max_size=3))
async def test_nothing_said_of_somebody_is_left_that_was_not_shown(
    store: str, said: list[str], of_memory: set[int]
) -> None:
    said = [OF_HER[0], *said]
    marks = [f"thing{number}q" for number in range(len(said))]
    texts = [line.format(name=NAME, mark=mark) for line, mark in zip(said, marks, strict=True)]

    async with housed(store) as house:
        memory, place = await opened(house)
        session = await memory.session("run")
        ids = (await session.append([Draft(role="user", parts=(Text(text=text),)) for text in texts])).ids
        for at in of_memory & set(range(len(said))):
            about = f"The user's sister has {marks[at]}." if said[at] in OF_HER else f"There is {marks[at]}."
            await memory.remember(about, kind="semantic", messages=[ids[at]], session="run")
        shown = await memory.forget(subject=NAME, preview=True)
        await memory.forget(subject=NAME, also=list(dict.fromkeys(each.id for each in shown.also)))
        her = {mark for mark, line in zip(marks, said, strict=True) if line in OF_HER}
        left = await place.read(all_told, SessionKey("mine", "run"))
        assert not [mark for mark in her if mark in left]
        if house.kind == "sqlite":
            stored = raw(house.folder)
            assert not [mark for mark in her if mark.encode() in stored]
        assert not (await memory.forget(subject=NAME, preview=True)).also
