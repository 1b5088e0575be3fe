"""Make memories of a turn of work or a leaf of a story: an episode, failures, corrections of earlier failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.engine.scope import DIRECTORY, MOST_TOLD, weightiest
from ireneo.log.calls import entered_text, known_failed
from ireneo.log.message import Message, MessageId
from ireneo.memories.record import TRUST, MemoryDraft, Record
from ireneo.memories.signature import action_of, action_signature, error_signature, signature
from ireneo.patterns import lazy_re
from ireneo.summaries.outcomes import approach_of_step, dead_ends, discarded_files, is_restore, is_revert, refusal_words
from ireneo.summaries.statements import is_request, prose, prose_worth
from ireneo.summaries.steps import CHANGES, Step, clip, error_line, error_lines, steps
from ireneo.summaries.summary import Line, Summary

_TAG = lazy_re(r"</?[a-z][\w-]*>")
"""Tags that a harness puts around a user's command."""
_ASKED = 120
_COMMAND = 80
_ERROR = 90
_SAID = 120
_FILES = 3
_LEFT_FAILING = 2
"""How many checks besides the last one are reported as failed at most."""
UNDONE = "undo "
"""Prefix of the subject of a dead end that worked and was reverted."""
_LEAST = 30
"""Least room for the agent's closing words."""
BASE_SALIENCE = 0.4
MORE_SALIENCE = 0.2
"""Added for a change, and for a failure."""


class Turn(Struct, frozen=True, kw_only=True):
    """A finished turn."""

    session: str
    messages: tuple[Message, ...]
    """From the user's message on; never empty."""
    place: Mapping[str, str] = {}
    """The agent's place of work, such as the directory, if known."""


def turn_memories(turn: Turn, recorded: datetime) -> list[MemoryDraft]:
    """The memories of a turn, the episode first; empty if no work was done.

    Injected messages and other tools' summaries are no evidence. A call that the user refused is part of the episode,
    and no failure.
    """
    spoken = [message for message in turn.messages if message.draft.origin == "spoken"]
    done = steps(spoken)
    if not done:
        return []
    # Repeated attempts are one line with the newest reason.
    given_up = [(line, _step_of(line, done)) for line in dead_ends(done)]
    return [
        _episode(turn, spoken, done, bool(given_up), recorded),
        *(_failure_draft(turn, line, step, recorded) for line, step in given_up if not step.was_rejected),
    ]


def _step_of(line: Line, done: Sequence[Step]) -> Step:
    """The last step on which a dead end is based; of several calls in one message the one that it names."""
    shown = [step for step in done if step.source in line.sources]
    return next((step for step in reversed(shown) if approach_of_step(step) == line.subject), shown[-1])


def _episode(
    turn: Turn, spoken: Sequence[Message], done: Sequence[Step], given_up: bool, recorded: datetime
) -> MemoryDraft:
    opening, last = turn.messages[0], turn.messages[-1]
    asked = clip(" ".join(_TAG.sub(" ", entered_text(opening.text)).split()), _ASKED).rstrip(".")
    parts = [
        *_refusal_part(done),
        *_changes_part(done, turn.place.get(DIRECTORY, "")),
        *_outcome_part(done),
        *_closing_part(spoken),
    ]
    parts = [(f"“{asked}”{':' if parts else '.'}" if asked else "I was asked.", ()), *parts]
    text, sources = "", [opening.id]
    for part, shown in parts:
        room = MOST_TOLD - len(text) - 1
        if len(part) > room:
            if room < _LEAST:
                break
            part = clip(part, room)
        text = f"{text} {part}".strip()
        sources += shown
    told = _deciding_step(done)
    failed = given_up or (told is not None and told.failed_itself)
    changed = any(step.action.kind in CHANGES for step in done)
    at = _last_time(turn.messages)
    messages = tuple(dict.fromkeys((*sources, last.id)))
    return _agent_memory(text, turn.session, messages, at=at, recorded=recorded, weight=changed + failed)


def _refusal_part(done: Sequence[Step]) -> Iterator[tuple[str, tuple[MessageId, ...]]]:
    """The last thing that the user refused, and why."""
    step = next((step for step in reversed(done) if step.was_rejected), None)
    if step is not None:
        said = clip(refusal_words(step), _SAID)
        yield f"The user said no to {_call_name(step)}{f': “{said}”' if said else ''}.", step.sources


def _call_name(step: Step) -> str:
    subject = clip(step.action.subject, _COMMAND)
    return f"`{subject}`" if step.action.shell else f"{step.call.name} {subject}".strip()


def _changes_part(done: Sequence[Step], directory: str) -> Iterator[tuple[str, tuple[MessageId, ...]]]:
    """The files whose changes were kept, relative to the directory."""
    made: dict[str, Step] = {}
    for place, step in enumerate(done):
        if step.action.kind in CHANGES and not step.action.shell and step.result is not None and not step.failed:
            made[step.action.subject] = step
        for path in discarded_files(done, place):
            made.pop(path, None)
    if made:
        root = f"{directory.rstrip('/')}/" if directory else ""
        named = [f"`{clip(path.removeprefix(root), _COMMAND)}`" for path in list(made)[-_FILES:]]
        more = f" and {len(made) - _FILES} more" if len(made) > _FILES else ""
        sources = [source for step in list(made.values())[-_FILES:] for source in step.sources]
        yield f"I changed {', '.join(named)}{more}.", tuple(sources)


def _outcome_part(done: Sequence[Step]) -> Iterator[tuple[str, tuple[MessageId, ...]]]:
    """How the last command ended, if it failed, or else the last check; and whether the changes were reverted since.

    A check passed if neither its status nor its output contradicts that.
    """
    told = _deciding_step(done)
    for left in _failing_checks(done, told):
        yield f"`{clip(left.action.subject, _COMMAND)}` failed.", left.sources
    if told is not None and told.failed_itself:
        error = error_line(told.output, _ERROR).rstrip(".")
        yield f"`{clip(told.action.subject, _COMMAND)}` failed{f': {error}' if error else ''}.", told.sources
    elif told is not None and _has_passed(told):
        end = " in the end" if any(_retries_failed(step, told) for step in done) else ""
        yield f"`{clip(told.action.subject, _COMMAND)}` passed{end}.", told.sources
    back = _final_revert(done)
    if back is not None:
        yield f"I took the changes back with `{clip(back.action.subject, _COMMAND)}`.", back.sources


def _deciding_step(done: Sequence[Step]) -> Step | None:
    """The last command, if it failed; otherwise the last check that ended by itself."""
    ran = next((step for step in reversed(done) if step.action.kind in ("check", "run", "save")), None)
    if ran is not None and ran.failed_itself:
        return ran
    checks = (step for step in reversed(done) if step.action.kind == "check" and step.result is not None)
    return next((step for step in checks if step.failed_itself or not step.failed), None)


def _failing_checks(done: Sequence[Step], told: Step | None) -> list[Step]:
    """The checks that failed when they were last run, except the one that is reported anyway."""
    last = {step.action.subject: step for step in done if step.action.kind == "check" and step.result is not None}
    left = [step for step in last.values() if step.failed_itself and step is not told]
    return [step for step in left if told is None or not _retries_failed(step, told)][-_LEFT_FAILING:]


def _retries_failed(step: Step, passed: Step) -> bool:
    """Whether a step ran the same check before, or a part of it, and failed."""
    earlier = step.position < passed.position and step.action.kind == "check" and step.failed_itself
    check = passed.action.subject.split()
    return earlier and any(each.split()[: len(check)] == check for each in step.action.subject.split("&&"))


def _has_passed(check: Step) -> bool:
    failed = known_failed(check.result, check.call) if check.result is not None else None
    return failed is False or (failed is None and not error_lines(check.cleaned_output))


def _final_revert(done: Sequence[Step]) -> Step | None:
    """The last step that reverted changes, if nothing was changed or tried since."""
    for step in reversed(done):
        if is_revert(step):
            return step
        if step.action.kind in (*CHANGES, "check") or is_restore(step):
            return None
    return None


def _closing_part(spoken: Sequence[Message]) -> Iterator[tuple[str, tuple[MessageId, ...]]]:
    """The agent's closing sentences with the most weight."""
    last = spoken[-1]
    if last.role != "assistant" or last.draft.calls:
        yield "It ended without an answer.", (last.id,)
        return
    said = [sentence for sentence in prose(last.text) if not is_request(sentence)]
    if said:
        yield max(said, key=prose_worth), (last.id,)


def _failure_draft(turn: Turn, line: Line, step: Step, recorded: datetime) -> MemoryDraft:
    at = _last_time([message for message in turn.messages if message.position <= line.position])
    return MemoryDraft(
        text=clip(line.text, MOST_TOLD),
        kind="failure",
        at=at or recorded,
        recorded=recorded,
        origin="agent",
        trust=TRUST["agent"],
        signature=signature(_approach_signature(line, step), error_signature(step.output) if step.failed else ""),
        conditions={"tool": step.call.name, **turn.place},
        session=turn.session,
        messages=tuple(dict.fromkeys(line.sources)),
    )


def _approach_signature(line: Line, step: Step) -> str:
    """The signature of what was tried: the failed call, or the reverted change."""
    if step.failed:
        return action_signature(step.call.name, step.call.arguments)
    return action_signature("change", {"file": line.subject.removeprefix(UNDONE)})


def _last_time(messages: Sequence[Message]) -> datetime | None:
    """The last known time of these messages."""
    return next((message.draft.at for message in reversed(messages) if message.draft.at is not None), None)


def leaf_episode(session: str, leaf: Summary, at: datetime | None, recorded: datetime) -> MemoryDraft | None:
    """An episode of the sentences of a leaf with the most weight, in order; None if there are none.

    `at` is the time of the last message that it covers, if known.
    """
    text, messages = weightiest(leaf.lines("story"))
    if not text:
        return None
    opened = bool(leaf.threads.opened)
    episode = _agent_memory(text, session, messages, at=at, recorded=recorded, weight=opened)
    return replace(episode, summaries=(leaf.id,))


def _agent_memory(
    text: str, session: str, messages: tuple[MessageId, ...], *, at: datetime | None, recorded: datetime, weight: int
) -> MemoryDraft:
    return MemoryDraft(
        text=text,
        kind="episodic",
        at=at or recorded,
        recorded=recorded,
        origin="agent",
        trust=TRUST["agent"],
        salience=BASE_SALIENCE + MORE_SALIENCE * weight,
        session=session,
        messages=messages,
    )


class KnownFailure(Struct, frozen=True, kw_only=True):
    """A failure that a session knows of and hasn't seen working since."""

    signature: str
    text: str
    at: datetime
    place: dict[str, str]


def known_failures(records: Iterable[Record], session: str) -> list[KnownFailure]:
    """The failures of `session` that it has not overturned, independent of other sessions."""
    out: list[KnownFailure] = []
    for record in records:
        seen = [piece for piece in record.evidence if piece.session == session]
        last = max(seen, key=lambda piece: piece.at, default=None)
        if last is not None and not last.against:
            out.append(
                KnownFailure(signature=record.signature, text=record.text, at=last.at, place=dict(record.conditions))
            )
    return out


def failures_of_drafts(drafts: Iterable[MemoryDraft]) -> list[KnownFailure]:
    """The failures among a turn's drafts."""
    return [
        KnownFailure(signature=draft.signature, text=draft.text, at=draft.at, place=dict(draft.conditions))
        for draft in drafts
        if draft.signature and not draft.against
    ]


def overturning_drafts(turn: Turn, known: Sequence[KnownFailure], recorded: datetime) -> list[MemoryDraft]:
    """Evidence against `known` failures: the same call in the same place worked in this turn."""
    by_action = {action: each for each in known if (action := action_of(each.signature))}
    if not by_action:
        return []
    out: dict[str, MemoryDraft] = {}
    at = {message.id: message.draft.at for message in turn.messages}
    for step in steps([message for message in turn.messages if message.draft.origin == "spoken"]):
        failure = by_action.get(action_signature(step.call.name, step.call.arguments))
        moment = at[step.answer] if step.answer else None
        worked = step.result is not None and not step.failed
        if failure is None or not worked or moment is None or moment <= failure.at:
            continue
        if any(failure.place.get(name, value) != value for name, value in turn.place.items()):
            continue
        draft = MemoryDraft(
            text=failure.text,
            kind="failure",
            at=moment,
            recorded=recorded,
            origin="agent",
            trust=TRUST["agent"],
            signature=failure.signature,
            conditions={"tool": step.call.name, **turn.place},
            against=True,
            session=turn.session,
            messages=step.sources,
        )
        out.setdefault(failure.signature, draft)
    return list(out.values())
