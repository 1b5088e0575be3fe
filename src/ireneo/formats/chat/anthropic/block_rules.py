"""What may stand in a message: which blocks, in which order, and none that says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ireneo.formats.chat.anthropic.names import CALL, RESULT, THINKING, is_server_call, is_server_result, kind_of
from ireneo.formats.chat.format import Violation
from ireneo.formats.chat.reading import text_or
from ireneo.formats.chat.rules.outline import Outlines, Rule, breach


def blocks_of(holder: dict[str, object]) -> list[dict[str, object]]:
    """The content blocks of a message or of a tool result, as far as they are blocks."""
    content = holder.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def empty_text(outlines: Outlines) -> Iterator[Violation]:
    """No text block is blank, in a message or in a list that a tool result holds."""
    for outline in outlines:
        for block in _texts(outline.message):
            text = block.get("text")
            if isinstance(text, str) and not text.strip():
                yield breach("empty-text", outline.index, "a text block is blank; leave it out.")


def empty_content(outlines: Outlines) -> Iterator[Violation]:
    """A message has content, and so does the result of a call that failed."""
    for outline in outlines:
        blocks = blocks_of(outline.message)
        if not blocks:
            yield breach("empty-content", outline.index, "it has no content.")
        for block in blocks:
            if kind_of(block) == RESULT and block.get("is_error") is True and not block.get("content"):
                yield breach("empty-content", outline.index, "the result of a failed call must say something.")


def thinking_last(outlines: Outlines) -> Iterator[Violation]:
    """Thinking leads to something: it is not the last block of its message."""
    for outline in outlines:
        blocks = blocks_of(outline.message)
        if outline.role == "assistant" and blocks and kind_of(blocks[-1]) in THINKING:
            yield breach("thinking-last", outline.index, "its last block is thinking; a text or a call must follow.")


def unsigned_thinking(outlines: Outlines) -> Iterator[Violation]:
    """Thinking goes back with the signature that it came with."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            if kind_of(block) == "thinking" and not block.get("signature"):
                yield breach("unsigned-thinking", outline.index, "a thinking block has no signature; leave it out.")


def results_not_first(outlines: Outlines) -> Iterator[Violation]:
    """Tool results stand before everything else in their message."""
    for outline in outlines:
        kinds = [kind_of(block) == RESULT for block in blocks_of(outline.message)]
        if outline.role == "user" and kinds != sorted(kinds, reverse=True):
            yield breach("results-not-first", outline.index, "a tool result stands after other content, not first.")


def misplaced_block(outlines: Outlines) -> Iterator[Violation]:
    """Calls and thinking are the assistant's, tool results the user's."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            kind = kind_of(block)
            assistants = kind in (CALL, *THINKING) or is_server_call(kind) or is_server_result(kind)
            if (outline.role == "user" and assistants) or (outline.role == "assistant" and kind == RESULT):
                says = f"a {kind} block may not stand in a message of the {outline.role}."
                yield breach("misplaced-block", outline.index, says)


def server_pair_split(outlines: Outlines) -> Iterator[Violation]:
    """A call that the provider ran and its result stand in one assistant message, the call first."""
    for outline in outlines:
        pending: set[str] = set()
        for block in blocks_of(outline.message) if outline.role == "assistant" else ():
            if is_server_call(kind_of(block)):
                pending.add(text_or(block.get("id")))
            elif is_server_result(kind_of(block)):
                name = text_or(block.get("tool_use_id"))
                if name in pending:
                    pending.discard(name)
                else:
                    says = f"the {kind_of(block)} names {name!r}, which no call before it in this message made."
                    yield breach("server-pair-split", outline.index, says)
        for name in sorted(pending):
            says = f"the provider's own call {name!r} has no result in the same message."
            yield breach("server-pair-split", outline.index, says)


def bad_arguments(outlines: Outlines) -> Iterator[Violation]:
    """The input of a call is an object."""
    for outline in outlines:
        for block in blocks_of(outline.message):
            kind = kind_of(block)
            if (kind == CALL or is_server_call(kind)) and not isinstance(block.get("input"), dict):
                yield breach("bad-arguments", outline.index, "the input of a call must be an object.")


BLOCK_RULES: tuple[Rule, ...] = (
    empty_text,
    empty_content,
    thinking_last,
    unsigned_thinking,
    results_not_first,
    misplaced_block,
    server_pair_split,
    bad_arguments,
)


def _texts(message: dict[str, object]) -> Iterator[dict[str, object]]:
    for block in blocks_of(message):
        if kind_of(block) == "text":
            yield block
        # A string is what a silent command printed; it may be empty.
        elif kind_of(block) == RESULT and isinstance(block.get("content"), list):
            yield from (inner for inner in blocks_of(block) if kind_of(inner) == "text")
