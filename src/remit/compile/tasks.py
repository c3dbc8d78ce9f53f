"""Tasks as written by people or programs, with the names in their rules resolved against a rulebook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from remit.compile.facts import resolve_facts
from remit.declare.nodes import parse
from remit.declare.tasks import node_of, read_task
from remit.model.facts import Facts
from remit.model.policy import Rule
from remit.model.rulebook import Rulebook
from remit.model.task import Task


def read_task_text(rulebook: Rulebook, text: str, source: str) -> Task:
    """A task from YAML or JSON. Raises PolicyError."""
    return _resolved(rulebook, read_task(parse(text, source), rulebook.book.lists))


def task_from(rulebook: Rulebook, data: Mapping[str, Any]) -> Task:
    """A task from plain data, in the same format. Raises PolicyError."""
    return _resolved(rulebook, read_task(node_of(dict(data)), rulebook.book.lists))


def _resolved(rulebook: Rulebook, task: Task) -> Task:
    found = resolve_facts(rulebook, Facts(capsules={task.capsule.id: task.capsule})).capsules[task.capsule.id]
    capsule = msgspec.structs.replace(
        found, plan=_placed(found.plan, "plan", found.id), grants=_placed(found.grants, "grants", found.id)
    )
    return msgspec.structs.replace(task, capsule=capsule)


def _placed(rules: tuple[Rule, ...], what: str, name: str) -> tuple[Rule, ...]:
    """Each rule says where it stands, so that its use can be counted."""
    return tuple(msgspec.structs.replace(rule, at=f"{what}[{i}] of {name}") for i, rule in enumerate(rules))
