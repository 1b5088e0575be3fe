"""A run cut into what was asked for: a user's words, and all that was done for them until the next wish."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ireneo.context.offline.prose import clip, sentences
from ireneo.log.echo import without_recalled
from ireneo.log.message import Message, MessageId
from ireneo.patterns import lazy_re

MOST_CHARACTERS = 120
"""Of a goal as it is shown; the message that it is taken from says the rest."""

_AGREES = frozenset(
    """yes yeah yep yup ya ok okay sure fine good great perfect nice cool right correct exactly agreed absolutely please
    do it that this so go ahead on continue proceed carry keep going resume try again more thanks thank you very much
    sounds lets let's let us and then now the with a i'm we're happy looks ready confirmed confirm done next start both
    all of them that's it's works implement for me lgtm thumbs up no nope stop wait hi hello hey""".split()
)
"""Words of which a message is made that only lets the agent go on, or says nothing of its own."""
_MOST_WORDS = 12
_INTERRUPTED = lazy_re(r"^\[Request interrupted by user[^\]]*\]\s*")
_ANSWERS = lazy_re(
    r"^(?:yes|yeah|yep|yup|no|nope|ok(?:ay)?|sure|right|correct|exactly|option|let'?s (?:do|go with) (?:option )?\W*\d"
    r"|(?:\W*\d\W*|[a-d])(?:\b|$)|(?:i|i['’](?:d|ll|m|ve)|it|it['’]s|they|my|the|that|that['’]s|there|both|none|neither)\b"
    r"|thanks?\b|great\b|perfect\b|actually\b)",
    re.IGNORECASE,
)
"""How a message begins that answers what the agent asked."""
_LONGEST_ANSWER = 200
_ASKS = lazy_re(r"\?|\bplease (?:provide|confirm|share|tell|specify|choose|let)\b|\blet me know\b", re.IGNORECASE)
"""What an agent's words end with that wait for an answer."""
_ASIDE = lazy_re(
    r"<(?P<tag>ide_\w+|system-reminder|local-command-\w+|command-message|environment_\w+|user_instructions)\b[^>]{0,1000}>.*?"
    r"(?:</(?P=tag)>|\Z)",
    re.DOTALL,
)
"""What a harness sets round a user's words, with what stands in it."""
_TAG = lazy_re(r"</?[A-Za-z][\w-]*(?: [^<>\n]*)?/?>")
_LEAST_SENTENCE = 8
_PASTED = lazy_re(
    r"^[\w.-]+@[\w-]+\b|➜"
    r"|^\W*(?:={2,}|-{2,}|~|\+|/|\d{1,4}[-:/]\d|\d+[|)]|at |\$ |> |│|\[?(?:INFO|DEBUG|WARN|ERROR)\b)|={3,}"
    r"|^I(?:['’]ve| have) uploaded|https?://\S+$|[{}]|:\d+:\d+|:\s+/|: [0-9a-f/]{7,}\b"
)
"""How a line begins, or what it holds, that was not worded but pasted."""


class Stretch(Struct, frozen=True, kw_only=True):
    """A goal, and the messages in which it was worked on."""

    goal: str
    """The first telling sentence of what was asked, in its words; empty where nothing was said."""
    opening: MessageId
    messages: tuple[Message, ...]
    """At least one; the first of them asks, unless the run begins without a user."""


def stretches(messages: Sequence[Message]) -> tuple[Stretch, ...]:
    """Cut `messages` where the user asks for something new; whoever only says “go on” asks for nothing new."""
    groups: list[list[Message]] = []
    for message in messages:
        if not groups or (message.opens_turn and not _goes_on(message, groups[-1])):
            groups.append([])
        groups[-1].append(message)
    if len(groups) > 1 and not any(each.opens_turn for each in groups[0]):
        # What a run begins with before anybody asks belongs to the first wish.
        groups[:2] = [[*groups[0], *groups[1]]]
    return tuple(_stretch(group) for group in groups)


def goal_words(text: str) -> str:
    """What a user's message asks for, on one line: its first telling sentence, without what a harness put round it."""
    said = _ASIDE.sub(" ", without_recalled(_INTERRUPTED.sub("", text.strip())))
    said = _TAG.sub(" ", said).strip()
    told = list(_telling(said))
    worded = next((sentence for sentence in told if not _PASTED.search(sentence)), "")
    first = worded or next(iter(told), "") or " ".join(said.split())
    first = clip(first, MOST_CHARACTERS).strip()
    # A mark that stands alone would pair with one of the next line.
    return first if first.count("`") % 2 == 0 else first.replace("`", "")


def _telling(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        words = sentence.strip(" .!#*>-")
        if len(words) >= _LEAST_SENTENCE and not _only_agrees(words):
            yield words


def _stretch(messages: Sequence[Message]) -> Stretch:
    asked = [message for message in messages if message.opens_turn]
    told = ((message, goal_words(message.text)) for message in asked)
    opening, goal = next(((message, goal) for message, goal in told if goal), ((asked or messages)[0], ""))
    return Stretch(goal=goal, opening=opening.id, messages=tuple(messages))


def _goes_on(message: Message, before: Sequence[Message]) -> bool:
    """Whether `message` only carries on what was asked `before` it."""
    if not any(each.opens_turn for each in before):
        return False
    said = goal_words(message.text)
    if not any(map(str.isalnum, said)) or _only_agrees(said):
        return True
    last = next((each for each in reversed(before) if each.role == "assistant" and each.text.strip()), None)
    asked = last is not None and bool(_ASKS.search(last.text[-300:]))
    return asked and len(message.text) <= _LONGEST_ANSWER and bool(_ANSWERS.match(said))


def _only_agrees(text: str) -> bool:
    words = [word.strip(".,!?:;'\"()*#") for word in text.lower().replace("’", "'").split()]
    words = [word for word in words if word]
    return len(words) <= _MOST_WORDS and all(word in _AGREES for word in words)
