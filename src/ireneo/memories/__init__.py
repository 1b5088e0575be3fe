"""Memories: their four kinds, and how they are written, found and forgotten."""
