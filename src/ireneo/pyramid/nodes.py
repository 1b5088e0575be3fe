"""The canonical summaries of a story, as the structure gives them: leaves, and the deeper ones over them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.context.pinned import constraints
from ireneo.context.pins import standing
from ireneo.context.policy import Policy, Pyramid
from ireneo.context.summary import Line, Section, SectionName, Summary, anchor
from ireneo.context.thread import Thread
from ireneo.errors import BadInput
from ireneo.log.echo import as_said
from ireneo.log.message import Message
from ireneo.pyramid.offline.find_threads import find_threads
from ireneo.pyramid.offline.leaf import tell_leaf
from ireneo.pyramid.offline.rollup import tell_deeper
from ireneo.pyramid.threads import join

RUNNING_WORDS = 250
"""What a running summary holds."""
MAX_LIFTS = 24
"""So many sentences that may lift a constraint are carried, the newest."""


def settings(policy: Policy) -> Pyramid:
    """How the story of a policy fades. Raises BadInput where the policy is for no story."""
    if policy.pyramid is None:
        raise BadInput(f"The preset {policy.name!r} is for no story; take 'story'.")
    return policy.pyramid


def is_answered(messages: Sequence[Message]) -> bool:
    """Whether a model speaks among these messages: where none does, nobody is told what to do, and no "never" binds."""
    return any(message.role == "assistant" for message in messages)


def make_leaf(messages: Sequence[Message], before: Sequence[Thread], policy: Policy) -> Summary:
    """Write the leaf over `messages`; `before` are the threads that are open at its start."""
    first, last = messages[0], messages[-1]
    heard = as_said(messages)
    sections = [*tell_leaf(heard), *(_constraints(messages) if is_answered(messages) else ())]
    return Summary(
        id=anchor("story", first.id, last.id, policy.family),
        level="story",
        depth=1,
        first=first.id,
        last=last.id,
        first_position=first.position,
        last_position=last.position,
        family=policy.family,
        source_tokens=sum(message.tokens for message in messages),
        calls=sum(len(message.draft.calls) for message in messages),
        sections=tuple(sections),
        leaves=1,
        retellings=1,
        threads=find_threads(heard, before),
    )


def make_deeper(children: Sequence[Summary], told: Sequence[Summary], policy: Policy) -> Summary:
    """Merge the adjacent `children` into the summary above them, written from `told`: them, or what is under them."""
    first, last = children[0], children[-1]
    threads = join([child.threads for child in children], settings(policy).open_threads)
    sections = [*tell_deeper(told), *_constraints(children)]
    return Summary(
        id=anchor("story", first.first, last.last, policy.family),
        level="story",
        depth=max(child.depth for child in children) + 1,
        first=first.first,
        last=last.last,
        first_position=first.first_position,
        last_position=last.last_position,
        family=policy.family,
        source_tokens=sum(child.source_tokens for child in children),
        calls=sum(child.calls for child in children),
        sections=tuple(sections),
        sources=tuple(child.id for child in children),
        leaves=sum(child.leaves for child in children),
        retellings=1 + max(part.retellings for part in told),
        threads=threads,
    )


def make_running(before: Summary, leaf: Summary, policy: Policy) -> Summary:
    """Fold the next stretch into the one summary of all that came before it."""
    parts = [before, leaf]
    folded = make_deeper(parts, parts, policy)
    return replace(folded, depth=1, sections=tuple(_shortened(section) for section in folded.sections))


def _shortened(section: Section) -> Section:
    """As much of a section as one summary of everything has room for."""
    words = RUNNING_WORDS * 4 // 5 if section.name == "story" else RUNNING_WORDS // 5
    if section.name == "artifacts":
        return replace(section, lines=tuple(replace(line, names=line.names[:words]) for line in section.lines[:1]))
    if section.name != "story":
        return section
    kept: list[Line] = []
    for line in sorted(section.lines, key=lambda line: -line.weight):
        words -= len(line.text.split())
        if words < 0:
            break
        kept.append(line)
    return replace(section, lines=tuple(sorted(kept, key=lambda line: line.position)))


def _constraints(items: Sequence[Summary | Message]) -> list[Section]:
    """What binds all that is done next, in the words of who said it, and what may lift it."""
    pins, lifts = constraints(items)
    found: dict[SectionName, list[Line]] = {"constraints": standing(pins, lifts), "lifted": lifts[-MAX_LIFTS:]}
    return [Section(name=name, lines=tuple(lines)) for name, lines in found.items() if lines]
