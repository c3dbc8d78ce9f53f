"""Dictionaries that nobody can change: what is derived from a policy, or remembered, stays true of it.

frozen({"a": [1, {"b": 2}]})        # every level of it, lists as tuples
"""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec


class FrozenDict(dict[Any, Any]):
    """Reads and compares like any dictionary, and refuses changes with a TypeError."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("it can't be changed: make a new one")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, tuple[dict[Any, Any]]]:
        return frozen, (dict(self),)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self


NOTHING: dict[Any, Any] = FrozenDict()
"""The one empty one: a struct that omits defaults omits it."""


def frozen(value: Any) -> Any:
    """The same data, and no part of it can be changed."""
    kind = type(value)
    if kind is dict:
        return FrozenDict({key: frozen(one) for key, one in value.items()}) if value else NOTHING
    if kind is list or kind is tuple:
        return tuple([frozen(one) for one in value])
    return value


def freeze_fields(struct: msgspec.Struct, *names: str) -> None:
    """For `__post_init__`: these fields of the struct can't be changed from within either."""
    for name in names:
        value = getattr(struct, name)
        if value is not NOTHING and value is not None and type(value) is not FrozenDict:
            msgspec.structs.force_setattr(struct, name, frozen(value))
