"""What was learned, by kind."""
