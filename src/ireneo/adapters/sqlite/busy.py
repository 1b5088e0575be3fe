"""How a connection waits for a file that another one has locked: random pauses that grow, up to a limit."""

from __future__ import annotations

import random
import threading
import time

SHORTEST_SECONDS = 0.001
LONGEST_SECONDS = 0.025
GROWTH = 1.5
STEPS = 20
"""After so many tries a pause has long reached its ceiling; further powers would only overflow."""


class Patience:
    """A busy handler for one connection: SQLite calls it with the number of tries, and waits on while it says True.

    SQLite's own wait is the same for everyone, so that writers who came at once meet again at each try, and the one
    that waited longest asks most rarely. Here a pause is random, and its ceiling is low enough that a waiter of long
    standing asks nearly as often as a newcomer.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = 0.0
        self.given_up = threading.Event()
        """Set, by another thread, once nobody wants what it waits for any more: the wait ends at once."""

    def __call__(self, tries: int) -> bool:
        """Pause, and say whether to try again; False once the limit is over or the wait was given up."""
        if tries == 0:
            self._began = time.monotonic()
        left = self._began + self._seconds - time.monotonic()
        if left <= 0:
            return False
        ceiling = min(LONGEST_SECONDS, SHORTEST_SECONDS * GROWTH ** min(tries, STEPS))
        pause = random.uniform(ceiling / 4, ceiling)
        return not self.given_up.wait(min(pause, left))
