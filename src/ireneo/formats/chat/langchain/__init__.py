"""LangChain: messages as `messages_to_dict` writes them, whatever provider is below."""
