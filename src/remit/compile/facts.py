"""Facts as written by people, with the names in their rules resolved against a rulebook."""

from __future__ import annotations

import msgspec

from remit.compile.names import Names
from remit.compile.people import check_question
from remit.compile.rules import RuleResolver
from remit.declare.facts import facts as shape
from remit.declare.nodes import parse
from remit.forms.nodes import Node
from remit.forms.shapes import Reader
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.policy import Policy, Rule
from remit.model.rulebook import Rulebook


def read_facts(rulebook: Rulebook, text: str, source: str) -> Facts:
    """Facts from YAML or JSON. Raises PolicyError."""
    return facts_from(rulebook, parse(text, source))


def facts_from(rulebook: Rulebook, node: Node) -> Facts:
    """Facts from a node, rules resolved. Raises PolicyError."""
    reader = Reader()
    found = shape.read(node, reader)
    reader.finish()
    if not isinstance(found, Facts):
        raise RemitError(f"{node.at}: facts can't be read")
    return resolve_facts(rulebook, found)


def resolve_facts(rulebook: Rulebook, facts: Facts) -> Facts:
    """The same facts with toolsets and patterns in their rules expanded. Raises PolicyError."""
    book, reader = rulebook.book, Reader()
    policy = Policy(book.name, tools=book.tools, toolsets=book.toolsets, callers=book.callers)
    resolver = RuleResolver(Names(policy, reader), book.callers, reader, [])

    def rules(found: tuple[Rule, ...], agent: str) -> tuple[Rule, ...]:
        caller = book.callers.get(agent)
        return resolver.resolve(found, caller.tools if caller is not None else {})

    for capsule in facts.capsules.values():
        for rule in capsule.must_ask:
            check_question(rule.at, rule, book.people.values(), reader)
    capsules = {
        name: msgspec.structs.replace(
            capsule,
            may=rules(capsule.may, capsule.agent) if capsule.may is not None else None,
            may_not=rules(capsule.may_not, capsule.agent),
            must_ask=rules(capsule.must_ask, capsule.agent),
            plan=rules(capsule.plan, capsule.agent),
            grants=rules(capsule.grants, capsule.agent),
        )
        for name, capsule in facts.capsules.items()
    }
    grants = tuple(msgspec.structs.replace(g, rules=rules(g.rules, g.agent)) for g in facts.grants)
    reader.finish()
    return msgspec.structs.replace(facts, capsules=capsules, grants=grants)
