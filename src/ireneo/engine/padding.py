"""The scratchpad of a session's task in its contexts, and which thinking is still bound to what it was said to."""

from __future__ import annotations

from collections.abc import Sequence

from ireneo.context.padded import bound_from, pad_place, pad_shown, positions, with_pad
from ireneo.context.terms import Terms
from ireneo.context.view import Shown
from ireneo.context.weigh import MESSAGE_TOKENS, Count
from ireneo.log.branch import Head, SessionKey
from ireneo.memories.scratchpad import PAD_TOKENS, pad_block
from ireneo.ports.transition import Transaction

PAD_SHARE = 0.4
"""Of a narrow context, what a scratchpad may take."""
FRAME_TOKENS = 40
"""What its first and last line and its message cost besides, about."""
CHARACTERS_PER_TOKEN = 4


def room_for(pad: Shown | None, terms: Terms) -> int:
    """What is kept free for a scratchpad; none where there is none.

    Where the last turns are all that is sent it is always as much, so that they don't move when it is rewritten.
    """
    if pad is None:
        return 0
    whole = min(PAD_TOKENS + FRAME_TOKENS, int(terms.budget * PAD_SHARE))
    return max(pad.tokens, whole) if terms.policy.cuts else pad.tokens


class Padding:
    """What is known of the scratchpads that a session showed.

    It holds for who asks one session for a context before each message of its model: what another process showed is
    not known here, and no thinking from before is shown then.
    """

    def __init__(self, session: str, task: str) -> None:
        """Begin with nothing; `task` is the one whose scratchpad `session` shows."""
        self.session = session
        self.task = task
        self._last: tuple[int, str] | None = None
        """Where the last one stood and how it read; None where there was none."""
        self._bound_from = 0
        """Thinking may be shown of turns that begin at this position or later."""

    async def shown(self, tx: Transaction, space: str, budget: int, count: Count) -> Shown | None:
        """The scratchpad as a context of this budget shows it; None where there is none, or no room for it."""
        pad = await tx.pads.read(space, self.task)
        if pad is None or (pad.project and pad.project != await self._project(tx, space)):
            # What an agent elsewhere wrote under this name is not this one's own notes.
            return None

        def billed(text: str) -> int:
            return max(count(text), len(text) // CHARACTERS_PER_TOKEN + 1)

        text = pad_block(pad, int(budget * PAD_SHARE) - MESSAGE_TOKENS, billed)
        return pad_shown(text, billed) if text else None

    async def _project(self, tx: Transaction, space: str) -> str:
        info = await tx.sessions.get(SessionKey(space, self.session))
        return (info.project if info else None) or ""

    def put(self, shown: Sequence[Shown], pad: Shown | None, head: Head, terms: Terms) -> list[Shown]:
        """`shown` with the scratchpad in its place, and without the thinking that was said to another one."""
        if terms.thinking == "prefix":
            self._note(shown, pad, head)
            shown = bound_from(shown, self._bound_from, terms.count)
        return with_pad(shown, pad)

    def _note(self, shown: Sequence[Shown], pad: Shown | None, head: Head) -> None:
        place = pad_place(shown)
        at = positions(shown)[place] if place < len(shown) else head.position + 1
        stands = (at, pad.text) if pad else None
        if stands == self._last:
            return
        self._last = stands
        # Where nothing was said behind the newest words yet, all that follows is said to what is shown now.
        answered = any(each.draft.role == "assistant" for each in shown[place:])
        self._bound_from = head.position + 1 if answered else at
