"""The command line: one file a command. Only this folder knows typer and rich."""
