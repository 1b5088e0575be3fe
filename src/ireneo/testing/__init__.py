"""For those who add a store or test against Ireneo: the conformance suite that every store must pass."""
