"""ATIF, the Agent Trajectory Interchange Format of the harbor project (v1.0 to v1.8): one document a run.

A step of the agent holds what it thought, said and called, and under `observation` what came back. The core of the
format has no flag for a failure: it is taken from `extra` where a writer noted one, and derived otherwise. Trajectories
of subagents that are embedded (v1.7) are sessions of their own, behind the one that they were begun from.

Not covered: trajectories that are only referred to by a path, and steps that a continuation copied from the trajectory
before it (`is_copied_context`), which are read as they stand. Pictures and sounds are kept as blocks of this format,
since they are only paths. Several calls answered by fewer unnamed results: those belong to the last calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TypeAlias

from msgspec.structs import replace

from ireneo.formats.logs.documents import HeldDocument, held_documents, wished_names
from ireneo.formats.logs.format import (
    DIRECTORY,
    LogFault,
    LoggedSession,
    SessionBuilder,
    UniqueNames,
    objects_in,
    read_runs,
    with_faults,
)
from ireneo.formats.values import mapping, moment, objects, string, without
from ireneo.log.message import Call, Draft, Opaque, Part, Result, Role, Text, Thinking
from ireneo.log.outcome import derive_failed
from ireneo.patterns import lazy_re

FORMAT = "atif"
_VERSION = lazy_re(rb'(?<!\\)"schema_version":\s*"ATIF-')
_STEPS = lazy_re(rb'(?<!\\)"steps":\s*\[\s*\{\s*"step_id":')
_CODES = ("exit_code", "returncode", "return_code")
_FLAGS = ("is_error", "error", "failed")


class Atif:
    """Reads ATIF documents, alone or as JSON lines."""

    name = FORMAT
    chat = "openai"

    def recognises(self, sample: bytes) -> bool:
        """Whether a document's version or its first step stands in `sample`."""
        begins = sample.lstrip().startswith((b"{", b"["))
        return begins and (_VERSION.search(sample) is not None or _STEPS.search(sample) is not None)

    @with_faults
    def read(self, lines: Iterable[bytes], name: str) -> Iterator[LoggedSession | LogFault]:
        """Read the runs, each a session called by its own id."""

        def build(held: HeldDocument) -> Iterator[tuple[SessionBuilder, list[str]]]:
            # A trajectory and those of its subagents, however deep.
            waiting = [held.document]
            while waiting:
                document = waiting.pop(0)
                besides = held.besides if document is held.document else {}
                yield _AtifRun(held.number, document, besides).growth, _wished(document, besides, name)
                waiting += [sub for sub in objects(document.get("subagent_trajectories")) if _is_trajectory(sub)]

        return read_runs(held_documents(lines, _is_trajectory), build)


def _is_trajectory(value: Mapping[str, object]) -> bool:
    steps = value.get("steps")
    version = string(value.get("schema_version")) or ""
    return isinstance(steps, list) and (version.startswith("ATIF") or any("step_id" in step for step in objects(steps)))


def _wished(document: Mapping[str, object], besides: Mapping[str, object], name: str) -> list[str]:
    # One session id may be shared by the parts of a run; the trajectory's own is not.
    session, own = string(document.get("session_id")), string(document.get("trajectory_id"))
    given = [wish for wish in (session, f"{session}-{own}" if session and own else own) if wish]
    return given or wished_names(besides) or [name]


class _AtifRun:
    """One trajectory, read step by step."""

    def __init__(self, number: int, document: Mapping[str, object], besides: Mapping[str, object]) -> None:
        self.growth = SessionBuilder(FORMAT)
        self._ids = UniqueNames()
        """Each call has an id of its own, though a writer may count them anew in each step."""
        about = without(document, "steps", "subagent_trajectories")
        self.growth.note({**besides, **about})
        self.growth.work_in(_directory(document) or _directory(mapping(document.get("agent"))))
        steps, self.growth.faults = objects_in(document, "steps", number, "steps")
        for step in steps:
            self._step(step)

    def _step(self, step: dict[str, object]) -> None:
        self.growth.work_in(_directory(step))
        at = moment(step.get("timestamp"))
        results: Sequence[Mapping[str, object]] = objects(mapping(step.get("observation")).get("results"))
        loose = results
        if step.get("source") == "agent":
            calls = [(str(call.get("tool_call_id")), self._call(call)) for call in objects(step.get("tool_calls"))]
            parts = (*_thought(step), *_content(step.get("message")), *(call for _, call in calls))
            self.growth.add(Draft(role="assistant", parts=parts, at=at), without(step, "observation"))
            pairs, loose = _paired(results, calls)
            answers = tuple(_result(result, call) for result, call in pairs)
            self.growth.add(
                Draft(role="tool", parts=answers, at=at), *(without(result, "content") for result, _ in pairs)
            )
        else:
            role: Role = "system" if step.get("source") == "system" else "user"
            # A prompt stands first; later, the harness speaks.
            later = role == "system" and bool(self.growth.nodes)
            self._say(role, step.get("message"), at, without(step, "observation"), injected=later)
        for result in loose:
            self._say("user", result.get("content"), at, without(result, "content"), injected=True)

    def _say(
        self, role: Role, content: object, at: datetime | None, entry: Mapping[str, object], *, injected: bool
    ) -> None:
        draft = Draft(role=role, parts=_content(content), origin="injected" if injected else "spoken", at=at)
        self.growth.add(draft, entry)

    def _call(self, call: Mapping[str, object]) -> Call:
        given = call.get("arguments")
        arguments = given if isinstance(given, dict | str) else {}
        name = string(call.get("function_name")) or "unknown"
        return Call(id=self._ids.give(string(call.get("tool_call_id")) or "call"), name=name, arguments=arguments)


_Answer: TypeAlias = tuple[Mapping[str, object], Call]


def _paired(
    results: Sequence[Mapping[str, object]], calls: Sequence[tuple[str, Call]]
) -> tuple[list[_Answer], list[Mapping[str, object]]]:
    """The results of a step with their calls, and the results that belong to none."""
    waiting = list(calls)
    pairs: list[_Answer] = []
    unnamed = []
    for result in results:
        made = next((each for each in waiting if each[0] == result.get("source_call_id")), None)
        if made is None:
            unnamed.append(result)
        else:
            waiting.remove(made)
            pairs.append((result, made[1]))
    last = waiting[max(0, len(waiting) - len(unnamed)) :]
    first = len(unnamed) - len(last)
    pairs += [(result, call) for result, (_, call) in zip(unnamed[first:], last, strict=True)]
    return pairs, unnamed[:first]


def _result(result: Mapping[str, object], call: Call) -> Result:
    answer = Result(call_id=call.id, parts=_content(result.get("content")))
    # A writer may have noted the outcome beside the core of the format.
    extra = mapping(result.get("extra"))
    codes = (code for key in _CODES if isinstance(code := extra.get(key), int) and not isinstance(code, bool))
    flags = (flag for key in _FLAGS if isinstance(flag := extra.get(key), bool))
    noted = next(chain((code != 0 for code in codes), flags), None)
    return replace(answer, failed=derive_failed(answer.text, call) if noted is None else noted)


def _thought(step: Mapping[str, object]) -> Iterator[Part]:
    if text := string(step.get("reasoning_content")):
        yield Thinking(text=text)


def _content(content: object) -> tuple[Text | Opaque, ...]:
    if isinstance(content, str):
        return (Text(text=content),) if content else ()
    return tuple(
        Text(text=text) if (text := string(part.get("text"))) else Opaque(format=FORMAT, payload=part)
        for part in objects(content)
    )


def _directory(holder: Mapping[str, object]) -> str | None:
    extra = mapping(holder.get("extra"))
    return next((place for key in (DIRECTORY, "working_dir", "workdir") if (place := string(extra.get(key)))), None)
