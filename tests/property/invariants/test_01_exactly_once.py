"""Every message of the path stands in the context once: as itself or under one summary."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given

import ireneo
from ireneo import Context, Message, Session
from ireneo.log.message import chain

from .houses import calm, stores
from .journeys import Journey, Look, journeys, looks, travel
from .material import Teller, scripts
from .promises import exactly_once


async def _once(session: Session, context: Context, path: Sequence[Message]) -> None:
    exactly_once(context, path)
    if any(row.what == "summary" for row in context.view):
        assert sum(row.covers for row in context.view) == len(path)


@calm(5)
@given(store=stores, journey=journeys())
def test_every_message_of_a_growing_session_stands_once(store: str, journey: Journey) -> None:
    travel(store, journey, _once)


@calm(8)
@given(steps=scripts(), look=looks)
def test_every_message_of_a_compacted_list_stands_once(steps: list[str], look: Look) -> None:
    drafts = Teller().tell(["ask", *steps])
    messages = ireneo.chat_format(look.to).encode(drafts)
    context = ireneo.compact(messages, look.budget, preset=look.preset)
    path = chain(None, ireneo.chat_format(look.to).decode(messages), lambda parts: (0, 0))
    exactly_once(context, path)
