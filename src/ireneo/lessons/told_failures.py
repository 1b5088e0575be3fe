"""Traps of failures that were told: of `remember`, or of a user's message, and not of what runs show.

Such a memory is a text. It gives a trap where it names the command or the file that failed; what else it says is what
to do instead, or why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, takewhile

from msgspec import Struct

from ireneo.language.files import either, topic
from ireneo.language.topics import Warned, Words
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.guard import Trap
from ireneo.lessons.lessons import HEED, as_part
from ireneo.lessons.limits import BRANCH, ENVIRONMENT, ENVIRONMENTS, HOST, OBJECT, PLACE, ROOT, TOGETHER, WHOLE
from ireneo.lessons.naming import name_of, program_name, programs
from ireneo.memories.record import Record, disputes, month, one_line, supporting
from ireneo.memories.signature import action_of
from ireneo.patterns import lazy_re

LONGEST = 1_000
"""Characters of a text that are read."""
MOST_WORDS = 5
"""Words of a command that is not marked as one."""

_BRACKETS = lazy_re(r"\([^()]{1,300}\)")
_WITH = ("with", "using", "mit", "avec", "con")
_EVERYDAY = frozenset(
    "code open set source time date test file top host type which help history read local patch split convert install "
    "strip script parallel clear reset black factor tidy command join wait air node dot fish dash more less watchman "
    "strings export entr at cut crontab groups exit return alias env man info hash mount sync touch import exec just "
    "task make invoke ant doit poe".split()
)
"""Programs that are words of every text."""
_OF_OBJECTS = frozenset("systemctl service kubectl oc docker podman helm pm2 supervisorctl".split())
"""Programs whose subcommands mostly name what they are about."""
_OF_KINDS = frozenset(("kubectl", "oc"))
"""Those that name its kind in front of it."""
_LABEL = 3
"""Words of a clause that may be only a heading."""
_MARKED = lazy_re(r"`([^`\n]{1,200})`")
_FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*+(?:=[\w./:-]+)?")
_SHORT = lazy_re(r"-[A-Za-z]{2,4}")
_FLAG_SET = lazy_re(lambda: rf"{_FLAG.pattern}(?:\s+\d+\b)?")
_SET = lazy_re(r"[A-Z][A-Z0-9_]*=\S+")
_PATH = lazy_re(r"(?:[\w.@-]*/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{0,5}|\.[a-z][\w-]*(?:\.[a-z][\w-]*)*")
_BESIDE = lazy_re(lambda: rf"\((?:e\.g\. )?`?((?=[^()\s]*/)(?:{_PATH.pattern}))`?\)")
_SCRIPT = lazy_re(r"\./[\w-][\w./-]*|[\w./~-]*\.(?:sh|bash|py|js|mjs|ts|rb|pl|php|ps1|bat)")
_HOST = lazy_re(r"(?<![\w./-])[a-z][\w-]*(?:\.[a-z][\w-]+)+(?![\w./-])")
_PROGRAM = lazy_re(r"(?=[a-z0-9./~])[\w./~-]+")
_OPEN = lazy_re(r"[<>$…*]|\.\.\.")
_QUOTED = lazy_re(r"'[^']*'|\"[^\"]*\"")
_VARIABLE = lazy_re(r"(?<![\w$])[A-Z][A-Z0-9]*_[A-Z0-9_]+(?!\w)|(?<!\w)[A-Z][A-Z0-9]{2,}(?==)")
_PLAIN = lazy_re(r"[\w./:=@+-]+")
_BEFORE_IT = lazy_re(r"^[ ,;:!–—]*(?:\.(?!\w)[ ,;:.!–—]*)?")
_TRAILING = " ,;:.!–—-"
_EVERYTHING = lazy_re(r"(?<![^\s])(?:\.|\./|(?:\./|//)\.\.\.|\*)(?=[\s`]|$)")
_BRANCHES = r"main|master|develop|trunk|release/[\w*./-]+|[\w-]+/\*"
# A colon or a full stop within a name ends no clause; a comma ends one only before what is to be done.
_SEPARATES = lazy_re(
    lambda: (
        rf"[;—–→]|\s[-=]>\s|:(?=\s)|(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!\.\.)(?:(?<!\s)|(?<=[/)!?]\s))[.!?](?=\s|$)|\s-\s|,(?=\s(?:{_row('joins')}|{_row('acts')}|{_row('bans')}|{_row('right')}|{_row('since')})(?!\w))"
        rf"|(?=\s(?:{_row('always')})\s+(?:{_row('acts')})(?!\w))"
    ),
    re.I,
)
_JOINED = lazy_re(lambda: rf"^(?:{_row('joins')}),?\s+", re.I)
_ACTS = lazy_re(lambda: rf"^(?:{_row('acts')})(?!\w|\.\w)", re.I)
_INSTEAD = lazy_re(lambda: rf"(?<!\w)(?:{_row('instead')})(?!\w)", re.I)
_REASON = lazy_re(lambda: rf"^(?:{_row('reasons')})(?!\w)", re.I)
_BANS = lazy_re(lambda: rf"^(?:{_row('bans')})(?!\w)", re.I)
_FAILS = lazy_re(lambda: rf"(?<!\w)(?:{_row('fails')})(?!\w)", re.I)
_FORBIDS = lazy_re(lambda: rf"^\w+\s+(?:{_row('bans')}|no)(?!\w)", re.I)
_CHANGES = lazy_re(lambda: rf"(?<![\w-])(?:{_row('changes')})(?!\w)", re.I)
_IN_PLACE_OF = lazy_re(lambda: rf"(?<!\w)(?:{_row('in_place_of')})\s+(?:(?:{_row('runs')})\s+)?$", re.I)
_AHEAD_OF = lazy_re(
    lambda: rf"^(.{{1,300}}?),?\s+(?:{_row('ahead_of')})\s+(?:(?:{_row('the')})\s+)?(?:(?:{_row('runs')})\s+)?$", re.I
)
_OPENS = lazy_re(lambda: rf"^(?:(?:{_row('bans')})\s+)?(?:(?:{_row('runs')})\s+)?", re.I)
_ENDS = lazy_re(lambda: rf"^(?:{_row('ends')})$", re.I)
_RUN = lazy_re(lambda: rf"^(?:(?:{_row('bans')})\s+)?(?:{_row('runs')})\s", re.I)
_THROUGH = lazy_re(lambda: rf"^(?:{_row('through')})$", re.I)
_RIGHT = lazy_re(lambda: rf"(?<!\w)(?:{_row('right')})(?!\w)", re.I)
_OLD = lazy_re(lambda: rf"(?<!\w)(?:{_row('old')})(?!\w)", re.I)
_FINE = lazy_re(lambda: rf"(?<!\w)(?:{_row('fine')})(?!\w)", re.I)
_WHOLE = lazy_re(lambda: rf"(?<![\w-])(?:{_row('whole')})(?![\w-])", re.I)
_ROOT = lazy_re(lambda: rf"(?<![\w-])(?:{_row('where')})\s+(?:(?:{_row('the')})\s+)?(?:{_row('root')})(?![\w-])", re.I)
_TOGETHER = lazy_re(lambda: rf"(?<![\w-])(?:{_row('together')})(?![\w-])", re.I)
_IN_FOLDER = lazy_re(lambda: rf"(?<![\w./-])([\w./-]++)`?\s+(?:{_row('folder')})(?![\w-])", re.I)
# Where it holds is told right behind such a word, or after an article and at most two words more.
_WHERE = lazy_re(
    lambda: (
        rf"(?<![\w-])(?:{_row('where')})\s+(?:(?:{_row('the')})\s+)?(?:[\w-]+\s+){{0,2}}?"
        rf"`?(?:(?!w/o\b)(?P<place>/?(?:[\w.@-]+/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{{0,5}}(?![\w.]))|(?P<environment>(?:{'|'.join(ENVIRONMENTS)}))(?:-\w+)?)"
        rf"(?![\w/-])"
    ),
    re.I,
)
_ON_HOST = lazy_re(
    lambda: (
        r"(?<![\w-])(?:(?<!over )(?<!via )ssh(?: to| into)?\s+|"
        rf"(?:{_row('where')})\s+(?:(?:{_row('the')})\s+|(?=[a-z][\w.]*-?\d)))`?([\w.-]*\w)"
    ),
    re.I,
)
_ON_NAME = lazy_re(lambda: rf"(?<![\w-])(?:{_row('where')})\s+(?:(?:{_row('the')})\s+)?`?([a-z]\w*-[\w-]+)", re.I)
_URL = lazy_re(r"(?<!\w)\w++://([\w.-]++)")
_ON_BRANCH = lazy_re(
    lambda: rf"(?<![\w-])(?:{_row('where')})\s+(?:(?:{_row('the')})\s+)?`?({_BRANCHES})(?![\w/-])", re.I
)


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
    limits: tuple[str, ...] = ()
    """Where it holds; see `ireneo.lessons.limits`."""


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
        sign=told.command.split()[0] if told.command in programs().aliases.values() else "",
        words=told.words,
        path=told.path,
        unless=told.unless,
        limits=told.limits,
    )
    return trap if trap.needle else None


def read_told(text: str, signature: str = "") -> ToldFailure | None:
    """Read which call a text says fails; None if it names none. A `signature` names it where the text doesn't."""
    said = one_line(text)[:LONGEST]
    clauses = list(_clauses(said))
    at, about = _failing(clauses)
    if about is None:
        at, about = 0, _of_command(action_of(signature).partition(": ")[2])
    if about is None or not clauses:
        return None
    return _with_way_out(clauses, at, about, said)


def warns(text: str) -> bool:
    """Whether a text of which nobody says what it is warns of a call: it goes wrong, or must not be made.

    It has to name a known program or a file, and what to do instead, or that it is forbidden.
    """
    found = read_told(text) if len(text) <= LONGEST and not text.rstrip().endswith("?") else None
    if found is None or not (found.way_out or found.forbidden):
        return False
    program = program_name(found.command.split()[0]) if found.command else ""
    several = programs().has_subcommands(program) or program in programs().tasks
    named = bool(found.path and not program) or several or (bool(program) and _is_known(program))
    return named and (found.forbidden or bool(_FAILS.search(text)))


class _About(Struct, frozen=True, kw_only=True):
    """The call that a clause is about."""

    command: str = ""
    words: tuple[str, ...] = ()
    path: str = ""
    before: str = ""
    """What the clause says has to be done before it."""
    on: str = ""
    """What the command is about, where it always names something."""
    replaced: bool = False
    """The clause says what to do in its place."""


def _clauses(text: str) -> Iterator[str]:
    """The clauses of a text, without the words that join them; nothing between marks or brackets separates."""
    start, hidden = 0, [each.span() for how in (_MARKED, _BRACKETS) for each in how.finditer(text)]
    for each in _SEPARATES.finditer(text):
        # What goes well is named behind a colon: "one worker is fine: `pytest -n 1`".
        names = each[0] == ":" and _goes_well(text[start : each.start()])
        if not names and not any(first < each.start() < last for first, last in hidden):
            yield from _bare(text[start : each.start()])
            start = each.end()
    yield from _bare(text[start:])


def _bare(clause: str) -> Iterator[str]:
    whole = bool(_EVERYTHING.search(clause.rstrip()[-2:]))
    told = _JOINED.sub("", _BEFORE_IT.sub("", clause if whole else clause.rstrip(_TRAILING), count=1))
    if told:
        yield told


def _failing(clauses: Sequence[str]) -> tuple[int, _About | None]:
    """The clause that says what fails, and the call that it is about.

    What must not be run goes first ("never a bare `make`"). What a clause orders is the way out; if there is nothing
    else, the same command without it is the trap.
    """
    changes = any(map(_CHANGES.search, clauses))
    for at, clause in enumerate(clauses):
        about = _of_marks(clause, changes=False) if at and _BANS.search(clause) else None
        if about is not None and about.command:
            return at, about
    ways: tuple[Callable[[str], _About | None], ...] = (
        # "`make db` first" tells the way out, unless nothing else is told.
        lambda clause: None if _INSTEAD.search(clause) and not _goes_wrong(clause) else _called(clause, changes),
        lambda clause: _in_words(clause) if _goes_wrong(clause) else None,
        lambda clause: _called(clause, changes),
        lambda clause: _of_opening(clause, changes, sure=False),
        _ordered,
        lambda clause: _of_deed(clause) or _of_naming(clause),
    )
    found = ((at, way(clause)) for way in ways for at, clause in enumerate(clauses))
    return next(((at, about) for at, about in found if about is not None), (0, None))


def _goes_wrong(clause: str) -> bool:
    return bool(_FAILS.search(clause) or _BANS.search(clause))


def _goes_well(clause: str) -> bool:
    return bool(_RIGHT.search(clause)) or (bool(_FINE.search(clause)) and not _goes_wrong(clause))


def _called(clause: str, changes: bool) -> _About | None:
    about = _of_opening(clause, changes, sure=True)
    return about or (_of_place(clause) if changes else None) or _of_marks(clause, changes)


def _in_words(clause: str) -> _About | None:
    return _of_deed(clause) or (None if _ACTS.search(clause) else _of_naming(clause))


def _ordered(clause: str) -> _About | None:
    """What a clause orders to be done with a command, or before it: the command is the trap."""
    if not (_ACTS.search(clause) or _goes_well(clause)):
        return None
    marked = _MARKED.search(clause)
    named = marked is not None and (" " in marked[1] or _is_known(marked[1]))
    ordered = _of_order(clause)
    about = None if ordered and ordered.before else _of_command(marked[1]) if marked and named else None
    about = about or ordered
    return about and _About(command=about.command, before=about.before, replaced=not about.before)


def _of_marks(clause: str, changes: bool) -> _About | None:
    """The call that the marks of a clause name; of what it orders, the one that this replaces or comes before."""
    if _goes_well(clause):
        return None
    orders = bool(_ACTS.search(clause))
    for each in _MARKED.finditer(clause):
        about = (changes and _of_path(each[1])) or _of_command(each[1]) or _of_path(each[1])
        if about is None:
            continue
        ahead = _AHEAD_OF.search(clause[: each.start()]) if orders else None
        replaced = orders and bool(_IN_PLACE_OF.search(clause[: each.start()]))
        if ahead or replaced or not orders:
            before = ahead[1] if ahead else ""
            return _About(command=about.command, words=about.words, path=about.path, before=before, replaced=replaced)
    return None


def _of_opening(clause: str, changes: bool, *, sure: bool) -> _About | None:
    """The command or file that a clause opens with, without marks, up to a word that is none of it.

    Where that has to be `sure` its program must be known; else it is told what went wrong with it, or that it was run.
    """
    bare = _OPENS.sub("", clause, count=1)
    said = bare.split()
    words = list(takewhile(lambda each: _PLAIN.fullmatch(each) and not _stops(each), said))[:MOST_WORDS]
    if not words:
        return None
    acts = len(said) > 1 and bool(_SCRIPT.fullmatch(words[0])) and bool(_CHANGES.fullmatch(said[1]))
    if changes and not acts and (about := _of_path(words[0])) is not None:
        return about
    known, program = programs(), words[0]
    if program in known.looks_only | known.filters | known.sources | known.moves or not _PROGRAM.fullmatch(program):
        return None
    several = known.has_subcommands(program_name(program)) or program_name(program) in known.tasks
    if sure and not (several or _is_known(program)):
        return None
    if not several and program in _EVERYDAY and not _flags_of(said, words):
        return None
    if not sure and not _RUN.search(clause) and (_BANS.search(clause) or not _FAILS.search(clause)):
        return None
    ends = len(words) < len(said) and not topic(Words).articles.intersection(said[len(words) : len(words) + 1])
    # "make deploy hangs" is told of a command; "make it work" and "trust the docs" order something.
    if (several and len(words) == 1) or (not several and (_ACTS.search(clause) or not (ends or _is_known(program)))):
        return None
    about = _of_command(" ".join(_command_of(words, several=several)))
    host = _HOST.search(clause) if not several else None
    named = (*_flags_of(said, words), *((host[0],) if host and program not in host[0] else ()))
    behind = words[len(about.command.split()) :] if about and program in _OF_OBJECTS else []
    things = list(takewhile(lambda each: not each.startswith("-"), behind))[: 1 + (program in _OF_KINDS)]
    on = next(reversed(things), "")
    return about and _About(command=about.command, words=named, on=on)


def _stops(word: str) -> bool:
    """Whether a word is none of a command that stands without marks."""
    return _ENDS.search(word) is not None or _FAILS.fullmatch(word) is not None


def _flags_of(said: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The flags of a command without marks: among its `words`, or behind "with"; with their numbers.

    How far the arguments go is not sure, so nothing else of them is asked for.
    """
    flags: dict[str, None] = {}
    for before, one, two in zip(("", *said), said, (*said[1:], ""), strict=False):
        bare = one.strip("(),.")
        if _FLAG.fullmatch(bare) and (one in words or before in _WITH or one == f"({bare})"):
            flags[f"{bare} {two}" if two.isdigit() else bare] = None
    return tuple(flags)


def _of_deed(clause: str) -> _About | None:
    """The command that a verb tells: "don't force push", "I committed with --no-verify"."""
    for verb, commands in topic(Warned).deeds.items():
        if re.search(rf"(?<![\w-])(?:{verb})(?![\w-])", clause, re.I):
            program, name, *flags = commands[0].split()
            flags += _flags_of(clause.split(), ())
            if flags:
                return _About(command=f"{program} {name}", words=tuple(flags))
    return None


def _of_naming(clause: str) -> _About | None:
    """The command that a clause names somewhere, without marks: "after a rebase cargo build dies"."""
    words, known = [each.lstrip("(\"'").rstrip(f"{_TRAILING})\"'") for each in clause.split()], programs()
    for at, word in enumerate(words):
        program = program_name(word[:1].lower() + word[1:]) if word else ""
        rest = words[at + 1 : at + MOST_WORDS]
        behind = list(takewhile(lambda each: _PLAIN.fullmatch(each) and not _stops(each), rest))
        flags, several = _flags_of(words, [program, *behind]), known.has_subcommands(program)
        plainly = word[:1] == program[:1] or word[:1] in "./"
        if plainly and behind and (several or program in known.tasks):
            if behind[0].startswith("-") or topic(Words).articles.intersection(behind[:1]):
                continue
            about = _of_command(" ".join(_command_of([program, *behind], several=True)))
            return about and _About(command=about.command, words=flags)
        alone = program not in _EVERYDAY and program in known.files | known.tasks
        before = words[at - 1] if at else ""
        through = before in topic(Words).articles or _THROUGH.search(before) is not None
        shown = through or bool(flags) or not plainly
        if ((alone and shown) or (flags and several)) and _is_told_of(program):
            return _About(command=program, words=flags)
    return None


def _is_told_of(program: str) -> bool:
    known = programs()
    return program not in known.looks_only | known.filters | known.sources | known.moves | known.shells


def _command_of(words: Sequence[str], *, several: bool) -> Sequence[str]:
    """The words of a command that name it: its program, and what it does."""
    plain = [each for each in words if not each.startswith("-")]
    if not several:
        return plain[:1]
    of_three = len(name_of(plain[:3]).name.split()) > 2 and program_name(plain[0]) not in programs().tasks
    return plain[: 3 if of_three else 2]


def _is_known(program: str) -> bool:
    """Whether a word is the name of a program or a script, and hardly anything else."""
    known = programs()
    lists = (
        known.files,
        known.folders,
        known.shells,
        known.commands,
        known.options,
        known.wrappers,
        known.own_commands,
    )
    return bool(_SCRIPT.fullmatch(program)) or any(program in each for each in lists)


def _of_place(clause: str) -> _About | None:
    """The file or folder that a clause names without marks, where something is said of changing it."""
    if _MARKED.search(clause) or not (_BANS.search(clause) or _CHANGES.search(clause) or _INSTEAD.search(clause)):
        return None
    named = (each.strip(f"{_TRAILING}()") for each in clause.split())
    return next((about for each in named if (about := _of_path(each)) is not None), None)


def _of_order(clause: str) -> _About | None:
    """The command for which an order holds: “always pass --context to kubectl apply”."""
    words = _BRACKETS.sub(" ", clause).split()
    for at in range(1, len(words) - 1):
        known = programs().has_subcommands(words[at]) and not _ENDS.search(words[at + 1])
        if known and _PLAIN.fullmatch(words[at + 1].rstrip(_TRAILING)):
            about = _of_command(" ".join(_command_of([each.rstrip(_TRAILING) for each in words[at:]], several=True)))
            ahead = _AHEAD_OF.search(f"{clause[: clause.find(f' {words[at]} ')]} ")
            return about and _About(command=about.command, before=ahead[1] if ahead else "")
    runner = next((each for each in words[1:] if each.rstrip(_TRAILING) in programs().options), "")
    return _of_command(runner.rstrip(_TRAILING)) if runner and _FLAG.search(clause) else None


def _of_command(text: str) -> _About | None:
    step = main_step(text) or next(iter(shell_steps(text)), None)
    if step is None or not step.name or not step.words or _SET.fullmatch(text):
        return None
    program = step.words[0]
    alone = len(step.words) == 1
    if not _PROGRAM.fullmatch(program) or (alone and _PATH.fullmatch(text) and not _SCRIPT.fullmatch(text)):
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
    return _About(command=step.name, words=tuple(words), path=_as_place(path))


def _as_place(path: str) -> str:
    """A path, of a folder with a slash behind it."""
    return f"{path.rstrip('/')}/" if path and "." not in path.rsplit("/", 1)[-1] else path


def _of_path(text: str) -> _About | None:
    return _About(path=_as_place(text.removeprefix("./"))) if _PATH.fullmatch(text) else None


def _with_way_out(clauses: Sequence[str], at: int, about: _About, text: str) -> ToldFailure:
    failing = clauses[at]
    others = [each for place, each in enumerate(clauses) if place != at]
    forbidden = bool(_BANS.search(failing))
    way = _first_of(about.before) or (failing if about.replaced else "")
    if not way:
        way = next((each for each in others if _adds_to(each, failing, about) or _RIGHT.search(each)), "")
        telling = [each for each in others if _ACTS.search(each) and not _FORBIDS.search(each)]
        way = way or next((each for each in telling if not _FAILS.search(each)), "") or next(iter(telling), "")
        telling = [each for each in others if not _REASON.search(each)]
        way = way or next((each for each in telling if _INSTEAD.search(each)), "")
        way = way or next((each for each in telling if _MARKED.search(each) or _FLAG.search(each)), "")
        way = way or _with_what_lacks(failing)
        # In any language: what stands behind a colon, if it is no reason.
        behind = "" if _is_label(failing) or at + 1 >= len(clauses) else clauses[at + 1]
        way = way or ("" if forbidden or _REASON.search(behind) or _BANS.search(behind) else behind)
    # "Activate it first: source venv/bin/activate" is told whole.
    more = next((each for each in others if way and f"{way}: {each}" in text), "")
    if not more and way:
        more = next((each for each in others if f"{way}, {each}" in text and _ACTS.search(each)), "")
    why = next(
        (each for each in others if each not in (way, more) and not _ACTS.search(each) and not _is_label(each)), ""
    )
    said = _of_trap(about) if about.before or about.replaced else failing
    return ToldFailure(
        said=said,
        command=about.command,
        words=about.words,
        path=about.path,
        unless=_unless(f"{way} {more}", failing, others, about),
        way_out=f"{way}{':' if f'{way}: {more}' in text else ','} {more}" if more else way,
        why=why,
        forbidden=forbidden,
        limits=tuple(_limits(failing, others, at, about)) if about.command else (),
    )


def _adds_to(clause: str, failing: str, about: _About) -> bool:
    """Whether a clause is the same command once more, with a flag that it lacked."""
    same = bool(about.command) and clause.startswith(f"{about.command} ")
    return same and any(each[0] not in failing for each in _FLAG.finditer(clause))


def _limits(failing: str, others: Sequence[str], at: int, about: _About) -> Iterator[str]:
    """Where a failure holds, by what its clause says before it says what goes wrong."""
    wrong = _FAILS.search(failing)
    told = failing[: wrong.start()] if wrong and wrong.start() else failing
    replaced = _OLD.search(told) is not None
    old = (clause for clause in others if replaced and _OLD.search(clause) and not _goes_well(clause))
    named = [told] if replaced and not about.path else []
    words = (word.lstrip("`(").rstrip(f"{_TRAILING}`)") for clause in (*named, *old) for word in clause.split())
    yield from (f"{PLACE}{each}" for each in words if _PATH.fullmatch(each))
    if not about.path:
        beside = (_BESIDE.search(each) for each in (failing, *others[:at]))
        yield from (f"{PLACE}{found[1]}" for found in beside if found)
    branch = _ON_BRANCH.search(told) if about.command.startswith("git ") else None
    if branch:
        yield f"{BRANCH}{branch[1]}"
    for each in _WHERE.finditer(told):
        if each["environment"]:
            yield f"{ENVIRONMENT}{ENVIRONMENTS[each['environment'].lower()]}"
        elif not (about.path or branch):
            yield f"{PLACE}{each['place']}"
    folder = _IN_FOLDER.search(told)
    within = (
        word for each in (told, *others) for word in each.split() if folder and _is_within(word, folder[1].rstrip("/"))
    )
    yield from (f"{PLACE}{each}" for each in islice(within, 1))
    if about.on:
        yield f"{OBJECT}{about.on}"
    if _TOGETHER.search(told):
        yield TOGETHER
    if _ROOT.search(told):
        yield ROOT
    elif _WHOLE.search(told) or _EVERYTHING.search(told) or any(_names_more(each, about) for each in others):
        yield f"{WHOLE}:{about.command}"
    program = about.command.split()[0]
    if program in _TALKS:
        hosts = [each for clause in (failing, *others[:at]) for how in (_URL, _HOST) for each in how.findall(clause)]
        hosts = [each for each in hosts if each.rsplit(".", 1)[-1] not in _ENDINGS]
        hosts += [each[1] for each in _ON_HOST.finditer(told) if program in _LOGS_IN and not _ENDS.search(each[1])]
        yield from (f"{HOST}{each}" for each in hosts[:1])
    if program in _COPIES and (bucket := _ON_NAME.search(told)):
        yield f"{OBJECT}{bucket[1]}"


_LOGS_IN = frozenset("psql mysql redis-cli mongosh ssh".split())
_ENDINGS = frozenset("sql json yml yaml toml sh py js ts txt csv md xml html gz log lock conf cfg ini env".split())
"""Of names that are files, and no hosts."""
_COPIES = frozenset("aws gsutil gcloud rsync scp".split())
"""Programs that are given a place elsewhere."""
_TALKS = _LOGS_IN | {"curl", "wget", "http", "https"}
"""Programs that are given a host."""


def _names_more(clause: str, about: _About) -> bool:
    """Whether a clause tells the same command with a thing that it is about, where the failing one has none."""
    if about.path or " " not in about.command or any(not each.startswith("-") for each in about.words):
        return False
    read = [_of_command(found[1]) for found in _MARKED.finditer(clause)]
    same = [each for each in read if each is not None and each.command == about.command]
    return any(each.path or any(not word.startswith("-") and "=" not in word for word in each.words) for each in same)


def _is_within(path: str, name: str) -> bool:
    return "/" in path and name in path.strip(f"{_TRAILING}`()").split("/")


def _first_of(before: str) -> str:
    return before and (before if _INSTEAD.search(before) else f"{before} first")


def _of_trap(about: _About) -> str:
    named = " ".join((about.command, *about.words)).strip()
    return f"`{named or about.path}` fails"


def _with_what_lacks(clause: str) -> str:
    """Of what fails "without the VPN": "with the VPN"; empty where nothing is said to lack."""
    for word, instead in topic(Warned).lacks.items():
        found = re.search(rf"(?<!\w){re.escape(word)}\s+(.{{2,120}})$", clause, re.I)
        words = found[1].split() if found else []
        # What is done without asking lacks nothing.
        if words and not words[0].endswith("ing"):
            ends = next((n for n, each in enumerate(words) if n and _ENDS.search(each)), len(words))
            ends = 1 if _FLAG.fullmatch(words[0]) else ends
            return f"{instead[0]} {' '.join(words[:ends])}"
    return ""


def _is_label(clause: str) -> bool:
    """Whether a clause only heads what follows: "Learned today"."""
    return len(clause.split()) <= _LABEL


def _unless(way: str, failing: str, others: Sequence[str], about: _About) -> tuple[str, ...]:
    """The commands, flags and variables with which a call steps into nothing: of the way out, and named elsewhere."""
    have = {*about.command.split(), *" ".join(about.words).split()}
    orders = [each for each in others if _ACTS.search(each) or each[:1] == "-" or len(each.split()) <= _LABEL]
    bare = _QUOTED.sub("", " ".join((way, *(each for each in orders if not _FORBIDS.search(each)))))
    # Of a flag with its value in marks the value counts: `-n 1`.
    plain = _MARKED.sub(lambda found: "" if found[1].startswith("-") and " " in found[1] else found[0], bare)
    news = [each[0] for how in (_FLAG_SET, _VARIABLE) for each in how.finditer(plain) if each[0] not in have]
    # What the call has anyway: `-fd` in `-fdx`.
    mine = "".join(each for each in have if _SHORT.fullmatch(each))
    news = [each for each in news if not (_SHORT.fullmatch(each) and set(each) <= set(mine))]
    # What stands behind another command is its own.
    other = _of_naming(way)
    if other is not None and other.command != about.command:
        behind = _FLAG.findall(way[way.find(other.command.split()[0]) :])
        news = [each for each in news if each not in behind]
    program = next(iter(about.command.split()), " ")
    ways = [each.rstrip(_TRAILING) for each in bare.split() if "/" in each]
    ways = [each for each in ways if _SCRIPT.fullmatch(each) or each.endswith(f"/{program}")]
    ways = [each for each in ways if each not in failing]
    ways += [each for each in _HOST.findall(bare) if each not in failing]
    for each in (found[1].strip() for clause in (failing, *others) for found in _MARKED.finditer(clause)):
        read = _of_command(each)
        if each.startswith("-") and " " in each and each not in failing:
            ways.append(each)
        same = read is not None and read.command == about.command
        # The failing call itself is named beside its way out; one that only adds to it is known by what it adds.
        told = read is None or " " in each or _is_known(each) or each in way
        if told and (not same or (read is not None and read.words != about.words and not news)):
            ways.append(each)
    fine = (word for clause in others if _FINE.search(clause) for word in clause.split())
    ways += [_as_place(each) for each in fine if "/" in each and _PLAIN.fullmatch(each)]
    ways += [each[0][1:-1] for each in _BRACKETS.finditer(way) if (read := _of_command(each[0][1:-1])) and read.path]
    for clause in others:
        said = _OPENS.sub("", clause, count=1).split()
        words = list(takewhile(lambda each: _PLAIN.fullmatch(each) and not _stops(each), said))[:MOST_WORDS]
        read = _of_command(" ".join(words)) if len(words) > 1 and _acts_by(program_name(words[0])) else None
        if read is not None and read.command != about.command and not words[1].isupper():
            ways.append(" ".join(words[:2]))
    return tuple(each for each in dict.fromkeys((*ways, *news)) if each != about.path and each not in have)


def _acts_by(program: str) -> bool:
    known = programs()
    return known.has_subcommands(program) or program in known.tasks | known.shells | {"source", "cd"}


def _small(text: str) -> str:
    """A clause as it stands within a sentence: what it orders or forbids begins it."""
    return f"{text[:1].lower()}{text[1:]}" if _ACTS.search(text) or _BANS.search(text) else text
