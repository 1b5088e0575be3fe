"""What becomes of a story without a model: rules that pick its sentences, names and threads, and invent nothing."""
