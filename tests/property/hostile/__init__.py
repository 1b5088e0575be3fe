"""Sessions with planted constraints, and a model that does its worst with them."""
