"""Workers for learning: processes on this machine, or those of a Dask cluster."""
