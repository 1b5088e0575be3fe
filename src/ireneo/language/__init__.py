"""The words of languages, as data: a file a language, and what reads a text by it."""
