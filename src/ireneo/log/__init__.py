"""The log: messages, their ids, and the tree of a session."""
