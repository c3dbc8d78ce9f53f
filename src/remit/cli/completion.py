"""Completion in a shell: names of agents, tools and hosts, from the policy that the command would use.

Which parameters have which names is told by what they are called: `--agent NAME` and `AGENT` mean the same in every
command. INVARIANT: whatever goes wrong, there is nothing to complete, and nothing is printed.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from remit import catalog
from remit.cli.common import find_policy
from remit.cli.parameters import Argument, Option
from remit.model.rulebook import Book

VARIABLE = "_REMIT_COMPLETE"
_LINE = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")

Names = Callable[[Book], Iterable[str]]


def _agents(book: Book) -> Iterable[str]:
    return book.callers


def _tools(book: Book) -> Iterable[str]:
    return dict.fromkeys([*book.tools, *(name for caller in book.callers.values() for name in caller.tools)])


def _toolsets(book: Book) -> Iterable[str]:
    return [*_tools(book), *book.toolsets]


_NAMES: dict[str, Names] = {
    "AGENT": _agents,
    "[AGENT]": _agents,
    "--agent": _agents,
    "--session": _agents,
    "TOOL": _tools,
    "--tool": _tools,
    "--as": lambda book: book.people,
    "--for": lambda book: book.people,
    "HOST": lambda book: catalog.hosts(),
    "--host": lambda book: catalog.hosts(),
}
_LISTS: dict[str, Names] = {"--agents": _agents, "--tools": _toolsets}


def words() -> list[str] | None:
    """The words that are being completed; None if nothing is."""
    if VARIABLE not in os.environ:
        return None
    text = next((os.environ[name] for name in _LINE if name in os.environ), "")
    try:
        return shlex.split(text)
    except ValueError:  # a quotation that is still open
        return text.split()


def completer(about: Option | Argument) -> Callable[..., list[str]] | None:
    """What completes a parameter; None for one that has no names."""
    known = about.names if isinstance(about, Option) else (about.metavar or "",)
    names = next((_NAMES[name] for name in known if name in _NAMES), None)
    lists = next((_LISTS[name] for name in known if name in _LISTS), None)
    if names is None and lists is None:
        return None

    def complete(ctx: Any, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if lists is not None else ("", "", incomplete)
        found = _from_policy(ctx.params.get("policy"), lists or names)  # type: ignore[arg-type] # one of them is there
        return [f"{before}{comma}{name}" for name in found if name.startswith(last)]

    return complete


def _from_policy(policy: Any, names: Names) -> list[str]:
    """The names; none if there is no policy, or it does not load."""
    from remit.compile.load import load_file  # here: a parameter without names does without

    try:
        book = load_file(find_policy(Path(policy) if policy else None)).book
        return list(names(book))
    except Exception:  # whatever it is, a shell that completes is no place to say it
        return []
