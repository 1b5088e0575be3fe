"""The verbs: each reads, plans, checks, and writes in one transaction."""
