"""`remit ledger …`: one file for each command."""
