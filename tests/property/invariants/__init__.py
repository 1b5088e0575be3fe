"""What must always hold, each promise in a file of its own and on every store."""
