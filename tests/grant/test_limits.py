"""What bounds a task and an agent besides calls: sums, questions of its own, how many questions are open."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.compile.tasks import task_from
from remit.decide import decide
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.model.errors import PolicyError
from remit.model.facts import Facts
from remit.model.task import amount_text
from tests.grant.world import Wall, authority, call, judge, open_world

RULES = build_rulebook(
    {
        "remit": 1,
        "open_questions": 3,
        "tools": {
            "pay": {"args": {"amount": "number", "to": "text"}, "does": "nothing"},
            "pay_all": {"args": {"payments[].amount": "number"}, "does": "nothing"},
            "put": {"args": {"what": "text"}, "does": "nothing", "confirm": True},
        },
        "agents": {"a": {"may": ["pay", "pay_all", "put"]}, "b": {"may": ["put"]}},
    }
)


@pytest.fixture
def one(url: str | None, tmp_path: Path) -> Iterator[Authority]:
    store = open_world(url, tmp_path / "state")
    yield authority(store, tmp_path / "state")
    store.close()


def issue(one: Authority, name: str = "T", agent: str = "a", **more: Any) -> None:
    one.issue(RULES, task_from(RULES, {"id": name, "agent": agent, "goal": "g", **more}))


def code(one: Authority, tool: str, args: dict[str, Any], capsule: str | None = "T") -> str:
    made = call("a", tool, args, capsule)
    decision, facts = judge(one, RULES, made)
    if not decision.allowed:
        return decision.code
    try:
        one.begin(made, decision, RULES, facts)
    except GrantError as error:
        return error.code
    return "ran"


# Sums


def test_a_sum_is_exact(one: Authority) -> None:
    issue(one, budget={"sum": {"pay.amount": 1}})
    for _ in range(10):
        assert code(one, "pay", {"amount": 0.1, "to": "x"}) == "ran"
    assert one.state("T").spent["sum:pay.amount"] == 1_000_000
    assert code(one, "pay", {"amount": 0.0000001, "to": "x"}) == "budget-spent"
    assert code(one, "pay", {"amount": 0, "to": "x"}) == "ran"


@pytest.mark.parametrize("amount", [-1, -0.01, 10**400, 10**13])
def test_what_is_no_amount(one: Authority, amount: float) -> None:
    issue(one, budget={"sum": {"pay.amount": 500}})
    assert code(one, "pay", {"amount": amount, "to": "x"}) in ("bad-amount", "budget-spent", "bad-argument")
    assert "sum:pay.amount" not in one.state("T").spent


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), "x", "1e3", True, None, [1], "-1"])
def test_what_no_decision_would_let_through(one: Authority, amount: Any) -> None:
    """Whatever a point hands over: it is refused here too."""
    issue(one, budget={"sum": {"pay.amount": 500}})
    good = call("a", "pay", {"amount": 1, "to": "x"}, "T")
    decision, facts = judge(one, RULES, good)
    with pytest.raises(GrantError) as caught:
        one.begin(call("a", "pay", {"amount": amount, "to": "x"}, "T"), decision, RULES, facts)
    assert caught.value.code == "bad-amount"


def test_the_elements_of_a_list_add_up(one: Authority) -> None:
    issue(one, budget={"sum": {"pay_all.payments[].amount": 10}})
    assert code(one, "pay_all", {"payments": [{"amount": 4}, {"amount": 5.5}]}) == "ran"
    assert code(one, "pay_all", {"payments": [{"amount": 0.25}, {"amount": 0.5}]}) == "budget-spent"
    assert code(one, "pay_all", {"payments": []}) == "ran"
    assert one.state("T").spent["sum:pay_all.payments[].amount"] == 9_500_000


def test_the_reason_says_what_is_left(one: Authority) -> None:
    issue(one, budget={"sum": {"pay.amount": 12.5}})
    assert code(one, "pay", {"amount": 12, "to": "x"}) == "ran"
    made = call("a", "pay", {"amount": 1, "to": "x"}, "T")
    decision, facts = judge(one, RULES, made)
    with pytest.raises(GrantError, match=r"allows 12\.5 in all in pay\.amount: 0\.5 are left"):
        one.begin(made, decision, RULES, facts)


def test_many_callers_never_overspend(one: Authority) -> None:
    issue(one, budget={"sum": {"pay.amount": 10}})
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(code(one, "pay", {"amount": 0.75, "to": "x"}))) for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["budget-spent"] * 7 + ["ran"] * 13
    assert one.state("T").spent["sum:pay.amount"] == 9_750_000


def test_a_sum_of_nothing_there_is(one: Authority) -> None:
    with pytest.raises(GrantError) as caught:
        issue(one, budget={"sum": {"pay.nothing": 5}})
    assert caught.value.code == "unknown-argument"
    for amount in (0, -1, "x", 1e-7, 10**13):
        with pytest.raises(PolicyError):
            task_from(RULES, {"id": "T", "agent": "a", "goal": "g", "budget": {"sum": {"pay.amount": amount}}})


def test_amounts_as_text() -> None:
    texts = [amount_text("sum:a.b", n) for n in (0, 1, 1_000_000, 12_500_000, -500_000)]
    assert texts == ["0", "0.000001", "1", "12.5", "-0.5"]
    assert amount_text("calls", 12) == "12"


# Sums of a day

DAILY = build_rulebook(
    {
        "remit": 1,
        "tools": {"pay": {"args": {"amount": "number", "to": "text"}, "does": "nothing"}},
        "agents": {"a": {"may": ["pay"], "daily_sum": {"pay.amount": 10}}},
    }
)


def pays(one: Authority, amount: float, capsule: str | None = None) -> str:
    made = call("a", "pay", {"amount": amount, "to": "x"}, capsule)
    decision, facts = judge(one, DAILY, made)
    try:
        one.begin(made, decision, DAILY, facts)
    except GrantError as error:
        return error.code
    return "ran"


def test_an_agent_has_so_much_a_day(url: str | None, tmp_path: Path) -> None:
    store, wall = open_world(url, tmp_path / "state"), Wall()
    try:
        one = authority(store, tmp_path / "state", wall)
        one.issue(DAILY, task_from(DAILY, {"id": "T", "agent": "a", "goal": "g"}))
        assert [pays(one, 6), pays(one, 3, "T"), pays(one, 2), pays(one, 1)] == ["ran", "ran", "budget-spent", "ran"]
        wall.jumps(10 * 24 * 3600)
        assert pays(one, 1) == "budget-spent", "a jump begins no new day"
        wall.jumps(-10 * 24 * 3600)
        assert pays(one, 1) == "clock-in-doubt"
        one.repair_clock(by="ann")
        assert pays(one, 1) == "budget-spent"
        wall.goes_on(24 * 3600)
        assert pays(one, 10) == "ran"
    finally:
        store.close()


def test_many_callers_never_overspend_a_day(one: Authority) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(pays(one, 0.75))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["budget-spent"] * 7 + ["ran"] * 13


def test_a_sum_of_a_day_of_nothing_there_is() -> None:
    policy = {"remit": 1, "agents": {"a": {"may": [], "daily_sum": {"pay.amount": 10}}}}
    with pytest.raises(PolicyError, match="is not an argument of a tool"):
        build_rulebook(policy)


# Questions that a task asks


def test_a_task_asks_about_what_it_says(one: Authority) -> None:
    issue(one, must_ask=[{"pay": {"where": {"to": {"one_of": ["x"]}}}}])
    assert code(one, "pay", {"amount": 1, "to": "y"}) == "ran"
    made = call("a", "pay", {"amount": 1, "to": "x"}, "T")
    decision, facts = judge(one, RULES, made)
    assert (decision.code, decision.reason) == ("must-ask", "the capsule T must ask human before pay")
    name = one.ask(made, decision, RULES, facts, point="test").id
    one.answer(name, "approve", by="ann")
    assert code(one, "pay", {"amount": 1, "to": "x"}) == "ran"


def test_it_binds_what_is_handed_on_and_permits_nothing() -> None:
    task = task_from(RULES, {"id": "T", "agent": "b", "goal": "g", "must_ask": ["pay"]})
    facts = Facts(now="2026-01-01T00:00:00Z", capsules={"T": task.capsule}, store=True)
    decision = decide(RULES, call("b", "pay", {"amount": 1, "to": "x"}, "T"), facts)
    assert decision.code == "not-permitted"


# Open questions


def ask(one: Authority, what: str, agent: str = "a", capsule: str | None = None) -> str:
    made = call(agent, "put", {"what": what}, capsule)
    decision, facts = judge(one, RULES, made)
    return one.ask(made, decision, RULES, facts, point="test").id


def test_so_many_open_questions_and_no_more(one: Authority) -> None:
    names = [ask(one, f"q{n}") for n in range(3)]
    with pytest.raises(GrantError, match="a has 3 open questions already") as caught:
        ask(one, "q3")
    assert caught.value.code == "too-many-questions"
    assert ask(one, "q0") == names[0], "the same question is no new one"
    assert ask(one, "q0", "b"), "another agent has questions of its own"
    one.answer(names[0], "refuse", by="ann")
    assert ask(one, "q3")


def test_a_task_has_so_many_too(one: Authority) -> None:
    issue(one)
    issue(one, "U")
    for n in range(3):
        ask(one, f"q{n}", capsule="T")
    with pytest.raises(GrantError) as caught:
        ask(one, "q", capsule="T")
    assert caught.value.code == "too-many-questions"


def test_twenty_unless_the_policy_says_otherwise() -> None:
    assert build_rulebook({"remit": 1, "agents": {"a": {"may": []}}}).book.open_questions == 20
    assert RULES.book.open_questions == 3


# Tickets


def test_the_wrong_agent_leaves_a_ticket_whole(one: Authority) -> None:
    issue(one)
    ticket = one.ticket("T")
    with pytest.raises(GrantError) as caught:
        one.enter(ticket, "b")
    assert caught.value.code == "not-for-agent"
    assert [state.task.capsule.id for state in one.enter(ticket, "a")] == ["T"]
