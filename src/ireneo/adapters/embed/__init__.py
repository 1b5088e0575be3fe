"""Embedders: one that runs on this machine, models behind an API like OpenAI's, and embedders of other packages."""

from ireneo.adapters.embed.opening import open_embedder

__all__ = ["open_embedder"]
