"""What a user says at once in a run: in messages, refusals and answers, and what it was said about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from ireneo.language.detect import language_of_sentence
from ireneo.language.files import either, topic
from ireneo.language.topics import Constraints, Rulings
from ireneo.language.words import common_words, light_stem
from ireneo.lessons.findings import PLACES
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Call, Message, MessageId, Text, Thinking, without_recalled
from ireneo.log.outcome import was_refused, was_stopped
from ireneo.patterns import lazy_re
from ireneo.summaries.own_words import said_in_results
from ireneo.summaries.steps import CHANGES, clip, sentences, understand

_ABOUT = 140
"""Characters of what a ruling is about."""
_TOLD_ELSEWHERE = 1_500
"""Characters of a message that nobody types, if a run begins with it or it has headings or tags: a plan, a report."""
FEW = 3
"""Words of content with which a sentence says what it is about."""
_REPLY = 800
"""Characters of a reply, its thought among them, in which an agent says that the user is right."""
_HARNESS = lazy_re(lambda: either(topic(Rulings).harness), re.I)
_CONCEDES = lazy_re(lambda: rf"(?<!\w){either(topic(Rulings).concedes)}", re.I)
_COMMAND_TAG = lazy_re(r"\s*<command-(?:message|name)>")
_WRITTEN_UP = lazy_re(r"^#{1,6} |^</?[a-zA-Z_][\w-]{1,40}>|^[^\S\n]{0,8}[-*] \[[ x]\]", re.M)
_HOME = lazy_re(r"(?<![\w./~])/(?:Users|home|root|tmp|var|private)/(?:[\w.@-]{1,60}+/){1,20}+")
"""Folders of one machine, before a name."""
_STEM = lazy_re(r"[^\W_](?:[\w'./-]*\w)?")


class UserWords(Struct, frozen=True, kw_only=True):
    """What a user says at once."""

    message: Message
    text: str
    opening: bool
    """It asks for the task itself: nothing was done yet that it could correct."""
    stopped: bool
    """It was said when a call was refused, or broken off."""
    chosen: bool = False
    """It is an answer, or the reason of a refusal: short, and meant for the agent's course."""
    conceded: bool = False
    """The agent agreed that it had been wrong."""
    about: str
    """What it is about: the call that it refuses, or what the agent said last."""
    about_source: MessageId | None


def said_by_user(material: RunMaterial) -> Iterator[UserWords]:
    """What the user says in a run: in messages, refusals and answers."""
    heard = _replied(material.messages)
    calls: dict[str, tuple[Call, MessageId]] = {}
    spoke: Message | None = None
    before: Message | None = None
    done: list[tuple[Call, MessageId]] = []
    stopped = False
    for message in material.messages:
        draft = message.draft
        if message.role == "assistant":
            done += [(call, message.id) for call in draft.calls]
            calls.update({call.id: (call, message.id) for call in draft.calls})
            stopped = False
            spoke = message
        elif message.role == "user" and draft.origin == "spoken" and _typed(message, before, opening=spoke is None):
            about, about_source = _last_done(spoke, done)
            done = []
            yield UserWords(
                message=message,
                text=without_recalled(draft.text),
                opening=spoke is None,
                stopped=stopped,
                conceded=_concedes(heard.get(message.id, "")),
                about=about,
                about_source=about_source,
            )
        for result in draft.results:
            stopped = stopped or (result.failed is not False and (was_refused(result.text) or was_stopped(result.text)))
            call, source = calls.get(result.call_id, (None, None))
            for words, answers in said_in_results(result):
                question, _, answer = (each.strip('"') for each in words.partition('"="'))
                if answers and (call is None or answer in _offered(call)):
                    continue
                asked = f"“{clip(question, _ABOUT)}”" if answers else ""
                yield UserWords(
                    message=message,
                    text=answer if answers else words,
                    opening=False,
                    stopped=True,
                    chosen=True,
                    conceded=_concedes(heard.get(message.id, "")),
                    about=asked or (_named(call) if call else "") or _last_done(spoke, [])[0],
                    about_source=source,
                )
        before = message


def _replied(messages: Sequence[Message]) -> dict[MessageId, str]:
    """What the agent thought and said at once upon each message of the user's side."""
    out: dict[MessageId, str] = {}
    for before, each in pairwise(messages):
        if before.role != "assistant" and each.role == "assistant":
            told = (part.text[:_REPLY] for part in each.parts if isinstance(part, Text | Thinking) and part.text)
            out[before.id] = "\n".join(told)
    return out


def _concedes(reply: str) -> bool:
    return bool(_CONCEDES.search(reply))


def _typed(message: Message, before: Message | None, *, opening: bool) -> bool:
    """Whether a user wrote a message, and no program, and it is no template that a command was replaced by."""
    text = message.draft.text
    if _HARNESS.match(text.lstrip()):
        return False
    if before is not None and before.role == "user" and _COMMAND_TAG.match(before.draft.text):
        return False
    # Nobody types so much to begin with, and nobody headings in between.
    return len(text) < _TOLD_ELSEWHERE or not (opening or _WRITTEN_UP.search(text))


def _offered(call: Call) -> frozenset[str]:
    """The answers that a question offered: who takes one rules on the task at hand."""
    given = call.arguments if isinstance(call.arguments, dict) else {}
    out: set[str] = set()
    asked = given.get("questions")
    for question in asked if isinstance(asked, list) else [given]:
        options = question.get("options") if isinstance(question, dict) else None
        for option in options if isinstance(options, list) else []:
            label = option.get("label") if isinstance(option, dict) else option
            out.add(str(label))
    return frozenset(out)


def _named(call: Call) -> str:
    """A call as what a ruling is about."""
    action = understand(call)
    if action.shell:
        return f"`{clip(_HOME.sub('', action.subject), _ABOUT)}`"
    # Where the project stands on a machine is of no interest to another run.
    path = "/".join(action.subject.split("/")[-PLACES:])
    return f"changing `{clip(path, _ABOUT)}`" if action.kind in CHANGES else ""


def _last_done(spoke: Message | None, done: Sequence[tuple[Call, MessageId]]) -> tuple[str, MessageId | None]:
    """What an answer is about, with its message: what the agent asked last, what it changed, or what it said."""
    told = list(sentences(spoke.text)) if spoke is not None else []
    told = [each for each in told if len(stems_of(each)) >= FEW]
    asked = [each for each in told if each.endswith("?")]
    if spoke is not None and asked:
        return f"“{clip(asked[-1], _ABOUT)}”", spoke.id
    named = [(_named(call), source) for call, source in done if understand(call).kind in CHANGES]
    if named and named[-1][0]:
        return named[-1]
    return (f"“{clip(told[-1], _ABOUT)}”", spoke.id) if spoke is not None and told else ("", None)


def stems_of(text: str) -> frozenset[str]:
    """The stems of what a text is about."""
    language = language_of_sentence(text)
    empty = common_words() | topic(Constraints).empty | topic(Rulings).plain
    said = (word.lower().rstrip(".") for word in _STEM.findall(text.replace("’", "'")))
    return frozenset(light_stem(word.strip("'"), language) for word in said if word not in empty and len(word) > 1)
