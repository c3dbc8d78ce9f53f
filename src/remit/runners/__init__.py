"""Runners: deterministic programs with a remit of their own. Git, GitHub and validation, without a shell."""
