"""A summary stands where the first message that it covers stood."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given

from ireneo import Context, Message, Session

from .houses import calm, stores
from .journeys import Journey, journeys, travel
from .promises import in_place, stands


@calm(6)
@given(store=stores, journey=journeys())
def test_summaries_and_users_words_stand_in_the_order_of_the_path_and_the_newest_last(
    store: str, journey: Journey
) -> None:
    async def check(session: Session, context: Context, path: Sequence[Message]) -> None:
        in_place(context, path)
        starts = [stands(row, path)[0] for row in context.view]
        assert all(before < after for before, after in itertools.pairwise(starts))
        newest = context.view[-1]
        assert newest.last == path[-1].id
        # Only a budget that has room for nothing else puts it under the summary of everything.
        assert newest.what != "summary" or newest.covers == len(path)

    travel(store, journey, check)
