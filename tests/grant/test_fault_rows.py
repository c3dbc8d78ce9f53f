"""What goes wrong with clocks, answers and hand-overs: rows of the fault table, named by their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.compile import build_rulebook
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.model.call import Call, Context
from remit.model.facts import Facts
from remit.model.moments import moment
from remit.model.rulebook import Rulebook
from remit.record.reader import entries
from remit.store import Store
from tests.grant.world import POLICY, START, Wall, authority, call, judge, open_world, rules, task

DAY = 24 * 3600


class Team:
    """One store, and processes on it with clocks of their own."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.folder = folder / "state"
        self.store: Store = open_world(url, self.folder)
        self.rules: Rulebook = rules()
        self.wall = Wall()
        self.one: Authority = self.process(self.wall)

    def process(self, wall: Wall) -> Authority:
        return authority(self.store, self.folder, wall)

    def issue(self, name: str, agent: str = "boss", **more: Any) -> None:
        self.one.issue(self.rules, task(self.rules, name, agent, **{"by": "ann", **more}))

    def ask(self, made: Call, rulebook: Rulebook | None = None, base: Facts | None = None) -> str:
        decision, facts = judge(self.one, rulebook or self.rules, made, base)
        assert decision.verdict.word == "ask", decision.reason
        return self.one.ask(made, decision, rulebook or self.rules, facts, point="test").id

    def verdict(self, made: Call, rulebook: Rulebook | None = None, base: Facts | None = None) -> str:
        return judge(self.one, rulebook or self.rules, made, base)[0].verdict.word

    def run(self, made: Call, one: Authority | None = None) -> None:
        """Raises GrantError, and AssertionError if it isn't even allowed."""
        one = one if one is not None else self.one
        decision, facts = judge(one, self.rules, made)
        assert decision.allowed, decision.code
        one.begin(made, decision, self.rules, facts)

    def events(self, kind: str) -> list[dict[str, Any]]:
        with self.store.read() as view:
            said = [msgspec.json.decode(entry.body) for entry in entries(view)]
        return [event for event in said if event["type"] == kind]


@pytest.fixture
def team(url: str | None, tmp_path: Path) -> Iterator[Team]:
    found = Team(url, tmp_path)
    yield found
    found.store.close()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Team]:
    found = Team(None, tmp_path)
    yield found
    found.store.close()


def push(capsule: str | None = None, agent: str = "boss", to: str = "a", **more: Any) -> Call:
    return call(agent, "push", {"to": to}, capsule, **more)


def refused(code: str, does: Callable[[], Any]) -> None:
    with pytest.raises(GrantError) as caught:
        does()
    assert caught.value.code == code


# Row 6: clocks


def test_row_6_what_was_seen_to_expire_stays_so(team: Team):
    team.issue("T", expires=moment(START + 60))
    team.wall.jumps(61)
    assert judge(team.one, team.rules, call("boss", "look", {"path": "a"}, "T"))[0].code == "capsule-ended"
    team.wall.jumps(-DAY)
    for one in (team.one, team.process(team.wall), team.process(Wall(START - DAY))):
        assert judge(one, team.rules, call("boss", "look", {"path": "a"}, "T"))[0].code == "capsule-ended"
        assert one.state("T").ended is not None


def test_row_6_a_clock_that_is_set_back_extends_nothing(local: Team):
    """The steady clock goes on: what was to last an hour lasts an hour."""
    local.issue("T", expires=moment(START + 3600))
    name = local.ask(push("T"))
    local.one.answer(name, "approve", by="ann")
    for _ in range(60):
        local.wall.goes_on(61)
        local.wall.jumps(-300)
    refused("task-changed", lambda: local.one.begin(*_allowed_before(local)))
    assert local.one.asked(name).state == "expired"


def _allowed_before(team: Team) -> tuple[Any, ...]:
    """A decision from before, as a process would have it that waited long."""
    made = call("boss", "look", {"path": "a"}, "T")
    with team.store.read() as view:
        from remit.grant.capsules import above

        facts = Facts(now=moment(START), capsules={"T": above(view, "T")[0].task.capsule}, store=True)
    from remit.decide import decide

    decision = decide(team.rules, made, facts)
    assert decision.allowed
    return made, decision, team.rules, facts


def test_row_6_an_approval_expires_by_the_steady_clock(team: Team):
    name = team.ask(push())
    team.one.answer(name, "approve", by="ann")
    team.wall.jumps(-DAY)
    team.wall.goes_on(3599)
    assert judge(team.one, team.rules, push())[0].code == "clock-in-doubt"
    team.wall.goes_on(2)
    assert team.verdict(push()) == "ask"
    assert team.one.asked(name).state == "expired"


def test_row_6_a_process_that_starts_later_with_an_earlier_clock(team: Team):
    """What the store knows about the time binds it, also where no task is involved: no date counts for it."""
    team.wall.goes_on(DAY)
    team.issue("T")
    late = team.process(Wall(START))
    assert late.facts(None, Facts()).now is None
    assert late.facts("T", Facts()).now is None
    assert late.clock.now() == moment(START + DAY)


def test_row_6_a_standing_grant_does_not_come_back(team: Team):
    until = moment(START + 3600)
    policy = POLICY | {
        "grants": [{"agent": "hand", "may": ["extra"], "until": until, "adr": "ADR-1", "approved_by": "ann"}]
    }
    rulebook = build_rulebook(policy)
    made = call("hand", "extra", {"path": "a"})
    assert team.verdict(made, rulebook) == "allow"
    team.wall.jumps(3601)
    assert team.verdict(made, rulebook) == "deny"
    team.issue("T")  # somebody acts, so that the moment is known to all
    team.wall.jumps(-DAY)
    assert judge(team.process(Wall(START)), rulebook, made)[0].verdict.word == "deny"


def test_row_6_a_clock_far_ahead_ends_and_revives_nothing(team: Team):
    team.issue("T", expires=moment(START + DAY))
    name = team.ask(push("T"))
    team.process(Wall(START + 10 * DAY)).waiting()
    assert team.one.asked(name).state == "expired"
    assert team.verdict(push("T")) == "deny"


# Row 7: answers that cross each other

ACTS: dict[str, Callable[[Team, str], Any]] = {
    "approve": lambda team, name: team.one.answer(name, "approve", by="ann"),
    "refuse": lambda team, name: team.one.answer(name, "refuse", by="bob"),
    "cancel": lambda team, name: team.one.cancel(name, by="boss"),
    "end": lambda team, name: team.one.end("T", by="ann"),
    "expire": lambda team, name: team.wall.goes_on(2 * DAY),
    "run": lambda team, name: team.run(push("T")),
}
ENDS = {"approve": "approved", "refuse": "refused", "cancel": "cancelled", "end": "cancelled", "expire": "expired"}


@pytest.mark.parametrize("second", ACTS)
@pytest.mark.parametrize("first", ENDS)
def test_row_7_one_end_state(local: Team, first: str, second: str):
    local.issue("T")
    name = local.ask(push("T"))
    ACTS[first](local, name)
    try:
        ACTS[second](local, name)
    except (GrantError, AssertionError):
        done = False
    else:
        done = True
    state = local.one.asked(name).state
    if first == "approve":
        assert state == {"run": "used", "approve": "approved"}.get(second, ENDS.get(second))
    else:
        assert state == ENDS[first], "it ended once"
        assert not done or second in ("end", "expire", first)
    ends = [e["what"] for e in local.events("approval") if e["what"] in ("used", "refused", "cancelled", "expired")]
    assert ends == ([state] if state != "approved" else [])


def test_row_7_refusing_beats_approving_until_it_is_used(team: Team):
    """Two people, two asks of one call: one approves, one refuses."""
    made = call("hand", "sign", {"what": "s"})
    first = team.ask(made)
    team.one.answer(first, "approve", by="aide", kind="agent")  # not the one that was asked: it does not count
    second = team.ask(made)
    assert second != first
    decision, facts = judge(team.one, team.rules, made)
    team.one.answer(second, "approve", by="ann")
    decision, facts = judge(team.one, team.rules, made)
    assert decision.allowed
    team.one.answer(second, "refuse", by="bob")
    refused("refused", lambda: team.one.begin(made, decision, team.rules, facts))
    assert judge(team.one, team.rules, made)[0].code == "refused"


def test_row_7_an_answer_withdrawn_between_decision_and_start(team: Team):
    """It rests on the person's answer; the other one, which would not do, is not enough to begin."""
    made = call("hand", "sign", {"what": "s"})
    first = team.ask(made)
    team.one.answer(first, "approve", by="aide", kind="agent")
    second = team.ask(made)
    team.one.answer(second, "approve", by="ann")
    decision, facts = judge(team.one, team.rules, made)
    assert decision.allowed
    team.one.cancel(second, by="hand")
    refused("approval-used", lambda: team.one.begin(made, decision, team.rules, facts))
    assert team.one.asked(first).state == "approved"


def test_row_7_every_answer_to_a_call_is_used_up_with_it(team: Team):
    """Two asks of one call, both approved: it runs once, and neither is left for a second time."""
    made = call("hand", "sign", {"what": "s"})
    first = team.ask(made)
    team.one.answer(first, "approve", by="aide", kind="agent")
    second = team.ask(made)
    team.one.answer(second, "approve", by="ann")
    team.run(made)
    assert [team.one.asked(name).state for name in (first, second)] == ["used", "used"]
    assert team.verdict(made) == "ask"


# Row 8: replays


@pytest.mark.parametrize(
    "other",
    [
        push("U"),
        push(None),
        push("T", to="b"),
        push("T", session="other"),
        push("T", environment="production"),
        push("T", mode="plan"),
        push("T", cwd="src"),
        push("T", data_tier=1),
        push("T", chain=("hand",)),
        push(None, agent="lead"),
        push("L", agent="lead", chain=("boss",)),
    ],
    ids=["task", "no-task", "arguments", "session", "environment", "mode", "cwd", "data", "chain", "agent", "delegate"],
)
def test_row_8_an_approval_is_for_one_call(local: Team, other: Call):
    local.issue("T")
    local.issue("U")
    local.issue("L", "lead", parent="T", by="boss", issuer="agent")
    local.one.answer(local.ask(push("T")), "approve", by="ann")
    assert local.verdict(push("T")) == "allow"
    decision, facts = judge(local.one, local.rules, other)
    assert decision.verdict.word != "allow"
    own, _ = judge(local.one, local.rules, push("T"))
    with pytest.raises(GrantError):
        local.one.begin(other, own, local.rules, facts)
    assert local.verdict(push("T")) == "allow", "and nobody else has used it up"


def test_row_8_an_approval_is_used_once(team: Team):
    team.one.answer(team.ask(push()), "approve", by="ann")
    decision, facts = judge(team.one, team.rules, push())
    team.one.begin(push(), decision, team.rules, facts)
    refused("approval-used", lambda: team.one.begin(push(), decision, team.rules, facts))
    refused("approval-used", lambda: team.process(team.wall).begin(push(), decision, team.rules, facts))
    assert team.verdict(push()) == "ask"


def test_row_8_nothing_after_the_end(team: Team):
    team.issue("T")
    name = team.ask(push("T"))
    team.one.answer(name, "approve", by="ann")
    decision, facts = judge(team.one, team.rules, push("T"))
    ticket = team.one.ticket("T")
    team.one.end("T", by="ann")
    refused("task-changed", lambda: team.one.begin(push("T"), decision, team.rules, facts))
    assert judge(team.one, team.rules, push("T"))[0].code == "capsule-ended"
    refused("approval-closed", lambda: team.one.answer(name, "approve", by="ann"))
    refused("capsule-ended", lambda: team.one.enter(ticket))
    refused("capsule-ended", lambda: team.one.ticket("T"))
    refused("capsule-ended", lambda: team.one.pass_gate("T", "demo", by="ann"))
    refused("capsule-ended", lambda: team.issue("T.1", "lead", parent="T"))
    refused("capsule-exists", lambda: team.issue("T"))
    refused("capsule-ended", lambda: team.one.ask(push("T"), decision, team.rules, facts, point="test"))


def test_row_8_a_ticket_lets_one_in_once(team: Team):
    team.issue("T")
    ticket = team.one.ticket("T")
    assert [state.task.capsule.id for state in team.one.enter(ticket)] == ["T"]
    refused("ticket-used", lambda: team.one.enter(ticket))
    refused("ticket-used", lambda: team.process(Wall()).enter(ticket))
    refused("unknown-ticket", lambda: team.one.enter(ticket + "x"))
    late = team.one.ticket("T")
    team.wall.goes_on(3600)
    refused("ticket-expired", lambda: team.one.enter(late))
    told = [(e["what"], e.get("code")) for e in team.events("capsule")][1:]
    assert told == [
        ("offered", None),
        ("entered", None),
        ("not-entered", "ticket-used"),
        ("not-entered", "ticket-used"),
        ("not-entered", "unknown-ticket"),
        ("offered", None),
        ("offer-expired", None),
        ("not-entered", "ticket-expired"),
    ]


def test_row_8_nobody_answers_for_itself(team: Team):
    name = team.ask(call("lead", "sign", {"what": "s"}))
    refused("self-approval", lambda: team.one.answer(name, "approve", by="lead", kind="agent"))
    team.one.answer(name, "approve", by="lead")  # a person of that name, as it seems: it does not count either
    assert team.verdict(call("lead", "sign", {"what": "s"})) == "ask"


# Rows 9 and 22: what was approved is not what would run


def _changed(key: str, value: Any) -> Rulebook:
    policy = msgspec.json.decode(msgspec.json.encode(POLICY))
    part = policy
    *way, last = key.split(".")
    for step in way:
        part = part[step]
    part[last] = value
    policy["labels"]["data"] = POLICY["labels"]["data"]
    return build_rulebook(policy)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tools.push.optional", ["to"]),
        ("tools.push.does", {"publish": "https://prod.example/**"}),
        ("agents.aide.may", ["look"]),
        ("agents.boss.delegates_to", ["lead"]),
    ],
    ids=["arguments", "effects", "another agent's rule", "its own record"],
)
def test_row_9_and_22_the_policy_or_the_tool_changed(local: Team, key: str, value: Any):
    name = local.ask(push())
    local.one.answer(name, "approve", by="ann")
    assert local.verdict(push()) == "allow"
    changed = _changed(key, value)
    assert changed.hash != local.rules.hash
    assert local.verdict(push(), changed) == "ask"
    before, seen = judge(local.one, local.rules, push())
    refused("approval-used", lambda: local.one.begin(push(), before, changed, seen))


def test_row_9_a_path_leads_elsewhere(local: Team, tmp_path: Path):
    """The text is the same; where it leads is not."""
    from remit.enforce.paths import look_up, open_root

    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "b").mkdir()
    (root / "link").symlink_to("a")
    rulebook = build_rulebook(
        {
            "remit": 1,
            "tools": {"make": {"args": {"path": "path"}, "does": {"write": "path"}}},
            "agents": {"boss": {"may": [], "must_ask": ["make"]}},
        }
    )
    base = open_root(root, root / "remit.yaml", Facts(store=True))[1]
    made = call("boss", "make", {"path": "link/x"})
    name = local.ask(made, rulebook, look_up(rulebook, made, base))
    local.one.answer(name, "approve", by="ann")
    assert local.verdict(made, rulebook, look_up(rulebook, made, base)) == "allow"
    (root / "link").unlink()
    (root / "link").symlink_to("b")
    assert local.verdict(made, rulebook, look_up(rulebook, made, base)) == "ask"


# Row 25: hand-overs


def test_row_25_no_cycle_and_no_depth_without_end(local: Team):
    agents = {f"a{n}": {"may": ["t"], "delegates_to": [f"a{n + 1}", "a0"]} for n in range(20)}
    agents["a20"] = {"may": ["t"]}
    rulebook = build_rulebook({"remit": 1, "tools": {"t": {"does": "nothing"}}, "agents": agents})
    chain: tuple[str, ...] = ()
    for depth in range(20):
        parent: dict[str, Any] = (
            {"parent": f"c{depth - 1}", "by": f"a{depth - 1}", "issuer": "agent"} if depth else {"by": "ann"}
        )
        new = task(rulebook, f"c{depth}", f"a{depth}", **parent)
        if depth > 16:
            refused("chain-too-long", partial(local.one.issue, rulebook, new))
            break
        local.one.issue(rulebook, new)
        made = Call(f"a{depth}", "t", {}, Context(capsule=f"c{depth}", chain=chain))
        decision, facts = judge(local.one, rulebook, made)
        assert decision.allowed, decision.reason
        local.one.begin(made, decision, rulebook, facts)
        chain = (*chain, f"a{depth}")
        if 0 < depth < 16:
            again = task(rulebook, "round", "a0", parent=f"c{depth}", by=f"a{depth}", issuer="agent")
            refused("chain-cycle", partial(local.one.issue, rulebook, again))
    else:
        pytest.fail("the chain never ends")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"grants": ("y",)}, "beyond-parent"),
        ({"data_tiers": [2]}, "beyond-parent"),
        ({"grants": ("x", "y")}, "beyond-parent"),
        ({"agent": "hand", "data_tiers": [1]}, "delegation-not-allowed"),
        ({"by": "lead", "agent": "hand"}, "unknown-capsule"),
        ({"by": "boss", "agent": "boss"}, "chain-cycle"),
        ({"by": "boss", "agent": "boss", "parent": None}, "self-issue"),
        ({"parent": None, "grants": ("x",)}, "beyond-issuer"),
        ({"parent": None, "data_tiers": [1]}, "beyond-issuer"),
        ({"parameters": {"customer": "C-2"}}, "beyond-parent"),
        ({"parameters": {"customer": True}}, "beyond-parent"),
        ({"parameters": {"order": "C-1"}}, "beyond-parent"),
        ({"parent": None, "parameters": {"customer": "C-1"}}, "beyond-issuer"),
        ({"by": "ann", "issuer": "human", "parameters": {"customer": "C-2"}}, "beyond-parent"),
        ({"by": "nobody"}, "unknown-agent"),
        ({"parent": "N"}, "unknown-capsule"),
        ({"agent": "aide", "by": "boss", "data_tiers": [3]}, "beyond-record"),
    ],
)
def test_row_25_nobody_hands_on_more_than_it_has(local: Team, more: dict[str, Any], code: str):
    local.issue("T", grants=("x",), data_tiers=[1, 3], parameters={"customer": "C-1"})
    given = {"agent": "lead", "by": "boss", "issuer": "agent", "parent": "T"} | more
    if given["parent"] is None:
        del given["parent"]
    refused(code, lambda: local.issue("C", **given))
    assert [state.task.capsule.id for state in local.one.states()] == ["T"]


def test_row_25_the_issuing_right_bounds_data(local: Team):
    local.issue("T", data_tiers=[1, 2, 3])
    local.issue("C", "lead", parent="T", by="boss", issuer="agent", data_tiers=[1, 2])
    refused("beyond-issuer", lambda: local.issue("H", "hand", parent="C", by="lead", issuer="agent", data_tiers=[2]))
    refused(
        "may-not-issue",
        lambda: local.issue("A", "hand", parent=_aide(local), by="aide", issuer="agent", data_tiers=[1]),
    )
    local.issue("H", "hand", parent="C", by="lead", issuer="agent", data_tiers=[1])


def _aide(team: Team) -> str:
    team.issue("AIDE", "aide", data_tiers=[1])
    return "AIDE"


def test_row_25_limits_of_those_above_bind(team: Team):
    team.issue("T", may_not=[{"make": {"path": "a"}}], budget={"calls": 2})
    team.issue("C", "lead", parent="T", by="boss", issuer="agent", budget={"calls": 50})
    inner: dict[str, Any] = {"capsule": "C", "chain": ("boss",)}
    assert judge(team.one, team.rules, call("lead", "make", {"path": "a"}, **inner))[0].code == "capsule-constraint"
    team.run(call("lead", "make", {"path": "b"}, **inner))
    team.run(call("boss", "look", {"path": "b"}, "T"))
    refused("budget-spent", lambda: team.run(call("lead", "look", {"path": "b"}, **inner)))
    assert team.one.state("C").spent["calls"] == 1


@pytest.mark.parametrize("chain", [(), ("aide",), ("lead",), ("hand", "boss"), ("boss", "boss")])
def test_row_25_a_forged_chain_does_not_begin(local: Team, chain: tuple[str, ...]):
    local.issue("T")
    local.issue("C", "lead", parent="T", by="boss", issuer="agent")
    made = call("lead", "look", {"path": "a"}, "C", chain=("boss",))
    decision, facts = judge(local.one, local.rules, made)
    forged = call("lead", "look", {"path": "a"}, "C", chain=chain)
    refused("broken-chain", lambda: local.one.begin(forged, decision, local.rules, facts))
    refused("broken-chain", lambda: local.one.ask(forged, decision, local.rules, facts, point="test"))
    local.one.begin(made, decision, local.rules, facts)


def test_row_25_nobody_outlives_the_one_it_works_for(team: Team):
    team.issue("T", expires=moment(START + 60))
    team.issue("C", "lead", parent="T", by="boss", issuer="agent", expires=moment(START + DAY))
    team.issue("D", "hand", parent="C", by="lead", issuer="agent")
    assert team.one.state("D").task.capsule.expires == moment(START + 60)
    made = call("hand", "look", {"path": "a"}, "D", chain=("boss", "lead"))
    team.run(made)
    ticket = team.one.ticket("D")
    team.wall.goes_on(60)
    assert judge(team.one, team.rules, made)[0].code == "capsule-ended"
    assert {state.ended is not None for state in team.one.states(ended=True)} == {True}
    refused("capsule-ended", lambda: team.one.enter(ticket))


def test_what_ends_unanswered_leaves_no_arguments_behind(team: Team):
    """Sealed until the answer is there, or until nobody will answer."""
    team.issue("T")
    by_end, expired, cancelled = team.ask(push("T")), team.ask(push(to="b")), team.ask(push(to="c"))
    team.one.end("T", by="ann")
    team.one.cancel(cancelled, by="boss")
    team.wall.goes_on(2 * DAY)
    assert team.one.waiting() == []
    with team.store.read() as view:
        assert view.rows("SELECT id FROM sealed") == []
    told = {e["approval"]: e["what"] for e in team.events("approval")}
    assert told == {by_end: "cancelled", expired: "expired", cancelled: "cancelled"}
