"""`ireneo demo`: the verbs at work on two logs that ship with the project."""

from __future__ import annotations


def demo() -> None:
    """See it all at work on sample logs, in a few seconds.

    Everything happens in a temporary folder; nothing is downloaded, and no key is needed.
    """
    # Only someone who watches pays for the drawing.
    from ireneo.faces.cli.demo.steps import play

    play()
