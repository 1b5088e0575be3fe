"""The runs that foresight is measured on, in the order in which they happened, in an earlier and a later half."""

from __future__ import annotations

import lzma
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ireneo.adapters.tokens import EstimatedTokenizer
from ireneo.formats.logs.format import log_format
from ireneo.lessons.run import outcome_of, project_of
from ireneo.lessons.shell import RunMaterial
from ireneo.log.message import Draft, chain, count_parts

DATA = Path(__file__).parents[1].parent / "shared" / "data"
_NUMBER = re.compile(r"-(\d+)$")
_ENDING = ".jsonl.xz"


class Half(Struct, frozen=True, kw_only=True):
    """Runs that teach, and runs that come after them."""

    name: str
    earlier: tuple[RunMaterial, ...]
    later: tuple[RunMaterial, ...]


Halved = tuple[list[RunMaterial], list[RunMaterial]]
"""The runs that come first, and those that come after them."""


FITTED_ON = ("Claude Code", "mini-SWE-agent")
"""The sources that defaults are fitted on; the others show what these are worth elsewhere."""


def halves(data: Path = DATA, *, every: bool = False) -> Iterator[Half]:
    """The sources that are there, those that defaults are fitted on or `every` one.

    By time where their logs tell it, by the number of an issue or a trial otherwise.
    """
    for name, read in _SOURCES.items():
        found = read(data) if every or name in FITTED_ON else None
        if found:
            earlier, later = found
            yield Half(name=name, earlier=tuple(earlier), later=tuple(later))


def _claude_code(data: Path) -> Halved | None:
    files = [path for path in (data / "claude_code_sessions").glob("*.jsonl.xz") if not path.name.startswith("index")]
    return _by_time(run for path in sorted(files) for run in _runs("claude-code", path))


def _specstory(data: Path) -> Halved | None:
    return _by_time(run for path in _logs(data / "specstory_history") for run in _runs("specstory", path))


def _mini_swe_agent(data: Path) -> Halved | None:
    return _by_issue(run for path in _logs(data / "mini_swe_agent") for run in _runs("mini-swe-agent", path))


def _aider(data: Path) -> Halved | None:
    return _by_time(run for path in _logs(data / "aider_chats") for run in _runs("aider", path))


def _tau_bench(data: Path) -> Halved | None:
    """Every task was tried several times over: the earlier trials of all tasks come before the later ones."""
    runs = [run for path in _logs(data / "tau_bench_airline") for run in _runs("openai", path)]
    runs.sort(key=_number)
    return _split(runs) if runs else None


_SOURCES: dict[str, Callable[[Path], Halved | None]] = {
    "Claude Code": _claude_code,
    "mini-SWE-agent": _mini_swe_agent,
    "SpecStory": _specstory,
    "tau-bench": _tau_bench,
    "aider": _aider,
}


def _by_time(runs: Iterable[RunMaterial]) -> Halved | None:
    timed = sorted((run for run in runs if started(run)), key=lambda run: started(run) or datetime.max)
    middle = len(timed) // 2
    return (timed[:middle], timed[middle:]) if timed else None


def _by_issue(runs: Iterable[RunMaterial]) -> Halved | None:
    """The log has no times: the number of an instance is the order in which its issue was opened, by repository."""
    by_project: dict[str, list[RunMaterial]] = defaultdict(list)
    for run in runs:
        by_project[run.project].append(run)
    earlier, later = [], []
    for found in by_project.values():
        before, after = _split(sorted(found, key=_number))
        earlier += before
        later += after
    return (earlier, later) if earlier else None


def _split(runs: list[RunMaterial]) -> Halved:
    middle = (len(runs) + 1) // 2
    return runs[:middle], runs[middle:]


def _number(run: RunMaterial) -> int:
    found = _NUMBER.search(run.session)
    return int(found[1]) if found else 0


def _logs(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{_ENDING}"))


def _runs(format: str, path: Path) -> Iterator[RunMaterial]:
    tokenizer = EstimatedTokenizer()
    with lzma.open(path) as lines:
        for session in log_format(format).read(lines, path.name.removesuffix(_ENDING)):
            told = [
                replace(message, draft=replace(message.draft, native=None, record=None))
                for message in chain(None, session.path, lambda parts: count_parts(parts, tokenizer.count))
            ]
            messages = tuple(each for each in told if each.draft.origin == "spoken")
            put_in = tuple(each for each in told if each.draft.origin == "injected")
            project = project_of(directory=_folder(session.path), session=session.id)
            outcome = outcome_of(session.path)
            yield RunMaterial(
                session=session.id, source=format, project=project, outcome=outcome, messages=messages, put_in=put_in
            )


def _folder(path: list[Draft] | tuple[Draft, ...]) -> str:
    """Where a session worked, as its log says."""
    for draft in path:
        payload = draft.record.payload if draft.record else None
        for record in payload if isinstance(payload, list | tuple) else (payload,):
            if isinstance(record, dict) and isinstance(folder := record.get("cwd"), str) and folder:
                return folder
    return ""


def started(run: RunMaterial) -> datetime | None:
    """When a run began."""
    return next((message.draft.at for message in run.messages if message.draft.at), None)
