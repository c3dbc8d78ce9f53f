"""How things stand: what is in force, what enforces it and for whom, and what does not. Looked at, never changed."""
