"""What becomes of a story without a model: rules that read its words and invent nothing."""
