"""The summary of a stretch of tool work."""
