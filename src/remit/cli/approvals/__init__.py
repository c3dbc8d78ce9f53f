"""`remit approvals …`: what waits for an answer, one file a command."""
