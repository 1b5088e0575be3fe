"""OpenAI Chat Completions: the message list that most providers and local servers speak."""
