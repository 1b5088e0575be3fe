"""What is wrong with a store at rest, and what of it can be repaired."""
