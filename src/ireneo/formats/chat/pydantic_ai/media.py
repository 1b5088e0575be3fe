"""Pictures, sounds and files: binary content in base64, or a URL of one of four kinds."""

from __future__ import annotations

from ireneo.formats.chat.reading import text_or
from ireneo.log.message import Media

_BINARY = "binary"
_URLS = {
    "image-url": "image/*",
    "audio-url": "audio/*",
    "video-url": "video/*",
    "document-url": "application/octet-stream",
}


def read_media(item: object) -> Media | None:
    """The media that an item of content is; None where it is something else."""
    if not isinstance(item, dict):
        return None
    kind, data, url = item.get("kind"), item.get("data"), item.get("url")
    media_type = text_or(item.get("media_type"))
    if kind == _BINARY and isinstance(data, str) and media_type:
        return Media(media_type=media_type, data=data)
    if isinstance(kind, str) and kind in _URLS and isinstance(url, str):
        return Media(media_type=media_type or _URLS[kind], url=url)
    return None


def write_media(media: Media) -> dict[str, object] | None:
    """The item that shows `media`; None where there is nothing to show."""
    if media.data is not None:
        return {"kind": _BINARY, "data": media.data, "media_type": media.media_type}
    if media.url is None or not media.url.startswith(("http://", "https://")):
        return None
    family = media.media_type.partition("/")[0]
    kind = f"{family}-url" if f"{family}-url" in _URLS else "document-url"
    item: dict[str, object] = {"kind": kind, "url": media.url}
    return item if media.media_type == _URLS[kind] else item | {"media_type": media.media_type}
