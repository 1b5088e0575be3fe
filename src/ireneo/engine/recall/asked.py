"""What is asked of recall: the question, and which answers are wanted."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.memories.record import Kind

MOST_RESULTS = 1_000
MOST_CHARACTERS = 20_000
"""What is longer is no question; its beginning would decide alone."""
KINDS: tuple[Kind, ...] = get_args(Kind)


class Asked(Struct, frozen=True, kw_only=True):
    """A question, checked."""

    text: str
    kind: Kind | None = None
    """Only memories of this kind, and no messages."""
    limit: int = 10
    budget: int | None = None
    """Tokens that the texts may cost together."""
    at: datetime | None = None
    """What was the case then, and what was said by then; None: now, and all of it."""
    session: str | None = None
    """Only what comes from this session."""
    branch: str | None = None
    """Of that session only what lies on the path to this branch's head."""
    project: str | None = None
    """Only what belongs to this one, and what belongs to none (empty: that alone)."""
    as_: str = ""
    """Only what this character was present for."""
    undone: bool = False
    """Also what a rewind left behind."""
    messages: bool = True
    """Whether messages are wanted as well."""
    explain: bool = False

    def __post_init__(self) -> None:
        """Raise BadInput for what can't be asked."""
        _check_types(self)
        if not self.text.strip():
            raise BadInput("There is nothing to look for: the question is empty.")
        if len(self.text) > MOST_CHARACTERS:
            raise BadInput(f"A question may have {MOST_CHARACTERS:,} characters; this one has {len(self.text):,}.")
        if self.kind is not None and self.kind not in KINDS:
            raise BadInput(f"There is no kind {self.kind!r} of memory; take one of {', '.join(KINDS)}.")
        if not 1 <= self.limit <= MOST_RESULTS:
            raise BadInput(f"A limit of {self.limit} can't be kept; ask for 1 to {MOST_RESULTS:,} results.")
        if self.budget is not None and self.budget < 1:
            raise BadInput(f"A budget of {self.budget} tokens holds nothing; give at least 1.")
        if self.branch is not None and self.session is None:
            raise BadInput(f"`branch` is {self.branch!r}, and no session is named; a branch is one of a session's.")
        if self.at is not None and self.at.utcoffset() is None:
            raise BadInput(f"The time {self.at.isoformat()} has no zone; give one, such as UTC.")


def _check_types(asked: Asked) -> None:
    """Raise BadInput where something of a question is not of the type that it must be."""
    if not isinstance(asked.text, str):
        raise BadInput(f"The question is {type(asked.text).__name__}; give a string.")
    for name, text in (("session", asked.session), ("branch", asked.branch), ("as_", asked.as_)):
        if text is not None and not isinstance(text, str):
            raise BadInput(f"`{name}` is {text!r}; give a name.")
    for name, number in (("limit", asked.limit), ("budget", asked.budget)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise BadInput(f"`{name}` is {number!r}; give a whole number.")
    if asked.at is not None and not isinstance(asked.at, datetime):
        raise BadInput(f"`at` is {type(asked.at).__name__}; give a datetime with a zone.")
