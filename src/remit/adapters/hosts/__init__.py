"""The hosts that agents run in, a family: `interface.py` says what a host is, and each one is a module of its own."""
