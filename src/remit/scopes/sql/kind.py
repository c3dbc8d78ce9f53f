"""SQL texts as a kind. What reads statements is loaded only when there is one, or a scope about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from remit.model.terms import UNKNOWN
from remit.scopes.interface import Declared, Kind, Matcher, Misnamed, Unit, Values

if TYPE_CHECKING:
    from remit.forms.shapes import Shape
    from remit.model.call import Call
    from remit.model.facts import Facts
    from remit.model.policy import Tool


class SqlKind(Kind):
    """A text that a database would run."""

    name = unit = "sql"
    noun = "statement"
    about = "which statements it may run"
    limited_by = ("sql",)
    must_be_mentioned = True
    judges = frozenset(("network",))
    language = True
    tests = frozenset()
    instead = "`sql:`"
    touched = frozenset(("path", "url", "shell", "sql"))
    requires = (("dialect", "add `dialect: sqlite`, or another"),)
    unscoped = "a sandbox keeps SQL from what its text does not show"
    no_scope = "write it in plainer SQL, or let a person run it; no SQL scope of {caller} could admit it as it stands"

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        from remit.scopes.sql.units import sql_units  # here, as below: few callers have databases

        schema = facts.schema.get(arg.tool.name) if facts.schema is not None else None
        return sql_units(arg.name, value, arg.tool.dialect or "", facts.root, schema or arg.tool.schema)

    def form(self) -> Shape:
        from remit.scopes.sql.form import sql_scope

        return sql_scope

    def matcher(self, data: Any) -> Matcher:
        from remit.scopes.sql.scope import SqlMatcher

        return SqlMatcher(data)

    def misnamed(self, data: Any) -> Iterable[Misnamed]:
        if set(data) <= {"rows"}:
            so = "name what it is about, such as `select: any`"
            yield Misnamed("the `sql` scope names no statement", None, so, fatal="prohibition")

    def unknown_to(self, tool: Tool, data: Any) -> Iterable[Misnamed]:
        from remit.scopes.sql.names import unknown_to

        return unknown_to(tool, data)

    def might(self, unit: Unit, part: str, matcher: Matcher) -> bool:
        return part in ("path", "url") and unit.grade == UNKNOWN

    def target(self, unit: Unit) -> str | None:
        return None

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        from json import dumps

        from remit.scopes.sql.samples import smallest_scope
        from remit.scopes.sql.scope import SqlMatcher

        scope = smallest_scope(unit.value)
        if scope is not None and beside is not None:
            near = SqlMatcher(beside)
            if near.concerns(unit) or near.limits(unit.value):
                return None  # it is a limit on such statements, or on such tables, that was not kept
            scope |= {"rows": beside["rows"]} if "rows" in beside else {}
        if scope is None or not self.matcher(scope).covers(unit):
            return None
        return f"sql: {dumps(scope, ensure_ascii=False)}"

    def samples(self) -> list[Any]:
        from remit.scopes.sql.samples import SAMPLES

        return list(SAMPLES)


KINDS = (SqlKind(),)
