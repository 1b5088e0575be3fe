"""What is told of secrets that were taken out of what came in: how many of each kind, and never what they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ireneo.faces.cli.words import counted


def secrets_told(redacted: Mapping[str, int], unredacted: int = 0) -> Iterator[str]:
    """A line such as ``3 secrets redacted: github-token 1, password 2``, and one on what was stored before; or none."""
    if redacted:
        told = ", ".join(f"{kind} {number:,}" for kind, number in sorted(redacted.items()))
        yield f"{counted(sum(redacted.values()), 'secret')} redacted: {told}"
    if unredacted:
        stand = "stands" if unredacted == 1 else "stand"
        yield (
            f"{counted(unredacted, 'message')} {stand} there with secrets since before, and stay so; "
            "`ireneo doctor --secrets` tells what they are, and with --mend takes them out"
        )
