"""Small policies in Python, and one call decided by them."""

from __future__ import annotations

from typing import Any

from remit.compile.facts import facts_from
from remit.decide import decide
from remit.declare.nodes import from_python
from remit.model import Call, Context, Decision, Facts, Rulebook, Statement
from tests.drawn import rulebook_of

NOW = "2026-11-15T12:00:00Z"

TOOLS: dict[str, Any] = {
    "read": {"args": {"path": "path"}, "does": {"read": "path"}},
    "write": {"args": {"path": "path"}, "does": {"write": "path"}, "tier": 1},
    "delete": {"args": {"path": "path"}, "does": {"delete": "path"}, "tier": 1},
    "copy": {"args": {"from": "path", "to": "path"}, "does": {"read": "from", "write": "to"}, "tier": 1},
    "sweep": {"args": {"path": "path"}, "does": {"read": {"below": "path"}}},
    "find": {"args": {"glob": "glob"}, "does": {"read": {"below": "glob"}}},
    "index": {"args": {"query": "text"}, "does": {"read": "**"}},
    "fetch": {"args": {"url": "url"}, "does": {"network": "url"}},
    "search_web": {"args": {"query": "text"}, "does": {"network": "https://**"}},
    "delegate": {"args": {"to": "agent"}, "does": {"delegate": "to"}},
    "invoke": {"args": {"name": "skill"}, "does": {"execute": "name"}},
    "pay": {"args": {"amount": "number"}, "does": {"pay": "amount"}},
    "message": {"args": {"to": "email"}, "does": {"message": "to"}},
    "run": {"args": {"command": "shell"}, "tier": 2},
    "query": {"args": {"sql": "sql"}, "dialect": "sqlite"},
    "deploy": {"args": {}, "does": {"deploy": "**"}, "tier": 4},
    "think": {"args": {"text": "text"}, "optional": ["text"], "does": "nothing"},
}
"""One tool of each sort, for policies that only differ in their rules."""


def book(**sections: Any) -> Rulebook:
    """The rulebook of a policy with these sections; the tools above unless it says otherwise."""
    return rulebook_of({"remit": 1, "tools": TOOLS, **sections})


def may(*rules: Any, **record: Any) -> Rulebook:
    """The rulebook of one agent, `a`, with these `may` rules and the rest of its record."""
    return book(agents={"a": {"may": list(rules), **record}})


def facts(rulebook: Rulebook, **values: Any) -> Facts:
    """Facts in the format of `--facts`."""
    return facts_from(rulebook, from_python(values, "facts"))


def ask(
    rulebook: Rulebook,
    tool: str,
    args: dict[str, Any] | None = None,
    *,
    agent: str = "a",
    facts: Facts | None = None,
    statement: Statement | None = None,
    **context: Any,
) -> Decision:
    """The decision on one call: the same without the memo, and from the memo once it has met the call without facts."""
    call = Call(agent, tool, args if args is not None else {}, Context(**context), statement)
    known = facts or Facts()
    first = decide(rulebook, call, known, memo=False)
    decide(rulebook, call, Facts())
    assert decide(rulebook, call, known) == first
    assert decide(rulebook, call, known) == first
    return first


def outcome(rulebook: Rulebook, tool: str, args: dict[str, Any] | None = None, **more: Any) -> str:
    """`allow`, or the verdict with its code: `deny not-permitted`."""
    decision = ask(rulebook, tool, args, **more)
    return "allow" if decision.code == "allowed" else f"{decision.verdict.word} {decision.code}"
