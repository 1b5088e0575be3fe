"""What a program writes that sends contexts to OpenAI and Anthropic: checked by mypy, and never run."""

from __future__ import annotations

from anthropic import Anthropic, omit
from openai import OpenAI

import ireneo

GIVEN = [{"role": "user", "content": "Why does the build fail?"}]


def ask_openai(client: OpenAI) -> str | None:
    cut = ireneo.compact(GIVEN, 32_000, to="openai")
    reply = client.chat.completions.create(model="m", messages=cut.messages)
    return reply.choices[0].message.content


def ask_responses(client: OpenAI) -> str:
    cut = ireneo.compact(GIVEN, 32_000, to="openai-responses")
    return client.responses.create(model="m", input=cut.messages, instructions=cut.system).output_text


def ask_anthropic(client: Anthropic) -> str:
    cut = ireneo.compact(GIVEN, 32_000, to="anthropic", thinking="none")
    reply = client.messages.create(model="m", max_tokens=100, system=cut.system or omit, messages=cut.messages)
    return "".join(block.text for block in reply.content if block.type == "text")


def ask_whom(client: Anthropic, other: OpenAI) -> None:
    """A context whose format is not told by a literal goes to either."""
    cut: ireneo.Context = ireneo.compact(GIVEN, 32_000)
    client.messages.create(model="m", max_tokens=100, system=cut.system or omit, messages=cut.messages)
    other.chat.completions.create(model="m", messages=cut.messages)


async def ask_in_a_session(session: ireneo.Session, client: Anthropic, other: OpenAI) -> None:
    """What a client returned is appended as it is."""
    cut = await session.context(32_000, to="anthropic")
    reply = client.messages.create(model="m", max_tokens=100, system=cut.system or omit, messages=cut.messages)
    await session.append(reply)
    cut = await session.context(32_000, to="openai")
    completion = other.chat.completions.create(model="m", messages=cut.messages)
    await session.append(completion.choices[0].message)


def ask_wrongly(client: Anthropic) -> None:
    """What is refused: the ignored faults are there, or mypy complains that nothing was to be ignored."""
    cut = ireneo.compact(GIVEN, 32_000, to="openai")
    client.messages.create(model="m", max_tokens=100, messages=cut.messages)  # type: ignore[arg-type]
    ireneo.compact(GIVEN, 32_000, to="openai_chat")  # type: ignore[call-overload]
