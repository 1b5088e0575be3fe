"""What every store in a database shares: the ports over queries by name, and values as rows. A driver is none of it."""
