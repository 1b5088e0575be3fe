"""Names that the command line and the MCP server need, and that are not part of the public API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ireneo.adapters.log_files import DOUBTFUL_SUFFIXES, LOG_SUFFIXES, LONGEST_BYTES, LogFile, runs_among

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from ireneo.engine.encode import Context
    from ireneo.engine.lessons import InstructionPage, Lesson

GENERAL = "*"
"""The project of whatever applies to all projects."""

__all__ = [
    "DOUBTFUL_SUFFIXES",
    "GENERAL",
    "LOG_SUFFIXES",
    "LONGEST_BYTES",
    "LogFile",
    "holds_memories",
    "instructions",
    "is_story",
    "mark_recalled",
    "neutralised",
    "project_here",
    "project_named",
    "runs_among",
    "said_once",
    "shaped_as",
    "unframed",
]


def holds_memories(sample: bytes) -> bool:
    """Whether a file that begins with `sample` holds memories rather than a log."""
    from ireneo.memories.exchange import detect_file_type

    return bool(detect_file_type(sample))


def is_story(log_format: str) -> bool:
    """Whether logs of this format are chats of people and characters, which are summarised as stories."""
    from ireneo.summaries.policy import STORIES

    return log_format in STORIES


def unframed(text: str) -> str:
    """Return the words of a quotation without the day on which they were said; any other text unchanged."""
    from ireneo.memories import quoting

    return quoting.bare_quotation(text)


def project_named(given: str) -> str:
    """Return the project of a name or a directory; empty for none."""
    from ireneo.engine.scope import project_asked

    return project_asked(given) or ""


def mark_recalled(text: str) -> str:
    """Put `text` between the marks of a brief, which it can't contain itself; instructions in it are marked as quoted.

    Nothing between them counts as evidence when the log is learned from later.
    """
    from ireneo.log.message import BRIEF_HEADING, BRIEF_TAG, CLOSING

    end = CLOSING[BRIEF_TAG]
    return "\n".join([BRIEF_HEADING, neutralised(text.replace(BRIEF_TAG, "(BRIEF)").replace(end, "(/BRIEF)")), end])


def neutralised(text: str) -> str:
    """Mark instructions to a model in `text` as quoted."""
    from ireneo.log.calls import quote_instructions

    return quote_instructions(text)


def project_here(folder: str) -> str:
    """Return the project of a working folder, or the one that is named; empty for none."""
    from ireneo.lessons import run

    return run.project_here(folder)


def said_once(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return `lessons` in their order, without those that repeat another in other words."""
    from ireneo.engine import lessons as page

    return page.without_repeats(lessons)


def instructions(
    lessons: Iterable[Lesson], said: Iterable[str], offered: Collection[str], since: datetime | None, project: str
) -> list[InstructionPage]:
    """Return the lessons for the instructions of projects, by page, without those `said` or `offered` there."""
    from ireneo.engine import lessons as page

    return page.instructions(lessons, said=said, offered=offered, since=since, project=project)


def shaped_as(given: object, cut: Context) -> object:
    """Put the messages into the shape of the input: a list, or an object with everything else that was in it."""
    from ireneo.formats.chat.traits import TRAITS

    taken = {key for each in TRAITS.values() for key in (each.listed, *each.prompts)}
    if not isinstance(given, dict) or not taken.intersection(given):
        # The input was a list, or a single message.
        if cut.system is None:
            return cut.messages
        given = {}
    traits = TRAITS[cut.format]
    prompt = next(iter(traits.prompts), "system")
    beside = {key: value for key, value in given.items() if key not in taken}
    system = {"parts": [{"text": cut.system}]} if traits.in_parts else cut.system
    return {**beside, **({} if cut.system is None else {prompt: system}), traits.listed: cut.messages}
