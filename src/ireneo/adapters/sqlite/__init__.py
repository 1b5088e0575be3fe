"""The store in one SQLite file, through apsw: WAL, many processes, plain SQL in .sql files."""

from ireneo.adapters.sqlite.store import Durability, SqliteStore, open_sqlite

__all__ = ["Durability", "SqliteStore", "open_sqlite"]
