"""The ledger: what was decided, written so that nobody can change it unnoticed."""
