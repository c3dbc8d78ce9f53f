"""Remit: enforced tool access control for AI agents.

from remit import Call, decide_call, load_rulebook

rulebook = load_rulebook("remit.yaml")
decision = decide_call(rulebook, Call("researcher", "read_file", {"filePath": "README.md"}))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remit.compile import build_rulebook, load_rulebook
    from remit.decide import decide as decide_call
    from remit.enforce.errors import CallDenied, CallPending
    from remit.enforce.guard import Guard
    from remit.model import Call, Context, Decision, Facts, PolicyError, RemitError, Verdict

__version__ = "0.1.0.dev0"

_HOMES = {
    "build_rulebook": ("remit.compile", "build_rulebook"),
    "load_rulebook": ("remit.compile", "load_rulebook"),
    "decide_call": ("remit.decide", "decide"),
    "Guard": ("remit.enforce.guard", "Guard"),
    "CallDenied": ("remit.enforce.errors", "CallDenied"),
    "CallPending": ("remit.enforce.errors", "CallPending"),
    **{
        name: ("remit.model", name)
        for name in ("Call", "Context", "Decision", "Facts", "PolicyError", "RemitError", "Verdict")
    },
}

__all__ = [
    "Call",
    "CallDenied",
    "CallPending",
    "Context",
    "Decision",
    "Facts",
    "Guard",
    "PolicyError",
    "RemitError",
    "Verdict",
    "build_rulebook",
    "decide_call",
    "load_rulebook",
]


def __getattr__(name: str) -> Any:
    """Loads the part that is asked for, so that importing `remit` stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'remit' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
