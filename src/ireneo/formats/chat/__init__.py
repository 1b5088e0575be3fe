"""The message formats of chat providers: decode, encode, and say which rule a list breaks."""
