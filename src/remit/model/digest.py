"""SHA-256, without loading OpenSSL for it: a program that decides one call would spend more on that than on hashing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__all__ = ["expect_much", "lean_sha256", "quickest", "sha256"]

MUCH = 1024 * 1024
"""Bytes: who hashes more than that gets OpenSSL, which is several times as quick by the byte."""

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import sha256
    from hashlib import sha256 as lean_sha256

    def expect_much() -> None: ...

    def quickest() -> Callable[[bytes], Any]: ...
else:
    try:  # the interpreter's own, as the standard library takes them where it wants to start quickly
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as lean_sha256
        else:
            from _sha256 import sha256 as lean_sha256
    except ImportError:
        from hashlib import sha256 as lean_sha256

    _chosen, _left = lean_sha256, MUCH

    def sha256(data=b""):
        """As `hashlib.sha256`; the lean one until there is much to hash."""
        global _chosen, _left
        if _left > 0:
            _left -= len(data)
            if _left <= 0:
                from hashlib import sha256 as _chosen  # here: only much to hash is worth it
        return _chosen(data)

    def quickest():
        """What `sha256` takes at the moment, for who has many hashes to compute."""
        return _chosen

    def expect_much():
        """For a program that runs on: from now on it takes OpenSSL's."""
        global _chosen, _left
        from hashlib import sha256 as _chosen

        _left = 0
