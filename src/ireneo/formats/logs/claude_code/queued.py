"""What the user typed while the agent worked.

Older logs note only that the words were queued and that the queue was emptied; the model was given them, and no line
of their own was written. Here they get one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from ireneo.formats.logs.claude_code.stubs import Stub, open_line, stub_of_words
from ireneo.formats.logs.kept import Lines
from ireneo.formats.logs.narrow import string
from ireneo.patterns import lazy_re

_COMMAND = lazy_re(r"/[\w:-]+(?:\s|$)")
_NEAR = 10
"""How many lines after the words left the queue a line of their own may stand."""


def with_queued_words(stubs: Sequence[Stub], lines: Lines) -> Iterator[Stub]:
    """`stubs`, with each queued text that no other line carries said where it was taken off the queue."""
    queue: deque[tuple[int, str]] = deque()
    for index, stub in enumerate(stubs):
        entry = open_line(stub, lines).entry if stub.kind == "queue-operation" else {}
        operation = entry.get("operation")
        if operation == "enqueue" and (words := string(entry.get("content"))):
            queue.append((index, words))
        elif operation == "popAll":
            # The user took them back into the prompt; what was sent in the end has its own line.
            queue.clear()
        elif operation in ("dequeue", "remove") and queue:
            since, words = queue.popleft()
            if operation == "remove" and not _is_told(words, stubs[since : index + _NEAR], lines):
                yield stub_of_words(stub, words)
                continue
        yield stub


def _is_told(words: str, stubs: Sequence[Stub], lines: Lines) -> bool:
    # A command to the harness is carried out, and tells of itself.
    return bool(_COMMAND.match(words)) or any(
        str(block.get("text")).strip() == words.strip()
        for stub in stubs
        if stub.kind != "assistant" and stub.speaks
        for block in open_line(stub, lines).blocks
    )
