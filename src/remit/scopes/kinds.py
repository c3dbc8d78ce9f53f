"""The kinds that there are, each loaded when a tool, a scope or a unit has it.

To add one: write its module with a Kind and its Matcher, and name it in `_ARGUMENTS`. The order is that of the parts
of a scope in messages and tables.
"""

from __future__ import annotations

from importlib import import_module

from remit.scopes.interface import Kind

_ARGUMENTS = {
    "path": "path",
    "glob": "path",
    "url": "url",
    "agent": "names",
    "skill": "names",
    "shell": "shell.kind",
    "sql": "sql.kind",
    "email": "email",
    "account": "account",
    "host": "host",
    "date": "date",
    "text": "plain",
    "number": "plain",
    "flag": "plain",
    "json": "plain",
}
"""What an argument can be: by name, the module of this folder that has it among its `KINDS`."""
_UNITS = {
    "table": "plain",
    "branch": "plain",
    "context": "plain",
    "records": "plain",
    "call": "plain",
}
"""What only a unit can be, and no argument."""
_added: dict[str, Kind] = {}
_loaded: dict[str, Kind] = {}


def kind_of(name: str) -> Kind:
    """The kind of that name. Raises KeyError for a name that is none."""
    found = _loaded.get(name)
    if found is None:
        module = import_module(f"remit.scopes.{(_ARGUMENTS | _UNITS)[name]}")
        found = _loaded[name] = next(kind for kind in module.KINDS if kind.name == name)
    return found


def names() -> tuple[str, ...]:
    """What an argument can be."""
    return (*_ARGUMENTS, *_added)


def scoped() -> list[Kind]:
    """The kinds that a scope has a part for."""
    return [kind for name in names() if (kind := kind_of(name)).about]


def add(kind: Kind) -> None:
    """Adds a kind that comes from elsewhere. Raises ValueError if its name is taken."""
    if kind.name in names() or kind.name in _UNITS:
        raise ValueError(f"there is a kind `{kind.name}` already")
    _added[kind.name] = _loaded[kind.name] = kind


def remove(name: str) -> None:
    """Takes away a kind that was added."""
    del _added[name], _loaded[name]
