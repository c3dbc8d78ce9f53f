"""`remit ledger …`: one file a command."""
