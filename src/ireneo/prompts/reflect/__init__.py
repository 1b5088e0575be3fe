"""Conclusions from episodes."""
