"""Pictures, sounds and files: LangChain's own blocks, and those of the providers that it passes on."""

from __future__ import annotations

from ireneo.formats.chat.anthropic.media import read_media as read_anthropic
from ireneo.formats.chat.langchain.names import NAME
from ireneo.formats.chat.openai.media import read_media as read_openai
from ireneo.formats.chat.reading import text_or
from ireneo.log.message import Media, Opaque

_KINDS = {"image": "image/", "audio": "audio/", "video": "video/"}
_ANY = {"image": "image/*", "audio": "audio/*", "video": "video/*", "file": "application/octet-stream"}
_OPENAI = ("image_url", "input_audio", "file")


def read_media(block: dict[str, object]) -> Media | Opaque:
    """A block that is no text; one of a kind that is not known here stays as it is."""
    kind = str(block.get("type"))
    found: Media | Opaque | None = _standard(block, kind) if kind in _ANY else None
    if found is None and kind in _OPENAI:
        found = read_openai(block)
    if found is None and "source" in block:
        found = read_anthropic(block)
    return found if isinstance(found, Media) else Opaque(format=NAME, payload=block)


def write_media(media: Media) -> dict[str, object] | None:
    """The block that shows `media`; None where there is nothing to show."""
    kind = next((name for name, begins in _KINDS.items() if media.media_type.startswith(begins)), "file")
    block: dict[str, object] = {"type": kind}
    if media.data is not None:
        block["base64"] = media.data
    elif media.url is not None and media.url.startswith(("http://", "https://")):
        block["url"] = media.url
    else:
        return None
    if media.media_type != _ANY[kind]:
        block["mime_type"] = media.media_type
    # A file without a name is refused by some providers.
    return block | ({"filename": media.name or "file"} if kind == "file" else {})


def _standard(block: dict[str, object], kind: str) -> Media | None:
    data, url = block.get("base64"), block.get("url")
    if "source_type" in block:
        # Before version 1 the data stood under the name of its own kind.
        data = block.get("data") if block.get("source_type") == "base64" else None
    media_type = text_or(block.get("mime_type")) or _ANY[kind]
    name = text_or(block.get("filename")) or None
    if isinstance(data, str):
        return Media(media_type=media_type, data=data, name=name)
    return Media(media_type=media_type, url=url, name=name) if isinstance(url, str) else None
