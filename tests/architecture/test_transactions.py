"""A transaction is a function: nobody opens one as a block, in which something could be waited for."""

from __future__ import annotations

import ast

from tests.architecture.source import sources

OPENS = frozenset({"read", "write"})


def opens_transaction(node: ast.AST) -> bool:
    """Whether a node is ``async with ….read()`` or ``….write()``."""
    return isinstance(node, ast.AsyncWith) and any(
        isinstance(item.context_expr, ast.Call)
        and isinstance(item.context_expr.func, ast.Attribute)
        and item.context_expr.func.attr in OPENS
        for item in node.items
    )


def test_nobody_opens_a_transaction_as_a_block() -> None:
    wrong = [
        f"{source.name}:{getattr(node, 'lineno', 0)}"
        for source in sources()
        for node in ast.walk(source.tree)
        if opens_transaction(node)
    ]
    assert not wrong, "\n".join(wrong)
