"""Tell what an agent's changes did, what files and pages showed it, and the names in its work, as lines with weights.

A name weighs by how likely it is to be needed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec.structs import replace

from ireneo.log.calls import GUTTER, without_reminders
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import discarded_files, removed_paths
from ireneo.summaries.statements import (
    APART,
    FEWEST_SAID,
    LONGEST,
    CodeStatement,
    code_statements,
    comment_words,
    defined_name,
    document_statements,
    has_cue,
    is_explained,
    is_proposal,
)
from ireneo.summaries.steps import Step, clip, surviving_lines
from ireneo.summaries.summary import Line

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
PLAIN, BARE = 0.5, 0.3
"""Factors for read code that only explains or only defines nothing, and for a bare signature."""
GONE = 1.5
"""Weight of a definition that was removed."""
OF_CHANGES, FLAT = 1.5, 0.7
"""Factor and power for the weight of changes: long, weighty ones are asked for only slightly more often than others."""
_DOCUMENTS = (".md", ".mdx", ".txt", ".rst", ".adoc")
REMOVED = "removed `"
SEARCHED_FOR = "searched for "
SEARCHES = (SEARCHED_FOR, "`")
"""Beginnings of the subject of what a search found."""
_WAS = lazy_re(r"^removed `|^`\w+` was `")
_TOLD = lazy_re(r"(?:\w+: )?`(?P<code>[^`]*)")


def change_lines(done: Sequence[Step]) -> Iterator[Line]:
    """The added code that still exists, the changed signatures, and the removed code."""
    for line in _changed_lines(done):
        yield replace(line, weight=round(OF_CHANGES * line.weight**FLAT, 2))


def _changed_lines(done: Sequence[Step]) -> Iterator[Line]:
    gone = [discarded_files(done, place) for place in range(len(done))]
    changed = (step.action.subject for step in done if step.changed)
    tests = TESTS if any(not (_is_test(path) or path.endswith(_DOCUMENTS)) for path in changed) else ONLY_TESTS
    for place, step in enumerate(done):
        path = step.action.subject
        if not step.changed or any(path in paths for paths in gone[place + 1 :]):
            continue
        removed = step.action.removed.splitlines()
        fresh = surviving_lines(step.action.added.splitlines(), removed)
        added = _text_left(step, done[place + 1 :]).splitlines()
        if path.endswith(_DOCUMENTS):
            for each in document_statements(added, fresh={line.strip() for line in fresh}):
                yield step.line(each.text, each.worth * WRITTEN_PROSE, subject=path)
            continue
        share = tests if _is_test(path) else 1.0
        for each in code_statements(added, fresh={line.strip() for line in fresh}):
            yield step.line(each.text, each.worth * share, subject=path)
        kept = _signatures(added)
        for name, line in _signatures(surviving_lines(removed, added)).items():
            was = f"`{name}` was `" if name in kept else REMOVED
            yield step.line(f"{was}{clip(' '.join(line.split()).rstrip(' {:'), 160)}`", GONE, subject=path)


KEPT_GONE, ANEW = 0.15, 0.2
REPLACED, REPLACED_MARK, ANEW_MARK = 0.7, " (changed later)", " (its file was written anew later)"
NO_LONGER_MARK, TAKEN_BACK_MARK = " (no longer in the file)", " (taken back later)"
MARKS = (REPLACED_MARK, ANEW_MARK, NO_LONGER_MARK, TAKEN_BACK_MARK)
REPLACED_SHARE = 0.15
"""The share of a passage that later changes must have taken out for it to be marked."""
LEAST_GONE, MOST_GONE = 8, 120
"""Shorter lines of code occur in many places; of longer ones the beginning is kept."""


def removed_lines(done: Sequence[Step]) -> list[Line]:
    """The telling lines of code that changes took out and that no change of the same call or a later one put in."""
    out: dict[tuple[str, str], Line] = {}
    added: dict[str, int] = {}
    left: dict[str, Counter[str]] = {}
    for step in done:
        if step.changed:
            both = (step.action.removed, step.action.added)
            removed, put = (Counter(map(_bare_line, text.splitlines())) for text in both)
            added.update(dict.fromkeys(put, step.position))
            there = left.setdefault(step.action.subject, Counter())
            if step.writes_anew:
                there.clear()
                out[step.action.subject, ""] = step.line("", ANEW, subject=step.action.subject)
            there.update(put)
            there.subtract(removed)
            for text in removed:
                if text not in put and len(text) >= LEAST_GONE and there[text] <= 0:
                    out.pop((step.action.subject, text), None)
                    out[step.action.subject, text] = step.line(text, KEPT_GONE, subject=step.action.subject)
    return [line for line in out.values() if not line.text or added.get(line.text, -1) < line.position]


SHOWN = "shown of "
"""Begins the subject of a line with what a short look at a file showed, by which is seen what others took out."""
MOST_SHOWN = 2_000
"""The maximum number of characters of such a look."""


def shown_lines(done: Sequence[Step]) -> Iterator[Line]:
    """The lines of files that short looks at them showed."""
    for step in done:
        if step.action.kind == "read" and step.result is not None and not step.failed:
            text = "\n".join(filter(None, map(_bare_line, seen_lines(step.output))))
            if len(text) <= MOST_SHOWN:
                yield replace(step.line(text, ANEW, subject=f"{SHOWN}{step.action.subject}"), verbs=((SHOWN, 1),))


NAMES = "names in "
"""Begins the subject of a line with the names that a change brought into the code of a file or took out of it."""
MOST_NAMES = 24
"""The maximum number of names of one change; those that somebody speaks of come first."""
_NAME = lazy_re(r"(?<!\w)_*[A-Za-z](?:[a-z0-9]*|[A-Z0-9]*)(?:_+|(?<=[a-z0-9])(?=[A-Z])|(?=[A-Z][a-z]))\w+(?<=\w{5})")
_PARTS = lazy_re(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_QUOTED = lazy_re(r"[\"“`](?P<text>[^\"“”`\n\s]{1,60}\s[^\"“”`\n]{1,80})[\"”`]")
_FILE = lazy_re(r"(?<![\w./~@-])[\w./~@-]{0,160}\w\.[a-z]\w{0,4}(?![\w.(])")
_FIGURE = lazy_re(r"(?<![\w.#:-])\d{2,6}(?![\w.:])")
_VALUE = r"(?i:\d{1,9}(?![\w.])|\"[^\"\n]{1,60}\"|(?:true|false|nil|null|none)\b)"
_VALUED = lazy_re(rf"(?P<name>[A-Za-z]\w{{1,60}})\"? {{0,9}}[:=]=? {{0,9}}(?P<value>{_VALUE})")
_SAID_VALUE = lazy_re(rf"(?<![\w.#-])(?:{_VALUE})")
TEXT, FILE = '"', "/"
"""Begin a text that code shows, and a file, among names."""
NEAR = 40
"""A sentence says what a thing is set to if it names it at most this many characters before the value."""
MOST_VALUES = 3
VALUE_OF = " = "
"""Between a name in words and the value that code sets it to."""


def name_changes(done: Sequence[Step]) -> Iterator[Line]:
    """For each change the names that it brought in or took out, so that it can be seen what was undone."""
    said = frozenset(name for step in done for name in _NAME.findall(step.said))
    made: dict[str, Counter[str]] = {}
    for place, step in enumerate(done):
        changed: dict[str, Counter[str]] = {}
        if step.changed:
            path = step.action.subject
            # Of tests only names are read: their values are examples.
            terms = _NAME.findall if _is_test(path) else _terms_of_code
            counts = Counter(_each_in_line(step.action.added, terms))
            counts.subtract(_each_in_line(step.action.removed, terms))
            counts[_file_term(path)] = int(path not in made)
            made.setdefault(path, Counter()).update(counts)
            changed = {path: counts}
        else:
            # What an earlier block made is known there.
            changed = {path: Counter({_file_term(path): -1}) for path in removed_paths(step) if not step.failed}
            for path in discarded_files(done, place):
                changed[path] = Counter({name: -times for name, times in made.pop(path, Counter[str]()).items()})
        for path, counts in changed.items():
            names = sorted((name for name in counts if counts[name]), key=lambda name: (name not in said, counts[name]))
            if names:
                told = names[:MOST_NAMES]
                line = step.line(", ".join(told), ANEW, subject=f"{NAMES}{path}")
                yield replace(line, verbs=tuple((name, counts[name]) for name in told))


def _each_in_line(text: str, terms: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """The terms of each line of code, each once, without comments."""
    for line in text.splitlines():
        if comment_words(line) is None:
            yield from dict.fromkeys(terms(line))


def _terms_of_code(line: str) -> Iterator[str]:
    """The names, texts and figures in a line of code, and what it sets to which value; no files, which stay."""
    yield from (term for term in _terms_said(line) if not term.startswith(FILE))
    yield from (f"{_worded(found['name'])}{VALUE_OF}{found['value'].lower()}" for found in _VALUED.finditer(line))


@lru_cache(maxsize=4_096)  # Every rebuild asks it of nearly the same sentences.
def _terms_said(text: str) -> tuple[str, ...]:
    """The names, texts, figures and files in a sentence or a line of code."""
    texts = (f"{TEXT}{found['text'].lower()}" for found in _QUOTED.finditer(text))
    return (*_NAME.findall(text), *texts, *_FIGURE.findall(text), *map(_file_term, _FILE.findall(text)))


def _file_term(path: str) -> str:
    return f"{FILE}{path.rpartition('/')[2]}"


def _worded(text: str) -> str:
    """A name or a sentence as words that are alike in both: `stepsCount` as "step count"."""
    return " ".join(word.lower().rstrip("s") for word in _PARTS.findall(text))


def _bare_line(line: str) -> str:
    """A line of code or of a comment as passages tell it."""
    said = " ".join((comment_words(line) or line).split())
    return said[:MOST_GONE].rstrip(" {:;,")


SOON = 32
"""What is proposed is begun within this many messages."""


class RemovedCode:
    """The lines of code that were taken out, by their files."""

    def __init__(self, lines: Iterable[Line], made: Iterable[Line] = (), seen: Iterable[Line] = ()) -> None:
        """Read the lines of sections of replaced code, and those on what changes made and on what files showed."""
        self._made = [line for line in made if not (_WAS.match(line.text) or line.subject.endswith(_DOCUMENTS))]
        self._seen: dict[str, list[Line]] = {}
        for line in seen:
            self._seen.setdefault(line.subject, []).append(line)
        self._of: dict[str, list[Line]] = {}
        self._names: dict[str, list[tuple[int, int, str]]] = {}
        self._valued: dict[str, set[str]] = {}
        self._shown: dict[str, list[Line]] = {}
        self._taken_back: list[tuple[int, frozenset[str]]] = []
        for line in sorted(lines, key=lambda line: line.position):
            if line.subject.startswith(SHOWN):
                self._shown.setdefault(line.subject.removeprefix(SHOWN), []).append(line)
            elif line.subject == TAKEN_BACK:
                self._taken_back.append((line.position, frozenset(name for name, _ in line.verbs)))
            elif line.subject.startswith(NAMES):
                for name, by in line.verbs:
                    where = f"/{line.subject.removeprefix(NAMES)}"
                    self._names.setdefault(name, []).append((line.position, by, where))
                    named, _, value = name.partition(VALUE_OF)
                    self._valued.setdefault(value, set()).add(named)
            else:
                self._of.setdefault(line.subject, []).append(line)

    def mark_removed(self, line: Line) -> Line:
        """A line about code: marked, and with less weight, if that code or a part of it was removed later."""
        if line.text.endswith(MARKS) or line.text.startswith(REMOVED):
            return line
        mark = self._mark_of_code(line) if line.subject else self._mark_of_sentence(line)
        return replace(line, text=f"{line.text}{mark}", weight=round(line.weight * REPLACED, 2)) if mark else line

    def _mark_of_code(self, line: Line) -> str:
        later = [each for each in self._of.get(line.subject, ()) if each.position > line.position]
        if not all(each.text for each in later):
            return ANEW_MARK
        text = told["code"] if (told := _TOLD.match(line.text)) else line.text
        out = {each.text: each for each in later if each.text in text and not self._stands(each)}
        went = sum(map(len, out)) >= REPLACED_SHARE * len(text) and not all(map(self._is_common, out.values()))
        if went:
            return REPLACED_MARK
        shown = (each.text for each in self._shown.get(line.subject, ()) if each.position > line.position)
        return NO_LONGER_MARK if told and any(_contradicts(each, line.text, text) for each in shown) else ""

    def _mark_of_sentence(self, line: Line) -> str:
        names = names_said(line.text) if any(place > line.position for place, _ in self._taken_back) else frozenset()
        for place, said in self._taken_back:
            if place > line.position and len(names & said) > max(len(names - said), 1) and len(names - said) <= 1:
                return TAKEN_BACK_MARK
        return REPLACED_MARK if self._names and self._speaks_of_undone(line) else ""

    def _stands(self, gone: Line) -> bool:
        """Whether a line that was taken out is put in by the same call or a later one, or its file still shows it."""
        shown = (*self._made, *self._seen.get(gone.subject, ()))
        return any(each.position >= gone.position and gone.text in each.text for each in shown)

    def _is_common(self, gone: Line) -> bool:
        """Whether a change put a line into several places of its file, of which another one may have gone."""
        places = [each.position for each in self._made if each.subject == gone.subject and gone.text in each.text]
        return len(places) > len(set(places))

    def _speaks_of_undone(self, line: Line) -> bool:
        """Whether a change that a sentence of the agent tells of, or proposes, was undone later in its file.

        So is what it says that code is set to, or shows, if that was taken out later.
        """
        terms = [term for term in _terms_said(line.text) if term in self._names]
        shown = [*self._values_said(line.text), *(term for term in terms if term.startswith(TEXT))]
        if not (terms or shown) or has_cue(line.text, "removal"):
            return False
        if any(self._was_undone(term, line) for term in terms):
            return True
        return not is_proposal(line.text) and any(self._was_taken_out(term, line.position) for term in shown)

    def _values_said(self, said: str) -> Iterator[str]:
        """What a sentence says that code is set to."""
        values = list(_SAID_VALUE.finditer(said))
        # Where there are more, somebody calculates, or gives an example.
        for found in values if len(values) <= MOST_VALUES else ():
            value = found[0].lower()
            before = f" {_worded(said[max(found.start() - NEAR, 0) : found.start()])} "
            yield from (f"{name}{VALUE_OF}{value}" for name in self._valued.get(value, ()) if f" {name} " in before)

    def _was_taken_out(self, term: str, after: int) -> bool:
        later = [by for position, by, _ in self._names.get(term, ()) if position > after]
        return sum(later) < 0 and max(later) <= 0

    def _was_undone(self, name: str, line: Line) -> bool:
        events = self._names.get(name, ())
        before = [event for event in events if event[0] <= line.position]
        later = [event for event in events if event[0] > line.position]
        file = before[-1][2] if before else ""
        then = sum(by for _, by, where in before if _is_one_file(where, file))
        if name.isdigit() and not (then and line.position - before[-1][0] <= SOON and has_cue(line.text, "changed")):
            return False  # The same figure may be another's.
        if not then and later and later[0][0] - line.position <= SOON and is_proposal(line.text):
            file = later[0][2]
        elif not then:
            return False
        moved = any(by > 0 for _, by, where in later if not _is_one_file(where, file))
        ended = [by for _, by, where in later if _is_one_file(where, file)]
        # Not all that is there now need have been counted before.
        left = max(then + sum(ended), 0) if then > 0 else then + sum(ended)
        return bool(ended) and not left and not moved


def _contradicts(shown: str, said: str, code: str) -> bool:
    """Whether a look at the whole function of a passage shows something else before a part of its code."""
    function, within, whole, missing = said.partition(": `")[0], "", False, False
    for line in shown.split("\n"):
        if whole := bool((name := defined_name(line)) and within):
            break
        within += _SIGNS.sub("", line) if within or (name == function and "(" in line) else ""
    pieces = (_SIGNS.sub("", piece) for piece in _PIECES.split(code)) if whole else ()
    for piece in (each[:MOST_GONE] for each in pieces if len(each) >= TELLING):
        if missing and within.count(piece) == 1:
            return True
        _, found, rest = within.partition(piece)
        within, missing = (rest, False) if found else (within, True)
    return False


TELLING = 16
"""Shorter pieces of code stand in many places."""
_PIECES, _SIGNS = lazy_re(r"; |: "), lazy_re(r"\W+")
TAKEN_BACK = "taken back"
"""The subject of a line with the names in what the agent took back as wrong."""
_SPOKEN_NAME = lazy_re(r"`[^`\n]{2,60}`|\b\w*[A-Z]\w+")


def names_said(text: str) -> frozenset[str]:
    """The names in a sentence, in whatever number; a word that only begins it is none."""
    found = (each[0] for each in _SPOKEN_NAME.finditer(text) if each.start() or not each[0][1:].islower())
    return frozenset(name.strip("`").lower().removesuffix("s") for name in found)


def _is_one_file(path: str, other: str) -> bool:
    """Whether two paths with a slash before them end alike, as a whole path and one from a folder do."""
    return path.endswith(other) or other.endswith(path)


def _text_left(step: Step, later: Sequence[Step]) -> str:
    """The text that a change added, as `later` changes of its file left it; empty if the file was written anew."""
    text = step.action.added
    for other in later:
        if other.action.subject != step.action.subject or not other.changed:
            continue
        old, new = other.action.removed, other.action.added
        if other.writes_anew:
            return ""
        if old and old in text:
            # One place, as an edit does: with each, a text would double over edits such as "}" to "}\n\nf() {\n}".
            text = text.replace(old, new, 1)
        else:
            gone = surviving_lines(old.splitlines(), new.splitlines())
            text = "\n".join(surviving_lines(text.splitlines(), gone))
    return text


def _signatures(lines: Iterable[str]) -> dict[str, str]:
    """The lines that define a function, by its name."""
    return {name: line for line in lines if "(" in line and (name := defined_name(line))}


def _is_test(path: str) -> bool:
    """Whether a file holds tests, which are seldom asked about."""
    return "test" in path.rsplit("/", 1)[-1]


def findings(done: Sequence[Step]) -> Iterator[Line]:
    """The findings in files, pages and search results."""
    for step in done:
        if step.action.kind in ("read", "search", "fetch") and not step.failed:
            yield from heaviest_lines(list(_step_findings(step)), MOST_SEEN)


def _step_findings(step: Step) -> Iterator[Line]:
    path = step.action.subject
    lines = seen_lines(step.output)
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


_AT_LINE = lazy_re(r"^\s*(?P<number>\d{1,9})[-:]")
_FOUND_AT = lazy_re(r"^(?P<path>(?:[\w@~+-]*+[./])++[\w@+-]{0,60}?)[-:](?P<number>\d{1,7})[-:]")
_HUNK = lazy_re(r"^@@ -\d")


def seen_lines(output: str) -> list[str]:
    """The lines of a file or search result, without the line numbers and paths that the tool added."""
    lines = list(_without_line_numbers(without_reminders(output).splitlines()))
    if any(_HUNK.match(line) for line in lines):
        return [line[1:] for line in lines if line[:1] in ("+", " ") and not line.startswith("+++")]
    return lines


def _without_line_numbers(lines: Sequence[str]) -> Iterator[str]:
    """Remove line numbers and paths, and mark gaps."""
    before: tuple[str, int] | None = None
    for line in lines:
        found = _FOUND_AT.match(line) or _AT_LINE.match(line)
        at = (found["path"] if "path" in found.re.groupindex else "", int(found["number"])) if found else None
        if at and before and at != (before[0], before[1] + 1):
            yield APART
        before = at or before
        bare = GUTTER.sub("", line)
        yield line[found.end() :] if found and bare == line else bare


def is_prose(output: str) -> bool:
    """Whether most of an output is sentences, as in a page or a report."""
    lines = [line.strip() for line in output.splitlines()[:MOST_JUDGED] if line.strip()]
    # A line of links or data is weighted no more than a long sentence.
    return sum(len(line) for line in lines if _is_sentence(line)) > sum(min(len(line), LONGEST) for line in lines) / 2


def _is_sentence(line: str) -> bool:
    if len(line.split()) < FEWEST_SAID or _CODED.search(line):
        return False
    return sum(map(str.isalpha, line)) + line.count(" ") >= LETTERS * len(line)


MOST_JUDGED = 120
"""How many lines decide whether an output is prose."""
LETTERS = 0.85
"""Least share of letters and blanks in a line of text."""
_CODED = lazy_re(r"[{};=]|\w\(|^\S*\d[:-]|^[0-9a-f]{7,40}\b")
