"""Findings about a policy and the names of a repository: who has no rules, and whom the documents forget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.scan.lint.finding import finding
from remit.scan.model import Agent, Finding, Kind, Place


def policy_findings(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Agents that a host would start and that the policy doesn't know."""
    for agent in agents:
        kinds = {account.kind: account for account in reversed(agent.accounts)}
        if Kind.POLICY in kinds or Kind.DEFINITION not in kinds:
            continue
        yield finding(
            "agent-without-rules",
            "has a definition, and the policy has no such agent",
            kinds[Kind.DEFINITION].place,
            _policy_place(agents),
            agent=agent.name,
        )


def _policy_place(agents: Sequence[Agent]) -> Place:
    return next(account.place for agent in agents for account in agent.accounts if account.kind is Kind.POLICY)
