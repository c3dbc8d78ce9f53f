"""Fields: values that an entry only commits to. They live apart, and can be erased without breaking a proof.

commitment = SHA-256(salt ‖ path ‖ 0x00 ‖ value as JSON), with 16 random bytes of salt for each value.

A secret in a value is blotted out before that, so that neither the store nor the commitment holds anything of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from remit.model.digest import sha256
from remit.record.secrets import without_secrets


class Field(NamedTuple):
    """One value with its commitment."""

    path: str
    digest: bytes
    salt: bytes
    value: bytes
    """As JSON, without secrets."""


def digest_of(path: str, salt: bytes, value: bytes) -> bytes:
    """The commitment to a value."""
    return sha256(salt + path.encode("utf-8", "surrogatepass") + b"\0" + value).digest()


def commit_all(values: Mapping[str, Any]) -> list[Field]:
    """The fields of values that are JSON, by their paths."""
    return [commit(path, value) for path, value in values.items()]


def commit(path: str, value: Any) -> Field:
    """The field of one value."""
    data = _json(without_secrets(path, value))
    try:
        salt = _salts.pop()
    except IndexError:
        salt = _salt()
    return _new(Field, (path, digest_of(path, salt, data), salt, data))


_new = tuple.__new__
"""Makes a named tuple in one step."""
_json = msgspec.json.Encoder().encode
_salts: list[bytes] = []
os.register_at_fork(after_in_child=_salts.clear)


def _salt() -> bytes:
    """16 random bytes that nobody else gets. Drawn many at a time: asking the kernel lets every other thread in."""
    while True:
        try:
            return _salts.pop()
        except IndexError:
            drawn = os.urandom(16 * 256)
            _salts.extend(drawn[at : at + 16] for at in range(0, len(drawn), 16))
