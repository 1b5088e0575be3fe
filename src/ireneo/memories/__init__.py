"""What was learned: four kinds of memories, how they are written, found and forgotten."""
