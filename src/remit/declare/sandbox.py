"""The format of confinement: whether commands run inside limits of the kernel, and what they get there."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.declare.rules import globs
from remit.forms.nodes import Node
from remit.forms.shapes import Choice, Field, Late, Number, Reader, Record, Text
from remit.forms.texts import Duration, many
from remit.model.moments import duration
from remit.model.policy import Limits, Sandbox
from remit.model.shipped import shipped

_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_size = Text(r"[1-9][0-9]{0,5}[KMGT]", "a size such as 512M or 4G")


def _bytes(text: str | None) -> int | None:
    return int(text[:-1]) * _SIZES[text[-1]] if text is not None else None


def _caches() -> Choice:
    """The caches that the catalog knows."""
    return Choice(*msgspec.json.decode(shipped("catalog/confine.json"))["caches"])


def _limits(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    time = values.get("time")
    return Limits(
        seconds=duration(time) if time is not None else None,
        memory=_bytes(values.get("memory")),
        processes=values.get("processes"),
        file_size=_bytes(values.get("file_size")),
    )


_sandbox = Record(
    {
        "network": Field(
            Choice("none", "policy", "open"),
            "policy, the default: only the places that its URL rules name, through a proxy; open: everything, and what"
            " is not understood is asked about as if it were not confined",
        ),
        "home": Field(
            Choice("private", "read"), "private, the default: an empty home; read: its own, which can't be written"
        ),
        "caches": Field(
            many(Late(_caches, "the name of a cache")), "caches of the home that commands share, such as pip and npm"
        ),
        "hide": Field(globs, "paths below the root that commands can't read"),
        "limits": Field(
            Record(
                {
                    "time": Field(Duration, "how long one command may run"),
                    "memory": Field(_size, "how much memory it may use"),
                    "processes": Field(Number(1, 1_000_000), "how many processes it may have"),
                    "file_size": Field(_size, "how large a file it may write"),
                },
                _limits,
                what="limits",
            ),
            "how much one command may use",
        ),
    },
    lambda values, node, reader: Sandbox(**values),
    what="a sandbox",
)
CONFINEMENT = {
    "confine": Field(
        Choice("required", "preferred", "off"),
        "required: a shell text runs inside limits that the kernel enforces, derived from these rules, or not at all;"
        " preferred: where that is possible. Of the policy, roles and agent the strictest counts",
    ),
    "sandbox": Field(_sandbox, "what confined commands get; of the policy, roles and agent the strictest counts"),
}
"""Keys of a policy, of roles and of agents."""
