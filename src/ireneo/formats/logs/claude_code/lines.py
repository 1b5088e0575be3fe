"""The lines of a Claude Code log, parsed and told apart: what was said, and what was noted beside it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ireneo.formats.logs.narrow import mapping, objects, string


class Line(Struct, frozen=True, kw_only=True):
    """One JSON object of the log."""

    number: int
    raw: dict[str, object]
    """The line as it stands, for the record."""
    entry: Mapping[str, object]
    """What is read: `raw` itself or, where a sub-agent's words came wrapped in a progress line, those words."""

    @property
    def uuid(self) -> str | None:
        """The line's own id."""
        return string(self.entry.get("uuid"))

    @property
    def kind(self) -> str:
        """Its `type`."""
        return string(self.entry.get("type")) or ""

    @property
    def message(self) -> Mapping[str, object]:
        """The provider's message that it carries."""
        return mapping(self.entry.get("message"))

    @property
    def speaks(self) -> bool:
        """Whether it is part of the conversation."""
        return bool(self.blocks)

    @property
    def blocks(self) -> list[dict[str, object]]:
        """The blocks of its content; a plain text is a block of text."""
        content = self.message.get("content") if self.kind in ("user", "assistant") else _queued_command(self.entry)
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        items = content if isinstance(content, list) else []
        given = [{"type": "text", "text": item} if isinstance(item, str) else item for item in items]
        return objects(given)

    @property
    def answers(self) -> list[str]:
        """The ids of the calls whose results it brings."""
        return self._ids("user", "tool_result", "tool_use_id")

    @property
    def calls(self) -> list[str]:
        """The ids of the calls that it makes."""
        return self._ids("assistant", "tool_use", "id")

    def _ids(self, kind: str, block_type: str, key: str) -> list[str]:
        if self.kind != kind:
            return []
        found = (string(block.get(key)) for block in self.blocks if block.get("type") == block_type)
        return [name for name in found if name is not None]


def _queued_command(entry: Mapping[str, object]) -> object:
    """What the user typed while the agent worked, where the log hands it in as an attachment."""
    attachment = mapping(entry.get("attachment"))
    return attachment.get("prompt") if attachment.get("type") == "queued_command" else None
