"""Pydantic AI: requests and responses of typed parts, as `ModelMessagesTypeAdapter` writes them."""
