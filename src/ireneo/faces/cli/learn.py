"""`ireneo learn`: take runs in, and draw from them what saves the next one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import ireneo
from ireneo.errors import BadInput, UnreadableLog
from ireneo.faces.cli.answers import write_json
from ireneo.faces.cli.asking import Asking
from ireneo.faces.cli.files import LogFile, digest_of
from ireneo.faces.cli.learned import Tally, run_lines, told
from ireneo.faces.cli.options import AUTO, AsJson, FormatOfFile, KeepSecrets, Stored
from ireneo.faces.cli.place import is_there, room_for, shown
from ireneo.faces.cli.screens.console import console
from ireneo.faces.cli.screens.progress import ReadingBar
from ireneo.faces.cli.searched import Found, Searched, reported, search
from ireneo.faces.cli.stored import database
from ireneo.faces.cli.warnings import log_on_stderr, warn, warn_of_damage, warn_of_faults

if TYPE_CHECKING:
    from ireneo.types import Learned

Logs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[LOG…]",
        help="Logs of runs (plain, .gz or .xz), or folders of them; without any, what is stored is learned from.",
        show_default=False,
    ),
]
STORY = "chat"
"""The format of stories: nothing is tried in them, so there is nothing to learn."""
TOGETHER = 500
"""Files whose digests are looked up at one time."""


def learn(
    logs: Logs = None,
    format: FormatOfFile = AUTO,
    as_json: AsJson = False,
    keep_secrets: KeepSecrets = False,
    *,
    asking: Asking,
    stored: Stored,
) -> None:
    """Learn lessons from runs.

    Takes logs in, without the secrets in them, and draws lessons: what was learned from already is passed over, so
    run it every night. No model is needed; with one, each run is read by it as well.
    """
    # Not imported with the module: few commands need it.
    import asyncio

    if format != AUTO:
        ireneo.log_format(format)
    tally, searched = Tally(), Searched()
    found = [each for each in search(logs or [], format, searched) if not _is_story(each, searched)]
    path = database(stored.db)
    if not logs and not is_there(path):
        raise BadInput(f"There is no database {shown(path)} to learn from; name logs, such as ~/.claude/projects.")
    if logs and not found and not searched.unread:
        raise BadInput(f"No runs were found in {', '.join(logs)}; `ireneo formats` lists what can be read.")

    async def learned() -> None:
        async with asking.memory(room_for(path), stored.space, needed=False, keep_secrets=keep_secrets) as memory:
            await learn_from(memory, found, Teller(tally, quiet=as_json))

    if found or not logs:
        with log_on_stderr():
            asyncio.run(learned())
    tally.unread += searched.unread
    tally.passed += searched.passed
    if as_json:
        write_json(tally)
    else:
        sys.stdout.write(told(tally, path))
    if tally.unread:
        raise typer.Exit(1)


def _is_story(found: Found, searched: Searched) -> bool:
    """Whether a file of a folder is a story, which is passed over; one that is named is taken at its word."""
    if found.searched and found.log.name == STORY:
        searched.passed += 1
        return True
    return False


class Teller:
    """Counts the runs as they are learned from, and tells of them."""

    def __init__(self, tally: Tally, *, quiet: bool) -> None:
        """Count in `tally`; `quiet` tells of nothing but of what went wrong."""
        self.tally = tally
        self._quiet = quiet
        self._width = console().width

    def tell(self, learned: Learned, bar: ReadingBar) -> None:
        """Count a run, and write what is new in it."""
        self.tally.count(learned)
        if learned.failed:
            warn(f"{learned.run.session}: {learned.failed} Its lessons were drawn without a model.")
        if not self._quiet:
            for line in run_lines(learned, self._width):
                bar.write(line)


async def learn_from(memory: ireneo.Memory, found: Sequence[Found], teller: Teller) -> None:
    """Take in the logs that were found and learn from them, then from whatever else of the space is due."""
    with ReadingBar(sum(each.size for each in found)) as bar:
        for start in range(0, len(found), TOGETHER):
            batch = [(each, _digest(each, teller.tally)) for each in found[start : start + TOGETHER]]
            known = await memory.known_files([digest for _, digest in batch if digest])
            for each, digest in batch:
                if digest is None:
                    continue
                if digest in known:
                    teller.tally.known += 1
                else:
                    await _learn_file(memory, each, digest, teller, bar)
                bar.finished(each.size)
    # Files that were read when a run was killed left sessions behind that were not learned from yet.
    if due := await memory.unlearned():
        with ReadingBar(due, in_bytes=False) as bar:
            async for learned in memory.learn():
                teller.tell(learned, bar)
                bar.finished(1)


def _digest(found: Found, tally: Tally) -> str | None:
    """What tells its content; None, which is said, where it can't be read any more."""
    try:
        return digest_of(found.given)
    except BadInput as fault:
        warn(str(fault))
        tally.unread += 1
        return None


async def _learn_file(memory: ireneo.Memory, found: Found, digest: str, teller: Teller, bar: ReadingBar) -> None:
    tally = teller.tally
    sessions: list[str] = []
    try:
        with LogFile(found.given) as file:
            try:
                async for done in memory.import_log(reported(file, bar), found.log, name=found.name):
                    warn_of_faults(file.label, [(fault.line, fault.message) for fault in done.faults])
                    sessions.append(done.session)
                    tally.redacted.update(done.redacted)
                    tally.unredacted += done.unredacted
                    async for learned in memory.learn([done.session]):
                        teller.tell(learned, bar)
            finally:
                warn_of_damage(file)
            tally.unread += file.damage is not None
    except BadInput as fault:
        if found.searched and str(fault) == str(UnreadableLog()):
            tally.passed += 1
        else:
            warn(f"{found.given}: {fault}")
            tally.unread += 1
            return
    tally.files += 1
    if digest:
        await memory.mark_file(digest, name=found.name, sessions=sessions)
