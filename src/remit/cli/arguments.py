"""Reads plain arguments without loading typer, whose import costs more than most commands.

INVARIANT: what is read here, typer reads the same way; whatever is unusual, wrong or a plea for help is left to typer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from remit.cli.parameters import Argument, Option

_FLAG, _TEXT, _PATH, _TEXTS = "flag", "text", "path", "texts"
_KINDS: dict[Any, str] = {bool: _FLAG, str: _TEXT, Path: _PATH, list[str]: _TEXTS}


def read_plainly(function: Callable[..., int], args: list[str]) -> dict[str, Any] | None:
    """The keywords to call the function with; None if this is for typer to say."""
    known = _parameters(function)
    if known is None:
        return None
    options, places = known
    found: dict[str, Any] = {}
    given: list[str] = []
    rest = iter(args)
    for word in rest:
        if not word.startswith("-"):
            given.append(word)
            continue
        name, equals, value = word.partition("=")
        if name not in options or (equals and not name.startswith("--")):
            return None
        keyword, kind = options[name]
        if kind == _FLAG:
            if equals:
                return None
            found[keyword] = True
            continue
        if not equals:
            value = next(rest, "-")
            if value.startswith("-"):
                return None
        if kind == _TEXTS:
            found.setdefault(keyword, []).append(value)
        else:
            found[keyword] = Path(value) if kind == _PATH else value
    if len(given) > len(places):
        return None
    for (keyword, kind), value in zip(places, given, strict=False):
        found[keyword] = Path(value) if kind == _PATH else value
    return found if _required(function) <= found.keys() else None


def _required(function: Callable[..., int]) -> set[str]:
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[:count]
    return set(names[: count - len(function.__defaults__ or ())])


def _parameters(function: Callable[..., int]) -> tuple[dict[str, tuple[str, str]], list[tuple[str, str]]] | None:
    """Options by name and arguments by place, each with its keyword and kind; None if one is of another kind."""
    options: dict[str, tuple[str, str]] = {}
    places: list[tuple[str, str]] = []
    for keyword, hint in get_type_hints(function, include_extras=True).items():
        if keyword == "return":
            continue
        if get_origin(hint) is not Annotated:
            return None
        declared, about = get_args(hint)[:2]
        kind = _kind(declared)
        if isinstance(about, Argument):
            if kind not in (_TEXT, _PATH):
                return None
            places.append((keyword, kind))
        elif isinstance(about, Option) and kind is not None:
            options.update((name, (keyword, kind)) for name in about.names)
        elif not isinstance(about, Option):
            return None
    return options, places


def _kind(declared: Any) -> str | None:
    if isinstance(declared, UnionType):
        declared = next((one for one in get_args(declared) if one is not NoneType), None)
    return _KINDS.get(declared)
