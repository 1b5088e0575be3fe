"""The rules of the format, over the outline of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.gemini.ids import Named, call_ids, named, result_ids
from ireneo.formats.chat.gemini.names import CALL, RESULT, ROLES, parts_in, role_in
from ireneo.formats.chat.gemini.part_rules import PART_RULES
from ireneo.formats.chat.gemini.reader import read_content
from ireneo.formats.chat.gemini.signatures import STAND_IN, unsigned_calls
from ireneo.formats.chat.rules.ids import duplicate_id_in_message
from ireneo.formats.chat.rules.outline import Outline, Outlines, Rule, breach
from ireneo.formats.chat.rules.pairs import PAIR_RULES
from ireneo.formats.chat.rules.roles import first_not_user, unknown_role
from ireneo.formats.chat.rules.unreadable import unreadable


def outlined(contents: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `contents`: one of the user's answers the one of the model's directly before it."""
    outlines: list[Outline] = []
    calls: list[Named] = []
    for index, content in enumerate(contents):
        role = role_in(content)
        results = result_ids(named(parts_in(content), RESULT), calls) if role == "user" else []
        after = index - 1 if role == "user" and index and outlines[-1].role == "model" else None
        calls = named(parts_in(content), CALL) if role == "model" else []
        outlines.append(
            Outline(
                index=index,
                role=role,
                message=content,
                calls=tuple(call_ids(calls)),
                results=tuple(results),
                answers=after,
            )
        )
    return Outlines(outlines)


def answers_differ(outlines: Outlines) -> Iterator[Violation]:
    """The results are those of the calls before, in the same order, under the same names and ids."""
    contents = [outline.message for outline in outlines]
    for outline in outlines:
        if outline.answers is None or not outline.results:
            continue
        made = named(parts_in(contents[outline.answers]), CALL)
        # Results that are missing or too many are another rule's.
        if sorted(outline.results) == sorted(call_ids(made)) and named(parts_in(outline.message), RESULT) != made:
            says = "its results must stand in the order of the calls before, and bear their names and ids."
            yield breach("answers-differ", outline.index, says)


def call_not_after_user(outlines: Outlines) -> Iterator[Violation]:
    """The model calls directly after the user has spoken or a call was answered."""
    before = "user"
    for outline in outlines:
        if outline.calls and before != "user":
            says = "its calls must stand directly behind a content of the user's; join it to the one before."
            yield breach("call-not-after-user", outline.index, says)
        before = outline.role


def unsigned_call(outlines: Outlines) -> Iterator[Violation]:
    """In the turn that is running, the first call of each content is signed."""
    for index, _ in unsigned_calls([outline.message for outline in outlines]):
        says = f"its first call has no thoughtSignature; where none is to be had, {STAND_IN!r} stands for it."
        yield breach("unsigned-call", index, says)


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(ROLES),
    unreadable(read_content, ROLES),
    duplicate_id_in_message,
    *PART_RULES,
)
"""Those that look at one content at a time."""

RULES: tuple[Rule, ...] = (
    *LOCAL_RULES,
    first_not_user,
    *PAIR_RULES,
    answers_differ,
    call_not_after_user,
    unsigned_call,
)
