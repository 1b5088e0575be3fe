"""A store in PostgreSQL, for many machines."""
