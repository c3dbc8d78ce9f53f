"""The program `remit`: finds the command, runs it, and says in one line whatever goes wrong.

Exit codes: 0 fine; 1 the policy has problems, or its tests fail, or the ledger is not verified; 2 bad usage, or input
that can't be read, or output that can't be written; 3 a decision that `--fail-on` names; 70 an internal error;
130 interrupted; 141 nobody reads the output any more.
"""

from __future__ import annotations

import gc
import os
import sys

from remit import __version__
from remit.cli.output import OutputClosed, out, silence
from remit.cli.table import ALIASES, COMMANDS, Command, Group
from remit.cli.usage import group_help, program_help

INTERRUPTED, CLOSED = 130, 141
_HELP = ("-h", "--help")


def main() -> None:
    """Runs the command line of this process."""
    gc.set_threshold(50_000, 20, 20)  # what is imported stays: looking through it for garbage is a fifth of a start
    code = run(sys.argv[1:])
    gc.freeze()  # and so is looking through it once more at the end
    sys.exit(code)


def run(args: list[str]) -> int:
    """Runs one command and returns its exit code. What goes wrong is one line on stderr, never a traceback."""
    try:
        code = _run(args)
        if code == INTERRUPTED:  # typer turns an interrupt into its code
            raise KeyboardInterrupt
    except OutputClosed:
        silence()
        return CLOSED
    except KeyboardInterrupt:
        from remit.cli.faults import say_interrupted  # here: errors bring msgspec along, which `--help` does without

        return say_interrupted()
    except Exception as error:
        from remit.cli.faults import say_fault  # here: for the same reason

        return say_fault(error, args)
    return code if isinstance(code, int) else 0


def _run(args: list[str]) -> object:
    """What is plain is done here; the rest is typer's, which takes longer to load than most commands to run."""
    if "_REMIT_COMPLETE" in os.environ:
        from remit.cli.typer_app import run_typer  # here, as below: typer is slow to load

        try:
            return run_typer(args)
        except SystemExit as end:  # how typer ends after it has answered a shell
            return end.code
    if not args or args[0] in _HELP:
        out(program_help())
        return 0
    if args[0] == "help":
        args = [*args[1:], "--help"]
        if len(args) == 1:
            out(program_help())
            return 0
    if args == ["--version"]:
        out(f"remit {__version__}\n")
        return 0
    args = [ALIASES.get(args[0], args[0]), *args[1:]]
    path, found, rest = _find(args)
    if isinstance(found, Group) and found.alone is None and (not rest or rest[0] in _HELP):
        out(group_help(["remit", *path], found))
        return 0
    command = found.alone if isinstance(found, Group) else found
    if command is not None:
        from importlib import import_module  # here: `--help` has no use for it

        from remit.cli.arguments import read_plainly  # the same

        function = getattr(import_module(command.module), command.function)
        given = read_plainly(function, rest)
        if given is not None:
            return function(**given)
    from remit.cli.typer_app import run_typer  # here: typer is slow to load

    return run_typer(args)


def _find(args: list[str]) -> tuple[list[str], Command | Group | None, list[str]]:
    """The command or group that the first words name, and the words behind them."""
    found: Command | Group | None = COMMANDS.get(args[0])
    at = 1
    while isinstance(found, Group) and at < len(args) and args[at] in found.commands:
        found = found.commands[args[at]]
        at += 1
    return args[:at], found, args[at:]
