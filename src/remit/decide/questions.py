"""Step 7: who must be asked because of the tier and the rules, and which answers are already there."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from remit.decide.case import Case, Objection
from remit.decide.grid import Bound, Cell, bind, bind_entries
from remit.decide.protection import changed_protected, unknown_target
from remit.decide.steps import binding_cells, is_before, ready, within
from remit.model.call import Call
from remit.model.decision import Needs
from remit.model.digest import sha256
from remit.model.facts import Capsule, Facts
from remit.model.policy import Question, Rule
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
    approvals: int = 1
    """How many people have to approve."""
    separate: bool = False
    """Those who issued the task can't."""

    @property
    def planned(self) -> bool:
        """Whether a plan can answer it."""
        return self.of == HUMAN and not self.by_person and self.approvals == 1 and not self.separate


def questions(case: Case) -> Objection | None:
    """The objection that remains once every answer that is there has been counted."""
    if case.cell.rulebook.book.tiers[case.tier].verdict == "deny":
        return case.deny("tier-denied", f"calls of tier {case.tier} are denied ({case.tier_why})")
    refused, people, agents = _answers(case)
    if refused is not None:
        return refused
    asked = _asked(case)
    if not asked:
        case.approval = None
        return None
    covered = plan_covers(case)
    planned = case.tier <= 3 and covered
    open_asks = [ask for ask in asked if not _answered(ask, people, agents, planned, case)]
    if not open_asks:
        return None
    first = open_asks[0]
    case.note(7, first.reason)
    needs = _needs(case, open_asks)
    if plan_of(case) is not None and not covered:
        case.trace.append(NotAnticipated())
    reason = "; ".join((first.reason, *(_MISSING[one] for one in needs.missing)))
    binding = any(ask.by_person for ask in open_asks)
    return Objection(ASK, first.code, reason, rule=first.rule, needs=needs, binding=binding)


_MISSING = {
    "statement": "state your intent, the reason, and the consequences",
    "task": "the person who asked for it can't approve it, so it must belong to a task that a person issued",
    "people": "not enough people may approve it",
}


def _needs(case: Case, asks: list[AskReason]) -> Needs:
    """Whose answer the questions wait for, and what is missing before anybody can answer."""
    missing = []
    if any(ask.statement for ask in asks) and not case.call.stated:
        missing.append("statement")  # what was answered was shown with it
    if not case.cell.rulebook.book.people:
        return Needs(asks[0].of, missing=tuple(missing))
    from remit.decide.approvers import approvers  # here: many policies name nobody

    able, separate = set(approvers(case)), any(ask.separate for ask in asks)
    if separate:
        able -= issuers(case)
        if not issuers(case):
            missing.append("task")
    wanted = max(ask.approvals for ask in asks)
    if len(able) < wanted and any(ask.of == HUMAN for ask in asks):
        missing.append("people")
    return Needs(asks[0].of, missing=tuple(missing), approvals=wanted, people=tuple(sorted(able)))


def open_target(case: Case) -> Objection | None:
    """The question about a target that might be protected, if nobody has answered it: observing does not lift it."""
    ask = _target(case)
    if ask is None:
        return None
    refused, people, _ = _answers(case)
    if refused is not None or people:
        return None
    return Objection(ASK, ask.code, ask.reason, needs=_needs(case, [ask]), binding=True)


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
        reason = f"the text doesn't tell which files `{command}` would {what}: something protected could be among them"
        if not unit.literal:  # of `file $x` it isn't even known that it changes any: `$x` could be an option
            reason = f"the text doesn't tell what `{command}` is: the command could {what} something protected"
        if unit.implied and unit.text.split()[:2] == ["git", "pull"]:
            reason += "; `git fetch`, then `git merge`, shows which"
        elif unit.text == "…":  # what xargs is fed
            reason += "; end names in NUL, as in `find -print0 | xargs -0`"
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
        ask = AskReason(of, "tier-asks", reason, by_tier=True, statement=rule.statement)
        found.append(_of_people(ask, rule))
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
        found.append(AskReason(HUMAN, "confirm-asks", f"a person confirms each call of {tool.name}", tool.at))
    return found


def _must_ask(cell: Cell, case: Case) -> list[AskReason]:
    return _touched(cell.asks, case, cell.caller.name, cell.tool.name)


def _touched(bounds: Iterable[Bound], case: Case, who: str, tool: str) -> list[AskReason]:
    found = []
    for bound in bounds:
        if case.met_by(bound.judge) is not None:
            of = bound.rule.ask or HUMAN
            if of == "chain":
                of = acknowledger(case) or HUMAN
            reason = f"{who} must ask {of} before {tool}"
            found.append(_of_people(AskReason(of, "must-ask", reason, bound.rule.at), bound.rule))
    return found


def _of_people(ask: AskReason, said: Question | Rule) -> AskReason:
    """The question, with how many people it needs, as a tier or a rule says."""
    if said.approvals == 1 and not said.separate:
        return ask
    return msgspec.structs.replace(ask, approvals=said.approvals, separate=said.separate)


def issuers(case: Case) -> frozenset[str]:
    """The people who asked for the call: those who issued its task, or a task above that. Empty: nobody can tell."""
    return frozenset(capsule.issued_by for capsule in case.capsules if capsule.issued_by is not None)


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
    items = [ready(item, case) for item in items]
    if not within(items, case):
        return False
    live = [item for item in items if any(item.judge.covers(unit) for unit in case.units)]
    used = tuple(item.used for item in live if item.used is not None)
    case.trace.append(Anticipated(tuple(item.rule.at for item in live), used))
    return True


def _answers(case: Case) -> tuple[Objection | None, set[str], set[str]]:
    """Which people who may approved exactly this call, and which agents did; or the objection that somebody refused.

    Where the policy names nobody, whoever answered is a person.
    """
    people: set[str] = set()
    names: set[str] = set()
    if not case.facts.approvals:
        return None, people, names
    able: set[str] | None = None
    if case.cell.rulebook.book.people:
        from remit.decide.approvers import approvers

        able = set(approvers(case))
    if case.digest is None:
        raise ValueError("it is unclear which approvals belong to this call")
    digest = case.digest(case.cell.rulebook.hash)
    for approval in case.facts.approvals:
        if approval.digest != digest or approval.by == case.call.agent:
            continue
        if approval.expires is not None and not is_before(case, approval.expires):
            continue
        if approval.answer == "refuse":
            return case.deny("refused", f"{shown(approval.by)} refused this call"), people, names
        if approval.of == "human" and able is not None and approval.by not in able:
            continue
        case.approval = approval.id
        (people if approval.of == "human" else names).add(approval.by)
    return None, people, names


def _answered(ask: AskReason, people: set[str], answers: set[str], planned: bool, case: Case) -> bool:
    if ask.separate and people:
        asked = issuers(case)
        people = people - asked if asked else set()
    if len(people) >= ask.approvals:
        return True
    callers = case.cell.rulebook.book.callers
    agents = [callers[name] for name in answers if name in callers]
    by_agent = ask.of != HUMAN and any(ask.of == a.name or ask.of in a.roles for a in agents)
    return by_agent or (planned and ask.planned and not (ask.by_tier and case.tier == 3))


def _check_json(value: object) -> None:
    """Raises TypeError for what JSON could not tell from something else: a tuple, a key that is no text."""
    if type(value) is dict:
        for key, one in value.items():
            if type(key) is not str:
                raise TypeError("an object has a key that is not text")
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
    about: list[object] = [context.mode, context.environment, context.chain, context.data_tier]
    about += [sorted(facts.confined)] if facts.confined else []
    parts = [call.agent, context.capsule, context.session, context.cwd, about, call.tool, call.args, resolved, policy]
    _check_json(call.args)
    text = json.dumps(parts, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return "sha256:" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
