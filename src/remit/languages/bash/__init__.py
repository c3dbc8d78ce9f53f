"""Bash: the commands that a text would run, as bash reads it."""
