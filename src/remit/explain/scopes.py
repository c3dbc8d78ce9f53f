"""Scopes in a few words, for a cell, a report or a line of a table."""

from __future__ import annotations

from typing import Any

from remit.decide.grid import Bound
from remit.decide.words import shown

_FIVE = 5


def describe(bound: Bound) -> str:
    """`path research/*.yaml`, `shell git, sqlite3`; empty for a rule without a scope."""
    text = bound.judge.describe()
    scope, shell = bound.rule.scope, bound.judge.parts.get("shell")
    if scope.shell is not None and shell is not None:
        names = _programs(scope.shell)
        text = text.replace(f"shell {shell.describe()}", f"shell {_few(names) if names else shell.describe()}")
    return text


def _programs(scope: dict[str, Any]) -> list[str]:
    """The programs and command sets that a shell scope names; none if it takes any."""
    if scope.get("run") == "any":
        return []
    names: list[str] = []
    for key in ("sets", "run"):
        entries = scope.get(key, ())
        for entry in entries if isinstance(entries, (list, tuple)) else (entries,):
            names.extend(entry if isinstance(entry, dict) else [str(entry)])
    return [shown(name) for name in names]


def _few(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - _FIVE} more" if len(unique) > _FIVE else ""
    return ", ".join(unique[:_FIVE]) + more
