"""The workloads as Remit policies: as data for Python, and one as YAML text for the loader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.workloads import AGENTS, CELLS, GLOBS, Check, Workload

READS = {"does": {"read": "docs/**"}}
WRITES = {"does": {"write": "work/out-*.txt"}, "tier": 1}
WRITING = {"create_file", "replace_string_in_file", "multi_replace_string_in_file", "memory"}
GREP = {"args": {"query": "text", "isRegexp": "flag", "maxResults": "number"}, **READS}
CREATE = {"args": {"filePath": "path", "content": "text"}, "does": {"write": "filePath"}, "tier": 1}


def policy_of(workload: Workload) -> dict[str, Any]:
    """The workload's policy, with a data label that every decision has to respect."""
    if set(workload.table) != set(AGENTS):
        return _grid(workload.table)
    tools: dict[str, Any] = {tool: {"args": {}, **(WRITES if tool in WRITING else READS)} for tool in CELLS}
    if workload.check is Check.TYPES:
        tools["grep_search"] = GREP
    if workload.check is Check.PATTERN:
        tools["create_file"] = CREATE
    agents: dict[str, Any] = {
        agent: {"may": [_rule(workload, agent, tool) for tool in sorted(granted)], "data_tiers": [0, 1, 2]}
        for agent, granted in workload.table.items()
    }
    agents["lead"] = {"may": [], "delegates_to": list(AGENTS)}  # for the chain
    return {
        "remit": 1,
        "name": "bench",
        "tools": tools,
        "labels": {"data": {"3": {"path": ["secrets/**"]}, "1": {"path": ["work/**", "docs/**"]}}},
        "agents": agents,
    }


def _rule(workload: Workload, agent: str, tool: str) -> Any:
    if workload.check is Check.PATTERN and tool == "create_file" and agent in GLOBS:
        return {tool: {"path": GLOBS[agent]}}
    if (agent, tool) == ("spec", "ask_questions"):
        return {tool: {"when": {"mode": "interactive"}}}
    return tool


def _grid(table: Mapping[str, frozenset[str]]) -> dict[str, Any]:
    """One rule a cell."""
    names = sorted(set().union(*table.values()))
    return {
        "remit": 1,
        "name": "grid",
        "tools": {name: {"args": {}, **READS} for name in names},
        "agents": {agent: {"may": sorted(tools)} for agent, tools in table.items()},
    }


def long_yaml(rules: int) -> str:
    """A policy of that many rules as a person would write it: half of them with a path scope."""
    per_agent = 100
    lines = ["remit: 1", "name: large", "tools:"]
    for n in range(per_agent):
        lines += [
            f"  tool_{n}:",
            "    args: {filePath: path, content: text}",
            "    does: {write: filePath}",
            "    tier: 1",
        ]
    lines.append("agents:")
    for agent in range(rules // per_agent):
        lines += [f"  agent-{agent}:", "    may:"]
        for n in range(per_agent):
            scope = f': {{path: "area-{agent}/part-{n}/*.yaml"}}' if n % 2 else ""
            lines.append(f"      - tool_{n}{scope}")
    return "\n".join(lines) + "\n"
