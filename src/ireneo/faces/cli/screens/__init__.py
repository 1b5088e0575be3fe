"""The screens that commands show: drawn on a terminal, plain text elsewhere."""
