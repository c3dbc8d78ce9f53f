"""Scopes in a few words, for a cell, a report or a line of a table."""

from __future__ import annotations

from typing import Any

from remit.decide.plan import Bound
from remit.decide.words import shown

_WRITTEN = ("shell", "sql")
_FIVE = 5


def describe(bound: Bound) -> str:
    """`path research/*.yaml`, `shell git, sqlite3`; empty for a rule without a scope."""
    text = bound.judge.describe()
    for kind in _WRITTEN:
        scope = getattr(bound.rule.scope, kind)
        if scope is not None:
            names = _programs(scope) if kind == "shell" else _verbs(scope)
            text = text.replace(f"{kind} (scoped)", f"{kind} {_few(names)}" if names else f"{kind} (scoped)")
    return text


def _programs(scope: dict[str, Any]) -> list[str]:
    """The programs and command sets that a shell scope names."""
    names: list[str] = []
    for key in ("sets", "run"):
        entries = scope.get(key, ())
        for entry in entries if isinstance(entries, (list, tuple)) else (entries,):
            names.extend(entry if isinstance(entry, dict) else [str(entry)])
    return [shown(name) for name in names]


def _verbs(scope: dict[str, Any]) -> list[str]:
    return [shown(name) for name in scope]


def _few(names: list[str]) -> str:
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - _FIVE} more" if len(unique) > _FIVE else ""
    return ", ".join(unique[:_FIVE]) + more
