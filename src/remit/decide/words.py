"""The two texts of a decision: a reason for the agent, with the next step; a remedy for the operator."""

from __future__ import annotations

import json
import re
import unicodedata

from remit.decide.plan import Bound, Plan
from remit.model.decision import Remedy
from remit.scopes.glob import Glob
from remit.scopes.interface import Unit

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")


def shown(text: object, limit: int = 80) -> str:
    """Text from outside, escaped and bounded."""
    raw = str(text)
    plain = "".join(
        c if c.isprintable() and unicodedata.category(c) != "Cf" else ascii(c)[1:-1] for c in raw[: limit + 1]
    )
    return plain if len(plain) <= limit else plain[:limit] + "…"


def limited(plan: Plan, bounds: list[Bound]) -> str:
    """`create_file is limited to research/*.yaml for researcher`, or that there is no rule at all."""
    name, tool = plan.caller.name, plan.tool.name
    scopes = [bound.judge.describe() for bound in bounds]
    texts = [scope for scope in dict.fromkeys(scopes) if scope]
    if not bounds:
        return f"{name} may not use {tool}"
    if not texts:
        return f"{tool} stays below the root for {name}"
    return f"{tool} is limited to {' or '.join(text.removeprefix('path ') for text in texts)} for {name}"


def permit_remedy(plan: Plan, unit: Unit) -> Remedy:
    """The smallest rule that would permit the unit."""
    tool = plan.tool.name
    entry = tool
    if unit.kind == "path" and not unit.wide and unit.value[0] != "/":
        entry = f"{tool}: {{path: {json.dumps(Glob.literal(unit.value).text, ensure_ascii=False)}}}"
    elif unit.kind == "url" and not unit.wide:
        entry = f'{tool}: {{url: "{unit.value.scheme}://{unit.value.host}/**"}}'
    section = {"agent": "agents", "role": "roles", "runner": "runners"}[plan.caller.kind]
    line = f"{section}: {{{plan.caller.name}: {{may: [{entry}]}}}}"
    return Remedy(f"add to `may` of {plan.caller.name}: {entry}", policy=line)


def declare_remedy(tool: str) -> Remedy:
    """The declaration to paste for a tool that the policy doesn't know."""
    return Remedy(
        f"declare `{shown(tool)}` under tools, with its arguments and what it does",
        policy=f"tools: {{{tool}: {{args: {{}}, does: nothing}}}}" if _NAME.fullmatch(tool) else None,
    )
