"""Pictures and documents: blocks with a source, base64 or a URL."""

from __future__ import annotations

from ireneo.formats.chat.anthropic.names import NAME
from ireneo.log.message import Media, Opaque

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"


def read_media(block: dict[str, object]) -> Media | Opaque:
    """An image or document block; with a source of another kind (a file's id, text) it stays as it is."""
    source = block.get("source")
    if isinstance(source, dict):
        image = block.get("type") == "image"
        title = block.get("title")
        name = title if isinstance(title, str) else None
        media_type, data, url = source.get("media_type"), source.get("data"), source.get("url")
        if source.get("type") == "base64" and isinstance(media_type, str) and isinstance(data, str):
            return Media(media_type=media_type, data=data, name=name)
        if source.get("type") == "url" and isinstance(url, str):
            return Media(media_type="image/*" if image else _PDF, url=url, name=name)
    return Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The block that shows `media`; None where the format has none for it."""
    source: dict[str, object]
    if media.data is not None:
        source = {"type": "base64", "media_type": media.media_type, "data": media.data}
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        source = {"type": "url", "url": media.url}
    else:
        return None
    if media.media_type in _IMAGES or (media.data is None and media.media_type.startswith("image/")):
        return {"type": "image", "source": source}
    if media.media_type == _PDF:
        named: dict[str, object] = {"title": media.name} if media.name else {}
        return {"type": "document", "source": source, **named}
    return None
