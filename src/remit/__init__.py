"""Remit: enforced tool access control for AI agents.

from pathlib import Path

from remit import CallDenied, Guard

guard = Guard({"remit": 1, "agents": {"researcher": {"may": [{"write_file": {"path": "research/*.md"}}]}}})

@guard.tool(does={"write": "path"})
def write_file(path: Path, content: str) -> int:
    return path.write_text(content)

with guard, guard.agent("researcher"):
    write_file(Path("research/a.md"), "x")
    try:
        write_file(Path("src/app.py"), "")
    except CallDenied as denied:
        print(denied)           # write_file is limited to research/*.md for researcher

Everything that users may import is in `remit.__all__`; docs/api.md says what each name is and what stays stable. All
other modules are internal and may change with any version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from remit.compile import build_rulebook, load_rulebook
    from remit.compile.tasks import task_from
    from remit.confine.process import Finished
    from remit.decide import decide as decide_call
    from remit.enforce.access import ToolAccess
    from remit.enforce.contract import check_tools
    from remit.enforce.declared import Agent, FilePath, Glob, Shell, Skill, Sql, Url
    from remit.enforce.errors import (
        CallDenied,
        CallPending,
        CallRefused,
        GuardError,
        InvalidToolError,
        NotActivated,
        Refused,
    )
    from remit.enforce.guard import Guard
    from remit.enforce.intent import IntentRouter
    from remit.enforce.safe_path import SafePath
    from remit.enforce.webhook import Webhook, is_genuine
    from remit.grant.authority import Authority
    from remit.grant.errors import GrantError
    from remit.model.call import Call, Context, Statement
    from remit.model.decision import Decision
    from remit.model.errors import PolicyError, RemitError
    from remit.model.facts import Facts
    from remit.model.rulebook import Rulebook
    from remit.model.terms import Verdict
    from remit.record.audit import audit
    from remit.record.open import open_log
    from remit.record.reader import entries
    from remit.runners.errors import RunnerError, RunnerFailed
    from remit.runners.git import GitRunner
    from remit.runners.github import GitHubCLIRunner
    from remit.runners.validation import Validation, ValidationRunner

__version__ = "0.1.0.dev0"

__all__ = [
    "Agent",
    "Authority",
    "Call",
    "CallDenied",
    "CallPending",
    "CallRefused",
    "Context",
    "Decision",
    "Facts",
    "FilePath",
    "Finished",
    "GitHubCLIRunner",
    "GitRunner",
    "Glob",
    "GrantError",
    "Guard",
    "GuardError",
    "IntentRouter",
    "InvalidToolError",
    "NotActivated",
    "PolicyError",
    "Refused",
    "RemitError",
    "Rulebook",
    "RunnerError",
    "RunnerFailed",
    "SafePath",
    "Shell",
    "Skill",
    "Sql",
    "Statement",
    "ToolAccess",
    "Url",
    "Validation",
    "ValidationRunner",
    "Verdict",
    "Webhook",
    "audit",
    "build_rulebook",
    "check_tools",
    "decide_call",
    "entries",
    "is_genuine",
    "load_rulebook",
    "open_log",
    "task_from",
]

_HOMES = {
    "remit.compile": (
        "build_rulebook",
        "load_rulebook",
    ),
    "remit.compile.tasks": ("task_from",),
    "remit.enforce.access": ("ToolAccess",),
    "remit.enforce.contract": ("check_tools",),
    "remit.enforce.declared": (
        "Agent",
        "FilePath",
        "Glob",
        "Shell",
        "Skill",
        "Sql",
        "Url",
    ),
    "remit.enforce.errors": (
        "CallDenied",
        "CallPending",
        "CallRefused",
        "GuardError",
        "InvalidToolError",
        "NotActivated",
        "Refused",
    ),
    "remit.enforce.guard": ("Guard",),
    "remit.enforce.intent": ("IntentRouter",),
    "remit.enforce.safe_path": ("SafePath",),
    "remit.enforce.webhook": (
        "Webhook",
        "is_genuine",
    ),
    "remit.grant.authority": ("Authority",),
    "remit.grant.errors": ("GrantError",),
    "remit.model.call": (
        "Call",
        "Context",
        "Statement",
    ),
    "remit.model.decision": ("Decision",),
    "remit.model.errors": (
        "PolicyError",
        "RemitError",
    ),
    "remit.model.facts": ("Facts",),
    "remit.model.rulebook": ("Rulebook",),
    "remit.model.terms": ("Verdict",),
    "remit.record.audit": ("audit",),
    "remit.record.open": ("open_log",),
    "remit.record.reader": ("entries",),
    "remit.runners.errors": (
        "RunnerError",
        "RunnerFailed",
    ),
    "remit.runners.git": ("GitRunner",),
    "remit.runners.github": ("GitHubCLIRunner",),
    "remit.confine.process": ("Finished",),
    "remit.runners.validation": (
        "Validation",
        "ValidationRunner",
    ),
}
"""Where each name lives; `decide_call` is called `decide` there."""


def __getattr__(name: str) -> Any:
    """Loads the part that is asked for, so that importing `remit` stays cheap."""
    module = (
        "remit.decide" if name == "decide_call" else next((m for m, names in _HOMES.items() if name in names), None)
    )
    if module is None:
        raise AttributeError(f"module 'remit' has no attribute {name!r}")
    from importlib import import_module  # here: who only imports `remit` has no use for it

    return getattr(import_module(module), "decide" if name == "decide_call" else name)


def __dir__() -> list[str]:
    """What users may import, for `dir()`, `help()` and completion."""
    return sorted([*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"])
