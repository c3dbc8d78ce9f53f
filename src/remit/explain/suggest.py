"""The policy that allows what was used, and no more: within the present one, with what that would have denied apart.

found = suggest(rulebook, data, calls)
found.rules["Builder"]          # what its `may` becomes, each line with how often and when it was used
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from remit.analyze.changes import flow
from remit.analyze.within import path_includes, url_includes
from remit.decide.preview import Bound, cell_of, covering
from remit.model.call import Call
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.policy import Rule
from remit.model.rulebook import Rulebook
from remit.model.text import how_often, shown
from remit.scopes.interface import Unit
from remit.scopes.url import UrlPattern
from remit.scopes.url_grammar import DEFAULT_PORTS

FEW = 2
"""So many files of one folder are named; more of them become a pattern."""
MANY = 8
"""So many patterns below one folder become all of it."""


class Used(msgspec.Struct, frozen=True):
    """A call as the ledger has it: what was decided, and when."""

    call: Call
    facts: Facts
    at: str
    decision: str
    """`allow`, `ask` or `deny`."""
    code: str
    would: str | None = None


class Line(msgspec.Struct, frozen=True):
    """One rule of a suggested `may`."""

    rule: Any
    """As a policy has it."""
    times: int
    last: str
    why: str = ""
    """Why it is not narrower, if it could be."""
    at: str = ""
    """Where the present rule stands."""
    narrower: bool = False
    """It allows less than the present rule."""

    @property
    def text(self) -> str:
        """`- Write: {path: [src/*.py]}    # 12 times, last 2026-11-17`."""
        more = f"; {self.why}" if self.why else ""
        times = how_often(self.times)
        rule = flow(self.rule)
        rule = rule[1:-1] if isinstance(self.rule, dict) else rule
        return f"- {rule}    # {times}, last {self.last[:10]}{more}"


class Denied(msgspec.Struct, frozen=True):
    """What was used and the present policy would deny or ask about: for a person to decide."""

    agent: str
    tool: str
    code: str
    would: str
    times: int
    last: str
    examples: tuple[str, ...]


class Suggestion(msgspec.Struct, frozen=True):
    """By agent, the rules that its `may` becomes; and what needs a person."""

    rules: dict[str, tuple[Line, ...]]
    denied: tuple[Denied, ...]


def suggest(rulebook: Rulebook, used: Iterable[Used], keep: frozenset[tuple[str, str]] = frozenset()) -> Suggestion:
    """What the calls need of the rulebook. `keep`, by agent and tool: leave their rules as they are."""
    uses: dict[tuple[str, str], list[tuple[Used, list[Unit], list[Bound]]]] = {}
    denied: dict[tuple[str, str, str, str], list[Used]] = {}
    for one in used:
        would = one.would or one.decision
        if would != "allow":
            key = (one.call.agent, one.call.tool, one.code, would)
            denied.setdefault(key, []).append(one)
        cell = cell_of(rulebook, one.call.agent, one.call.tool)
        if cell is None or would == "deny":
            continue
        try:
            found = covering(cell, one.call, one.facts)
        except NotUnderstood:
            continue
        uses.setdefault((cell.caller.name, cell.tool.name), []).append((one, *found))
    rules: dict[str, list[Line]] = {name: [] for name in rulebook.book.callers}
    for (agent, tool), calls in sorted(uses.items()):
        bounds = {id(bound): bound for _, _, by in calls for bound in by}
        for bound in bounds.values():
            mine = [(one, units) for one, units, by in calls if any(other is bound for other in by)]
            rules[agent].append(_line(tool, bound, mine, (agent, tool) in keep))
    return Suggestion(
        {name: tuple(sorted(lines, key=lambda line: line.text)) for name, lines in rules.items()},
        tuple(_denied(key, calls) for key, calls in sorted(denied.items())),
    )


def _line(tool: str, bound: Bound, calls: Sequence[tuple[Used, list[Unit]]], keep: bool) -> Line:
    rule, why = bound.rule, ""
    units = [unit for _, units in calls for unit in units if bound.judge.covers(unit)]
    parts = dict(rule.scope.parts)
    narrow = None if keep else _narrowed(rule, units)
    if narrow is None:
        why = "as it is now" if parts or keep else ""
    else:
        parts |= narrow
    scope = _lists(msgspec.structs.replace(rule.scope, parts=parts).written())
    times, last = len(calls), max(one.at for one, _ in calls)
    narrower = narrow is not None and scope != _lists(rule.scope.written())
    return Line({tool: scope} if scope else tool, times, last, why, rule.at, narrower)


def _lists(value: Any) -> Any:
    """The same as a policy file has it."""
    if isinstance(value, dict):
        return {key: _lists(one) for key, one in value.items()}
    return [_lists(one) for one in value] if isinstance(value, (list, tuple)) else value


def _narrowed(rule: Rule, units: Sequence[Unit]) -> dict[str, Any] | None:
    """Parts in the place of those of the rule, which they lie in; None where nobody knows narrower ones."""
    kinds = {unit.kind for unit in units}
    if kinds == {"path"} and rule.scope.parts.keys() <= {"path"} and not rule.scope.where:
        if any(unit.wide or unit.value == "." or unit.value.startswith("/") for unit in units):
            return None
        patterns = [one if path_includes(rule.scope, one) else None for one in _patterns({u.value for u in units})]
        literal = sorted({_literal(unit.value) for unit in units})
        found = [one for one in patterns if one is not None] if None not in patterns else literal
        if not all(path_includes(rule.scope, one) for one in found):
            return None
        return {"path": {**rule.scope.parts.get("path", {}), "allow": tuple(found)}}
    if kinds == {"shell"} and not rule.scope.parts and not rule.scope.where:
        programs = _programs(units)
        return {"shell": {"run": programs}} if programs is not None else None
    if kinds == {"url"} and rule.scope.parts.keys() <= {"url"} and not rule.scope.where:
        return None if any(unit.wide for unit in units) else {"url": _hosts(rule, units)}
    return None


def _hosts(rule: Rule, units: Sequence[Unit]) -> tuple[str, ...]:
    """Patterns of URLs: all of each host that was used, or where the rule says less of it, that."""
    found: set[str] = set()
    for unit in units:
        url = unit.value
        port = "" if url.port == DEFAULT_PORTS.get(url.scheme, 0) else f":{url.port}"
        whole = f"{url.scheme}://{url.host}{port}/**"
        if url_includes(rule.scope, whole):
            found.add(whole)
        else:
            found.update(text for text in rule.scope.parts["url"] if UrlPattern.parse(text).matches(url))
    return tuple(sorted(found))


def _patterns(paths: set[str]) -> list[str]:
    """Globs for paths: few files of a folder by name, more of them as a pattern, many folders as all below one."""
    folders: dict[str, set[str]] = {}
    for path in paths:
        folders.setdefault(str(PurePosixPath(path).parent), set()).add(path)
    found: set[str] = set()
    for folder, files in folders.items():
        endings = {PurePosixPath(path).suffix for path in files}
        place = "" if folder == "." else f"{_literal(folder)}/"
        if len(files) <= FEW:
            found |= {_literal(path) for path in files}
        else:
            found.add(f"{place}*{_literal(min(endings))}" if len(endings) == 1 else f"{place}*")
    tops: dict[str, list[str]] = {}
    for one in found:
        tops.setdefault(one.partition("/")[0], []).append(one)
    return sorted(
        pattern
        for top, mine in tops.items()
        for pattern in ([f"{top}/**"] if len(mine) > MANY and all("/" in one for one in mine) else mine)
    )


def _literal(path: str) -> str:
    """A glob that matches this path alone."""
    return "".join(f"[{sign}]" if sign in "*?[{" else sign for sign in path)


def _programs(units: Sequence[Unit]) -> tuple[Any, ...] | None:
    """Programs with their subcommands; None where one is not understood."""
    found: dict[str, set[str]] = {}
    for unit in units:
        act = unit.value.act
        if act.program is None or unit.grade != "understood":
            return None
        found.setdefault(act.program, set()).add(" ".join(act.sub))
    return tuple(program if "" in subs else {program: tuple(sorted(subs))} for program, subs in sorted(found.items()))


def _denied(key: tuple[str, str, str, str], calls: list[Used]) -> Denied:
    agent, tool, code, would = key
    texts = dict.fromkeys(shown(flow(one.call.args), 160) for one in calls)
    return Denied(agent, tool, code, would, len(calls), max(one.at for one in calls), tuple(texts)[:3])


def tightened(data: dict[str, Any], found: Suggestion) -> dict[str, Any]:
    """The policy, as data, with the suggested `may` for everybody that it names."""
    made = dict(data)
    for section in _SECTIONS:
        callers = data.get(section)
        if isinstance(callers, dict):
            made[section] = {
                name: {**record, "may": [line.rule for line in found.rules.get(name, ())]}
                for name, record in ((name, record or {}) for name, record in callers.items())
            }
    return made


def as_yaml(data: dict[str, Any], found: Suggestion) -> str:
    """The tightened policy as text, each rule with how often and when it was used."""
    lines: list[str] = []
    for key, value in tightened(data, found).items():
        if key not in _SECTIONS or not isinstance(value, dict):
            lines.append(f"{flow(key)}: {flow(value)}")
            continue
        lines.append(f"{key}:")
        for name, record in value.items():
            lines.append(f"  {flow(name)}:")
            lines += [f"    {flow(about)}: {flow(one)}" for about, one in record.items() if about != "may"]
            mine = found.rules.get(name, ())
            lines.append("    may:" if mine else "    may: []")
            lines += [f"      {line.text}" for line in mine]
    return "".join(f"{line}\n" for line in lines)


_SECTIONS = ("agents", "roles", "runners")
