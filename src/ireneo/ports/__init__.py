"""What the core needs of the world, as small protocols over domain types."""
