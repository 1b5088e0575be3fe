"""The ways into Ireneo for users and programs. They use the public API only, and alone read the environment."""
