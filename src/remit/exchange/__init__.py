"""In and out: what other programs keep about agents and tools, read and edited as text."""
