"""`ireneo review`: the user's word on each lesson, one key each, or by their ids where there is no terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Struct
from rich.text import Text

from ireneo.errors import BadInput
from ireneo.faces.cli.keys import keys, typed
from ireneo.faces.cli.lessons import lesson_answer
from ireneo.faces.cli.options import AsJson, Stored, flag, option, reading
from ireneo.faces.cli.output import can_ask, console, counted, one_line, short, tell, write_json
from ireneo.plumbing import said_once

if TYPE_CHECKING:
    from ireneo.sync import Memory
    from ireneo.types import Lesson, Record, Verdict

MOST_QUOTES = 4
"""Passages that are shown beside a lesson."""
KEYS = "k keep   e edit   d drop   s later   q quit"
QUIT = "q"
_VERDICTS: dict[str, Verdict | Literal["later"]] = {"k": "keep", "e": "edit", "d": "drop", "s": "later"}


_DONE: dict[Verdict, str] = {"keep": "kept", "edit": "kept in your words", "drop": "dropped"}


class Word(Struct, frozen=True, kw_only=True):
    """What is said of which lesson, without being asked."""

    keep: Annotated[
        list[str] | None, option("--keep", "ID", "It stays as it is, whatever later runs show; give it once for each.")
    ] = None
    drop: Annotated[
        list[str] | None, option("--drop", "ID", "It is not told any more, and does not come back; once for each.")
    ] = None
    edit: Annotated[str | None, option("--edit", "ID", "It is told in the words of --text.")] = None
    text: Annotated[str, option("--text", "WORDS", "The words of --edit.")] = ""
    reason: Annotated[str, option("--reason", "WORDS", "Why --drop drops them.")] = ""


class ReviewCounts(Struct, kw_only=True):
    """What was said so far."""

    kept: int = 0
    edited: int = 0
    dropped: int = 0
    left: int = 0
    """Lessons of which nothing was said yet."""


def review(
    project: Annotated[str | None, option("--project -p", "NAME", "Those of a project.", shown="all")] = None,
    all_: Annotated[bool, flag("--all", "Also those of which something was said before.")] = False,
    as_json: AsJson = False,
    *,
    word: Word,
    stored: Stored,
) -> None:
    """Keep, reword or drop lessons.

    One at a time with its evidence, one key each. What is kept stays as it is, and what is dropped does not come back,
    whatever later runs show; what is reworded keeps its evidence. Without a terminal: --keep, --drop and --edit; with
    --json alone, those of which nothing was said yet.
    """
    counts, given = ReviewCounts(), [*_given(word)]
    if not given and not as_json and not can_ask():
        raise BadInput("There is nobody to ask; say --keep ID, --drop ID or --edit ID --text WORDS.")
    with reading(stored) as memory:
        done = [_said(memory, counts, id, verdict, text, word.reason) for id, verdict, text in given]
        found = [] if given else said_once(memory.lessons(project=project, disputed=all_))
        open_ = [each for each in found if all_ or not each.reviewed]
        if not (given or as_json):
            _ask_all(memory, counts, open_)
    if as_json:
        answers = [{"id": each.id, "state": each.state, "text": each.text} for each in done]
        write_json(answers if given else [lesson_answer(each) for each in open_])
        return
    for each in done:
        tell(f"{short(each.id)} {'is told no more' if each.state == 'retired' else 'stays'}: {one_line(each.text)}")
    if not given:
        tell(_summary(counts))


def _given(word: Word) -> list[tuple[str, Verdict, str]]:
    kept: list[tuple[str, Verdict, str]] = [(id, "keep", "") for id in word.keep or ()]
    edited: list[tuple[str, Verdict, str]] = [(word.edit, "edit", word.text)] if word.edit is not None else []
    return [*kept, *edited, *((id, "drop", "") for id in word.drop or ())]


def _said(memory: Memory, counts: ReviewCounts, id: str, verdict: Verdict, text: str = "", reason: str = "") -> Record:
    done = memory.review(id, verdict, text=text, reason=reason if verdict == "drop" else "")
    counts.kept += verdict == "keep"
    counts.edited += verdict == "edit"
    counts.dropped += verdict == "drop"
    return done


def _ask_all(memory: Memory, counts: ReviewCounts, found: Sequence[Lesson]) -> None:
    """Show one lesson after the other, and do what each key says, until there is none left or it is enough."""
    for number, lesson in enumerate(found):
        verdict = _verdict(lesson, number + 1, len(found))
        if verdict is None:
            counts.left += len(found) - number
            return
        text = _new_words(lesson) if verdict == "edit" else ""
        if verdict == "later" or (verdict == "edit" and not text):
            counts.left += 1
            tell("→ later")
        else:
            _said(memory, counts, lesson.id, verdict, text)
            tell(f"→ {_DONE[verdict]}")


def _show(lesson: Lesson, number: int, of: int) -> None:
    screen = console()
    place = f"{number} of {of}"
    about = [place, one_line(lesson.project) or "any project", "ruling" if lesson.is_ruling else lesson.category]
    about += [each for each in (lesson.standing, lesson.reviewed, short(lesson.id)) if each]
    screen.print()
    screen.print(Text(f"  {' · '.join(about)}", style="dim"), soft_wrap=True)
    screen.print(Text(f"  {one_line(lesson.lesson)}", style="bold"), soft_wrap=True)
    for cited in lesson.sources[:MOST_QUOTES]:
        screen.print(Text(f"      {short(cited.session)}  {one_line(cited.quote)}", style="dim"), soft_wrap=True)
    for said in lesson.against:
        screen.print(Text(f"      {one_line(said)}", style="dim"), soft_wrap=True)
    screen.print(Text(f"  {KEYS}"), soft_wrap=True)


def _verdict(lesson: Lesson, number: int, of: int) -> Verdict | Literal["later"] | None:
    """What is said of a lesson by the next key that means something; None where it ends the review."""
    with keys() as key:
        _show(lesson, number, of)
        try:
            while (pressed := key()) != QUIT:
                if pressed in _VERDICTS:
                    return _VERDICTS[pressed]
        except (KeyboardInterrupt, EOFError):
            return None
    return None


def _new_words(lesson: Lesson) -> str:
    """The words that the user gives it; empty where they leave it as it is."""
    try:
        words = typed("  new words: ", one_line(lesson.lesson))
    except (KeyboardInterrupt, EOFError):
        return ""
    return "" if words == one_line(lesson.lesson) else words


def _summary(counts: ReviewCounts) -> str:
    said = [("kept", counts.kept), ("reworded", counts.edited), ("dropped", counts.dropped)]
    told = [f"{number} {name}" for name, number in said if number] or ["Nothing was said"]
    left = f"; {counted(counts.left, 'lesson')} left" if counts.left else ""
    return f"{', '.join(told)}{left}."
