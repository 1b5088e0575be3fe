"""What came of a piece of work."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.summary import Level
from ireneo.engine.summarise import Summarised

# fmt: off
Did = Literal[
    "caught_up", "written", "repaired", "offline", "taken_over", "failed",
    "remembered", "reflected", "archived", "embedded",
]
# fmt: on


class Worked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One piece of work, and how much there is left."""

    session: str
    branch: str
    id: str = ""
    """Of the summary that was written."""
    did: Did
    """``caught_up``: summaries were made without a model. ``written`` or ``repaired``: a model wrote one; ``offline``:
    so badly that the offline text stands for it. ``taken_over``: another writer had stored it meanwhile.
    ``remembered``: memories were made of turns or of leaves, without a model. ``reflected``: the episodes of the whole
    space were looked back on; ``archived``: the least retained memories over its cap were put away; ``embedded``: what
    is searched was given vectors. These three have no session."""
    first_position: int
    last_position: int
    level: Level = "story"
    depth: int = 1
    summaries: int = 1
    reason: str = ""
    """Why it failed, or what was wrong."""
    tokens_in: int = 0
    tokens_out: int = 0
    supported: float = 1.0
    """Of the claims that the model made, the share that its sources support."""
    struck: int = 0
    behind: int = 0
    """How many messages of the branch are due to be summarised and are not yet."""
    due: int = 0
    """How many texts a model has still to write on the branch."""
    memories: int = 0
    """How many memories were made or changed; of ``embedded`` how many documents."""
    episodes: int = 0
    """How many episodes were looked back on."""


def told_by(summarised: Summarised, worked: Worked) -> Worked:
    """The same piece of work, with what came of its text."""
    return replace(
        worked,
        id=summarised.id,
        did=summarised.outcome,
        reason=summarised.reason,
        tokens_in=summarised.tokens_in,
        tokens_out=summarised.tokens_out,
        supported=summarised.supported,
        struck=summarised.struck,
    )


def summarised_by(worked: Worked) -> Summarised | None:
    """What came of a text, as `summarise` tells it; None for what needed no model, or was another's."""
    if worked.did not in ("written", "repaired", "offline", "failed"):
        return None
    return Summarised(
        id=worked.id,
        level=worked.level,
        first_position=worked.first_position,
        last_position=worked.last_position,
        outcome=worked.did,
        reason=worked.reason,
        tokens_in=worked.tokens_in,
        tokens_out=worked.tokens_out,
        supported=worked.supported,
        struck=worked.struck,
    )
