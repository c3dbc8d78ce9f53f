"""Microsoft's agent-governance-toolkit, `agent_control_plane`: a role's set of tools.

Its conditions compare (equal, less, in, contains) but match no pattern, and arguments have no declared types.
"""

from __future__ import annotations

from typing import Any

from agent_control_plane.policy_engine import PolicyEngine

from bench.peers.interface import Built, CannotCheck
from bench.timing import Args
from bench.workloads import Check, Workload


class ControlPlane:
    """The policy engine alone, without quotas."""

    name = "AGT control_plane"
    distribution = "agent-governance-toolkit-core"
    use = "`PolicyEngine.add_constraint` per agent, `check_violation`; not frozen, which is faster"
    checks = {Check.MATRIX: "tool in the role's set"}
    grows = True

    def build(self, workload: Workload) -> Built:
        """One engine with a constraint for each agent."""
        if workload.check not in self.checks:
            raise CannotCheck("no argument types and no patterns")
        engine = PolicyEngine()
        for agent, tools in workload.table.items():
            engine.add_constraint(agent, list(tools))
        check = engine.check_violation

        def decide(agent: str, tool: str, args: Args) -> Any:
            return check(agent, tool, args)

        return Built(decide, lambda answer: answer is None)


ENGINES = (ControlPlane(),)
