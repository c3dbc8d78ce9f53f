"""What a command, a query, a URL or a path would do, and how far it reaches, for programs and for people.

understanding_of(rulebook, "shell", "git push").lines
"""

from __future__ import annotations

from typing import Any, NamedTuple

from remit.explain.radius import Radius, radius_of
from remit.languages.programs.understand import Act, Understanding, understand
from remit.languages.sql.statement import SqlStatement, Use
from remit.languages.sql.understand import understand_sql
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.scopes.shell.placed import Placed
from remit.scopes.url import UrlError, parse_url

_SIGNS = {"understood": "✅", "project code": "🔧", "not understood": "❓"}
_WIDTH = 160


class Understood(NamedTuple):
    """What came of it."""

    data: dict[str, Any]
    """For programs."""
    lines: list[str]
    """For people."""


def understanding_of(rulebook: Rulebook, kind: str, text: str, dialect: str = "sqlite") -> Understood:
    """What a text of a kind (shell, sql, url, path) would do, with the labels and tiers of the rulebook."""
    return Understood(*_READERS[kind](rulebook, text, dialect))


def _command(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    found = understand(text)
    found = found._replace(acts=tuple(Placed(act, None, None).act for act in found.acts))
    radius = radius_of(book, "shell", text)
    data = {**as_json(found), **_extent(radius)}
    return data, [*_text(found), *radius.lines()]


def _sql(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    found = understand_sql(text, dialect)
    radius = radius_of(book, "sql", text, dialect=dialect)
    statements = [_statement_json(statement) for statement in found.statements]
    data = {"dialect": dialect, "problem": found.problem, "statements": statements, **_extent(radius)}
    lines = [f"❓ not understood: {shown(found.problem, 200)}"] if found.problem is not None else []
    lines.extend(line for statement in found.statements for line in _statement(statement))
    if not found.statements and found.problem is None:
        lines.append("no statement")
    return data, [*lines, *radius.lines()]


def _url(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    radius = radius_of(book, "url", text)
    try:
        url = parse_url(text)
    except UrlError as error:
        return {"url": text, **_extent(radius), "problem": str(error)}, [f"❓ no URL: {shown(error, 200)}"]
    parts = {"scheme": url.scheme, "host": url.host, "port": url.port, "path": url.path, "query": url.query}
    doubt = ["a server could take the path for another one"] if url.ambiguous_path else []
    lines = [f"🌐 {shown(url, 300)}", *(f"     {key} {shown(value, _WIDTH)}" for key, value in parts.items() if value)]
    data = {"url": str(url), **parts, "ambiguous_path": url.ambiguous_path, **_extent(radius)}
    return data, [*lines, *(f"     {line}" for line in doubt), *radius.lines()]


def _path(book: Rulebook, text: str, dialect: str) -> tuple[dict[str, Any], list[str]]:
    found = {effect: radius_of(book, "path", text, effect) for effect in ("read", "write", "delete")}
    lines = [f"📄 {shown(text, 300)}"]
    for effect, radius in found.items():
        lines.append(f"     {effect}: {'; '.join(radius.lines())}")
    data = {"path": text, **{effect: radius.as_json() for effect, radius in found.items()}}
    return data, lines


_READERS = {"shell": _command, "sql": _sql, "url": _url, "path": _path}


def _extent(radius: Radius) -> dict[str, Any]:
    """What a text of any kind has, beside what is special to its kind."""
    data = radius.as_json()
    return {key: value for key, value in data.items() if key != "problem" or value is not None}


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
    data["uses"] = [_use_json(use) for use in statement.uses]
    data["reaches"] = [reach._asdict() for reach in statement.reaches]
    sets = {key: sorted(value) for key, value in data.items() if isinstance(value, frozenset)}
    return {**data, **sets, "effects": sorted(statement.effects)}


def _use_json(use: Use) -> dict[str, Any]:
    columns = sorted(use.columns) if use.columns is not None else None
    rows = [{column: sorted(values, key=str) for column, values in sorted(pins)} for pins in use.rows]
    return {**use._asdict(), "columns": columns, "rows": rows}


def _text(found: Understanding) -> list[str]:
    if found.problem is not None:
        return [f"❓ not understood: {shown(found.problem, 200)}"]
    lines = []
    for act in found.acts:
        via = f"{' → '.join(act.via)} → " if act.via else ""
        name = " ".join((act.program or "?", *act.sub))
        effects = ", ".join(sorted(act.effects)) or "nothing"
        lines.append(f"{_SIGNS[act.grade]} {shown(via + name, _WIDTH)}: {effects} ({act.grade})")
        lines.extend(f"     {shown(line, _WIDTH)}" for line in _details(act))
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
    runs = any(reach.kind == "program" for reach in statement.reaches)
    sign = "❓" if statement.unknown or statement.strange or runs else "✅"
    effects = ", ".join(sorted(statement.effects)) or ("anything" if statement.unknown else "nothing")
    lines = [f"{sign} {shown(statement.verb.upper() or 'SQL', _WIDTH)}: {effects}"]
    for use in statement.uses:
        columns = f" ({', '.join(sorted(use.columns))})" if use.columns else ""
        via = f" via {shown(use.via, _WIDTH)}" if use.via else ""
        verb = "to choose and compute, select" if use.own else use.verb
        lines.append(f"     {verb} {shown(use.table, _WIDTH)}{shown(columns, _WIDTH)}{via}")
    lines.extend(f"     pragma {shown(name, _WIDTH)}" for name in statement.pragmas)
    if statement.source:
        lines.append(f"     from {statement.source}, on conflict {statement.conflict or 'none'}")
    for reach in statement.reaches:
        does = "changes" if reach.effect == "system" else f"{reach.effect}s"
        lines.append(f"     {does} {shown(reach.value or f'the {reach.kind}', _WIDTH)} by {shown(reach.by, _WIDTH)}")
    lines.extend(f"     the function {shown(name, _WIDTH)} is not known to be harmless" for name in statement.strange)
    lines.extend(f"     could not be followed: {shown(text, _WIDTH)}" for text in statement.unknown)
    lines += ["     what the program does could not be followed"] if runs else []
    return lines
