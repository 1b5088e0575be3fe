"""The command line: one file a group of commands, and the screens that they show."""
