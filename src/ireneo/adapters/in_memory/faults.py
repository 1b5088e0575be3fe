"""What is wrong with a session in memory: what points to what is not there."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.adapters.in_memory.tree import Tree
from ireneo.log.message import Message


def find_faults(tree: Tree) -> Iterator[str]:
    """What is wrong with a session, a sentence each."""
    where = f"session {tree.key.session!r} of space {tree.key.space!r}"
    for message in tree.messages.values():
        yield from _of_message(tree, message, where)
    yield from _of_what_hangs(tree, where)
    for branch, head in tree.branches.items():
        if head is not None and head not in tree.messages:
            yield f"Branch {branch!r} of {where} points to {head}, and no such message is there."
    for lease in tree.leases.values():
        if lease.token > tree.leased:
            yield f"The lease on {lease.work!r} of {where} has token {lease.token}, and only {tree.leased} were given."


def _of_message(tree: Tree, message: Message, where: str) -> Iterator[str]:
    parent = None if message.parent is None else tree.messages.get(message.parent)
    place = f"{message.id} at position {message.position} of {where}"
    if message.parent is not None and parent is None:
        yield f"Message {place} goes on after {message.parent}, and no such message is there."
        return
    if message.position != (parent.position + 1 if parent else 0):
        yield f"Message {place} stands behind a message that isn't its parent."
    if message.total_tokens != (parent.total_tokens if parent else 0) + message.tokens:
        yield f"Message {place} gives a total that its path doesn't cost."


def _of_what_hangs(tree: Tree, where: str) -> Iterator[str]:
    for name in tree.payloads:
        if name not in tree.messages:
            yield f"A payload hangs on {name} of {where}, and no such message is there."
    stands = {name: message.position for name, message in tree.messages.items()}
    for summary in tree.summaries.values():
        covered = stands.get(summary.first), stands.get(summary.last)
        if covered != (summary.first_position, summary.last_position):
            yield (
                f"Summary {summary.id} of {where} covers positions {summary.first_position} to "
                f"{summary.last_position}, and its messages aren't there."
            )
    for mark in tree.rebuilds.values():
        if stands.get(mark.at) != mark.at_position:
            yield (
                f"The mark of a rebuild to {mark.budget_tokens} tokens hangs on position {mark.at_position} of "
                f"{where}, and its message isn't there."
            )
    for note in tree.annotations.values():
        if note.at and stands.get(note.at) != note.at_position:
            yield f"Annotation {note.id} hangs on position {note.at_position} of {where}, and its message isn't there."
