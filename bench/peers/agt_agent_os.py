"""Microsoft's agent-governance-toolkit, `agent_os`: rules by priority, the first match decides.

The shared evaluator is the faster of its two and joins conditions by and. It allows what no rule matches,
so each list ends with a rule that denies. It sorts and scans all rules it is given: one list an agent.
"""

from __future__ import annotations

from typing import Any

from agent_os.policies import Condition, SharedPolicyEvaluator, SharedPolicyRule

from bench.peers.interface import Built, CannotCheck
from bench.timing import Args
from bench.workloads import GLOBS, Check, Workload


def _rules(workload: Workload, agent: str) -> list[SharedPolicyRule]:
    tools = workload.table[agent]
    rules = []
    if workload.check is Check.PATTERN and agent in GLOBS:
        folder = GLOBS[agent].partition("/")[0]
        path = Condition("filePath", "matches", rf"\A{folder}/[^/]+\.yaml\Z")
        rules.append(SharedPolicyRule("scoped", "allow", [Condition("tool", "eq", "create_file"), path], 2))
        tools = tools - {"create_file"}
    rules.append(SharedPolicyRule("tools", "allow", [Condition("tool", "in", tools)], 1))
    rules.append(SharedPolicyRule("rest", "deny", [], 0))
    return rules


class AgentOs:
    """The shared evaluator with a short list of rules for each agent."""

    name = "AGT agent_os"
    distribution = "agent-governance-toolkit-core"
    use = "`SharedPolicyEvaluator` with the rules of the calling agent only, tools as one set"
    checks = {
        Check.MATRIX: "tool in the agent's set",
        Check.PATTERN: "Python `re` on the path's text; other arguments ignored",
    }
    grows = True

    def build(self, workload: Workload) -> Built:
        """Rules by agent."""
        if workload.check not in self.checks:
            raise CannotCheck("no argument types")
        rules = {agent: _rules(workload, agent) for agent in workload.table}
        evaluate = SharedPolicyEvaluator().evaluate

        def decide(agent: str, tool: str, args: Args) -> Any:
            return evaluate({"tool": tool, **args}, rules[agent])

        return Built(decide, lambda answer: answer.allowed)


ENGINES = (AgentOs(),)
