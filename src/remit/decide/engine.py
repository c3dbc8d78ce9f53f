"""The decision: eight steps in order; the first deny ends it, an ask is kept, the strictest counts."""

from __future__ import annotations

import msgspec

from remit.decide.case import Case, Objection
from remit.decide.grid import Cell, Grid, Row, grid_of
from remit.decide.intake import BadArguments
from remit.decide.measure import measure
from remit.decide.memo import LATEST, memo_of
from remit.decide.protection import protected
from remit.decide.questions import open_target, questions
from remit.decide.reasons import declare_remedy, name_remedy
from remit.decide.steps import (
    binding_cells,
    chained,
    data_binds,
    halted,
    known_capsules,
    limits,
    permitted,
    prohibited,
)
from remit.decide.view import Seen
from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision, Obligation
from remit.model.errors import NotUnderstood
from remit.model.facts import NO_FACTS, Facts
from remit.model.policy import Enforce
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, ASK, DENY, Verdict
from remit.model.text import shown
from remit.model.trace import Note


def decide(rulebook: Rulebook, call: Call, facts: Facts = NO_FACTS, memo: bool = True) -> Decision:
    """What the rulebook says about the call. Pure: no clock, disk or network. A failure denies; what is no rulebook,
    call or facts at all raises ArgumentError.

    The memo only saves time: without it the decision is the same.
    """
    if memo:
        try:  # most calls share rulebook, context and facts with the call before: this finds what `Memo.find` would
            book, latest = LATEST[0]
            agent = call.agent
            context, seen, bare, row = latest[agent]
            if rulebook is book and context is call.context and call.statement is None:
                tool, args = call.tool, call.args
                if type(agent) is str and type(tool) is str and type(args) is dict:
                    if not args and seen is facts and tool in bare:
                        return bare[tool]
                    answer = row[tool].find(args) if args else row[tool].bare
                    if answer.seen is facts and (not answer.capsules or answer.in_force(facts)):
                        return answer.decision
        except Exception:  # noqa: S110 - not met before, or not well formed, whatever that raised
            pass
    return _decide(rulebook, call, facts, memo)


def _decide(rulebook: Rulebook, call: Call, facts: Facts, memo: bool) -> Decision:
    """The same in a function of its own, so that the commonest calls pay for few variables."""
    for name, value, kind in (("rulebook", rulebook, Rulebook), ("call", call, Call), ("facts", facts, Facts)):
        if not isinstance(value, kind):
            from remit.model.arguments import unfit  # here: hooks decide without it

            raise unfit("decide_call", name, f"a {kind.__name__}" if kind is not Facts else "Facts", value)
    if memo:
        known = memo_of(rulebook)
        found = known.find(call, facts)
        LATEST[0] = (rulebook, known.latest)
        if found is not None:
            return found
    try:
        seen = Seen(call, facts)
        decision = judged(rulebook, call, seen)
        if memo and seen.whole:
            memo_of(rulebook).keep(call, facts, seen.noted, decision)
        return decision
    except Exception as error:  # a rule that can't be evaluated denies what it could have applied to
        reason = f"the call could not be judged ({type(error).__name__})"
        return _refusal(
            rulebook, call, "rule-failed", reason, trace=(Note(None, f"{type(error).__name__}: {shown(error, 200)}"),)
        )


def judged(rulebook: Rulebook, call: Call, seen: Seen) -> Decision:
    """The decision without a memo. Here is who calls what, of step 1; the rest is in `procedure`."""
    wrong = malformed(call)
    if wrong is not None:
        return _refusal(rulebook, call, "malformed-call", wrong)
    grid = grid_of(rulebook)
    row = grid.row(call.agent) if type(call.agent) is str else None
    if row is None:
        return _of_stranger(rulebook, grid, seen)
    caller, registry = row.caller, seen.facts.registry
    if not caller.enabled:
        return _refusal(rulebook, call, "agent-disabled", f"{caller.name} is disabled", rule=caller.at_key("enabled"))
    if registry is not None and caller.kind == "agent" and caller.name not in registry:
        return _refusal(rulebook, call, "agent-disabled", f"{caller.name} is not registered right now")
    tool = row.tool(call.tool) if type(call.tool) is str else None
    if tool is None:
        return _of_unknown_tool(grid, row, seen)
    return procedure(grid.cell(row, tool), seen)


def _of_stranger(rulebook: Rulebook, grid: Grid, seen: Seen) -> Decision:
    """A call of an agent that the policy doesn't know: while observing, as of one without rules."""
    call, reason = seen.call, f"the policy knows no agent `{shown(seen.call.agent)}`"
    if type(call.agent) is not str or type(call.tool) is not str or not _observing(rulebook.book.enforce, seen.facts):
        return _refusal(rulebook, call, "unknown-agent", reason, remedy=name_remedy(call.agent, rulebook.book.callers))
    from remit.decide.observed import stranger  # here: few calls are refused and only observed

    seen.noted.once = True
    row = stranger(grid, call.agent)
    tool = row.tool(call.tool)
    found = _of_unknown_tool(grid, row, seen) if tool is None else procedure(Cell(grid, row, tool), seen)
    if found.verdict is not ALLOW:
        return found
    return msgspec.structs.replace(
        found,
        code="unknown-agent",
        reason=f"observed: {reason}",
        would=DENY.word,
        rule=None,
        needs=None,
        remedy=None,
        trace=(Note(1, reason), *found.trace),
    )


def _of_unknown_tool(grid: Grid, row: Row, seen: Seen) -> Decision:
    call = seen.call
    reason = f"the policy knows no tool `{shown(call.tool)}`"
    remedy = declare_remedy(call.tool, grid.rulebook.book.tools)
    if type(call.tool) is not str or not _observing(row.caller.enforce, seen.facts):
        return _refusal(grid.rulebook, call, "unknown-tool", reason, remedy=remedy)
    from remit.decide.observed import undeclared

    return _unread(
        undeclared(grid, row, call.tool),
        seen,
        "unknown-tool",
        reason,
        remedy=remedy,
    )


def _unread(cell: Cell, seen: Seen, code: str, reason: str, **more: object) -> Decision:
    """A deny of step 1; while observing, an allow that says so, where what can be told of the call does not bind."""
    refused = _refusal(cell.rulebook, seen.call, code, reason, cell=cell, **more)
    if not _observing(cell.caller.enforce, seen.facts):
        return refused
    from remit.decide.observed import TooMuch, what_is_told

    try:
        case = what_is_told(cell, *seen.everything())
    except TooMuch:
        return refused
    case.digest = seen.digest
    objection = halted(case) or protected(case) or _binds_observed(cell, case)
    if objection is not None:
        return case.ended(objection)
    trace = (*refused.trace, Note(1, _observed_until(cell, DENY)))
    return msgspec.structs.replace(refused, verdict=ALLOW, would=DENY.word, reason=f"observed: {reason}", trace=trace)


def _observing(enforce: Enforce | None, facts: Facts) -> bool:
    until = enforce.observe_until if enforce is not None else None
    return until is not None and facts.now is not None and facts.now < until


def _observed_until(cell: Cell, verdict: Verdict) -> str:
    until = cell.caller.enforce.observe_until if cell.caller.enforce is not None else None
    return f"observed only until {until}: would be {verdict.word}"


def _binds_observed(cell: Cell, case: Case) -> Objection | None:
    """What holds even while only observing, besides step 2: data of tier 3, and targets that might be protected."""
    known = all(name in cell.rulebook.book.callers for name in case.call.context.chain)
    binding = binding_cells(case) if known and case.call.context.chain else []
    strict = next((found for one in (cell, *binding) if (found := data_binds(one, case)) is not None), None)
    return strict or open_target(case)


def procedure(cell: Cell, seen: Seen) -> Decision:
    """The steps: the only statement of the rules. INVARIANT: it looks at its cell and at what it sees only."""
    call, facts = seen.call, seen.facts
    try:
        values = seen.values(cell.intake)
        units = cell.intake.units(values, call, facts)
    except (BadArguments, NotUnderstood) as refused:
        return _unread(cell, seen, refused.code, str(refused), rule=cell.tool.at)
    seen.usual()
    case = Case(cell, call, facts, values, units)
    case.digest = seen.digest
    unknown = known_capsules(case) if call.context.capsule is not None else None
    loose = None
    if unknown is None and (cell.confine != "off" or call.context.chain):
        from remit.decide.profile import confined  # here: few callers are confined

        loose = confined(case)
    measure(case)
    objection = halted(case) or protected(case)
    if objection is None:
        objection = prohibited(cell, case) or permitted(cell, case) or unknown or chained(case) or limits(cell, case)
        if objection is None:
            objection = loose or questions(case)
    if objection is None:
        return _allow(case)
    if (
        objection.code not in ("halted", "protected")
        and not objection.binding
        and _observing(cell.caller.enforce, facts)
    ):
        held, case.held = case.held, None  # a hook lets what is only observed run as it would without it: unconfined
        strict = _binds_observed(cell, case)
        case.held = held
        if strict is not None:
            return case.ended(strict, obligations=_obligations(case) if strict.verdict is ASK else ())
        case.note(objection.step, _observed_until(cell, objection.verdict))
        return _allow(case, would=objection)
    return case.ended(objection, obligations=_obligations(case) if objection.verdict is ASK else ())


def _obligations(case: Case) -> tuple[Obligation, ...]:
    """What must be done for an allow to hold, now or once the question is answered."""
    for unit in case.units:
        if unit.real:
            case.obligations[f"path {unit.arg}"] = Obligation("use-resolved-path", unit.arg, unit.real)
    if case.held is not None:
        case.obligations["confine"] = Obligation("confine", case.held.arg, case.held.digest)
    return tuple(case.obligations.values())


def _allow(case: Case, would: Objection | None = None) -> Decision:
    case.note(7, f"tier {case.tier} ({case.tier_why})")
    if case.held is not None:
        case.note(8, "runs confined: see `remit profile`")
    obligations = _obligations(case)
    if would is None:
        return case.decision(ALLOW, "allowed", "allowed", rule=case.rule, obligations=obligations)
    return case.decision(
        ALLOW,
        would.code,
        f"observed: {would.reason}",
        rule=would.rule,
        would=would.verdict.word,
        needs=would.needs,
        remedy=would.remedy,
        obligations=obligations,
    )


def malformed(call: Call) -> str | None:
    """What is wrong with the shape of a call; None if nothing is."""
    if type(call.args) is not dict:
        return "the arguments are not an object"
    for name in call.args:
        if type(name) is not str:
            return "the arguments are not an object"
    if type(call.context) is not Context:
        return "the context is malformed"
    statement = call.statement
    if statement is not None:
        if type(statement) is not Statement:
            return "the statement is malformed"
        if not statement.well_formed:
            return "the statement contains something other than text"
    return None


def _refusal(
    rulebook: Rulebook, call: Call, code: str, reason: str, *, cell: Cell | None = None, **more: object
) -> Decision:
    """A deny of step 1."""
    return Decision(
        verdict=Verdict(DENY),
        agent=shown(call.agent),
        tool=cell.tool.name if cell is not None else shown(call.tool),
        code=code,
        reason=reason,
        tier=cell.tool.tier if cell is not None else 0,
        policy=rulebook.hash,
        trace=more.pop("trace", (Note(1, reason),)),  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )
