"""What happened: messages, their names, and the tree that they stand in."""
