"""What is forgotten is gone, and everything else is as it was."""
