"""Makes traps from reported failures: from `remember` or a user's message, not from runs.

Such a memory is a text. It becomes a trap if it names the command or the file that failed. Its other clauses say what
to do instead, why, or where it applies; the last of these comes before what goes wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import claims
from ireneo.language.files import topic
from ireneo.language.topics import Warned, Words
from ireneo.lessons.guard import EVERYTHING, HEED, Trap
from ireneo.lessons.lessons import as_advice_part
from ireneo.lessons.naming import program_name, programs
from ireneo.lessons.run import LOGGED, MODEL, is_ruling
from ireneo.lessons.told_calls import (
    BRACKETS,
    EVERY_FILE,
    FLAG,
    FLAG_SET,
    FORBIDS,
    HOSTNAME,
    MARKED,
    PATH,
    SHORT,
    TRAILING,
    ReportedCall,
    call_of_command,
    failing_call,
    is_banned,
    is_program,
    named_calls,
    pattern_row,
    reports_failure,
    split_clauses,
    with_folder_slash,
)
from ireneo.memories.record import Record, format_month, objections, one_line, supporting
from ireneo.memories.signature import action_of
from ireneo.patterns import lazy_re

_SAYS = topic(Warned)

LONGEST = 1_000
"""How many characters of a text are read."""
_LABEL = 3
"""Up to this many words a clause may be only a heading."""
_TAKEN_BACK = "change: "
"""Prefix of the action of a change that was reverted."""
_JOINED_WORDS = lazy_re(r"(?<![\w./:-])[a-z]++(?:-[a-z]++)++(?![\w./:-])")
"""`xvfb-run`: a word that is hardly in a call by chance."""
_VARIABLE = lazy_re(r"(?<![\w$])[A-Z][A-Z0-9]*_[A-Z0-9_]+(?!\w)|(?<!\w)[A-Z][A-Z0-9]{2,}(?==)")


class ReportedFailure(Struct, frozen=True, kw_only=True):
    """A failure according to a text: the failing calls, the symptom, what to do instead, and why."""

    said: str
    command: str = ""
    words: tuple[str, ...] = ()
    path: str = ""
    unless: tuple[str, ...] = ()
    way_out: str = ""
    """Empty if the text names none."""
    why: str = ""
    forbidden: bool = False
    """Whether the text says that this must not be done."""
    needs: tuple[str, ...] = ()
    """The names that a call must have to be affected; see `Trap.needs`."""


ENVIRONMENTS = {
    name: tuple(names.split())
    for names in (
        "prod production produktion prd",
        "staging stage stg",
        "dev devel development entwicklung",
        "local localhost lokal",
        "qa uat",
        "preprod préprod preproduction",
        "sandbox",
        "test",
    )
    for name in names.split()
}
"""Names of environments, each with all of the same meaning."""


def reported_traps(record: Record, projects: Iterable[str]) -> list[Trap]:
    """The traps of a reported failure, or of a ruling that forbids a call; empty if it names none, or is disputed.

    The way out must be known, unless a failure was remembered by hand, or something must not be done at all.
    """
    ruling = is_ruling(record.cue)
    if (record.cue and not ruling) or not record.holds or objections(record):
        return []
    # A reverted change has no known way out: reverting it isn't one.
    if action_of(record.signature).startswith(_TAKEN_BACK):
        return []
    pieces, here = supporting(record), tuple(sorted({each for each in projects if each}))
    by_hand = not ruling and any(not each.messages for each in pieces)
    told = reported_failures(record.text, record.signature)
    told = [each for each in told if each.forbidden or by_hand or (each.way_out and (each.unless or not ruling))]
    # A program alone, whatever is done with it or wherever, says too little, unless it is forbidden.
    told = [
        each
        for each in told
        if each.forbidden or " " in each.command or each.words or each.path or (each.needs and not each.command)
    ]
    return [each for each in (_make_trap(one, record, here) for one in told if pieces) if each.needle]


def remarks(record: Record, projects: Iterable[str]) -> list[Trap]:
    """What a lesson of a log's own summary, or of a model, says of a file that it names: advice before a call on it.

    What went wrong with a program is said before a call of the program.
    """
    if not record.cue.startswith((LOGGED, MODEL)) or not record.holds or objections(record):
        return []
    said = one_line(record.text)
    path = next((each.text for each in claims(said) if each.kind == "path"), "")
    calls = named_calls([said]) if record.kind == "failure" and not path else ()
    command = next((each.call.command for each in calls if each.how != "alone" or is_program(each.call.command)), "")
    about = ReportedFailure(said=said.removeprefix(f"`{path}`: "), path=path, command=command)
    trap = _make_trap(about, record, tuple(sorted({each for each in projects if each})))
    return [replace(trap, remark=True, remembered=False, way_out="")] if trap.needle else []


_INSTEAD = lazy_re(r",?\s(?:instead|stattdessen)$", re.I)
"""The guard adds that word itself."""


def _make_trap(told: ReportedFailure, record: Record, projects: tuple[str, ...]) -> Trap:
    pieces = supporting(record)
    times, dated = len(pieces), [each.when for each in pieces if each.when is not None]
    verb = "said" if is_ruling(record.cue) else "seen" if record.cue else "remembered"
    often = verb if times == 1 else f"{verb} {times:,} times; last"
    last = max(dated, default=None)
    return Trap(
        lesson=record.id,
        remembered=True,
        ruling=is_ruling(record.cue),
        said=_lower_first_letter(as_advice_part(told.said)),
        way_out=_lower_first_letter(_INSTEAD.sub("", as_advice_part(told.way_out))) or HEED,
        why=as_advice_part(told.why).strip('“”"'),
        seen=f"{often} in {format_month(last)}" if last is not None else often.removesuffix("; last"),
        runs=times,
        of=times,
        last=last.date().isoformat() if last is not None else "",
        projects=projects,
        session=record.sessions[0] if len(record.sessions) == 1 else "",
        command=told.command,
        sign=_sign(told),
        words=told.words,
        path=told.path,
        unless=told.unless,
        needs=told.needs,
    )


def _sign(told: ReportedFailure) -> str:
    """A word that every call of a trap contains, if its command may be any, or is written in several ways."""
    if told.command:
        return told.command.split()[0] if told.command in programs().aliases.values() else ""
    return "" if told.path else next(iter(reversed(told.needs)), "")


def reported_failures(text: str, signature: str = "") -> list[ReportedFailure]:
    """Find the calls that a text says fail: the one that it names, or those with a verb and its object."""
    found = reported_failure(text, signature)
    said = one_line(text)[:LONGEST]
    if found is not None and (found.path or _is_known(found.command)):
        return [found]
    return _of_an_act(said) or ([found] if found is not None else [])


def _is_known(command: str) -> bool:
    program = program_name(command.split()[0])
    return is_program(program) or programs().has_subcommands(program) or program in programs().tasks


_WAS_DONE = lazy_re(lambda: rf"(?<![\w-])(?:{pattern_row('done')})(?![\w-])", re.I)
_RUNS = lazy_re(lambda: pattern_row("runs"), re.I)
_DOUBLED = lazy_re(r"(?:e|([bdgmnprt])(?=\1))$")
_MADE_UP = lazy_re(r"\w[-_./\d]\w|[a-z][A-Z]|\w\d$")
_NEAR = 5


def _of_an_act(text: str) -> list[ReportedFailure]:
    """The calls of any program with a verb and its object: "draining db-3 loses rows", "db-3 must not be drained"."""
    clauses = list(split_clauses(text))
    for at, clause in enumerate(clauses):
        for done in _WAS_DONE.finditer(clause):
            before, behind = clause[: done.start()].split(), clause[done.end() :].split()
            articles = topic(Words).articles
            if articles.intersection(each.lower() for each in before[-1:]) or _RUNS.fullmatch(done[0]):
                continue  # "the billing group"
            near = [*behind[:_NEAR], *(before[:-_NEAR:-1] if _PASSIVE.search(clause[: done.start()]) else ())]
            named = (_bare_name(each) for each in near)
            if thing := next((each for each in named if _MADE_UP.search(each) or is_program(each)), ""):
                told = _with_way_out(clauses, at, ReportedCall(command=thing), text)
                flags = tuple(FLAG.findall(" ".join(BRACKETS.findall(clause))))
                verb = _DOUBLED.sub("", done["verb"].lower())
                return [replace(told, command="", words=(), unless=(*told.unless, *flags), needs=(f"{verb}~", thing))]
    return []


_PASSIVE = lazy_re(lambda: rf"(?<!\w)(?:{pattern_row('was')})\s+$", re.I)


def _bare_name(word: str) -> str:
    return word.strip("`(\"'").rstrip(f"{TRAILING})?`\"'").removesuffix("'s")


def reported_failure(text: str, signature: str = "") -> ReportedFailure | None:
    """Find the call that a text says fails; None if it names none. A `signature` names it if the text doesn't."""
    said = one_line(text)[:LONGEST]
    clauses = list(split_clauses(said))
    at, about = failing_call(clauses)
    if about is None:
        at, about = 0, call_of_command(action_of(signature).partition(": ")[2])
    if about is None or not clauses:
        return None
    return None if _depends_on_unseen(clauses, at, about) else _with_way_out(clauses, at, about, said)


def is_warning(text: str) -> bool:
    """Whether a text of unknown kind warns against a call, because it fails or is forbidden.

    It must name a known program or a file, and either say what to do instead or first, or forbid the call.
    """
    told = reported_failures(text) if len(text) <= LONGEST and not text.rstrip().endswith("?") else []
    found = next((each for each in told if each.way_out or each.forbidden), None)
    if found is None:
        return False
    program = program_name(found.command.split()[0]) if found.command else ""
    several = programs().has_subcommands(program) or program in programs().tasks
    named = bool(found.path and not program) or several or (bool(program) and is_program(program))
    needs = (
        bool(_SAYS.needs.search(found.said))
        and bool(_SAYS.acts.search(found.way_out))
        and not _SAYS.needs.search(found.way_out)
    )
    return named and (found.forbidden or needs or bool(_SAYS.fails.search(text)))


def lacks_call(record: Record) -> bool:
    """Whether a memory forbids running something, or reports a failure, without naming the call.

    The guard can't warn of it.
    """
    if record.kind == "failure":
        return not reported_failures(record.text, record.signature)
    return record.kind == "semantic" and len(record.text) <= LONGEST and bool(_SAYS.unnamed.search(record.text))


_REPORTED, _WORKED = " — it failed: ", " worked"
"""What the account of a run says of a call that failed, and of the one that got over it."""


def _with_way_out(clauses: Sequence[str], at: int, about: ReportedCall, text: str) -> ReportedFailure:
    failing = clauses[at]
    # What the account of a run says after "it failed:" is the error and no advice, but for what worked.
    _, _, error = text.partition(_REPORTED)
    errors = {each for each in clauses if each in error and _WORKED not in each}
    others = [each for place, each in enumerate(clauses) if place != at and each not in errors]
    forbidden = is_banned(failing)
    way = _first_of(about.before) or (failing if about.replaced else "")
    if not way:
        way = next((each for each in others if _SAYS.right.search(each)), "")
        telling = [each for each in others if _SAYS.acts.search(each) and not FORBIDS.search(each)]
        way = way or next((each for each in telling if not _SAYS.fails.search(each)), "") or next(iter(telling), "")
        telling = [each for each in others if not _SAYS.reasons.search(each)]
        way = way or next((each for each in telling if _SAYS.instead.search(each)), "")
        way = way or (_missing_condition(failing) if FLAG.search(_missing_condition(failing)) else "")
        shown = (MARKED, FLAG, _VARIABLE)
        way = way or next((each for each in telling if any(how.search(each) for how in shown)), "")
        way = way or _missing_condition(failing)
        # In any language: the clause after a colon, unless it is a reason.
        behind = "" if _is_label(failing) or errors or at + 1 >= len(clauses) else clauses[at + 1]
        way = way or ("" if forbidden or _SAYS.reasons.search(behind) or _SAYS.bans.search(behind) else behind)
    # "Activate it first: source venv/bin/activate" is shown whole.
    more = next((each for each in others if way and f"{way}: {each}" in text), "")
    if not more and way:
        more = next((each for each in others if f"{way}, {each}" in text and _SAYS.acts.search(each)), "")
    why = max(errors, key=len, default="") or next(
        (each for each in others if each not in (way, more) and not _SAYS.acts.search(each) and not _is_label(each)), ""
    )
    said = _describe_trap(about) if about.before or about.replaced else failing
    return ReportedFailure(
        said=said,
        command=about.command,
        words=about.words,
        path=about.path,
        unless=_avoiding_words(f"{way} {more}", failing, others, about),
        way_out=f"{way}{':' if f'{way}: {more}' in text else ','} {more}" if more else way,
        why=why,
        forbidden=forbidden,
        needs=tuple(_needed_names(failing, others, at, about)) if about.command else (),
    )


def _first_of(before: str) -> str:
    return before and (before if _SAYS.instead.search(before) else f"{before} first")


def _describe_trap(about: ReportedCall) -> str:
    named = " ".join((about.command, *about.words)).strip()
    return f"`{named or about.path}` fails"


def _missing_condition(clause: str) -> str:
    """For something that fails "without the VPN": "with the VPN"; empty if nothing is said to be missing."""
    for word, instead in _SAYS.lacks.items():
        found = re.search(rf"(?<!\w){re.escape(word)}\s+(.{{2,120}})$", clause, re.I)
        words = found[1].split() if found else []
        # "Without asking" says nothing about what is missing.
        if words and not words[0].endswith("ing"):
            ends = next((n for n, each in enumerate(words) if n and _SAYS.ends.search(each)), len(words))
            ends = 1 if FLAG.fullmatch(words[0]) else ends
            return f"{instead[0]} {' '.join(words[:ends])}"
    return ""


def _is_label(clause: str) -> bool:
    """Whether a clause is only a heading: "Learned today"."""
    return len(clause.split()) <= _LABEL


def _avoiding_words(way: str, failing: str, others: Sequence[str], about: ReportedCall) -> tuple[str, ...]:
    """The commands, flags, variables and places of the way out: a call with one of them avoids the trap."""
    have = {about.path, about.command, *about.command.split(), *" ".join(about.words).split()}
    lacking = _LACKING.search(failing)
    good = [
        each
        for each in others
        if any(how.search(each) for how in (_SAYS.acts, _SAYS.fine, _SAYS.right))
        or each[:1] == "-"
        or len(each.split()) <= _LABEL
    ]
    telling = [way, *(each for each in good if not FORBIDS.search(each)), lacking[0] if lacking else ""]
    out = [each for clause in telling for each in _names(clause, about) if each.rstrip("/") not in failing]
    # What the failing clause names and the trap does not need is what was missing: "if you leave out --frozen".
    out += [each for how in (FLAG, _VARIABLE) for each in how.findall(MARKED.sub("", failing))]
    for each in (found[1].strip() for clause in (failing, *others) for found in MARKED.finditer(clause)):
        out += _VARIABLE.findall(each)
        read = call_of_command(each)
        other = read is None or read.command != about.command
        if other or (read is not None and read.words != about.words and not any(one[0] == "-" for one in out)):
            out.append(each)
    alone = _ALONE_LACKING.search(failing)
    out += [f"{about.command} {alone[1]}"] if alone and about.command and alone[1] not in topic(Words).stop else []
    # The call's own parts (`-fd` in `-fdx`), and the command itself, are not a way out.
    mine = {letter for each in have if SHORT.fullmatch(each) for letter in each}
    return tuple(
        each for each in dict.fromkeys(out) if each not in have and not (SHORT.fullmatch(each) and mine >= set(each))
    )


def _names(clause: str, about: ReportedCall) -> Iterator[str]:
    """The flags, variables, hosts, paths and other commands that a clause names."""
    # Of a marked flag with its value, the value is required: `-n 1`.
    plain = MARKED.sub(lambda found: "" if found[1].startswith("-") and " " in found[1] else found[0], clause)
    others = [each for each in named_calls([clause]) if each.how in _BY_PROGRAM and each.call.command != about.command]
    yield from (each.call.command for each in others if " " in each.call.command)
    # Flags behind another command belong to it.
    plain = plain[: min((each.start for each in others), default=len(plain))]
    yield from (each[0] for how in (FLAG_SET, _VARIABLE) for each in how.finditer(plain))
    words = [each.strip("(),").rstrip(".") for each in MARKED.sub("", clause).split()]
    yield from (with_folder_slash(each) for each in words if each.strip("/") and "/" in each and PATH.fullmatch(each))
    yield from (each for how in (HOSTNAME, _JOINED_WORDS) for each in how.findall(clause))


_BY_PROGRAM = ("subcommand", "program", "alone")
_LACKING = lazy_re(lambda: rf"(?<!\w)(?:{'|'.join(map(re.escape, _SAYS.lacks))})\s.*$", re.I)

_ALONE_LACKING = lazy_re(lambda: rf"(?<!\w)(?:{'|'.join(map(re.escape, _SAYS.lacks))})\s+([a-z]+)(?=$|[,!.])", re.I)


def _lower_first_letter(text: str) -> str:
    """A clause inside a sentence: its first letter is lower-case if it is an order or a ban."""
    return f"{text[:1].lower()}{text[1:]}" if _SAYS.acts.search(text) or _SAYS.bans.search(text) else text


_NAMED = lazy_re(
    lambda: (
        rf"(?<![\w-])(?:{pattern_row('where')})\s+(?:(?:{pattern_row('the')})\s+)?(?:[\w-]+\s+){{0,2}}?`?"
        rf"(?P<kind>{'|'.join(ENVIRONMENTS)}|main|master|develop|trunk)(?![\w/])"
        r"|(?<![\w@./=-])(?P<name>[\w@]+(?:[-./][\w.*/@-]*)+|[a-z-]+\d[\w.-]*)"
    ),
    re.I,
)
"""The name of an environment or a branch behind a word of place; of a path, a host or an object anywhere."""


def _needed_names(failing: str, others: Sequence[str], at: int, about: ReportedCall) -> Iterator[str]:
    """The names without which a call is not affected: those of places, hosts and objects before the symptom."""
    wrong = _SAYS.fails.search(failing)
    told = failing[: wrong.start()] if wrong and wrong.start() else failing
    if not reports_failure(failing):
        # "… with several workers deadlock. It was `pytest -n auto`."
        told = " ".join((*others[:at], told))
    lacking = _LACKING.search(told)
    told = MARKED.sub("", told[: lacking.start()] if lacking else told)
    have = {about.path, *about.command.split(), *" ".join(about.words).split()}
    if _SAYS.whole.search(told) or EVERY_FILE.search(told):
        yield EVERYTHING
    if about.on:
        yield about.on
    for each in _NAMED.finditer(told):
        name = (each["kind"] or each["name"]).rstrip(TRAILING)
        if name not in have:
            yield "|".join(ENVIRONMENTS.get(name.lower(), (name.rstrip("*").strip("/"),)))


def _depends_on_unseen(clauses: Sequence[str], at: int, about: ReportedCall) -> bool:
    """Whether a failure depends on what calls don't show: the root, several at once, a place named before."""
    said = " ".join(clauses[: at + 1])
    return not about.path and any(how.search(said) for how in (_ROOT, _SAYS.single, _SAYS.together, _REFERS))


_REFERS = lazy_re(lambda: rf"(?<!\w)(?:{pattern_row('refers')})(?!\w)", re.I)
_ROOT = lazy_re(
    lambda: (
        rf"(?<![\w-])(?:{pattern_row('where')})\s+(?:(?:{pattern_row('the')})\s+)?(?:{pattern_row('root')})(?![\w-])"
    ),
    re.I,
)
