"""Whether a session has done already what a lesson says to do first: then there is nothing left to warn of."""

from __future__ import annotations

from ireneo.lessons.signature import shape
from ireneo.lessons.situation import Situation, keys
from ireneo.log.message import Call
from ireneo.patterns import lazy_re

_FIRST = lazy_re(r"\brun `([^`\n]+)` first\b")


def heeded(situation: Situation, call: Call, lesson: str) -> bool:
    """Whether what `lesson` says to run first was run, and went well, since `call` or its like failed last."""
    found = _FIRST.search(lesson)
    if found is None:
        return False
    remedy = shape(Call(id=call.id, name=call.name, arguments={"command": found[1]}))
    done = situation.outcomes.get(f"program {remedy.program}")
    if done is None or done.failed:
        return False
    tried = (situation.outcomes.get(key) for key in keys(shape(call))[:3])
    return all(done.number > each.number for each in tried if each is not None and each.failed)
