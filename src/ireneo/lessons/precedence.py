"""What has to come first: a command after which another one passes, and without which it does not."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.actions import CHANGES
from ireneo.lessons.material import Material
from ireneo.lessons.sighting import Sighting
from ireneo.lessons.telling import cited, told
from ireneo.lessons.tries import Try, programs_of
from ireneo.log.message import Message, MessageId
from ireneo.patterns import lazy_re

_PREPARES = lazy_re(
    r"(?:^|[\s:/_-])(?:fmt|format|gofmt|prettier|generate|codegen|gen|install|sync|tidy|migrate|setup|bootstrap)\b"
)
AFTER = " after "
"""What stands in a cue between a command and the one that comes before it."""


def precedence(material: Material, run: Sequence[Try]) -> list[Sighting]:
    """For each check and each command that prepares for it: how often it passed after that, and how often not.

    That it passed without it speaks against it as well: then it did not have to come first.
    """
    passed: dict[tuple[str, str], list[Try]] = {}
    against: dict[tuple[str, str], list[Try]] = {}
    alone: dict[str, list[Try]] = {}
    prepared: dict[str, Try] = {}
    for each in run:
        if each.step.action.deed in CHANGES:
            prepared.clear()  # What was prepared before the change has to be prepared again.
            continue
        chain = programs_of(each.step) if each.shape.shell else []
        before = [*prepared, *(name for name in chain if _PREPARES.search(name))]
        if each.step.action.deed == "check" and not _PREPARES.search(each.program):
            for first in dict.fromkeys(name for name in before if name != each.program):
                (passed if each.worked else against).setdefault((first, each.program), []).append(each)
            if not before and each.worked:
                alone.setdefault(each.program, []).append(each)
        if each.worked:
            prepared.update((name, each) for name in chain if _PREPARES.search(name))
    messages = {message.id: message for message in material.messages}
    return [
        _sighting(material, messages, pair, passed.get(pair, []), [*against.get(pair, []), *alone.get(pair[1], [])])
        for pair in dict.fromkeys((*passed, *against))
    ]


def _sighting(
    material: Material,
    messages: dict[MessageId, Message],
    pair: tuple[str, str],
    held: Sequence[Try],
    broke: Sequence[Try],
) -> Sighting:
    first, then = pair
    seen = [*held, *broke]
    sources = cited((name for each in held[-3:] for name in each.step.sources), messages)
    text = f"Run `{first}` before `{then}`, which passed after it."
    return Sighting(
        cue=f"{then}{AFTER}{first}",
        category="procedural",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=len(held),
        broke=len(broke),
        text=text if held and told(text, sources, messages) else "",
        task_type="check",
        conditions={"program": then},
        sources=sources,
        against=cited((name for each in broke[-2:] for name in each.step.sources), messages)[:4],
    )
