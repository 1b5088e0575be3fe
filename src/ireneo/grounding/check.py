"""Whether a text says nothing that its sources don't, and keeps what of them must not be lost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ireneo.grounding.claims import Claim, claims
from ireneo.grounding.evidence import Evidence
from ireneo.grounding.normal import straight, unmarked


def check_text(text: str, evidence: Evidence) -> list[Claim]:
    """List the claims of `text` that nothing in `evidence` supports."""
    return [claim for claim in claims(text) if not evidence.supports(claim)]


def supported_rate(text: str, evidence: Evidence) -> float:
    """Of the claims of `text` the share that `evidence` supports; 1 where it claims nothing that can be looked up."""
    made = claims(text)
    return sum(evidence.supports(claim) for claim in made) / len(made) if made else 1.0


def lost(critical: Sequence[str], text: str) -> list[str]:
    """List those of the `critical` artifacts of the sources that `text` does not name.

    A file is named by its last part, a command by its program and most of its words, an error by its name.
    """
    kept = " ".join(_words(text))
    return [artifact for artifact in critical if not _named(artifact, kept)]


def recall(critical: Sequence[str], text: str) -> float:
    """Of the `critical` artifacts the share that `text` names; 1 where there are none."""
    return 1.0 - len(lost(critical, text)) / len(critical) if critical else 1.0


def _words(text: str) -> list[str]:
    return re.findall(r"(?<![\w.-])[\w.-]*\w", unmarked(straight(text)))


def _named(artifact: str, kept: str) -> bool:
    if " " not in artifact:
        return _stands(artifact.rstrip("/").rsplit("/", 1)[-1], kept)
    words = [word.rsplit("/", 1)[-1] for word in _words(artifact)]
    if not words or not _stands(words[0], kept):
        return not words
    return sum(_stands(word, kept) for word in words) * 3 >= len(words) * 2


def _stands(name: str, kept: str) -> bool:
    return bool(re.search(rf"(?<![\w]){re.escape(name)}(?!\w)", kept))
