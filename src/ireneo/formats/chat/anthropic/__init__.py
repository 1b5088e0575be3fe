"""Anthropic Messages: content blocks, results in user messages, and the system prompt apart."""
