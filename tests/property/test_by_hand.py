"""What is written by hand into a story holds on the paths that go through where it was written, and on no other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import times

import ireneo
from ireneo.errors import BadInput
from ireneo.log.message import Draft, Text
from ireneo.sync import open as open_memory

Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(("say", "say", "owe", "canon", "resolve", "edit", "rewind", "fork")), st.integers(0, 9)),
    min_size=4,
    max_size=14,
)


def story(messages: int) -> list[dict[str, object]]:
    """A dialogue in which nothing is carried."""
    return [{"role": "user", "content": f"Vera walked {number} miles along the dyke."} for number in range(messages)]


def shown(context: ireneo.Context) -> str:
    return " ".join(" ".join(str(message["content"]) for message in context.messages).split())


class Model:
    """What stands, by the lengths of the branches: each fact with where it was written and where it was let go of."""

    def __init__(self) -> None:
        self.length = 0
        self.rows: list[tuple[str, str, int]] = []

    def rewind(self, length: int) -> None:
        self.length = length
        self.rows = [row for row in self.rows if row[2] <= length]

    @property
    def standing(self) -> dict[str, str]:
        out: dict[str, str] = {}
        for what, text, _ in self.rows:
            if what == "gone":
                out.pop(text.partition("|")[0], None)
            else:
                name, _, words = text.partition("|")
                out[name] = words
        return out


@settings(max_examples=times(6), deadline=None)
@given(STEPS)
def test_it_holds_on_its_paths_alone(steps: Sequence[Step]) -> None:
    model, heads = Model(), ["root"]
    with open_memory(":memory:", preset="story") as memory:
        session = memory.session("harbour")
        for number, (what, choice) in enumerate(steps):
            names = list(model.standing)
            if what == "say":
                done = session.append(f"Vera: It is message {number} on this dyke.")
                heads[model.length + 1 :] = [done.ids[-1]]
                model.length += 1
            elif what in ("owe", "canon"):
                words = f"Vera owes Tom {number} crowns of silver."
                made = session.add_thread("debt" if what == "owe" else "canon", words, who="Vera", whom="Tom")
                model.rows.append(("made", f"{made.id}|{words}", model.length))
            elif what == "resolve" and names:
                session.resolve_thread(names[choice % len(names)], f"It was settled at {number}.")
                model.rows.append(("gone", f"{names[choice % len(names)]}|", model.length))
            elif what == "edit" and names:
                words = f"Vera owes Tom {number} horses instead."
                session.edit_thread(names[choice % len(names)], words)
                model.rows.append(("made", f"{names[choice % len(names)]}|{words}", model.length))
            elif what == "rewind" and model.length:
                model.rewind(1 + choice % model.length)
                del heads[model.length + 1 :]
                session.rewind(heads[model.length])
            elif what == "fork" and model.length:
                session = session.fork(f"way-{number}")
        found = {each.id: each.text for each in session.threads()}
        assert found == model.standing
        if model.length:
            text = shown(session.context(2_000))
            assert all(words in text for words in model.standing.values())
            gone = {row[1].partition("|")[2] for row in model.rows if row[0] == "made"} - set(model.standing.values())
            assert not any(words in text.partition("It was settled")[0] for words in gone)


def test_a_summary_by_hand_stands_until_it_is_disputed() -> None:
    with open_memory(":memory:", preset="story", listen=False) as memory:
        session = memory.session("harbour")
        session.append(story(700))
        session.add_thread("canon", "Anselm is blind.")
        block = next(row.id for row in (session.context(2_000)).view if row.id.startswith("s_"))
        session.edit(block, "Vera sold the boat to Anselm. Then she left for Orm.")
        text = shown(session.context(2_000))
        assert "Vera sold the boat to Anselm. Then she left for Orm." in text
        assert "walked 10 miles" not in text
        assert all("Anselm is blind." in shown(session.context(budget)) for budget in (256, 600))
        # Of many more messages the deeper summaries have it, and what it stands for is told by none.
        session.append(story(2_600)[700:])
        memory.work(until_idle=True)
        deep = shown(session.context(2_000))
        assert "Vera sold the boat to Anselm." in deep
        before = session.fork("before", at=(session.messages(100, 100))[0].id)
        assert "sold the boat" not in shown(before.context(2_000))
        session.dispute(block, "She sold it to Tom.")
        assert "sold the boat" not in shown(session.context(2_000)).replace("She sold it", "")
        session.edit(block, "Vera sold the boat to Tom.")
        again = shown(session.context(2_000))
        assert "Vera sold the boat to Tom." in again
        assert "(disputed)" not in again


def test_what_a_character_does_not_know_stands_in_no_memory_of_hers() -> None:
    with open_memory(":memory:", preset="story") as memory:
        session = memory.session("harbour")
        said = [Text(text=f"I count to {n}.", author=name, present=WHO) for n in range(9) for name in WHO]
        session.append([Draft(role="user", parts=(part,)) for part in said])
        session.add_thread("secret", "Vera killed the miller.", who="Vera", whom="Tom")
        session.add_thread("debt", "Vera owes Tom a horse.", who="Vera", whom="Tom")
        session.add_thread("canon", "The miller is Tom's father.", known_to=["Vera"])
        session.add_thread("canon", "It is winter.")
        session.add_thread("quest", "The bell of Orm is to be found.")
        session.add_thread("lie", "The bell is of gold.")
        known = {name: {each.text for each in session.threads(viewpoint=name)} for name in WHO}
        # What names nobody everybody knows, but for a lie, which nobody is seen through.
        assert known["Vera"] == {each.text for each in session.threads()} - {"The bell is of gold."}
        assert known["Tom"] == {"Vera owes Tom a horse.", "It is winter.", "The bell of Orm is to be found."}


WHO = ("Vera", "Tom")


def test_what_can_not_be_written_is_refused() -> None:
    with open_memory(":memory:", preset="story") as memory:
        session = memory.session("harbour")
        session.append(story(3))
        made = session.add_thread("quest", "They seek the bell of Orm.")
        for verb in (
            lambda: session.add_thread("rumour", "The bell is gone."),
            lambda: session.add_thread("quest", " "),
            lambda: session.edit_thread("t_nothing", "The bell is gone."),
            lambda: session.resolve_thread("nothing at all"),
        ):
            with pytest.raises(BadInput):
                verb()
        done = session.resolve_thread(made.id[:10], "They found it.")
        assert (done.state, done.ended) == ("resolved", "They found it.")
        (row,) = session.threads(resolved=True)
        assert (row.state, row.until, row.ended) == ("resolved", 2, "They found it.")
