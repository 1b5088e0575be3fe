"""What is noted on a branch of a session: pins, disputes of its summaries, and its diary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ireneo.context.policy import Policy
from ireneo.engine import diary as diaries
from ireneo.engine import notes as noting
from ireneo.engine.diary import Diary
from ireneo.engine.means import Means
from ireneo.engine.notes import Pin
from ireneo.lessons.written import Written, lines_of
from ireneo.log.annotation import Annotation
from ireneo.log.branch import SessionKey
from ireneo.prompts.voices import Voice


class Noted(ABC):
    """A branch of a session, as far as something is noted on it."""

    def __init__(self, means: Means, key: SessionKey, branch: str) -> None:
        """Name the place; nothing is read yet."""
        self.key = key
        self.branch = branch
        self._means = means
        self._store = means.store
        self._count = means.count

    async def pin(self, text: str) -> Annotation:
        """Pin `text` here: it is shown word for word in every context from now on, until it is released.

        A session that has no message yet may be pinned: then it stands from the first one on, on every branch.
        """
        text = self._means.cleaning().text(text)
        return await noting.pin(self._store, self.key, self.branch, text)

    async def release(self, pin: str) -> Annotation:
        """Let go of a pin, by its id or its words. Raises BadInput where no such pin stands."""
        return await noting.release(self._store, self.key, self.branch, pin, *self._own())

    async def pins(self) -> Sequence[Pin]:
        """The constraints that stand: those that were found in what users and the system said, and those by hand.

        Of a story the open threads as well.
        """
        return await noting.pins(self._store, self.key, self.branch, *self._own())

    async def dispute(self, id: str, reason: str, *, claim: str = "") -> Annotation:
        """Say that the summary `id` is wrong, or one `claim` of it, in its words.

        It is shown as disputed until a model has written it again from its sources, with `reason` in view. Raises
        SummaryNotFound, and BadInput where it doesn't say the claim.
        """
        reason = self._means.cleaning().text(reason)
        return await noting.dispute(self._store, self.key, id, reason, claim)

    async def diary(
        self,
        tried: str | Sequence[str] = (),
        *,
        worked: str | Sequence[str] = (),
        failed: str | Sequence[str] = (),
        pattern: str = "",
        goal: str = "",
    ) -> Diary:
        """The diary of this path; with arguments, once they are written into it.

        What the agent writes is of the task that is being worked on: the approaches that it `tried` (several, or a
        text with one a line), each with its outcome, what `worked`, what `failed`, the `pattern` behind it in one
        sentence, and the `goal` in its own words. It leads over what the structure shows of that task. Whatever it
        names that stands nowhere in the session is marked as unverified, and secrets are taken out. Written twice,
        the lines add up. Raises BadInput over 8 lines of a section, and before the first message.
        """
        cleaning = self._means.drawing()

        def said(name: str, text: str | Sequence[str]) -> tuple[str, ...]:
            return tuple(cleaning.text(line) for line in lines_of(name, text))

        given = Written(
            tried=said("tried", tried),
            worked=said("worked", worked),
            failed=said("failed", failed),
            pattern=" ".join(said("pattern", pattern)),
            goal=" ".join(said("goal", goal)),
        )
        if not given.is_empty:
            await diaries.write_entry(self._store, self.key, self.branch, given, cleaning)
        return await diaries.read_diary(self._store, self.key, self.branch, self._count, cleaning)

    @abstractmethod
    def _own(self) -> tuple[Policy, Voice]:
        """How the session is cut where nothing else is said, and in whose voice its texts are."""
