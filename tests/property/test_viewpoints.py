"""Who asks sees what they lived through: no secret of others and nothing undone, whichever verb is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from tests.property.invariants.houses import House, calm, housed, stores
from tests.whole import whole

import ireneo
from ireneo import Draft, Policy
from ireneo.engine.resources import Resources
from ireneo.log.message import Call, Message, Result, Text
from ireneo.summaries.policy import StorySettings
from ireneo.testing.scripted import ManualClock

from .invariants.promises import TOKENS

CAST = ("Ana", "Bo", "Cy")
SESSIONS = ("mill", "ferry")
TALE = Policy(
    name="story",
    story=StorySettings(leaf_messages=3, leaf_tokens=200, fan_in=2, limit=2, live_messages=2),
    live_share=0.4,
)
MARK = re.compile(r"zq\d+q")
QUESTION = "Who hid the silver lamp of the keeper in the mill?"
MAY = datetime(2026, 5, 3, 12, tzinfo=UTC)

verbs = st.sampled_from(
    "say say say whisper whisper mixed work rewind rewind fork switch remember slot slot joined concluded told".split()
)
steps = st.lists(
    st.tuples(verbs, st.sampled_from(SESSIONS), st.sampled_from(CAST), st.integers(0, 30)), min_size=8, max_size=16
)


class Tale:
    """What was told of which messages, by the words that stand nowhere else."""

    def __init__(self, memory: ireneo.Memory) -> None:
        self.memory = memory
        self.marks = 0
        self.at = dict.fromkeys(SESSIONS, "main")
        """The branch on which each session goes on."""
        self.told: dict[str, set[tuple[str, str]]] = {}
        """Of each mark the messages that one must have heard to know it, with their sessions; all of them."""
        self.concluded: dict[str, list[str]] = {}
        """Of each mark of a conclusion the memories that it was drawn from."""
        self.evidence: dict[str, list[set[tuple[str, str]] | list[str]]] = {}
        """Of each memory what it rests on, each piece enough alone: messages, or the memories it was drawn from."""

    def mark(self) -> str:
        self.marks += 1
        return f"zq{self.marks}q"

    async def path(self, name: str) -> list[Message]:
        session = await self.memory.session(name, branch=self.at[name])
        return list(await session.messages())

    async def say(self, name: str, *drafts: Draft) -> None:
        """Append messages; their marks are known to those who heard them."""
        session = await self.memory.session(name, branch=self.at[name])
        for id, draft in zip((await session.append(list(drafts))).ids, drafts, strict=True):
            for mark in MARK.findall(str(draft.parts)):
                self.told.setdefault(mark, set()).add((name, id))

    async def remember(self, text: str, session: str, ids: set[tuple[str, str]], **more: object) -> None:
        mark = self.mark()
        self.told[mark] = ids
        details = {"messages": [id for _, id in sorted(ids)], **more}
        if session:
            details["session"] = session
        made = await self.memory.remember(text.replace("MARK", mark), **details)  # type: ignore[arg-type]
        self.evidence.setdefault(made.record.id, []).append(ids)


def spoken(author: str, text: str, present: tuple[str, ...] | None = None) -> Draft:
    return Draft(role="user", parts=(Text(text=text, author=author, present=present),))


async def done(tale: Tale, number: int, step: tuple[str, str, str, int]) -> None:
    """Take a step of a tale."""
    verb, name, who, at = step
    memory, other = tale.memory, CAST[(CAST.index(who) + 1 + at % 2) % 3]
    text = f"I hid the silver lamp of the keeper {tale.mark()} in the mill on day {number}."
    path = await tale.path(name)
    if verb == "say" or not path:
        await tale.say(name, spoken(who, text))
    elif verb == "whisper":
        await tale.say(name, spoken(who, f"I promise you, nobody shall know: {text}", (other,) if at % 3 else ()))
    elif verb == "mixed":
        # Two speeches in one message: all may hear the one, and few the other.
        parts = (
            Text(text="Good day to the keeper.", author=who, present=CAST),
            Text(text=text, author=who, present=()),
        )
        await tale.say(name, Draft(role="user", parts=parts))
    elif verb == "work":
        # What a tool gives out all may read.
        call = Call(id=f"call {number}", name="Bash", arguments={"command": "make lamp"})
        failed = Result(call_id=call.id, parts=(Text(text=f"lamp.c:3: error: {text}"),), failed=True)
        asked, closing = (f"{words} the silver lamp of the keeper {tale.mark()}." for words in ("Mend", "I gave up on"))
        await tale.say(
            name,
            Draft(role="user", parts=(Text(text=asked, author=who, present=(other,)),)),
            Draft(role="assistant", parts=(call,)),
            Draft(role="tool", parts=(failed,)),
            Draft(role="assistant", parts=(Text(text=closing, author=who, present=()),)),
        )
    elif verb in ("rewind", "fork", "switch"):
        session = await memory.session(name, branch=tale.at[name])
        place = path[at % len(path)].id
        if verb == "rewind":
            await session.rewind(place)
        elif verb == "fork":
            tale.at[name] = (await session.fork(f"other {number}", at=place)).branch
        else:
            there = sorted(await session.branches())
            tale.at[name] = there[at % len(there)]
    else:
        await learned(tale, number, step, path)


async def learned(tale: Tale, number: int, step: tuple[str, str, str, int], path: list[Message]) -> None:
    """Remember something of what was said."""
    verb, name, who, at = step
    spoken_of = {(name, message.id) for message in path[at % len(path) :][:2] if message.role == "user"}
    if not spoken_of:
        return
    when = {"at": MAY + timedelta(days=number)}
    if verb == "remember":
        await tale.remember("The keeper's silver lamp is hidden, MARK.", name, spoken_of, **when)
    elif verb == "slot":
        # The same value in other words each time, and now and then another.
        slot = {"subject": "the lamp", "attribute": "hidden in", "value": ("the mill", "the boat")[at % 4 == 0]}
        text = f"{who} hid the silver lamp of the keeper in {slot['value']}, MARK."
        await tale.remember(text, name, spoken_of, **slot, **when)
    elif verb == "joined":
        # Drawn from two sessions at once.
        there = await tale.path(SESSIONS[SESSIONS.index(name) - 1])
        both = spoken_of | {
            (SESSIONS[SESSIONS.index(name) - 1], message.id) for message in there[-1:] if message.role == "user"
        }
        await tale.remember("Both say where the silver lamp is, MARK.", "", both, **when)
    elif verb == "concluded" and tale.evidence:
        there = list(tale.evidence)
        names = list(dict.fromkeys(there[(at + more) % len(there)] for more in range(2)))
        mark = tale.mark()
        tale.concluded[mark] = names
        text = f"The silver lamp of the keeper moves a lot, {mark}."
        made = await tale.memory.remember(text, memories=names, origin="derived", **when)  # type: ignore[arg-type]
        tale.evidence.setdefault(made.record.id, []).append(names)
    elif verb == "told":
        # Nobody says who knows of it.
        await tale.remember("The silver lamp of the keeper was never lit, MARK.", name, set(), **when)


def heard(message: Message, who: str) -> bool:
    """Whether somebody heard all that a message says."""
    texts = [part for part in message.parts if isinstance(part, Text)]
    return all(each.present is None or who in (*each.present, each.author) for each in texts)


async def known(tale: Tale, who: str, place: tuple[str, str] | None) -> set[str]:
    """The marks that may be seen by somebody (empty: by whoever tells), or from one branch of a session."""
    standing: dict[tuple[str, str], Message] = {}
    for name in SESSIONS:
        session = await tale.memory.session(name)
        for branch in await session.branches() if await session.messages() else ():
            here = branch == "main" if who else True
            if place[1] == branch if place is not None and place[0] == name else here:
                messages = await (await tale.memory.session(name, branch=branch)).messages()
                standing.update({(name, each.id): each for each in messages})

    def is_known(needs: set[tuple[str, str]]) -> bool:
        return all(need in standing and (not who or heard(standing[need], who)) for need in needs) and bool(
            needs or not who
        )

    def holds(memory: str) -> bool:
        return any(is_known(each) if isinstance(each, set) else all(map(holds, each)) for each in tale.evidence[memory])

    told = {mark for mark, needs in tale.told.items() if is_known(needs)}
    return told | {mark for mark, drawn in tale.concluded.items() if all(map(holds, drawn))}


async def shown(tale: Tale, who: str, place: tuple[str, str] | None) -> dict[str, str]:
    """All that is said to one who asks, by the verb."""
    memory = tale.memory
    asked: dict[str, object] = {"viewpoint": who}
    if place is not None:
        asked |= {"session": place[0], "branch": place[1]}
    found = await memory.recall(QUESTION, limit=60, **asked)  # type: ignore[arg-type]
    facts = await memory.recall(QUESTION, limit=60, kind="semantic", **asked)  # type: ignore[arg-type]
    events = await memory.recall(QUESTION, limit=60, kind="episodic", **asked)  # type: ignore[arg-type]
    brief = await memory.brief(
        goal=QUESTION,
        situation=QUESTION,
        about_to="make lamp",
        task_type="lamp",
        budget=4_000,
        **asked,  # type: ignore[arg-type]
    )
    out = {"recall": whole(found), "facts": whole(facts), "episodes": whole(events), "brief": whole(brief)}
    if place is not None:
        session = await memory.session(place[0], branch=place[1])
        for budget in (300, 2_000):
            made = await session.context(budget, preset=TALE, viewpoint=who)
            out[f"context of {budget}"] = repr(made.messages)
    return out


Leak: TypeAlias = tuple[str, str, tuple[str, str] | None, set[str]]


async def leaks(house: House, taken: Sequence[tuple[str, str, str, int]]) -> list[Leak]:
    """What is shown to those who can't know it, once the steps are taken."""
    means = Resources(store=await house.store(), count=TOKENS.count, clock=ManualClock(), preset=TALE)
    memory = ireneo.Memory(means, "mine")
    tale = Tale(memory)
    for name in SESSIONS:
        await tale.say(
            name, spoken("Ana", f"Good morning to all at the {name}."), *(spoken(each, "Well met.") for each in CAST)
        )
    for number, step in enumerate(taken):
        await done(tale, number, step)
    await memory.work(until_idle=True)
    found: list[Leak] = []
    for name in SESSIONS:
        branches = await (await memory.session(name)).branches()
        for place in [None, *((name, branch) for branch in branches)]:
            for who in ("", *CAST):
                allowed = await known(tale, who, place)
                for verb, text in (await shown(tale, who, place)).items():
                    if leaked := set(MARK.findall(text)) - allowed:
                        found.append((verb, who, place, leaked))
    return found


@calm(3)
@given(store=stores, taken=steps)
async def test_nobody_is_shown_what_they_did_not_live_through(
    store: str, taken: list[tuple[str, str, str, int]]
) -> None:
    async with housed(store) as house:
        assert await leaks(house, taken) == []
