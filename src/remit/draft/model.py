"""A draft of a policy: text, tests, and what a person must decide."""

from __future__ import annotations

import msgspec


class Draft(msgspec.Struct, frozen=True):
    """A policy that loads, tests that pass, and a list of decisions, each with where the question comes from."""

    policy: str
    tests: str
    decisions: tuple[str, ...]
    agents: int
    details: tuple[str, ...] = ()
    """Every question in a line of its own, where `decisions` asks one for several agents or tools."""


def quoted(text: str) -> str:
    """The text as a YAML value: plain where that is certain, else in double quotes."""
    plain = text.replace("_", "").replace("-", "").replace("/", "")
    if (
        plain.isalnum()
        and plain.isascii()
        and not plain[0].isdigit()
        and text.lower() not in _WORDS
        and text[0].isalpha()
    ):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


TO_DECIDE = "DECIDE"
"""Marks lines of a draft that a person must complete."""
CONFINEMENT = (
    "# Proposed: commands run inside limits that the kernel enforces, from the rules below (Linux with bubblewrap;",
    "# `remit status` says whether this machine can). Then what is not understood needs no question. To switch it on:",
    "# confine: required",
    "# sandbox: {network: policy}           # commands reach only what URL rules name; `remit profile AGENT` shows all",
)
"""Lines of a draft with a shell in it."""
CONFINE = "`confine: required`: the draft proposes it in a comment; without it, code of the project may do what you may"
