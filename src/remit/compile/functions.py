"""Tools that a program declares at its functions: compared with a rulebook, and published beside a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from remit.compile.load import compile_policy
from remit.declare.files import read_text
from remit.declare.functions import SOURCE, update, with_functions
from remit.declare.load import Functions, load_policy
from remit.declare.published import PROGRAM, published_name, published_text
from remit.declare.rules import rule_keys
from remit.forms.shapes import Reader
from remit.model.policy import Tool
from remit.model.rulebook import Rulebook


def check_functions(rulebook: Rulebook, functions: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises PolicyError if a function has no tool, contradicts the one of its name, or is not what was published."""
    reader, book = Reader(), rulebook.book
    for name in sorted(functions.keys() - book.tools.keys()) if not book.published_by else ():
        reader.fail(SOURCE, "undeclared-tool", f"the rulebook has no tool `{name}`", update(()))
    tools = {name: _declared(tool, functions.get(name, {})) for name, tool in book.tools.items()}
    with_functions(tools, functions, reader, book.published_by)
    reader.finish()


def _declared(tool: Tool, told: Mapping[str, Any]) -> Tool:
    """As it was declared: `defaults: accessible_by:` may have filled in who has access to its layer."""
    if tool.published and tool.layer is not None and told.get("accessible_by") is None:
        return msgspec.structs.replace(tool, accessible_by=None)
    return tool


def is_word_of_scopes(name: str) -> bool:
    """Whether no tool can have this name, since a rule would read it as a part of a scope."""
    return name in rule_keys()


def published_path(policy: Path) -> Path:
    """The file of published tools beside a policy."""
    return policy.with_name(published_name(policy.name))


def read_published(policy: Path) -> str | None:
    """The text that is there, or None. Raises PolicyError for a file that can't be trusted."""
    path = published_path(policy)
    return read_text(path, path.name) if path.is_symlink() or path.exists() else None


def to_publish(policy: Path, programs: Sequence[str], functions: Functions) -> str:
    """The text to publish: the tools that the policy's own files don't declare. Raises PolicyError.

    The policy loads and holds with it, and the functions agree with both.
    """
    own = load_policy(policy, published="").tools
    text = published_text(programs, {name: told for name, told in functions.items() if name not in own})
    compile_policy(load_policy(policy, functions=functions, published=text))
    return text


def is_program(text: str) -> bool:
    """True for `app.py:guard` and `package.module:guard`."""
    return PROGRAM.fullmatch(text) is not None
