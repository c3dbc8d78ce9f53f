"""One cell of the matrix: what a rulebook says about one caller and one tool, before any call is made.

    shown = matrix_cell(grid_of(rulebook).cell(row, tool))
    shown.symbol     # "🔒"

A cell says what is written, as far as it can matter for the tool: a `may_not` about the network does not lock
a tool that never reaches it, but it locks a shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from remit.analyze.reach import takers_of
from remit.decide.preview import Bound, Cell, hands_to, objection, preview
from remit.explain.units import Part, covers_all, covers_some, parts_of, touches_all, touches_some
from remit.model.policy import Caller, Question, Rule
from remit.model.terms import CHANGING
from remit.scopes.interface import Unit
from remit.scopes.judge import Judge
from remit.scopes.kinds import kind_of

ALLOWED, SCOPED, ASKED, DENIED = "✅", "🔒", "✋", "❌"
LEGEND = {
    ALLOWED: "allowed",
    SCOPED: "allowed with a scope",
    ASKED: "must ask",
    DENIED: "denied",
}
VERDICTS = {ALLOWED: "allow", SCOPED: "allow", ASKED: "ask", DENIED: "deny"}


_WHOLE = re.compile(r"^[^:]*(?:: (?:confirmed each time|tier \d or higher))?$")
"""A question about every call, whatever its arguments."""
NOTHING_ELSE = "nothing else"
"""What nobody permits without a question, and no question is about, is denied."""


class MatrixCell(msgspec.Struct, frozen=True):
    """What one caller may do with one tool."""

    symbol: str
    scopes: tuple[str, ...] = ()
    """What limits it, or who is asked, in few words."""
    rules: tuple[str, ...] = ()
    """Where that is written, `file:line:column`."""
    why: str = ""
    """Why it is denied."""
    limits: tuple[str, ...] = ()
    """What the caller's record adds for such calls: data tiers, a required capsule, to whom it delegates."""
    in_full: tuple[str, ...] = ()
    """The scopes again, with every limit that is written."""

    @property
    def verdict(self) -> str:
        """`allow`, `ask` or `deny`."""
        return VERDICTS[self.symbol]

    @property
    def always_asks(self) -> bool:
        """Whether every call that is allowed at all is asked about."""
        whole = [text for text in self.in_full if text.startswith("ask ") and _WHOLE.search(text)]
        return bool(whole) or NOTHING_ELSE in self.in_full

    @property
    def words(self) -> str:
        """For people who can't see the symbol."""
        text = LEGEND[self.symbol]
        return f"{text}: {'; '.join(self.scopes)}" if self.scopes else text

    @property
    def everything(self) -> tuple[str, ...]:
        """Every limit of a call: the scopes in full, and what the record adds."""
        return _unique([*self.in_full, *self.limits])


def matrix_cell(cell: Cell, now: str | None = None) -> MatrixCell:
    """What the matrix shows of a cell. Standing grants count only while `now` is known and before their end."""
    parts = parts_of(cell)
    refused = _refused(cell, parts)
    if refused is not None:
        return refused
    grants = [b for b in cell.grants if b.until is not None and now is not None and now < b.until]
    asks = [b for b in cell.asks if touches_some(b, cell, parts)]  # a must_ask permits only where it asks
    permits = [b for b in (*cell.may, *grants, *asks) if any(covers_some(b, part) for part in parts)]
    needed = [part for part in parts if not part.optional]
    open_ = [part for part in needed if not any(covers_some(bound, part) for bound in permits)]
    if not cell.access and (open_ or not permits):
        return MatrixCell(DENIED, why=f"no rule of {cell.caller.name} permits it")
    lasting = [bound for bound in permits if bound.until is None]
    free = cell.access or all(any(covers_all(b, part) for b in lasting) for part in parts)
    nots = [bound for bound in cell.nots if touches_some(bound, cell, parts)]
    asking = [bound for bound in cell.asks if touches_some(bound, cell, parts)]
    limiting = [] if free else [bound for bound in permits if bound not in cell.asks]
    floor = _tiers(cell, parts)[0]

    def worded(words: Callable[[Judge], str]) -> tuple[list[str], list[str]]:
        scopes = [_described(bound, words) for bound in limiting]
        scopes = [_as_one(scope) for scope in scopes] if len(limiting) > 1 else scopes
        scopes.extend(f"not {_as_one(words(bound.judge))}" for bound in nots)
        if not free and not limiting and asking and all(bound.judge.brief() for bound in asking):
            scopes.append(NOTHING_ELSE)
        scopes.extend(_record(cell.caller, parts))
        if cell.rulebook.book.tiers[floor].verdict == "deny":
            scopes.append(f"not tier {floor}")
        return _questions(cell, parts, asking, words), scopes

    questions, scopes = worded(Judge.brief)
    places = [bound.rule.at for bound in (*permits, *nots, *asking)]
    if cell.access or cell.tool.confirm:
        places.append(cell.tool.at)
    symbol = ASKED if questions else ALLOWED if free and not scopes else SCOPED
    all_questions, all_scopes = worded(Judge.in_full)
    return MatrixCell(
        symbol,
        scopes=_unique([*questions, *scopes]),
        rules=_unique(places),
        limits=_limits(cell),
        in_full=_unique([*all_questions, *all_scopes]),
    )


def _refused(cell: Cell, parts: list[Part]) -> MatrixCell | None:
    """The cell of calls that are all denied, whatever their arguments."""
    caller, tool = cell.caller, cell.tool
    if not caller.enabled:
        return MatrixCell(DENIED, rules=(caller.at,), why=f"{caller.name} is disabled")
    for bound in cell.nots:
        if touches_all(bound, parts):
            return MatrixCell(DENIED, rules=(bound.rule.at,), why=f"may not: {bound.judge.brief() or tool.name}")
    if cell.reserved is not None:
        return MatrixCell(DENIED, rules=(cell.reserved.at,), why=f"reserved to {cell.reserved.runner}")
    if cell.access is False:
        return MatrixCell(DENIED, rules=(tool.at,), why=f"accessible_by does not name {caller.name}")
    return _bound_by_record(cell, parts)


def _bound_by_record(cell: Cell, parts: list[Part]) -> MatrixCell | None:
    """The record of the caller, or a protected path, leaves nothing that the tool could do."""
    caller = cell.caller
    found = objection(cell, _fixed(parts))
    if found is not None:
        return MatrixCell(DENIED, rules=(found.rule,) if found.rule else (), why=found.reason)
    for part in parts:
        if part.optional:
            continue
        nobody = part.kind == "agent" and not (takers_of(cell.rulebook)[caller.name] or hands_to(caller, caller))
        reach = caller.apis == () and "network" in part.effects
        skill = caller.skills == () and part.kind == "skill"
        locked = caller.locks is not None and not caller.locks.may and _changes(part)
        for holds, why in (
            (nobody, "has nobody to hand work to"),
            (reach, "may reach no api"),
            (skill, "has no skills"),
            (locked, "may write and delete nothing"),
        ):
            if holds:
                return MatrixCell(DENIED, rules=(caller.at,), why=f"{caller.name} {why}")
    tiers = _tiers(cell, parts)
    if all(cell.rulebook.book.tiers[tier].verdict == "deny" for tier in tiers):
        return MatrixCell(DENIED, why=f"calls of tier {tiers[0]} are denied")
    return None


def _fixed(parts: list[Part]) -> list[Unit]:
    """What every call of the tool has, whatever its arguments: its fixed reaches."""
    return [part.fixed for part in parts if part.fixed is not None]


def _tiers(cell: Cell, parts: list[Part]) -> list[int]:
    """The tiers that a call of the tool can have, the lowest first."""
    by_effect, by_label = cell.index.effect_tiers, cell.rulebook.book.label_tiers.values()
    needed = [by_effect[effect] for part in parts if not part.optional for effect in part.effects]
    if any(kind_of(part.kind).graded and not part.optional for part in parts):
        needed.append(min(cell.rulebook.book.grade_tiers.values(), default=0))
    floor = max([preview(cell, _fixed(parts)).tier, *needed])
    if any(part.runs for part in parts):
        return list(range(floor, 5))
    effects = frozenset[str]().union(*(part.effects for part in parts))
    higher = {by_effect[effect] for effect in effects}
    higher.update(label.tier for label in by_label if not effects.isdisjoint(label.effects))
    return [floor, *sorted(tier for tier in higher if tier > floor)]


def _questions(cell: Cell, parts: list[Part], asking: list[Bound], words: Callable[[Judge], str]) -> list[str]:
    """Who is asked and when."""
    texts = []
    for bound in asking:
        scope = _as_one(words(bound.judge))
        texts.append(f"ask {_whom(bound.rule)}{f': {scope}' if scope else ''}")
    if cell.tool.confirm:
        texts.append("ask human: confirmed each time")
    rules = {tier: cell.rulebook.book.tiers[tier] for tier in _tiers(cell, parts)}
    if all(rule.verdict != "allow" for rule in rules.values()):
        tier, rule = next((tier, rule) for tier, rule in rules.items() if rule.verdict == "ask")
        texts.append(f"ask {_whom(rule)}: tier {tier} or higher")
    return texts


def _as_one(scope: str) -> str:
    """A scope of several parts in brackets: in a list of limits nobody can tell else where it ends."""
    return f"({scope})" if "; " in scope else scope


def _whom(rule: Rule | Question) -> str:
    many = f"{rule.approvals} people" if rule.approvals > 1 else rule.ask or "human"
    return f"{many} other than the issuer" if rule.separate else many


def _described(bound: Bound, words: Callable[[Judge], str]) -> str:
    scope = words(bound.judge)
    if bound.until is None:
        return scope or "below the root"
    return f"{scope}{' ' if scope else ''}(granted until {bound.until})"


def _record(caller: Caller, parts: list[Part]) -> list[str]:
    """What the caller's record leaves of the tool."""
    found = []
    runs = any(part.runs for part in parts)
    if caller.locks is not None and (runs or any(_changes(part) and part.fixed is None for part in parts)):
        beside = f" except {', '.join(caller.locks.except_)}" if caller.locks.except_ else ""
        found.append(f"locks {', '.join(caller.locks.may) or 'nothing'}{beside}")
    reaches = any("network" in part.effects and part.fixed is None for part in parts)
    if caller.apis is not None and (runs or (caller.apis and reaches)):
        found.append(f"apis {', '.join(caller.apis) or 'nothing'}")
    if caller.data_tiers is not None and runs:
        found.append(f"data tiers {', '.join(map(str, caller.data_tiers)) or 'none'}")
    if caller.project_code == "deny" and runs:
        found.append("no code of the project")
    if caller.skills and any(part.kind == "skill" for part in parts):
        found.append(f"skills {', '.join(caller.skills)}")
    return found


def _limits(cell: Cell) -> tuple[str, ...]:
    caller = cell.caller
    found = []
    if caller.data_tiers is not None:
        found.append(f"data tiers {', '.join(map(str, caller.data_tiers)) or 'none'}")
    if caller.data_tiers_with_grant:
        found.append(f"with a grant of its task also data tiers {', '.join(map(str, caller.data_tiers_with_grant))}")
    if caller.capsule == "required":
        found.append("needs a capsule above tier 0")
    for gate, before in cell.rulebook.book.gate_terms.items():
        what = [] if before.tier is None else [f"from tier {before.tier}"]
        what += [f"to {', '.join(before.effects)}"] if before.effects else []
        found.append(f"waits for the gate {gate} {' or '.join(what)}")
    if "agent" in cell.tool.kinds:
        callers = cell.rulebook.book.callers
        names = [name for name in caller.delegates_to or () if name not in callers or callers[name].enabled]
        found.append(f"delegates to {', '.join(names) or 'nobody'}")
    return tuple(found)


def _changes(part: Part) -> bool:
    return part.kind == "path" and not part.effects.isdisjoint(CHANGING)


def _unique(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))
