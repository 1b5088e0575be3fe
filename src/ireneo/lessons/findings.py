"""Observe findings: facts about a project, and a log's own summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ireneo.grounding.claims import claims
from ireneo.grounding.evidence import SourceIndex, check_text, source_texts
from ireneo.language.files import topic
from ireneo.language.topics import Explaining
from ireneo.language.words import terms
from ireneo.lessons.commands import read_command
from ireneo.lessons.faults import TIMED_OUT, WITHOUT_A_WORD, is_timed_out
from ireneo.lessons.observe import MOST_SOURCES, UNKNOWN, cited_sources, cue_part, is_supported
from ireneo.lessons.run import LOGGED, Category, NotedSort, NotedWords, Observation, Trigger
from ireneo.lessons.shell import RunMaterial, TriedCall
from ireneo.lessons.traps import IN_SIGHT, PROVEN
from ireneo.log.calls import has_instruction
from ireneo.log.message import Message
from ireneo.memories.record import likeness_key
from ireneo.patterns import lazy_re
from ireneo.summaries.pins import is_order
from ireneo.summaries.steps import CHANGES, is_environment

_EXPLAINING = topic(Explaining)


_SERVES = (
    ("formatter", lazy_re(r"(?:^|[\s:/_-])(?:fmt|format|gofmt|prettier|black)(?![\w-])")),
    (
        "linter",
        lazy_re(r"(?:^|[\s:/_-])(?:lint|clippy|check-style|checkstyle|eslint|golangci-lint|flake8|pylint)(?![\w-])"),
    ),
    ("generator", lazy_re(r"(?:^|[\s:/_-])(?:generate|codegen|gen)(?![\w-])")),
    ("integration", lazy_re(r"(?:integration|e2e)(?![\w-])")),
    ("tests", lazy_re(r"(?:^|[\s:/_-])(?:tests?|runtests\.py|spec|pytest|jest|vitest|rspec|phpunit|ctest)(?![\w-])")),
    ("checks", lazy_re(r"(?:^|[\s:/_-])check(?![\w-])")),
    ("build", lazy_re(r"(?:^|[\s:/_-])build(?![\w-])")),
)
"""The purpose of a command, by the last words of its name; `test-harness.sh` runs no tests."""
_PURPOSES = {"integration": "integration tests"}
"""The purpose in words, if it isn't the code."""
_SCRIPT = lazy_re(r"(?:run[-_]?)?(?:tests?|lint|fmt|format|build|generate|codegen)(?:\.\w+)?")
"""A script of the project that is named after its function."""
_OF_A_PROJECT = lazy_re(
    r"^(?:mise run|make|just|npm run|(?:pnpm|yarn)(?! exec)|task|nox|tox|rake|bundle exec|cargo xtask|poe) |/"
)
"""Commands that a project defines itself, whose purpose is a fact about the project, unlike that of ``go test``."""
_ANYWHERE = lazy_re(r"(?:npm|npm run|pnpm|pnpm run|yarn|yarn run) (?:build|test|lint|format)")
"""Tasks that all projects of their kind have."""
_THROUGH = lazy_re(r"^(?:uv|poetry|pipenv|pdm|hatch|rye) run\b")
"""Programs that start another one in the environment of the project."""
_LONGEST_WAY = 60
"""How many characters of a line are quoted at most."""


def facts(material: RunMaterial, run: Sequence[TriedCall]) -> list[Observation]:
    """The facts that a run confirms or refutes."""
    about = (_check_commands, _unknown_names, _slow_tests, _commit_hooks) if material.project else ()
    own = [each for read in about for each in read(material, run)]
    return [*own, *_checks_beyond_tests(material, run)]


_IS_UNKNOWN = lazy_re(
    r"(?:unknown|no such|unrecogni[sz]ed) (?:[a-z]+ ){0,2}[a-z]+:? ['\"‘`]?(?P<name>[A-Za-z][\w:-]{1,60})(?![\w./])"
    r"|^(?:Error: )?[A-Z][a-z]+ (?:type |named )?['\"‘`](?P<other>[A-Za-z][\w:-]{1,60})['\"’`] (?:was )?not found",
    re.I,
)


def _unknown_names(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """The names of skills or agents that a tool was given and that don't exist."""
    lost: dict[tuple[str, str], list[TriedCall]] = {}
    for each in run:
        found = None if each.shell or each.worked or each.path else _IS_UNKNOWN.match(each.step.error)
        name = next(filter(None, found.groups()), "") if found else ""
        if name and name in _string_arguments(each):
            lost.setdefault((each.tool, name), []).append(each)
    for (tool, name), group in lost.items():
        known = [
            value
            for each in run
            if each.worked and each.tool == tool
            for value in _string_arguments(each)
            if name in value
        ]
        if name in known:
            continue
        # The same name may be known with the place that it comes from: `reviews:security` for `security`.
        longer = next((value for value in known if value.endswith(name) and len(value.split()) == 1), "")
        way_out = f"give it `{longer}`" if longer else WITHOUT
        text = f"`{tool}` knows no `{name}` here: {way_out}."
        shown = [*group, *(each for each in run if longer and each.worked and longer in _string_arguments(each))][:2]
        seen = fact(material, f"{UNKNOWN} {tool} {name}", shown, len(group), text, (f"unknown to {tool}: {name}", name))
        proven = {**seen.conditions, **({PROVEN: "yes"} if longer else {})}
        yield replace(seen, way_out=way_out, trigger=Trigger(tool=tool, words=(name,)), conditions=proven)


WITHOUT = "do it without"


def _string_arguments(each: TriedCall) -> frozenset[str]:
    given = each.step.call.arguments
    values = given.values() if isinstance(given, Mapping) else ()
    return frozenset(value for value in values if isinstance(value, str))


_HOOK_FAILED = lazy_re(r"husky - [\w-]+ (?:script|hook) (?:failed|exited)|^- hook id: |^✖ .{1,80}:$|\[FAILED\] ", re.M)
_HOOK_RUNS = lazy_re(
    r"^(?:\$ (?P<echoed>[a-z][^\n]{1,60})|- hook id: (?P<named>[\w-]{2,40})"
    r"|\[STARTED\] (?P<staged>[a-z][\w./-]*(?: [\w./:=-]{1,30}){0,4}))$",
    re.M,
)
_MENDS_FILES = lazy_re(r"--(?:fix|write)\b|\b(?:fmt|format)\b")
_MOST_CHECKS = 4


def _commit_hooks(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """The checks that a commit runs by itself and that refused one."""
    commits = [each for each in run if "git commit" in each.step.command and _HOOK_RUNS.search(each.step.output)]
    refused = [each for each in commits if not each.worked and _HOOK_FAILED.search(each.step.output)]
    if not refused:
        return
    shown = max(commits, key=lambda each: (len(_checks_of(each)), each in refused))
    checks = [f"`{each}`" for each in _checks_of(shown)[:_MOST_CHECKS]]
    if not checks:
        return
    said = f"{', '.join(checks[:-1])} and {checks[-1]}, and fails where one of them does: run them before."
    said = said if len(checks) > 1 else f"{checks[0]}, and fails where it does: run it before."
    seen = [*(each for each in refused if each is not shown), shown]
    text = f"A commit here runs {said}"
    yield fact(material, "<hook> git commit", seen, len(seen), text, ("what a commit runs", "checks"))


def _checks_of(commit: TriedCall) -> list[str]:
    """The checks that a commit ran; a hook that fixes files by itself need not be run before."""
    found = (next(filter(None, each.groups())) for each in _HOOK_RUNS.finditer(commit.step.output))
    return list(dict.fromkeys(each for each in found if not _MENDS_FILES.search(each)))


_A_FILE = lazy_re(r"(?!-)(?:[\w@.-]+/){0,12}[\w@-]+\.[A-Za-z]{1,5}")


def _slow_tests(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """The test files that take longer than their time limit; of several in one call it is unknown which one does."""
    tried: dict[tuple[str, str], list[TriedCall]] = {}
    for each in run:
        if each.shell and is_check(each.program):
            words = [word.removeprefix("./") for word in each.step.command.split()]
            files = [word for word in words if _A_FILE.fullmatch(word) and not word.endswith(each.program)]
            if len(files) == 1:
                tried.setdefault((each.program, files[0]), []).append(each)
    for (program, file), group in tried.items():
        late = [each for each in group if TIMED_OUT in each.faults]
        said = next((line for each in late if (line := _time_out(each))), "")
        if said:
            text = f"`{program}` on `{file}` ends with “{said}”: {IN_PARTS}"
            seen = [*(each for each in group if each not in late), *late]
            yield fact(material, f"<slow> {program} {file}", seen, len(late), text, (f"what is slow: {file}", file))


def _time_out(each: TriedCall) -> str:
    """The last short line in which a call reports that it timed out; empty if there is none."""
    lines = (" ".join(line.split()).strip("<>=- ") for line in reversed(each.step.output.splitlines()))
    return next((line for line in lines if is_timed_out(line) and len(line) <= _LONGEST_WAY), "")


IN_PARTS = "run single tests there."


PASSES = "<passes> "
"""Prefix of the cues of checks that fail on what the tests have passed."""
_MOVES_CODE = lazy_re(r"git (?:checkout|switch|merge|rebase|pull|stash|reset|restore|cherry-pick|apply|revert)\b")


def _checks_beyond_tests(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """Checks that failed right after the project's tests had passed, so that running the tests is not enough."""
    passed: dict[str, TriedCall] = {}
    for each in run:
        if (each.step.action.kind in CHANGES and each.worked) or _MOVES_CODE.match(each.program):
            passed = {}
        serves = next((what for what, pattern in _SERVES if pattern.search(each.program)), "")
        if not each.shell or serves not in _CHECKING or _MENDS.search(each.program):
            continue
        if each.worked and serves == "tests":
            passed[each.program] = each
        elif each.faults and not is_environment(each.faults[0]) and each.faults[0] not in (TIMED_OUT, WITHOUT_A_WORD):
            for name, before in passed.items():
                runner = each.program.split()[:-1]
                # Tests run by another program may be part of them; tasks of the same runner are different.
                if name != each.program and (serves != "tests" or (runner and runner == name.split()[:-1])):
                    yield _check_observation(material, before, each)


def _check_observation(material: RunMaterial, passed: TriedCall, failed: TriedCall) -> Observation:
    messages = {message.id: message for message in material.messages}
    sources = cited_sources((*passed.step.sources, *failed.step.sources), messages)
    text = f"Before it is done, run `{failed.shown}` too, not only `{passed.shown}`."
    return Observation(
        cue=f"{PASSES}{cue_part(failed.program)}",
        category="failure",
        session=material.session,
        project=material.project,
        at=failed.at,
        held=1,
        text=text if is_supported(text, sources, messages) else "",
        task_type="check",
        conditions={"tool": failed.tool, "program": failed.program},
        sources=sources,
        tokens=failed.tokens,
    )


_MENDS = lazy_re(r"[:_-]fix\b")
_CHECKING = frozenset({"tests", "integration", "linter", "checks", "formatter"})


def is_check(command: str) -> bool:
    """Whether a command checks the work without fixing anything."""
    return any(what in _CHECKING - {"formatter"} and pattern.search(command) for what, pattern in _SERVES)


def _check_commands(material: RunMaterial, run: Sequence[TriedCall]) -> Iterable[Observation]:
    """How a project is checked, if that isn't obvious: by its own script or task, or through another program."""
    used: dict[tuple[str, str], list[TriedCall]] = {}
    for each, name in ((call, passed) for call in run if call.shell for passed in _passed(call)):
        shown = name.rsplit(" ", 1)[-1] if "/" in name else name  # However the script was started.
        serves = next((what for what, pattern in _SERVES if pattern.search(shown)), "")
        if not serves:
            continue
        if "/" in shown:
            own = shown if _SCRIPT.fullmatch(shown.rsplit("/", 1)[-1]) else ""
        else:
            own = shown if any(how.search(shown) for how in (_OF_A_PROJECT, _THROUGH)) else ""
            own = "" if _ANYWHERE.fullmatch(shown) else own
        if own:
            used.setdefault((serves, own), []).append(each)
    for (serves, shown), group in used.items():
        ran = [each for each in group if each.worked or not is_environment(each.faults[0])]
        what = _PURPOSES.get(serves, serves)
        said = f"This project runs its {what} with `{shown}`."
        yield fact(material, f"<command:{serves}> {shown}", group, len(ran), said, (f"the {what}: {shown}", shown))


def _passed(each: TriedCall) -> Iterable[str]:
    """The program of a call; of a chain that worked also those that passed before it."""
    read = read_command(each.command_line)
    chain = (read.steps[at] for at in read.deciding) if each.worked else ()
    return dict.fromkeys((each.shown, *(step.shown for step in chain)))


def fact(
    material: RunMaterial, about: str, seen: Sequence[TriedCall], held: int, text: str, slot: tuple[str, str]
) -> Observation:
    """The observation of a fact about the project, `held` of the times that it could be `seen`."""
    messages = {message.id: message for message in material.messages}
    sources = cited_sources((name for each in seen[-4:] for name in each.step.sources), messages)
    attribute, value = slot
    return Observation(
        cue=f"{material.project} {about}",
        category="factual",
        session=material.session,
        project=material.project,
        at=max((each.at for each in seen if each.at is not None), default=None),
        held=held,
        broke=max(len(seen) - held, 0),
        text=text if held and is_supported(text, sources, messages) else "",
        task_type=seen[-1].step.action.kind,
        conditions={"subject": material.project, "attribute": attribute, "value": value},
        sources=sources,
    )


SHARED = 3
"""The minimum number of words that a sentence must share with a message that supports it."""
_CATEGORY: Mapping[NotedSort, Category] = {"learned": "factual", "workflow": "procedural", "friction": "failure"}

_CLAUSE = lazy_re(r"(?:[,;:]|\s[-–—])\s+")
_MARKS = str.maketrans({"“": '"', "”": '"'})


def noted_claims(material: RunMaterial) -> list[Observation]:
    """The sentences of the log's own summary that the run's messages support."""
    if not material.noted:
        return []
    told = [_SourceText(message=each, text="\n".join(source_texts([each]))) for each in material.messages]
    words = [frozenset(terms(each.text)) for each in told]
    found = (_noted_claim(each, material, told, words) for each in material.noted)
    return [each for each in found if each is not None]


class _SourceText(Struct, frozen=True, kw_only=True):
    message: Message
    text: str


def _noted_claim(
    noted: NotedWords, material: RunMaterial, told: Sequence[_SourceText], words: Sequence[frozenset[str]]
) -> Observation | None:
    where = f"`{noted.path}`: " if noted.path and noted.path not in noted.text else ""
    sources = _supporting_messages(f"{where}{noted.text}", told, words)
    # The workflow of a failed run is not an example.
    failed = noted.sort == "workflow" and material.outcome == "bad"
    if not sources or failed or has_instruction(noted.text):
        return None
    return Observation(
        cue=f"{LOGGED}{likeness_key(noted.path, noted.text)}",
        category=_CATEGORY[noted.sort],
        session=material.session,
        project=material.project,
        at=next((each.draft.at for each in reversed(sources) if each.draft.at is not None), None),
        held=1,
        text=f"{where}“{noted.text.translate(_MARKS)}” (the log's own summary)",
        conditions={} if _is_convention(noted) else {IN_SIGHT: "yes"},
        sources=tuple(each.id for each in sources),
    )


def _is_convention(noted: NotedWords) -> bool:
    """Whether a sentence says what to do, or a convention of the project.

    Sentences about what code does can be read in the code, and those about one failure are over.
    """
    if noted.sort == "friction" or noted.path:
        return False
    if noted.sort == "learned" and _EXPLAINING.stands.search(noted.text):
        return True
    return any(is_order(clause) or is_order(clause[:1].lower() + clause[1:]) for clause in _CLAUSE.split(noted.text))


def _supporting_messages(text: str, told: Sequence[_SourceText], words: Sequence[frozenset[str]]) -> list[Message]:
    """The messages that support `text`, those with most words in common first; empty if a claim is unsupported."""
    wanted = {*terms(text)}
    ranked = sorted(range(len(told)), key=lambda at: (-len(wanted & words[at]), at))
    if not ranked or len(wanted & words[ranked[0]]) < SHARED:
        return []
    chosen = [ranked[0]]
    for claim in dict.fromkeys(claims(text)):
        shows = (at for at in (*chosen, *ranked) if SourceIndex([told[at].text]).supports(claim))
        chosen += [at for at in [next(shows, None)] if at is not None and at not in chosen]
    chosen = sorted(chosen[:MOST_SOURCES])
    if check_text(text, SourceIndex([told[at].text for at in chosen])):
        return []
    return [told[at].message for at in chosen]
