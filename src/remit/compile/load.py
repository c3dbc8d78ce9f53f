"""The whole way from a policy to its rulebook."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from remit.compile.book import make_rulebook
from remit.compile.prove import prove, without_dead_rules
from remit.declare import build_policy, load_policy
from remit.declare.load import Functions
from remit.model.arguments import check_arguments, unfit
from remit.model.errors import InputError
from remit.model.policy import Policy
from remit.model.rulebook import Rulebook
from remit.model.text import shown


def compile_policy(policy: Policy) -> Rulebook:
    """The rulebook, without rules that do nothing, its examples decided, its `never` statements proved.

    Raises PolicyError."""
    return prove(without_dead_rules(make_rulebook(policy)))


def load_file(path: Path) -> Rulebook:
    """The rulebook of a file. Raises PolicyError, and InputError where there is no file."""
    if not os.path.lexists(path):
        raise InputError(f"{shown(path, 300)}: no such file", code="no-policy")
    return load_rulebook(path)


def load_rulebook(
    path: str | os.PathLike[str], *, functions: Functions | None = None, more: Mapping[str, Any] | None = None
) -> Rulebook:
    """The rulebook of a policy file. Raises PolicyError with everything that is wrong.

    `functions` are tools that a program declares itself; they must not contradict the policy's. `more` is added to the
    policy like an included file, and may not declare again what is there.
    """
    if isinstance(path, Mapping):
        raise unfit("load_rulebook", "path", "a path; `build_rulebook` takes a mapping", path)
    check_arguments("load_rulebook", {"path": "path"}, path=path)
    return compile_policy(load_policy(path, functions=functions, more=more))


def build_rulebook(
    data: Mapping[str, Any],
    *,
    name: str = "policy",
    functions: Functions | None = None,
    more: Mapping[str, Any] | None = None,
) -> Rulebook:
    """The rulebook of a policy built in Python, in the same format. Raises PolicyError."""
    if isinstance(data, str | os.PathLike):
        raise unfit("build_rulebook", "data", "a mapping; `load_rulebook` takes a file", data)
    check_arguments("build_rulebook", {"data": "mapping", "name": "text"}, data=data, name=name)
    return compile_policy(build_policy(data, name=name, functions=functions, more=more))
