"""The command that hosts run: written by `remit install`, known again wherever it stands, and looked at."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from remit.adapters.hooks.client import DEADLINE
from remit.adapters.hosts.setup import Finding
from remit.model.text import shown

LONGEST = DEADLINE + 3
"""Seconds after which the hook has ended by itself, whatever happens."""
_CLIENT = ["remit", "adapters", "hooks", "client.py"]


def is_hook_command(command: object, host: str) -> bool:
    """True for a command that runs Remit's hook for this host, from wherever it is installed."""
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return any(one.split("/")[-4:] == _CLIENT and two == host for one, two in pairwise(words))


def program_faults(command: str) -> Iterator[Finding]:
    """What is wrong with the interpreter that a hook's command runs, and with the one file that this runs."""
    words = shlex.split(command)
    if not os.access(words[0], os.X_OK):
        yield Finding("fault", "interpreter-gone", f"the hook's interpreter {shown(words[0], 300)} can't be run")
    if not os.path.isfile(words[3]):
        yield Finding("fault", "client-gone", f"the hook itself is not there: {shown(words[3], 300)}")


def hook_command(state: Path, host: str) -> str:
    """What the host runs, for `sh -c`: this interpreter, deaf to PYTHON* and to what else is installed, on one file."""
    client = Path(__file__).with_name("client.py")
    words = (sys.executable, "-I", "-S", str(client), host, str(state))
    return " ".join(shlex.quote(word) for word in words)
