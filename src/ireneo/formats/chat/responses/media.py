"""Pictures, sounds and files: content parts that say where the thing is, without an object round it."""

from __future__ import annotations

from ireneo.formats.chat.openai.media import read_media as read_chat_media
from ireneo.formats.chat.openai.media import write_media as write_chat_media
from ireneo.formats.chat.reading import type_of
from ireneo.formats.chat.responses.names import NAME
from ireneo.log.message import Media, Opaque

_PDF = "application/pdf"


def read_media(block: dict[str, object], place: str) -> Media | Opaque:
    """A content part that is no text; one of a kind that is not known here stays as it is."""
    kind = type_of(block, place)
    read: Media | Opaque | None = None
    if kind == "input_image":
        read = read_chat_media({"type": "image_url", "image_url": {"url": block.get("image_url")}})
    elif kind == "input_file":
        url = block.get("file_url")
        if isinstance(url, str):
            read = Media(media_type=_PDF, url=url)
        else:
            read = read_chat_media({"type": "file", "file": block})
    elif kind == "input_audio":
        read = read_chat_media(block)
    return read if isinstance(read, Media) else Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The content part that shows `media`; None where the format has none for it."""
    if media.data is None and media.url is not None and media.media_type == _PDF:
        return {"type": "input_file", "file_url": media.url}
    written = write_chat_media(media)
    if written is None:
        return None
    inner = written.get(str(written["type"]))
    if not isinstance(inner, dict):
        return None
    if written["type"] == "image_url":
        return {"type": "input_image", "image_url": inner["url"]}
    return {"type": "input_file", **inner} if written["type"] == "file" else written
