"""Is a summary true: the artifacts of a text, and whether they occur in its sources."""
