"""What an agent writes into its diary itself, as it is kept beside the log and read again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.context.offline.prose import clip
from ireneo.errors import BadInput
from ireneo.grounding.claims import Claim, claims
from ireneo.lessons.diary import DiaryLine, Entry
from ireneo.log.annotation import Annotation
from ireneo.log.echo import harmless, without_recalled
from ireneo.log.message import MessageId
from ireneo.patterns import lazy_re

MOST_LINES = 8
"""Of each section that an agent writes at once."""
MOST_CHARACTERS = 300
"""Of each line."""
SHOWN = 3
"""Names that are marked as unverified in one line."""
_MARK = lazy_re(r"^(?:[-*•]|\d{1,3}[.)])\s+")


class Written(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent wrote of the task it was at."""

    at: MessageId = MessageId("")
    """The message after which it wrote."""
    position: int = 0
    tried: tuple[str, ...] = ()
    worked: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    pattern: str = ""
    goal: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said in it."""
        return not (self.tried or self.worked or self.failed or self.pattern or self.goal)


def lines_of(name: str, given: str | Sequence[str]) -> tuple[str, ...]:
    """What an agent gave for the section `name`, a line each: of one text its lines, without the marks of a list.

    A brief or a scratchpad that stands in it is left out. Raises BadInput where there are too many.
    """
    texts = given.splitlines() if isinstance(given, str) else given
    told = (" ".join(_MARK.sub("", without_recalled(text).strip()).split()) for text in texts)
    lines = tuple(dict.fromkeys(clip(harmless(line), MOST_CHARACTERS) for line in told if line))
    if len(lines) > MOST_LINES:
        raise BadInput(f"{len(lines)} lines for `{name}` are too many; a diary takes {MOST_LINES}: keep what matters.")
    return lines


def claimed(written: Written) -> set[Claim]:
    """What the lines of `written` name that can be looked up; its goal is a wish, and claims nothing."""
    lines = (*written.tried, *written.worked, *written.failed, written.pattern)
    return {claim for line in lines for claim in claims(line)}


def marked(written: Written, unknown: Collection[Claim]) -> Written:
    """`written` with a mark behind each line that names what is `unknown`."""

    def mark(line: str) -> str:
        names = [claim.text for claim in claims(line) if claim in unknown]
        if not names:
            return line
        return f"{line} (unverified: {', '.join(f'“{each}”' for each in names[:SHOWN])})"

    return replace(
        written,
        tried=tuple(map(mark, written.tried)),
        worked=tuple(map(mark, written.worked)),
        failed=tuple(map(mark, written.failed)),
        pattern=mark(written.pattern),
    )


def as_text(written: Written) -> str:
    """`written` as it is kept: a line each, behind the name of its section."""
    lines = [*_named("goal", [written.goal]), *_named("tried", written.tried), *_named("worked", written.worked)]
    return "\n".join([*lines, *_named("failed", written.failed), *_named("pattern", [written.pattern])])


def written_in(note: Annotation) -> Written:
    """What `as_text` kept in an annotation."""
    sections: dict[str, list[str]] = {}
    for line in note.text.split("\n"):
        name, _, text = line.partition(": ")
        sections.setdefault(name, []).append(text)
    return Written(
        at=note.at,
        position=note.at_position,
        tried=tuple(sections.get("tried", ())),
        worked=tuple(sections.get("worked", ())),
        failed=tuple(sections.get("failed", ())),
        pattern="".join(sections.get("pattern", ())),
        goal="".join(sections.get("goal", ())),
    )


def led(frame: Entry, written: Sequence[Written]) -> Entry:
    """The entry of a task as its agent wrote it, at one time or at several: of pattern and goal the last one stands."""
    last = written[-1].at if written else frame.last
    sources = tuple(dict.fromkeys((frame.opening, last)))

    def told(groups: Iterable[tuple[str, ...]]) -> tuple[DiaryLine, ...]:
        texts = dict.fromkeys(text for group in groups for text in group)
        return tuple(DiaryLine(text=text, sources=sources) for text in texts)

    pattern = next((each.pattern for each in reversed(written) if each.pattern), "")
    return Entry(
        goal=next((each.goal for each in reversed(written) if each.goal), frame.goal),
        opening=frame.opening,
        last=frame.last,
        task_type=frame.task_type,
        attempted=told(each.tried for each in written),
        worked=told(each.worked for each in written),
        failed=told(each.failed for each in written),
        pattern=pattern,
        pattern_sources=sources if pattern else (),
        author="agent",
    )


def _named(name: str, lines: Iterable[str]) -> list[str]:
    return [f"{name}: {line}" for line in lines if line]
