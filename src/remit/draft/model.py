"""A draft of a policy: text, tests, and what a person must decide."""

from __future__ import annotations

import msgspec


class Draft(msgspec.Struct, frozen=True):
    """A policy that loads, tests that pass, and a list of decisions, each with where the question comes from."""

    policy: str
    tests: str
    decisions: tuple[str, ...]
    agents: int


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
