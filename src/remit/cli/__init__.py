"""The command line: one file for each command. Only this folder knows typer and rich."""
