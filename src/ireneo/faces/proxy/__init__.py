"""A proxy in front of a model's API: it stores each conversation, and sends a context instead of the whole history."""
