"""SQL texts: every statement, and what it touches."""
