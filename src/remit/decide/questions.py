"""Step 7: who must be asked because of the tier and the rules, and which answers are already there."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from remit.decide.case import Case, Objection
from remit.decide.grid import Bound, Cell, bind, bind_entries
from remit.decide.protection import changed_protected, unknown_target
from remit.decide.steps import binding_cells, is_before, within
from remit.model.call import Call
from remit.model.decision import Needs
from remit.model.digest import sha256
from remit.model.facts import Capsule, Facts
from remit.model.terms import ASK, HUMAN
from remit.model.text import shown
from remit.model.trace import Anticipated, NotAnticipated


class AskReason(msgspec.Struct, frozen=True):
    """One question: of whom, why, and what answers it."""

    of: str
    code: str
    reason: str
    rule: str | None = None
    by_tier: bool = False
    by_person: bool = False
    """Only a person's own answer to this call counts: no plan's."""
    statement: bool = False


def questions(case: Case) -> Objection | None:
    """The objection that remains once every answer that is there has been counted."""
    if case.cell.rulebook.book.tiers[case.tier].verdict == "deny":
        return case.deny("tier-denied", f"calls of tier {case.tier} are denied ({case.tier_why})")
    refused, person, agents = _answers(case)
    if refused is not None:
        return refused
    asked = _asked(case)
    if not asked:
        case.approval = None
        return None
    covered = plan_covers(case)
    planned = case.tier <= 3 and covered
    open_asks = [ask for ask in asked if not person and not _answered(ask, agents, planned, case)]
    if not open_asks:
        return None
    # What was answered was shown with its statement: nobody can answer while that is missing.
    missing = any(ask.statement for ask in open_asks) and not case.call.stated
    first = open_asks[0]
    case.note(7, first.reason)
    needs = Needs(first.of, missing=("statement",) if missing else ())
    if plan_of(case) is not None and not covered:
        case.trace.append(NotAnticipated())
    reason = first.reason + ("; say your intent, why, and the consequences" if missing else "")
    binding = any(ask.by_person for ask in open_asks)
    return Objection(ASK, first.code, reason, rule=first.rule, needs=needs, binding=binding)


def open_target(case: Case) -> Objection | None:
    """The question about a target that might be protected, if nobody has answered it: observing does not lift it."""
    ask = _target(case)
    if ask is None:
        return None
    refused, person, _ = _answers(case)
    if refused is not None or person:
        return None
    return Objection(ASK, ask.code, ask.reason, needs=Needs(HUMAN), binding=True)


def _target(case: Case) -> AskReason | None:
    unit = unknown_target(case)
    if unit is None:
        return None
    what = "change" if unit.effects != {"read"} else "read"
    seen = changed_protected(case, unit)
    if seen:
        reason = f"`{shown(unit.text, 60)}` would change {shown(seen)}, which is protected"
    else:
        command = shown(unit.text, 60)
        reason = f"the text doesn't tell which files `{command}` would {what}: something protected could be one"
        if unit.implied and unit.text.split()[:2] == ["git", "pull"]:
            reason += "; `git fetch`, then `git merge`, shows which"
        elif unit.text == "…":  # what xargs is fed
            reason += "; names that end in NUL, as of `find -print0 | xargs -0`, can be told"
    return AskReason(HUMAN, "target-unknown", reason, by_person=True)


def _asked(case: Case) -> list[AskReason]:
    """Every question, the tier's first; those of callers who bind the call through the chain add up."""
    found: list[AskReason] = []
    rule = case.cell.rulebook.book.tiers[case.tier]
    if rule.verdict == "ask":
        of = rule.ask or HUMAN
        if of == "chain":
            of = (acknowledger(case) if not rule.planned or plan_covers(case) else None) or HUMAN
        reason = f"tier {case.tier} asks {of} ({case.tier_why})"
        found.append(AskReason(of, "tier-asks", reason, by_tier=True, statement=rule.statement))
    cells = [case.cell, *(binding_cells(case) if case.call.context.chain else ())]
    for cell in cells:
        found.extend(_must_ask(cell, case))
    for capsule in case.capsules:
        bounds = bind(capsule.must_ask, case.cell.tool.name, "must_ask")
        found.extend(_touched(bounds, case, f"the capsule {shown(capsule.id)}", case.cell.tool.name))
    target = _target(case)
    if target is not None:
        found.append(target)
    if case.cell.tool.confirm:
        tool = case.cell.tool
        found.append(AskReason(HUMAN, "confirm-asks", f"{tool.name} is confirmed by a person each time", tool.at))
    return found


def _must_ask(cell: Cell, case: Case) -> list[AskReason]:
    return _touched(cell.asks, case, cell.caller.name, cell.tool.name)


def _touched(bounds: Iterable[Bound], case: Case, who: str, tool: str) -> list[AskReason]:
    found = []
    for bound in bounds:
        if bound.judge.touches(case.call.context, case.values, case.units) is not None:
            of = bound.rule.ask or HUMAN
            if of == "chain":
                of = acknowledger(case) or HUMAN
            reason = f"{who} must ask {of} before {tool}"
            found.append(AskReason(of, "must-ask", reason, bound.rule.at))
    return found


def acknowledger(case: Case) -> str | None:
    """The nearest agent before the caller, not the caller itself, with `acknowledges: true`."""
    callers = case.cell.rulebook.book.callers
    for name in reversed(case.call.context.chain):
        if name != case.call.agent and name in callers and callers[name].acknowledges:
            return name
    return None


def plan_of(case: Case) -> Capsule | None:
    """The capsule whose plan counts: the call's own, or the nearest above it that has one."""
    return next((capsule for capsule in case.capsules if capsule.plan), None)


def plan_covers(case: Case) -> bool:
    """The capsule with the plan that counts has passed its gate, and the plan anticipates every unit."""
    planned = plan_of(case)
    if planned is None or "plan" not in planned.gates:
        return False
    items = bind_entries(planned, "plan", case.cell.tool.name)
    items = [item.given(case.call.context, case.values) for item in items]
    if not within(items, case):
        return False
    live = [item for item in items if any(item.judge.covers(unit) for unit in case.units)]
    used = tuple(item.used for item in live if item.used is not None)
    case.trace.append(Anticipated(tuple(item.rule.at for item in live), used))
    return True


def _answers(case: Case) -> tuple[Objection | None, bool, set[str]]:
    """Whether a person approved exactly this call, and which agents did; or the objection that somebody refused."""
    if not case.facts.approvals:
        return None, False, set()
    person = False
    names: set[str] = set()
    if case.digest is None:
        raise ValueError("nobody can tell which approvals are of this call")
    digest = case.digest(case.cell.rulebook.hash)
    for approval in case.facts.approvals:
        if approval.digest != digest or approval.by == case.call.agent:
            continue
        if approval.expires is not None and not is_before(case, approval.expires):
            continue
        if approval.answer == "refuse":
            return case.deny("refused", f"{shown(approval.by)} refused this call"), person, names
        case.approval = approval.id
        if approval.of == "human":
            person = True
        else:
            names.add(approval.by)
    return None, person, names


def _answered(ask: AskReason, answers: set[str], planned: bool, case: Case) -> bool:
    callers = case.cell.rulebook.book.callers
    agents = [callers[name] for name in answers if name in callers]
    by_agent = ask.of != HUMAN and any(ask.of == a.name or ask.of in a.roles for a in agents)
    by_plan = planned and ask.of == HUMAN and not ask.by_person and not (ask.by_tier and case.tier == 3)
    return by_agent or by_plan


def _check_json(value: object) -> None:
    """Raises TypeError for what JSON could not tell from something else: a tuple, a key that is no text."""
    if type(value) is dict:
        for key, one in value.items():
            if type(key) is not str:
                raise TypeError("an object has a key that is no text")
            _check_json(one)
    elif type(value) is list:
        for one in value:
            _check_json(one)
    elif value is not None and type(value) not in (str, int, float, bool):
        raise TypeError(f"{type(value).__name__} is no JSON")


def call_digest(call: Call, policy: str, facts: Facts) -> str:
    """What an approval is bound to: the agent, the context with task and session, tool, arguments, paths, policy.

    Raises TypeError for arguments that are not plain JSON: no two calls share a digest.
    """
    import json  # here: few calls have an approval to look for

    resolved = sorted((*facts.resolved.items(), *facts.links.items())) if facts.resolved is not None else None
    context = call.context
    about = [context.mode, context.environment, context.chain, context.data_tier]
    parts = [call.agent, context.capsule, context.session, context.cwd, about, call.tool, call.args, resolved, policy]
    _check_json(call.args)
    text = json.dumps(parts, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
