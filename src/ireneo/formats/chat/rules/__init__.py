"""What a message list must hold to: one small function a rule, over an outline that each format draws of its list."""
