"""How the past of a story fades: coarse past, fine present, live now."""
