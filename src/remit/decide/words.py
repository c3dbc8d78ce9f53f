"""The two texts of a decision: a reason for the agent, with the next step; a remedy for the operator."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from remit.decide.grid import Bound, Cell
from remit.model.decision import Remedy
from remit.model.pattern import compile_later
from remit.model.terms import UNKNOWN
from remit.scopes.glob import Glob
from remit.scopes.interface import Unit

if TYPE_CHECKING:
    from remit.languages.sql.statement import SqlStatement

_PLAIN = compile_later(r"[A-Za-z0-9_./:=@%+,~^-]+")
_NAME = compile_later(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")


def shown(text: object, limit: int = 80) -> str:
    """Text from outside, escaped and bounded."""
    raw = str(text)
    plain = "".join(
        c if c.isprintable() and unicodedata.category(c) != "Cf" else ascii(c)[1:-1] for c in raw[: limit + 1]
    )
    return plain if len(plain) <= limit else plain[:limit] + "…"


def limited(cell: Cell, bounds: list[Bound]) -> str:
    """`create_file is limited to research/*.yaml for researcher`, or that there is no rule at all."""
    name, tool = cell.caller.name, cell.tool.name
    scopes = [bound.judge.describe() for bound in bounds]
    texts = [scope for scope in dict.fromkeys(scopes) if scope]
    if not bounds:
        return f"{name} may not use {tool}"
    if not texts:
        return f"{tool} stays below the root for {name}"
    return f"{tool} is limited to {' or '.join(text.removeprefix('path ') for text in texts)} for {name}"


def because(bound: Bound, unit: Unit) -> str:
    """Why a shell or sql scope does not cover a command or statement, for the trace."""
    matcher: Any = bound.judge.parts.get(unit.kind)
    if matcher is None or unit.kind not in ("shell", "sql"):
        return ""
    return f": {shown(matcher.refuses(unit if unit.kind == 'shell' else unit.value) or '')}"


def limited_text(cell: Cell, bounds: list[Bound], unit: Unit) -> str:
    """The part of a shell or SQL text that was too much, and what would be allowed."""
    matchers: list[Any] = [part for bound in bounds if (part := bound.judge.parts.get(unit.kind)) is not None]
    if not matchers:
        return limited(cell, bounds)
    if unit.kind == "shell":
        program = unit.value.act.program
        nearest = next((m for m in matchers if program in m.runs or program in m.filters), matchers[0])
        reason = nearest.refuses(unit) or "the command is not covered"
    else:
        clause = unit.value.verb
        reason = next((m for m in matchers if clause in m.clauses), matchers[0]).refuses(unit.value) or ""
        reason = reason or "the statement is not covered"
    return f"`{shown(unit.text, 60)}` is not permitted for {cell.caller.name}: {shown(reason, 240)}"


def permit_remedy(cell: Cell, unit: Unit) -> Remedy:
    """The smallest rule that would permit the unit."""
    tool = cell.tool.name
    if unit.kind == "shell":
        return _command_remedy(cell, unit)
    entry: str | None = _sql_entry(tool, unit.value) if unit.kind == "sql" else tool
    if entry is None:
        return Remedy(f"let a person run it; no SQL scope of {cell.caller.name} could admit it as it stands")
    if unit.kind == "path" and not unit.wide and unit.value[0] != "/":
        entry = f"{tool}: {{path: {_quoted(Glob.literal(unit.value).text, ascii=False)}}}"
    elif unit.kind == "url" and not unit.wide:
        entry = f'{tool}: {{url: "{unit.value.scheme}://{unit.value.host}/**"}}'
    section = {"agent": "agents", "role": "roles", "runner": "runners"}[cell.caller.kind]
    line = f"{section}: {{{cell.caller.name}: {{may: [{entry}]}}}}"
    return Remedy(f"add to `may` of {cell.caller.name}: {entry}", policy=line)


def _sql_entry(tool: str, statement: SqlStatement) -> str | None:
    """The statement's verbs, tables and functions as a scope; None for what no scope admits."""
    from remit.languages.sql.statement import VERBS

    clauses: dict[str, list[str]] = {verb: [] for verb in (statement.verb,) if verb in ("select", "insert")}
    for use in statement.uses:
        if not use.via:
            clauses.setdefault(use.verb, []).append(use.table)
    kinds = sorted(statement.ddl)
    if "ddl" in clauses or kinds:
        clauses["ddl"] = kinds
    if statement.pragmas:
        clauses["pragma"] = list(statement.pragmas)
    if statement.strange:
        clauses["functions"] = list(statement.strange)
    if statement.unknown or not clauses or statement.reaches or statement.verb not in VERBS:
        return None
    words = [
        f"{verb}: [{', '.join(map(_quoted, dict.fromkeys(names)))}]" if names else f"{verb}: any"
        for verb, names in clauses.items()
    ]
    if "insert" in clauses and statement.conflict not in ("", "none"):
        conflict = statement.conflict if statement.conflict in ("ignore", "update", "replace") else "any"
        names = ", ".join(map(_quoted, dict.fromkeys(clauses["insert"])))
        words = [word for word in words if not word.startswith("insert:")]
        words.append(f"insert: {{tables: [{names}], conflict: {conflict}}}")
    words += ["explain: true"] if statement.explains else []
    return f"{tool}: {{sql: {{{', '.join(words)}}}}}"


def _command_remedy(cell: Cell, unit: Unit) -> Remedy:
    """The command itself as an entry of `run`, where it is understood; else nothing to paste."""
    act, caller, tool = unit.value.act, cell.caller.name, cell.tool.name
    texts = [word.text for word in act.command.words]
    plain = len(texts) > 1 and all(text is not None and _PLAIN.fullmatch(text) for text in texts)
    if not plain or act.grade == UNKNOWN:
        return Remedy(f"let a person run it, or name a command that is understood in the shell scope of {caller}")
    entry = f"{tool}: {{shell: {{run: [{_quoted(' '.join(str(text) for text in texts))}]}}}}"
    section = {"agent": "agents", "role": "roles", "runner": "runners"}[cell.caller.kind]
    return Remedy(f"add to `may` of {caller}: {entry}", policy=f"{section}: {{{caller}: {{may: [{entry}]}}}}")


def _quoted(text: str, *, ascii: bool = True) -> str:
    """The text in double quotes, for a policy."""
    import json  # here: only what is refused gets a remedy

    return json.dumps(text, ensure_ascii=ascii)


def declare_remedy(tool: str) -> Remedy:
    """The declaration to paste for a tool that the policy doesn't know."""
    return Remedy(
        f"declare `{shown(tool)}` under tools, with its arguments and what it does",
        policy=f"tools: {{{tool}: {{args: {{}}, does: nothing}}}}" if _NAME.fullmatch(tool) else None,
    )
