"""That what a policy says of people can come true: names that exist, and enough people for each question."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator

from remit.compile import defaults
from remit.forms.shapes import Reader
from remit.model.people import APPROVER, OWNER, RESERVED
from remit.model.policy import Caller, Grant, Person, Policy, Question, Rule
from remit.model.text import shown, suggestion


def check_people(policy: Policy, callers: Iterable[Caller], tiers: Container[str], reader: Reader) -> None:
    """Reports people who can't be told from agents, limits that name nothing, and questions nobody could answer.

    `tiers` are the labels that give a tier.
    """
    callers = tuple(callers)
    for person in policy.people.values():
        if person.name in RESERVED or person.name in policy.callers:
            what = "an agent, role or runner" if person.name in policy.callers else "something else"
            reader.fail(person.at, "duplicate-name", f"`{person.name}` names {what} and can't be a person")
        _check_limits(person, policy, callers, tiers, reader)
    for at, question in _questions(policy, callers):
        check_question(at, question, policy.people.values(), reader)
    if not policy.people:
        return
    for grant in policy.grants:
        _check_grant(grant, policy, reader)
    first = next(iter(policy.people.values())).at
    if not any(OWNER & set(person.roles) for person in policy.people.values()):
        reader.fail(first, "no-owner", "nobody has the role owner, so nobody could activate another policy")
    if policy.unsafe_no_credential:
        reader.fail(first, "moot-rule", "people prove who they are, and `unsafe_no_credential` says that nobody does")


def _check_grant(grant: Grant, policy: Policy, reader: Reader) -> None:
    approver = policy.people.get(str(grant.approved_by))
    if approver is None:
        hint = suggestion(str(grant.approved_by), policy.people)
        what = f"approved_by: the policy names no person `{shown(grant.approved_by)}`{hint}"
        reader.fail(grant.at, "unknown-person", what)
    elif APPROVER.isdisjoint(approver.roles):
        reader.fail(grant.at, "unknown-person", f"approved_by: {approver.name} has no role that lets them approve")


def _questions(policy: Policy, callers: tuple[Caller, ...]) -> Iterator[tuple[str, Question | Rule]]:
    for tier, question in defaults.tiers(policy).items():
        yield policy.places.get(f"tiers.{tier}", f"tiers.{tier}"), question
    for caller in callers:
        for rule in caller.rules:
            yield rule.at, rule


def check_question(at: str, question: Question | Rule, people: Collection[Person], reader: Reader) -> None:
    """Reports a question that these people could never answer."""
    if question.approvals == 1 and not question.separate:
        return
    key = "approvals" if question.approvals > 1 else "separate"
    approvers = sum(not APPROVER.isdisjoint(person.roles) for person in people)
    if not people:
        reader.fail(at, "no-people", f"`{key}` is about people, and the policy names none", "name them under `people:`")
    elif question.ask not in (None, "human"):
        reader.fail(at, "misplaced-key", f"`{key}` is about people, and {question.ask} is asked", "ask: human")
    elif question.approvals > approvers:
        what = f"{question.approvals} people have to approve, and {approvers} may approve at all"
        reader.fail(at, "too-few-people", what, "the roles approver and owner let somebody approve")


def _check_limits(
    person: Person, policy: Policy, callers: tuple[Caller, ...], tiers: Container[str], reader: Reader
) -> None:
    labels = {label.name for label in (*defaults.labels(), *policy.labels) if label.name in tiers}
    tools = [*policy.tools.values(), *(tool for caller in callers for tool in caller.tools.values())]
    for one in person.approves:
        for name in one.agents or ():
            if name not in policy.callers:
                hint = suggestion(name, policy.callers)
                reader.fail(person.at, "unknown-agent", f"unknown agent, role or runner `{shown(name)}`{hint}")
        for name in one.labels or ():
            if name not in labels:
                what = f"no label `{shown(name)}` gives anything a tier{suggestion(name, sorted(labels))}"
                reader.fail(person.at, "unknown-label", what)
        for what in one.amount:
            if not any(what.removeprefix(f"{tool.name}.") in tool.args for tool in tools):
                text = f"`{shown(what)}` is not an argument of a tool"
                reader.fail(person.at, "unknown-argument", text, "write tool.argument, such as send_money.amount")
