"""casbin's FastEnforcer: policies indexed by subject and object, the matcher evaluated over what remains."""

from __future__ import annotations

from typing import Any

from casbin import FastEnforcer
from casbin.model import FastModel
from casbin.persist.adapters.string_adapter import StringAdapter

from bench.peers.interface import Built, CannotCheck
from bench.timing import Args
from bench.workloads import GLOBS, Check, Workload

MODEL = """
[request_definition]
r = {fields}
[policy_definition]
p = {fields}
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.obj == p.obj{more}
"""
INDEX = [0, 1]


def _policies(workload: Workload) -> str:
    cells = [(agent, tool) for agent, tools in workload.table.items() for tool in sorted(tools)]
    if workload.check is Check.MATRIX:
        return "\n".join(f"p, {agent}, {tool}" for agent, tool in cells)
    return "\n".join(f"p, {agent}, {tool}, {_regex(agent, tool)}" for agent, tool in cells)


def _regex(agent: str, tool: str) -> str:
    if tool == "create_file" and agent in GLOBS:
        return rf"{GLOBS[agent].partition('/')[0]}/[^/]+\.yaml\Z"
    return ""


class Casbin:
    """One policy line a cell."""

    name = "casbin FastEnforcer"
    distribution = "pycasbin"
    use = "`FastEnforcer` indexed by agent and tool, one policy a cell"
    checks = {
        Check.MATRIX: "agent and tool equal to a policy's",
        Check.PATTERN: "`regexMatch` on the path's text; other arguments ignored",
    }
    grows = True

    def build(self, workload: Workload) -> Built:
        """An enforcer with all cells."""
        if workload.check not in self.checks:
            raise CannotCheck("no argument types")
        by_path = workload.check is Check.PATTERN
        more = " && regexMatch(r.path, p.path)" if by_path else ""
        model = FastModel(INDEX)
        model.load_model_from_text(MODEL.format(fields="sub, obj, path" if by_path else "sub, obj", more=more))
        # From text, since `add_policies` looks through all policies for each one it adds.
        enforcer = FastEnforcer(model, StringAdapter(_policies(workload)), cache_key_order=INDEX)
        enforce = enforcer.enforce

        def by_cell(agent: str, tool: str, args: Args) -> Any:
            return enforce(agent, tool)

        def by_argument(agent: str, tool: str, args: Args) -> Any:
            return enforce(agent, tool, args["filePath"])

        return Built(by_argument if by_path else by_cell)


ENGINES = (Casbin(),)
