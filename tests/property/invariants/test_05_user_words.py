"""System and user messages stay verbatim, or visibly shortened, until a goal's summary covers them."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given

from ireneo import Context, Message, Session

from .houses import calm, stores
from .journeys import Journey, journeys, travel
from .promises import is_spoken, stands, strings, user_words


@calm(6)
@given(store=stores, journey=journeys())
def test_what_was_said_is_verbatim_or_visibly_shortened_or_quoted_and_sent_so(store: str, journey: Journey) -> None:
    async def check(session: Session, context: Context, path: Sequence[Message]) -> None:
        await user_words(session, context, path)
        sent = " ".join(" ".join(strings([context.system, context.messages])).split())
        for row in context.view:
            if row.what != "summary" and is_spoken(path[stands(row, path)[0]]):
                assert " ".join(row.text.split()) in sent

    travel(store, journey, check)
