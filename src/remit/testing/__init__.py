"""Helpers for users' tests and for adapters: policy tests, a guard for tests, the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remit.testing.scratch import guard

__all__ = ["guard"]


def __getattr__(name: str) -> Any:
    """Loads the guard when it is asked for: `remit check` does without."""
    if name != "guard":
        raise AttributeError(f"module 'remit.testing' has no attribute {name!r}")
    from remit.testing.scratch import guard  # here: `remit check` does without

    return guard
