"""What the user typed while the agent worked.

Older logs note only that the words were queued and that the queue was emptied; the model was given them, and no line
of their own was written. Here they get one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from ireneo.formats.logs.claude_code.lines import Line
from ireneo.formats.logs.narrow import string

_COMMAND = re.compile(r"/[\w:-]+(?:\s|$)")
_NEAR = 10
"""How many lines after the words left the queue a line of their own may stand."""


def with_queued_words(lines: Sequence[Line]) -> Iterator[Line]:
    """`lines`, with each queued text that no other line carries said where it was taken off the queue."""
    queue: deque[tuple[int, str]] = deque()
    for index, line in enumerate(lines):
        operation = line.entry.get("operation") if line.kind == "queue-operation" else None
        if operation == "enqueue" and (words := string(line.entry.get("content"))):
            queue.append((index, words))
        elif operation == "popAll":
            # The user took them back into the prompt; what was sent in the end has its own line.
            queue.clear()
        elif operation in ("dequeue", "remove") and queue:
            since, words = queue.popleft()
            if operation == "remove" and not _is_told(words, lines[since : index + _NEAR]):
                yield _spoken(line, words)
                continue
        yield line


def _is_told(words: str, lines: Sequence[Line]) -> bool:
    # A command to the harness is carried out, and tells of itself.
    return bool(_COMMAND.match(words)) or any(
        str(block.get("text")).strip() == words.strip()
        for line in lines
        if line.kind != "assistant"
        for block in line.blocks
    )


def _spoken(line: Line, words: str) -> Line:
    message = {"role": "user", "content": words}
    entry = {"type": "user", "message": message, "timestamp": line.entry.get("timestamp")}
    return Line(number=line.number, raw=line.raw, entry=entry)
