"""What a memory knows beyond its log: the verbs on memories, scratchpads and what is forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime
from typing import Unpack

from ireneo.engine import brief as briefs
from ireneo.engine import scratchpad as scratchpads
from ireneo.engine.brief import BUDGET, Cue
from ireneo.engine.embedding import TOGETHER, Embedded, embed_due
from ireneo.engine.exchange import (
    Exported,
    FileFormat,
    MemoriesImported,
    MemoryFile,
    export_memories,
    import_memories,
)
from ireneo.engine.fading import Fading, archive, fading, restore
from ireneo.engine.forget import Receipt, forget
from ireneo.engine.history import history
from ireneo.engine.means import Means
from ireneo.engine.projects import project_asked
from ireneo.engine.recall.asked import Asked
from ireneo.engine.recall.recall import recall
from ireneo.engine.reflect import Reflected, reflect
from ireneo.engine.remember import Remembered, get, remember, remember_all, used
from ireneo.engine.scratchpad import Scratchpad
from ireneo.engine.vectors import HeldVectors
from ireneo.memories.brief import Brief
from ireneo.memories.exchange.recognised import recognised
from ireneo.memories.facts import Fact
from ireneo.memories.offered import Told
from ireneo.memories.recall.recalled import Recollection
from ireneo.memories.record import Kind, MemoryId, Record
from ireneo.memories.scratchpad import Pad


class Knowledge:
    """The memories of one space: what is true, what happened, how it is done, what not to try again."""

    def __init__(self, means: Means, space: str) -> None:
        """Stand on an open store."""
        self.space = space
        self._means = means
        self._store = means.store
        self._held = HeldVectors()

    @staticmethod
    def project_named(given: str) -> str:
        """The project that is meant by its name, or by a directory of it; empty where that names none."""
        return project_asked(given) or ""

    def count(self, text: str) -> int:
        """What `text` costs, in tokens, as this memory counts them."""
        return self._means.count(text)

    async def remember(self, text: str, **told: Unpack[Told]) -> Remembered:
        """Remember `text`, and tell what became of it: added, reinforced, superseded, disputed, overturned or ignored.

        Of which kind it is, and what slot a plain statement has, is found by rules where it is not `told`. Raises
        BadInput, with nothing written, where something of it can't be used. Keys, tokens and passwords become marks,
        unless the memory was opened with `keep_secrets`.
        """
        return await remember(self._means, self.space, text, **told)

    async def remember_all(self, texts: Iterable[tuple[str, Told]]) -> Sequence[Remembered]:
        """Remember many texts, each with what is told of it, in one transaction: all of them or, on BadInput, none."""
        return await remember_all(self._means, self.space, texts)

    async def get(self, ids: Sequence[str]) -> Sequence[Record]:
        """The memories whose ids begin with one of `ids`, in the order asked; unknown ones are passed over."""
        return await get(self._means, self.space, ids)

    async def history(
        self,
        subject: str,
        attribute: str | None = None,
        *,
        at: datetime | None = None,
        believed_at: datetime | None = None,
    ) -> Sequence[Fact]:
        """What is known of a subject, or of one of its attributes, over time: with what was corrected and disputed.

        With `at` only what was true at that moment; with `believed_at` as we believed then, having been told no more.
        """
        return await history(self._means, self.space, subject, attribute, at=at, believed_at=believed_at)

    async def used(self, ids: Sequence[str], *, helped: bool | None = None) -> Sequence[Record]:
        """Note that memories were acted on now and, where that is known, whether it helped or harmed.

        Raises MemoryNotFound.
        """
        return await used(self._means, self.space, ids, helped=helped)

    async def recall(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        limit: int = 10,
        budget: int | None = None,
        at: datetime | None = None,
        session: str | None = None,
        branch: str | None = None,
        project: str | None = None,
        as_: str = "",
        undone: bool = False,
        explain: bool = False,
    ) -> Recollection:
        """What answers the question `text`, best first: at most `limit` messages and memories.

        With `kind` only memories of that kind, with `at` what was the case then and what was said by then. With
        `session` only what comes from there, and with a `branch` of it what lies on the path to that branch's head.
        With `project`, a name or the directory where it lies, what belongs to it and what belongs to none; with
        `as_` what that character was present for. What a rewind left behind is found with `undone` alone. `budget` is
        what the texts may cost together, in tokens. `explain` gives the parts of each score.

        Raises BadInput for an empty question, a kind, limit, branch or character that there is not, and a naive time.
        """
        asked = Asked(
            text=text,
            kind=kind,
            limit=limit,
            budget=budget,
            at=at,
            session=session,
            branch=branch,
            project=project_asked(project),
            as_=as_,
            undone=undone,
            explain=explain,
        )
        return await recall(self._means, self.space, self._held, asked)

    async def embed(self) -> AsyncIterator[Embedded]:
        """Give everything that is searched its vectors by the memory's embedder; tells each piece.

        It may be stopped and goes on where it was. Nothing where there is no embedder. Raises EmbedderError.
        """
        embedder = self._means.embedder
        while embedder is not None:
            embedded = await embed_due(self._store, self.space, embedder, TOGETHER)
            if embedded.documents:
                yield embedded
            if not (embedded.left and embedded.documents):
                return

    async def brief(
        self,
        *,
        goal: str = "",
        task_type: str = "",
        situation: str = "",
        about_to: str = "",
        project: str | None = None,
        as_: str = "",
        undone: bool = False,
        task: str | None = None,
        budget: int = BUDGET,
    ) -> Brief:
        """What a turn is given of all four kinds at once, with the scratchpad of `task`, in `budget` tokens.

        Procedures of just this `task_type`, facts for the `goal`, episodes like the `situation` (the goal, where none
        is given), failures of the action `about_to` be taken and for the goal. With a `project` its lessons stand
        before them, by what they are expected to save, and those that hold in several projects; what belongs to other
        projects is left out. With `as_` what that character was present for, with `undone` also what a rewind left
        behind. No model is asked. What is shown is marked as used. Raises BadInput under 64 tokens, for a character
        whom nobody knows, and for the scratchpad of another project.
        """
        cue = Cue(
            goal=goal,
            task_type=task_type,
            situation=situation,
            about_to=about_to,
            project=project_asked(project),
            as_=as_,
            undone=undone,
        )
        return await briefs.brief(self._means, self.space, cue, task, budget)

    def scratchpad(self, task: str, *, project: str | None = None) -> Scratchpad:
        """The scratchpad of a task: the contexts of the session called `task` show it. Raises BadInput for no name.

        With `project` it is that project's alone: its calls raise BadInput where the pad, or the session that is called
        as the task is, is not of it.
        """
        return Scratchpad(self._means, self.space, task, project_asked(project))

    async def pads(self) -> Sequence[Pad]:
        """Every scratchpad of the space, the one that was written last standing first."""
        return await scratchpads.pads(self._means, self.space)

    async def reflect(self, *, force: bool = False) -> Reflected:
        """Look back: draw up to three conclusions from what happened, and reconsider those that lost their ground.

        It is done where enough is new; with `force` wherever anything is. `work` does it by itself.
        """
        return await reflect(self._means, self.space, force=force)

    async def fading(self, limit: int = 20) -> Sequence[Fading]:
        """The memories that would be put away next, the least retained first, and why."""
        return await fading(self._means, self.space, limit)

    async def archive(self, keep: int) -> Sequence[MemoryId]:
        """Put the least retained memories away until `keep` are left in use; pinned ones never; returns which.

        They are not recalled any more; `restore` takes them out again.
        """
        return await archive(self._means, self.space, keep)

    async def restore(self, ids: Sequence[str]) -> Sequence[Record]:
        """Take memories out again that were put away. Raises NotFound."""
        return await restore(self._means, self.space, ids)

    async def forget(
        self,
        *,
        subject: str | None = None,
        message: str | None = None,
        session: str | None = None,
        memory: str | None = None,
        space: str | None = None,
        preview: bool = False,
    ) -> Receipt:
        """Erase a message, a session, a memory or all that names a subject, with what was derived from it alone.

        `space` erases all of the space; give its name, so that nobody does it by chance. Summaries are taken out and
        made again without what is erased; memories lose that source, or go; indexes and vectors as well; and then no
        byte of the store has it any more (`Receipt.complete`; where not, its note says what is left to do). An erased
        message leaves its place, so that all that follow stay as they are; stored again it stays erased.

        With `preview` nothing is done, and the receipt says what would be. Raises BadInput unless exactly one thing is
        named, NotFound where it is not there.
        """
        return await forget(
            self._means,
            self.space,
            subject=subject,
            message=message,
            session=session,
            memory=memory,
            everything=space,
            preview=preview,
        )

    async def export_memories(
        self, to: FileFormat = "markdown", *, there: Callable[[str], bytes | None] = lambda path: None
    ) -> AsyncIterator[Exported]:
        """Give every memory as a file: one Markdown file each, or, as ``"jsonl"``, one file with a line for each.

        `there` gives what stands under a path already: what was edited there and not imported yet is told as such.
        """
        async for each in export_memories(self._means, self.space, to, there):
            yield each

    async def import_memories(self, files: Iterable[MemoryFile]) -> MemoriesImported:
        """Store the memories in files that `export_memories` gave, or that were written or edited by hand.

        The same file twice changes nothing. Edited words are their user's, and take the place of those before. What
        can't be read is told, with its line, and the rest is stored.
        """
        return await import_memories(self._means, self.space, files)

    @staticmethod
    def reads_memories(sample: bytes) -> bool:
        """Whether a file that begins with `sample` holds memories, and is no log."""
        return bool(recognised(sample))
