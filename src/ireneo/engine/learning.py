"""What a memory learns from runs: the verbs on runs, lessons and the files they come from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from ireneo.engine.check import Situations, check, situation_of_log
from ireneo.engine.knowledge import Knowledge
from ireneo.engine.learn import files
from ireneo.engine.learn import listed as listing
from ireneo.engine.learn.calibrating import calibration
from ireneo.engine.learn.due import due_runs
from ireneo.engine.learn.learn import Learned, learn
from ireneo.engine.learn.listed import Lesson
from ireneo.engine.means import Means
from ireneo.engine.opening import Opened, dispute_id, open_id
from ireneo.engine.projects import project_asked
from ireneo.engine.remember import Remembered
from ireneo.errors import BadInput
from ireneo.formats.logs.format import LogFormat
from ireneo.lessons.calibrate import Measured
from ireneo.lessons.caution import Caution
from ireneo.lessons.confidence import Level
from ireneo.lessons.guard import is_guards
from ireneo.lessons.run import LearnedRun
from ireneo.lessons.sighting import Category, Claim
from ireneo.log.annotation import Annotation
from ireneo.log.message import Call, Draft
from ireneo.memories.record import Source


class Learning(Knowledge):
    """The memories of one space, and the runs that taught them."""

    def __init__(self, means: Means, space: str) -> None:
        """Stand on an open store."""
        super().__init__(means, space)
        self._situations = Situations()

    async def learn(self, sessions: Iterable[str] | None = None) -> AsyncIterator[Learned]:
        """Learn from every session of the space that was not learned from as far as it stands now, or from `sessions`.

        Tells each. It may be stopped, killed and run by several at once: what was learned stays, and nothing is
        learned twice. With a model each run is also read by it; its failure is told, and changes nothing.
        """
        async for learned in learn(self._means, self.space, sessions):
            yield learned

    async def unlearned(self) -> int:
        """How many sessions of the space `learn` would learn from."""
        return len(await due_runs(self._means, self.space))

    async def lessons(
        self,
        *,
        project: str | None = None,
        category: Category | None = None,
        confidence: Level | None = None,
        disputed: bool = False,
    ) -> Sequence[Lesson]:
        """What runs taught and still holds, the surest first; with `project` what concerns it or holds in several.

        With `disputed` also what counts no longer since somebody spoke against it, with the reason that was given.
        """
        return await listing.lessons(
            self._means, self.space, project=project, category=category, confidence=confidence, disputed=disputed
        )

    async def runs(self) -> Sequence[LearnedRun]:
        """The runs that were learned from, each with its diary, the one that ended last standing first."""
        async with self._store.read() as tx:
            return await tx.runs.list(self.space)

    async def claims(self, *, least_runs: int = 1) -> Sequence[Claim]:
        """What the runs show together: every claim that held in so many of them, and what that cost."""
        async with self._store.read() as tx:
            claims = await tx.runs.claims(self.space, least_runs=least_runs)
        return [each for each in claims if not is_guards(each.cue)]

    async def calibration(self) -> Measured | None:
        """How good the confidence of lessons is here: what the earlier runs foretold, and what came true in the later.

        None where there are too few runs.
        """
        return await calibration(self._means, self.space)

    async def check(
        self,
        tool: str,
        arguments: Mapping[str, object] | str,
        *,
        session: str | None = None,
        project: str | None = None,
        conditions: Mapping[str, str] | None = None,
        log: LogFormat | None = None,
        lines: Iterable[bytes] = (),
    ) -> Caution | None:
        """Say before a call is made whether one like it has failed; None where nothing speaks against it.

        With `session` as things stand there now; where it is not stored, its log so far may be given as `lines` in
        the format `log`. Past runs of `project`, a name or
        the directory where it lies, say most; that calls failed in others counts, and what was said there is not
        quoted. What was seen under other `conditions` (versions, hashes of
        files) than are given doesn't count. It is advice, and never raises for what a call says.
        """
        if log is None and not (isinstance(lines, Sequence) and not lines):
            raise BadInput("`lines` of a log are given, and not in which format they are; name it as `log`.")
        so_far = situation_of_log(log, lines, session or "") if log is not None else None
        call = Call(id="", name=tool, arguments=arguments if isinstance(arguments, str) else dict(arguments))
        # What runs taught was drawn from calls without their secrets.
        call = self._means.drawing().choices(Draft(role="assistant", parts=(call,))).drafts[0].calls[0]
        return await check(
            self._store,
            self._means.clock,
            self._situations,
            self.space,
            call,
            session=session,
            so_far=so_far,
            project=project_asked(project),
            conditions=conditions,
        )

    async def known_files(self, digests: Sequence[str]) -> frozenset[str]:
        """Those of `digests`, of whole files, that were learned from already."""
        return await files.known_files(self._means, self.space, digests)

    async def mark_file(self, digest: str, *, name: str, sessions: Sequence[str]) -> None:
        """Note that a file, told by the digest of its content, was learned from whole."""
        await files.mark_file(self._means, self.space, digest, name, sessions)

    async def open_id(self, id: str, *, session: str = "", project: str | None = None) -> Opened:
        """What an id names, wherever in the space: a block, a message, a memory, a pin, a session's diary.

        Its beginning will do where nothing else begins so. With `session` what stands in sessions is looked for in
        that one alone. Raises NotFound, and BadInput where it might name several.

        With `project` what belongs to another one is not opened.
        """
        return await open_id(self._means, self.space, id, session, project_asked(project))

    async def dispute(
        self, id: str, reason: str, *, claim: str = "", origin: Source = "agent", project: str | None = None
    ) -> Annotation | Remembered:
        """Say that the block or the memory `id` is wrong, and why; of a block one `claim` alone may be.

        The reason is kept with whose word it is, `origin`. With `project` what belongs to another one is not
        disputed. Raises NotFound, and BadInput without a reason.
        """
        return await dispute_id(self._means, self.space, id, reason, claim, origin, project_asked(project))
