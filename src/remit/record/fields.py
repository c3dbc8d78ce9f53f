"""Fields: values that an entry only commits to. They live apart, and can be erased without breaking a proof.

commitment = SHA-256(salt ‖ path ‖ 0x00 ‖ value as JSON), with 16 random bytes of salt for each value.

A secret in a value is blotted out before that, so that neither the store nor the commitment holds anything of it.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

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


def commit(path: str, value: Any) -> Field:
    """The field of a value that is JSON."""
    data = msgspec.json.encode(without_secrets(path, value))
    salt = os.urandom(16)
    return Field(path, digest_of(path, salt, data), salt, data)
