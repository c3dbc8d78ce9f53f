"""Decoders of our own types, built once and one at a time: threads that build them at the same time crash msgspec.

_TASK = Decoding(Task)
task = _TASK.decode(b"{}")
"""

from __future__ import annotations

import os
from _thread import RLock  # as `threading` has it, which takes longer to load than the rest of a decision
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

_building = RLock()


class Decoding(Generic[T]):
    """How JSON becomes a value of one type. Made at module level, built at first use, so that imports stay quick."""

    __slots__ = ("_decoder", "_hook", "_type")

    def __init__(self, type_: type[T], hook: Callable[[type, Any], Any] | None = None) -> None:
        """`hook` makes values of types that msgspec doesn't know, such as paths."""
        self._type, self._hook = type_, hook
        self._decoder: msgspec.json.Decoder[T] | None = None

    def decode(self, data: bytes | bytearray | memoryview | str) -> T:
        """Raises msgspec.DecodeError, and its ValidationError for what is of another type."""
        try:
            return self._built().decode(data)
        except RecursionError:
            raise msgspec.DecodeError("nested too deeply") from None

    def convert(self, value: Any, *, strict: bool = True) -> T:
        """The same from plain values."""
        self._built()
        return msgspec.convert(value, self._type, strict=strict, dec_hook=self._hook)

    def _built(self) -> msgspec.json.Decoder[T]:
        if self._decoder is None:
            # INVARIANT: nobody else in this process has msgspec look at a type meanwhile.
            with _building:
                self._decoder = msgspec.json.Decoder(self._type, dec_hook=self._hook)
        return self._decoder


def _forked() -> None:
    """A lock that another thread of the parent held is held by nobody here."""
    global _building
    _building = RLock()


os.register_at_fork(after_in_child=_forked)
