"""How a value is written that only a call tells: `{task: customer}`, `{context: session}`."""

from __future__ import annotations

from typing import Any

from remit.forms.nodes import Node
from remit.forms.shapes import NAME, Choice, Field, Reader, Record, Text
from remit.model.terms import CONTEXT_KEYS


def _one(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if len(values) != 1:
        return reader.fail(node.at, "bad-value", "expected a parameter of the task, or a key of the context")
    return values


bound_value = Record(
    {
        "task": Field(Text(NAME.pattern, "the name of a parameter"), "a parameter of the call's task"),
        "context": Field(Choice(*CONTEXT_KEYS), "a key of the trusted context"),
    },
    _one,
    what="what a value is equal to",
)
