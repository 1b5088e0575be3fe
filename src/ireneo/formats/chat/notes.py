"""What stands in a list that no speaker said: notes for what can't be shown, summaries, and what memory injects."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from ireneo.log.echo import is_recalled
from ireneo.log.message import BLOCK_TAGS, PINS_TAG, Call, Draft, Media, Opaque, Origin, Part, Result, Text

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


_OPEN, _CLOSE = "<system-reminder>", "</system-reminder>"


def origin_of(parts: Sequence[Part]) -> Origin:
    """`injected` where a user message is nothing but reminders of the harness, or what memory put there itself.

    That is pins, a scratchpad, a brief; else it is `spoken`.
    """
    texts = [part.text for part in parts if isinstance(part, Text)]
    injected = len(texts) == len(parts) > 0 and all(map(_is_injected, texts))
    return "injected" if injected else "spoken"


def _is_injected(text: str) -> bool:
    return _is_reminder(text) or text.startswith(PINS_TAG) or is_recalled(text.removeprefix(f"{SYSTEM} "))


def _is_reminder(text: str) -> bool:
    # A loop and no pattern: a lazy match would reach over the user's words between two reminders.
    rest = text.strip()
    if not rest:
        return False
    while rest:
        if not rest.startswith(_OPEN):
            return False
        _, closed, rest = rest.partition(_CLOSE)
        if not closed:
            return False
        rest = rest.lstrip()
    return True


# In whose voice a summary stands: the one policy for the role of our own blocks.
#
# First-person text in a user message reads as the user speaking; as the assistant's, it must not be the last word.


NOTES = "(My own notes on earlier work; not a request.)"


def flatten_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Make plain text of each summary, so that no other rule has to know of them; its role is settled last."""
    return [_flat(draft) for draft in drafts]


def cast_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Give each summary its role: the assistant where a user message follows, else the user, marked as notes."""
    return [_cast(draft, _user_follows(drafts, index)) for index, draft in enumerate(drafts)]


def recognise_summaries(drafts: Sequence[Draft]) -> list[Draft]:
    """Find our own blocks in a list that was compacted before, so that they are not taken for what was said.

    Only where `cast_summaries` would give the block the very role it has, so that the list still comes back equal.
    """
    out = list(drafts)
    for index in reversed(range(len(out))):
        draft = out[index]
        if _stands_alone(out, index) and len(draft.parts) == 1 and isinstance(draft.parts[0], Text):
            text = draft.parts[0].text
            ours = text.startswith(BLOCK_TAGS) if draft.role == "assistant" else text.startswith(_WRAPPED)
            cast = "assistant" if _user_follows(out, index) else "user"
            if ours and draft.role == cast:
                out[index] = replace(draft, origin="summary")
    return out


_WRAPPED = tuple(f"{NOTES}\n{mark}" for mark in BLOCK_TAGS)


def _stands_alone(drafts: Sequence[Draft], index: int) -> bool:
    shared = drafts[index].joined or (index + 1 < len(drafts) and drafts[index + 1].joined)
    return drafts[index].native is None and not shared


def _flat(draft: Draft) -> Draft:
    if draft.origin != "summary":
        return draft
    if draft.calls or draft.results:
        # What acts is no summary, whatever it is called.
        return replace(draft, origin="spoken")
    if draft.native is not None:
        return draft
    # Without the line that marks it as notes: what is blank but for that is dropped like any other blank text.
    return replace(draft, role="user", parts=(Text(text=_unmarked(draft)),), joined=False)


def _cast(draft: Draft, user_follows: bool) -> Draft:
    if draft.origin != "summary":
        return draft
    if draft.native is not None and (user_follows or draft.role == "user"):
        return draft
    text = _unmarked(draft)
    if user_follows:
        return replace(draft, role="assistant", parts=(Text(text=text),), native=None)
    return replace(draft, role="user", parts=(Text(text=f"{NOTES}\n{text}"),), native=None)


def _unmarked(draft: Draft) -> str:
    return draft.text.removeprefix(f"{NOTES}\n")


def _user_follows(drafts: Sequence[Draft], index: int) -> bool:
    following = drafts[index + 1] if index + 1 < len(drafts) else None
    return following is not None and following.role == "user" and following.origin != "summary"
