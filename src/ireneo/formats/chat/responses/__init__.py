"""OpenAI Responses: a list of items, in which reasoning, messages, calls and their outputs each stand alone."""
