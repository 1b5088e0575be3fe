"""The words that stand where a format can't carry a thing, or where a cut took its other half away."""

from __future__ import annotations

import msgspec

from ireneo.log.message import Call, Media, Opaque, Result, Text

UNANSWERED = "[no result: this call was not answered]"
LOST_CALL = "[result of a call that is no longer shown]"
REPEATED = "[another result of a call that is already answered]"
BEGINNING = "[The conversation begins here.]"
NO_REPLY = "[no reply was given here]"
WORDLESS_ERROR = "[the call failed and said nothing]"
SYSTEM = "[system]"
UNNAMED = "unnamed"


def media_note(media: Media) -> str:
    """What stands for a picture, a sound or a file that is not shown: a marker, so that it doesn't vanish unseen."""
    name = f" {media.name}" if media.name else ""
    if media.data is not None:
        return f"[{media.media_type}{name}, {_size(len(media.data) * 3 // 4)}, not shown]"
    if media.url is not None and not media.url.startswith("data:"):
        return f"[{media.media_type}{name} at {media.url}, not shown]"
    return f"[{media.media_type}{name}, not shown]"


def opaque_note(block: Opaque) -> str:
    """What stands for a block that only another format understands."""
    name = block.payload.get("type")
    called = name if isinstance(name, str) else "block"
    return f"[{block.format} {called}, {_size(len(msgspec.json.encode(block.payload)))}, not shown]"


def call_note(call: Call) -> str:
    """What stands for a call that can't be shown as one."""
    arguments = call.arguments if isinstance(call.arguments, str) else msgspec.json.encode(call.arguments).decode()
    return f"[call of {call.name}, not shown as one] {arguments}"


def result_note(heading: str, result: Result) -> Text:
    """What stands for a result that can't be shown as one; it is quoted whole, its media as markers."""
    return Text(text=f"{heading} {_told(result)}".rstrip())


def _told(result: Result) -> str:
    lines = []
    for part in result.parts:
        if isinstance(part, Text):
            lines.append(part.text)
        else:
            lines.append(media_note(part) if isinstance(part, Media) else opaque_note(part))
    return "\n".join(lines)


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{round(count / 1000)} kB"
    return f"{count / 1_000_000:.1f} MB"
