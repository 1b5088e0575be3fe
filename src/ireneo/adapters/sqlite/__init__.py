"""The store in one SQLite file, through apsw: WAL, many processes, plain SQL in .sql files."""

from ireneo.adapters.sqlite.opening import Durability, open_sqlite
from ireneo.adapters.sqlite.store import SqliteStore

__all__ = ["Durability", "SqliteStore", "open_sqlite"]
