"""What was learned: records of four kinds, how they are written, found again and forgotten."""
