"""The annotations of a session's tree: pins, releases and disputes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ireneo.errors import BadInput, MessageNotFound, SessionNotFound
from ireneo.log.message import Message, MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, AnnotationId
from ireneo.ports.store import Store, Transaction
from ireneo.testing.conformance.check import check, expect, expect_error
from ireneo.testing.conformance.material import KEY, after, append, noted, numbered, tell, tell_after


def put(tx: Transaction, *annotations: Annotation) -> int:
    """Store annotations in a transaction of their own."""
    return tx.annotations.put(KEY, annotations)


def on_path(tx: Transaction, to: Message) -> list[Annotation]:
    """Read the annotations on the path to a message."""
    return list(tx.annotations.on_path(KEY, to.id))


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
    expect(await store.write(put, pin, release, dispute), 3, "new")
    expect(await store.read(on_path, m[-1]), [pin, release, dispute], "the annotations")


@check
async def annotations_stand_in_the_order_of_the_path(store: Store) -> None:
    """Annotations come by position, those of one message by id, in whatever order they were put."""
    m = await tell(store, numbered(10))
    expect(await store.read(on_path, m[-1]), [], "the annotations before any was put")
    notes = [noted(m[place], f"note {number}") for number in range(4) for place in (7, 2, 0, 9, 4)]
    expect(await store.write(put, *notes[:9]), 9, "new at first")
    expect(await store.write(put, *notes[9:]), 11, "new then")
    expect(await store.read(on_path, m[-1]), in_order(notes), "the annotations")


@check
async def an_annotation_is_stored_once(store: Store) -> None:
    """An annotation whose id is taken is left as it is, and doesn't count as new."""
    m = await tell(store, numbered(3))
    first = noted(m[1], "first")
    second = replace(first, text="second", by="model")
    elsewhere = replace(first, at=m[0].id, at_position=0)
    other = noted(m[1], "other")
    expect(await store.write(put, first), 1, "new")
    expect(await store.write(put, second, elsewhere, other, other, first), 1, "new of five")
    expect(await store.write(put), 0, "new of none")
    expect(await store.read(on_path, m[-1]), in_order([first, other]), "the annotations")


@check
async def annotations_end_with_their_path(store: Store) -> None:
    """An annotation is on every path through its message, or to it, and on none that ends before."""
    m = await tell(store, numbered(8))
    near, far = noted(m[2], "near"), noted(m[6], "far")
    await store.write(put, far, near)
    expect(await store.read(on_path, m[7]), [near, far], "the annotations at the end")
    expect(await store.read(on_path, m[6]), [near, far], "the annotations at the far one's message")
    expect(await store.read(on_path, m[5]), [near], "the annotations before it")
    expect(await store.read(on_path, m[1]), [], "the annotations before both")


@check
async def annotations_stay_on_their_branch(store: Store) -> None:
    """A fork has the annotations of what it shares, none of what it left, and its own beside them."""
    m = await tell(store, numbered(10))
    fork = await store.write(tell_after, m[5], numbered(4, "fork"))
    shared, at_the_fork, left = noted(m[3], "shared"), noted(m[5], "at the fork"), noted(m[6], "left")
    await store.write(put, left, at_the_fork, shared)
    expect(await store.read(on_path, fork[-1]), [shared, at_the_fork], "the annotations of the fork")
    own, late = noted(fork[0], "own"), noted(m[1], "late")
    await store.write(put, own, late)
    expect(await store.read(on_path, fork[-1]), [late, shared, at_the_fork, own], "the annotations with the fork's own")
    expect(await store.read(on_path, m[-1]), [late, shared, at_the_fork, left], "the annotations of the trunk")


@check
async def a_rewind_leaves_annotations_behind(store: Store) -> None:
    """After a rewind what was noted further on is not on the path, and it is again when the branch is moved back."""
    m = await tell(store, numbered(6))
    kept, left = noted(m[2], "kept"), noted(m[4], "left")
    await store.write(put, kept, left)

    def keep(tx: Transaction) -> None:
        tx.log.move(KEY, "main", m[3].id)
        other = append(tx, KEY, numbered(3, "other"))
        expect(list(tx.annotations.on_path(KEY, other[-1].id)), [kept], "the annotations after the rewind")
        tx.log.move(KEY, "main", m[-1].id)
        head = tx.log.head(KEY)
        found = [] if head is None else list(tx.annotations.on_path(KEY, head.id))
        expect(found, [kept, left], "the annotations when it is moved back")

    await store.write(keep)


@check
async def annotations_cross_every_fork(store: Store) -> None:
    """Along a path through many forks, the annotations of every stretch stand in their order."""
    path = await tell(store, numbered(6))
    aside: list[Annotation] = []
    for number in range(8):
        left = await store.write(tell_after, path[-1], numbered(3, f"left {number}"))
        aside += [noted(message, f"aside {number}") for message in (path[-1], left[1])]
        path = path[:-1] + await store.write(tell_after, path[-2], numbered(5, f"taken {number}"))
    notes = [noted(message, "along the path") for message in path]
    await store.write(put, *aside, *reversed(notes))
    expect(await store.read(on_path, path[-1]), notes, "the annotations")


@check
async def what_is_noted_before_the_first_message_is_on_every_path(store: Store) -> None:
    """An annotation at no message stands first on every path, also where there is none yet, and stays so."""
    early = Annotation(id=AnnotationId("p_early"), kind="pin", at=MessageId(""), at_position=BEFORE_FIRST, text="early")

    def keep(tx: Transaction) -> None:
        tx.sessions.create(KEY, None)
        tx.log.move(KEY, "main", None)
        expect(tx.annotations.put(KEY, [early, early]), 1, "new")
        with expect_error(BadInput, "an annotation at no message with a position"):
            tx.annotations.put(KEY, [replace(early, id=AnnotationId("p_else"), at_position=0)])

    await store.write(keep)

    def look(tx: Transaction) -> None:
        expect(list(tx.annotations.on_path(KEY, None)), [early], "the annotations of an empty session")

    await store.read(look)
    m = await tell(store, numbered(4))
    fork = await store.write(tell_after, m[1], numbered(2, "fork"))
    late = noted(m[0], "late")
    await store.write(put, late)
    expect(await store.read(on_path, m[-1]), [early, late], "the annotations of the trunk")
    expect(await store.read(on_path, fork[-1]), [early, late], "the annotations of the fork")

    def look_2(tx: Transaction) -> None:
        expect(list(tx.annotations.on_path(KEY, None)), [early], "those before the first message")
        expect(list(tx.upkeep.faults()), [], "what is wrong")

    await store.read(look_2)
    await store.write(lambda tx: tx.upkeep.prune(KEY))
    expect(await store.read(on_path, m[-1]), [early, late], "the annotations after a prune")


@check
async def an_annotation_needs_its_message(store: Store) -> None:
    """An annotation whose message is not stored, or stands elsewhere, is refused, and all put with it."""
    m = await tell(store, numbered(4))
    (missing,) = after(m[-1], numbered(1, "missing"))
    good, moved = noted(m[0], "good"), replace(noted(m[1], "moved"), at_position=2)

    def keep(tx: Transaction) -> None:
        with expect_error(MessageNotFound, "an annotation at a message that is not stored"):
            tx.annotations.put(KEY, [good, noted(missing, "lost")])
        with expect_error(BadInput, "an annotation with a wrong position"):
            tx.annotations.put(KEY, [good, moved])
        expect(list(tx.annotations.on_path(KEY, m[-1].id)), [], "what is stored")

    await store.write(keep)
    expect(await store.read(on_path, m[-1]), [], "what is stored afterwards")


@check
async def an_annotation_needs_a_session(store: Store) -> None:
    """Annotating a session that was never made raises SessionNotFound; a path that isn't stored MessageNotFound."""
    m = after(None, numbered(2))

    def keep(tx: Transaction) -> None:
        with expect_error(SessionNotFound, "the put"):
            tx.annotations.put(KEY, [noted(m[0], "early")])
        with expect_error(MessageNotFound, "a path in a session never made"):
            tx.annotations.on_path(KEY, m[0].id)
        tx.sessions.create(KEY, None)
        with expect_error(MessageNotFound, "a path that is not stored"):
            tx.annotations.on_path(KEY, m[0].id)

    await store.write(keep)


@check
async def annotations_say_what_they_are_about_and_no_more(store: Store) -> None:
    """What an annotation is about, and its source, needn't be stored: it only names them."""
    m = await tell(store, numbered(2))
    (missing,) = after(m[-1], numbered(1, "missing"))
    note = replace(noted(m[1], "because", kind="release", about="p_unknown"), id=AnnotationId("r_x"), source=missing.id)
    expect(await store.write(put, note), 1, "new")
    expect(await store.read(on_path, m[-1]), [note], "the annotations")
