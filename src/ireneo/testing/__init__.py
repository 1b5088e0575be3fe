"""For those who add a store or test against Ireneo: the suite that every store must pass, a scripted model, a clock."""
