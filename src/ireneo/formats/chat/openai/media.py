"""Pictures, sounds and files: content parts of a user message, base64 in a data URL or apart."""

from __future__ import annotations

from ireneo.formats.chat.openai.names import NAME
from ireneo.log.message import Media, Opaque
from ireneo.patterns import lazy_re

_DATA_URL = lazy_re(r"data:([\w.+-]+/[\w.+*-]+);base64,([A-Za-z0-9+/=_-]*)")
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF = "application/pdf"
_UNNAMED = "document.pdf"


def read_media(block: dict[str, object]) -> Media | Opaque:
    """A content part that is no text; one of a kind that is not known here stays as it is."""
    inner = block.get(str(block.get("type")))
    media: Media | None = None
    if isinstance(inner, dict):
        if block["type"] == "image_url":
            media = _located(inner.get("url"), None)
        elif block["type"] == "input_audio":
            media = _sound(inner.get("data"), inner.get("format"))
        elif block["type"] == "file":
            media = _located(inner.get("file_data"), inner.get("filename"))
    return media if media is not None else Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The content part that shows `media`; None where the format has none for it."""
    if media.data is not None:
        located = f"data:{media.media_type};base64,{media.data}"
        if media.media_type in _IMAGES:
            return {"type": "image_url", "image_url": {"url": located}}
        if media.media_type == _PDF:
            return {"type": "file", "file": {"filename": media.name or _UNNAMED, "file_data": located}}
        for name, media_type in _AUDIO.items():
            if media.media_type == media_type:
                return {"type": "input_audio", "input_audio": {"data": media.data, "format": name}}
        return None
    if media.url is not None and media.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": media.url}}
    return None


def _located(url: object, name: object) -> Media | None:
    if not isinstance(url, str):
        return None
    named = name if isinstance(name, str) else None
    inline = _DATA_URL.fullmatch(url)
    if inline:
        return Media(media_type=inline[1], data=inline[2], name=named)
    return Media(media_type="image/*", url=url, name=named)


def _sound(data: object, name: object) -> Media | None:
    if isinstance(data, str) and isinstance(name, str) and name in _AUDIO:
        return Media(media_type=_AUDIO[name], data=data)
    return None
