"""A proxy before a model's API: it keeps the log of each conversation, and sends on a context instead of all of it."""
