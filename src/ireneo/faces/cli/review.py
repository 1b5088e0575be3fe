"""Lessons in the hands of people: `ireneo review`, and the instructions for agents that they are written into."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from select import select
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer
from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.lessons import lesson_answer
from ireneo.faces.cli.options import AsJson, Stored, flag, open_existing, option
from ireneo.faces.cli.output import Answer, console, counted, echo, is_interactive, one_line, short, write
from ireneo.patterns import lazy_re
from ireneo.plumbing import said_once

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import InstructionPage, Lesson, Record, Verdict


_VERDICTS: dict[str, Verdict | Literal["later"]] = {"k": "keep", "e": "edit", "d": "drop", "s": "later"}
_DONE: dict[Verdict, str] = {"keep": "kept", "edit": "kept in your words", "drop": "dropped"}
_COUNTED: dict[Verdict, str] = {"keep": "kept", "edit": "reworded", "drop": "dropped"}
LEFT = "left"
"""The count of lessons without a verdict, beside those of the verdicts."""


class Word(Struct, frozen=True, kw_only=True):
    """Verdicts by the ids of lessons."""

    keep: Annotated[
        list[str] | None, option("--keep", "ID", "Keep it as it is, whatever later runs show; give it once for each.")
    ] = None
    drop: Annotated[list[str] | None, option("--drop", "ID", "Drop it for good; give it once for each.")] = None
    edit: Annotated[str | None, option("--edit", "ID", "Reword it, with --text.")] = None
    text: Annotated[str, option("--text", "WORDS", "The words for --edit.")] = ""
    reason: Annotated[str, option("--reason", "WORDS", "The reason for --drop.")] = ""


def review(
    project: Annotated[str | None, option("--project -p", "NAME", "Only those of a project.", shown="all")] = None,
    all_: Annotated[bool, flag("--all", "Include those that were reviewed before.")] = False,
    as_json: AsJson = False,
    *,
    word: Word,
    stored: Stored,
) -> Answer:
    """Keep, reword or drop lessons.

    One at a time with its evidence, one key each. What is kept stays as it is, and what is dropped does not come back,
    whatever later runs show; what is reworded keeps its evidence. Without a terminal: --keep, --drop and --edit; with
    --json alone, those that were not reviewed yet.
    """
    counts, given = Counter[str](), [*_given_verdicts(word)]
    if not given and not as_json and not is_interactive():
        raise BadInput("There is nobody to ask; give --keep ID, --drop ID or --edit ID --text WORDS.")
    with open_existing(stored) as memory:
        done = [_apply(memory, counts, id, verdict, text, word.reason) for id, verdict, text in given]
        if given:
            answers = [{"id": each.id, "state": each.state, "text": each.text} for each in done]
            became = {True: "is no longer shown", False: "stays"}
            lines = [f"{short(each.id)} {became[each.state == 'retired']}: {one_line(each.text)}" for each in done]
            return Answer(answers, lines)
        listed = memory.lessons(project=project, disputed=all_, guarded=True)
        # What a user said once comes last: it may be a rule.
        found = said_once([each for each in listed if each.is_ruling or not each.guard_only])
        unseen = [each for each in found if all_ or not each.reviewed]
        if not as_json:
            _ask_all(memory, counts, unseen)
    return Answer([lesson_answer(each) for each in unseen], _summary(counts))


def _given_verdicts(word: Word) -> list[tuple[str, Verdict, str]]:
    kept: list[tuple[str, Verdict, str]] = [(id, "keep", "") for id in word.keep or ()]
    edited: list[tuple[str, Verdict, str]] = [(word.edit, "edit", word.text)] if word.edit is not None else []
    if word.text and not edited:
        raise BadInput("--text gives the new words of a lesson; name it with --edit.")
    if word.reason and not word.drop:
        raise BadInput("--reason says why a lesson is dropped; name it with --drop.")
    given: list[tuple[str, Verdict, str]] = [*kept, *edited, *((id, "drop", "") for id in word.drop or ())]
    for id, times in Counter(id for id, _, _ in given).items():
        if times > 1:
            raise BadInput(f"{id} is given {times} verdicts; give it one of --keep, --edit and --drop.")
    return given


def _apply(memory: Memory, counts: Counter[str], id: str, verdict: Verdict, text: str = "", reason: str = "") -> Record:
    done = memory.review(id, verdict, text=text, reason=reason if verdict == "drop" else "")
    counts[verdict] += 1
    return done


def _ask_all(memory: Memory, counts: Counter[str], found: Sequence[Lesson]) -> None:
    """Show the lessons one by one, and apply what each key means, until the user quits."""
    for number, lesson in enumerate(found):
        verdict = _verdict(lesson, number + 1, len(found))
        if verdict is None:
            counts[LEFT] += len(found) - number
            return
        text = _new_words(lesson) if verdict == "edit" else ""
        if verdict == "later" or (verdict == "edit" and not text):
            counts[LEFT] += 1
            echo("→ later")
        else:
            _apply(memory, counts, lesson.id, verdict, text)
            echo(f"→ {_DONE[verdict]}")


def _show(lesson: Lesson, number: int, of: int) -> None:
    screen = console()
    about = [f"{number} of {of}", one_line(lesson.where)]
    about += ["ruling" if lesson.is_ruling else lesson.category]
    about += [each for each in (lesson.standing, lesson.reviewed, short(lesson.id)) if each]
    screen.print()
    write(screen, f"  {' · '.join(about)}", "dim")
    write(screen, f"  {one_line(lesson.lesson)}", "bold")
    for cited in lesson.sources[:4]:
        write(screen, f"      {short(cited.session)}  {one_line(cited.quote)}", "dim")
    for objection in lesson.against:
        write(screen, f"      {one_line(objection)}", "dim")
    write(screen, "  k keep   e edit   d drop   s later   q quit")


def _verdict(lesson: Lesson, number: int, of: int) -> Verdict | Literal["later"] | None:
    """Show a lesson and wait for a verdict; None if the user ends the review."""
    with keys() as key:
        _show(lesson, number, of)
        try:
            while (pressed := key()) != "q":
                if pressed in _VERDICTS:
                    return _VERDICTS[pressed]
        except (KeyboardInterrupt, EOFError):
            return None
    return None


def _new_words(lesson: Lesson) -> str:
    """Ask for the new words; empty if nothing was changed."""
    try:
        words = typed("  new words: ", one_line(lesson.lesson))
    except (KeyboardInterrupt, EOFError):
        return ""
    return "" if words == one_line(lesson.lesson) else words


def _summary(counts: Counter[str]) -> str:
    verdicts = [f"{counts[each]} {said}" for each, said in _COUNTED.items() if counts[each]] or ["Nothing was reviewed"]
    left = f"; {counted(counts[LEFT], 'lesson')} left" if counts[LEFT] else ""
    return f"{', '.join(verdicts)}{left}."


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """Yield a function that waits for a key and returns it in lower case; at the end of input it raises EOFError.

    Meanwhile the terminal is in cbreak mode without echo. Arrows and other escape sequences are skipped.
    """
    try:
        import termios
        import tty
    except ImportError:
        yield lambda: typer.getchar().lower()
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def key() -> str:
        while (read := os.read(handle, 1)) == b"\x1b":
            while select([handle], [], [], 0)[0] and not os.read(handle, 1).strip(b"[O").isalpha():
                pass
        pressed = read.decode(errors="replace").lower()
        if pressed in ("\x04", ""):
            raise EOFError
        return pressed

    try:
        # TCSADRAIN keeps the keys that were pressed before.
        tty.setcbreak(handle, termios.TCSADRAIN)
        yield key
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def typed(prompt: str, begins: str) -> str:
    """Read a line from the terminal; where readline is available, `begins` can be edited."""
    try:
        import readline
    except ImportError:
        return input(prompt).strip()
    readline.set_startup_hook(lambda: readline.insert_text(begins))
    try:
        return input(prompt).strip()
    finally:
        readline.set_startup_hook()


# A project's instructions for agents: the block of lessons in them, and what the project's files say already.

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
"""Files that agents read when they begin."""
BEGINS = "<!-- ireneo: lessons begin; what stands between these marks is rewritten by `ireneo lessons --export` -->"
ENDS = "<!-- ireneo: lessons end -->"
_BLOCK = lazy_re(
    r"<!-- ireneo: lessons begin\b[^\n]{0,400}-->(?:(?!<!-- ireneo: lessons begin\b).)*?<!-- ireneo: lessons end -->",
    re.S,
)
_MARK = lazy_re(r"<!-- ireneo: lessons (?:begin\b[^\n]{0,400}|end )-->")
_HOME = lazy_re(r"/(?:Users|home)/(?:[\w.@-]{1,60}/){1,20}")
"""A path in somebody's home, which must not get into a repository."""
ANYWHERE = "several projects"
_SKILL = """---
name: lessons-from-runs
description: What earlier runs taught, with what failed and what to do instead. Read it before you begin a task.
---

"""


class Update(Struct, frozen=True, kw_only=True):
    """A file before and after an export."""

    path: Path
    before: str | None
    """The text of the file; None if there is no file yet."""
    after: str
    lines: int
    """The number of lessons in the file after the export."""

    @property
    def is_same(self) -> bool:
        """Whether the export changes nothing."""
        return self.after == (self.before or "")


def plan_update(path: Path, pages: Sequence[InstructionPage]) -> Update:
    """Put `pages` into the marked block of the text of `path`, which is added if missing. Writes nothing.

    The rest of the file stays byte for byte. Raises BadInput if the file can't be read or its marks are damaged.
    """
    before = _read(path)
    newline = "\r\n" if before is not None and "\r\n" in before else "\n"
    block = render_block(pages).replace("\n", newline)
    lines = sum(len(lessons) for page in pages for _, lessons in page.parts)
    if before is not None and (lines or _MARK.search(before)):
        after = with_block(before, block, newline, path)
    elif lines:
        after = (_SKILL if path.name == "SKILL.md" else "") + block + "\n"
    else:
        after = before or ""
    return Update(path=path, before=before, after=after, lines=lines)


def difference(update: Update) -> list[str]:
    """Return what an export would change, as a unified diff."""
    before, after = ((text or "").splitlines() for text in (update.before, update.after))
    name = str(update.path)
    return list(unified_diff(before, after, name if update.before is not None else "/dev/null", name, lineterm=""))


def without_block(text: str) -> str:
    """Return the text of a file without the block that an export wrote."""
    return _BLOCK.sub("", text)


def render_block(pages: Sequence[InstructionPage]) -> str:
    """Render the marked block."""
    lines = [BEGINS, "## Lessons from earlier runs", ""]
    for page in pages:
        about = f"{_harmless(page.project) or ANYWHERE}: " if len(pages) > 1 else ""
        for name, lessons in page.parts:
            lines += [f"### {about}{name.lower() if about else name}", *map(_line, lessons), ""]
    if not pages:
        lines += ["None that does not stand elsewhere.", ""]
    return "\n".join([*lines[:-1], ENDS])


def with_block(text: str, block: str, newline: str, path: Path) -> str:
    """Replace the block of `text` by `block`, or append it. Raises BadInput."""
    marks = len(_MARK.findall(text))
    if marks == 0:
        gap = "" if not text else newline if text.endswith(newline) else newline * 2
        return f"{text}{gap}{block}{newline}"
    found = list(_BLOCK.finditer(text))
    if len(found) != 1 or marks != 2:
        raise BadInput(
            f"{path} has {marks} marks of a block of lessons where two belong, a beginning and an end; "
            "repair or remove them, and export again."
        )
    return text[: found[0].start()] + block + text[found[0].end() :]


def _line(lesson: Lesson) -> str:
    return f"- {_harmless(_HOME.sub('', lesson.lesson)).rstrip('.')}"


def _harmless(text: str) -> str:
    """Return `text` on one line, so changed that it neither closes the block nor opens another."""
    return one_line(text).replace("<!--", "‹!--").replace("-->", "--›")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not in UTF-8; it was left as it is.") from None
    except OSError as fault:
        raise BadInput(f"{path} can't be read: {fault.strerror}.") from fault


def repository_of(file: Path) -> Path:
    """Return the root of the repository that a file is in; its own folder if it is in none."""
    folder = file.resolve().parent
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def texts_of(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the texts of the readable ones among the files, each once."""
    for path in dict.fromkeys(each.resolve() for each in paths):
        text = _text(path)
        if text:
            yield text


def commands_of(folder: Path) -> frozenset[str]:
    """Return the commands that a repository's files define, as one types them."""
    out: set[str] = set()
    for name, (prefixes, read) in _READERS.items():
        text = _text(folder / name)
        if text:
            out.update(f"{prefix} {task}" for task in read(text) for prefix in prefixes)
    return frozenset(out)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace") if path.stat().st_size <= 1_000_000 else ""
    except OSError:
        return ""


def _targets(text: str) -> Iterator[str]:
    """The targets of a Makefile or justfile: names before a colon; in a justfile they may have parameters."""
    for line in text.splitlines():
        names, colon, rest = line.partition(":")
        if colon and not rest.startswith("=") and line[:1] not in (" ", "\t", "#", "."):
            yield from names.removeprefix("@").split()


def _tasks_of_yaml(text: str) -> Iterator[str]:
    """The keys one level below ``tasks:``."""
    within = False
    for line in text.splitlines():
        if line[:1].strip():
            within = line.rstrip() == "tasks:"
        elif within and line.startswith("  ") and line[2:3].strip() and ":" in line:
            yield line.strip().partition(":")[0]


def _json_commands(*place: str) -> Callable[[str], list[str]]:
    return lambda text: _names(_parsed(json.loads, text), place)


def _toml_commands(*place: str) -> Callable[[str], list[str]]:
    return lambda text: _names(_parsed(tomllib.loads, text), place)


def _parsed(parse: Callable[[str], object], text: str) -> object:
    try:
        return parse(text)
    except (ValueError, RecursionError):
        return {}


def _names(tree: object, place: tuple[str, ...]) -> list[str]:
    for name in place:
        tree = cast("Mapping[str, object]", tree).get(name) if isinstance(tree, Mapping) else None
    return [str(name) for name in cast("Mapping[str, object]", tree)] if isinstance(tree, Mapping) else []


def _pyproject_commands(text: str) -> list[str]:
    tree = _parsed(tomllib.loads, text)
    places = (("tool", "poe", "tasks"), ("tool", "pdm", "scripts"), ("tool", "taskipy", "tasks"))
    return [name for place in places for name in _names(tree, place)]


_MISE = ("mise run", "mise r", "mise")
_READERS: Mapping[str, tuple[tuple[str, ...], Callable[[str], Iterable[str]]]] = {
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile"), (("make",), _targets)),
    **dict.fromkeys(("justfile", "Justfile", ".justfile"), (("just",), _targets)),
    **dict.fromkeys(("mise.toml", ".mise.toml", ".config/mise.toml"), (_MISE, _toml_commands("tasks"))),
    **dict.fromkeys(("Taskfile.yml", "Taskfile.yaml"), (("task",), _tasks_of_yaml)),
    "package.json": (("npm run", "npm", "pnpm run", "pnpm", "yarn run", "yarn", "bun run"), _json_commands("scripts")),
    "composer.json": (("composer run", "composer"), _json_commands("scripts")),
    "deno.json": (("deno task",), _json_commands("tasks")),
    "pyproject.toml": (("poe", "uv run poe", "pdm run", "task", "uv run task"), _pyproject_commands),
}
"""For each file: the commands that run its tasks, and the function that reads the tasks' names."""
