"""What someone at a terminal gets to see; without one, the same as plain text."""
