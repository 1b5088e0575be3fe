"""What no branch leads to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ireneo.context.returned import pieces
from ireneo.engine.doctor.finding import Found, fault, note
from ireneo.engine.limbs import Limb
from ireneo.formats.chat.summaries import NOTES
from ireneo.log.branch import Head, SessionKey
from ireneo.log.ids import short
from ireneo.log.message import BLOCK_TAGS, Message
from ireneo.ports.transition import Transaction

CHUNK = 1_000
"""Messages that are read at a time."""


async def stood_for(tx: Transaction, key: SessionKey, grown: Sequence[Limb]) -> set[int]:
    """The places in `grown` of the paths without a branch for which blocks stand that were stored as messages.

    Contexts that came back as history were once taken for what somebody says: then what they stand for is there, and
    left by nobody.
    """
    loose = [place for place, limb in enumerate(grown) if not limb.name]
    found: set[int] = set()
    for limb in grown if loose else ():
        for first in range(limb.first, limb.head.position + 1, CHUNK):
            last = min(first + CHUNK - 1, limb.head.position)
            for message in await tx.log.path(key, limb.head.id, first, last):
                for name in _blocks(message):
                    found.update(await _homes(tx, key, grown, loose, name))
    return found


def _blocks(message: Message) -> list[str]:
    """The ids of the blocks that a message is made of."""
    text = message.text
    if not any(tag in text for tag in BLOCK_TAGS):
        return []
    return [piece.first for piece in pieces(text, NOTES) if piece.kind == "block"]


async def _homes(tx: Transaction, key: SessionKey, grown: Sequence[Limb], loose: Sequence[int], name: str) -> list[int]:
    """Which of the paths at `loose` hold the end of what a block covers."""
    out: list[int] = []
    for summary in await tx.summaries.find(key, name):
        for place in loose:
            limb = grown[place]
            if limb.first <= summary.last_position <= limb.head.position:
                there = await tx.log.path(key, limb.head.id, summary.last_position, summary.last_position)
                out += [place] if there and there[0].id == summary.last else []
    return out


def check_paths(
    key: SessionKey, branches: Mapping[str, Head | None], grown: Sequence[Limb], originals: Collection[int] = ()
) -> list[Found]:
    """Whether the session has a branch, and how much was abandoned; `grown` are all paths of the session.

    Those at the places `originals` hold what blocks on other paths stand for.
    """
    loose = [limb for limb in grown if not limb.name]
    if not branches and loose:
        furthest = max(loose, key=lambda limb: limb.head.position).head
        makes = f"`ireneo rewind {key.session} {short(furthest.id)}` makes one."
        advice = f"Import its log again, if that was broken off; or {makes}"
        return [fault(key.session, f"No branch leads to any of its {_messages(loose)}.", advice)]
    if not branches:
        return [note(key.session, "It has neither a message nor a branch.")]
    kept = [grown[place] for place in sorted(originals)]
    told = [_originals(key, kept)] if kept else []
    loose = [limb for limb in loose if not any(limb is each for each in kept)]
    if not loose:
        return told
    paths = "a path that was" if len(loose) == 1 else f"{len(loose)} paths that were"
    return [
        *told,
        note(
            key.session,
            f"{_messages(loose)} stand on {paths} abandoned; no branch leads there.",
            f"`ireneo prune {key.session}` takes out what no branch leads to, if it is not needed any more."
            if not kept
            else f"Don't prune {key.session} before its branches lead to what blocks stand for.",
        ),
    ]


def _originals(key: SessionKey, kept: Sequence[Limb]) -> Found:
    furthest = max(kept, key=lambda limb: limb.head.position).head
    return fault(
        key.session,
        f"{_messages(kept)} stand on no branch, and blocks of a context, which were stored as if they had been said, "
        "stand for them.",
        f"Nothing is lost: `ireneo rewind {key.session} {short(furthest.id)}` goes back to what was said. "
        "Hand in from there what came after.",
    )


def _messages(loose: Sequence[Limb]) -> str:
    messages, tokens = sum(limb.messages for limb in loose), sum(limb.tokens for limb in loose)
    return f"{messages:,} {'message' if messages == 1 else 'messages'} ({tokens:,} tokens)"
