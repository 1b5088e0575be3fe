"""What a run shows of the claims that lessons are made of.

What fails and how it was got over, what has to come first, facts of the project.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.grounding.neutral import instruction_like
from ireneo.lessons.commands import command_names
from ireneo.lessons.faults import FOUND_NOTHING, TESTS_FAILED, TIMED_OUT, WITHOUT_A_WORD
from ireneo.lessons.programs import LOOKS_ONLY
from ireneo.lessons.run import Observation
from ireneo.lessons.shell import RunMaterial, TriedCall, command_of
from ireneo.log.message import Message, MessageId
from ireneo.patterns import lazy_re
from ireneo.summaries.steps import CHANGES, is_environment

LONGEST = 320
"""Characters of a lesson."""
MOST_SOURCES = 8


def is_supported(text: str, sources: Sequence[MessageId], messages: Mapping[MessageId, Message]) -> bool:
    """Whether `text` may be told: short, no instruction to a reader, and all that it names stands in its sources."""
    if not text or len(text) > LONGEST or not text.isprintable() or instruction_like(text):
        return False
    cited = [messages[name] for name in sources if name in messages]
    return bool(cited) and not check_text(text, SourceIndex(source_texts(cited)))


def cited_sources(ids: Iterable[MessageId], messages: Mapping[MessageId, Message]) -> tuple[MessageId, ...]:
    """Ids each once, in the order in which they stand in the run, at most so many."""
    named = sorted({name for name in ids if name in messages}, key=lambda name: messages[name].position)
    return tuple(named[:MOST_SOURCES])


# How a failure was got over: what stood between a call that failed and the next one to the same end.
#
# Only what the structure shows counts: another program, another flag, a call in between, a text that was taken shorter.
# That the code was mended is what work consists of, and no remedy.


WITHIN = 30
"""Calls in which the next try to the same end is looked for; of another program, and of a search, fewer."""
SOON = 4
_LINTER = lazy_re(r"\(((?!typecheck)[a-z]+)\)$")
_LEAST_SOUGHT = 6
"""Characters of a pattern that says what is looked for."""
_LINE = 90
"""Characters of a line that is shown as an example."""
_FLAG = lazy_re(r"(?<![\w-])--?[A-Za-z][\w-]*(?:=[\w./-]+)?")
_NARROW = lazy_re(r"(?<!\S)(-run|-k|--tests?|-t|--filter|--grep)\b|::\w")
_SHOWING = lazy_re(r"(?:2>&1|\|\s*(?:head|tail|less|grep)\b.*)$", re.S)
_LOOKING = frozenset({"read", "search"})
_SHELL_WORDS = frozenset("Bash python git do done for if then fi while pwd echo sleep cd time kill test rm cp".split())
_SEVERAL = lazy_re(r"\bmatch(?:es|ed)\b.{0,200}?\bof\b|\bmultiple\b|not unique|more than on(?:e|ce)", re.I)
"""Errors that say that a text stands in several places; then more of the lines round it tells them apart."""
_NOT_STARTED = lazy_re(r"\bspawn\b|posix_spawn")
"""What a tool says that could not even start its program: the path that it names is not the one looked for."""
_PROGRAM_NAME = lazy_re(r"[\w./@][\w./@: +-]*\Z")
_CD = lazy_re(r"(?<![\w-])(?:cd|pushd)\s+[^\s;&|]+")
_LOOKS = lazy_re(r"(?:^|[\s:/_-])(?:build|vet|test|tests|lint|check|cache|list|show|status|diff|log|info|version)\b")
"""Commands that change nothing another one hangs on."""
_TOO_COMMON = frozenset({"-v", "-n", "-l", "-r", "-i", "-A", "-B", "-C", "-c", "-e", "-q", "-s", "-a", "-f", "-m"})


class Remedy(Struct, frozen=True, kw_only=True):
    """What was done about a failure, and whether it helped."""

    label: str
    """Its code, without what is of one run only: ``first:Read``, ``bin/test``, ``with:-tags=integration``. Empty: an
    example, which is no claim."""
    words: str
    """What to do, to stand after "When … fails, "."""
    tries: tuple[TriedCall, ...]
    """The calls that show it, the one that worked last."""
    worked: bool
    limits: str = ""
    """When the failure does not come, as this shows."""
    end: str = "; then it passed"
    """What came of it, to stand after its words."""


def remedy_of(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """What was done about the failure at `at`; None where the structure tells of nothing that can be said."""
    failed = run[at]
    if not failed.shape.shell:
        return _of_a_tool(run, at)
    fault = failed.faults[0]
    if fault == FOUND_NOTHING:
        return _wider(run, at)
    if fault == TESTS_FAILED:
        return _narrower(run, at)
    again = _again(run, at)
    if again is None or not again.worked:
        return _other_program(run, at) if is_environment(fault) or fault == TIMED_OUT else _flags(failed, again, fault)
    between = run[at + 1 : run.index(again)]
    changes = [each for each in between if each.step.action.kind in CHANGES and each.worked]
    if changes:
        return _mended(failed, changes, again) if _LINTER.search(fault) else None
    return _flags(failed, again, fault) or _after(failed, between, again)


def _again(run: Sequence[TriedCall], at: int) -> TriedCall | None:
    wanted = run[at].program
    return next((each for each in run[at + 1 : at + 1 + WITHIN] if each.program == wanted), None)


def _of_a_tool(run: Sequence[TriedCall], at: int) -> Remedy | None:
    failed = run[at]
    path = failed.shape.path
    if not path:
        return _other_argument(run, at)
    later = [each for each in run[at + 1 : at + 1 + WITHIN] if each.shape.tool == failed.shape.tool]
    again = next((each for each in later if each.shape.path == path), None)
    if again is None:
        return _elsewhere(run, at)
    between = run[at + 1 : run.index(again)]
    several = bool(_SEVERAL.search(failed.faults[0]))
    read = next((each for each in between if each.worked and each.shape.path == path and _reads(each)), None)
    if read is not None and not several:
        return Remedy(
            label=f"first:{read.shape.tool}",
            words=f"read the file with `{read.shape.tool}` first",
            tries=(read, again),
            worked=again.worked,
            limits=f"Not where `{read.shape.tool}` has shown the file as it stands.",
        )
    if again.shape.everywhere and not failed.shape.everywhere:
        words = "set `replace_all`, or give more of the lines round it"
        return Remedy(label="replace_all", words=words, tries=(again,), worked=again.worked)
    # A text that was not found at all is as often found when more of it is given as when less is: that says nothing.
    if several and 0 < len(failed.shape.removed) < len(again.shape.removed):
        words = "give more of the lines to be replaced"
        return Remedy(label="more-lines", words=words, tries=(again,), worked=again.worked)
    return None


def _elsewhere(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """A file that was not where it was looked for: a search found it, or what stood there instead was listed."""
    failed = run[at]
    if failed.step.action.kind not in _LOOKING or _NOT_STARTED.search(failed.step.output):
        return None
    for place, each in enumerate(run[at + 1 : at + 1 + SOON], at + 1):
        if not each.worked or each.step.action.kind != "search":
            continue
        then = next((one for one in run[place + 1 : place + 1 + SOON] if _reads(one)), None)
        if then is not None and _is_meant(failed.shape.path, then.shape.path):
            name = each.program
            words = f"look where it is with `{name}` first"
            return Remedy(label=f"first:{name}", words=words, tries=(each, then), worked=then.worked)
    return None


def _is_meant(path: str, other: str) -> bool:
    """Whether a file is the one that was looked for at `path`, or stands below that."""
    same = path.rstrip("/").rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]
    return same or other.startswith(path.rstrip("/") + "/")


def _other_argument(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """The same tool with another word for one of its arguments."""
    failed = run[at]
    again = next((each for each in run[at + 1 : at + 1 + WITHIN] if each.shape.tool == failed.shape.tool), None)
    given, then = failed.step.call.arguments, again.step.call.arguments if again else None
    if again is None or not again.worked or isinstance(given, str) or not isinstance(then, dict):
        return None
    changed = [key for key in sorted({*given, *then}) if given.get(key) != then.get(key)]
    for key in changed:
        value = then.get(key)
        if key in given and isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w.-]{1,40}", value):
            words = f"give `{value}` as `{key}`" if len(changed) <= 3 else f"take `{value}`"
            return Remedy(label=f"{key} {value}", words=words, tries=(again,), worked=True)
    dropped = [key for key in given if key not in then]
    if len(changed) == len(dropped) == 1:
        return Remedy(label=f"no:{dropped[0]}", words=f"leave `{dropped[0]}` out", tries=(again,), worked=True)
    return None


def _other_program(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """Another program to the same end: it was given something of the same."""
    failed = run[at]
    wanted = _given(failed)
    for each in run[at + 1 : at + 1 + SOON]:
        another = each.shape.shell and each.program != failed.program and each.step.action.kind in ("run", "check")
        if (
            another
            and each.program not in _SHELL_WORDS - {"test", "python"}
            and _PROGRAM_NAME.match(each.program)
            and each.worked
            and (wanted & _given(each))
        ):
            words = f"use `{each.shown}`"
            return Remedy(label=each.program, words=words, tries=(each,), worked=True)
    return None


def _flags(failed: TriedCall, again: TriedCall | None, fault: str) -> Remedy | None:
    if again is None or failed.program in _SHELL_WORDS | LOOKS_ONLY:
        return None
    before, now = _flags_of(failed), _flags_of(again)
    if _words_of(again) != _words_of(failed):
        return None
    added, dropped = sorted(now - before - _TOO_COMMON), sorted(before - now - _TOO_COMMON)
    if len(added) > 1 or len(dropped) > 1 or not (added or dropped) or (again.faults and again.faults[0] != fault):
        return None
    label, words = (f"with:{added[0]}", f"give it `{added[0]}`") if added else ("", "")
    if added and dropped:
        label, words = f"swap:{dropped[0]}:{added[0]}", f"give it `{added[0]}` in place of `{dropped[0]}`"
    elif dropped:
        label, words = f"without:{dropped[0]}", f"leave `{dropped[0]}` out"
    return Remedy(label=label, words=words, tries=(failed, again), worked=again.worked)


def _mended(failed: TriedCall, changes: Sequence[TriedCall], again: TriedCall) -> Remedy | None:
    """One line that was changed in a file that a linter names: what it was, and what it became."""
    linter = _LINTER.search(failed.faults[0])
    for each in changes:
        pair = _one_line(each.step.action.removed, each.step.action.added)
        name = each.shape.path.rsplit("/", 1)[-1]
        if pair is None or not name or name not in failed.step.output:
            continue
        before, after = pair
        # Where it found several faults, only a word about this one tells that the change was for it.
        if len(failed.faults) > 1 and not (linter and linter[1] in after):
            continue
        words = f"`{after}` in place of `{before}`" if before else f"`{after}` added"
        return Remedy(label="", words=words, tries=(each, again), worked=True)
    return None


def _one_line(removed: str, added: str) -> tuple[str, str] | None:
    old, new = ([line.strip() for line in text.splitlines() if line.strip()] for text in (removed, added))
    old, new = ([line for line in lines if not line.startswith(("//", "#", "*", "--"))] for lines in (old, new))
    gone, come = [line for line in old if line not in new], [line for line in new if line not in old]
    if len(come) != 1 or len(gone) > 1 or not all(8 < len(line) <= _LINE and "`" not in line for line in gone + come):
        return None
    return (gone[0] if gone else ""), come[0]


def _after(failed: TriedCall, between: Sequence[TriedCall], again: TriedCall) -> Remedy | None:
    """One command that was run in between, and no file changed by an edit."""
    doing = [each for each in between if each.worked and each.shape.shell and each.step.action.kind not in _LOOKING]
    if len({each.program for each in doing}) != 1 or doing[0].program in _SHELL_WORDS:
        return None
    name = doing[0].program
    if _LOOKS.search(name) or not _PROGRAM_NAME.match(name):
        return None
    words = f"run `{name}` first"
    return Remedy(label=f"first:{name}", words=words, tries=(doing[-1], again), worked=again.worked)


def _narrower(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """Of tests that failed, the ones at hand were run alone."""
    if _NARROW.search(_command(run[at])):
        return None
    for each in run[at + 1 : at + 1 + WITHIN]:
        found = _NARROW.search(_command(each))
        if found and each.shape.shell and each.step.action.kind == "check":
            how = f"`{each.program}` with `{found[1]}`" if found[1] else f"`{each.program}` and its name"
            words = f"run one test alone by {how}"
            ran = each.worked or each.faults[:1] == (TESTS_FAILED,)
            return Remedy(label=f"alone:{each.program}", words=words, tries=(each,), worked=ran, end="")
    return None


def _wider(run: Sequence[TriedCall], at: int) -> Remedy | None:
    """A search that found nothing, and a later one for a part of the same that found something."""
    sought = run[at].shape.pattern
    for each in run[at + 1 : at + 1 + SOON]:
        pattern = each.shape.pattern
        if not each.worked or not pattern or not sought:
            continue
        less = pattern.strip("\\b^$ ")
        if pattern != sought and less in sought and len(less) >= _LEAST_SOUGHT:
            words = f"search for less of it, as `{pattern}` was found where `{sought}` was not"
            return Remedy(label="less", words=words, tries=(run[at], each), worked=True, end="")
        if pattern == sought and each.shape.paths != run[at].shape.paths:
            words = f"search more files, as `{pattern}` stood in another one than was guessed"
            return Remedy(label="more-files", words=words, tries=(run[at], each), worked=True, end="")
    return None


def _reads(each: TriedCall) -> bool:
    return each.step.action.kind == "read"


def _command(each: TriedCall) -> str:
    return _SHOWING.sub("", _written(each))


def _written(each: TriedCall) -> str:
    given = each.step.call.arguments
    return given if isinstance(given, str) else str(given.get("command") or given.get("cmd") or "")


def _flags_of(each: TriedCall) -> frozenset[str]:
    return frozenset(_FLAG.findall(re.sub(r"\"[^\"]*\"|'[^']*'", "''", _command(each))))


def _words_of(each: TriedCall) -> list[str]:
    """What a command says beside its flags and what is quoted in it."""
    return _FLAG.sub("", re.sub(r"\"[^\"]*\"|'[^']*'", "''", _command(each))).split()


def _given(each: TriedCall) -> frozenset[str]:
    """What a command is given that is more than a flag or a usual word; the folder that it goes to is none of it."""
    written = _CD.sub(" ", _written(each))
    return frozenset(word for word in re.findall(r"[\w./:-]{5,}", written) if "/" in word or "." in word)


# What fails in a run: of each program the errors that it ended in, and how they were got over.
#
# Three sorts of claims come of it. ``go test ⇒ <any>`` is the occasion: how often it was run, and failed at all.
# ``go test ⇒ build failed`` is a failure. ``go test ⇒ build failed → with:-tags=integration`` is what was done about
# it.


ENDS_IN = " ⇒ "
GOT_OVER = " → "
"""What stands between the parts of a cue: the program, its error, and the remedy."""
ANY = "<any>"
UNREAD = " <unread>"
"""What stands behind a tool for files in a cue, where it was used on a file that was not read before."""
_FAULT_WORDS = {
    ANY: "any error",
    FOUND_NOTHING: "found nothing",
    TIMED_OUT: "timed out",
    TESTS_FAILED: "tests failed",
    WITHOUT_A_WORD: "no error named",
}
_REMEDY_WORDS = {
    "first": "{} first",
    "alone": "{} alone",
    "with": "with {}",
    "without": "without {}",
    "no": "no {}",
    "swap": "{1} for {0}",
    "more-lines": "more lines",
    "less": "less of it",
    "more-files": "more files",
}
"""How the codes of a claim read in its name."""
_NAME_CHARACTERS = 80
_PLAIN = {
    FOUND_NOTHING: "finds nothing",
    TESTS_FAILED: "fails in its tests",
    TIMED_OUT: "runs into its time limit",
    WITHOUT_A_WORD: "fails without naming an error",
}
_TEST = lazy_re(
    r"^[^\S\n]*--- FAIL: (\w{4,60}) |^(?:FAILED|ERROR) (?:[\w./-]+::)+([\w\[\]-]{4,80})|^(?:FAIL"
    r"|ERROR): (test_\w{3,80}) "
    r"|^_+ (?:\S+:)?(test_\w{3,80}) _+$",
    re.M,
)
Messages = dict[MessageId, Message]


class _FailedCall(Struct, frozen=True, kw_only=True):
    """A call that failed, and what was done about it."""

    failed: TriedCall
    remedy: Remedy | None


def occasion_of(cue: str) -> str:
    """The claim whose observations tell how often another could have shown: the program's of an error, else itself."""
    if GOT_OVER in cue or ENDS_IN not in cue:
        return cue
    return f"{cue.partition(ENDS_IN)[0]}{ENDS_IN}{ANY}"


def claim_words(cue: str) -> str:
    """The code of a claim about a failure, or about what comes first, in words: as a name that people read."""
    if ENDS_IN not in cue:
        return cue.replace(AFTER, " after ", 1)
    action, _, rest = cue.partition(ENDS_IN)
    fault, _, label = rest.partition(GOT_OVER)
    doing = f"{action.removesuffix(UNREAD)} unread" if action.endswith(UNREAD) else action
    said = f"{doing}{ENDS_IN}{_FAULT_WORDS.get(fault, fault)}"
    return f"{said}{GOT_OVER}{remedy_words(label)}" if label else said


def remedy_words(label: str) -> str:
    """The code of a remedy in words."""
    code, *given = label.split(":", 2 if label.startswith("swap:") else 1)
    return _REMEDY_WORDS[code].format(*given) if code in _REMEDY_WORDS else label


def signature_of(cue: str) -> str:
    """The program and the error that a claim speaks of; empty where it speaks of none."""
    return cue.partition(GOT_OVER)[0] if ENDS_IN in cue else ""


def failures(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """The observations of a run that follow from its calls that failed."""
    messages = {message.id: message for message in material.messages}
    falls: dict[str, list[_FailedCall]] = {}
    for place, each in enumerate(run):
        if each.faults and each.program:
            fall = _FailedCall(failed=each, remedy=remedy_of(run, place))
            for fault in each.faults:
                falls.setdefault(f"{action_of(each)}{ENDS_IN}{fault}", []).append(fall)
    out = _occasions(material, run)
    done = Counter(map(action_of, run))
    for cue, group in falls.items():
        out.append(_failure(material, messages, cue, group, done))
        out += _remedies(material, messages, cue, group)
    return out


def _occasions(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    programs: dict[str, list[TriedCall]] = {}
    for each in filter(lambda each: each.program, run):
        programs.setdefault(action_of(each), []).append(each)
    return [
        _failure_observation(
            material,
            cue=f"{name}{ENDS_IN}{ANY}",
            seen=group,
            held=sum(bool(each.faults) for each in group),
            broke=sum(each.worked for each in group),
        )
        for name, group in programs.items()
    ]


def _failure(
    material: RunMaterial, messages: Messages, cue: str, falls: Sequence[_FailedCall], done: Counter[str]
) -> Observation:
    action, _, fault = cue.partition(ENDS_IN)
    helped = [each for each in falls if each.remedy and each.remedy.worked and each.failed.faults[0] == fault]
    chosen = helped[-1] if helped else falls[-1]
    remedy = chosen.remedy if helped else None
    fails = fails_with(chosen.failed, fault)
    way = f"{fails}; it passed with {remedy.words}." if remedy and not remedy.label else ""
    where = _tests_named(chosen.failed) if fault == TESTS_FAILED else ""
    how = f": {remedy.words}{remedy.end}." if remedy and remedy.label else ""
    ways = [f"{fails}{where}{how}" if how else way, f"{fails}{how}" if how else "", f"{fails}{where}.", f"{fails}."]
    limits = remedy.limits if remedy else ""
    text, sources = _first_told([f"{each} {limits}".strip() for each in ways if each], _ids(chosen), messages)
    failed = [each.failed for each in falls]
    return _failure_observation(
        material,
        cue=cue,
        seen=failed,
        held=len(failed),
        broke=done[action] - len(failed),
        # The observation keeps the limits apart, as they hold for the claim however it is told.
        text=text.removesuffix(limits).rstrip() if limits else text,
        limits=limits if text else "",
        sources=sources or cited_sources((name for each in failed for name in each.step.sources), messages),
    )


def _remedies(material: RunMaterial, messages: Messages, cue: str, falls: Sequence[_FailedCall]) -> list[Observation]:
    fault = cue.partition(ENDS_IN)[2]
    tried: dict[str, list[_FailedCall]] = {}
    for each in falls:
        if each.remedy is not None and each.remedy.label and each.failed.faults[0] == fault:
            tried.setdefault(each.remedy.label, []).append(each)
    out: list[Observation] = []
    for label, group in tried.items():
        helped = [each for each in group if each.remedy is not None and each.remedy.worked]
        text = ""
        sources: tuple[MessageId, ...] = ()
        if helped and (remedy := helped[-1].remedy) is not None:
            said = f"When {fails_with(helped[-1].failed, fault)}, {remedy.words}{remedy.end}."
            text, sources = _first_told([said], _ids(helped[-1]), messages)
        out.append(
            _failure_observation(
                material,
                cue=f"{cue}{GOT_OVER}{label}",
                seen=[each.failed for each in group],
                held=len(helped),
                broke=len(group) - len(helped),
                text=text,
                sources=sources or cited_sources(_ids(group[-1]), messages),
            )
        )
    return out


def action_of(each: TriedCall) -> str:
    """The name of what was done, as a cue begins with it."""
    name = " ".join(each.program.replace(ENDS_IN.strip(), "=>").replace(GOT_OVER.strip(), "->").split())[
        :_NAME_CHARACTERS
    ]
    return f"{name}{UNREAD}" if each.unread else name


def fails_with(failed: TriedCall, fault: str) -> str:
    """The words for a call that ends in an error."""
    of = " of a file that was not read before" if failed.unread else ""
    return f"`{failed.shown}`{of} {_PLAIN.get(fault) or f'fails with “{fault}”'}"


def _tests_named(failed: TriedCall) -> str:
    """The tests that failed, at most two, to stand after the words for the failure."""
    names = list(dict.fromkeys(next(filter(None, each)) for each in _TEST.findall(failed.step.output)))[:2]
    return f", such as {' and '.join(f'`{name}`' for name in names)}" if names else ""


def _first_told(ways: Sequence[str], ids: Sequence[MessageId], messages: Messages) -> tuple[str, tuple[MessageId, ...]]:
    """The first of these ways to say it that its sources bear out; nothing where none is."""
    sources = cited_sources(ids, messages)
    return next(((text, sources) for text in ways if is_supported(text, sources, messages)), ("", ()))


def _ids(fall: _FailedCall) -> tuple[MessageId, ...]:
    shown = (fall.failed, *(fall.remedy.tries if fall.remedy else ()))
    return tuple(name for each in shown for name in each.step.sources)


def _failure_observation(
    material: RunMaterial,
    *,
    cue: str,
    seen: Sequence[TriedCall],
    held: int,
    broke: int,
    text: str = "",
    limits: str = "",
    sources: Iterable[MessageId] = (),
) -> Observation:
    failed = [each for each in seen if each.faults]
    return Observation(
        cue=cue,
        category="procedural" if GOT_OVER in cue else "failure",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=broke,
        text=text,
        task_type=seen[-1].step.action.kind,
        conditions={"tool": seen[-1].shape.tool, "program": seen[-1].program},
        limits=limits,
        sources=tuple(sources),
        tokens=sum(each.tokens for each in failed),
        seconds=round(sum(each.seconds for each in failed), 1),
    )


_PREPARES = lazy_re(
    r"(?:^|[\s:/_-])(?:fmt|format|gofmt|prettier|generate|codegen|gen|install|sync|tidy|migrate|setup|bootstrap)\b"
)
AFTER = " <after> "
"""What stands in a cue between a command and the one that comes before it."""


def precedence(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """For each check and each command that prepares for it: how often it passed after that, and how often not.

    That it passed without it speaks against it as well: then it did not have to come first.
    """
    passed: dict[tuple[str, str], list[TriedCall]] = {}
    against: dict[tuple[str, str], list[TriedCall]] = {}
    alone: dict[str, list[TriedCall]] = {}
    prepared: dict[str, TriedCall] = {}
    for each in run:
        if each.step.action.kind in CHANGES:
            prepared.clear()  # What was prepared before the change has to be prepared again.
            continue
        chain = command_names(command_of(each.step.call)) if each.shape.shell else ()
        before = [*prepared, *(name for name in chain if _PREPARES.search(name))]
        if each.step.action.kind == "check" and not _PREPARES.search(each.program):
            for first in dict.fromkeys(name for name in before if name != each.program):
                (passed if each.worked else against).setdefault((first, each.program), []).append(each)
            if not before and each.worked:
                alone.setdefault(each.program, []).append(each)
        if each.worked:
            prepared.update((name, each) for name in chain if _PREPARES.search(name))
    messages = {message.id: message for message in material.messages}
    return [
        _precedence_observation(
            material, messages, pair, passed.get(pair, []), [*against.get(pair, []), *alone.get(pair[1], [])]
        )
        for pair in dict.fromkeys((*passed, *against))
    ]


def _precedence_observation(
    material: RunMaterial,
    messages: dict[MessageId, Message],
    pair: tuple[str, str],
    held: Sequence[TriedCall],
    broke: Sequence[TriedCall],
) -> Observation:
    first, then = pair
    seen = [*held, *broke]
    sources = cited_sources((name for each in held[-3:] for name in each.step.sources), messages)
    text = f"Run `{first}` before `{then}`, which passed after it."
    return Observation(
        cue=f"{then}{AFTER}{first}",
        category="procedural",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=len(held),
        broke=len(broke),
        text=text if held and is_supported(text, sources, messages) else "",
        task_type="check",
        conditions={"program": then},
        sources=sources,
        against=cited_sources((name for each in broke[-2:] for name in each.step.sources), messages)[:4],
    )


PLACE = "<place>"
PLACES = 3
"""Parts of a path that say where a file lies."""
_SERVES = (
    ("formatter", lazy_re(r"(?:^|[\s:/_-])(?:fmt|format|gofmt|prettier)(?![\w-])")),
    ("linter", lazy_re(r"(?:^|[\s:/_-])(?:lint|clippy|check-style|checkstyle)(?![\w-])")),
    ("generator", lazy_re(r"(?:^|[\s:/_-])(?:generate|codegen|gen)(?![\w-])")),
    ("integration", lazy_re(r"(?:integration|e2e)(?![\w-])")),
    ("tests", lazy_re(r"(?:^|[\s:/_-])(?:tests?|runtests\.py|spec)(?![\w-])")),
    ("checks", lazy_re(r"(?:^|[\s:/_-])check(?![\w-])")),
    ("build", lazy_re(r"(?:^|[\s:/_-])build(?![\w-])")),
)
"""What a command is for, by the last words of its name: `test-harness.sh` is something for tests, and runs none."""
_PURPOSES = {"integration": "integration tests"}
"""How what a command is for reads, where that is not its code."""
_SCRIPT = lazy_re(r"(?:run[-_]?)?(?:tests?|lint|fmt|format|build|generate|codegen)(?:\.\w+)?")
"""A script of the project that is named after what it does, and not one that only lies beside tests."""
_MISSING = lazy_re(r"does not exist|no such file|not found|cannot find|could not find", re.I)
_OF_A_PROJECT = lazy_re(r"^(?:mise run|make|just|npm run|pnpm|yarn|task|nox|tox|rake|bundle exec|cargo xtask|poe) |/")
"""Only what a project has settled for itself is a fact about it; that ``go test`` runs tests is one about Go."""


def facts(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """The facts that a run confirms, or shows not to be so."""
    return [*_commands(material, run), *_files(material, run)] if material.project else []


def _commands(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    used: dict[tuple[str, str], list[TriedCall]] = {}
    for each in run:
        serves = next((what for what, pattern in _SERVES if pattern.search(each.shown)), "")
        if "/" in each.shown and not _SCRIPT.fullmatch(each.shown.rsplit("/", 1)[-1]):
            continue
        if each.shape.shell and serves and _OF_A_PROJECT.search(each.shown):
            used.setdefault((serves, each.shown), []).append(each)
    for (serves, shown), group in used.items():
        ran = [each for each in group if each.worked or not is_environment(each.faults[0])]
        what = _PURPOSES.get(serves, serves)
        said = f"This project runs its {what} with `{shown}`."
        yield _fact(material, f"<command:{serves}> {shown}", group, len(ran), said, (f"the {what}", shown))


def _files(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """Files that were looked for in a wrong place first, and found in another."""
    for place, failed in enumerate(run):
        path = failed.shape.path
        name = path.rsplit("/", 1)[-1]
        if failed.worked or "." not in name or not _MISSING.search(failed.faults[0]):
            continue
        later = (each for each in run[place + 1 : place + 8] if each.worked and each.step.action.kind == "read")
        found = next((each for each in later if each.shape.path.rsplit("/", 1)[-1] == name), None)
        if found is None or found.shape.path == path or "/tmp/" in found.shape.path:
            continue
        lies = "/".join(found.shape.path.split("/")[-PLACES:])
        said = f"`{name}` lies at `{lies}`: it was looked for elsewhere in vain."
        yield _fact(material, f"{PLACE} {name}: {lies}", [failed, found], 1, said, (f"place of {name}", lies))


def _fact(
    material: RunMaterial, about: str, seen: Sequence[TriedCall], held: int, text: str, slot: tuple[str, str]
) -> Observation:
    messages = {message.id: message for message in material.messages}
    sources = cited_sources((name for each in seen[-4:] for name in each.step.sources), messages)
    failed = [each for each in seen if not each.worked]
    attribute, value = slot
    return Observation(
        cue=f"{material.project} {about}",
        category="factual",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=len(seen) - held if held < len(seen) and not about.startswith(PLACE) else 0,
        text=text if held and is_supported(text, sources, messages) else "",
        task_type=seen[-1].step.action.kind,
        conditions={"subject": material.project, "attribute": f"{attribute}: {value}", "value": value},
        sources=sources,
        tokens=sum(each.tokens for each in failed) if about.startswith(PLACE) else 0,
    )
