"""What a program writes that sends contexts to OpenAI and Anthropic: checked by mypy, and never run."""

from __future__ import annotations

from anthropic import Anthropic, AsyncAnthropic, omit
from openai import OpenAI

import ireneo
import ireneo.sync

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
    told = await session.context(32_000, to="openai", explain=True)
    completion = other.chat.completions.create(model="m", messages=told.messages)
    await session.append(completion.choices[0].message)


def ask_wrongly(client: Anthropic) -> None:
    """What is refused: the ignored faults are there, or mypy complains that nothing was to be ignored."""
    cut = ireneo.compact(GIVEN, 32_000, to="openai")
    client.messages.create(model="m", max_tokens=100, messages=cut.messages)  # type: ignore[arg-type]
    ireneo.compact(GIVEN, 32_000, to="openai_chat")  # type: ignore[call-overload]


async def ask_wrongly_in_a_session(session: ireneo.Session, client: Anthropic) -> None:
    cut = await session.context(32_000, to="openai")
    client.messages.create(model="m", max_tokens=100, messages=cut.messages)  # type: ignore[arg-type]


async def remember(memory: ireneo.Memory, client: AsyncAnthropic, other: OpenAI) -> str:
    """A context of a session goes to either client, and what they return goes into it."""
    session = await memory.session("monday")
    await session.append(ireneo.Draft(role="user", parts=(ireneo.Text(text="Why does the build fail?"),)))
    context = await session.context(32_000, to="anthropic")
    system = context.system or omit
    reply = await client.messages.create(model="m", max_tokens=100, system=system, messages=context.messages)
    await session.append(reply)
    again = await session.context(32_000, to="openai")
    await session.append(other.chat.completions.create(model="m", messages=again.messages).choices[0].message)
    report = await memory.work(until_idle=True, on_progress=tell)
    return f"{report.texts} of {sum(each.messages for each in await memory.sessions())}"


def tell(step: ireneo.WorkResult) -> None:
    print(step.did)


def remember_at_once(path: str, client: Anthropic) -> str:
    """The same without await: each verb has its own parameters and its own result."""
    with ireneo.sync.open(path, space="anna", keep_secrets=True) as memory:
        session: ireneo.sync.Session = memory.session("monday")
        context = session.context(32_000, to="anthropic")
        session.append(client.messages.create(model="m", max_tokens=100, messages=context.messages))
        memory.remember("Anna lives in Porto.", kind="semantic")
        found = memory.recall("Where does Anna live?", limit=3)
        learned = memory.learn_from("run.jsonl", on_progress=print)
        return f"{found[0].text} {learned.new} {memory.work(until_idle=True, on_progress=tell).texts}"


def remember_wrongly(memory: ireneo.sync.Memory) -> None:
    """What is refused of a verb without await."""
    memory.recall(3)  # type: ignore[arg-type]
    memory.recall("Where?", most=3)  # type: ignore[call-arg]
    memory.remember("x", kind="sematic")  # type: ignore[arg-type]
    memory.session("monday").context("many")  # type: ignore[call-overload]
    memory.session("monday").context(1_000, to="antropic")  # type: ignore[call-overload]
    memory.import_file("run.jsonl", format="claud-code")  # type: ignore[arg-type]
