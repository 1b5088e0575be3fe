"""Find again what answers a question, among everything that was said and learned."""
