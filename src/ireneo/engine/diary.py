"""The diary of a session: what its structure shows, led by what its agent wrote into it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ireneo.context.weigh import Count
from ireneo.engine.cleaning import Cleaning
from ireneo.engine.learn.reading import windows
from ireneo.errors import BadInput
from ireneo.grounding.evidence import Evidence
from ireneo.grounding.sources import source_texts
from ireneo.lessons.attempts import read_tasks
from ireneo.lessons.diary import Entry
from ireneo.lessons.material import Material
from ireneo.lessons.render_diary import render_diary
from ireneo.lessons.write_diary import write_diary
from ireneo.lessons.written import Written, as_text, claimed, marked, written_in
from ireneo.log.annotation import Annotation, annotation_id
from ireneo.log.branch import SessionKey
from ireneo.log.message import Message, MessageId
from ireneo.ports.store import Store
from ireneo.ports.transition import Transaction


class Diary(Struct, frozen=True, kw_only=True):
    """A diary as it stands."""

    entries: tuple[Entry, ...]
    markdown: str
    tokens: int


async def read_diary(store: Store, key: SessionKey, branch: str, count: Count, cleaning: Cleaning) -> Diary:
    """The diary of the path to the branch's head, as learning makes it; an empty one before the first message."""
    async with store.read() as tx:
        head = await tx.log.head(key, branch)
        written = await written_on_path(tx, key, head.id) if head else ()
    entries: list[Entry] = []
    if head is not None:
        async for window in windows(store, key, head, cleaning):
            material = Material(session=key.session, messages=tuple(window))
            entries += write_diary(material, read_tasks(material), count, written)
    markdown = render_diary(entries)
    return Diary(entries=tuple(entries), markdown=markdown, tokens=count(markdown))


async def write_entry(store: Store, key: SessionKey, branch: str, given: Written, cleaning: Cleaning) -> Annotation:
    """Keep what an agent wrote of the task that the branch stands in, with what nothing shows marked as unverified.

    Raises BadInput before the first message. The same again at the same place is one.
    """
    async with store.read() as tx:
        head = await tx.log.head(key, branch)
    last: Message | None = None
    unknown = claimed(given)
    if head is not None:
        async for window in windows(store, key, head, cleaning):
            shown = Evidence(source_texts(window))
            unknown = {claim for claim in unknown if not shown.supports(claim)}
            last = window[-1]
    if last is None:
        raise BadInput(f"Session {key.session} has no message yet; append what was done, and then write its diary.")
    text = as_text(marked(given, unknown))
    name = annotation_id("entry", last.id, text)
    note = Annotation(id=name, kind="entry", at=last.id, at_position=last.position, text=text, by="model")
    async with store.write() as tx:
        await tx.annotations.put(key, [note])
    return note


async def written_on_path(tx: Transaction, key: SessionKey, to: MessageId) -> Sequence[Written]:
    """What agents wrote into the diary along the path to `to`, in order."""
    return tuple(written_in(note) for note in await tx.annotations.on_path(key, to) if note.kind == "entry")
