"""The interfaces that the core needs, as small protocols over domain types."""
