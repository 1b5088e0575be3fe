"""What an agent would do next: the cuts, the question, and the voices in which it is asked."""
