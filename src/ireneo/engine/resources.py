"""What the sessions of a memory work with: the store, the tokenizer, the clock, the models, and what may be spent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct

from ireneo.engine.cleaning import Cleaning, MakesRedactor
from ireneo.engine.models import Limits, Models, Spending
from ireneo.errors import BadInput
from ireneo.formats.logs.format import Spool
from ireneo.log.message import Count
from ireneo.log.tree import SessionKey
from ireneo.ports.files import LogPlace, LogSource, OpensLog
from ireneo.ports.models import Clock, Embedder
from ireneo.ports.store import Store
from ireneo.prompts.replies import Voice
from ireneo.summaries.policy import CODING, Policy

KEEP_MEMORIES = 100_000
"""So many memories a space keeps in use; beyond them the least retained are put away."""


def _refuse_files(place: LogPlace) -> LogSource:
    raise BadInput(f"This memory opens no files; hand in the lines of {place} with import_log.")


class Resources(Struct, frozen=True, kw_only=True):
    """A store, a tokenizer and a clock; models, where there are any, and what may be spent on them."""

    store: Store
    count: Count
    clock: Clock
    models: Models = Models()
    limits: Limits = Limits()
    voice: Voice = "first"
    """In whose voice summaries are written and shown."""
    story_voice: Voice | None = None
    """In whose voice stories are; None: the third person's, and a character's own memory in the first."""
    preset: Policy = CODING
    """How a session is cut where neither a caller nor the session itself says otherwise."""
    keep_memories: int = KEEP_MEMORIES
    """So many memories a space keeps in use; `work` puts the least retained of the others away."""
    embedder: Embedder | None = None
    """Gives the directions in which likeness of meaning is looked for; None: recall goes by the words."""

    spool: Callable[[], AbstractContextManager[Spool | None]] = nullcontext
    """Where lines of a large log are put aside while it is taken in; without a place for them all of it is held."""
    open_log: OpensLog = _refuse_files
    """Opens log files."""
    redactor: MakesRedactor | None = None
    """Makes one that takes the secrets out of a message; None: everything is stored with its secrets."""
    keep_secrets: bool = False
    """Whether secrets are stored where a call doesn't say otherwise."""

    def cleaning(self, keep_secrets: bool | None = None) -> Cleaning:
        """What all that is to be stored passes through: its secrets are left behind, unless they are to be kept."""
        return Cleaning(self.redactor, keep=self.keep_secrets if keep_secrets is None else keep_secrets)

    def drawing(self) -> Cleaning:
        """What is drawn from messages passes through it: lessons hold no secret, even where their messages do."""
        return Cleaning(self.redactor)

    def voice_of(self, policy: Policy) -> Voice:
        """In whose voice what `policy` summarises is told; a character's own memory in the first person."""
        if policy.story is None:
            return self.voice
        return self.story_voice or ("first" if policy.seen_by else "third")

    def models_for_space(self, space: str) -> Models:
        """The models, on account of the memories of a space, which belong to no session: a new account each day."""
        return self.models_for(SessionKey(space, f"memories of {self.clock.now().date().isoformat()}"))

    def models_for(self, key: SessionKey) -> Models:
        """The models, each on account of the session `key`."""
        return self.models.each(lambda model: Spending(model, self.store, key, self.limits, self.clock, self.count))
