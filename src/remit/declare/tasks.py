"""The format of a task: `remit capsule new FILE`, and the same as data in Python.

```yaml
id: TASK-12
agent: implementer
goal: store sessions in SQLite
may_not: [{effect: network}]                 # constraints, which bind: may, may_not
scope: ["src/**", "tests/**"]                # what it is about
plan: [run_in_terminal: {shell: {run: [pip: [install]]}}]
gates: [plan]
budget: {calls: 200, writes: 40}
expires: 2026-11-20
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from remit.declare.amounts import Amount
from remit.declare.nodes import from_python
from remit.declare.rules import Rules, globs, parameters
from remit.forms.nodes import Node
from remit.forms.shapes import BAD, Field, ListOf, MapOf, Number, Reader, Record, Text
from remit.forms.texts import Moment, Name, names, plain
from remit.model.facts import Capsule
from remit.model.task import Budget, Task

_budget = Record(
    {
        "calls": Field(Number(1, 10**9), "calls in all"),
        "writes": Field(Number(1, 10**9), "calls that write or delete"),
        "tools": Field(MapOf(Number(1, 10**9), what="tool"), "calls of one tool"),
        "sum": Field(MapOf(Amount(), what="tool and argument"), "what an argument adds up to over all calls"),
    },
    lambda values, node, reader: Budget(**values),
    what="a budget",
)
_CAPSULE = (
    "id",
    "agent",
    "parent",
    "expires",
    "may",
    "may_not",
    "must_ask",
    "scope",
    "plan",
    "grants",
    "data_tiers",
    "parameters",
)


def _task(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    rules = {
        key: plain(node.value[key]) for key in ("may", "may_not", "must_ask", "plan", "grants") if key in node.value
    }
    capsule = Capsule(**{key: values[key] for key in _CAPSULE if key in values})
    rest = {key: value for key, value in values.items() if key not in _CAPSULE}
    return Task(capsule, source=rules, **rest)


task = Record(
    {
        "id": Field(Text(), "its name", required=True),
        "agent": Field(Name, "to whom the task is handed", required=True),
        "goal": Field(Text(), "what it is for", required=True),
        "constraints": Field(ListOf(Text()), "in words; what binds are `may` and `may_not`"),
        "parent": Field(Text(), "the task that it is a part of"),
        "expires": Field(Moment(), "when it ends by itself"),
        "may": Field(Rules("may"), "constraint: every call lies within these rules too"),
        "may_not": Field(Rules("may_not"), "constraint: none of these"),
        "must_ask": Field(Rules("must_ask"), "constraint: somebody is asked before each of these; permits nothing"),
        "scope": Field(globs, "what the task is about; deleting outside of it is tier 4"),
        "plan": Field(Rules("may"), "anticipated actions"),
        "grants": Field(Rules("may"), "extra permission for this task"),
        "data_tiers": Field(ListOf(Number(0, 3)), "data tiers granted for this task"),
        "gates": Field(names, "gates that people pass in the course of it"),
        "parameters": Field(parameters, "what it is about: {customer: C-17}; rules can name it"),
        "budget": Field(_budget, "how many calls, and what an argument may add up to"),
    },
    _task,
    what="a task",
)


def read_task(node: Node, lists: Mapping[str, Sequence[Any]]) -> Task:
    """A task, names in its rules not yet resolved; `lists` are those of the policy. Raises PolicyError."""
    reader = Reader()
    reader.lists = {name: from_python(list(values), f"lists.{name}") for name, values in lists.items()}
    found = task.read(node, reader)
    if found is BAD and not reader.problems:
        reader.fail(node.at, "bad-task", "can't be read")
    reader.finish()
    if not isinstance(found, Task):
        raise TypeError("a task without problems is a task")
    return found


def node_of(data: dict[str, Any]) -> Node:
    """Plain data as a node."""
    return from_python(data, "task")
