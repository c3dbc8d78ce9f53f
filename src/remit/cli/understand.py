"""`remit understand`: what a command, a query, a URL or a path would do, and how far it reaches."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from remit.cli.common import FINE, InputError, load
from remit.cli.options import JsonOption
from remit.cli.output import out, out_json
from remit.cli.parameters import Argument, Option
from remit.compile import build_rulebook
from remit.explain.radius import radius_of
from remit.languages.programs.understand import understand
from remit.languages.sql.understand import understand_sql
from remit.model.text import shown
from remit.scopes.url import UrlError, parse_url

if TYPE_CHECKING:
    from remit.explain.radius import Radius
    from remit.languages.programs.understand import Act, Understanding
    from remit.languages.sql.statement import SqlStatement
    from remit.model.rulebook import Rulebook

_SIGNS = {"understood": "✅", "project code": "🔧", "not understood": "❓"}


class Dialect(StrEnum):
    """Whose SQL it is."""

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
    dialect: Annotated[Dialect, Option("--dialect", help="Whose SQL it is.")] = Dialect.sqlite,
    policy: Annotated[
        Path | None, Option("--policy", metavar="FILE", help="Use the labels and tiers of this policy.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Show what a text would do, without asking whether anybody may: effects, targets, and its tier with the reason."""
    given = {"command": text, "sql": sql, "url": url, "path": path}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        problem = "nothing to understand" if not named else f"{' and '.join(named)} at once"
        raise InputError(problem, help="give a COMMAND, or one of --sql, --url, --path")
    what = named[0]
    content = _content(given[what] or "")
    book = _rulebook(policy)
    found = _SHOWN[what](book, content, dialect.value)
    if json:
        out_json(found[0])
    else:
        out("".join(f"{line}\n" for line in found[1]))
    return FINE


def _content(text: str) -> str:
    if text != "-":
        return text
    return sys.stdin.read()


def _rulebook(policy: Path | None) -> Rulebook:
    """The policy's, or one with nothing but the catalog's labels and tiers."""
    if policy is not None:
        return load(policy)
    return build_rulebook({"remit": 1, "agents": {"anyone": {"may": []}}})


def _command(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    found = understand(text)
    radius = radius_of(book, "shell", text)
    data = {**as_json(found), **_extent(radius)}
    return data, [*_text(found), *radius.lines()]


def _sql(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    found = understand_sql(text, dialect)
    radius = radius_of(book, "sql", text, dialect=dialect)
    statements = [_statement_json(statement) for statement in found.statements]
    data = {"dialect": dialect, "problem": found.problem, "statements": statements, **_extent(radius)}
    lines = [f"❓ not understood: {_show(found.problem, 200)}"] if found.problem is not None else []
    lines.extend(line for statement in found.statements for line in _statement(statement))
    if not found.statements and found.problem is None:
        lines.append("no statement")
    return data, [*lines, *radius.lines()]


def _url(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    radius = radius_of(book, "url", text)
    try:
        url = parse_url(text)
    except UrlError as error:
        return {"url": text, **_extent(radius), "problem": str(error)}, [f"❓ no URL: {_show(error, 200)}"]
    parts = {"scheme": url.scheme, "host": url.host, "port": url.port, "path": url.path, "query": url.query}
    doubt = ["a server could take the path for another one"] if url.ambiguous_path else []
    lines = [f"🌐 {_show(url, 300)}", *(f"     {key} {_show(value)}" for key, value in parts.items() if value)]
    data = {"url": str(url), **parts, "ambiguous_path": url.ambiguous_path, **_extent(radius)}
    return data, [*lines, *(f"     {line}" for line in doubt), *radius.lines()]


def _path(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    found = {effect: radius_of(book, "path", text, effect) for effect in ("read", "write", "delete")}
    lines = [f"📄 {_show(text, 300)}"]
    for effect, radius in found.items():
        lines.append(f"     {effect}: {'; '.join(radius.lines())}")
    data = {"path": text, **{effect: radius.as_json() for effect, radius in found.items()}}
    return data, lines


_SHOWN = {"command": _command, "sql": _sql, "url": _url, "path": _path}


def _extent(radius: Radius) -> dict[str, Any]:
    """What a text of any kind has, beside what is special to its kind."""
    data = radius.as_json()
    return {key: value for key, value in data.items() if key != "problem" or value is not None}


def in_words(book: Rulebook, kind: str, text: str, dialect: str) -> list[str]:
    """What a shell or SQL text does and how far it reaches, line by line, for other commands."""
    return _SHOWN["command" if kind == "shell" else kind](book, text, dialect)[1]


def as_json(found: Understanding) -> dict[str, Any]:
    """The understanding of a shell text as plain data."""
    return {
        "grade": found.grade,
        "problem": found.problem,
        "effects": sorted({effect for act in found.acts for effect in act.effects}),
        "commands": [
            {
                "program": act.program,
                "sub": list(act.sub),
                "grade": act.grade,
                "effects": sorted(act.effects),
                "paths": [
                    {"effect": t.effect, "path": t.path.text, "raw": t.path.raw, "deep": t.deep}
                    for t in (*act.touches, *act.redirected)
                ],
                "urls": [word.raw for word in act.urls],
                "hosts": [word.raw for word in act.hosts],
                "branches": [word.raw for word in act.branches],
                "contexts": [word.raw for word in act.contexts],
                "statements": [_statement_json(statement) for statement in act.statements],
                "joined": sorted(act.command.joined),
                "via": list(act.via),
                "unknown": list(act.unknown),
                "refused": list(act.refused),
                "dynamic": [*act.dynamic, *act.loose],
                "text": act.command.raw,
            }
            for act in found.acts
        ],
    }


def _statement_json(statement: SqlStatement) -> dict[str, Any]:
    data = statement._asdict()
    data["uses"] = [
        {**use._asdict(), "columns": sorted(use.columns) if use.columns is not None else None} for use in statement.uses
    ]
    data["reaches"] = [reach._asdict() for reach in statement.reaches]
    sets = {key: sorted(value) for key, value in data.items() if isinstance(value, frozenset)}
    return {**data, **sets, "effects": sorted(statement.effects)}


def _show(text: object, limit: int = 160) -> str:
    return shown(text, limit)


def _text(found: Understanding) -> list[str]:
    if found.problem is not None:
        return [f"❓ not understood: {_show(found.problem, 200)}"]
    lines = []
    for act in found.acts:
        via = f"{' → '.join(act.via)} → " if act.via else ""
        name = " ".join((act.program or "?", *act.sub))
        effects = ", ".join(sorted(act.effects)) or "nothing"
        lines.append(f"{_SIGNS[act.grade]} {_show(via + name)}: {effects} ({act.grade})")
        lines.extend(f"     {_show(line)}" for line in _details(act))
        lines.extend(f"     {line}" for statement in act.statements for line in _statement(statement))
    effects = ", ".join(sorted({effect for act in found.acts for effect in act.effects})) or "nothing"
    return [*lines, f"in all: {effects}; {found.grade}"]


def _details(act: Act) -> list[str]:
    lines = []
    for touch in dict.fromkeys((*act.touches, *act.redirected)):
        lines.append(f"{touch.effect}s {touch.path.raw}{' and all below' if touch.deep else ''}")
    lines.extend(f"reaches {word.raw}" for word in (*act.urls, *act.hosts))
    lines.extend(f"branch {word.raw}" for word in act.branches)
    lines.extend(f"cluster context {word.raw}" for word in act.contexts)
    lines.extend(f"target {word.raw}" for word in act.targets)
    lines.extend(f"sets {name}" for name, _ in act.command.assigns)
    lines.extend(f"could not be followed: {text}" for text in act.unknown)
    lines.extend(f"not admitted by naming it: {text}" for text in act.refused)
    lines.extend(f"not literal: {text}" for text in dict.fromkeys((*act.dynamic, *act.loose)))
    return lines


def _statement(statement: SqlStatement) -> list[str]:
    sign = "❓" if statement.unknown or statement.strange else "✅"
    effects = ", ".join(sorted(statement.effects)) or ("anything" if statement.unknown else "nothing")
    lines = [f"{sign} {_show(statement.verb.upper() or 'SQL')}: {effects}"]
    for use in statement.uses:
        columns = f" ({', '.join(sorted(use.columns))})" if use.columns else ""
        lines.append(f"     {use.verb} {_show(use.table)}{_show(columns)}{f' via {_show(use.via)}' if use.via else ''}")
    lines.extend(f"     pragma {_show(name)}" for name in statement.pragmas)
    if statement.source:
        lines.append(f"     from {statement.source}, on conflict {statement.conflict or 'none'}")
    for reach in statement.reaches:
        does = "changes" if reach.effect == "system" else f"{reach.effect}s"
        lines.append(f"     {does} {_show(reach.value or f'the {reach.kind}')} by {_show(reach.by)}")
    lines.extend(f"     the function {_show(name)} is not known to be harmless" for name in statement.strange)
    lines.extend(f"     could not be followed: {_show(text)}" for text in statement.unknown)
    return lines
