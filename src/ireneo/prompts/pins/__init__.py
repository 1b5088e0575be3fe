"""The constraints in a user's words that the rules may have missed."""
