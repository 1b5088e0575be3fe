"""Traps of failures that were told: of `remember`, or of a user's message, and not of what runs show.

Such a memory is a text. It gives a trap where it names the command or the file that failed; what else it says is what
to do instead, or why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ireneo.language.files import either, topic
from ireneo.language.topics import Warned, Words
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.guard import Trap
from ireneo.lessons.lessons import HEED, as_part
from ireneo.lessons.naming import program_name, programs
from ireneo.memories.record import Record, disputes, month, one_line, supporting
from ireneo.memories.signature import action_of
from ireneo.patterns import lazy_re

LONGEST = 1_000
"""Characters of a text that are read."""
MOST_WORDS = 5
"""Words of a command that is not marked as one."""

_MARKED = lazy_re(r"`([^`\n]{1,200})`")
_FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*+(?:=[\w./:-]+)?")
_SET = lazy_re(r"[A-Z][A-Z0-9_]*=\S+")
_PATH = lazy_re(r"(?:[\w.@-]*/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{0,5}")
_SCRIPT = lazy_re(r"\./|.*\.(?:sh|bash|py|js|mjs|ts|rb|pl|php|ps1|bat)$")
_PROGRAM = lazy_re(r"[\w./~-]+")
_OPEN = lazy_re(r"[<>$…*]|\.\.\.")
_QUOTED = lazy_re(r"'[^']*'|\"[^\"]*\"")
_VARIABLE = lazy_re(r"(?<![\w$])[A-Z][A-Z0-9]*_[A-Z0-9_]+(?!\w)|(?<!\w)[A-Z][A-Z0-9]{2,}(?==)")
_PLAIN = lazy_re(r"[\w./:=@+-]+")
_TRAILING = " ,;:.!–—-"
# A colon or a full stop within a name ends no clause; a comma ends one only before what is to be done.
_SEPARATES = lazy_re(
    lambda: rf"[;—–]|:(?=\s)|[.!?](?=\s|$)|\s-\s|,(?=\s(?:{_row('joins')}|{_row('acts')}|{_row('bans')})(?!\w))", re.I
)
_JOINED = lazy_re(lambda: rf"^(?:{_row('joins')}),?\s+", re.I)
_ACTS = lazy_re(lambda: rf"^(?:{_row('acts')})(?!\w)", re.I)
_INSTEAD = lazy_re(lambda: rf"(?<!\w)(?:{_row('instead')})(?!\w)", re.I)
_REASON = lazy_re(lambda: rf"^(?:{_row('reasons')})(?!\w)", re.I)
_BANS = lazy_re(lambda: rf"^(?:{_row('bans')})(?!\w)", re.I)
_CHANGES = lazy_re(lambda: rf"(?<!\w)(?:{_row('changes')})(?!\w)", re.I)
_IN_PLACE_OF = lazy_re(lambda: rf"(?<!\w)(?:{_row('in_place_of')})\s+(?:(?:{_row('runs')})\s+)?$", re.I)
_AHEAD_OF = lazy_re(lambda: rf"^(.{{1,300}}?),?\s+(?:{_row('ahead_of')})\s+(?:(?:{_row('runs')})\s+)?$", re.I)
_OPENS = lazy_re(lambda: rf"^(?:(?:{_row('bans')})\s+)?(?:(?:{_row('runs')})\s+)?", re.I)
_ENDS = lazy_re(lambda: rf"^(?:{_row('ends')})$", re.I)


def _row(name: str) -> str:
    return either(getattr(topic(Warned), name))


class ToldFailure(Struct, frozen=True, kw_only=True):
    """What a text says of a failure: which calls it is about, what goes wrong, what to do instead, and why."""

    said: str
    command: str = ""
    words: tuple[str, ...] = ()
    path: str = ""
    unless: tuple[str, ...] = ()
    way_out: str = ""
    """Empty where the text names none."""
    why: str = ""
    forbidden: bool = False
    """It says that this must not be done."""


def told_trap(record: Record, projects: Iterable[str]) -> Trap | None:
    """The trap of a failure that somebody told; None if it names no call, is disputed, or no way out is known.

    What was remembered by hand is told without a way out as well, as is what must not be done at all.
    """
    told = None if record.cue or not record.holds or disputes(record) else read_told(record.text, record.signature)
    if told is None:
        return None
    pieces = supporting(record)
    by_hand = any(not each.messages for each in pieces)
    if not pieces or not (told.way_out or told.forbidden or by_hand):
        return None
    times, dated = len(pieces), [each.when for each in pieces if each.when is not None]
    often = "remembered" if times == 1 else f"remembered {times:,} times; last"
    last = max(dated, default=None)
    trap = Trap(
        lesson=record.id,
        remembered=True,
        said=_small(as_part(told.said)),
        way_out=_small(as_part(told.way_out)) or HEED,
        why=as_part(told.why).strip('“”"'),
        seen=f"{often} in {month(last)}" if last is not None else often.removesuffix("; last"),
        runs=times,
        of=times,
        last=last.date().isoformat() if last is not None else "",
        projects=tuple(sorted({each for each in projects if each})),
        session=record.sessions[0] if len(record.sessions) == 1 else "",
        command=told.command,
        words=told.words,
        path=told.path,
        unless=told.unless,
    )
    return trap if trap.needle else None


def read_told(text: str, signature: str = "") -> ToldFailure | None:
    """Read which call a text says fails; None if it names none. A `signature` names it where the text doesn't."""
    said = one_line(text)[:LONGEST]
    clauses = list(_clauses(said))
    at, about = _failing(clauses)
    if about is None:
        about = _of_command(action_of(signature).partition(": ")[2])
        at = 0
    if about is None or not clauses:
        return None
    return _with_way_out(clauses, at, about)


class _About(Struct, frozen=True, kw_only=True):
    """The call that a clause is about."""

    command: str = ""
    words: tuple[str, ...] = ()
    path: str = ""
    before: str = ""
    """What the clause says has to be done before it."""
    replaced: bool = False
    """The clause says what to do in its place."""


def _clauses(text: str) -> Iterator[str]:
    """The clauses of a text, without the words that join them; nothing between marks separates."""
    start, hidden = 0, [(each.start(), each.end()) for each in _MARKED.finditer(text)]
    for each in _SEPARATES.finditer(text):
        if not any(first < each.start() < last for first, last in hidden):
            yield from _bare(text[start : each.start()])
            start = each.end()
    yield from _bare(text[start:])


def _bare(clause: str) -> Iterator[str]:
    told = _JOINED.sub("", clause.strip(_TRAILING).strip())
    if told:
        yield told


def _failing(clauses: Sequence[str]) -> tuple[int, _About | None]:
    """The clause that says what fails, and the call that it is about.

    What a clause orders is the way out, unless it is all that there is. What is marked goes before what isn't.
    """
    found = [(at, about) for at, clause in enumerate(clauses) if (about := _about(clause)) is not None]
    told = [(at, about) for at, about in found if about.before or about.replaced or not _ACTS.search(clauses[at])]
    if told:
        return told[0]
    plain = ((at, about) for at, clause in enumerate(clauses) if (about := _unmarked(clause)) is not None)
    return next(plain, found[0] if found else (0, None))


def _about(clause: str) -> _About | None:
    """The call that the marks of a clause name."""
    changes, orders = bool(_CHANGES.search(clause)), bool(_ACTS.search(clause))
    marked = list(_MARKED.finditer(clause))
    for each in marked:
        about = (changes and _of_path(each[1])) or _of_command(each[1]) or _of_path(each[1])
        if about is None:
            continue
        ahead = _AHEAD_OF.search(clause[: each.start()]) if orders else None
        replaced = orders and bool(_IN_PLACE_OF.search(clause[: each.start()]))
        if ahead or replaced or (len(marked) == 1 or not orders):
            before = ahead[1] if ahead else ""
            return _About(command=about.command, words=about.words, path=about.path, before=before, replaced=replaced)
    return None


def _unmarked(clause: str) -> _About | None:
    """The command that a clause without marks opens with, up to a word that is none of a command."""
    if _MARKED.search(clause):
        return None
    words: list[str] = []
    said = _OPENS.sub("", clause, count=1).split()
    for word in said:
        if len(words) == MOST_WORDS or not _PLAIN.fullmatch(word) or _ENDS.search(word):
            break
        words.append(word)
    known = programs()
    if not words or words[0] in known.looks_only | known.filters | known.sources | known.moves | known.never_fails:
        return None
    several = known.has_subcommands(words[0]) or words[0] in known.tasks
    # "make deploy hangs" is told of a command, "make it work" orders something, and so does "trust the docs".
    if (len(words) == 1 and (several or topic(Words).articles.intersection(said[1:2]))) or (
        _ACTS.search(clause) and not several
    ):
        return None
    about = _of_command(" ".join(words))
    # How far the command goes is not sure: only what is a flag is asked for.
    return about and _About(command=about.command, words=tuple(each for each in about.words if each.startswith("-")))


def _of_command(text: str) -> _About | None:
    step = main_step(text) or next(iter(shell_steps(text)), None)
    if step is None or not step.name or not step.words or _SET.fullmatch(text):
        return None
    program = step.words[0]
    if not _PROGRAM.fullmatch(program) or (len(step.words) == 1 and _PATH.fullmatch(text) and not _SCRIPT.match(text)):
        return None
    rest = list(step.words[1:])
    if programs().has_subcommands(program_name(program)):
        # What it does may be written in another way: `npm i`.
        at = next((at for at, each in enumerate(rest) if not each.startswith("-")), len(rest))
        rest = [*rest[:at], *rest[at + 1 :]]
    named = step.name.split()
    rest = [each for each in rest if each.rsplit("/", 1)[-1] not in named and not _OPEN.search(each)]
    path = next((each for each in rest if "/" in each and not each.startswith("-")), "")
    words: list[str] = []
    for each in rest:
        if words and words[-1].startswith("-") and " " not in words[-1] and not each.startswith("-") and each != path:
            words[-1] = f"{words[-1]} {each}"
        elif each != path:
            words.append(each)
    is_folder = path and "." not in path.rsplit("/", 1)[-1]
    return _About(command=step.name, words=tuple(words), path=f"{path.rstrip('/')}/" if is_folder else path)


def _of_path(text: str) -> _About | None:
    return _About(path=text.removeprefix("./")) if _PATH.fullmatch(text) else None


def _with_way_out(clauses: Sequence[str], at: int, about: _About) -> ToldFailure:
    failing = clauses[at]
    others = [each for place, each in enumerate(clauses) if place != at]
    forbidden = bool(_BANS.search(failing))
    way = _first_of(about.before) or (failing if about.replaced else "")
    if not way:
        way = next((each for each in others if _ACTS.search(each)), "")
        way = way or next((each for each in others if _INSTEAD.search(each) and not _REASON.search(each)), "")
        way = way or _with_what_lacks(failing)
        # In any language: what stands behind a colon, if it is no reason.
        behind = clauses[at + 1] if at + 1 < len(clauses) else ""
        way = way or ("" if forbidden or _REASON.search(behind) else behind)
    why = next((each for each in others if each != way and not _ACTS.search(each)), "")
    said = _of_trap(about) if about.before or about.replaced else failing
    return ToldFailure(
        said=said,
        command=about.command,
        words=about.words,
        path=about.path,
        unless=_unless(way, about),
        way_out=way,
        why=why,
        forbidden=forbidden,
    )


def _first_of(before: str) -> str:
    return before and (before if _INSTEAD.search(before) else f"{before} first")


def _of_trap(about: _About) -> str:
    named = " ".join((about.command, *about.words)).strip()
    return f"`{named or about.path}` fails"


def _with_what_lacks(clause: str) -> str:
    """Of what fails "without the VPN": "with the VPN"; empty where nothing is said to lack."""
    for word, instead in topic(Warned).lacks.items():
        found = re.search(rf"(?<!\w){re.escape(word)}\s+(.{{2,120}})$", clause, re.I)
        if found:
            words = found[1].split()
            ends = next((n for n, each in enumerate(words) if n and _ENDS.search(each)), len(words))
            return f"{instead[0]} {' '.join(words[:ends])}"
    return ""


def _unless(way: str, about: _About) -> tuple[str, ...]:
    """The commands, flags and variables of the way out that the failing call doesn't have."""
    marked = [each[1].strip() for each in _MARKED.finditer(way)]
    have = {*about.command.split(), *" ".join(about.words).split()}
    bare = _QUOTED.sub("", way)
    news = [each[0] for pattern in (_FLAG, _VARIABLE) for each in pattern.finditer(bare) if each[0] not in have]
    ways: list[str] = []
    for each in marked:
        read = _of_command(each)
        same = read is not None and read.command == about.command
        # The failing call itself is named beside its way out; one that only adds to it is known by what it adds.
        if not same or (read is not None and read.words != about.words and not news):
            ways.append(each)
    return tuple(dict.fromkeys((*ways, *news)))


def _small(text: str) -> str:
    """A clause as it stands within a sentence: what it orders or forbids begins it."""
    return f"{text[:1].lower()}{text[1:]}" if _ACTS.search(text) or _BANS.search(text) else text
