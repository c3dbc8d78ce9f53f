"""`remit ledger …`: one file a command."""

from __future__ import annotations

import typer

from remit.cli.ledger import anchor, check_proof, erase, export, keys, prove, show, stats, tail, verify
from remit.cli.ledger.options import help_alone

app = typer.Typer(
    name="ledger",
    help="The ledger: what was decided, written so that nobody can change it unnoticed.",
    rich_markup_mode=None,
)
app.callback(invoke_without_command=True)(help_alone)
for _name, _module in (
    ("verify", verify),
    ("show", show),
    ("tail", tail),
    ("prove", prove),
    ("check-proof", check_proof),
    ("export", export),
    ("erase", erase),
    ("stats", stats),
):
    app.command(_name)(_module.command)
app.add_typer(anchor.app, name="anchor")
app.add_typer(keys.app, name="keys")
