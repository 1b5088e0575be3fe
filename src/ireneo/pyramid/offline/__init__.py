"""The offline summariser of stories: it picks sentences and names, and invents nothing."""
