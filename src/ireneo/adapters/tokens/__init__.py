"""Token counts: a fast estimate that needs nothing, and exact ones through the extra `tokens`."""

from ireneo.adapters.tokens.estimate import EstimatedTokenizer
from ireneo.adapters.tokens.exact import ExactTokenizer

__all__ = ["EstimatedTokenizer", "ExactTokenizer"]
