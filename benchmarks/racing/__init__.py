"""Processes that race for one story, and what is counted of them."""
