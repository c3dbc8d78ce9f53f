"""Policy → Rulebook: resolved, proved, hashed, and written in a form that reads back quickly.

    rulebook = load_rulebook("remit.yaml")

Reading a written rulebook (`remit.compile.file`) needs none of the rest, so that is imported only when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remit.compile.load import build_rulebook, compile_policy, load_rulebook

__all__ = ["build_rulebook", "compile_policy", "load_rulebook"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'remit.compile' has no attribute {name!r}")
    from remit.compile import load  # here: importing the package reads no policy

    return getattr(load, name)
