"""What is asked of a server and what it answers, in the terms of each provider's API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

Kind = Literal["openai", "anthropic", "google"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Finish = Literal["stop", "length", "refusal"]


class Asked(Struct, frozen=True, kw_only=True):
    """One request."""

    number: int
    """1 for the first that the server got."""
    path: str
    model: str
    system: str
    user: str
    max_tokens: int | None
    body: dict[str, Any]
    headers: dict[str, str]
    """By names in small letters."""


class Answer(Struct, frozen=True, kw_only=True):
    """What a server sends back."""

    text: str = ""
    finish: Finish = "stop"
    status: int = 200
    headers: Mapping[str, str] = {}
    wait_seconds: float = 0.0
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    body: bytes | None = None
    """Sent as it is, in place of the text."""
    tokens_in: int = 100
    tokens_out: int = 20


Script = Callable[[Asked], Answer]


def read(kind: Kind, number: int, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Asked:
    """What a request asks."""
    model, system, user, limit = _READERS[kind](path, body)
    small = {name.lower(): value for name, value in headers.items()}
    return Asked(
        number=number, path=path, model=model, system=system, user=user, max_tokens=limit, body=body, headers=small
    )


def write(kind: Kind, asked: Asked, answer: Answer) -> bytes:
    """The body of an answer."""
    if answer.body is not None:
        return answer.body
    if answer.status != 200:
        error = {"type": "error", "message": answer.text, "code": answer.status, "status": "FAULT"}
        return json.dumps({"type": "error", "error": error}).encode()
    return json.dumps(_WRITERS[kind](asked, answer)).encode()


def _text(content: object) -> str:
    """The text of a message's content, as one string or as blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(block.get("text", "") for block in blocks)


def _read_openai(path: str, body: dict[str, Any]) -> tuple[str, str, str, int | None]:
    said = {
        role: "".join(_text(m["content"]) for m in body["messages"] if m["role"] == role) for role in ("system", "user")
    }
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    return body["model"], said["system"], said["user"], limit


def _read_anthropic(path: str, body: dict[str, Any]) -> tuple[str, str, str, int | None]:
    user = "".join(_text(message["content"]) for message in body["messages"] if message["role"] == "user")
    return body["model"], _text(body.get("system", "")), user, body.get("max_tokens")


def _read_google(path: str, body: dict[str, Any]) -> tuple[str, str, str, int | None]:
    system = _text(body.get("systemInstruction", {}).get("parts", []))
    user = "".join(_text(content["parts"]) for content in body["contents"])
    limit = body.get("generationConfig", {}).get("maxOutputTokens")
    return path.rpartition("/")[2].partition(":")[0], system, user, limit


def _write_openai(asked: Asked, answer: Answer) -> dict[str, Any]:
    refused = answer.finish == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else answer.text,
        "refusal": answer.text if refused else None,
    }
    return {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop" if refused else answer.finish}],
        "usage": {
            "prompt_tokens": answer.tokens_in,
            "completion_tokens": answer.tokens_out,
            "total_tokens": answer.tokens_in + answer.tokens_out,
        },
    }


def _write_anthropic(asked: Asked, answer: Answer) -> dict[str, Any]:
    reasons = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}
    return {
        "id": f"msg_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [{"type": "text", "text": answer.text}] if answer.text and answer.finish != "refusal" else [],
        "stop_reason": reasons[answer.finish],
        "stop_sequence": None,
        "usage": {"input_tokens": answer.tokens_in, "output_tokens": answer.tokens_out},
    }


def _write_google(asked: Asked, answer: Answer) -> dict[str, Any]:
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
    parts = [{"text": answer.text}] if answer.text and answer.finish != "refusal" else []
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reasons[answer.finish]}],
        "usageMetadata": {
            "promptTokenCount": answer.tokens_in,
            "candidatesTokenCount": answer.tokens_out,
            "totalTokenCount": answer.tokens_in + answer.tokens_out,
        },
        "modelVersion": asked.model,
        "responseId": f"r{asked.number}",
    }


_READERS = {"openai": _read_openai, "anthropic": _read_anthropic, "google": _read_google}
_WRITERS = {"openai": _write_openai, "anthropic": _write_anthropic, "google": _write_google}
