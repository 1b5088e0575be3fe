"""The context for a model: a path, cut to a budget."""
