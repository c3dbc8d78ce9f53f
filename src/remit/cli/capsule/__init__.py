"""`remit capsule …`: tasks handed to agents, one file for each command."""
