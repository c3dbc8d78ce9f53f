"""The examples of a command: the last paragraph of its docstring, `Examples: ` and then each between backticks."""

from __future__ import annotations

import re
from importlib import import_module

from remit.cli.table import Command, Group

_PARAGRAPH = re.compile(r"\n\s*Examples?: (`.*`)\s*\Z", re.DOTALL)


def examples_of(entry: Command | Group) -> list[str]:
    """The command lines; those of a group are those of what it does by itself, or stand in the table."""
    if isinstance(entry, Group):
        return examples_of(entry.alone) if entry.alone is not None else list(entry.examples)
    found = getattr(import_module(entry.module), entry.function)
    return examples_in(found.__doc__ or "")[1]


def examples_in(doc: str) -> tuple[str, list[str]]:
    """A docstring without its examples, and the examples."""
    found = _PARAGRAPH.search(doc)
    if found is None:
        return doc, []
    return doc[: found.start()], [" ".join(one.split()) for one in re.findall(r"`([^`]*)`", found[1])]
