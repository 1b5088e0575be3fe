"""From the log to memories: what each turn of work, and each leaf of a story, leaves behind.

All of it follows from the log alone, without a model. What is not remembered yet is derived from what the memories
cite, so that nothing is queued, and whoever is killed leaves nothing to be cleaned up.
"""
