"""Erasure, step by step: what is meant, what was derived from it, and what is left to do."""
