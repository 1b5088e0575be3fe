"""The adapters to the outside world: each folder implements a port."""
