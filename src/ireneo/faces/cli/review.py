"""`ireneo review`: keep, reword or drop lessons, with one key each, or by their ids without a terminal."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from select import select
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec import Struct

from ireneo.errors import BadInput
from ireneo.faces.cli.lessons import lesson_answer
from ireneo.faces.cli.options import AsJson, Stored, flag, open_existing, option
from ireneo.faces.cli.output import Answer, console, counted, echo, is_interactive, one_line, short, write
from ireneo.plumbing import said_once

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Lesson, Record, Verdict

_VERDICTS: dict[str, Verdict | Literal["later"]] = {"k": "keep", "e": "edit", "d": "drop", "s": "later"}
_DONE: dict[Verdict, str] = {"keep": "kept", "edit": "kept in your words", "drop": "dropped"}


class Word(Struct, frozen=True, kw_only=True):
    """Verdicts by the ids of lessons."""

    keep: Annotated[
        list[str] | None, option("--keep", "ID", "Keep it as it is, whatever later runs show; give it once for each.")
    ] = None
    drop: Annotated[list[str] | None, option("--drop", "ID", "Drop it for good; give it once for each.")] = None
    edit: Annotated[str | None, option("--edit", "ID", "Reword it, with --text.")] = None
    text: Annotated[str, option("--text", "WORDS", "The words for --edit.")] = ""
    reason: Annotated[str, option("--reason", "WORDS", "The reason for --drop.")] = ""


class ReviewCounts(Struct, kw_only=True):
    """The verdicts so far."""

    kept: int = 0
    edited: int = 0
    dropped: int = 0
    left: int = 0
    """Lessons without a verdict."""


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
    counts, given = ReviewCounts(), [*_given_verdicts(word)]
    if not given and not as_json and not is_interactive():
        raise BadInput("There is nobody to ask; give --keep ID, --drop ID or --edit ID --text WORDS.")
    with open_existing(stored) as memory:
        done = [_apply(memory, counts, id, verdict, text, word.reason) for id, verdict, text in given]
        if given:
            answers = [{"id": each.id, "state": each.state, "text": each.text} for each in done]
            became = {True: "is no longer shown", False: "stays"}
            lines = [f"{short(each.id)} {became[each.state == 'retired']}: {one_line(each.text)}" for each in done]
            return Answer(answers, lines)
        found = said_once(memory.lessons(project=project, disputed=all_))
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


def _apply(memory: Memory, counts: ReviewCounts, id: str, verdict: Verdict, text: str = "", reason: str = "") -> Record:
    done = memory.review(id, verdict, text=text, reason=reason if verdict == "drop" else "")
    counts.kept += verdict == "keep"
    counts.edited += verdict == "edit"
    counts.dropped += verdict == "drop"
    return done


def _ask_all(memory: Memory, counts: ReviewCounts, found: Sequence[Lesson]) -> None:
    """Show the lessons one by one, and apply what each key means, until the user quits."""
    for number, lesson in enumerate(found):
        verdict = _verdict(lesson, number + 1, len(found))
        if verdict is None:
            counts.left += len(found) - number
            return
        text = _new_words(lesson) if verdict == "edit" else ""
        if verdict == "later" or (verdict == "edit" and not text):
            counts.left += 1
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


def _summary(counts: ReviewCounts) -> str:
    said = [("kept", counts.kept), ("reworded", counts.edited), ("dropped", counts.dropped)]
    verdicts = [f"{number} {name}" for name, number in said if number] or ["Nothing was reviewed"]
    left = f"; {counted(counts.left, 'lesson')} left" if counts.left else ""
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
