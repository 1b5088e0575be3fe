"""How the past fades: a story as leaves, and leaves as ever deeper summaries, with what is open carried along."""
