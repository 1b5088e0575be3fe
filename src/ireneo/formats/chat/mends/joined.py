"""Drafts that stood in one provider message become one again where they have one role."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ireneo.log.message import Draft, Native


def words_after_results(before: Draft, draft: Draft) -> bool:
    """Whether `draft` is what a user said in one message with the results in `before`."""
    return "summary" not in (before.origin, draft.origin) and (before.role, draft.role) == ("tool", "user")


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


def join_drafts(
    drafts: Sequence[Draft],
    merge: Callable[[Draft, Draft], Native | None],
    share: Callable[[Draft, Draft], bool] = words_after_results,
) -> list[Draft]:
    """Join each `joined` assistant or tool draft to the one before it; `merge` gives the native of the two, if any.

    Drafts that `share` a message without being one, such as a user's words after tool results, stay drafts of their
    own, and stay `joined`. Elsewhere the word means nothing any more: what it was joined to is gone, and other words
    of the user are not it.
    """
    out: list[Draft] = []
    for draft in drafts:
        before = out[-1] if out else None
        if not draft.joined:
            out.append(draft)
        elif before is not None and _is_one(before, draft):
            out[-1] = replace(before, parts=before.parts + draft.parts, native=merge(before, draft))
        elif before is not None and share(before, draft):
            out.append(draft)
        else:
            out.append(replace(draft, joined=False))
    return out


def _is_one(before: Draft, draft: Draft) -> bool:
    spoken = "summary" not in (before.origin, draft.origin)
    return spoken and before.role == draft.role and draft.role in ("assistant", "tool")


def no_native(before: Draft, draft: Draft) -> Native | None:
    """For formats in which one message is one draft: what was joined elsewhere is built from its parts."""
    return None
