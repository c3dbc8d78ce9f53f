"""A team's own permission record of an agent, read as it is written, and as an agent of a policy.

    agent_id: backend-specialist
    permissions:
      tools_allowed: [read_file, edit_file]
      data_tiers_allowed: [0, 1]

A copy whose indentation was lost, so that everything stands at the top, says the same and is read as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from remit.declare.nodes import parse
from remit.declare.rules import globs, urls
from remit.forms.nodes import MAP, Node
from remit.forms.shapes import BAD, Field, ListOf, Number, Reader, Record, Text
from remit.forms.texts import Moment, Name
from remit.model.text import shown

REFERENCE = "from preferred_skills list"
"""Written in the place of skills: they stand elsewhere, and are given beside the record."""

_tiers = ListOf(Number(0, 3))
_words = ListOf(Name)
_record = Record(
    {
        "agent_id": Field(Name, "the agent", required=True),
        "data_tiers_allowed": Field(_tiers, "data tiers it may touch"),
        "data_tiers_with_capsule_grant": Field(_tiers, "data tiers a task may add"),
        "tools_allowed": Field(_words, "tools it may use", required=True),
        "tools_forbidden": Field(_words, "tools it may not use"),
        "skills_allowed_default": Field(ListOf(Text()), "skills it may name"),
        "resource_locks_allowed": Field(globs, "where it may write"),
        "resource_locks_forbidden": Field(globs, "where it may not write"),
        "external_apis_allowed": Field(urls, "URLs it may reach"),
        "may_delegate_to": Field(_words, "whom it may hand work to"),
        "last_reviewed": Field(Moment(), "when it was last reviewed"),
        "reviewed_by": Field(Name, "who reviewed it"),
    },
    what="a permission record",
)
_PLAIN = {
    "data_tiers_allowed": "data_tiers",
    "data_tiers_with_capsule_grant": "data_tiers_with_grant",
    "tools_allowed": "may",
    "skills_allowed_default": "skills",
    "external_apis_allowed": "apis",
    "may_delegate_to": "delegates_to",
}
"""Keys of a record that an agent has under another name."""


class AgentRecord(msgspec.Struct, frozen=True):
    """A record, and what it says in the words of a policy."""

    name: str
    agent: dict[str, Any]
    """In the format of an entry of `agents`."""


def read_record(text: str, source: str, skills: Sequence[str] | None = None) -> AgentRecord:
    """The record in a YAML text; `skills` stand for a list that it only refers to. Raises PolicyError."""
    reader = Reader()
    found = _record.read(_flat(parse(text, source), reader), reader)
    if found is not BAD and REFERENCE in found.get("skills_allowed_default", ()):
        if skills is None:
            at, help = source, "name its skills with `--skill`"
            reader.fail(at, "skills-elsewhere", f"the skills of `{shown(found['agent_id'])}` are elsewhere", help)
        found["skills_allowed_default"] = tuple(skills or ())
    reader.finish()
    return AgentRecord(found["agent_id"], _agent(found))


def _flat(root: Node, reader: Reader) -> Node:
    """The record with the keys of `permissions` beside `agent_id`, wherever they stand."""
    inner = root.value.get("permissions")
    if inner is None:
        return root
    values = {key: value for key, value in root.value.items() if key != "permissions"}
    if inner.kind is MAP:
        for key in inner.value.keys() & values.keys():
            reader.fail(inner.at_key(key), "duplicate-key", f"`{shown(key)}` appears twice")
        values = {**values, **inner.value}
    elif inner.scalar() is not None:
        reader.fail(inner.at, "bad-value", "expected the permissions as a mapping")
    node = Node(MAP, values, root.source, root.line, root.col)
    node.keys = {**root.keys, **(inner.keys if inner.kind is MAP else {})}
    return node


def _agent(found: dict[str, Any]) -> dict[str, Any]:
    agent: dict[str, Any] = {new: list(found[old]) for old, new in _PLAIN.items() if old in found}
    if found.get("tools_forbidden"):
        agent["may_not"] = [list(found["tools_forbidden"])]
    if "resource_locks_allowed" in found or "resource_locks_forbidden" in found:
        agent["locks"] = {"may": list(found.get("resource_locks_allowed", ()))}
        if found.get("resource_locks_forbidden"):
            agent["locks"]["except"] = list(found["resource_locks_forbidden"])
    if "last_reviewed" in found and "reviewed_by" in found:
        agent["reviewed"] = {"on": found["last_reviewed"][:10], "by": found["reviewed_by"]}
    return agent
