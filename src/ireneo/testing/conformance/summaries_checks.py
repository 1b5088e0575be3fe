"""The summaries over a session's tree, and the frontier that they make along a path."""

from __future__ import annotations

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message
from ireneo.ports.store import Span, Store
from ireneo.summaries.summary import Summary, SummaryId, Writing
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import FAMILY, KEY, after, numbered, summarise, tell, tell_after


async def put(store: Store, *summaries: Summary) -> int:
    """Store summaries in a transaction of their own."""
    async with store.write() as tx:
        return await tx.summaries.put(KEY, summaries)


async def frontier(store: Store, to: Message, family: str = FAMILY) -> list[Summary]:
    """Read the frontier along the path to a message."""
    async with store.read() as tx:
        return list(await tx.summaries.frontier(KEY, to.id, family))


async def spans(store: Store, to: Message, depth: int = 1, first: int = 0) -> list[tuple[int, int]]:
    """Read the spans along the path to a message: where each begins and ends."""
    async with store.read() as tx:
        found = await tx.summaries.spans(KEY, to.id, FAMILY, depth, first)
    return [(span.first_position, span.last_position) for span in found]


@check
async def a_summary_comes_back(store: Store) -> None:
    """A summary comes back equal, by its id, in the order asked; unknown ids are passed over."""
    messages = await tell(store, numbered(8))
    one, two = summarise(messages[0], messages[3]), summarise(messages[4], messages[7], level="goal", depth=2)
    expect(await put(store, one, two), 2, "new")
    async with store.read() as tx:
        found = await tx.summaries.get(KEY, [two.id, SummaryId("s_unknown"), one.id])
    expect(list(found), [two, one], "the summaries")


@check
async def a_summary_comes_back_as_it_was_written(store: Store) -> None:
    """How a model wrote a summary comes back with it, on every way of reading it; the offline text has no writing."""
    messages = await tell(store, numbered(8))
    plain = Writing(prompt="turn-1", model="a/model:1", tokens_in=3000, tokens_out=400, supported=1.0, recall=0.1)
    mended = replace(plain, supported=1 / 3, recall=0.0, repaired=True, struck=2, disputes=("d_one", "d_two"))
    offline, one, two = (summarise(messages[first], messages[first + 1]) for first in (0, 2, 4))
    written = [offline, replace(one, writing=plain), replace(two, writing=mended)]
    await put(store, *written)
    expect(await frontier(store, messages[-1]), written, "the frontier")
    async with store.read() as tx:
        expect(list(await tx.summaries.get(KEY, [each.id for each in written])), written, "what is got")
        expect(list(await tx.summaries.find(KEY, written[2].id)), written[2:], "what is found")


@check
async def an_anchor_is_taken_once(store: Store) -> None:
    """A summary whose anchor is taken is left as it is, and doesn't count as new."""
    messages = await tell(store, numbered(4))
    first = summarise(messages[0], messages[3], text="first")
    second = summarise(messages[0], messages[3], text="second")
    expect(await put(store, first), 1, "new")
    expect(await put(store, second, summarise(messages[0], messages[1]), first), 1, "new of three")
    async with store.read() as tx:
        expect(list(await tx.summaries.get(KEY, [first.id])), [first], "the summary")


@check
async def a_summary_needs_its_messages(store: Store) -> None:
    """A summary whose first or last message is not stored, or stands elsewhere, is refused, and all put with it."""
    messages = await tell(store, numbered(4))
    missing = after(messages[-1], numbered(2, "missing"))
    good = summarise(messages[0], messages[1])
    moved = Summary(
        id=SummaryId("s_moved"),
        level="turn",
        depth=1,
        first=messages[0].id,
        last=messages[1].id,
        first_position=1,
        last_position=2,
        family=FAMILY,
        source_tokens=0,
    )
    async with store.write() as tx:
        with expect_error(MessageNotFound, "a summary of messages that are not stored"):
            await tx.summaries.put(KEY, [good, summarise(messages[0], missing[-1])])
        with expect_error(BadInput, "a summary with wrong positions"):
            await tx.summaries.put(KEY, [good, moved])
        expect(list(await tx.summaries.get(KEY, [good.id])), [], "what is stored")


@check
async def a_summary_needs_a_session(store: Store) -> None:
    """Storing a summary in a session that was never made raises SessionNotFound; reading there finds nothing."""
    messages = after(None, numbered(2))
    async with store.write() as tx:
        with expect_error(SessionNotFound, "the put"):
            await tx.summaries.put(KEY, [summarise(messages[0], messages[1])])
        expect(list(await tx.summaries.find(KEY, "s_")), [], "what is found")
        expect(list(await tx.summaries.get(KEY, [SummaryId("s_x")])), [], "what is got")
        with expect_error(MessageNotFound, "a frontier"):
            await tx.summaries.frontier(KEY, messages[1].id, FAMILY)


@check
async def summaries_are_found_by_the_beginning_of_their_id(store: Store) -> None:
    """Summaries are found by the beginning of their id, the newest stretch first, at most ten."""
    messages = await tell(store, numbered(30))
    all_of_them = [summarise(messages[2 * number], messages[2 * number + 1]) for number in range(14)]
    await put(store, *all_of_them)
    async with store.read() as tx:
        expect(list(await tx.summaries.find(KEY, "s_")), all_of_them[:3:-1], "what is found by the shortest")
        expect(
            list(await tx.summaries.find(KEY, all_of_them[5].id[:12])), [all_of_them[5]], "what is found by a long one"
        )
        expect(list(await tx.summaries.find(KEY, "s_00")), [], "what is found by an unknown one")


@check
async def a_frontier_is_the_widest(store: Store) -> None:
    """Of summaries that begin at the same message the frontier takes the one that reaches furthest."""
    m = await tell(store, numbered(20))
    turns = [summarise(m[first], m[first + 3]) for first in (0, 4, 8, 12)]
    goal = summarise(m[0], m[7], level="goal", depth=1)
    story = summarise(m[0], m[11], level="story", depth=2)
    await put(store, *turns)
    expect(await frontier(store, m[-1]), turns, "the frontier of turns")
    await put(store, goal)
    expect(await frontier(store, m[-1]), [goal, *turns[2:]], "the frontier with a goal")
    await put(store, story)
    expect(await frontier(store, m[-1]), [story, turns[3]], "the frontier with a story")


@check
async def a_frontier_takes_the_nearest_first(store: Store) -> None:
    """What begins nearer comes before what reaches further; gaps are left open, and nothing overlaps."""
    m = await tell(store, numbered(30))
    near, wide, inside, later = (summarise(m[first], m[last]) for first, last in ((2, 5), (4, 20), (8, 11), (22, 29)))
    await put(store, wide, later, inside, near)
    expect(await frontier(store, m[-1]), [near, inside, later], "the frontier")


@check
async def a_frontier_takes_the_deeper_of_two_alike(store: Store) -> None:
    """Of two summaries of the same stretch the frontier takes the deeper one."""
    m = await tell(store, numbered(6))
    shallow, deep = summarise(m[0], m[5]), summarise(m[0], m[5], level="goal", depth=2)
    await put(store, shallow, deep)
    expect(await frontier(store, m[-1]), [deep], "the frontier")


@check
async def a_frontier_is_of_one_family(store: Store) -> None:
    """A frontier holds summaries of the family asked for, and no others."""
    m = await tell(store, numbered(8))
    ours, theirs = summarise(m[0], m[3]), summarise(m[0], m[7], family="family-2")
    await put(store, ours, theirs)
    expect(await frontier(store, m[-1]), [ours], "the frontier")
    expect(await frontier(store, m[-1], "family-2"), [theirs], "the frontier of the other family")
    expect(await frontier(store, m[-1], "family-3"), [], "the frontier of no family")


@check
async def a_frontier_ends_with_its_path(store: Store) -> None:
    """A summary that reaches beyond the end of the path is not on it."""
    m = await tell(store, numbered(12))
    one, two, both = summarise(m[0], m[3]), summarise(m[4], m[7]), summarise(m[0], m[7], level="goal")
    await put(store, one, two, both)
    expect(await frontier(store, m[7]), [both], "the frontier at its end")
    expect(await frontier(store, m[6]), [one], "the frontier one message earlier")
    expect(await frontier(store, m[2]), [], "the frontier inside the first summary")


@check
async def a_frontier_stays_on_its_branch(store: Store) -> None:
    """A fork sees the summaries of what it shares, and none that covers what it left."""
    m = await tell(store, numbered(16))
    shared, straddling, left = summarise(m[0], m[3]), summarise(m[4], m[9]), summarise(m[10], m[15])
    wide = summarise(m[0], m[15], level="goal", depth=2)
    await put(store, shared, straddling, left, wide)
    fork = await tell_after(store, m[7], numbered(6, "fork"))
    expect(await frontier(store, fork[-1]), [shared], "the frontier of the fork")
    across = summarise(m[4], fork[1])
    own = summarise(fork[2], fork[5])
    await put(store, across, own)
    expect(await frontier(store, fork[-1]), [shared, across, own], "the frontier with the fork's own")
    expect(await frontier(store, m[-1]), [wide], "the frontier of the trunk")


@check
async def a_frontier_crosses_every_fork(store: Store) -> None:
    """Along a path through many forks, summaries of every stretch stand in their order."""
    path = await tell(store, numbered(6))
    for number in range(8):
        await tell_after(store, path[-1], numbered(3, f"left {number}"))
        path = path[:-1] + await tell_after(store, path[-2], numbered(5, f"taken {number}"))
    pairs = [summarise(path[first], path[first + 1]) for first in range(0, len(path) - 1, 2)]
    wide = summarise(path[10], path[25], level="goal", depth=2)
    await put(store, *reversed(pairs))
    expect(await frontier(store, path[-1]), pairs, "the frontier of pairs")
    await put(store, wide)
    expect(await frontier(store, path[-1]), [*pairs[:5], wide, *pairs[13:]], "the frontier with a wide one")


@check
async def spans_are_of_one_family_and_depth(store: Store) -> None:
    """Spans are what the summaries of one family and depth cover, in order, overlapping ones too, with their ids."""
    m = await tell(store, numbered(20))
    alike = [summarise(m[4], m[7], level=level) for level in ("turn", "story")]
    own = [summarise(m[0], m[3]), summarise(m[4], m[5]), *sorted(alike, key=lambda each: each.id)]
    others = [summarise(m[0], m[7], level="goal", depth=2), summarise(m[8], m[11], family="family-2")]
    await put(store, *reversed(own), *others)
    async with store.read() as tx:
        found = await tx.summaries.spans(KEY, m[-1].id, FAMILY, 1)
    wanted = [Span(id=each.id, first_position=each.first_position, last_position=each.last_position) for each in own]
    expect(list(found), wanted, "the spans")
    expect(await spans(store, m[-1], depth=2), [(0, 7)], "the deeper ones")
    expect(await spans(store, m[-1], depth=3), [], "those that aren't there")


@check
async def spans_lie_on_their_path(store: Store) -> None:
    """A span lies wholly on the path, on whatever stretches of it: none reaches beyond its end or into what it left."""
    m = await tell(store, numbered(12))
    fork = await tell_after(store, m[5], numbered(6, "fork"))
    twig = await tell_after(store, fork[2], numbered(4, "twig"))
    pairs = ((m[0], m[3]), (m[4], m[7]), (m[4], fork[1]), (fork[0], fork[2]), (fork[2], twig[0]), (twig[1], twig[3]))
    await put(store, *(summarise(first, last) for first, last in reversed(pairs)))
    expect(await spans(store, m[-1]), [(0, 3), (4, 7)], "the spans of the trunk")
    expect(await spans(store, m[6]), [(0, 3)], "the spans of the trunk, one message short")
    expect(await spans(store, fork[-1]), [(0, 3), (4, 7), (6, 8)], "the spans of the fork")
    expect(await spans(store, twig[-1]), [(0, 3), (4, 7), (6, 8), (8, 9), (10, 12)], "the spans of the twig")


@check
async def spans_begin_where_asked(store: Store) -> None:
    """Spans that begin before the position asked for are left out, however far they reach."""
    m = await tell(store, numbered(12))
    fork = await tell_after(store, m[5], numbered(6, "fork"))
    await put(store, summarise(m[0], m[3]), summarise(m[3], fork[1]), summarise(m[4], m[5]), summarise(m[5], fork[2]))
    for first, wanted in ((0, 4), (1, 3), (4, 2), (5, 1), (6, 0), (50, 0)):
        expect(len(await spans(store, fork[-1], first=first)), wanted, f"the spans from {first} on")


@check
async def spans_need_their_message(store: Store) -> None:
    """Spans along the path to a message that is not stored raise MessageNotFound."""
    m = await tell(store, numbered(2))
    (missing,) = after(m[-1], numbered(1, "missing"))
    with expect_error(MessageNotFound, "the spans"):
        await spans(store, missing)


@check
async def families_are_listed(store: Store) -> None:
    """The families of a session's summaries are listed by name, each once, whatever their paths."""
    m = await tell(store, numbered(8))
    fork = await tell_after(store, m[3], numbered(2, "fork"))
    async with store.read() as tx:
        expect(list(await tx.summaries.families(KEY)), [], "the families of a session without summaries")
    await put(store, *(summarise(m[number], m[number + 1], family=f"family-{number % 3}") for number in range(7)))
    await put(store, summarise(fork[0], fork[1], family="another"), summarise(m[0], m[7], family=""))
    async with store.read() as tx:
        wanted = ["", "another", "family-0", "family-1", "family-2"]
        expect(list(await tx.summaries.families(KEY)), wanted, "the families")
