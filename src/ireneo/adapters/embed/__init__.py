"""Embedders: one that runs on this machine, those behind an API like OpenAI's, and those that other packages bring."""

from ireneo.adapters.embed.opening import open_embedder

__all__ = ["open_embedder"]
