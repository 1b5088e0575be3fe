"""Foreign formats: the message lists of chat providers and the logs of agents, decoded into drafts and back."""
