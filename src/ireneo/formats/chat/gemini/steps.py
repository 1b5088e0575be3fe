"""The model's steps: calls stand behind a user's content, and are answered in their order, under their names."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.formats.chat.gemini.writer import merge_natives
from ireneo.formats.chat.mends.change import with_parts
from ireneo.log.message import Call, Draft, Result, Thinking


def answer_in_order(drafts: Sequence[Draft]) -> list[Draft]:
    """Sort the results of each step as its calls are, and name them so.

    Expects each call to be answered directly after it, once.
    """
    out: list[Draft] = []
    calls: tuple[Call, ...] = ()
    run: list[Draft] = []
    for draft in drafts:
        if draft.role == "tool":
            run.append(draft)
            continue
        out += _ordered(run, calls)
        out.append(draft)
        run, calls = [], draft.calls
    return [*out, *_ordered(run, calls)]


def call_after_user(drafts: Sequence[Draft]) -> list[Draft]:
    """Join what the model said to the calls that it made next: calls may not stand behind a content of the model's."""
    out: list[Draft] = []
    for draft in drafts:
        while draft.role == "assistant" and draft.calls and out and out[-1].role == "assistant":
            before = out.pop()
            draft = replace(before, parts=before.parts + draft.parts, native=merge_natives(before, draft))
        out.append(draft)
    return out


def drop_mere_thoughts(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop the thoughts of a reply that says and does nothing else."""
    return [with_parts(draft, ()) if draft.parts and all(map(_is_thought, draft.parts)) else draft for draft in drafts]


def _is_thought(part: object) -> bool:
    return isinstance(part, Thinking) and bool(part.text)


def _ordered(run: Sequence[Draft], calls: Sequence[Call]) -> list[Draft]:
    results = {result.call_id: result for draft in run for result in draft.results}
    listed = [result for draft in run for result in draft.results]
    wanted = [_named(results[call.id], call) for call in calls if call.id in results]
    if not run or listed == wanted:
        return list(run)
    return [replace(run[0], parts=tuple(wanted), native=None)]


def _named(result: Result, call: Call) -> Result:
    return result if result.name == call.name else replace(result, name=call.name)
