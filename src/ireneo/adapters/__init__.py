"""Where Ireneo meets the world: each folder fills a port."""
