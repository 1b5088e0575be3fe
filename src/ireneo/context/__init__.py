"""What the model sees: a path, cut to a budget."""
