"""Inside a transaction nothing waits for anybody: no other transaction, no model, no embedder, no caller."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source import Source, sources

OPENS = frozenset({"read", "write"})
WAITS_FOR_OTHERS = frozenset({"ask", "embed", "leased", "scrub", "sleep", "gather", "wait", "communicate"})


def opens_transaction(node: ast.AST) -> bool:
    """Whether a node is ``async with ….read()`` or ``….write()``."""
    return isinstance(node, ast.AsyncWith) and any(
        isinstance(item.context_expr, ast.Call)
        and isinstance(item.context_expr.func, ast.Attribute)
        and item.context_expr.func.attr in OPENS
        for item in node.items
    )


def inside(node: ast.AsyncWith) -> Iterator[ast.AST]:
    """All that is done in a block, but for functions that are only defined there."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        each = waiting.pop()
        yield each
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(each))


def waits(node: ast.AST) -> bool:
    """Whether a node hands over to a caller, or waits for somebody who is no transaction's port."""
    if isinstance(node, ast.Yield | ast.YieldFrom) or opens_transaction(node):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in WAITS_FOR_OTHERS


def blocks(source: Source) -> Iterator[ast.AsyncWith]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AsyncWith) and opens_transaction(node):
            yield node


def test_nothing_is_waited_for_inside_a_transaction() -> None:
    looked = [(source, block) for source in sources() if source.room in {"engine", "faces"} for block in blocks(source)]
    assert looked, "no transaction was found: this test looks for the wrong thing"
    wrong = [
        f"{source.name}:{getattr(node, 'lineno', block.lineno)}"
        for source, block in looked
        for node in inside(block)
        if waits(node)
    ]
    assert not wrong, "\n".join(wrong)
