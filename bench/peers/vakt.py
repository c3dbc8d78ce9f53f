"""vakt: attribute-based policies in Python. Its memory storage scans all policies: one guard an agent."""

from __future__ import annotations

from typing import Any as Anything

from vakt import ALLOW_ACCESS, Guard, Inquiry, MemoryStorage, Policy, RulesChecker
from vakt.rules import Any, Eq, In, RegexMatch

from bench.peers.interface import Built, CannotCheck
from bench.timing import Args
from bench.workloads import GLOBS, Check, Workload


def _guard(workload: Workload, agent: str) -> Guard:
    tools = workload.table[agent]
    storage = MemoryStorage()
    if workload.check is Check.PATTERN and agent in GLOBS:
        folder = GLOBS[agent].partition("/")[0]
        path = RegexMatch(rf"\A{folder}/[^/]+\.yaml\Z")
        rule = {"actions": [Eq("create_file")], "resources": [{"filePath": path}], "subjects": [Any()]}
        storage.add(Policy("scoped", effect=ALLOW_ACCESS, **rule))
        tools = tools - {"create_file"}
    rule = {"actions": [In(*tools)], "resources": [Any()], "subjects": [Any()]}
    storage.add(Policy("tools", effect=ALLOW_ACCESS, **rule))
    return Guard(storage, RulesChecker())


class Vakt:
    """A guard for each agent, rule-based policies."""

    name = "vakt"
    distribution = "vakt"
    use = "a `Guard` per agent over `MemoryStorage`, `RulesChecker`, tools as one `In`"
    checks = {
        Check.MATRIX: "tool in the agent's set",
        Check.PATTERN: "Python `re` on the path's text; other arguments ignored",
    }
    grows = True

    def build(self, workload: Workload) -> Built:
        """Guards by agent."""
        if workload.check not in self.checks:
            raise CannotCheck("undeclared arguments are ignored, not refused")
        guards = {agent: _guard(workload, agent) for agent in workload.table}

        def decide(agent: str, tool: str, args: Args) -> Anything:
            return guards[agent].is_allowed(Inquiry(action=tool, resource=args, subject=agent))

        return Built(decide)


ENGINES = (Vakt(),)
