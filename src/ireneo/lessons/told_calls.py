"""Finds the call that a reported failure is about: its command or file, in the clause that says what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from ireneo.language.files import any_of, topic
from ireneo.language.topics import Warned, Words
from ireneo.lessons.commands import main_step, shell_steps
from ireneo.lessons.naming import name_of, program_name, programs
from ireneo.patterns import lazy_re

_SAYS = topic(Warned)

MOST_WORDS = 5
"""The maximum number of words of a command without backticks."""

BRACKETS = lazy_re(r"\([^()]{1,300}\)")
MARKED = lazy_re(r"`([^`\n]{1,200})`")
FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*+(?:=[\w./:-]+)?")
SHORT = lazy_re(r"-[A-Za-z]{2,4}")
FLAG_SET = lazy_re(lambda: rf"{FLAG.pattern}(?:\s+\d+\b)?")
PATH = lazy_re(r"(?:[\w.@-]*/)+[\w.@-]*|[\w-]+\.[A-Za-z]\w{0,5}|\.[a-z][a-z\d_-]*(?:\.[a-z][\w-]*)*")
SCRIPT = lazy_re(r"\./[\w-][\w./-]*|[\w./~-]*\.(?:sh|bash|py|js|mjs|ts|rb|pl|php|ps1|bat)")
HOSTNAME = lazy_re(r"(?<![\w./-])[a-z][\w-]*(?:\.[a-z][\w-]+)+(?![\w./-])")
PLAIN = lazy_re(r"[\w./:=@+-]+")
_BEFORE_IT = lazy_re(r"^[ ,;:!–—]*(?:\.(?![\w/])[ ,;:.!–—]*)?")
TRAILING = " ,;:.!–—-"
EVERY_FILE = lazy_re(r"(?<![^\s])(?:\.|\./|(?:\./|//)\.\.\.|\*)(?=[\s`]|$)")
# A colon or full stop inside a name doesn't end a clause; a comma only does before what is to be done.
_SEPARATES = lazy_re(
    lambda: (
        rf"[;—–→]|\s[-=]>\s|\s=\s|:(?=\s)|(?<!e\.g)(?<!i\.e)(?<!z\.B)(?<!\.\.)(?:(?<!\s)|(?<=[/)!?]\s))[.!?](?=\s|$)|\s-\s|,(?=\s(?:{pattern_row('joins')}|{pattern_row('acts')}|{pattern_row('bans')}|{pattern_row('right')}|{pattern_row('since')})(?!\w))"
        rf"|(?=\s(?:{pattern_row('always')})\s+(?:{pattern_row('acts')})(?!\w))"
    ),
    re.I,
)
FORBIDS = lazy_re(lambda: rf"^\w+\s+(?:{pattern_row('bans')}|no)(?!\w)", re.I)
OPENS = lazy_re(lambda: rf"^(?:(?:{pattern_row('bans')})\s+)?(?:(?:{pattern_row('runs')})\s+)?", re.I)


def pattern_row(name: str) -> str:
    """A pattern for the words of one row of the data, in all languages."""
    return any_of(getattr(_SAYS, name))


def split_clauses(text: str) -> Iterator[str]:
    """The clauses of a text, without conjunctions; text in backticks or brackets is not split."""
    start, hidden = 0, [each.span() for how in (MARKED, BRACKETS) for each in how.finditer(text)]
    for each in _SEPARATES.finditer(text):
        if not any(first < each.start() < last for first, last in hidden):
            yield from _strip_clause(text[start : each.start()])
            start = each.end()
    yield from _strip_clause(text[start:])


def _strip_clause(clause: str) -> Iterator[str]:
    whole = bool(EVERY_FILE.search(clause.rstrip()[-2:]))
    told = _SAYS.joins.sub("", _BEFORE_IT.sub("", clause if whole else clause.rstrip(TRAILING), count=1))
    if told:
        yield told


def is_banned(clause: str) -> bool:
    """Whether a clause says that something must not be done: "never …", "we don't …"."""
    return bool(_SAYS.bans.search(clause) or FORBIDS.search(clause))


def reports_failure(clause: str) -> bool:
    """Whether a clause says that something fails, or must not be done."""
    return bool(_SAYS.fails.search(clause) or _SAYS.bans.search(clause))


def ends_command(word: str) -> bool:
    """Whether a word can't be part of a command without backticks."""
    return _SAYS.ends.search(word) is not None or _SAYS.fails.fullmatch(word) is not None


_WITH = ("with", "using", "mit", "avec", "con")
_EVERYDAY = frozenset(
    "code open set source time date test file top host type which help history read local patch split convert install "
    "strip script parallel clear reset black factor tidy command join wait air node dot fish dash more less watchman "
    "strings export entr at cut crontab groups exit return alias env man info hash mount sync timeout touch import "
    "exec just task make invoke ant doit poe port screen pod pants snap gem fly console coverage flux cast stack lake "
    "next expo".split()
)
"""Programs that are words of every text."""
OF_OBJECTS = frozenset("systemctl service kubectl oc docker podman helm pm2 supervisorctl".split())
"""Programs whose subcommands mostly name their object."""
_OF_KINDS = frozenset(("kubectl", "oc"))
"""The programs whose subcommands name the kind of the object first."""
_SET = lazy_re(r"[A-Z][A-Z0-9_]*=\S+")
_PROGRAM = lazy_re(r"(?=[a-z0-9./~])[\w./~-]+")
_VALUE = lazy_re(r"(?!-)[\w=-]+")
"""The value of a flag in front of the program."""
_SPACED = lazy_re(r"\S+")
_BAN_BEFORE = lazy_re(lambda: rf"(?<!\w)(?:{pattern_row('bans')}|no)\s+(?:\S+\s+){{0,2}}$", re.I)
_OPEN = lazy_re(r"[<>$…*]|\.\.\.")
_IN_PLACE_OF = lazy_re(lambda: rf"(?<!\w)(?:{pattern_row('in_place_of')})\s+(?:(?:{pattern_row('runs')})\s+)?$", re.I)
_AHEAD_OF = lazy_re(
    lambda: (
        rf"^(.{{1,300}}?),?\s+(?:{pattern_row('ahead_of')})\s+(?:(?:{pattern_row('the')}|{pattern_row('through')})\s+)?"
        rf"(?:(?:{pattern_row('runs')})\s+)?$"
    ),
    re.I,
)
_THROUGH = lazy_re(lambda: rf"^(?:{pattern_row('through')}|{pattern_row('runs')})$", re.I)


class ReportedCall(Struct, frozen=True, kw_only=True):
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


class NamedCall(Struct, frozen=True, kw_only=True):
    """A call that a text names somewhere."""

    at: int
    """The index of the clause."""
    start: int
    end: int
    call: ReportedCall
    how: str
    """In marks, as a subcommand, a program alone, a script, a path, a verb or a program that nobody knows."""


def failing_call(clauses: Sequence[str]) -> tuple[int, ReportedCall | None]:
    """The index of the clause that says what fails, and the failing call: the likeliest of all that are named.

    If the clause orders something to be done before a call or in its place, that call is the trap; otherwise the trap
    is the same command without the ordered part.
    """
    every = [*named_calls(clauses)]
    # What a clause only mentions in passing need not be what fails.
    told = [
        each
        for each in every
        if each.call.path or _opens_clause(clauses[each.at], each) or _tells_what_to_do(clauses[each.at])
    ]
    likely = [_likelihood(clauses, each, every) for each in told]
    place = max(range(len(told)), key=likely.__getitem__, default=0)
    if not told or likely[place] < LEAST:
        return 0, None
    return told[place].at, failing_variant(clauses[told[place].at], told[place])


def _tells_what_to_do(clause: str) -> bool:
    return reports_failure(clause) or is_banned(clause) or bool(_SAYS.acts.search(clause))


def failing_variant(clause: str, named: NamedCall) -> ReportedCall:
    """The call that fails, derived from the call that a clause names."""
    call, before = named.call, _text_before(clause, named)
    if not _is_order(clause, named):
        return call
    ahead, instead = _AHEAD_OF.search(before), _IN_PLACE_OF.search(before)
    if ahead is not None:
        return replace(call, on="", before=ahead[1])
    path = call.path if instead or not call.command else ""
    return replace(call, on="", words=call.words if instead else (), path=path, replaced=True)


def named_calls(clauses: Sequence[str]) -> Iterator[NamedCall]:
    """Every call that a text names: in marks, by a program or a path without marks, and by a verb."""
    changes = any(map(_SAYS.changes.search, clauses))
    for at, clause in enumerate(clauses):
        marks = [*MARKED.finditer(clause)]
        for each in marks:
            call = (changes and _path_call(each[1])) or call_of_command(each[1]) or _path_call(each[1])
            if call is not None:
                yield NamedCall(at=at, start=each.start(), end=each.end(), call=call, how="marked")
        words = [*_SPACED.finditer(clause)]
        said = [each[0].lstrip("(\"'“").rstrip(f"{TRAILING})\"'”") for each in words]
        for place, each in enumerate(words):
            if said[place] and not any(mark.start() <= each.start() < mark.end() for mark in marks):
                ends = next((n for n in range(place, len(said)) if words[n][0] != said[n]), len(said))
                behind = said[place + 1 : min(ends + 1, place + MOST_WORDS)] if ends > place else []
                for how, call in _unmarked_calls(said, place, behind, clause, changes):
                    yield NamedCall(at=at, start=each.start(), end=each.end(), call=call, how=how)
        yield from _verb_calls(at, clause)


def _unmarked_calls(
    said: Sequence[str], place: int, behind: Sequence[str], clause: str, changes: bool
) -> Iterator[tuple[str, ReportedCall]]:
    """The calls that a word without marks may name, with the words `behind` it that belong to the call."""
    word, known = said[place], programs()
    program = program_name(word[:1].lower() + word[1:]) if word[:1].isalpha() or word[:1] in ".~/" else ""
    behind = list(takewhile(lambda each: PLAIN.fullmatch(each) and not ends_command(each), behind))
    flags = _flags_of(said, [word, *behind])
    several, everyday = known.has_subcommands(program) or program in known.tasks, program in _EVERYDAY
    following = next(iter(said[place + 1 :]), "")
    articles = topic(Words).articles
    if not several and SCRIPT.fullmatch(word) and ("/" in word or word.endswith(".sh")):
        # If the script writes something, it is run; otherwise text about writing means the script's file.
        acts = place == 0 and _SAYS.changes.fullmatch(following)
        if acts or not _SAYS.changes.search(clause):
            yield "script", call_of_command(word) or ReportedCall(path=word)
        elif (path := _path_call(word)) is not None:
            yield "path", path
    elif PATH.fullmatch(word) and (not several or (changes and "/" in word)):
        if changes and (path := _path_call(word)) is not None:
            yield "path", path
    elif several and behind and behind[0] not in articles and behind[0][0] != "-":
        # "make deploy hangs" is about a command; "make sure the door is locked" is an order.
        orders = everyday and not flags and (place or articles.intersection(said[place + 2 : place + 3]))
        if (
            not orders
            and (call := _subcommand_call(program, behind, said[place + len(behind) + 1 :], flags)) is not None
        ):
            yield "subcommand", call
    elif several and not everyday:
        before = said[max(0, place - 2) : place]
        through = articles.intersection(before) or any(map(_THROUGH.search, before[-1:]))
        if (
            flags
            or (through and not _SAYS.acts.search(clause))
            or word[:1] not in (program[:1], ".", "/")
            or (program in known.tasks and not place)
        ):
            yield "program", ReportedCall(command=program, words=flags)
    elif not everyday and is_program(program) and program not in known.folders:
        host = HOSTNAME.search(clause)
        named = (host[0],) if host and program not in host[0] else ()
        # "rm -rf node_modules" is about that folder.
        given = (each for each in behind if each[0] != "-" and (PATH.fullmatch(each) or _MADE_UP.search(each)))
        # A plain word right behind a program is its subcommand: "xcodebuild archive dies".
        plain = next(iter(behind), "")
        plain = plain if _PLAIN_WORD.fullmatch(plain) and not _SAYS.acts.search(clause) else ""
        on = next(given, "") if program in known.looks_only else plain
        yield "alone", ReportedCall(command=program, words=(*flags, *named), on=on)
    elif not place and _PROGRAM.fullmatch(word.lower()) and word not in topic(Words).stop and word.isascii():
        yield from _project_program_call(word, flags, following)


def _subcommand_call(
    program: str, behind: Sequence[str], after: Sequence[str], flags: tuple[str, ...]
) -> ReportedCall | None:
    """The command of a program and its subcommand, with its object if the program always names one."""
    call = call_of_command(" ".join(_command_of([program, *behind])))
    if call is None:
        return None
    objects = behind[len(call.command.split()) - 1 :]
    # "vault kv put replaces …", "npm install sharp fails", but not "make release tags …".
    goes_on = next(iter((*objects[1:], *after)), "")
    told = not goes_on or program in OF_OBJECTS or _INFLECTED.search(goes_on) or _SAYS.fails.search(goes_on)
    things = [*takewhile(lambda each: _VALUE.fullmatch(each) and not _INFLECTED.search(each), objects)] if told else []
    things = things[: 1 + (program in _OF_KINDS)]
    return ReportedCall(command=call.command, words=flags, on=next(reversed(things), ""))


def _project_program_call(word: str, flags: tuple[str, ...], following: str) -> Iterator[tuple[str, ReportedCall]]:
    """A program of the project's own: it has flags, or fails by a name that is not a word."""
    if (flags and not _SAYS.bans.match(word)) or (_MADE_UP.search(word) and _SAYS.fails.search(following)):
        yield "unknown", ReportedCall(command=word, words=flags)


_INFLECTED = lazy_re(r"[^s]s$|(?:ed|ly|ing)$")
_MADE_UP = lazy_re(r"[a-z][A-Z]|[-_\d]")
_PLAIN_WORD = lazy_re(r"[a-z]{3,}")


def _verb_calls(at: int, clause: str) -> Iterator[NamedCall]:
    """The commands expressed by verbs: "don't force push", "I committed with --no-verify"."""
    for verb, commands in _SAYS.verbs.items():
        found = re.search(rf"(?<![\w-])(?:{verb})(?![\w-])", clause, re.I)
        # As an order such a verb is rather what to do: "push to a branch".
        before = clause[: found.start()] if found else ""
        told = _BAN_BEFORE.search(before) or _AHEAD_OF.search(before)
        if found and (told or not _SAYS.acts.fullmatch(found[0])):
            call = call_of_command(commands[0]) or ReportedCall(command=commands[0])
            flags = (*call.words, *_flags_of(clause.split(), clause.split()))
            call = replace(call, words=flags)
            how = "verb with a flag" if flags else "verb"
            yield NamedCall(at=at, start=found.start(), end=found.end(), call=call, how=how)
            return


def _is_order(clause: str, named: NamedCall) -> bool:
    """Whether a clause orders something; "go test -race hangs" and "make -j blew up" only begin like an order."""
    return bool(_SAYS.acts.search(clause)) and not (
        _opens_clause(clause, named) and _SAYS.fails.search(clause[named.end :])
    )


def _opens_clause(clause: str, named: NamedCall) -> bool:
    return OPENS.sub("", clause, count=1).lstrip("`").startswith(clause[named.start : named.end].strip("`"))


def _text_before(clause: str, named: NamedCall) -> str:
    return clause[: named.start].rstrip("`")


def _likelihood(clauses: Sequence[str], named: NamedCall, every: Sequence[NamedCall]) -> float:
    """How likely a call is the failing one; `every` holds all calls that the text names."""
    clause, program = clauses[named.at], next(iter(named.call.command.split()), "")
    before = _text_before(clause, named)
    known = " " in named.call.command or is_program(program) if program else any(map(_SAYS.changes.search, clauses))
    replaced = bool(_AHEAD_OF.search(before) or _IN_PLACE_OF.search(before))
    return (
        3.0 * replaced
        + 2.0 * known
        + 1.0 * all((each.at, each.start) >= (named.at, named.start) for each in every)
        + 1.0 * _opens_clause(clause, named)
        - 1.0 * (named.how == "unknown")
        - 1.0 * (not reports_failure(clause) and any(map(reports_failure, clauses[: named.at])))
        - 2.0
        * (not replaced and _is_order(clause, named) and any(not _SAYS.acts.search(clauses[each.at]) for each in every))
    )


LEAST = 0.5
"""A call of less is hardly ever the one that fails."""


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


def _command_of(words: Sequence[str]) -> Sequence[str]:
    """The words of a command that identify it: its program, and the subcommand."""
    plain = [each for each in words if not each.startswith("-")]
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


def call_of_command(text: str) -> ReportedCall | None:
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
        if words and words[-1].startswith("-") and _VALUE.fullmatch(each):
            words[-1] = f"{words[-1]} {each}"
        elif each != path:
            words.append(each)
    return ReportedCall(command=step.name, words=tuple(words), path=with_folder_slash(path))


def with_folder_slash(path: str) -> str:
    """Return a path; that of a folder gets a slash at its end."""
    return f"{path.rstrip('/')}/" if path and "." not in path.rsplit("/", 1)[-1] else path


def _path_call(text: str) -> ReportedCall | None:
    return (
        ReportedCall(path=with_folder_slash(text.removeprefix("./")))
        if PATH.fullmatch(text) and len(text.strip("./")) > 1
        else None
    )
