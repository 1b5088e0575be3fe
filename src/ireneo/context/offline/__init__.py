"""The offline summariser: it reads the structure of the work, quotes, counts, and invents nothing."""
