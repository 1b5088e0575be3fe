"""Names made from content: a message's id is the hash of its parent's id, its role and its parts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import msgspec

from ireneo.log.message import MessageId, Part, Role

_ENCODER = msgspec.json.Encoder(order="sorted")

SHORT = 9
"""Characters of an id that are shown to a reader: the prefix and 7 more (35 bits, one clash in 25,000 blocks)."""


def digest(prefix: str, *pieces: bytes) -> str:
    """`prefix`, an underscore and 26 characters of base32 (128 bits of SHA-256) over `pieces`, each length-prefixed."""
    hasher = hashlib.sha256()
    for piece in pieces:
        # The length keeps ("ab", "c") and ("a", "bc") apart.
        hasher.update(len(piece).to_bytes(8, "big"))
        hasher.update(piece)
    return f"{prefix}_{base64.b32encode(hasher.digest()[:16]).decode().rstrip('=').lower()}"


def message_id(parent: MessageId | None, role: Role, parts: Sequence[Part]) -> MessageId:
    """Name the message that follows `parent`; the same content after the same past has the same name."""
    return MessageId(digest("m", (parent or "").encode(), role.encode(), _ENCODER.encode(parts)))


def short(name: str) -> str:
    """The part of an id that is shown to a reader, and that opens it again."""
    return name[:SHORT]
