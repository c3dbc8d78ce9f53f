"""`each:` looks at the fields of one element of a list together."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.compile.tasks import task_from
from remit.decide import decide
from remit.explain.matrix import cell_for
from remit.model.call import Call
from remit.model.errors import PolicyError
from remit.model.facts import Facts

IBAN = "DE89370400440532013000"
TOOLS = {
    "pay": {
        "args": {"p[].to": "account", "p[].amount": "number", "p[].note": "text", "p[].copy": "email", "why": "text"},
        "optional": ["p[].note", "p[].copy", "why"],
        "does": {"pay": ["p[].to", "p[].amount"], "message": "p[].copy"},
        "tier": 1,
    }
}
CLERK = {"p[]": {"each": [{"to": {"account": IBAN}, "amount": {"max": 5000}}, {"to": {"account": "C-1"}, "amount": 5}]}}


def book(verb: str, scope: Any, **more: Any) -> Any:
    rules: dict[str, Any] = {"may": ["pay"], verb: [{"pay": scope}]}
    tiers = dict.fromkeys("1234", "allow")
    return build_rulebook({"remit": 1, "tools": TOOLS, "tiers": tiers, "agents": {"a": rules}, **more})


def code(found: Any, *payments: dict[str, Any]) -> str:
    return decide(found, Call("a", "pay", {"p": list(payments)})).code


def paid(to: str, amount: float, **more: Any) -> dict[str, Any]:
    return {"to": to, "amount": amount, **more}


def may(scope: Any) -> Any:
    return book("may", scope)


def test_each_element_fits_one_of_the_alternatives() -> None:
    found = may({"where": CLERK})
    assert code(found, paid(IBAN, 4000), paid("C-1", 5)) == "allowed"
    assert code(found, paid("DE89 3704 0044 0532 0130 00", 4000)) == "allowed"
    assert code(found, paid(IBAN, 4000), paid("C-1", 6)) == "not-permitted"
    assert code(found, paid("C-1", 4000), paid(IBAN, 5)) == "not-permitted"
    assert code(found) == "not-permitted"


def test_fields_that_only_one_alternative_names_are_not_limited() -> None:
    """`copy` sends a message: unless every alternative names it, a call that has it is not covered."""
    some = {"p[]": {"each": [{**fields, "copy": {"optional": True}} for fields in CLERK["p[]"]["each"]]}}
    assert code(may({"where": CLERK}), paid(IBAN, 1, copy="a@x.example")) == "not-permitted"
    assert code(may({"where": some}), paid(IBAN, 1, copy="a@x.example")) == "allowed"
    some["p[]"]["each"][0] = CLERK["p[]"]["each"][0]
    assert code(may({"where": some}), paid("C-1", 5, copy="a@x.example")) == "not-permitted"


def test_a_field_is_there_in_the_same_element() -> None:
    found = may({"where": {"p[]": {"each": {"to": {"optional": True}, "amount": {"max": 9}, "note": "x"}}}})
    assert code(found, paid("A", 1, note="x"), paid("B", 1, note="x")) == "allowed"
    assert code(found, paid("A", 1, note="x"), paid("B", 1)) == "not-permitted"


def test_a_prohibition_needs_one_element_that_fits() -> None:
    found = book("may_not", {"where": {"p[]": {"each": {"to": {"account": "X-1"}, "amount": {"min": 10}}}}})
    assert code(found, paid("X-1", 5), paid("Y", 20)) == "allowed"
    assert code(found, paid("X-1", 5), paid("x1", 20)) == "may-not"


def test_an_exception_leaves_alone_only_what_it_names() -> None:
    found = book("may_not", {"except": {"where": {"p[].amount": {"max": 50}}}})
    assert code(found, paid("A", 5)) == "may-not"  # the account is named by nobody
    found = book("may_not", {"except": {"where": {"p[].amount": {"max": 50}, "p[].to": {"optional": True}}}})
    assert code(found, paid("A", 5)) == "allowed"
    assert code(found, paid("A", 500)) == "may-not"
    found = book("may_not", {"except": {"where": CLERK}})
    assert code(found, paid("C-1", 5), paid(IBAN, 50)) == "allowed"
    assert code(found, paid("C-1", 5, copy="a@x.example")) == "may-not"
    assert code(found, paid("C-1", 5), paid("C-1", 50)) == "may-not"


def test_a_default_counts_in_each_element_that_lacks_it() -> None:
    tool = {"args": {"f[].path": "path", "f[].n": "number"}, "optional": ["f[].path"], "does": {"read": "f[].path"}}
    tool["defaults"] = {"f[].path": "secret/x"}
    agents = {"a": {"may": [{"look": {"path": "src/**"}}]}}
    found = build_rulebook({"remit": 1, "tools": {"look": tool}, "agents": agents})
    calls: list[list[dict[str, Any]]] = [[{"path": "src/a", "n": 1}], [{"path": "src/a", "n": 1}, {"n": 2}]]
    codes = [decide(found, Call("a", "look", {"f": one})).code for one in calls]
    assert codes == ["allowed", "not-permitted"]


def test_people_read_every_limit() -> None:
    found = may({"where": CLERK})
    limit = f"each p[] with amount at most 5000 and to account {IBAN}, or amount 5 and to account C-1"
    assert limit in str(cell_for(found, "a", "pay"))
    reason = decide(found, Call("a", "pay", {"p": [paid("C-1", 6)]})).reason
    assert "each p[] must have amount at most 5000" in reason


@pytest.mark.parametrize(
    ("where", "wrong"),
    [
        ({"p": {"each": {"amount": 1}}}, "write `p[]`"),
        ({"p[]": {"each": {}}}, "conditions on fields"),
        ({"p[]": {"each": []}}, "empty list"),
        ({"p[]": {"each": {"amount": 1}, "max": 2}}, "beside `each`"),
        ({"p[]": {"each": {"amont": 1}}}, "p[].amont"),
        ({"p[]": {"each": {"to": {"min": 1}}}}, "`account:`"),
        ({"why": {"each": {"x": 1}}}, "names no list"),
        ({"p[]": {"each": {"amount": {"each": {"x": 1}}}}}, "unknown key `each`"),
    ],
)
@pytest.mark.parametrize("within", [lambda where: {"where": where}, lambda where: {"except": {"where": where}}])
def test_what_does_not_load(where: Any, wrong: str, within: Any) -> None:
    with pytest.raises(PolicyError) as error:
        book("may_not", within(where))
    assert any(wrong in f"{one.message} {one.help}" for one in error.value.problems), error.value.problems


def test_a_task_names_the_lists_of_the_policy() -> None:
    found = book("may", {"where": CLERK}, lists={"payees": ["C-1"]})
    rule = {"pay": {"where": {"p[]": {"each": {"to": {"account": {"list": "payees"}}, "amount": {"optional": True}}}}}}
    task = task_from(found, {"id": "T", "agent": "a", "goal": "pay", "may": [rule]})
    facts = Facts(capsules={"T": task.capsule})
    context = Call("a", "pay", {}).context
    codes = []
    for payment in (paid("C-1", 5), paid(IBAN, 5)):
        call = Call("a", "pay", {"p": [payment]}, type(context)(capsule="T"))
        codes.append(decide(found, call, facts).code)
    assert codes == ["allowed", "capsule-constraint"]
    with pytest.raises(PolicyError, match="no list is named `payes`"):
        task_from(found, {"id": "T", "agent": "a", "goal": "g", "may": [{"pay": {"account": {"list": "payes"}}}]})


def test_a_link_into_an_exception_is_judged_by_its_own_place_too() -> None:
    """`?/**` names the link itself; that it leads into `**/a` does not take it out again."""
    tools = {"save": {"args": {"p": "path"}, "does": {"write": "p"}}}
    rules = {"may": ["save"], "may_not": [{"save": {"path": {"allow": ["?/**"], "except": ["**/a"]}}}]}
    found = build_rulebook({"remit": 1, "tools": tools, "agents": {"a": rules}})
    for leads, wanted in (("/w/a", "may-not"), ("/w/x/a", "may-not")):
        facts = Facts(root="/w", resolved={"x/link": leads})
        assert decide(found, Call("a", "save", {"p": "x/link"}), facts).code == wanted
    facts = Facts(root="/w", resolved={"x/a": "/w/x/a"})
    assert decide(found, Call("a", "save", {"p": "x/a"}), facts).code != "may-not"
