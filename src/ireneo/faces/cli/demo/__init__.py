"""The demo, with the logs that it plays."""
