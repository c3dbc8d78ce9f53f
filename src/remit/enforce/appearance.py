"""How a guarded function looks to frameworks: like the one that it guards, with nothing that leads to that one.

INVARIANT: it has no `__wrapped__`. Frameworks unwrap functions before they read or call them (`inspect.unwrap`), and
would call the bare function.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

G = TypeVar("G", bound=Callable[..., Any])


def looks_like(function: Callable[..., Any], signature: inspect.Signature, about: str | None) -> Callable[[G], G]:
    """Gives a function the name, the signature, the documentation and the plain attributes of another.

    The signature should hold types and not texts: without the other function nobody can look a text up.
    """
    named: Any = function
    while isinstance(named, functools.partial):
        named = named.func
    attributes = dict(vars(function)) if inspect.isroutine(function) else {}

    def give(guarded: G) -> G:
        guarded.__module__ = getattr(named, "__module__", guarded.__module__)
        guarded.__name__ = getattr(named, "__name__", type(named).__name__)
        guarded.__qualname__ = getattr(named, "__qualname__", type(named).__qualname__)
        guarded.__doc__ = about
        guarded.__dict__.update({name: value for name, value in attributes.items() if not callable(value)})
        guarded.__annotations__ = _annotations(signature)
        guarded.__signature__ = signature  # type: ignore[attr-defined]
        return guarded

    return give


def _annotations(signature: inspect.Signature) -> dict[str, Any]:
    found = {one.name: one.annotation for one in signature.parameters.values() if one.annotation is not one.empty}
    if signature.return_annotation is not signature.empty:
        found["return"] = signature.return_annotation
    return found
