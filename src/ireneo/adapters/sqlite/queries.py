"""The named queries: plain SQL in .sql files, each under a line ``-- name: find_head``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ireneo.patterns import lazy_re

_NAME = lazy_re(r"^-- name: (\w+)\n", re.MULTILINE)


def parse_queries(text: str) -> dict[str, str]:
    """Split the text of a .sql file into its queries by name; what stands before the first name is a comment."""
    _, *pieces = _NAME.split(text)
    names, bodies = pieces[0::2], pieces[1::2]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two queries are named {name}")
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}


def load_queries() -> Mapping[str, str]:
    """Read every query that ships with the package; a name stands once in all files together."""
    found: dict[str, str] = {}
    for file in sorted(Path(__file__).with_name("queries").iterdir(), key=lambda file: file.name):
        queries = parse_queries(file.read_text(encoding="utf-8"))
        if twice := found.keys() & queries.keys():
            raise ValueError(f"two queries are named {', '.join(sorted(twice))}")
        found |= queries
    return MappingProxyType(found)


SQL = load_queries()
