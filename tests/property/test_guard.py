"""The guard on any lessons and any calls: what a hook reads answers as the engine does, and nothing makes it fail."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from functools import partial
from itertools import product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.examples import times
from tests.unit.guarded import SAW, lesson_of, teach

import ireneo
from ireneo.engine.check import check
from ireneo.guard import check_call, so_far
from ireneo.lessons.guard import GuardAdvice, PastCall, SessionSoFar, advice
from ireneo.lessons.lessons import trap_of
from ireneo.lessons.needles import contains_any
from ireneo.lessons.run import Observation, Trigger, project_of

WORDS = st.text(alphabet="ab/.$'\"|&;<>\n→ é=-", max_size=30)
PROGRAMS = st.sampled_from(["make", "make db", "go test", "npm", "git push", "pytest", "a.sh"])
FLAGS = st.sampled_from(["--no-verify", "-tags integration", "-x", "seed", "DB_URL"])
FILES = st.sampled_from(["/w/a.py", "b.go", "api/a.pb.go", ".golangci.yml", "."])
TRIGGERS = st.builds(
    Trigger,
    tool=st.sampled_from(["", "", "", "Edit", "search"]),
    command=st.one_of(st.just(""), PROGRAMS, WORDS),
    words=st.lists(st.one_of(FLAGS, WORDS), max_size=2).map(tuple),
    path=st.one_of(st.just(""), FILES, WORDS),
    unless=st.lists(st.one_of(PROGRAMS, FLAGS, FILES, WORDS), max_size=2).map(tuple),
)
SEEN = st.builds(
    lambda trigger, ruling, held, broke, way, project: replace(
        SAW,
        cue=f"{'<ruling> ' if ruling else ''}{trigger.command} ⇒ {trigger.words} {trigger.path} {trigger.unless}"[:200],
        trigger=trigger,
        held=held,
        broke=broke,
        way_out=way,
        text=f"It fails, {way}.",
        project=project,
    ),
    TRIGGERS,
    st.booleans(),
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from(["", "do it otherwise"]),
    st.sampled_from(["", "cli", "osprey"]),
)
LESSONS = st.lists(SEEN, max_size=6, unique_by=lambda each: each.cue)
TOLD = st.lists(
    st.builds(
        lambda command, joined, more, project: (f"`{command}` fails{joined}{more}", project),
        st.one_of(PROGRAMS, st.builds(lambda name, flag: f"{name} {flag}", PROGRAMS, FLAGS), WORDS.map(str.strip)),
        st.sampled_from([": ", " without ", ". ", ", ", "; use "]),
        st.one_of(FLAGS, PROGRAMS.map("run `{}` first".format), WORDS),
        st.sampled_from(["", "cli", "osprey", "*"]),
    ),
    max_size=3,
)
"""Failures that are remembered, each with its project."""
COMMANDS = st.lists(st.one_of(PROGRAMS, FLAGS, FILES, WORDS, st.sampled_from(["&&", "|", "cd x &&"])), max_size=6)
CALLS = st.one_of(
    st.builds(lambda words: ("Bash", {"command": " ".join(words)}), COMMANDS),
    st.builds(lambda path, text: ("Edit", {"file_path": path, "new_string": text}), FILES, WORDS),
    st.builds(
        lambda tool, given: (tool, given),
        st.sampled_from(["search", "", "Read"]),
        st.dictionaries(WORDS, st.recursive(st.one_of(WORDS, st.integers(), st.none()), st.lists), max_size=3),
    ),
)
Asked = tuple[str, Mapping[str, object]]


@settings(max_examples=times(14), deadline=None)
@given(LESSONS, TOLD, st.lists(st.tuples(CALLS, st.booleans()), max_size=3), st.lists(CALLS, min_size=1, max_size=6))
def test_what_a_hook_reads_answers_as_the_engine_does(
    lessons: list[Observation], told: list[tuple[str, str]], past: list[tuple[Asked, bool]], asked: list[Asked]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "memory.db", Path(folder) / "log.jsonl"
        log.write_text(transcript(past), encoding="utf-8")
        places = [f"/home/ann/work/{name}" if name else "" for name in ("cli", "osprey", "")]

        async def answers() -> list[GuardAdvice | None]:
            async with ireneo.open(path, durability="normal") as memory:
                await teach(memory, *([each] for each in lessons))
                for text, project in told:
                    await memory.remember(text, kind="failure", project=project)
                store, space = memory._resources.store, memory.space
                look = partial(so_far, log)
                return [
                    await store.read(check, space, *call, look_back=look, project=project_of(directory=place) or None)
                    for call in asked
                    for place in places
                ]

        said = asyncio.run(answers())
        for each, (call, place) in zip(said, product(asked, places), strict=True):
            assert check_call(path, "default", *call, folder=place, transcript=log) == each


@given(st.lists(SEEN, max_size=4), CALLS)
def test_a_call_without_a_word_of_a_trap_steps_into_none(lessons: list[Observation], asked: Asked) -> None:
    traps = [trap for each in lessons if (trap := trap_of(lesson_of(each), {each.cue: [each]})) is not None]
    found = advice(traps, *asked, SessionSoFar, project=None)
    assert found is None or contains_any([each.needle for each in traps], *asked)


@given(LESSONS, CALLS)
def test_what_is_said_is_of_a_lesson_and_has_a_way_out(lessons: list[Observation], asked: Asked) -> None:
    traps = {each.cue: trap for each in lessons if (trap := trap_of(lesson_of(each), {each.cue: [each]})) is not None}
    found = advice(list(traps.values()), *asked, SessionSoFar, project="cli")
    if found is not None:
        trap = next(each for each in traps.values() if each.lesson == found.lesson)
        assert trap.projects == ("cli",)
        assert found.way_out
        assert len(found.text.splitlines()) == 2
        told = SessionSoFar(told=frozenset({found.lesson}))
        again = advice(list(traps.values()), *asked, lambda: told, project="cli")
        assert again is None or again.lesson != found.lesson


@given(LESSONS, CALLS)
def test_a_call_that_was_just_made_is_known(lessons: list[Observation], asked: Asked) -> None:
    traps = [trap for each in lessons if (trap := trap_of(lesson_of(each), {each.cue: [each]})) is not None]
    made = SessionSoFar(calls=(PastCall(tool=asked[0], arguments=asked[1], failed=True),))
    assert advice(traps, *asked, lambda: made, project=None) is None


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_no_transcript_makes_it_fail(given_bytes: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_bytes(given_bytes + b'\n{"message": ' + given_bytes + b"}\n")
        assert so_far(log).calls == ()


def transcript(past: list[tuple[Asked, bool]]) -> str:
    """The session so far as Claude Code writes it."""
    lines: list[dict[str, object]] = [{"type": "user", "message": {"role": "user", "content": "Please fix it."}}]
    for number, ((tool, given_to), failed) in enumerate(past):
        used = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given_to}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "is_error": failed, "content": "x"}
        lines.append({"type": "assistant", "message": {"role": "assistant", "content": [used]}})
        lines.append({"type": "user", "message": {"role": "user", "content": [result]}})
    return "".join(json.dumps(line) + "\n" for line in lines)
