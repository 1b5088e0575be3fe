"""What Codex itself puts into a conversation, in the user's place or as a developer's message."""

from __future__ import annotations

from collections.abc import Mapping

from ireneo.log.message import Draft, Text
from ireneo.patterns import lazy_re

_MARKED = lazy_re(
    r"\s*(?:<(?:user_instructions|environment_context|turn_aborted|user_shell_command|skill|plugins|subagents"
    r"|subagent_notification|collaboration_mode|realtime_conversation|personality_spec|permissions instructions"
    r"|model_switch|hook_prompt|user_action|ENVIRONMENT_CONTEXT|INSTRUCTIONS)\b[^>\n]*>"
    r"|# AGENTS\.md instructions\b|Warning: The maximum number of unified exec processes)"
)


def is_injected(draft: Draft, item: Mapping[str, object]) -> bool:
    """Whether nobody said `draft`, which was read from `item`."""
    if draft.role == "system":
        return item.get("role") == "developer"
    texts = [part.text for part in draft.parts if isinstance(part, Text) and part.text.strip()]
    return draft.role == "user" and bool(texts) and all(_MARKED.match(text) for text in texts)
