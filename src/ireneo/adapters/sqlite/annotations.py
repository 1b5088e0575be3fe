"""The pins, releases and disputes of a session's tree, in SQLite."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from ireneo.adapters.sqlite.channel import Channel
from ireneo.adapters.sqlite.checksums import with_checksum
from ireneo.adapters.sqlite.places import find_path, find_session, need_place, need_session
from ireneo.adapters.sqlite.queries import SQL
from ireneo.errors import BadInput
from ireneo.log.message import MessageId
from ireneo.log.tree import BEFORE_FIRST, Annotation, PathRange, SessionKey

NO_SEGMENT = -1
"""Where what was noted before the first message lies; segments are numbered from 0."""
_ANNOTATION = msgspec.json.Decoder(Annotation)


class SqliteAnnotations:
    """`ireneo.ports.store.AnnotationsPort` over one open transaction."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def put(self, key: SessionKey, annotations: Sequence[Annotation]) -> int:
        """Store annotations; those whose id is taken are left as they are."""
        return self._channel.change(put_annotations, key, annotations)

    def on_path(self, key: SessionKey, to: MessageId | None) -> Sequence[Annotation]:
        """Every annotation at a message of a path."""
        return self._channel.ask(list_annotations, key, to)


def put_annotations(database: apsw.Connection, key: SessionKey, annotations: Sequence[Annotation]) -> int:
    """Store annotations where the message stands that they are at; says how many were new."""
    session = need_session(database, key)
    new = 0
    for annotation in annotations:
        segment, position = NO_SEGMENT, BEFORE_FIRST
        if annotation.at:
            place = need_place(database, session.key, key, annotation.at)
            segment, position = place.segment, place.position
        if position != annotation.at_position:
            raise BadInput(f"Annotation {annotation.id} gives a position at which {annotation.at} doesn't stand.")
        database.execute(
            SQL["insert_annotation"],
            with_checksum(
                "annotations",
                {
                    "key": session.key,
                    "id": annotation.id,
                    "segment": segment,
                    "at_position": annotation.at_position,
                    "record": msgspec.json.encode(annotation).decode(),
                },
            ),
        )
        new += database.changes()
    return new


def list_annotations(database: apsw.Connection, key: SessionKey, to: MessageId | None) -> list[Annotation]:
    """The annotations along the path to `to`: one range of an index for each of its stretches."""
    stretches: list[PathRange] = []
    session = find_session(database, key)
    if to is not None:
        session, stretches = find_path(database, key, to)
    if session is None:
        return []
    out: list[Annotation] = []
    before = PathRange(segment=NO_SEGMENT, first=BEFORE_FIRST, last=BEFORE_FIRST)
    for stretch in (before, *reversed(stretches)):
        run = {"key": session.key, "segment": stretch.segment, "first": stretch.first, "last": stretch.last}
        out.extend(_ANNOTATION.decode(record) for (record,) in database.execute(SQL["list_annotations"], run))
    return out
