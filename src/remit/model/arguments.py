"""Arguments of the Python API: one of a wrong type is refused where it is given, not where it is first used."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from remit.model.errors import RemitError
from remit.model.text import shown


class ArgumentError(RemitError, TypeError):
    """An argument of a function or class of Remit that can't be used."""

    code = "bad-argument"


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "path": (_is_path, "a path (str or os.PathLike)"),
    "text": (lambda value: isinstance(value, str), "text (str)"),
    "seconds": (_is_number, "a number of seconds, 0 or more"),
    "flag": (lambda value: isinstance(value, bool), "True or False"),
    "function": (callable, "a function"),
    "mapping": (lambda value: isinstance(value, Mapping), "a mapping"),
}
"""By kind: what it admits, and how it is called."""


def check_arguments(where: str, kinds: Mapping[str, str], **given: Any) -> None:
    """Raises ArgumentError for the first that is not of its kind in `kinds`; behind a kind, `?` admits None."""
    for name, value in given.items():
        kind, optional = kinds[name].removesuffix("?"), kinds[name].endswith("?")
        fits, expected = KINDS[kind]
        if not (optional and value is None) and not fits(value):
            raise unfit(where, name, expected, value)


def unfit(where: str, name: str, expected: str, value: object) -> ArgumentError:
    """The error for an argument that isn't what was expected."""
    got = f"{type(value).__name__} {shown(repr(value), 60)}" if value is not None else "None"
    return ArgumentError(f"{where}: `{name}` must be {expected}, not {got}")
