"""Many rows by COPY, in the place of as many inserts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ireneo.adapters.sql.database import Value
from ireneo.patterns import lazy_re

LEAST_COPIED = 50
"""So many rows are copied; fewer go as inserts, which need not wait for what was sent before them."""

_INSERT = lazy_re(r"INSERT INTO ([a-z_]++) \(([a-z_,\s]++)\)\s++VALUES \(((?:[^;()]++|\([^;()]*+\))++)\);\Z")
_COMMENT = lazy_re(r"(?m)^--.*+\n")
_VALUE = lazy_re(r"(string_to_array\()?:([a-z_]++)(?(1), ' '\))(?:,\s++|\s*+\Z)")


class Copied(Struct, frozen=True):
    """What an insert stores, as COPY takes it."""

    statement: bytes
    names: Sequence[tuple[str, bool]]
    """The names of what is bound, in the order of the columns; and which is a list that stands in a text."""

    def rows(self, bound: Iterable[Mapping[str, Value]]) -> Iterator[list[Value | list[str]]]:
        """The rows, column by column."""
        for row in bound:
            yield [str(row[name]).split(" ") if is_list else row[name] for name, is_list in self.names]


def as_copy(query: str) -> Copied | None:
    """A query as a COPY; None where it is no plain insert of what is bound."""
    found = _INSERT.match(_COMMENT.sub("", query))
    if found is None:
        return None
    table, columns, values = (each.strip() for each in found.groups())
    names = [(match[2], match[1] is not None) for match in _VALUE.finditer(values)]
    if "".join(match[0] for match in _VALUE.finditer(values)) != values or len(names) != columns.count(",") + 1:
        return None
    return Copied(f"COPY {table} ({columns}) FROM STDIN".encode(), names)
