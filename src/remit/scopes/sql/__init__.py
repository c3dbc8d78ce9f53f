"""SQL texts: every statement, what it touches, and whether a scope admits it."""
