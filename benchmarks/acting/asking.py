"""The question for the next action, its typed reply, and which approach that would be."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Annotated

from msgspec import Meta, Struct

from acting.voices import OWN, revoiced
from ireneo import Context, chat_format
from ireneo.formats.chat.format import NOTES, Payload
from ireneo.language.topics import Voice
from ireneo.log.message import Call, Draft, arguments_text
from ireneo.ports.models import Prompt
from ireneo.summaries.outcomes import approach
from ireneo.summaries.steps import CHANGES, understand
from ireneo.summaries.summary import Line

NAME = "act-1"
MAX_TOKENS = 1_000


class Act(Struct, frozen=True, kw_only=True):
    """The tool call that comes next."""

    tool: Annotated[str, Meta(max_length=120)]
    arguments: dict[str, object] = {}

    @property
    def call(self) -> Call:
        """The call, as a log would hold it."""
        return Call(id="next", name=self.tool, arguments=self.arguments)


def question(context: Context, voice: Voice, tools: Sequence[str]) -> Prompt:
    """Ask for the next action; the notes in the context stand in that voice."""
    text = Path(__file__).with_name(f"{NAME}.md").read_text(encoding="utf-8")
    told, _, asked = text.partition("\n---\n")
    user = Template(asked.strip()).substitute(tools="\n".join(tools), session=session_text(context, voice))
    return Prompt(task="act", name=NAME, system=told.strip(), user=user, max_tokens=MAX_TOKENS)


def session_text(context: Context, voice: Voice) -> str:
    """A context written out, since a prompt is one text: who speaks, and what."""
    drafts = chat_format(context.format).decode(Payload(messages=context.messages, system=context.system))
    return "\n\n".join(_said(draft, voice) for draft in drafts)


def tool_lines(path: Sequence[Draft]) -> list[str]:
    """The tools that were called on a path, each with the names of its arguments."""
    known: dict[str, dict[str, None]] = {}
    for call in (call for draft in path for call in draft.calls if not call.server):
        names = call.arguments if isinstance(call.arguments, dict) else ()
        known.setdefault(call.name, {}).update(dict.fromkeys(names))
    return [f"- {name}({', '.join(arguments)})" for name, arguments in sorted(known.items())]


def repeated(call: Call, dead_ends: Sequence[Line]) -> list[Line]:
    """The dead ends that `call` would run into again: the same deed on the same thing."""
    action = understand(call)
    name = approach(action.kind, action.subject)
    added = " ".join(action.added.split())
    undone = f"undo {action.subject} "
    out = []
    for line in dead_ends:
        change = line.subject.removeprefix(undone).rstrip("…")
        again = action.kind in CHANGES and line.subject.startswith(undone) and change in added
        if line.subject == name or again:
            out.append(line)
    return out


def is_comparable(dead_end: Line) -> bool:
    """Whether a proposed call can be told to repeat it.

    Of work on whole files that was thrown away it can't; and a plan or a question that was turned down may come again.
    """
    thrown_away = dead_end.subject.startswith("undo ") and dead_end.text.startswith("I tried changing ")
    return not thrown_away and not dead_end.subject.startswith(("plan ", "ask "))


def _said(draft: Draft, voice: Voice) -> str:
    if draft.origin == "summary":
        return f"{OWN[voice]}\n{revoiced(draft.text.removeprefix(NOTES).lstrip(), voice)}"
    lines = [f"{draft.role}: {draft.text}"] if draft.text.strip() else []
    lines += [f"assistant calls {call.name} {arguments_text(call)}" for call in draft.calls]
    for result in draft.results:
        failed = " (failed)" if result.failed else ""
        lines.append(f"tool{failed}: {result.text or '(nothing)'}")
    return "\n".join(lines)
