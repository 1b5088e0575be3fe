"""What every store in a database shares, whatever the driver: the ports over named queries, and values as rows."""
