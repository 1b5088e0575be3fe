"""The summary of a stretch of a story."""
