"""The doors of Ireneo: they use the public page only, and they alone read the environment."""
