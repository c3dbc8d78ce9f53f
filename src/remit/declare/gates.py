"""Gates: what people pass in the course of a task, and what must wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remit.declare.rules import effects
from remit.forms.nodes import Node
from remit.forms.shapes import NAME, Either, Field, MapOf, Number, Reader, Record
from remit.forms.texts import names
from remit.model.policy import Before


def _before(values: dict[str, Any], node: Node, reader: Reader) -> Before:
    if not values:
        reader.fail(node.at, "empty-rule", "`before` says what must wait: a tier, or effects", "before: {tier: 1}")
    return Before(values.get("tier"), tuple(values.get("effects", ())))


_terms = Record(
    {
        "before": Field(
            Record(
                {
                    "tier": Field(Number(0, 4), "calls of this tier and above wait"),
                    "effects": Field(effects, "calls with one of these effects wait"),
                },
                _before,
                what="before",
            ),
            "what must wait until somebody has passed the gate; absent: it is only recorded",
        )
    },
    what="a gate",
)
gates = Either(list=names, map=MapOf(_terms, keys=NAME, what="gate"))


def gate_terms(said: Any) -> dict[str, Before]:
    """By gate, what must wait for it."""
    if not isinstance(said, Mapping):
        return {}
    return {name: terms["before"] for name, terms in said.items() if "before" in terms}
