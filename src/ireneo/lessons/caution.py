"""What the guard says of a call before it is made: the dead end, why it thinks so, and what has changed since."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from ireneo.log.message import MessageId


class Proof(Struct, frozen=True, kw_only=True):
    """Where a failure is to be seen."""

    session: str
    """Empty: the session that the call is made in."""
    message: MessageId
    quote: str
    """What it said, shortened; empty where it said nothing, or in another project."""
    project: str = ""
    """Of a run in another project than the call's: which one."""


class Caution(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that is likely to fail. It is advice: what is done about it is left to whoever makes the call."""

    text: str
    """The dead end, in one sentence."""
    chance: float
    """How likely it is to fail, from 0 to 1."""
    failed: int
    of: int
    """So many of so many calls in this situation failed, in past runs."""
    evidence: tuple[Proof, ...]
    """Never empty."""
    cue: str
    """The situation, by its name."""
    last_failed: datetime | None = None
    changed: tuple[str, ...] = ()
    """What was changed since it failed in this session, and what else is different from when it failed in others."""
    lesson: str | None = None
    """The id of the lesson that is made of it, where there is one."""

    @property
    def markdown(self) -> str:
        """The caution as an agent reads it: advice, its evidence, and what changed."""
        # The counts in the text are of one situation in past runs; the chance weighs all that is known of the call.
        lines = [f"Likely to fail (estimated chance {self.chance * 100:.0f} %): {self.text}"]
        lines += [_line(proof) for proof in self.evidence]
        if self.changed:
            lines.append(f"- changed since: {', '.join(self.changed)}")
        if self.lesson:
            lines.append(f"- lesson {self.lesson}")
        return "\n".join(lines)


def without_others(found: Caution) -> Caution:
    """`found` without what runs of other projects said: that such calls failed there counts, their words stay there."""
    return replace(found, evidence=tuple(replace(each, quote="") if each.project else each for each in found.evidence))


def _line(proof: Proof) -> str:
    if proof.project:
        return f"- {proof.session}, in another project ({proof.project})"
    return f"- {proof.session or 'this session'}, {proof.message}: “{proof.quote}”"
