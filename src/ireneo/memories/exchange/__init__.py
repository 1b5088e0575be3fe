"""Memories as files: one Markdown file each, for people and for git, or one line of JSON each."""
