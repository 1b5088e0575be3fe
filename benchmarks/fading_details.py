"""A chat with planted details, and a summariser that keeps each of those it is shown with a certain probability."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from itertools import islice, product
from typing import TypeVar

import msgspec
from msgspec import Struct

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.log.message import Draft, Text
from ireneo.ports.models import Prompt, Reply, Usage
from racing.model import reply_to

COUNT = EstimatedTokenizer().count
R = TypeVar("R", bound=Struct)
KEPT = 0.8
"""With this probability the summariser keeps a detail that it is shown, each time anew."""
EVERY = 100
"""One message in so many has a detail: so all of those under the deepest summary have room in its 250 words."""
PROMISED = 17
"""One detail in so many is promised: fewer in all than the threads that may be open at a time."""
LISTED = 12
"""Details that one sentence names."""

PEOPLE = ("Maren", "Tobin", "Isolde", "Corvin", "Hale", "Brannoch")
TOWNS = ("Greyhaven", "Stonewick", "Eastmarch", "Fallowmere", "Redwater")
THINGS = ("lantern", "ledger", "rope", "ladder", "boat", "coat", "bridge", "mill", "ferry", "orchard")
DEEDS = ("carried", "mended", "sold", "found", "painted", "counted", "followed", "opened")
_SYLLABLES = ("zor", "vak", "mit", "run", "oka", "lis", "pel", "gra", "dun", "fex", "hol", "jir", "kem", "bry", "wix")
_WORD = re.compile(r"[a-z]+")
_PROMISE = re.compile(r"(\w+): I promise you, (\w+), I will bring the (\w+) back to (\w+)")


def details() -> Iterator[str]:
    """Words that stand nowhere else, one after the other."""
    for syllables in product(_SYLLABLES, repeat=3):
        yield "".join(syllables)


DETAILS = frozenset(details())


class Planted(Struct):
    """A chat, and the details in it with the messages that have them."""

    drafts: list[Draft]
    places: dict[str, int]
    promised: list[str]


def planted(messages: int, seed: int = 3) -> Planted:
    """A chat of so many messages."""
    source = random.Random(seed)
    words = random.Random(seed)
    names = list(islice(details(), len(DETAILS)))
    words.shuffle(names)
    out = Planted(drafts=[], places={}, promised=[])
    for place in range(messages):
        speaker, other = source.sample(PEOPLE, 2)
        text = _said(source)
        if place % EVERY == EVERY // 2:
            detail = names.pop()
            out.places[detail] = place
            if len(out.places) % PROMISED == 1:
                out.promised.append(detail)
                text = f"I promise you, {other}, I will bring the {detail} back to {source.choice(TOWNS)}."
            else:
                text = f"{other} {source.choice(DEEDS)} the {detail} in {source.choice(TOWNS)}."
        out.drafts.append(Draft(role="user", parts=(Text(text=text, author=speaker),)))
    return out


def _said(source: random.Random) -> str:
    thing, other = source.sample(THINGS, 2)
    who, town = source.choice(PEOPLE), source.choice(TOWNS)
    return f"{who} {source.choice(DEEDS)} the {thing} near {town}, and {source.choice(DEEDS)} the {other} there."


class Forgetful:
    """A LanguageModel that retells what it is shown, keeps each detail with a certain probability, and lists promises.

    What it keeps is settled by the detail and the number of the call: so each retelling is a new throw.
    """

    name = "forgetful"

    def __init__(self) -> None:
        """Begin with the first call."""
        self.calls = self.tokens_in = self.tokens_out = 0

    async def ask(self, prompt: Prompt, reply: type[R]) -> Reply[R]:
        """Write the summary of the messages or parts that the prompt shows."""
        self.calls += 1
        value = reply_to(prompt.user, self._told)
        usage = Usage(tokens_in=COUNT(prompt.system) + COUNT(prompt.user), tokens_out=COUNT(json.dumps(value)))
        self.tokens_in += usage.tokens_in
        self.tokens_out += usage.tokens_out
        return Reply(value=msgspec.convert(value, reply), usage=usage, model=self.name)

    def _told(self, shown: str) -> dict[str, object]:
        seen = dict.fromkeys(word for word in _WORD.findall(shown) if word in DETAILS)
        kept = [word for word in seen if random.Random(f"{word} {self.calls}").random() < KEPT]
        promises = [found for found in _PROMISE.findall(shown) if found[2] in DETAILS]
        opened = [
            {"kind": "promise", "text": f"{who} promised {whom} to bring the {what} back to {town}.", "who": who}
            for who, whom, what, town in promises
        ]
        return {"text": _written(shown, kept), "names": [], "opened": opened, "resolved": []}


def _written(shown: str, kept: list[str]) -> str:
    """Some sentences of the story without details, word for word, and sentences that name the details."""
    told = re.findall(r"(?<=[:.] )[A-Z][a-z]+ [a-z]+ the [a-z]+ near [^.:]*\.", shown)
    plain = list(dict.fromkeys(told))
    step = max(len(plain) // 4, 1)
    sentences = plain[::step][:5]
    for start in range(0, len(kept), LISTED):
        sentences.append(f"There was the {', the '.join(kept[start : start + LISTED])} in {_town(shown)}.")
    return " ".join(sentences)


def _town(shown: str) -> str:
    return next(town for town in TOWNS if town in shown)
