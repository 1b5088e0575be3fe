"""Of which kind a text is that is to be remembered."""
