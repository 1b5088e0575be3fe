"""The annotations of a session's tree: pins, releases and disputes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, AnnotationId
from ireneo.ports.store import Store
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import KEY, after, append, noted, numbered, tell, tell_after


async def put(store: Store, *annotations: Annotation) -> int:
    """Store annotations in a transaction of their own."""
    async with store.write() as tx:
        return await tx.annotations.put(KEY, annotations)


async def on_path(store: Store, to: Message) -> list[Annotation]:
    """Read the annotations on the path to a message."""
    async with store.read() as tx:
        return list(await tx.annotations.on_path(KEY, to.id))


def in_order(annotations: Sequence[Annotation]) -> list[Annotation]:
    """Annotations in the order in which a path has them."""
    return sorted(annotations, key=lambda each: (each.at_position, each.id))


@check
async def an_annotation_comes_back(store: Store) -> None:
    """Annotations of every kind come back equal, with all that they say."""
    m = await tell(store, numbered(4))
    pin = noted(m[0], "Never touch “prod”.\n\x00 \U0001f9e0")
    release = noted(m[1], "It may be touched.", kind="release", about=pin.id)
    dispute = replace(noted(m[2], "That is not so.", kind="dispute", about="s_x"), by="model", source=m[1].id)
    expect(await put(store, pin, release, dispute), 3, "new")
    expect(await on_path(store, m[-1]), [pin, release, dispute], "the annotations")


@check
async def annotations_stand_in_the_order_of_the_path(store: Store) -> None:
    """Annotations come by position, those of one message by id, in whatever order they were put."""
    m = await tell(store, numbered(10))
    expect(await on_path(store, m[-1]), [], "the annotations before any was put")
    notes = [noted(m[place], f"note {number}") for number in range(4) for place in (7, 2, 0, 9, 4)]
    expect(await put(store, *notes[:9]), 9, "new at first")
    expect(await put(store, *notes[9:]), 11, "new then")
    expect(await on_path(store, m[-1]), in_order(notes), "the annotations")


@check
async def an_annotation_is_stored_once(store: Store) -> None:
    """An annotation whose id is taken is left as it is, and doesn't count as new."""
    m = await tell(store, numbered(3))
    first = noted(m[1], "first")
    second = replace(first, text="second", by="model")
    elsewhere = replace(first, at=m[0].id, at_position=0)
    other = noted(m[1], "other")
    expect(await put(store, first), 1, "new")
    expect(await put(store, second, elsewhere, other, other, first), 1, "new of five")
    expect(await put(store), 0, "new of none")
    expect(await on_path(store, m[-1]), in_order([first, other]), "the annotations")


@check
async def annotations_end_with_their_path(store: Store) -> None:
    """An annotation is on every path through its message, or to it, and on none that ends before."""
    m = await tell(store, numbered(8))
    near, far = noted(m[2], "near"), noted(m[6], "far")
    await put(store, far, near)
    expect(await on_path(store, m[7]), [near, far], "the annotations at the end")
    expect(await on_path(store, m[6]), [near, far], "the annotations at the far one's message")
    expect(await on_path(store, m[5]), [near], "the annotations before it")
    expect(await on_path(store, m[1]), [], "the annotations before both")


@check
async def annotations_stay_on_their_branch(store: Store) -> None:
    """A fork has the annotations of what it shares, none of what it left, and its own beside them."""
    m = await tell(store, numbered(10))
    fork = await tell_after(store, m[5], numbered(4, "fork"))
    shared, at_the_fork, left = noted(m[3], "shared"), noted(m[5], "at the fork"), noted(m[6], "left")
    await put(store, left, at_the_fork, shared)
    expect(await on_path(store, fork[-1]), [shared, at_the_fork], "the annotations of the fork")
    own, late = noted(fork[0], "own"), noted(m[1], "late")
    await put(store, own, late)
    expect(await on_path(store, fork[-1]), [late, shared, at_the_fork, own], "the annotations with the fork's own")
    expect(await on_path(store, m[-1]), [late, shared, at_the_fork, left], "the annotations of the trunk")


@check
async def a_rewind_leaves_annotations_behind(store: Store) -> None:
    """After a rewind what was noted further on is not on the path, and it is again when the branch is moved back."""
    m = await tell(store, numbered(6))
    kept, left = noted(m[2], "kept"), noted(m[4], "left")
    await put(store, kept, left)
    async with store.write() as tx:
        await tx.log.move(KEY, "main", m[3].id)
        other = await append(tx, KEY, numbered(3, "other"))
        expect(list(await tx.annotations.on_path(KEY, other[-1].id)), [kept], "the annotations after the rewind")
        await tx.log.move(KEY, "main", m[-1].id)
        head = await tx.log.head(KEY)
        found = [] if head is None else list(await tx.annotations.on_path(KEY, head.id))
        expect(found, [kept, left], "the annotations when it is moved back")


@check
async def annotations_cross_every_fork(store: Store) -> None:
    """Along a path through many forks, the annotations of every stretch stand in their order."""
    path = await tell(store, numbered(6))
    aside: list[Annotation] = []
    for number in range(8):
        left = await tell_after(store, path[-1], numbered(3, f"left {number}"))
        aside += [noted(message, f"aside {number}") for message in (path[-1], left[1])]
        path = path[:-1] + await tell_after(store, path[-2], numbered(5, f"taken {number}"))
    notes = [noted(message, "along the path") for message in path]
    await put(store, *aside, *reversed(notes))
    expect(await on_path(store, path[-1]), notes, "the annotations")


@check
async def what_is_noted_before_the_first_message_is_on_every_path(store: Store) -> None:
    """An annotation at no message stands first on every path, also where there is none yet, and stays so."""
    early = Annotation(id=AnnotationId("p_early"), kind="pin", at=MessageId(""), at_position=BEFORE_FIRST, text="early")
    async with store.write() as tx:
        await tx.sessions.create(KEY, None)
        await tx.log.move(KEY, "main", None)
        expect(await tx.annotations.put(KEY, [early, early]), 1, "new")
        with expect_error(BadInput, "an annotation at no message with a position"):
            await tx.annotations.put(KEY, [replace(early, id=AnnotationId("p_else"), at_position=0)])
    async with store.read() as tx:
        expect(list(await tx.annotations.on_path(KEY, None)), [early], "the annotations of an empty session")
    m = await tell(store, numbered(4))
    fork = await tell_after(store, m[1], numbered(2, "fork"))
    late = noted(m[0], "late")
    await put(store, late)
    expect(await on_path(store, m[-1]), [early, late], "the annotations of the trunk")
    expect(await on_path(store, fork[-1]), [early, late], "the annotations of the fork")
    async with store.read() as tx:
        expect(list(await tx.annotations.on_path(KEY, None)), [early], "those before the first message")
        expect(list(await tx.upkeep.faults()), [], "what is wrong")
    async with store.write() as tx:
        await tx.upkeep.prune(KEY)
    expect(await on_path(store, m[-1]), [early, late], "the annotations after a prune")


@check
async def an_annotation_needs_its_message(store: Store) -> None:
    """An annotation whose message is not stored, or stands elsewhere, is refused, and all put with it."""
    m = await tell(store, numbered(4))
    (missing,) = after(m[-1], numbered(1, "missing"))
    good, moved = noted(m[0], "good"), replace(noted(m[1], "moved"), at_position=2)
    async with store.write() as tx:
        with expect_error(MessageNotFound, "an annotation at a message that is not stored"):
            await tx.annotations.put(KEY, [good, noted(missing, "lost")])
        with expect_error(BadInput, "an annotation with a wrong position"):
            await tx.annotations.put(KEY, [good, moved])
        expect(list(await tx.annotations.on_path(KEY, m[-1].id)), [], "what is stored")
    expect(await on_path(store, m[-1]), [], "what is stored afterwards")


@check
async def an_annotation_needs_a_session(store: Store) -> None:
    """Annotating a session that was never made raises SessionNotFound; a path that isn't stored MessageNotFound."""
    m = after(None, numbered(2))
    async with store.write() as tx:
        with expect_error(SessionNotFound, "the put"):
            await tx.annotations.put(KEY, [noted(m[0], "early")])
        with expect_error(MessageNotFound, "a path in a session never made"):
            await tx.annotations.on_path(KEY, m[0].id)
        await tx.sessions.create(KEY, None)
        with expect_error(MessageNotFound, "a path that is not stored"):
            await tx.annotations.on_path(KEY, m[0].id)


@check
async def annotations_say_what_they_are_about_and_no_more(store: Store) -> None:
    """What an annotation is about, and its source, needn't be stored: it only names them."""
    m = await tell(store, numbered(2))
    (missing,) = after(m[-1], numbered(1, "missing"))
    note = replace(noted(m[1], "because", kind="release", about="p_unknown"), id=AnnotationId("r_x"), source=missing.id)
    expect(await put(store, note), 1, "new")
    expect(await on_path(store, m[-1]), [note], "the annotations")
