"""`remit capsule …`: tasks handed to agents, one file a command."""

from __future__ import annotations

import typer

from remit.cli.capsule import end, list_, new, report, show
from remit.cli.ledger.options import help_alone

app = typer.Typer(
    name="capsule",
    help="Tasks handed to agents: what they may besides, what binds them, and when they end.",
    rich_markup_mode=None,
)
app.callback(invoke_without_command=True)(help_alone)
for _name, _module in (("new", new), ("show", show), ("list", list_), ("end", end), ("report", report)):
    app.command(_name)(_module.command)
