"""Why a call was decided so: the decision with its trace, tier, rule and remedy, as text for the operator."""

from __future__ import annotations

from typing import Any

from remit.decide.preview import cell_of, preview_call, profile_of_call
from remit.explain.profile import in_words
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.model.trace import Covered

MARKS = {"allow": "✅", "ask": "✋", "deny": "❌"}
STEPS: dict[int | None, str] = {
    1: "well formed",
    2: "halted, protected",
    3: "prohibited",
    4: "permitted",
    5: "the chain",
    6: "data",
    7: "questions",
}
_MISSING = {
    "statement": "a statement",
    "task": "a task that a person issued",
    "people": "more people who may approve it",
}
LIMIT = 600
MOST = 5
MANY = 24


def headline(decision: Decision) -> str:
    """`❌ deny: reason (code)`, with what it would be where it is only observed."""
    word = decision.verdict.word
    would = f" (would be {decision.would})" if decision.would else ""
    code = f" ({decision.code})" if decision.code != decision.reason else ""
    return f"{MARKS[word]} {word}{would}: {shown(decision.reason, LIMIT)}{code}"


def remedies(decision: Decision) -> list[str]:
    """What would make the call pass, a line each; empty where nothing is known."""
    found = []
    if decision.needs is not None:
        missing = [_MISSING.get(one, one) for one in decision.needs.missing]
        of, people = shown(decision.needs.of), decision.needs.people or ()
        if people:
            of = f"{decision.needs.approvals} of {', '.join(people)}" if len(people) > 1 else people[0]
        found.append(f"an answer of {of}{''.join(f', and {one}' for one in missing)}")
    if decision.remedy is not None:
        remedy = decision.remedy
        found.append(shown(remedy.text, LIMIT))
        found.extend(shown(text, LIMIT) for text in (remedy.command, remedy.policy) if text)
    return found


def tier_reason(rulebook: Rulebook, call: Call, facts: Facts, tier: int | None = None) -> str:
    """Why the call has its tier, such as `write research/a.yaml`; a decision may have been made before it was known."""
    cell = cell_of(rulebook, call.agent, call.tool)
    if cell is None or not isinstance(call.args, dict):
        return "nothing is known about the call"
    try:
        found = preview_call(cell, call, facts)
    except NotUnderstood:
        return "the tool's floor"
    return found.tier_why if tier in (None, found.tier) else "refused before more was known"


def places(rulebook: Rulebook, call: Call, decision: Decision) -> list[str]:
    """Where to look in the policy: the rule that settled it, or else the rules that come nearest."""
    if decision.rule:
        return [decision.rule]
    cell = cell_of(rulebook, call.agent, call.tool)
    if cell is None:
        return []
    return list(dict.fromkeys(bound.rule.at for bound in (*cell.may, *cell.asks)))[:MOST]


def explanation(rulebook: Rulebook, call: Call, facts: Facts, decision: Decision, quotes: dict[str, list[str]]) -> str:
    """Everything about one decision. `quotes` has lines of the policy by place, as far as they could be read."""
    lines = [headline(decision), "", f"agent     {decision.agent}", f"tool      {decision.tool}"]
    lines.append(f"tier      {decision.tier} ({shown(tier_reason(rulebook, call, facts, decision.tier), 200)})")
    if decision.data_tier:
        lines.append(f"data tier {decision.data_tier}")
    lines.append(f"effects   {', '.join(decision.effects) or 'none'}")
    lines.extend(reach(decision.for_call(call.args)))
    if decision.grade != "understood":
        lines.append(f"grade     {decision.grade}")
    for obligation in decision.obligations:
        value = f" = {shown(obligation.value)}" if obligation.value is not None else ""
        lines.append(f"must      {obligation.do} {shown(obligation.arg)}{value}")
    if any(obligation.do == "confine" for obligation in decision.obligations):
        lines += [
            "confined  to this:",
            *(f"          {line}" for line in in_words(profile_of_call(rulebook, call, facts))),
        ]
    if decision.approval is not None:
        lines.append(f"approval  {shown(decision.approval)}")
    covers = [note.by for note in decision.trace if isinstance(note, Covered)]
    covering = {place for place in quotes if any(by.startswith(f"{place}:") for by in covers)}
    for place, quoted in quotes.items():
        against = any(f" not by {place}:" in line.text for line in decision.trace)
        if place == decision.rule:
            word = "rule      "
        elif place in covering:
            word = "in part by" if against else "covers    "
        elif against:
            word = "not by    "
        else:
            continue  # the call was refused before anybody looked at it
        lines += [f"{word}{place}", *(f"          {line}" for line in quoted)]
    lines += ["", "steps:", *(f"  {line}" for line in trace(decision))]
    found = remedies(decision)
    if found and (decision.would or not decision.allowed):
        lines += ["", "what would make it pass:", *(f"  {line}" for line in found)]
    lines += ["", f"policy    {decision.policy}"]
    return "\n".join(lines) + "\n"


def reach(decision: Decision) -> list[str]:
    """What the call would reach, a line for each target."""
    lines = []
    for target in decision.targets[:MANY]:
        what = f"all of {shown(target.value, 120)}" if target.wide else shown(target.value, 120)
        lines.append(f"          {target.effect} {target.kind} {what}")
    if len(decision.targets) > MANY:
        lines.append(f"          and {len(decision.targets) - MANY} more (--json shows all)")
    return lines


def trace(decision: Decision) -> list[str]:
    """The steps that were taken, in order, each with its name, and the one that settled it."""
    lines = []
    for line in decision.trace:
        step = f"{line.step} "
        named = f"{step}{STEPS[line.step]}: {line.text.removeprefix(step).strip()}" if line.step in STEPS else line.text
        lines.append(shown(named, LIMIT))
    if decision.verdict.word == "allow" and not decision.would:
        lines.append("8 allow")
    elif not any(decision.reason in line for line in lines):
        lines.append(f"→ {decision.verdict.word}: {shown(decision.reason, LIMIT)}")
    return lines


def explained(
    rulebook: Rulebook, call: Call, facts: Facts, decision: Decision, quotes: dict[str, list[str]]
) -> dict[str, Any]:
    """For programs: the decision as everywhere, with the tier's reason and the quoted lines beside it."""
    reason = tier_reason(rulebook, call, facts, decision.tier)
    found = {**decision.for_call(call.args).as_json(call.id), "tier_reason": reason, "quotes": quotes}
    if any(obligation.do == "confine" for obligation in decision.obligations):
        found["profile"] = profile_of_call(rulebook, call, facts)
    return found
