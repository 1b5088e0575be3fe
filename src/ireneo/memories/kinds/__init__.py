"""The four kinds of memories: each one row of policy and one small module."""
