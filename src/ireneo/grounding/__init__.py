"""Is a statement true: what it claims, whether its sources show that, and what of them it has lost."""
