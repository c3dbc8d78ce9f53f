"""`remit understand`: what a command, a query, a URL or a path would do, and how far it reaches."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from remit.cli import stdin
from remit.cli.common import FINE, InputError
from remit.cli.options import JsonOption
from remit.cli.output import out, out_json
from remit.cli.parameters import Argument, Option
from remit.compile import build_rulebook
from remit.compile.load import load_file
from remit.explain.understanding import understanding_of
from remit.model.rulebook import Rulebook


class Dialect(StrEnum):
    """The SQL dialect."""

    sqlite = "sqlite"
    postgres = "postgres"
    mysql = "mysql"
    duckdb = "duckdb"
    snowflake = "snowflake"


def command(
    text: Annotated[
        str | None, Argument(metavar="[COMMAND]", help="A shell text, in quotes; - reads it from stdin.")
    ] = None,
    sql: Annotated[str | None, Option("--sql", metavar="TEXT", help="A SQL text instead; - is stdin.")] = None,
    url: Annotated[str | None, Option("--url", metavar="URL", help="A URL instead.")] = None,
    path: Annotated[str | None, Option("--path", metavar="PATH", help="A path instead.")] = None,
    dialect: Annotated[Dialect, Option("--dialect", help="The SQL dialect.")] = Dialect.sqlite,
    policy: Annotated[
        Path | None, Option("--policy", metavar="FILE", help="Use the labels and tiers of this policy.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Show what a text would do, regardless of who may run it: effects, targets, and its tier with the reason.

    Examples: `remit understand 'rm -rf build'`, `remit understand --sql 'DELETE FROM orders'`
    """
    given = {"shell": text, "sql": sql, "url": url, "path": path}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        words = [name.replace("shell", "command") for name in named]
        problem = "nothing to understand" if not words else f"{' and '.join(words)} at once"
        raise InputError(problem, help="give a COMMAND, or one of --sql, --url, --path")
    what = named[0]
    found = understanding_of(_rulebook(policy), what, _content(given[what] or ""), dialect.value)
    if json:
        out_json(found.data)
    else:
        out("".join(f"{line}\n" for line in found.lines))
    return FINE


def _content(text: str) -> str:
    if text != "-":
        return text
    return stdin.text("-")


def _rulebook(policy: Path | None) -> Rulebook:
    """The policy's, or one with nothing but the catalog's labels and tiers."""
    if policy is not None:
        return load_file(policy)
    return build_rulebook({"remit": 1, "agents": {"anyone": {"may": []}}})
