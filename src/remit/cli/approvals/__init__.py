"""`remit approvals …`: what waits for an answer, one file for each command."""
