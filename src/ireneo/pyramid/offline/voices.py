"""Who says a sentence, where a reader has to know it: characters are named, a narrator stands without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ireneo.log.message import Message, Text
from ireneo.patterns import lazy_re

NARRATORS = frozenset(
    "narrator gm dm game-master gamemaster dungeon-master storyteller erzähler erzählerin spielleiter narrateur "
    "narratrice narrador narradora narratore 旁白 ナレーター".split()
)
_WORD = lazy_re(r"\w+(?:['’]\w+)?")
_SELF = frozenset(
    "i i'm i'll i've i'd me my mine we we're we'll our us ich mich mir wir je j'ai moi nous yo mí".split()
)
_QUOTES = '"“”„«»「『'
_SPOKEN_SELF = lazy_re(r"[\"“„«「『][^\"”“»」』]*[\"”“»」』]?")
_ROLES = {"user": "User", "assistant": "Assistant"}


def spoken(message: Message) -> Sequence[tuple[str, str]]:
    """What is said in a message, by whom: (author, text); the author is empty where none is given."""
    return [(part.author or "", part.text) for part in message.parts if isinstance(part, Text)]


def narrators(messages: Sequence[Message]) -> frozenset[str]:
    """The authors who tell the story and aren't in it: named so, or who say most and least of themselves."""
    said: Counter[str] = Counter()
    of_self: Counter[str] = Counter()
    for message in messages:
        for author, text in spoken(message):
            words = [word.lower() for word in _WORD.findall(text)]
            said[author] += len(words)
            of_self[author] += sum(word.replace("’", "'") in _SELF for word in words)
    out = {author for author in said if author.casefold().replace(" ", "-") in NARRATORS} | {""}
    authors = [author for author in said if author]
    if len(authors) > 2:
        most = max(authors, key=lambda author: (said[author], author))
        others = [author for author in authors if author != most]
        share = sum(of_self[author] for author in others) / max(sum(said[author] for author in others), 1)
        if said[most] * 4 > sum(said.values()) and of_self[most] < share * said[most] * 0.6:
            out.add(most)
    return frozenset(out)


def label(author: str, message: Message, two_roles: bool) -> str:
    """Who is named before what this author says; the role, where two roles talk and nobody is named."""
    return author or (_ROLES.get(message.role, "") if two_roles else "")


def two_roles(messages: Sequence[Message]) -> bool:
    """Whether a user and a model talk to one another without further names."""
    return {"user", "assistant"} <= {message.role for message in messages}


def told(speaker: str, sentence: str) -> str:
    """A sentence with the name of its speaker."""
    if not speaker:
        return sentence
    if any(quote in sentence for quote in _QUOTES):
        return f"{speaker}: {sentence}"
    return f"{speaker}: “{sentence}”"


def speaks_of_itself(sentence: str) -> bool:
    """Whether a sentence says "I" outside what it quotes, so that it says nothing without its speaker."""
    outside = _SPOKEN_SELF.sub(" ", sentence)
    return any(word.lower().replace("’", "'") in _SELF for word in _WORD.findall(outside))
