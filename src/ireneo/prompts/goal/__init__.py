"""The summary of several complete turns."""
