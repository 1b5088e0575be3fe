"""Drafts that stood in one provider message become one again where they have one role."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ireneo.log.message import Draft, Native


def provider_groups(drafts: Sequence[Draft]) -> list[list[Draft]]:
    """The drafts that share a provider's message: results together, and with them the words joined to them."""
    groups: list[list[Draft]] = []
    for draft in drafts:
        before = groups[-1][-1].role if groups else None
        if (before == "tool" and draft.role == "tool") or (draft.joined and before in ("tool", "user")):
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return groups


def join_drafts(drafts: Sequence[Draft], merge: Callable[[Draft, Draft], Native | None]) -> list[Draft]:
    """Join each `joined` assistant or tool draft to the one before it; `merge` gives the native of the two, if any.

    A user's words that were joined to tool results stay a draft of their own, and stay `joined`. Elsewhere the
    word means nothing any more: what it was joined to is gone, and other words of the user are not it.
    """
    out: list[Draft] = []
    for draft in drafts:
        if not draft.joined:
            out.append(draft)
            continue
        before = out[-1] if out and out[-1].origin != "summary" and draft.origin != "summary" else None
        if before is not None and before.role == draft.role and draft.role in ("assistant", "tool"):
            out[-1] = replace(before, parts=before.parts + draft.parts, native=merge(before, draft))
        elif before is not None and (before.role, draft.role) == ("tool", "user"):
            out.append(draft)
        else:
            out.append(replace(draft, joined=False))
    return out
