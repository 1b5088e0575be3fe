"""The command line: a file for each group of commands, and the screens that show their answers."""
