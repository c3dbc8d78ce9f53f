"""Steps 2 to 6: halted, protected, prohibited, permitted, the chain, data. Each returns an objection or None."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from remit.decide.case import Case, Objection
from remit.decide.grid import Bound, Cell, bind, bind_entries
from remit.decide.reasons import because, limited, limited_text, lost, might, permit_remedy, touching, unmet_limits
from remit.model.decision import Obligation, Remedy
from remit.model.policy import Caller, Reserved
from remit.model.terms import MAX_CHAIN, UNDERSTOOD, UNKNOWN
from remit.model.text import shown
from remit.model.trace import Covered
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet
from remit.scopes.interface import Unit, is_for_labels
from remit.scopes.kinds import kind_of
from remit.scopes.path import forms, is_outside, names_base
from remit.scopes.where import same

if TYPE_CHECKING:
    from remit.scopes.judge import Judge
    from remit.scopes.url import UrlSet

CHANGES = frozenset(("write", "delete"))


def halted(case: Case) -> Objection | None:
    """Step 2, first half: the agent, its capsule or the whole system is halted."""
    halts, context = case.facts.halts, case.call.context
    for name in (case.call.agent, *context.chain):
        if name in halts:
            return case.deny("halted", f"{name} is halted until a person resumes it")
    if "system" in halts:
        return case.deny("halted", "all agents are halted until a person resumes them")
    if context.capsule is not None and f"capsule:{context.capsule}" in halts:
        return case.deny("halted", f"the capsule {shown(context.capsule)} is halted until a person resumes it")
    return None


def _builds(unit: Unit) -> bool:
    """It installs what the project declares: that runs scripts that the project has for it."""
    return "install" in unit.effects and kind_of(unit.kind).declared_files(unit) is not None


def prohibited(cell: Cell, case: Case) -> Objection | None:
    """Step 3: a `may_not`, a reserved operation, or a tool that isn't accessible to the caller."""
    context, name = case.call.context, cell.caller.name
    if cell.caller.project_code == "deny":
        code = next((u for u in case.units if u.kind == "shell" and (u.grade != UNDERSTOOD or _builds(u))), None)
        if code is not None:
            case.note(3, f"project_code: deny of {name} ({cell.caller.at_key('project_code')})")
            told = f"{name} may not run code of the project: `{shown(code.text, 60)}`"
            reason = lost(name, code) if code.grade == UNKNOWN else told
            return case.deny(
                "project-code", reason, rule=cell.caller.at_key("project_code"), unsure=code.grade == UNKNOWN
            )
    for bound in cell.nots:
        unit = case.met_by(bound.judge)
        if unit is not None:
            unsure = bound.judge.touches(context, case.values, sure_units(case)) is None
            if unsure and holds(case, bound.judge):
                case.note(3, f"enforced by the kernel: {bound.line}")
                continue
            scope = bound.judge.brief()
            what = f" ({scope})" if scope else ""
            case.note(3, f"prohibited by {bound.line}")
            reason = f"{name} may not use {cell.tool.name}{what}{touching(unit, unsure=unsure)}"
            return case.deny("may-not", reason, rule=bound.rule.at, unsure=unsure)
    entry, unsure = cell.reserved, False
    if entry is None and cell.reserved_urls:
        urls = [unit for unit in case.units if unit.kind in ("url", "host") and not is_for_labels(unit)]
        entry = next((e for e, patterns in cell.reserved_urls for unit in urls if _meets(patterns, unit)), None)
    if entry is None:
        entry, unsure = _reserved_command(cell, case)
        if unsure and not cell.reserved_programs and case.held is not None and case.held.lifts and case.held.network:
            entry = None  # only places are reserved, and no command can reach these
    if entry is not None:
        case.note(3, f"reserved: {entry.at} {entry.name}")
        reason = f"{entry.name} is reserved to {entry.runner}; hand the work to it"
        if unsure:
            reason = f"{entry.name} is reserved to {entry.runner}{might(_first_unknown(case))}"
        return case.deny("reserved", reason, rule=entry.at, unsure=unsure)
    if cell.access is False:
        case.note(3, f"accessible_by of {cell.tool.name} ({cell.tool.at}) does not name {name}")
        remedy = Remedy(f"add {name} to accessible_by of {cell.tool.name}")
        return case.deny(
            "not-accessible",
            f"{cell.tool.name} is not accessible to {name}",
            rule=cell.tool.at,
            remedy=remedy,
        )
    return None


def holds(case: Case, judge: Judge) -> bool:
    """The kernel holds what a prohibition is about: paths alone, URLs alone, or all writing or network use."""
    held = case.held
    if held is None or not held.lifts:
        return False
    effects, parts = judge.effects, judge.parts.keys()
    if parts == {"path"}:
        only_changes = effects is not None and effects <= CHANGES
        path: Any = judge.parts["path"]
        return only_changes or (held.read and not path.scope.outside)
    if parts == {"url"}:
        return held.network
    return not parts and effects is not None and effects <= (CHANGES | {"network"} if held.network else CHANGES)


def is_unsure(unit: Unit) -> bool:
    """What a text might touch, or do: no ground to call it a violation."""
    return bool(unit.untold) or unit.grade == UNKNOWN


def _first_unknown(case: Case) -> Unit | None:
    return next((unit for unit in case.units if unit.grade == UNKNOWN), None)


def sure_units(case: Case) -> list[Unit]:
    """What the call surely touches and does."""
    return [unit for unit in case.units if not is_unsure(unit)]


def _reserved_command(cell: Cell, case: Case) -> tuple[Reserved | None, bool]:
    """A reserved program or module anywhere in a shell text; a command that isn't understood could be any: unsure."""
    shells = [unit for unit in case.units if unit.kind == "shell"]
    for entry in cell.reserved_programs:
        for unit in shells:
            act = unit.value.act
            name = act.program.rpartition("/")[2] if act.program is not None else None
            if name in entry.programs or any(word.text in entry.modules for word in act.modules):
                return entry, False
    if _first_unknown(case) is not None:
        return next(iter((*cell.reserved_programs, *(entry for entry, _ in cell.reserved_urls))), None), True
    return None, False


def permitted(cell: Cell, case: Case) -> Objection | None:
    """Step 4: every unit is covered by some `may` or `must_ask`, or by being in `accessible_by`."""
    context = case.call.context
    bounds = [ready(bound, case) for bound in permissions(cell, case)]
    live = [b for b in bounds if b.judge.applies(context, case.values, case.units)]
    live = [b for b in live if b.rule.verb != "must_ask" or b.judge.touches(context, case.values, case.units)]
    live.sort(key=lambda bound: bound.judge.obliges)
    for unit in case.units:
        if unit.derived:
            continue
        for bound in live:
            if bound.judge.covers(unit):
                break
        else:
            bound = None
        if bound is not None:
            case.trace.append(Covered(unit.arg or unit.kind, bound.line, bound.used))
            if case.rule is None:
                case.rule = bound.rule.at
            duty = bound.judge.obligation(unit) if bound.judge.obliges else None
            if duty is not None:
                case.obligations[f"{duty} {unit.arg}"] = Obligation(duty, unit.arg)
            continue
        if cell.access and not is_outside(unit):
            by = f"accessible_by of {cell.tool.name} ({cell.tool.at})"
            case.trace.append(Covered(unit.arg or unit.kind, by))
            case.rule = case.rule or cell.tool.at
            continue
        what = f"{unit.arg or unit.kind} {shown(unit.text)}".rstrip()
        case.note(4, f"{what}: covered by no rule of {cell.caller.name}")
        for other in bounds:
            case.note(4, f"  not by {other.line}{because(other, unit, case)}")
        if is_outside(unit):
            return case.deny("outside-root", f"{shown(unit.text)} lies outside the root")
        unsure = bool(live) and _all_covered(live, sure_units(case))
        unmet = unmet_limits(bounds, unit, case)
        if unmet is not None:
            demand, bound = unmet
            reason = f"{cell.tool.name} is not permitted for {cell.caller.name}: {demand}"
            remedy = Remedy(f"use other arguments, or have a person change the limit at {bound.rule.at}")
            return case.deny("not-permitted", reason, remedy=remedy, unsure=unsure)
        reason = limited_text(cell, bounds, unit) if kind_of(unit.kind).language else limited(cell, bounds)
        return case.deny("not-permitted", reason, remedy=_remedy(live, bounds, cell, case), unsure=unsure)
    return None


def _remedy(live: list[Bound], bounds: list[Bound], cell: Cell, case: Case) -> Remedy:
    """The rule that would permit the call, unless something else in the caller's record would still refuse it."""
    lines = len(case.trace)
    further = limits(cell, case)
    del case.trace[lines:]
    if further is not None and further.code != "not-understood" and not further.unsure:
        return Remedy(f"use other arguments: a rule would not be enough, since {further.reason}")
    return permit_remedy(cell, _uncovered(live, cell, case), bounds, case)


def _uncovered(live: list[Bound], cell: Cell, case: Case) -> list[Unit]:
    """The units that no rule covers."""
    own = [unit for unit in case.units if not unit.derived and not (cell.access and not is_outside(unit))]
    return [unit for unit in own if not any(bound.judge.covers(unit) for bound in live)]


def ready(bound: Bound, case: Case) -> Bound:
    """A rule that can permit, with what the call's task and context tell filled in, and with what the kernel holds."""
    found, held = bound.given(case.call.context, case.values), case.held
    return found.held(read=held.read) if held is not None and held.lifts else found


def permissions(cell: Cell, case: Case) -> list[Bound]:
    """All rules that can permit: the policy's, standing grants in time, and grants from the facts."""
    bounds = cell.may
    tool = cell.tool.name
    for bound in cell.grants:
        if bound.until is not None and is_before(case, bound.until):
            bounds = [*bounds, bound]
    if cell.final:
        return bounds + cell.asks
    names = (cell.caller.name, *cell.caller.roles)
    for grant in case.facts.grants:
        if grant.agent in names and is_before(case, grant.until):
            bounds = bounds + bind(grant.rules, tool, "may", origin="grant", until=grant.until)
    for capsule in case.capsules[:1]:
        if capsule.agent == cell.caller.name:
            bounds = bounds + bind_entries(capsule, "grants", tool, origin=f"capsule {shown(capsule.id)}")
    return bounds + cell.asks


def is_before(case: Case, moment: str) -> bool:
    """The time is known, and before that moment."""
    now = case.facts.now
    return now is not None and now < moment


def chained(case: Case) -> Objection | None:
    """Step 5: every hand-over is allowed, and the call lies within every capsule along the way."""
    context = case.call.context
    if context.chain:
        objection = _hand_overs(case)
        if objection is not None:
            return objection
        for cell in binding_cells(case):
            objection = prohibited(cell, case) or permitted(cell, case) or limits(cell, case)
            if objection is not None:
                case.note(5, f"bound by {cell.caller.name}, who delegates within its chain")
                return objection
    return _capsules(case)


def _hand_overs(case: Case) -> Objection | None:
    book = case.cell.rulebook.book
    chain = case.call.context.chain
    if len(chain) > MAX_CHAIN:
        return case.deny("broken-chain", f"the chain has more than {MAX_CHAIN} hand-overs")
    line = [*chain, case.call.agent]
    for giver, taker in pairwise(line):
        one, two = book.callers.get(giver), book.callers.get(taker)
        if one is None or two is None or not one.enabled or not present(case, one):
            return case.deny("broken-chain", f"{shown(giver)} is not an agent that could hand work on")
        if not hands_to(one, two):
            remedy = Remedy(f"add {taker} to delegates_to of {giver}")
            return case.deny("broken-chain", f"{giver} may not hand work to {taker}", rule=one.at, remedy=remedy)
    case.note(5, "chain " + " → ".join(line))
    return None


def hands_to(giver: Caller, taker: Caller) -> bool:
    """True if the giver's `delegates_to`, or a runner's `called_by`, names the other."""
    names = {taker.name, *taker.roles}
    if giver.delegates_to is not None and not names.isdisjoint(giver.delegates_to):
        return True
    callers = {giver.name, *giver.roles}
    return taker.called_by is not None and not callers.isdisjoint(taker.called_by)


def present(case: Case, caller: Caller) -> bool:
    """False for an agent that a registry outside of the policy doesn't have right now."""
    registry = case.facts.registry
    return registry is None or caller.kind != "agent" or caller.name in registry


def binding_cells(case: Case) -> list[Cell]:
    """The cells of those along the chain who bind the call: the last who delegates within, and all before."""
    return binders(case.cell, case.call.context.chain)


def binders(cell: Cell, chain: Sequence[str]) -> list[Cell]:
    """The same for any call of this cell by this chain. Raises KeyError for a chain with somebody unknown in it."""
    callers = cell.rulebook.book.callers
    last = max((i for i, n in enumerate(chain) if callers[n].delegate_within == "chain"), default=-1)
    rows = [row for name in chain[: last + 1] if (row := cell.grid.row(name)) is not None]
    return [cell.grid.cell(row, cell.tool) for row in rows]


def _capsules(case: Case) -> Objection | None:
    caller, context = case.cell.caller, case.call.context
    if context.capsule is None:
        if caller.capsule == "required" and case.tier > 0:
            remedy = Remedy(f"hand {caller.name} a task", command="remit capsule new FILE")
            return case.deny("capsule-required", f"{caller.name} needs a task capsule for this call", remedy=remedy)
        return _gates(case)
    for capsule in case.capsules:
        if capsule.ended or (capsule.expires is not None and not is_before(case, capsule.expires)):
            remedy = Remedy(f"hand {capsule.agent} a new task", command="remit capsule new FILE")
            return case.deny("capsule-ended", f"the capsule {shown(capsule.id)} has ended", remedy=remedy)
        nots = bind(capsule.may_not, case.cell.tool.name, "may_not")
        nots = [b for b in nots if case.met_by(b.judge) is not None]
        sure = sure_units(case)
        nots = [b for b in nots if b.judge.touches(context, case.values, sure) is not None or not holds(case, b.judge)]
        if nots:
            unsure = all(b.judge.touches(context, case.values, sure) is None for b in nots)
            remedy = Remedy(f"a task without that `may_not`: {shown(capsule.id)} has it")
            reason = f"the capsule {shown(capsule.id)} forbids this call{might(_first_unknown(case)) if unsure else ''}"
            return case.deny("capsule-constraint", reason, remedy=remedy, unsure=unsure)
        if capsule.may is not None and not within(bind(capsule.may, case.cell.tool.name, "may"), case):
            live = _live(bind(capsule.may, case.cell.tool.name, "may"), case)
            unsure = bool(live) and _all_covered(live, sure_units(case))
            remedy = Remedy(f"a task whose `may` covers it: that of {shown(capsule.id)} does not")
            reason = f"the capsule {shown(capsule.id)} does not cover this call"
            return case.deny("capsule-constraint", reason, remedy=remedy, unsure=unsure)
    return _gates(case)


def _gates(case: Case) -> Objection | None:
    """What must wait until a person has passed a gate of its task, or of one above."""
    terms = case.cell.rulebook.book.gate_terms
    if not terms:
        return None
    passed = {gate for capsule in case.capsules for gate in capsule.gates}
    for gate, before in terms.items():
        if gate in passed or not before.concerns(case.tier, case.effects):
            continue
        if not case.capsules:
            remedy = Remedy(
                f"hand {case.call.agent} a task: a person passes the gate in it", command="remit capsule new FILE"
            )
            return case.deny("gate-open", f"this call waits for the gate {gate}, and belongs to no task", remedy=remedy)
        top = case.capsules[-1].id
        remedy = Remedy(f"a person passes the gate {gate}", command=f"remit gate pass {shown(top)} {gate}")
        return case.deny("gate-open", f"nobody has passed the gate {gate} of {shown(top)} yet", remedy=remedy)
    return None


def within(bounds: list[Bound], case: Case) -> bool:
    """Every unit of the call is covered by one of these rules."""
    return _all_covered(_live(bounds, case), case.units)


def _live(bounds: list[Bound], case: Case) -> list[Bound]:
    """Those of the rules that apply to the call."""
    context, values = case.call.context, case.values
    return [ready(b, case) for b in bounds if b.judge.applies(context, values, case.units)]


def _all_covered(bounds: list[Bound], units: Iterable[Unit]) -> bool:
    return all(any(b.judge.covers(unit) for b in bounds) for unit in units if not unit.derived)


def known_capsules(case: Case) -> Objection | None:
    """Looks up the call's capsule and those above it; one that the facts don't know denies."""
    context = case.call.context
    name, seen = context.capsule, set[str]()
    while name is not None:
        capsule = case.facts.capsules.get(name)
        if capsule is None or name in seen:
            return case.deny("unknown-capsule", f"the capsule {shown(name)} is not known")
        if not seen and capsule.agent != case.call.agent:
            return case.deny("unknown-capsule", f"the capsule {shown(name)} was not handed to {case.call.agent}")
        seen.add(name)
        case.capsules.append(capsule)
        name = capsule.parent
    top = case.capsules[-1]
    for key, value in top.parameters.items():
        if all(same(one.parameters.get(key, value), value) for one in case.capsules):
            case.values[f"task:{key}"] = [value]
    return None


def data_binds(cell: Cell, case: Case) -> Objection | None:
    """The objection that data of tier 3 is out of reach, which holds even while only observing."""
    found = _data(cell.caller, case)
    return found if found is not None and found.binding else None


def limits(cell: Cell, case: Case) -> Objection | None:
    """Step 6: data tiers, locks, skills, apis and the agents that may be named."""
    caller = cell.caller
    return _data(caller, case) or _locks(cell, case) or _names(cell, case)


def _data(caller: Caller, case: Case) -> Objection | None:
    tier = case.data_tier
    if caller.data_tiers is None:
        return None
    kept = case.held is not None and case.held.lifts and case.held.data
    tier = case.told_data_tier if kept else case.data_tier
    unknown = _first_unknown(case) if not kept else None
    if unknown is not None:
        return case.deny("not-understood", lost(caller.name, unknown))
    if tier in caller.data_tiers:
        return None
    if tier in (allowed_data_tiers(caller, case) or ()):
        case.note(6, f"data tier {tier} granted by the capsule")
        return None
    remedy = None
    if caller.data_tiers_with_grant is not None and tier in caller.data_tiers_with_grant:
        remedy = Remedy(f"a capsule that grants data tier {tier}")
    because = f": {case.data_why}" if case.data_why else ""
    reason = f"{caller.name} may not touch data of tier {tier}{because}"
    return case.deny(
        "data-tier", reason, rule=caller.at_key("data_tiers"), remedy=remedy, binding=tier == 3, unsure=case.data_unsure
    )


def allowed_data_tiers(caller: Caller, case: Case) -> frozenset[int] | None:
    """The data tiers that it may touch, with those that its task grants; None: any."""
    if caller.data_tiers is None:
        return None
    granted = case.capsules[0].data_tiers if case.capsules else ()
    if not case.facts.store:
        granted = (*granted, *case.call.context.capsule_grants)
    return frozenset(caller.data_tiers) | (frozenset(caller.data_tiers_with_grant or ()) & frozenset(granted))


def _locks(cell: Cell, case: Case) -> Objection | None:
    caller, held = cell.caller, case.held
    lifts = held is not None and held.lifts
    if cell.locks is not None and caller.locks is not None:
        may, avoid = cell.locks
        for unit in case.units:
            if unit.grade == UNKNOWN and not (lifts and unit.kind == "shell"):
                return case.deny("not-understood", lost(caller.name, unit))
            if unit.kind != "path" or unit.effects.isdisjoint(("write", "delete")):
                continue
            if unit.untold:
                free = held is not None and held.keeps(unit)
            elif held is not None and held.is_private(unit, case.facts.root):
                free = True
            elif unit.nested and unit.value.rpartition("/")[0] in caller.locks.may:
                free = True  # the policy names the target itself: a file
            elif unit.wide:
                free = may.includes(unit.value) and _spares(avoid, unit, unit.value, held=lifts)
                free = free or names_base(caller.locks.may, unit.value)  # likewise
            elif unit.itself and may.includes(below := Glob.below(unit.value)):
                spared = unit.taken == "new_folder" or _spares(avoid, unit, below, held=lifts)
                free = spared and not _has_name(avoid, unit)
            else:
                free = may.matches(unit.value) and not _has_name(avoid, unit)
            if not free:
                where = ", ".join(caller.locks.may) or "nothing"
                where += f", except {', '.join(caller.locks.except_)}" if caller.locks.except_ else ""
                reason = f"{caller.name} may write and delete only {where}{touching(unit)}"
                return case.deny("locked", reason, rule=caller.at_key("locks"), unsure=bool(unit.untold))
    return None


def _spares(avoid: GlobSet, unit: Unit, value: Glob, *, held: bool) -> bool:
    """Nothing that a lock excepts is among what a pattern stands for. Where writes are held, a folder may have such
    things in it, unless the exception names them: what lies in the folder is not told, and they don't change."""
    glob = value.folded()
    if not avoid.intersects(glob):
        return True
    if not (held and unit.derived and value == Glob.below(value.base)):
        return False
    start = "" if glob.base == "." else f"{glob.base}/"
    return not any(one.includes(glob) or (one.base != "." and one.base.startswith(start)) for one in avoid)


def _has_name(avoid: GlobSet, unit: Unit) -> bool:
    """A lock excepts a path, or all that a folder which is made could ever contain."""
    if any(avoid.matches(form) for form in forms(unit)):
        return True
    return unit.taken == "new_folder" and avoid.includes(Glob.below(unit.value).folded())


def _names(cell: Cell, case: Case) -> Objection | None:
    caller, callers = cell.caller, cell.rulebook.book.callers
    kept = case.held is not None and case.held.lifts and case.held.network
    for unit in case.units:
        if kept and unit.kind == "shell" and not unit.value.act.hosts:
            continue  # each of its URLs is a unit of its own, and the proxy lets it reach no other
        if cell.apis is not None and unit.grade == UNKNOWN:
            return case.deny("not-understood", lost(caller.name, unit))
        if cell.apis is not None and caller.apis is not None and "network" in unit.effects:
            apis = cell.apis
            if is_for_labels(unit) or (unit.kind == "shell" and _only_urls(unit)):
                continue  # each of its URLs is a unit of its own
            inside = unit.kind == "url" and (apis.includes(unit.value) if unit.wide else apis.matches(unit.value))
            if not inside:
                reason = f"{caller.name} may reach only {_list(caller.apis)}"
                return case.deny("api-not-allowed", reason, unsure=is_unsure(unit))
        if unit.kind == "skill" and caller.skills is not None and unit.value not in caller.skills:
            return case.deny("skill-not-allowed", f"{caller.name} may use only the skills {_list(caller.skills)}")
        if unit.kind == "agent":
            other = callers.get(unit.value)
            if other is None or not other.enabled or not present(case, other) or not hands_to(caller, other):
                allowed = _list(caller.delegates_to or ())
                reason = f"{caller.name} may not hand work to {shown(unit.value)}, only to {allowed}"
                return case.deny("delegation-not-allowed", reason, rule=caller.at_key("delegates_to"))
    return None


def _only_urls(unit: Unit) -> bool:
    """The command's network use is all in URLs that the text shows."""
    act = unit.value.act
    return bool(act.urls) and not act.hosts


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "nothing"


def _meets(patterns: UrlSet, unit: Unit) -> bool:
    if unit.kind == "host":
        from remit.scopes.host import bare_host  # here: few arguments are hosts

        return any(pattern.has_host(bare_host(unit.value)) for pattern in patterns)
    return patterns.intersects(unit.value) if unit.wide else patterns.could_match(unit.value)
