"""The only mutable authority: which rulebook is in force, what people prove themselves with, and what they granted."""
