"""In whose voice a summary stands: the one policy for the role of our own blocks.

First-person text in a user message reads as the user speaking; as the assistant's, it must not be the last word.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.log.message import BLOCK_TAGS, Draft, Text

NOTES = "(My own notes on earlier work; not a request.)"


def flatten_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Make plain text of each summary, so that no other rule has to know of them; its role is settled last."""
    return [_flat(draft) for draft in drafts]


def cast_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Give each summary its role: the assistant where a user message follows, else the user, marked as notes."""
    return [_cast(draft, _user_follows(drafts, index)) for index, draft in enumerate(drafts)]


def recognise_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Find our own blocks in a list that was compacted before, so that they are not taken for what was said.

    Only where `cast_summaries` would give the block the very role it has, so that the list still comes back equal.
    """
    out = list(drafts)
    for index in reversed(range(len(out))):
        draft = out[index]
        if _stands_alone(out, index) and len(draft.parts) == 1 and isinstance(draft.parts[0], Text):
            text = draft.parts[0].text
            ours = text.startswith(BLOCK_TAGS) if draft.role == "assistant" else text.startswith(_WRAPPED)
            cast = "assistant" if _user_follows(out, index) else "user"
            if ours and draft.role == cast:
                out[index] = replace(draft, origin="summary")
    return out


_WRAPPED = tuple(f"{NOTES}\n{mark}" for mark in BLOCK_TAGS)


def _stands_alone(drafts: Sequence[Draft], index: int) -> bool:
    shared = drafts[index].joined or (index + 1 < len(drafts) and drafts[index + 1].joined)
    return drafts[index].native is None and not shared


def _flat(draft: Draft) -> Draft:
    if draft.origin != "summary":
        return draft
    if draft.calls or draft.results:
        # What acts is no summary, whatever it is called.
        return replace(draft, origin="spoken")
    if draft.native is not None:
        return draft
    # Without the line that marks it as notes: what is blank but for that is dropped like any other blank text.
    return replace(draft, role="user", parts=(Text(text=_unmarked(draft)),), joined=False)


def _cast(draft: Draft, user_follows: bool) -> Draft:
    if draft.origin != "summary":
        return draft
    if draft.native is not None and (user_follows or draft.role == "user"):
        return draft
    text = _unmarked(draft)
    if user_follows:
        return replace(draft, role="assistant", parts=(Text(text=text),), native=None)
    return replace(draft, role="user", parts=(Text(text=f"{NOTES}\n{text}"),), native=None)


def _unmarked(draft: Draft) -> str:
    return draft.text.removeprefix(f"{NOTES}\n")


def _user_follows(drafts: Sequence[Draft], index: int) -> bool:
    following = drafts[index + 1] if index + 1 < len(drafts) else None
    return following is not None and following.role == "user" and following.origin != "summary"
