"""Languages: a text in, what it would do out. They know nothing of rules."""
