"""For those who write a store or test with Ireneo: the suite that every store must pass, a scripted model, a clock."""
