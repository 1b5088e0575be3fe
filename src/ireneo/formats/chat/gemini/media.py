"""Pictures, sounds and files: within the part, or at a URI."""

from __future__ import annotations

from ireneo.formats.chat.gemini.names import FILE, INLINE, MEDIA_TYPE, URI, field
from ireneo.log.message import Media

_IMAGES = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif")
_OTHERS = ("audio/", "video/", "text/", "application/pdf")
_PLACES = ("http://", "https://", "gs://")


def read_media(part: dict[str, object]) -> Media | None:
    """What a part shows; None where it shows nothing that is known here."""
    inline, file = field(part, INLINE), field(part, FILE)
    if isinstance(inline, dict):
        media_type, data = field(inline, MEDIA_TYPE), inline.get("data")
        if isinstance(media_type, str) and isinstance(data, str):
            return Media(media_type=media_type, data=data)
    elif isinstance(file, dict):
        media_type, uri = field(file, MEDIA_TYPE), field(file, URI)
        if isinstance(media_type, str) and isinstance(uri, str):
            return Media(media_type=media_type, url=uri)
    return None


def write_media(media: Media) -> dict[str, object] | None:
    """The part that shows `media`; None where the format has none for it."""
    if not (media.media_type in _IMAGES or media.media_type.startswith(_OTHERS)):
        return None
    if media.data is not None:
        return {INLINE: {MEDIA_TYPE: media.media_type, "data": media.data}}
    if media.url is not None and media.url.startswith(_PLACES):
        return {FILE: {MEDIA_TYPE: media.media_type, URI: media.url}}
    return None
