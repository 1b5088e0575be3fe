"""Checks whether a statement is true: what it claims, whether its sources show that, and what it has lost of them."""
