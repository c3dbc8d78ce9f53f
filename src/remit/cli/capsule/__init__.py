"""`remit capsule …`: tasks handed to agents, one file a command."""
