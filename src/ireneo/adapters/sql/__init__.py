"""The parts that all database stores share, whatever the driver: the ports over named queries, and values as rows."""
