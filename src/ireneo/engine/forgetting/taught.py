"""What runs taught of what is erased: runs go with their sightings, and the marks of files lose what names it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.forgetting.words import Name, values
from ireneo.lessons.run import LearnedRun
from ireneo.lessons.sighting import Sighting
from ireneo.ports.runs import LearnedFile
from ireneo.ports.transition import Transaction


class Taught(Struct, frozen=True, kw_only=True):
    """What becomes of the runs and of the files that they came from."""

    runs: tuple[str, ...] = ()
    """The sessions whose runs go, with all that they showed."""
    shown: int = 0
    """How many sightings go, of runs that go and of runs that stay."""
    less: tuple[tuple[LearnedRun, tuple[Sighting, ...]], ...] = ()
    """The runs that stay, with the sightings that they keep."""
    files: tuple[LearnedFile, ...] = ()
    """Those whose mark goes, so that they are read again."""
    unnamed: tuple[LearnedFile, ...] = ()
    """The marks that stay without a name, so that what was forgotten is not read again from the same file."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing becomes of them."""
        return not (self.runs or self.less or self.files or self.unnamed)


async def taught_by(
    tx: Transaction,
    space: str,
    *,
    whole: Collection[str],
    touched: Collection[str],
    cues: Collection[str],
    name: Name | None,
) -> Taught:
    """What goes with the sessions that go `whole`, those that lose a message (`touched`), and forgotten lessons.

    A session that lost a message is learned from again from what is left, so its run goes and its file may be read
    again. With a lesson goes what each run showed of its claim. What names `name` goes as well.
    """
    gone: list[str] = []
    less = []
    shown = 0
    for run in await tx.runs.list(space):
        seen = await tx.runs.of_run(space, run.session)
        if run.session in whole or run.session in touched or (name and name.is_in(_told(run, seen))):
            gone.append(run.session)
            shown += len(seen)
        elif any(each.cue in cues for each in seen):
            kept = tuple(each for each in seen if each.cue not in cues)
            less.append((run, kept))
            shown += len(seen) - len(kept)
    again = {*touched, *gone}.difference(whole)
    files = []
    unnamed = []
    for file in await tx.ledger.list(space):
        if not again.isdisjoint(file.sessions):
            files.append(file)
        elif not set(whole).isdisjoint(file.sessions) or (name and name.is_in([file.name, *file.sessions])):
            left = tuple(each for each in file.sessions if each not in whole and not (name and name.is_in([each])))
            unnamed.append(replace(file, name="", sessions=left))
    return Taught(runs=tuple(gone), shown=shown, less=tuple(less), files=tuple(files), unnamed=tuple(unnamed))


async def all_taught(tx: Transaction, space: str) -> Taught:
    """All that runs taught a space, where it goes whole."""
    runs = [run.session for run in await tx.runs.list(space)]
    shown = sum([len(await tx.runs.of_run(space, session)) for session in runs])
    return Taught(runs=tuple(runs), shown=shown, files=tuple(await tx.ledger.list(space)))


async def unlearn(tx: Transaction, space: str, taught: Taught) -> None:
    """Take out all that is planned."""
    for session in taught.runs:
        await tx.runs.remove(space, session)
    for run, sightings in taught.less:
        await tx.runs.put(space, run, sightings)
    await tx.ledger.remove(space, taught.files)
    for file in taught.unnamed:
        await tx.ledger.mark(space, file)


def _told(run: LearnedRun, sightings: Sequence[Sighting]) -> Iterator[str]:
    """Every text of a run and of what it shows."""
    yield from values(msgspec.to_builtins(run))
    for sighting in sightings:
        yield from values(msgspec.to_builtins(sighting))
