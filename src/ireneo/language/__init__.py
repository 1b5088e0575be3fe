"""The words of languages, as data: one file for each language, and functions that analyse texts with them."""
