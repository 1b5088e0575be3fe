"""Little stories made from a seed, and a storyteller that lies about them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from msgspec import Struct
from tests.golden.story import logged, say
from tests.property.hostile.model import ERROR_TEXTS, OTHER_LANGUAGES
from tests.property.hostile.sessions import INJECTION

from ireneo.errors import BadReply, ModelRefused
from ireneo.log.message import Draft, Message
from ireneo.ports.models import Prompt
from ireneo.testing.scripted import Scripted

PEOPLE = ("Vera", "Holm", "Tam", "Anselm", "Bridget", "Corin", "Dolores", "Edda", "Old Piet", "Ines Falk")
PLACES = ("Port Alder", "Easterby", "the Salt Tower", "Marrowmere", "Castle Denholt")
THINGS = ("letter", "ring", "pistol", "map", "lantern", "key")
NUMBERS = ("three", "seven", "eleven", "forty", "ninety")
HIDDEN = "Underhollow"
"""A place that is spoken of only where one character is not."""
NOBODY = ("Zarkon", "Bo", "Mira", "Thessaly", "Quill", "Jo", "Wexcombe", "Ravenna", "Yorick", "Stan", "Hope", "Al")
"""Who and what is in none of the stories."""
NEVER = ("two dozen", "fifty", "nineteen", "68", "1742", "eight hundred", "sixty-one", "5,000")
LIES: tuple[str, ...] = (
    "{nobody} laughed.",
    "{nobody} stabbed {person} with a {thing}.",
    "{nobody}'s {thing} was gone.",
    "{person} and {nobody} went to {place}.",
    "{person} told {nobody} everything.",
    "“I know the {thing},” {nobody} said to {person}.",
    "Afterwards {nobody} took the {thing}; {person} saw it.",
    "In {nobody} {person} hid the {thing}.",
    "Then came {nobody}: nobody saw it but {person}.",
    "{person} {nobody} swore to go to {place}.",
    "{nobody}, {person} and the {thing} were lost.",
    "{nobody}, who hated {person}, dug up the {thing}.",
    "{nobody} and {person} had the {thing}.",
    "{nobody}, the owner of the {thing}, slept.",
    "Captain {nobody} had the {thing} of {person}.",
    "{person} paid {never} guineas for the {thing}.",
    "{person} waited {never} days in {place}.",
    "It was the year {never} in {place}.",
    "“I never loved you, {person},” said the other.",
    "“The {thing} is mine and nobody else's,” said {person}.",
    "{person} called it “treason”.",
    "The user went to {place} with {person}.",
    "I went to {place} with {person}.",
    "In this scene {person} goes to {place}.",
    INJECTION,
)


class Tale(Struct, frozen=True, kw_only=True):
    """A story, and what may be said of it."""

    messages: tuple[Message, ...]
    truths: tuple[str, ...]
    """In the third person."""
    own: tuple[str, ...]
    """What Vera may say of it."""


def tale(seed: int) -> Tale:
    """The story of a seed; Vera is in it, and there is something that she doesn't hear."""
    chance = random.Random(seed)
    people = ["Vera", *chance.sample(PEOPLE[1:], 3)]
    drafts: list[Draft] = []
    truths: list[str] = []
    own: list[str] = []
    for _ in range(chance.randint(4, 9)):
        one, other = chance.sample(people, 2)
        place, thing, number = chance.choice(PLACES), chance.choice(THINGS), chance.choice(NUMBERS)
        kind = chance.randrange(4)
        if kind == 0:
            drafts.append(say(one, f"I will bring the {thing} to {place}, {other}. I swear it."))
            told = f"swore to bring the {thing} to {place}."
        elif kind == 1:
            drafts.append(say("Narrator", f"{one} gave {other} the {thing} for {number} guineas in {place}."))
            told = f"gave the {thing} away for {number} guineas in {place}."
        elif kind == 2:
            drafts.append(say(one, f"*whispers* The {thing} was never in {place}, {other}. I lied about it."))
            told = f"said: “I lied about it.” It was never in {place}."
        else:
            drafts.append(say("Narrator", f"For {number} days {one} looked for the {thing} in {place}."))
            told = f"looked for the {thing} in {place} for {number} days."
        truths.append(f"{one} {told}")
        if one == "Vera":
            own.append(f"I {told}")
    one, other = people[1], people[2]
    drafts.append(say(one, f"Vera must not know that the {HIDDEN} is open, {other}.", present=(other,)))
    truths.append(f"{one} told {other} that the {HIDDEN} was open.")
    own.append("I was in it.")
    return Tale(messages=logged(drafts), truths=tuple(truths), own=tuple(own))


class HostileStoryteller:
    """Answers from a seed: each sentence is a lie or, in a share of all, a true one."""

    def __init__(self, seed: int, story: Tale, *, truth: float, own: bool) -> None:
        self.chance = random.Random(seed)
        self.truth = truth
        self.truths = story.own if own else story.truths

    def __call__(self, prompt: Prompt) -> Scripted:
        fault = self.chance.random()
        if fault < 0.04:
            return self.chance.choice((BadReply("It does not fit."), ModelRefused("It refused."), "{'text': no"))
        if fault < 0.12:
            text = self.chance.choice((*ERROR_TEXTS, *OTHER_LANGUAGES, "", "…", "Zarkon laughed. " * 300))
            return self._reply(lambda: text, 1)
        return self._reply(self._sentence, self.chance.randint(3, 9))

    def _sentence(self) -> str:
        if self.chance.random() < self.truth:
            return self.chance.choice(self.truths)
        if self.chance.random() < 0.3:
            # A truth of somebody else, or with another number.
            true = self.chance.choice(self.truths)
            mark = self.chance.choice((r"^\w+", rf"\b(?:{'|'.join(NUMBERS)})\b", r"(?<=in )\w+ \w+(?=\.)"))
            other = self.chance.choice(NEVER if "three" in mark else NOBODY)
            return re.sub(mark, other, true)
        return self.chance.choice(LIES).format(
            nobody=self.chance.choice(NOBODY),
            never=self.chance.choice(NEVER),
            person=self.chance.choice(PEOPLE),
            place=self.chance.choice(PLACES),
            thing=self.chance.choice(THINGS),
        )

    def _reply(self, sentence: Callable[[], str], number: int) -> dict[str, object]:
        names = [self.chance.choice((*NOBODY, *PEOPLE)) for _ in range(self.chance.randint(0, 4))]
        opened = [
            {
                "kind": self.chance.choice(("promise", "debt", "secret", "wound", "question")),
                "text": sentence()[:400],
                "who": self.chance.choice((*NOBODY, *PEOPLE, "")),
                "whom": self.chance.choice((*NOBODY, *PEOPLE, "")),
            }
            for _ in range(self.chance.randint(0, 3))
        ]
        text = " ".join(sentence() for _ in range(number))
        return {"text": text, "names": names, "opened": opened, "resolved": ["t_zzzzzzz"]}
