"""Summaries by a model: what it is shown, what it is held to, and what becomes of its answer."""
