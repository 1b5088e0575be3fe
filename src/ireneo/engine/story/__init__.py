"""The verbs on a story: its summaries as far as they are there, its context, and what is still to be written."""
