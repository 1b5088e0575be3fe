"""Gemini: contents of parts, calls answered in their order, and signatures on the parts that they belong to."""
