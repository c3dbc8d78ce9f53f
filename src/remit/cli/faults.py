"""What goes wrong, said in one line on stderr, and the exit code for it."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Sequence
from typing import Any

from remit.cli.output import complain, err
from remit.cli.table import ALIASES, COMMANDS, MEANT
from remit.model.errors import PolicyError, RemitError
from remit.model.text import near_miss, shown

BAD_POLICY, BAD_INPUT, INTERNAL, INTERRUPTED = 1, 2, 70, 130


def say_fault(error: Exception, args: Sequence[str] = ()) -> int:
    """Says what is wrong with a command line and gives the exit code; a traceback only on request."""
    if isinstance(error, RemitError):
        complain(error)
        return BAD_POLICY if isinstance(error, PolicyError) else BAD_INPUT
    if hasattr(error, "format_message"):
        return _usage(error, args)
    if type(error).__name__ == "Abort":  # typer's: somebody was asked and gave no answer
        return say_interrupted()
    return _internal(error)


def say_interrupted() -> int:
    """The same for a person who stopped the command."""
    err("remit: interrupted")
    return INTERRUPTED


def _usage(error: Any, args: Sequence[str]) -> int:
    """A complaint of typer's, in one line."""
    command = getattr(getattr(error, "ctx", None), "command_path", "remit")
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    if "unexpected extra argument" in message:
        message += _options(getattr(error, "ctx", None), message)
    if "unexpected extra argument" in message and command == "remit understand":
        message = "a command is one text, in quotation marks: remit understand 'git log'"
    typed = re.match(r"No such command '([\w-]+)'", message)
    if typed is not None:
        known = {**MEANT, **{name: name for name in (*COMMANDS, *ALIASES)}} if command == "remit" else {}
        meant = known.get(typed[1].lower())
        near = [f"{command} {name}" for name in re.findall(r"'([\w-]+)'", message)[1:]]
        if meant is None and not near and command == "remit":
            meant = near_miss(typed[1], [*COMMANDS, *ALIASES])
        near = [f"remit {meant}"] if meant is not None else near
        hint = f"; did you mean {' or '.join(f'`{shown(one)}`' for one in near)}?" if near else ""
        message = f"no such command `{shown(typed[1])}`{hint}"
    long = _one_dash(error, args)
    if long is not None:
        message = f"no such option: {long[1:]}; did you mean `{long}`?"
    message = message.replace("is not a valid int range", "is no whole number that it takes")
    err(f"remit: {shown(message[:1].lower() + message[1:], 300)}; see `{shown(command)} --help`")
    return BAD_INPUT


def _one_dash(error: Any, args: Sequence[str]) -> str | None:
    """`--agent`, where somebody typed `-agent`."""
    known = {
        name
        for one in getattr(getattr(getattr(error, "ctx", None), "command", None), "params", ())
        for name in one.opts
    }
    if type(error).__name__ != "NoSuchOption":
        return None
    return next((f"-{arg}" for arg in args if f"-{arg}" in known), None)


def _options(context: Any, message: str) -> str:
    """What the command takes instead of words: its options with a value."""
    params = getattr(getattr(context, "command", None), "params", ())
    file = re.search(r"\(([^\s()]+\.ya?ml)\)", message)
    if file is not None and any("--policy" in one.opts for one in params):
        return f"; another policy is `--policy {file[1]}`"
    names = [f"{one.opts[0]} {one.metavar or one.name.upper()}" for one in params if _takes_value(one)]
    return f"; it takes only options: {', '.join(names[:6])}" if names else ""


def _takes_value(param: Any) -> bool:
    return getattr(param, "param_type_name", "") == "option" and not param.is_flag and not param.count


def _internal(error: Exception) -> int:
    """A fault of ours: said in one line, with the traceback only on request."""
    if os.environ.get("REMIT_DEBUG") == "1":
        err("".join(traceback.format_exception(error)).rstrip())
    err(f"remit: internal-error: {type(error).__name__}: {shown(error, 300)}; REMIT_DEBUG=1 shows more")
    return INTERNAL
