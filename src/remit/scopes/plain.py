"""Kinds without a scope of their own: plain values, and what is only found inside other texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from remit.scopes.interface import Kind, Unit


class TextKind(Kind):
    """Any text."""

    name = "text"


class NumberKind(Kind):
    """A finite number."""

    name = "number"
    tests = frozenset(("value", "range"))
    schema = MappingProxyType({"type": "number"})

    def problem(self, value: Any) -> str | None:
        fine = type(value) is int or (type(value) is float and math.isfinite(value))
        return None if fine else "a number"

    def harmless(self) -> Any:
        return 1


class FlagKind(Kind):
    """True or false."""

    name = "flag"
    tests = frozenset(("value",))
    schema = MappingProxyType({"type": "boolean"})

    def problem(self, value: Any) -> str | None:
        return None if type(value) is bool else "true or false"

    def harmless(self) -> Any:
        return False


class JsonKind(Kind):
    """Anything at all; no condition looks into it."""

    name = "json"
    tests = frozenset()
    instead = "an argument that is not json"
    schema: Mapping[str, Any] = MappingProxyType({})

    def problem(self, value: Any) -> str | None:
        return None

    def harmless(self) -> Any:
        return {}

    def check_default(self, value: Any) -> None:
        raise ValueError("an argument of kind json has no default")


class DerivedKind(Kind):
    """What a command, a statement or a tool works on that no argument is: tables, hosts, branches, records."""

    argument = False

    def __init__(self, name: str) -> None:
        self.name = self.unit = self.noun = name


class CallKind(DerivedKind):
    """The call itself, where it has no other unit."""

    def target(self, unit: Unit) -> str | None:
        return None


KINDS = (
    TextKind(),
    NumberKind(),
    FlagKind(),
    JsonKind(),
    *(DerivedKind(name) for name in ("table", "branch", "context", "records")),
    CallKind("call"),
)
