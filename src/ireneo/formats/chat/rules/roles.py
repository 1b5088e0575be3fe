"""Who may speak, and who begins."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.rules.outline import Outlines, Rule, breach


def unknown_role(known: tuple[str, ...]) -> Rule:
    """Each message has a role that the format knows."""

    def rule(outlines: Outlines) -> Iterator[Violation]:
        for outline in outlines:
            if outline.role not in known:
                what = f"its role {outline.role!r} is unknown" if outline.role else "it has no role"
                yield breach("unknown-role", outline.index, f"{what}; expected one of {', '.join(known)}.")

    return rule


def first_not_user(outlines: Outlines) -> Iterator[Violation]:
    """The user speaks first."""
    for outline in outlines:
        if outline.role in ("system", "developer"):
            continue
        if outline.role != "user":
            yield breach("first-not-user", outline.index, "the first message must be the user's.")
        return
