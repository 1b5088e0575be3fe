"""Finding again what a question asks for: from the words of the question to a ranking of what was said and learned."""
