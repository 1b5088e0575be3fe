"""Answers in JSON: on standard output, and nothing else there."""

from __future__ import annotations

import sys

import msgspec

import ireneo


def write_json(answer: object) -> None:
    """Write `answer`: on one line for a program, indented for someone at a terminal."""
    text = msgspec.json.encode(answer)
    if sys.stdout.isatty():
        text = msgspec.json.format(text)
    sys.stdout.buffer.write(text + b"\n")
    sys.stdout.buffer.flush()


def context_answer(context: ireneo.Context) -> dict[str, object]:
    """A context as JSON; the system prompt stands apart only where its format keeps it apart."""
    answer: dict[str, object] = {
        "budget": context.budget,
        "tokens": context.tokens,
        "tokens_before": context.tokens_before,
        "format": context.format,
        "messages": context.messages,
    }
    if context.system is not None:
        answer["system"] = context.system
    answer |= {"view": context.view, "violations": context.violations, "mended": context.mended, "pins": context.pins}
    answer["behind"] = context.behind
    if context.unkept:
        answer["unkept"] = context.unkept
    return answer if context.explained is None else answer | {"explained": context.explained}
