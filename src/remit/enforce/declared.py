"""A tool declared at its function: its arguments from the signature, their kinds from annotations or as given."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from remit.enforce.errors import GuardError
from remit.scopes import kinds as known

_PLAIN: dict[Any, str] = {str: "text", int: "number", float: "number", bool: "flag", Path: "path", PurePath: "path"}

Shell = Annotated[str, "shell"]
Sql = Annotated[str, "sql"]
Url = Annotated[str, "url"]
Glob = Annotated[str, "glob"]
FilePath = Annotated[str, "path"]
Agent = Annotated[str, "agent"]
Skill = Annotated[str, "skill"]
"""Annotations for arguments that are texts of a kind: `def run(command: Shell) -> str`."""


class Declared:
    """A function, and the tool that it is."""

    def __init__(
        self, function: Callable[..., Any], name: str, told: Mapping[str, Any], kinds: Mapping[str, str]
    ) -> None:
        """Raises GuardError for a function that can't be one."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise GuardError(f"`{name}` yields: a tool returns", code="bad-tool")
        self.function, self.name = function, name
        self.is_async = inspect.iscoroutinefunction(function)
        self.signature = inspect.signature(function)
        self.paths: dict[str, type] = {}
        """Arguments that the function wants as a Path."""
        self._defaults: dict[str, Any] = {}
        self._deep = False
        """Some of these could be changed by whoever gets them."""
        args, optional = self._arguments(kinds)
        self.told: dict[str, Any] = {"args": args, **({"optional": optional} if optional else {})}
        self._names = tuple(self.signature.parameters)
        self._known = frozenset(self._names)
        self._required = self._known.difference(optional)
        about = inspect.getdoc(function)
        if about:
            self.told["about"] = about.split("\n\n")[0].replace("\n", " ")[:500]
        self.told |= {key: value for key, value in told.items() if value is not None}

    def _arguments(self, kinds: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
        hints = _hints(self.function)
        args: dict[str, str] = {}
        optional = []
        for parameter in self.signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise GuardError(f"`{self.name}` takes `{parameter}`: a tool has named arguments", code="bad-tool")
            name = parameter.name
            kind = kinds.get(name) or _kind(hints.get(name))
            if kind not in known.names():
                what = f"`{self.name}`: the kind of `{name}` can't be told from its annotation"
                raise GuardError(what, code="bad-tool", help=f"kinds={{'{name}': 'text'}}, or annotate it")
            args[name] = kind
            if inspect.isclass(base := _bare(hints.get(name))) and issubclass(base, PurePath):
                self.paths[name] = base
            if parameter.default is not parameter.empty:
                optional.append(name)
                self._default(name, parameter.default)
        return args, optional

    def bind(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The call's arguments by name, as JSON has them. Raises TypeError as a plain call would."""
        found = dict(zip(self._names, args, strict=False))
        found.update(named)
        whole = len(found) == len(args) + len(named)
        if not whole or not (len(args) == len(self._names) or self._required <= found.keys() <= self._known):
            self.signature.bind(*args, **named)
        if self.paths:
            for name in self.paths.keys() & found.keys():
                if isinstance(found[name], PurePath):
                    found[name] = str(found[name])
        return found if len(found) == len(self._names) else self.filled(found)

    def filled(self, args: dict[str, Any]) -> dict[str, Any]:
        """With the function's own defaults for what is left out: these are decided on and recorded like the rest."""
        if self._defaults.keys() <= args.keys():
            return args
        return (copy.deepcopy(self._defaults) if self._deep else self._defaults) | args

    def _default(self, name: str, value: Any) -> None:
        """None stands for an argument that is not there."""
        value = str(value) if isinstance(value, PurePath) else value
        if value is None:
            return
        try:
            if msgspec.json.decode(msgspec.json.encode(value)) != value:
                raise TypeError("it comes back as something else")
        except (TypeError, ValueError):
            what = f"`{self.name}`: the default of `{name}` is not JSON, so nobody can decide on it"
            raise GuardError(what, code="bad-tool", help="use None, and put it in place in the function") from None
        self._defaults[name] = value
        self._deep = self._deep or isinstance(value, dict | list)

    def unbind(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function wants them."""
        if not self.paths:
            return dict(args)
        return {
            name: self.paths[name](value) if name in self.paths and isinstance(value, str) else value
            for name, value in args.items()
        }


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # a name that is not there at run time; kinds can be given
        return dict(getattr(function, "__annotations__", {}))


def _bare(hint: Any) -> Any:
    """Without Annotated and `| None`."""
    if get_origin(hint) is Annotated:
        return _bare(get_args(hint)[0])
    rest = [one for one in get_args(hint) if one is not type(None)]
    return _bare(rest[0]) if type(None) in get_args(hint) and len(rest) == 1 else hint


def _kind(hint: Any) -> str | None:
    if get_origin(hint) is Annotated:
        return next((mark for mark in get_args(hint)[1:] if mark in known.names()), None) or _kind(get_args(hint)[0])
    rest = [one for one in get_args(hint) if one is not type(None)]
    if type(None) in get_args(hint) and len(rest) == 1:
        return _kind(rest[0])
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint in (dict, list) or get_origin(hint) in (dict, list):
        return "json"
    return None
