"""Finds the call that a reported failure is about: its command or file, in the clause that says what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from ireneo.language.files import either, topic
from ireneo.language.topics import Warned, Words
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.naming import name_of, program_name, programs
from ireneo.patterns import lazy_re

_SAYS = topic(Warned)

MOST_WORDS = 5
"""Most words of a command without backticks."""

BRACKETS = lazy_re(r"\([^()]{1,300}\)")
MARKED = lazy_re(r"`([^`\n]{1,200})`")
FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*+(?:=[\w./:-]+)?")
SHORT = lazy_re(r"-[A-Za-z]{2,4}")
FLAG_SET = lazy_re(lambda: rf"{FLAG.pattern}(?:\s+\d+\b)?")
PATH = lazy_re(r"(?:[\w.@-]*/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{0,5}|\.[a-z][\w-]*(?:\.[a-z][\w-]*)*")
SCRIPT = lazy_re(r"\./[\w-][\w./-]*|[\w./~-]*\.(?:sh|bash|py|js|mjs|ts|rb|pl|php|ps1|bat)")
HOSTNAME = lazy_re(r"(?<![\w./-])[a-z][\w-]*(?:\.[a-z][\w-]+)+(?![\w./-])")
PLAIN = lazy_re(r"[\w./:=@+-]+")
_BEFORE_IT = lazy_re(r"^[ ,;:!–—]*(?:\.(?![\w/])[ ,;:.!–—]*)?")
TRAILING = " ,;:.!–—-"
EVERYTHING = lazy_re(r"(?<![^\s])(?:\.|\./|(?:\./|//)\.\.\.|\*)(?=[\s`]|$)")
# A colon or full stop inside a name doesn't end a clause; a comma only does before what is to be done.
_SEPARATES = lazy_re(
    lambda: (
        rf"[;—–→]|\s[-=]>\s|\s=\s|:(?=\s)|(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!\.\.)(?:(?<!\s)|(?<=[/)!?]\s))[.!?](?=\s|$)|\s-\s|,(?=\s(?:{row_of('joins')}|{row_of('acts')}|{row_of('bans')}|{row_of('right')}|{row_of('since')})(?!\w))"
        rf"|(?=\s(?:{row_of('always')})\s+(?:{row_of('acts')})(?!\w))"
    ),
    re.I,
)
_JOINED = lazy_re(lambda: rf"^(?:{row_of('joins')}),?\s+", re.I)
FORBIDS = lazy_re(lambda: rf"^\w+\s+(?:{row_of('bans')}|no)(?!\w)", re.I)
OPENS = lazy_re(lambda: rf"^(?:(?:{row_of('bans')})\s+)?(?:(?:{row_of('runs')})\s+)?", re.I)


def row_of(name: str) -> str:
    """A pattern for the words of one row of the data, in all languages."""
    return either(getattr(_SAYS, name))


def clauses_of(text: str) -> Iterator[str]:
    """The clauses of a text, without conjunctions; text in backticks or brackets is not split."""
    start, hidden = 0, [each.span() for how in (MARKED, BRACKETS) for each in how.finditer(text)]
    for each in _SEPARATES.finditer(text):
        # After a colon may be what works: "one worker is fine: `pytest -n 1`".
        names = each[0] == ":" and goes_well(text[start : each.start()])
        if not names and not any(first < each.start() < last for first, last in hidden):
            yield from _bare(text[start : each.start()])
            start = each.end()
    yield from _bare(text[start:])


def _bare(clause: str) -> Iterator[str]:
    whole = bool(EVERYTHING.search(clause.rstrip()[-2:]))
    told = _JOINED.sub("", _BEFORE_IT.sub("", clause if whole else clause.rstrip(TRAILING), count=1))
    if told:
        yield told


def goes_wrong(clause: str) -> bool:
    """Whether a clause says that something fails, or must not be done."""
    return bool(_SAYS.fails.search(clause) or _SAYS.bans.search(clause))


def goes_well(clause: str) -> bool:
    """Whether a clause says that what it names is the right way, or harmless."""
    return bool(_SAYS.right.search(clause)) or (bool(_SAYS.fine.search(clause)) and not goes_wrong(clause))


def stops(word: str) -> bool:
    """Whether a word can't be part of a command without backticks."""
    return _SAYS.ends.search(word) is not None or _SAYS.fails.fullmatch(word) is not None


_WITH = ("with", "using", "mit", "avec", "con")
_EVERYDAY = frozenset(
    "code open set source time date test file top host type which help history read local patch split convert install "
    "strip script parallel clear reset black factor tidy command join wait air node dot fish dash more less watchman "
    "strings export entr at cut crontab groups exit return alias env man info hash mount sync touch import exec just "
    "task make invoke ant doit poe port screen pod pants snap gem fly console coverage flux cast stack lake "
    "next expo".split()
)
"""Programs whose names are everyday words."""
_ALSO_WORDS = frozenset("just task invoke ant doit".split())
"""Task runners whose names are everyday words."""
OF_OBJECTS = frozenset("systemctl service kubectl oc docker podman helm pm2 supervisorctl".split())
_OF_PACKAGES = frozenset("npm pnpm yarn bun pip pip3 poetry uv cargo go gem brew apt apt-get dnf composer".split())
"""Programs whose subcommands may be followed by a package."""
"""Programs whose subcommands are mostly followed by an object."""
_OF_KINDS = frozenset(("kubectl", "oc"))
"""Those whose subcommands name the kind of the object first."""
_WRITES_WITH = {"sed": "-i", "perl": "-i", "rm": "-rf"}
"""Programs that change files if they are given this flag."""
_SET = lazy_re(r"[A-Z][A-Z0-9_]*=\S+")
_PROGRAM = lazy_re(r"(?=[a-z0-9./~])[\w./~-]+")
_OPEN = lazy_re(r"[<>$…*]|\.\.\.")
_UNTOUCHED = lazy_re(lambda: rf"(?<!\w)(?:{row_of('untouched')})\s+(?:{row_of('changes')})(?!\w)", re.I)
_NAMES = lazy_re(lambda: rf"\s+(?:{row_of('named')})(?![\w-])", re.I)
_IN_PLACE_OF = lazy_re(lambda: rf"(?<!\w)(?:{row_of('in_place_of')})\s+(?:(?:{row_of('runs')})\s+)?$", re.I)
_AHEAD_OF = lazy_re(
    lambda: (
        rf"^(.{{1,300}}?),?\s+(?:{row_of('ahead_of')})\s+(?:(?:{row_of('the')})\s+)?"
        rf"(?:(?:{row_of('runs')})\s+)?$"
    ),
    re.I,
)
_RUN = lazy_re(lambda: rf"^(?:(?:{row_of('bans')})\s+)?(?:{row_of('runs')})\s", re.I)
_THROUGH = lazy_re(lambda: rf"^(?:{row_of('through')}|{row_of('runs')})$", re.I)


class ToldCall(Struct, frozen=True, kw_only=True):
    """The call that a clause is about."""

    command: str = ""
    words: tuple[str, ...] = ()
    path: str = ""
    before: str = ""
    """What must be done before it, according to the clause."""
    on: str = ""
    """The object of the command, for programs that always name one."""
    replaced: bool = False
    """Whether the clause says what to do in its place."""


def failing_call(clauses: Sequence[str]) -> tuple[int, ToldCall | None]:
    """The clause that says what fails, and the call that it is about.

    A ban comes first ("never a bare `make`"). What a clause orders is the way out; if there is nothing else, the trap
    is the same command without it.
    """
    changes = any(map(_SAYS.changes.search, clauses))
    if any(map(_UNTOUCHED.search, clauses)):
        places = ((at, _folder_in(clause)) for at, clause in enumerate(clauses))
        untouched = next(((at, about) for at, about in places if about is not None), None)
        if untouched is not None:
            return untouched
    for at, clause in enumerate(clauses):
        about = _of_marks(clause, changes=False) if at and _SAYS.bans.search(clause) else None
        if about is not None and about.command:
            return at, about
    ways: tuple[Callable[[str], ToldCall | None], ...] = (
        # "`make db` first" and "use pnpm install" are ways out, unless there is nothing else.
        lambda clause: None if _helps(clause) else _called(clause, changes),
        lambda clause: _in_words(clause) if goes_wrong(clause) else None,
        lambda clause: None if goes_well(clause) else _called(clause, changes),
        lambda clause: _of_opening(clause, changes, sure=False),
        lambda clause: None if goes_well(clause) or _SAYS.acts.search(clause) else of_naming(clause),
        _ordered,
        lambda clause: _of_deed(clause) or _replaced(clause) or _called(clause, changes),
        lambda clause: _folder_in(clause) if changes else None,
    )
    found = ((at, way(clause)) for way in ways for at, clause in enumerate(clauses))
    return next(((at, about) for at, about in found if about is not None), (0, None))


def _helps(clause: str) -> bool:
    ordered = _SAYS.instead.search(clause) or _SAYS.acts.search(clause)
    return goes_well(clause) or (bool(ordered) and not goes_wrong(clause))


def _called(clause: str, changes: bool) -> ToldCall | None:
    about = _of_opening(clause, changes, sure=True)
    return about or (_of_place(clause) if changes else None) or _of_marks(clause, changes)


def _in_words(clause: str) -> ToldCall | None:
    return _of_deed(clause) or (None if _SAYS.acts.search(clause) else of_naming(clause))


def _ordered(clause: str) -> ToldCall | None:
    """The command of an order to do something with it, or before it: the command is the trap."""
    if not (_SAYS.acts.search(clause) or goes_well(clause)):
        return None
    marked = MARKED.search(clause)
    named = marked is not None and (" " in marked[1] or is_program(marked[1]))
    ordered = _of_order(clause)
    about = None if ordered and ordered.before else call_of_command(marked[1]) if marked and named else None
    about = about or ordered
    return about and ToldCall(command=about.command, before=about.before, replaced=not about.before)


def _replaced(clause: str) -> ToldCall | None:
    """The command that a clause names; if the clause gives an order, the trap is the command without following it."""
    about = of_naming(clause)
    return ToldCall(command=about.command, replaced=True) if about is not None and _SAYS.acts.search(clause) else about


def _of_marks(clause: str, changes: bool) -> ToldCall | None:
    """The call in the backticks of a clause; in an order, the call that is replaced or must come later."""
    if goes_well(clause):
        return None
    orders = bool(_SAYS.acts.search(clause))
    for each in MARKED.finditer(clause):
        about = (changes and _of_path(each[1])) or call_of_command(each[1]) or _of_path(each[1])
        # "The `test` service" names no command.
        if about is None or (each[1].isalpha() and _NAMES.match(clause[each.end() :])):
            continue
        ahead = _AHEAD_OF.search(clause[: each.start()]) if orders else None
        replaced = orders and bool(_IN_PLACE_OF.search(clause[: each.start()]))
        if ahead or replaced or not orders:
            before = ahead[1] if ahead else ""
            return ToldCall(command=about.command, words=about.words, path=about.path, before=before, replaced=replaced)
    return None


def _of_opening(clause: str, changes: bool, *, sure: bool) -> ToldCall | None:
    """The command or file at the beginning of a clause, without backticks, up to a word that isn't part of it.

    With `sure` its program must be known; otherwise the clause must say that it failed or was run.
    """
    bare = OPENS.sub("", clause, count=1)
    said = bare.split()
    words = list(takewhile(lambda each: PLAIN.fullmatch(each) and not stops(each), said))[:MOST_WORDS]
    if not words:
        return None
    acts = (
        len(said) > 1
        and bool(SCRIPT.fullmatch(words[0]))
        and bool(_SAYS.changes.fullmatch(said[1]) or _RUN.search(clause))
    )
    if changes and not acts and (about := _of_path(words[0])) is not None:
        return about
    known, program = programs(), words[0]
    writes = program in _WRITES_WITH and _WRITES_WITH[program] in said
    looks = known.looks_only | known.filters | known.sources | known.moves
    if (program in looks and not writes) or not _PROGRAM.fullmatch(program):
        return None
    several = known.has_subcommands(program_name(program)) or program_name(program) in known.tasks
    if sure and not (several or is_program(program)):
        return None
    if not several and program in _EVERYDAY and not _flags_of(said, words):
        return None
    if not sure and not _RUN.search(clause) and (_SAYS.bans.search(clause) or not _SAYS.fails.search(clause)):
        return None
    if not sure and program in topic(Words).stop:
        return None
    ends = len(words) < len(said) and not topic(Words).articles.intersection(said[len(words) : len(words) + 1])
    # "make deploy hangs" is about a command; "make it work" and "trust the docs" are orders.
    alone = several and len(words) == 1 and not (ends and program in known.tasks - _EVERYDAY)
    if alone or (not several and (_SAYS.acts.search(clause) or not (ends or is_program(program)))):
        return None
    about = call_of_command(" ".join(_command_of(words, several=several)))
    host = HOSTNAME.search(clause) if not several else None
    named = (*_flags_of(said, words), *((host[0],) if host and program not in host[0] else ()))
    # "npm install sharp fails", but not "pip install straight into the system".
    fails = bool(said[len(words) : len(words) + 1]) and _SAYS.fails.search(said[len(words)]) is not None
    package = program in _OF_PACKAGES and (fails or len(words) == len(said))
    behind = words[len(about.command.split()) :] if about and (program in OF_OBJECTS or package) else []
    things = list(takewhile(lambda each: not each.startswith("-"), behind))[: 1 + (program in _OF_KINDS)]
    on = next(reversed(things), "")
    return about and ToldCall(command=about.command, words=named, on=on)


def _flags_of(said: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """The flags of a command without backticks: among its `words`, or after "with"; with their numbers.

    It is unclear where the other arguments end, so the trap doesn't require them.
    """
    flags: dict[str, None] = {}
    for before, one, two in zip(("", *said), said, (*said[1:], ""), strict=False):
        bare = one.strip("(),.")
        bare = bare.partition("=")[0] if one.endswith(("...", "…")) else bare
        if FLAG.fullmatch(bare) and (one in words or before in _WITH or one == f"({bare})"):
            flags[f"{bare} {two}" if two.isdigit() else bare] = None
    return tuple(flags)


def _of_deed(clause: str) -> ToldCall | None:
    """The command that a verb means: "don't force push", "I committed with --no-verify"."""
    for verb, commands in _SAYS.deeds.items():
        if re.search(rf"(?<![\w-])(?:{verb})(?![\w-])", clause, re.I):
            program, name, *flags = commands[0].split()
            flags += _flags_of(clause.split(), ())
            if flags:
                return ToldCall(command=f"{program} {name}", words=tuple(flags))
    return None


def of_naming(clause: str) -> ToldCall | None:
    """The command that a clause names somewhere, without backticks: "after a rebase cargo build dies"."""
    words, known = [each.lstrip("(\"'").rstrip(f"{TRAILING})\"'") for each in clause.split()], programs()
    for at, word in enumerate(words):
        program = program_name(word[:1].lower() + word[1:]) if word else ""
        rest = words[at + 1 : at + MOST_WORDS]
        behind = list(takewhile(lambda each: PLAIN.fullmatch(each) and not stops(each), rest))
        flags = _flags_of(words, [program, *behind])
        several = known.has_subcommands(program) and program not in _EVERYDAY
        several |= program in known.tasks and program not in _ALSO_WORDS
        plainly = word[:1] == program[:1] or word[:1] in "./"
        if plainly and behind and several:
            if behind[0].startswith("-") or topic(Words).articles.intersection(behind[:1]):
                continue
            about = call_of_command(" ".join(_command_of([program, *behind], several=True)))
            return about and ToldCall(command=about.command, words=flags)
        alone = program not in _EVERYDAY and program in known.files | known.tasks
        before = words[max(0, at - 2) : at]
        through = any(each in topic(Words).articles for each in before) or any(map(_THROUGH.search, before[-1:]))
        shown = through or bool(flags) or not plainly
        if ((alone and shown) or (flags and known.has_subcommands(program))) and _is_told_of(program):
            return ToldCall(command=program, words=flags)
    return None


def _is_told_of(program: str) -> bool:
    known = programs()
    return program not in known.looks_only | known.filters | known.sources | known.moves | known.shells


def _command_of(words: Sequence[str], *, several: bool) -> Sequence[str]:
    """The words of a command that identify it: its program, and the subcommand."""
    plain = [each for each in words if not each.startswith("-")]
    if not several:
        return plain[:1]
    if any(each.startswith("-") for each in words[:3]):
        # The words after a flag may belong to the sentence.
        return plain[:2]
    of_three = len(name_of(plain[:3]).name.split()) > 2 and program_name(plain[0]) not in programs().tasks
    return plain[: 3 if of_three else 2]


def is_program(program: str) -> bool:
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
    return bool(SCRIPT.fullmatch(program)) or any(program in each for each in lists)


def _of_place(clause: str) -> ToldCall | None:
    """The file or folder that a clause about changes names without backticks."""
    if not (_SAYS.bans.search(clause) or _SAYS.changes.search(clause) or _SAYS.instead.search(clause)):
        return None
    marked = MARKED.search(clause)
    bare = clause[: marked.start()] if marked else clause
    if marked and not _SAYS.bans.search(bare):
        return None
    named = (each.lstrip(" ,;:(").rstrip(f"{TRAILING})") for each in bare.split())
    found = [about for each in named if (about := _of_path(each)) is not None]
    return next((each for each in found if "/" in each.path), found[0] if found else None)


def _folder_in(clause: str) -> ToldCall | None:
    """The folder that a clause names: "everything in db/rows is old. Changing it breaks …"."""
    words = (each.strip("(),.;`") for each in clause.split())
    return next((ToldCall(path=as_place(each)) for each in words if "/" in each and PATH.fullmatch(each)), None)


def _of_order(clause: str) -> ToldCall | None:
    """The command that an order is about: “always pass --context to kubectl apply”."""
    words = BRACKETS.sub(" ", clause).split()
    for at in range(1, len(words) - 1):
        known = programs().has_subcommands(words[at]) and not _SAYS.ends.search(words[at + 1])
        if known and PLAIN.fullmatch(words[at + 1].rstrip(TRAILING)):
            about = call_of_command(" ".join(_command_of([each.rstrip(TRAILING) for each in words[at:]], several=True)))
            ahead = _AHEAD_OF.search(f"{clause[: clause.find(f' {words[at]} ')]} ")
            return about and ToldCall(command=about.command, before=ahead[1] if ahead else "")
    runner = next((each for each in words[1:] if each.rstrip(TRAILING) in programs().options), "")
    return call_of_command(runner.rstrip(TRAILING)) if runner and FLAG.search(clause) else None


def call_of_command(text: str) -> ToldCall | None:
    """The call of a command line, if it contains a command."""
    step = main_step(text) or next(iter(shell_steps(text)), None)
    if step is None or not step.name or not step.words or _SET.fullmatch(text):
        return None
    program = step.words[0]
    alone = len(step.words) == 1
    if not _PROGRAM.fullmatch(program) or (alone and PATH.fullmatch(text) and not SCRIPT.fullmatch(text)):
        return None
    rest = list(step.words[1:])
    if programs().has_subcommands(program_name(program)):
        # A subcommand may be written in another way: `npm i`.
        at = next((at for at, each in enumerate(rest) if not each.startswith("-")), len(rest))
        rest = [*rest[:at], *rest[at + 1 :]]
    named = step.name.split()
    rest = [each for each in rest if each.rsplit("/", 1)[-1] not in named and not _OPEN.search(each)]
    # The expressions of `sed` look like paths.
    rest = [each for each in rest if not each.startswith(("s/", "y/"))]
    path = next((each for each in rest if "/" in each and not each.startswith("-")), "")
    words: list[str] = []
    for each in rest:
        if each == "auto" and words and words[-1].startswith("-"):
            # As many workers as processors, or another number.
            continue
        if words and words[-1].startswith("-") and " " not in words[-1] and not each.startswith("-") and each != path:
            words[-1] = f"{words[-1]} {each}"
        elif each != path:
            words.append(each)
    return ToldCall(command=step.name, words=tuple(words), path=as_place(path))


def as_place(path: str) -> str:
    """Return a path; that of a folder gets a slash at its end."""
    return f"{path.rstrip('/')}/" if path and "." not in path.rsplit("/", 1)[-1] else path


def _of_path(text: str) -> ToldCall | None:
    return (
        ToldCall(path=as_place(text.removeprefix("./"))) if PATH.fullmatch(text) and len(text.strip("./")) > 1 else None
    )
