"""Calls that the provider runs itself, and their results, in the same assistant message."""

from __future__ import annotations

from ireneo.formats.chat.anthropic.names import NAME, is_server_result, kind_of
from ireneo.log.message import Call, Opaque, Result

_MCP_CALL = "mcp_tool_use"
_MCP = "mcp__"


def read_server_call(block: dict[str, object]) -> Call | None:
    """A call of a provider's tool, or of an MCP server that it connects to (named ``mcp__server__tool``)."""
    call_id, name, given = block.get("id"), block.get("name"), block.get("input")
    if not isinstance(call_id, str) or not isinstance(name, str) or not isinstance(given, dict):
        return None
    server = block.get("server_name")
    if block.get("type") == _MCP_CALL and isinstance(server, str):
        name = f"{_MCP}{server}__{name}"
    return Call(id=call_id, name=name, arguments=given, server=True)


def write_server_call(call: Call) -> dict[str, object]:
    """The block of a call that the provider ran."""
    given = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    server, found, name = call.name.removeprefix(_MCP).partition("__")
    if call.name.startswith(_MCP) and found:
        return {"type": _MCP_CALL, "id": call.id, "name": name, "server_name": server, "input": given}
    return {"type": "server_tool_use", "id": call.id, "name": call.name, "input": given}


def read_server_result(block: dict[str, object]) -> Result | None:
    """The result of one, whose block is carried whole: much of it is sealed."""
    call_id = block.get("tool_use_id")
    if not isinstance(call_id, str):
        return None
    failed = True if block.get("is_error") is True else None
    return Result(call_id=call_id, parts=(Opaque(format=NAME, payload=block),), failed=failed)


def server_block(result: Result) -> dict[str, object] | None:
    """The block that `result` carries whole; None where it is no result of a provider's tool."""
    only = result.parts[0] if len(result.parts) == 1 else None
    if not isinstance(only, Opaque) or only.format != NAME or not is_server_result(kind_of(only.payload)):
        return None
    return only.payload if only.payload.get("tool_use_id") == result.call_id else None


def is_server_block(result: Result) -> bool:
    """Whether `result` can be written as the result of a provider's tool."""
    return server_block(result) is not None
