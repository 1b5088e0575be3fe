"""The rules of the format, over the outline of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.responses.item_rules import ITEM_RULES, reasoning_alone
from ireneo.formats.chat.responses.items import read_item
from ireneo.formats.chat.responses.names import SIDES, call_id_of, is_call, is_output, kind_of, output_kind, side_of
from ireneo.formats.chat.rules.ids import call_without_id, duplicate_id
from ireneo.formats.chat.rules.outline import Outline, Outlines, Rule, breach
from ireneo.formats.chat.rules.pairs import PAIR_RULES
from ireneo.formats.chat.rules.roles import unknown_role
from ireneo.formats.chat.rules.unreadable import unreadable


def outlined(items: Sequence[dict[str, object]]) -> Outlines:
    """What the rules see of `items`: a run of outputs answers the calls of the reply directly before it."""
    outlines: list[Outline] = []
    reply: dict[str, int] = {}
    before = ""
    for index, item in enumerate(items):
        side = side_of(item)
        if side != "tool" and not (side == "assistant" == before):
            reply = {}
        if is_call(item):
            reply[call_id_of(item)] = index
        answering = is_output(item)
        outlines.append(
            Outline(
                index=index,
                role=side,
                message=item,
                calls=(call_id_of(item),) if is_call(item) else (),
                results=(call_id_of(item),) if answering else (),
                answers=reply.get(call_id_of(item)) if answering else None,
            )
        )
        before = side
    return Outlines(outlines)


def wrong_kind(outlines: Outlines) -> Iterator[Violation]:
    """A call is answered by an output of its own kind."""
    items = [outline.message for outline in outlines]
    for outline in outlines:
        if outline.answers is not None:
            expected = output_kind(kind_of(items[outline.answers]))
            if kind_of(outline.message) != expected:
                yield breach("wrong-kind", outline.index, f"the call is answered by a {expected}, not by this.")


LOCAL_RULES: tuple[Rule, ...] = (
    unknown_role(SIDES),
    unreadable(read_item, SIDES),
    call_without_id,
    *ITEM_RULES,
)
"""Those that look at one item at a time."""

RULES: tuple[Rule, ...] = (*LOCAL_RULES, reasoning_alone, duplicate_id, *PAIR_RULES, wrong_kind)
