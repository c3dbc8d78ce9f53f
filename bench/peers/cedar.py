"""Cedar through cedarpy: one policy, the matrix as entity data, everything parsed beforehand."""

from __future__ import annotations

import json
from typing import Any

from cedarpy import Entities, PolicySet, Schema, is_authorized

from bench.peers.interface import Built
from bench.timing import Args
from bench.workloads import GLOBS, Check, Workload

MATRIX = 'permit(principal, action == Action::"call", resource) when { principal.may.contains(resource) };'
SCHEMA = """
entity Tool;
entity Agent { may: Set<Tool> };
action call appliesTo {
  principal: Agent, resource: Tool,
  context: { query: String, isRegexp: Bool, maxResults: Long },
};
"""


def _scoped(agent: str) -> str:
    glob = GLOBS[agent]
    deeper = glob.partition("/")[0] + "/*/*"  # Cedar's `*` also matches `/`
    who = f'principal == Agent::"{agent}", action == Action::"call", resource == Tool::"create_file"'
    return f'permit({who}) when {{ context.filePath like "{glob}" && !(context.filePath like "{deeper}") }};'


def _entities(workload: Workload) -> str:
    scoped = GLOBS if workload.check is Check.PATTERN else {}
    return json.dumps(
        [
            {
                "uid": {"type": "Agent", "id": agent},
                "attrs": {
                    "may": [
                        {"__entity": {"type": "Tool", "id": tool}}
                        for tool in sorted(tools)
                        if not (tool == "create_file" and agent in scoped)
                    ]
                },
                "parents": [],
            }
            for agent, tools in workload.table.items()
        ]
    )


class Cedar:
    """Handles for policies, entities and schema; the request in its structured form, which is faster."""

    name = "cedarpy"
    distribution = "cedarpy"
    use = "`PolicySet`, `Entities` and `Schema` handles, `is_authorized` with a structured request"
    checks = {
        Check.MATRIX: "tool in the agent's set",
        Check.TYPES: "closed and typed by a schema",
        Check.PATTERN: "`like` on the path's text; other arguments ignored",
    }
    grows = True

    def build(self, workload: Workload) -> Built:
        """All handles for this workload."""
        scoped = [_scoped(agent) for agent in GLOBS] if workload.check is Check.PATTERN else []
        policies = PolicySet.from_str("\n".join([MATRIX, *scoped]))
        schema = Schema.from_str(SCHEMA) if workload.check is Check.TYPES else None
        entities = Entities.from_json_str(_entities(workload), schema)
        call = {"type": "Action", "id": "call"}

        def decide(agent: str, tool: str, args: Args) -> Any:
            request = {
                "principal": {"type": "Agent", "id": agent},
                "action": call,
                "resource": {"type": "Tool", "id": tool},
            }
            if args:
                request["context"] = args
            return is_authorized(request, policies, entities, schema)

        return Built(decide, lambda answer: answer.allowed)


ENGINES = (Cedar(),)
