"""Tell what an agent's changes did, what files and pages showed it, and the names in its work, as lines with weights.

A name weighs by how likely it is to be needed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from msgspec.structs import replace

from ireneo.grounding.claims import artifacts
from ireneo.log.calls import without_reminders
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import discarded_files
from ireneo.summaries.outputs import is_prose, seen_lines, surviving_lines
from ireneo.summaries.statements import (
    CodeStatement,
    code_statements,
    comment_words,
    defined_name,
    document_statements,
    is_explained,
)
from ireneo.summaries.steps import CHANGES, Step, clip
from ireneo.summaries.summary import Line, SectionName

WRITTEN_PROSE = 0.3
"""Factor for documents that the agent wrote, which can be read again."""
READ_PROSE = 0.35
"""Factor for documents that were only read."""
FOUND_PROSE = 0.6
"""Factor for pages and search results, which are hard to find again."""
TESTS, ONLY_TESTS = 0.3, 0.45
"""Factors for code in test files: if other files were changed too, and if only tests were."""
READ_CODE, OF_HISTORY = 0.3, 2.5
"""Factors for code that was only read, and for what version control showed of it."""
MOST_SEEN = 64
"""The maximum number of lines from one output."""
PLAIN = 0.5
BARE = 0.3
"""Factors for read code that only explains or only defines nothing, and for a bare signature."""
TELLING = 2.0
"""Removed code is reported if its worth was greater."""
GONE = 1.5
"""Weight of a definition that was removed."""
LONGEST_GONE = 200
"""The maximum number of characters of code that was taken out."""
TAKEN_OUT = 0.5
"""Factor for code that was taken out."""
BECAME = 0.6
"""Weight of a signature that was changed."""
OF_CHANGES, FLAT = 1.5, 0.7
"""Factor and power for the weight of changes: long, weighty ones are asked for only slightly more often than others."""
LONGEST_CHANGE = 120
"""A line of which more than this many characters changed was written anew."""
_DOCUMENTS = (".md", ".mdx", ".txt", ".rst", ".adoc")
REMOVED = "removed `"
SEARCHED_FOR = "searched for "
SEARCHES = (SEARCHED_FOR, "`")
"""Beginnings of the subject of what a search found."""
_WITHIN = lazy_re(r"(?:(?P<place>\w+): )?`(?P<code>[^`]*)")
_CLOSER = lazy_re(r"^\W*$")
_PIECE = lazy_re(r"\w+|\s+|.")


def change_lines(done: Sequence[Step]) -> Iterator[Line]:
    """The added code that still exists, the changed signatures, and the removed code."""
    for line in _changed_lines(done):
        yield replace(line, weight=round(OF_CHANGES * line.weight**FLAT, 2))


def _changed_lines(done: Sequence[Step]) -> Iterator[Line]:
    gone = [discarded_files(done, place) for place in range(len(done))]
    tests = TESTS if any(step.action.kind in CHANGES and _is_code(step.action.subject) for step in done) else ONLY_TESTS
    for place, step in enumerate(done):
        path = step.action.subject
        if step.action.kind not in CHANGES or step.failed or any(path in paths for paths in gone[place + 1 :]):
            continue
        removed, added = step.action.removed.splitlines(), step.action.added.splitlines()
        later = [
            line
            for other in done[place + 1 :]
            if other.action.subject == path and not other.failed
            for line in surviving_lines(other.action.removed.splitlines(), other.action.added.splitlines())
        ]
        fresh = surviving_lines(surviving_lines(added, removed), later)
        if path.endswith(_DOCUMENTS):
            for each in document_statements(added, fresh={line.strip() for line in fresh}):
                yield step.line(each.text, each.worth * WRITTEN_PROSE, subject=path)
            continue
        share = tests if _is_test(path) else 1.0
        for each in code_statements(added, fresh={line.strip() for line in fresh}):
            yield step.line(each.text, each.worth * share, subject=path)
        yield from _replaced_signatures(step, surviving_lines(removed, added), fresh, share)
        if removed and added:
            moved = [line for other in done if other.action.subject == path for line in other.action.added.splitlines()]
            yield from _removed_passage(step, removed, moved, share)
        kept = _signatures(added)
        for name, line in _signatures(surviving_lines(removed, added)).items():
            if name in kept:
                continue
            renamed = next((other for other in kept if kept[other].strip() == line.strip().replace(name, other)), "")
            said = f"`{name}` is called `{renamed}` now" if renamed else ""
            said = said or f"{REMOVED}{clip(' '.join(line.split()).rstrip(' {:'), 160)}`"
            yield step.line(said, GONE, subject=path)


REPLACED_CODE = "replaced_code"
"""The section of removed lines of code. It is never shown, but says which lines of earlier blocks are outdated."""
KEPT_GONE = 0.15
LEAST_GONE, MOST_GONE = 20, 120
"""Shorter lines of code occur in many places; of longer ones the beginning is kept."""
REPLACED, REPLACED_MARK, PARTLY_MARK = 0.7, " (replaced later)", " (partly replaced later)"
MOSTLY, PARTLY = 0.5, 0.15
"""The shares of a passage with which it is gone, and partly gone."""
WITHIN = "\t"
"""Between the file and the function in which a line of code was taken out."""


def removed_lines(done: Sequence[Step]) -> list[Line]:
    """The telling lines of code that changes took out and didn't put elsewhere."""
    out: dict[tuple[str, str], Line] = {}
    for step in done:
        if step.action.kind in CHANGES and not step.failed:
            removed = step.action.removed.splitlines()
            gone = {line.strip() for line in surviving_lines(removed, step.action.added.splitlines())}
            place = ""
            for line in removed:
                place = (defined_name(line) if "(" in line else "") or place
                if line.strip() in gone and len(text := _bare_line(line)) >= LEAST_GONE:
                    subject = f"{step.action.subject}{WITHIN}{place}"
                    out.pop((subject, text), None)
                    out[subject, text] = step.line(text, KEPT_GONE, subject=subject)
    return list(out.values())


def _bare_line(line: str) -> str:
    """A line of code or of a comment as passages tell it."""
    said = " ".join((comment_words(line) or line).split())
    return said[:MOST_GONE].rstrip(" {:;,")


class RemovedCode:
    """The lines of code that were taken out, by their files."""

    def __init__(self, lines: Iterable[Line]) -> None:
        """Read the lines of `REPLACED_CODE` sections."""
        self._of: dict[str, list[Line]] = {}
        for line in lines:
            self._of.setdefault(line.subject.partition(WITHIN)[0], []).append(line)

    def mark_removed(self, line: Line) -> Line:
        """A line about code: marked, and with less weight, if that code or a part of it was removed later."""
        known = self._of.get(line.subject, ()) if line.subject else ()
        if not known or line.text.startswith(REMOVED) or line.text.endswith((REPLACED_MARK, PARTLY_MARK)):
            return line
        told = _WITHIN.match(line.text)
        text = told["code"] if told else line.text
        place = told["place"] if told else None
        out = {
            each.text
            for each in known
            if each.position > line.position
            and each.text in text
            # The same line may stand in another function as well.
            and (not place or each.subject.partition(WITHIN)[2] in ("", place))
        }
        share = sum(map(len, out)) / max(len(text), 1)
        if share < PARTLY:
            return line
        mark = REPLACED_MARK if share >= MOSTLY else PARTLY_MARK
        return replace(line, text=f"{line.text}{mark}", weight=round(line.weight * REPLACED, 2))


def _replaced_signatures(step: Step, removed: Sequence[str], added: Sequence[str], share: float) -> Iterator[Line]:
    """The signatures that a change replaced."""
    before = _signatures(removed)
    for name, line in _signatures(added).items():
        if name in before and (said := _difference(before[name], line)):
            yield step.line(f"`{name}`: {said}", BECAME * share, subject=step.action.subject)


def _removed_passage(step: Step, removed: Sequence[str], added: Sequence[str], share: float) -> Iterator[Line]:
    """The most telling passage that a change removed together with most of the names in the passage."""
    gone = {line.strip() for line in surviving_lines(removed, added)}
    still = frozenset(artifacts("\n".join(added)))
    best: Line | None = None
    for each in code_statements(removed, fresh=gone):
        names = frozenset(artifacts(each.text))
        found = _WITHIN.match(each.text)
        if not found or each.worth <= TELLING or len(names - still) <= len(names) / 2:
            continue
        where = f" in {found['place']}" if found["place"] else ""
        text = f"{REMOVED}{clip(found['code'], LONGEST_GONE)}`{where}"
        line = step.line(text, each.worth * TAKEN_OUT * share, subject=step.action.subject)
        best = line if best is None or line.weight > best.weight else best
    if best is not None:
        yield best


def _signatures(lines: Iterable[str]) -> dict[str, str]:
    """The lines that define a function, by its name."""
    return {name: line for line in lines if "(" in line and (name := defined_name(line))}


def _difference(old: str, new: str) -> str:
    """The part of a line that a change replaced, and the new part; empty if most of the line is new."""
    one, other = (_PIECE.findall(" ".join(line.split()).rstrip(" {:,;")) for line in (old, new))
    start = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    pairs = zip(reversed(one[start:]), reversed(other[start:]), strict=False)
    end = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    was, now = ("".join(each[start : len(each) - end]).strip(" ,") for each in (one, other))
    if not (was or now) or max(len(was), len(now)) > LONGEST_CHANGE or "`" in f"{was}{now}":
        return ""
    if not now:
        return f"without `{was}` now"
    return f"with `{now}` now" if not was else f"`{was}` became `{now}`"


def _is_code(path: str) -> bool:
    return not (_is_test(path) or path.endswith(_DOCUMENTS))


def _is_test(path: str) -> bool:
    """Whether a file holds tests, which are seldom asked about."""
    return "test" in path.rsplit("/", 1)[-1]


def findings(done: Sequence[Step]) -> Iterator[Line]:
    """The findings in files, pages and search results."""
    for place, step in enumerate(done):
        if step.action.kind not in ("read", "search", "fetch") or step.failed:
            continue
        yield from heaviest_lines(list(_step_findings(step, done[place + 1 :])), MOST_SEEN)


def _step_findings(step: Step, later: Sequence[Step]) -> Iterator[Line]:
    path = step.action.subject
    lines = surviving_lines(seen_lines(step.output), _removed_by(later))
    # Any output may be kept in a text file.
    written = path.endswith(_DOCUMENTS) and (not path.endswith(".txt") or is_prose(without_reminders(step.output)))
    if written or brought_text(step):
        for each in document_statements(lines):
            yield step.line(each.text, each.worth * (READ_PROSE if written else FOUND_PROSE), subject=path)
    elif step.action.kind != "fetch":
        share = TESTS if _is_test(path) else OF_HISTORY if step.action.shell and path.startswith("git ") else 1.0
        searched = f"`{path}`" if step.action.shell else f"{SEARCHED_FOR}{path}"
        about = searched if step.action.kind == "search" else path
        for each in code_statements(lines):
            yield step.line(each.text, _read_worth(each) * share, subject=about)


def brought_text(step: Step) -> bool:
    """Whether a page or a search brought text."""
    found = step.action.kind in ("fetch", "search") and not step.failed
    return found and is_prose(without_reminders(step.output))


def _removed_by(later: Sequence[Step]) -> list[str]:
    """The lines that later changes removed."""
    return [
        line
        for step in later
        if step.action.kind in CHANGES and not step.failed
        for line in surviving_lines(step.action.removed.splitlines(), step.action.added.splitlines())
        if line.strip() and not _CLOSER.match(line)
    ]


def without_removed(kept: Mapping[SectionName, Sequence[Line]]) -> list[Line]:
    """The findings without those about code that was removed later."""
    gone: dict[str, int] = {}
    for line in kept.get("artifacts", ()):
        if line.text.startswith(REMOVED) and (name := defined_name(line.text.removeprefix(REMOVED))):
            gone[f"{line.subject} {name}"] = line.position
    return [
        line
        for line in kept.get("discoveries", ())
        if not (line.subject and (found := _WITHIN.match(line.text)))
        or gone.get(f"{line.subject} {found['place'] or defined_name(found['code'])}", -1) < line.position
    ]


def _read_worth(said: CodeStatement) -> float:
    """The worth of code that was only read: highest if it says when something happens and why."""
    signs, explained = bool(defined_name(said.text.lstrip("`"))), is_explained(said.text)
    return said.worth * READ_CODE * (BARE if signs and not explained else 1.0 if explained and not signs else PLAIN)


def defined_name_of(line: Line) -> str:
    """The file and the name that a line of code defines, if any."""
    name = defined_name(line.text.removeprefix(REMOVED).lstrip("`"))
    return f"{line.subject} {name}" if name else ""


def heaviest_lines(lines: Sequence[Line], most: int) -> list[Line]:
    """The `most` weightiest lines, in order."""
    if len(lines) <= most:
        return list(lines)
    best = sorted(range(len(lines)), key=lambda place: -lines[place].weight)[:most]
    return [lines[place] for place in sorted(best)]
