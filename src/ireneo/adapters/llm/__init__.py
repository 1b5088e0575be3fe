"""Models of OpenAI, Anthropic, Google and Ollama, and of servers that speak like them, through the extra `llm`."""

from ireneo.adapters.llm.model import ProviderModel, open_model

__all__ = ["ProviderModel", "open_model"]
