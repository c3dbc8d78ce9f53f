"""The commands that hosts run: known again wherever they stand, and looked at."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from itertools import pairwise

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
    if any(one.split("/")[-4:] == _CLIENT and two == host for one, two in pairwise(words)):
        return True
    list_ = ["remit", "hosts", f"{host}.sh"]
    return words == ["remit-hook", host] or any(word.rstrip(";").split("/")[-3:] == list_ for word in words)


def program_faults(python: str, client: str) -> Iterator[Finding]:
    """What is wrong with the interpreter that judges calls, and with the one file that it runs."""
    if not os.access(python, os.X_OK):
        yield Finding("fault", "interpreter-gone", f"the hook's interpreter {shown(python, 300)} can't be run")
    if not os.path.isfile(client):
        yield Finding("fault", "client-gone", f"the hook itself is not there: {shown(client, 300)}")
