"""Candidate calls: concrete arguments that a caller's rules might let through, to look for counterexamples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from remit.analyze.shell import SAMPLES, sample_texts
from remit.analyze.sql import SAMPLES as SQL_SAMPLES
from remit.analyze.sql import sample_statements
from remit.decide.grid import Bound, Cell
from remit.model.call import Call, Context
from remit.model.facts import Capsule, Facts
from remit.model.policy import Argument, Condition
from remit.scopes.glob import Glob
from remit.scopes.shell.scope import ShellMatcher
from remit.scopes.sql.scope import SqlMatcher
from remit.scopes.url import UrlPattern

MAX_CALLS = 256
_FILLERS = ("x", "remit-probe", "7")


def candidates(cell: Cell) -> Iterator[tuple[Call, Facts]]:
    """Calls worth trying for one caller and one tool, with the facts that favour them most."""
    permits = [*cell.may, *cell.grants, *cell.asks]
    required = [name for name, argument in cell.tool.args.items() if not argument.optional]
    choices = {name: _values(name, cell.tool.args[name], cell, permits) for name in cell.tool.args}
    facts, capsule = favourable(cell)
    for context in _contexts(permits, capsule):
        for names in dict.fromkeys((tuple(cell.tool.args), tuple(required))):
            for values in islice(product(*(choices[name] for name in names)), MAX_CALLS):
                args = nest(dict(zip(names, values, strict=True)))
                yield Call(cell.caller.name, cell.tool.name, args, context), facts


def favourable(cell: Cell) -> tuple[Facts, str | None]:
    """Facts under which a required capsule is there and every standing grant is in time."""
    now = "0001-01-01T00:00:00Z"
    if cell.caller.capsule != "required":
        return Facts(now=now), None
    capsule = Capsule("probe", cell.caller.name)
    return Facts(now=now, capsules={"probe": capsule}), "probe"


def nest(flat: dict[str, Any]) -> dict[str, Any]:
    """Values by declared name (`a[].b`) as the arguments of a call."""
    args: dict[str, Any] = {}
    for name, value in flat.items():
        place = args
        parts = name.split(".")
        for index, part in enumerate(parts):
            bare, last = part.removesuffix("[]"), index == len(parts) - 1
            if part.endswith("[]"):
                items = place.setdefault(bare, [value] if last else [{}])
                place = items[0] if not last else place
            elif last:
                place[bare] = value
            else:
                place = place.setdefault(bare, {})
    return args


def plain_value(argument: Argument) -> Any:
    """A harmless value of the argument's kind."""
    if argument.one_of:
        return argument.one_of[0]
    return {"number": 1, "flag": False, "json": {}}.get(argument.kind, "x")


def _contexts(permits: list[Bound], capsule: str | None) -> list[Context]:
    found = [Context(capsule=capsule)]
    for bound in permits:
        if bound.rule.scope.when:
            wanted = {key: values[0] for key, values in bound.rule.scope.when.items()}
            found.append(Context(**{"capsule": capsule, **wanted}))  # type: ignore[arg-type]
    return found


def _values(name: str, argument: Argument, cell: Cell, permits: list[Bound]) -> list[Any]:
    found: list[Any] = []
    for bound in permits:
        condition = bound.rule.scope.where.get(name)
        if condition is not None:
            found.extend(_satisfying(condition))
    if argument.kind in ("path", "glob"):
        found.extend(_paths(cell, permits))
    elif argument.kind == "url":
        texts = [text for bound in permits for text in bound.rule.scope.url or ()]
        found.extend(UrlPattern.parse(text).sample() for text in (*texts, *(cell.caller.apis or ())))
        found.append("https://host.example/x")
    elif argument.kind == "shell":
        matchers = [bound.judge.parts.get("shell") for bound in permits]
        for matcher in matchers:
            found.extend(sample_texts(matcher) if isinstance(matcher, ShellMatcher) else SAMPLES)
        found.extend(SAMPLES if cell.access else ())
    elif argument.kind == "sql":
        for bound in permits:
            scope = bound.judge.parts.get("sql")
            found.extend(sample_statements(scope) if isinstance(scope, SqlMatcher) else SQL_SAMPLES)
        found.extend(SQL_SAMPLES if cell.access else ())
    elif argument.kind == "agent":
        found.extend(name for bound in permits for name in bound.rule.scope.agent or ())
        found.extend(cell.caller.delegates_to or ())
        found.extend(cell.rulebook.book.callers)
    elif argument.kind == "skill":
        found.extend(name for bound in permits for name in bound.rule.scope.skill or ())
        found.extend(cell.caller.skills or ())
        found.append("x")
    else:
        found.append(plain_value(argument))
    return list(dict.fromkeys(found))[:24] if all(isinstance(v, str) for v in found) else found[:24]


def _paths(cell: Cell, permits: list[Bound]) -> list[str]:
    scopes = [bound.rule.scope.path for bound in permits if bound.rule.scope.path is not None]
    texts = [text for scope in scopes for text in scope.allow]
    if cell.caller.locks is not None:
        texts.extend(cell.caller.locks.may)
    found = [Glob.parse(text).sample(filler) for filler in _FILLERS for text in texts]
    found.extend(Glob.parse(text, absolute=True).sample("x") for scope in scopes for text in scope.outside)
    return [*found, "x", "src/x.py", "remit-probe/x.txt"]


def _satisfying(condition: Condition) -> list[Any]:
    found: list[Any] = []
    if condition.equals is not None:
        found.append(condition.equals)
    found.extend(condition.one_of or ())
    if condition.min is not None or condition.max is not None:
        low = condition.min if condition.min is not None else condition.max
        found.append(low)
    if condition.min_length is not None or condition.max_length is not None:
        found.append("x" * min(condition.min_length or 0, 10_000))
    if condition.path is not None:
        found.extend(Glob.parse(text).sample("x") for text in condition.path.allow)
    if condition.url is not None:
        found.extend(UrlPattern.parse(text).sample() for text in condition.url)
    found.extend(condition.agent or ())
    found.extend(condition.skill or ())
    return found
