"""Programs: what a command does, by the profile of its program."""
