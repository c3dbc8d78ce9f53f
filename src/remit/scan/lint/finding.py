"""How a finding is made: what is always the same about it is data, `catalog/findings.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from remit.catalog import text as shipped
from remit.declare.nodes import parse
from remit.scan.model import Finding, Place, Weight
from remit.scan.vocabulary import plain_node, section


@cache
def _catalog() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = plain_node(parse(shipped("findings.yaml"), "findings.yaml"))
    return found


def finding(
    key: str,
    text: str,
    *places: Place,
    agent: str | None = None,
    weight: Weight | None = None,
    **values: object,
) -> Finding:
    """A finding of the catalog: `code`, or `code/case` where one code has several reasons. Places are told once."""
    row = _catalog()[key]
    return Finding(
        code=key.partition("/")[0],
        weight=weight or Weight(row["weight"]),
        agent=agent,
        text=text,
        places=tuple(dict.fromkeys(places)),
        why=row["why"].format(**values),
        fix=row["fix"].format(**values),
    )


def harm(code: str) -> tuple[int, str]:
    """Where a code stands among those of its weight: what is most harmful first."""
    first = list(section("most_harmful"))
    return (first.index(code) if code in first else len(first), code)


def listing(names: Sequence[str], most: int = 4) -> str:
    """The first names, each marked as one, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
