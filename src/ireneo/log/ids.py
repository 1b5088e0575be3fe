"""Names made from content: a message's id is the hash of its parent's id, its role and its parts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from ireneo.log.message import MessageId, Part, Result, Role

_ENCODER = msgspec.json.Encoder(order="sorted")

SHORT = 9
"""Characters of an id that are shown to a reader: the prefix and 7 more (35 bits: 25,000 blocks clash once in 100)."""


def digest(prefix: str, *pieces: bytes) -> str:
    """`prefix`, an underscore and 26 characters of base32 (128 bits of SHA-256) over `pieces`, each length-prefixed."""
    hasher = hashlib.sha256()
    for piece in pieces:
        # The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update(len(piece).to_bytes(8, "big"))
        hasher.update(piece)
    return f"{prefix}_{base64.b32encode(hasher.digest()[:16]).decode().rstrip('=').lower()}"


def message_id(parent: MessageId | None, role: Role, parts: Sequence[Part]) -> MessageId:
    """Name the message that follows `parent`; the same content after the same past has the same name.

    Whether a result failed is not part of its content: where a log has no flag it is derived, and the rules for that
    get better, while a name is for good.
    """
    content = [replace(part, failed=None) if isinstance(part, Result) else part for part in parts]
    return MessageId(digest("m", (parent or "").encode(), role.encode(), _ENCODER.encode(content)))


def short(name: str) -> str:
    """The part of an id that is shown to a reader, and that opens it again."""
    return name[:SHORT]
