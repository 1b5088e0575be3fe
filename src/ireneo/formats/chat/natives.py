"""When a provider's own payload is kept beside the parts, and when it may be sent again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ireneo.errors import UnreadableLog
from ireneo.log.message import Draft, Native, Part, Result


def keep_native(draft: Draft, name: str, payload: object, written: object) -> Draft:
    """`draft` with `payload` beside it, unless the parts alone were `written` as the very same JSON."""
    return draft if written == payload else replace(draft, native=Native(format=name, payload=payload))


def settle_natives(
    drafts: Sequence[Draft],
    name: str,
    read: Callable[[object], Sequence[Draft]],
    accepts: Callable[[object], bool],
) -> list[Draft]:
    """Leave only the natives that may be sent unchanged; the other drafts are built from their parts.

    A native may be sent if it is of this format, breaks no rule of its own, and says what the parts say: parts
    that were changed since (a masked output, say) are the truth.
    """
    return [draft if _holds(draft, name, read, accepts) else replace(draft, native=None) for draft in drafts]


def _holds(
    draft: Draft, name: str, read: Callable[[object], Sequence[Draft]], accepts: Callable[[object], bool]
) -> bool:
    if draft.native is None:
        return True
    if draft.native.format != name or not accepts(draft.native.payload):
        return False
    try:
        said = read(draft.native.payload)
    except UnreadableLog:
        # Whoever handed it in wrote something else under this format's name; the parts are what there is.
        return False
    return len(said) == 1 and said[0].role == draft.role and _bare(said[0].parts) == _bare(draft.parts)


def _bare(parts: Sequence[Part]) -> list[Part]:
    # Whether a call failed may have been derived from the text since; the payload needn't say so.
    return [replace(part, failed=None) if isinstance(part, Result) else part for part in parts]
