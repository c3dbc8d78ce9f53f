"""What people read back about random policies: a rule as it is written, a remedy as it is pasted, an explanation.

A remedy that loads and helps, but gives up another limit, is worse than none: it is pasted without a second thought.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import yaml

from remit.decide import decide
from remit.explain.why import explanation, places
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import PolicyError
from remit.model.facts import Facts
from remit.model.policy import Rule
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.model.trace import Covered
from tests.drawn import rulebook_of
from tests.oracle.compare import digest
from tests.oracle.generate import Draw

CALLS = 40
OF_THE_RECORD = ("locked", "data-tier", "api-not-allowed", "skill-not-allowed", "delegation-not-allowed")
"""What no rule can lift: a remedy that runs into one of these is no remedy."""
TRY = "tried"
"""A role that takes one written rule."""


def drawn(seed: int) -> tuple[dict[str, Any], Rulebook, list[tuple[Call, Facts]]] | None:
    """A random policy with calls that come close to its rules; None where the policy has two rules at odds."""
    draw = Draw(seed)
    data = draw.policy()
    try:
        rulebook = rulebook_of(data)
    except PolicyError:
        return None
    return data, rulebook, [draw.call(rulebook, digest) for _ in range(CALLS)]


def with_rule(data: dict[str, Any], remedy: str) -> tuple[dict[str, Any], Any]:
    """The policy with what a remedy says pasted into it, and what was pasted."""
    ((section, callers),) = yaml.safe_load(remedy).items()
    ((name, rules),) = callers.items()
    ((verb, entries),) = rules.items()
    caller = data[section][name]
    had = caller.get(verb) or []
    added = {**caller, verb: [*(had if isinstance(had, list) else [had]), *entries]}
    return {**data, section: {**data[section], name: added}}, entries[0]


def without(data: dict[str, Any], kind: str) -> dict[str, Any]:
    """The policy with no limit of the kind in any rule that permits."""

    def entry(one: Any) -> Any:
        if not isinstance(one, dict):
            return one
        return {
            tool: {key: value for key, value in scope.items() if key != kind} or None
            if isinstance(scope, dict)
            else scope
            for tool, scope in one.items()
        }

    def caller(one: dict[str, Any]) -> dict[str, Any]:
        return {
            key: [*map(entry, value if isinstance(value, list) else [value])] if key in ("may", "must_ask") else value
            for key, value in one.items()
        }

    sections = [name for name in ("agents", "roles", "runners") if name in data]
    return {**data, **{name: {who: caller(one) for who, one in data[name].items()} for name in sections}}


def remedies(seed: int) -> Iterator[tuple[dict[str, Any], Rulebook, list[tuple[Call, Facts]], Call, Facts, Decision]]:
    """Every call of a random policy that is denied with something to paste."""
    found = drawn(seed)
    if found is None:
        return
    data, rulebook, calls = found
    for call, facts in calls:
        decision = decide(rulebook, call, facts)
        if decision.verdict.word == "deny" and decision.remedy is not None and decision.remedy.policy is not None:
            yield data, rulebook, calls, call, facts, decision


def pasted(seed: int) -> int:
    """How many remedies of one policy were pasted: each loads, and what it was about is in the way no longer."""
    count = 0
    for data, _, _, call, facts, decision in remedies(seed):
        assert decision.remedy is not None
        assert decision.remedy.policy is not None
        policy, _ = with_rule(data, decision.remedy.policy)
        after = decide(rulebook_of(policy), call, facts)
        assert (after.verdict.word, after.reason) != ("deny", decision.reason), (seed, call, decision.remedy)
        alone = not call.context.chain  # with others before it, their records bind too
        assert not alone or after.code not in OF_THE_RECORD, (seed, call, decision.remedy, after.reason)
        count += 1
    return count


def _arguments(call: Call) -> set[str]:
    """A malformed call may have none."""
    args: Any = call.args
    return set(args) if isinstance(args, dict) else set()


def spread(call: Call, calls: list[tuple[Call, Facts]]) -> Iterator[Call]:
    """The call with one argument as other calls have it."""
    for other, _ in calls:
        for name in _arguments(call) & _arguments(other):
            yield msgspec.structs.replace(call, args={**call.args, name: other.args[name]})


def widened(seed: int) -> int:
    """How many calls the remedies of one policy newly admit: each passes if the limits of that kind alone go."""
    count = 0
    for data, rulebook, calls, call, facts, decision in remedies(seed):
        assert decision.remedy is not None
        assert decision.remedy.policy is not None
        policy, entry = with_rule(data, decision.remedy.policy)
        if not isinstance(entry, dict) or "may not use" in decision.reason:
            continue  # there was no rule, so no limit
        kind = next(iter(next(iter(entry.values()))))
        try:
            loose = rulebook_of(without(data, kind))
        except PolicyError:
            continue
        if decide(loose, call, facts).code == "not-permitted":
            continue  # the limit is that of a rule for no tool by name
        after = rulebook_of(policy)
        for other in spread(call, calls):
            passes = decide(after, other, facts).verdict.word != "deny"
            if passes and decide(rulebook, other, facts).verdict.word == "deny":
                found = decide(loose, other, facts)  # a path scope also permits what lies outside the root
                assert found.verdict.word != "deny" or found.code == "outside-root", (seed, other, decision.remedy)
                count += 1
    return count


def read_again(seed: int) -> int:
    """How many rules of one policy read the same when they are written as they are said to be."""
    found = drawn(seed)
    if found is None:
        return 0
    data, rulebook, _ = found
    rules = [rule for caller in rulebook.book.callers.values() for rule in caller.rules]
    count = 0
    for rule in rules:
        if rule.tools is None or rule.tools[0] not in rulebook.book.tools:
            continue
        again = _read_in_role(data, rule)
        if again is not None:
            assert again.scope == rule.scope, (seed, rule)
            count += 1
    return count


def _read_in_role(data: dict[str, Any], rule: Rule) -> Rule | None:
    """The rule as a role of its own reads it; None where the tool is not for that role."""
    assert rule.tools is not None
    entry = {rule.tools[0]: rule.scope.written() or None}
    role: dict[str, Any] = {"may": []} | {rule.verb: [entry]}
    unproved = {key: value for key, value in data.items() if key != "never"}
    try:
        rulebook = rulebook_of({**unproved, "roles": {**data.get("roles", {}), TRY: role}})
    except PolicyError as error:
        if {problem.code for problem in error.problems} != {"never-applies"}:
            raise
        return None
    (again,) = rulebook.book.callers[TRY].rules
    return again


def explained(seed: int) -> int:
    """How many explanations were read: they name as in the way no line that they say covers the whole call."""
    found = drawn(seed)
    if found is None:
        return 0
    _, rulebook, calls = found
    for call, facts in calls:
        decision = decide(rulebook, call, facts)
        quotes: dict[str, list[str]] = {place: [] for place in places(rulebook, call, decision)}
        text = explanation(rulebook, call, facts, decision, quotes)
        header, _, steps = text.partition("\nsteps:\n")
        notes = [note for note in decision.trace if isinstance(note, Covered)]
        for place in quotes:
            covering = any(note.by.startswith(f"{place}:") for note in notes)
            against = f" not by {place}:" in steps
            words = [line[:10].strip() for line in header.splitlines() if line[10:] == place]
            assert len(words) == 1 or (not words and not covering and not against), (seed, text)
            said = words[0] if words else "rule"
            if said != "rule":
                assert (said, covering, against) in {
                    ("covers", True, False),
                    ("in part by", True, True),
                    ("not by", False, True),
                }, (seed, text)
        if decision.verdict.word == "allow" and not decision.would:
            assert "→ deny" not in steps, (seed, text)
            assert "\nwhat would make it pass" not in text, (seed, text)
        else:
            assert shown(decision.reason)[:60] in header, (seed, text)
    return len(calls)


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", [0, 40, 80])
def test_a_remedy_of_a_random_policy_loads_and_helps(first: int) -> None:
    assert sum(map(pasted, range(first, first + 40))) > 40


@pytest.mark.sample(1)
def test_a_remedy_of_a_random_policy_gives_up_no_other_limit() -> None:
    assert sum(map(widened, range(40))) > 10


@pytest.mark.sample(1)
def test_a_random_rule_reads_as_it_is_written() -> None:
    assert sum(map(read_again, range(12))) > 40


@pytest.mark.sample(1)
def test_an_explanation_of_a_random_policy_does_not_contradict_itself() -> None:
    assert sum(map(explained, range(40))) > 900


@pytest.mark.long
def test_many_random_policies_are_read_back_well() -> None:
    seeds = range(200, 700)
    assert all(sum(map(check, seeds)) > 300 for check in (pasted, widened, read_again, explained))
