"""The program `remit`: its commands, and one line for whatever goes wrong.

Exit codes: 0 fine; 1 the policy has problems, or its tests fail, or the ledger is not verified; 2 bad usage, or input
that can't be read, or output that can't be written; 3 a decision that `--fail-on` names; 70 an error of Remit itself;
130 interrupted; 141 nobody reads the output any more.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.main import get_command

from remit.cli import (
    activate,
    answer,
    approvals,
    capsule,
    check,
    credential,
    decide,
    explain,
    gate,
    grant,
    ledger,
    matrix,
    reach,
    report,
    schema,
    serve,
    status,
    understand,
    who_can,
    witness,
)
from remit.cli.install import command as install
from remit.cli.install import uninstall
from remit.cli.output import OutputClosed, complain, err, out, silence
from remit.model.errors import PolicyError, RemitError

INTERNAL, INTERRUPTED, CLOSED = 70, 130, 141

EPILOG = """\b
Exit codes:
  0  fine
  1  the policy has problems, or its tests fail, or the ledger is not verified
  2  bad usage, or input that can't be read
  3  a decision that --fail-on names
  70 an error of Remit itself
"""

app = typer.Typer(
    name="remit",
    help="Enforced tool access for AI agents: a written policy becomes decisions.",
    epilog=EPILOG,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _module in (
    ("check", check),
    ("activate", activate),
    ("install", install),
    ("uninstall", uninstall),
    ("decide", decide),
    ("explain", explain),
    ("matrix", matrix),
    ("report", report),
    ("who-can", who_can),
    ("reach", reach),
    ("understand", understand),
    ("grant", grant),
    ("schema", schema),
    ("serve", serve),
    ("status", status),
    ("witness", witness),
):
    app.command(_name)(_module.command)
app.command("approve")(answer.approve)
app.command("refuse")(answer.refuse)
app.add_typer(approvals.app, name="approvals")
app.add_typer(capsule.app, name="capsule")
app.add_typer(gate.app, name="gate")
app.add_typer(credential.app, name="credential")
app.add_typer(ledger.app, name="ledger")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Enforced tool access for AI agents: a written policy becomes decisions."""
    if version:
        from importlib.metadata import version as installed

        out(f"remit {installed('remit')}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        out(context.get_help() + "\n")


def main() -> None:
    """Runs the command line of this process."""
    sys.exit(run(sys.argv[1:]))


def run(args: list[str]) -> int:
    """Runs one command and returns its exit code. What goes wrong is one line on stderr, never a traceback."""
    try:
        code = get_command(app).main(args, prog_name="remit", standalone_mode=False)
    except OutputClosed:
        silence()
        return CLOSED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except RemitError as error:
        complain(error)
        return 1 if isinstance(error, PolicyError) else 2
    except typer.Abort:
        code = INTERRUPTED
    except Exception as error:
        if hasattr(error, "format_message"):
            return _usage(error)
        return _internal(error)
    if code == INTERRUPTED:
        err("remit: interrupted")
    return code if isinstance(code, int) else 0


def _usage(error: Any) -> int:
    """A complaint of typer's, in one line."""
    from remit.model.text import shown

    command = getattr(getattr(error, "ctx", None), "command_path", "remit")
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    err(f"remit: {shown(message[:1].lower() + message[1:], 300)}; see `{shown(command)} --help`")
    return 2


def _internal(error: Exception) -> int:
    """A fault of ours: said in one line, with the traceback only on request."""
    from remit.model.text import shown

    if os.environ.get("REMIT_DEBUG") == "1":
        import traceback

        err("".join(traceback.format_exception(error)).rstrip())
    err(f"remit: internal-error: {type(error).__name__}: {shown(error, 300)}; REMIT_DEBUG=1 shows more")
    return INTERNAL
