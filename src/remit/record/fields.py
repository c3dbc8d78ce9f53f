"""Fields: values that an entry only commits to. They live apart, and can be erased without breaking a proof.

commitment = SHA-256(salt ‖ path ‖ 0x00 ‖ value as JSON), with 16 random bytes of salt for each value.

A value with a secret in it is stored with the secret blotted out and without its salt, so that nobody can guess the
rest of it from the commitment.
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
    """Empty where the value had a secret: then nobody can open the commitment."""
    value: bytes
    """As JSON; what is stored."""


def digest_of(path: str, salt: bytes, value: bytes) -> bytes:
    """The commitment to a value."""
    return sha256(salt + path.encode("utf-8", "surrogatepass") + b"\0" + value).digest()


def commit(path: str, value: Any) -> Field:
    """The field of a value that is JSON."""
    data = msgspec.json.encode(value)
    salt = os.urandom(16)
    digest = digest_of(path, salt, data)
    clean = without_secrets(path, value)
    if clean is value:
        return Field(path, digest, salt, data)
    return Field(path, digest, b"", msgspec.json.encode(clean))
