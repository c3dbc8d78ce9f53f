"""A task in words. INVARIANT: whatever a task says is escaped before it is shown, and nothing is cut silently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from remit.cli.output import paint
from remit.explain.extent import Extent, extents_of, highest, rule_text
from remit.explain.visible import bounded, marked, shown_value
from remit.model.facts import Capsule
from remit.model.policy import Rule
from remit.model.rulebook import Rulebook
from remit.model.task import Task, amount_text, counted_text

MOST_TOOLS = 12
"""Tools of a rule about any tool that are listed one by one."""
_WORDS = {"may": "may only", "may_not": "may not", "must_ask": "must ask before"}


def task_lines(rulebook: Rulebook | None, task: Task) -> Iterator[str]:
    """What the task allows and what binds it, with the blast radius of plan and grants where a rulebook is given."""
    capsule = task.capsule
    yield paint(f"capsule {marked(capsule.id)}", "bold") + f" for {marked(capsule.agent)}"
    yield from _said("goal", task.goal)
    for text in task.constraints:
        yield from _said("constraint, in words", text)
    if capsule.parent is not None:
        yield f"  part of {marked(capsule.parent)}: everything that binds that task binds this one too"
    yield (f"  until {capsule.expires}" if capsule.expires is not None else "  no end: it lasts until somebody ends it")
    for name, rules in (("may", capsule.may), ("may_not", capsule.may_not), ("must_ask", capsule.must_ask)):
        if rules is not None:
            yield from (f"  {_WORDS[name]}: {bounded(rule_text(rule), 2_000)}" for rule in rules)
    if capsule.may == ():
        yield "  may only: nothing"
    if capsule.scope is not None:
        yield f"  is about {bounded(', '.join(capsule.scope) or 'nothing', 2_000)}; deleting elsewhere is tier 4"
    if task.budget.limits:
        yield f"  budget: {bounded(_limits(task.budget.limits), 2_000)}"
    gates = [*task.gates, *(["plan"] if capsule.plan and "plan" not in task.gates else [])]
    if gates:
        yield f"  gates that people pass: {bounded(', '.join(gates), 2_000)}"
    yield from _granted(rulebook, capsule)
    if capsule.plan:
        yield "  plan:"
        yield from rule_lines(rulebook, capsule, capsule.plan, "plan")


def _granted(rulebook: Rulebook | None, capsule: Capsule) -> Iterator[str]:
    if not capsule.grants and not capsule.data_tiers:
        yield "  grants nothing beyond the policy"
        return
    if capsule.grants:
        yield f"  {paint('grants', 'yellow')}, beyond what the policy permits:"
        yield from rule_lines(rulebook, capsule, capsule.grants, "grants")
    if capsule.data_tiers:
        tiers = ", ".join(map(str, capsule.data_tiers))
        yield f"  {paint('grants', 'yellow')} data of tier {tiers}"


def rule_lines(
    rulebook: Rulebook | None, capsule: Capsule, rules: tuple[Rule, ...], what: str, only: tuple[int, ...] | None = None
) -> Iterator[str]:
    """Each rule with its number and how far calls within it could reach."""
    for i, rule in enumerate(rules):
        if only is not None and i not in only:
            continue
        yield f"    {what}[{i}]  {bounded(rule_text(rule), 4_000)}"
        if rulebook is None:
            continue
        found = extents_of(rulebook, capsule.agent, rule, capsule)
        if not found:
            yield "            covers nothing that its tools do"
        yield from (f"            {line}" for line in _extents(rule, found))


def _extents(rule: Rule, found: list[Extent]) -> Iterator[str]:
    if rule.tools is None and len(found) > MOST_TOOLS:
        most = highest(found)
        if most is not None:
            yield f"any of {len(found)} tools, furthest {most.tool}: {extent_line(most)}"
        return
    for extent in found:
        yield f"{extent.tool}: {extent_line(extent)}" if len(found) > 1 else extent_line(extent)


def extent_line(extent: Extent) -> str:
    """`tier 1: writes …; up to tier 3 for what is labelled ci`, `by examples, tier 3: installs dependencies …`."""
    example = f" (`{bounded(extent.example, 80)}`)" if extent.example else ""
    more = extent.most > extent.tier
    how = "by examples, tier" if not extent.bounded else "tier" if more else "up to tier"
    text = f"{paint(f'{how} {extent.tier}', tier_style(extent.tier))}: {bounded(extent.why, 200)}{example}"
    if more:
        text += f"; {paint(f'up to tier {extent.most}', tier_style(extent.most))} for {bounded(extent.most_why, 200)}"
    return text + (f"; data tier {extent.data_tier}: {bounded(extent.data_why, 160)}" if extent.data_tier else "")


def tier_style(tier: int) -> str:
    """How a tier is painted."""
    return "red" if tier >= 4 else "yellow" if tier == 3 else "dim"


def task_json(rulebook: Rulebook | None, task: Task) -> dict[str, Any]:
    """The task for programs, with the radius of its plan and grants."""
    data: dict[str, Any] = msgspec.to_builtins(task)
    if rulebook is not None:
        capsule = task.capsule
        data["radius"] = {
            name: [extents_of(rulebook, capsule.agent, rule, capsule) for rule in rules]
            for name, rules in (("plan", capsule.plan), ("grants", capsule.grants))
        }
    return data


def _limits(limits: dict[str, int]) -> str:
    return ", ".join(f"{amount_text(what, most)} {counted_text(what)}" for what, most in limits.items())


def _said(name: str, text: str) -> Iterator[str]:
    if "\n" in text or len(text) > 300:
        yield from (f"  {line}" for line in shown_value(name, text, full=True))
    elif text:
        yield f"  {name}: {marked(text)}"
