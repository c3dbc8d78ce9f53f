"""`remit approvals`: the inbox of what waits for an answer, and all that there is to see of one."""

from __future__ import annotations

from typing import Annotated

import typer

from remit.cli.approvals import show
from remit.cli.options import JsonOption, PolicyOption

app = typer.Typer(
    name="approvals",
    help="What waits for a person's answer: list it, watch it, look at one in full.",
    rich_markup_mode=None,
)
app.command("show")(show.command)


@app.callback(invoke_without_command=True)
def inbox(
    context: typer.Context,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on as things change, until interrupted.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Those that were answered or ran out, too.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """What waits for a person's answer: list it, watch it, look at one in full."""
    from remit.cli.approvals.inbox import look, watching
    from remit.cli.common import FINE, InputError

    if context.invoked_subcommand is not None:
        if watch or every or json or policy is not None:
            raise InputError(f"options of `{context.invoked_subcommand}` stand behind it")
        return FINE
    if watch:
        return watching(policy, every=every, json=json)
    return look(policy, every=every, json=json)
