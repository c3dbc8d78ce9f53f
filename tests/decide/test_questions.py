"""Steps 7 and 8: tiers, who is asked, which answers count; and observing."""

# A value that is None fails the test.
# mypy: disable-error-code="union-attr"

import msgspec
import pytest

from remit.compile.tasks import task_from
from remit.decide.questions import call_digest
from remit.model import Approval, Call, CallError, Context, Facts, Statement
from tests.decide.kit import NOW, TOOLS, ask, book, facts, may, outcome

ALL = may(*[name for name in TOOLS if name not in ("query", "delegate")], delegates_to=[])

# --- tiers ---


@pytest.mark.parametrize(
    ("tool", "args", "tier"),
    [
        ("think", {}, 0),
        ("read", {"path": "x"}, 0),
        ("index", {"query": "x"}, 0),
        ("fetch", {"url": "https://x.example/"}, 1),
        ("write", {"path": "x"}, 1),
        ("delete", {"path": "x"}, 1),
        ("invoke", {"name": "dig"}, 2),
        ("write", {"path": "package.json"}, 3),
        ("write", {"path": "sub/PyProject.toml"}, 3),
        ("write", {"path": ".github/workflows/ci.yml"}, 3),
        ("write", {"path": "db/migrations/0001.sql"}, 3),
        ("write", {"path": ".env"}, 4),
        ("write", {"path": "keys/id_rsa"}, 4),
        ("write", {"path": "KEYS/ID_RSA"}, 4),
        ("read", {"path": ".env"}, 0),
        ("read", {"path": "package.json"}, 0),
        ("deploy", {}, 4),
        ("run", {"command": "ls"}, 2),
        ("run", {"command": "pip install x"}, 3),
        ("run", {"command": "ls; git push"}, 4),
        ("run", {"command": "touch .env"}, 4),
        ("run", {"command": "some-program"}, 4),
    ],
)
def test_the_tier_of_a_call(tool, args, tier):
    assert ask(ALL, tool, args).tier == tier


def test_a_tool_has_a_floor():
    tools = {"look": {"args": {}, "does": "nothing", "tier": 2}}
    assert ask(book(tools=tools, agents={"a": {"may": ["look"]}}), "look").tier == 2


def test_the_label_production():
    labels = {
        "production": {
            "host": ["*.prod.example", "prod.example"],
            "path": ["live/**"],
            "url": ["https://x.example/live/**"],
        }
    }
    rulebook = book(agents={"a": {"may": ["fetch", "read", "write", "search_web"]}}, labels=labels)
    tiers = [
        ask(rulebook, tool, args).tier
        for tool, args in (
            ("fetch", {"url": "https://a.prod.example/"}),
            ("fetch", {"url": "https://PROD.example/"}),
            ("fetch", {"url": "https://x.example/live/a"}),
            ("fetch", {"url": "https://x.example/a"}),
            ("fetch", {"url": "https://notprod.example/"}),
            ("search_web", {"query": "x"}),
            ("write", {"path": "live/x"}),
            ("read", {"path": "live/x"}),
        )
    ]
    assert tiers == [4, 4, 4, 1, 1, 4, 4, 0]


def test_deleting_outside_the_scope_of_the_task():
    rulebook = may("delete", "write")
    known = facts(rulebook, capsules={"C": {"agent": "a", "scope": ["docs/**"]}, "D": {"agent": "a"}})
    tiers = {
        (tool, path, capsule): ask(rulebook, tool, {"path": path}, facts=known, capsule=capsule).tier
        for tool, path, capsule in (
            ("delete", "docs/x", "C"),
            ("delete", "src/x", "C"),
            ("write", "src/x", "C"),
            ("delete", "src/x", "D"),
            ("delete", "src/x", None),
        )
    }
    assert list(tiers.values()) == [1, 4, 1, 1, 1]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (None, "ask tier-asks"),
        ("allow", "allow"),
        ("deny", "deny tier-denied"),
        ({"ask": "human"}, "ask tier-asks"),
        ({"ask": "a"}, "ask tier-asks"),
    ],
)
def test_what_a_tier_does(rule, expected):
    tiers = {"tiers": {4: rule}} if rule else {}
    assert outcome(book(agents={"a": {"may": ["deploy"]}}, **tiers), "deploy") == expected


# --- of whom ---


def of(rulebook, tool, args=None, **more):
    needs = ask(rulebook, tool, args, **more).needs
    return needs.of if needs else None


def test_a_question_is_of_a_person_unless_it_says_otherwise():
    assert of(may("deploy"), "deploy") == "human"
    assert of(may(must_ask=["think"]), "think") == "human"
    agents = {"a": {"may": [], "must_ask": [{"think": {"ask": "b"}}]}, "b": {"may": []}}
    assert of(book(agents=agents), "think") == "b"


CHAIN = {
    "boss": {"may": [], "delegates_to": ["lead", "a"], "acknowledges": True},
    "lead": {"may": [], "delegates_to": ["a"]},
    "a": {"may": ["write"], "must_ask": [{"think": {"ask": "chain"}}], "acknowledges": True, "delegates_to": ["a"]},
}


@pytest.mark.parametrize(
    ("chain", "expected"),
    [((), "human"), (("lead",), "human"), (("boss",), "boss"), (("boss", "lead"), "boss"), (("boss", "a"), "boss")],
)
def test_the_nearest_who_acknowledges(chain, expected):
    assert of(book(agents=CHAIN), "think", chain=chain) == expected


def test_the_chain_is_asked_only_about_what_was_planned():
    rulebook = book(agents=CHAIN)
    plan = [{"write": {"path": "package.json"}}]
    for gates, wanted, expected in (
        (["plan"], plan, "boss"),
        ([], plan, "human"),
        (["demo"], plan, "human"),
        (["plan"], [{"write": {"path": "src/**"}}], "human"),
        (["plan"], [], "human"),
    ):
        known = facts(rulebook, capsules={"C": {"agent": "a", "gates": gates, "plan": wanted}})
        found = of(rulebook, "write", {"path": "package.json"}, facts=known, chain=("boss",), capsule="C")
        assert found == expected


@pytest.mark.parametrize(
    ("gates", "path", "expected"),
    [
        (["plan"], "package.json", "7 anticipated by plan[1] of C"),
        (["plan"], "setup.py", "7 not-anticipated: no item of the passed plan covers this call"),
        ([], "package.json", "7 not-anticipated: no item of the passed plan covers this call"),
    ],
)
def test_the_trace_says_what_was_anticipated(gates, path, expected):
    rulebook = book(agents=CHAIN)
    plan = [{"write": {"path": "docs/**"}}, {"write": {"path": "package.json"}}]
    made = task_from(rulebook, {"id": "C", "agent": "a", "goal": "g", "plan": plan}).capsule
    known = Facts(now=NOW, capsules={"C": msgspec.structs.replace(made, gates=tuple(gates))})
    decision = ask(rulebook, "write", {"path": path}, facts=known, chain=("boss",), capsule="C")
    marks = [text for text in decision.detail if "anticipated" in text]
    assert marks[0] == expected
    assert len({text.split()[1] for text in marks}) == 1


def test_without_a_plan_nothing_is_said_about_one():
    rulebook = book(agents=CHAIN)
    known = facts(rulebook, capsules={"C": {"agent": "a"}})
    decision = ask(rulebook, "write", {"path": "package.json"}, facts=known, chain=("boss",), capsule="C")
    assert not any("anticipated" in text for text in decision.detail)


# --- answers ---

CONFIRM = {
    **TOOLS,
    "save": {
        "args": {"path": "path", "data": "json"},
        "optional": ["data"],
        "does": {"write": "path"},
        "confirm": True,
    },
}


def answered(rulebook, tool, args=None, *, for_=None, approval=None, now=NOW, statement=None, more=None, **context):
    """The outcome of a call with an approval for it, or for the call `for_`."""
    call = Call("a", tool, args or {}, Context(**context))
    fields = {"id": "A-1", "by": "p", "digest": call_digest(for_ or call, rulebook.hash, Facts()), **(approval or {})}
    known = Facts(now=now, approvals=(Approval(**fields),))
    return outcome(
        rulebook, tool, args, facts=msgspec.structs.replace(known, **(more or {})), statement=statement, **context
    )


SAVER = book(tools=CONFIRM, agents={"a": {"may": ["save", "think", "deploy"]}, "b": {"may": []}})


def test_an_approval_for_exactly_this_call():
    args = {"path": "x"}
    assert outcome(SAVER, "save", args) == "ask confirm-asks"
    assert answered(SAVER, "save", args) == "allow"
    decision = ask(
        SAVER,
        "save",
        args,
        facts=Facts(approvals=(Approval("A-1", call_digest(Call("a", "save", args), SAVER.hash, Facts()), "p"),)),
    )
    assert decision.approval == "A-1"


@pytest.mark.parametrize(
    "other",
    [
        Call("a", "save", {"path": "y"}),
        Call("a", "save", {"path": "x", "data": None}),
        Call("b", "save", {"path": "x"}),
        Call("a", "save", {"path": "x"}, Context(session="s")),
        Call("a", "save", {"path": "x"}, Context(capsule="C")),
        pytest.param(Call("a", "save", {"path": "x"}, Context(cwd="docs"))),
    ],
    ids=["path", "argument", "agent", "session", "capsule", "cwd"],
)
def test_an_approval_for_another_call(other):
    assert answered(SAVER, "save", {"path": "x"}, for_=other) == "ask confirm-asks"


@pytest.mark.parametrize(
    ("one", "two"),
    [(1, "1"), (1, True), (0, False), (None, "null"), ([1], [[1]]), ({"a": 1, "b": 2}, {"a": 2, "b": 1}), (1, 1.5)],
)
def test_approvals_tell_values_apart(one, two):
    other = Call("a", "save", {"path": "x", "data": one})
    assert answered(SAVER, "save", {"path": "x", "data": two}, for_=other) == "ask confirm-asks"


def test_a_number_beyond_all_is_not_nothing():
    from remit.model.wire import decode_call

    with pytest.raises(CallError):
        decode_call(b'{"agent": "a", "tool": "save", "args": {"path": "x", "data": 1e999}}')
    with pytest.raises(ValueError, match="Out of range float"):
        call_digest(Call("a", "save", {"path": "x", "data": float("inf")}), SAVER.hash, Facts())


def test_the_order_of_arguments_does_not_matter():
    one = Call("a", "save", {"data": {"a": 1, "b": 2}, "path": "x"})
    assert answered(SAVER, "save", {"path": "x", "data": {"b": 2, "a": 1}}, for_=one) == "allow"


@pytest.mark.parametrize(
    ("approval", "now", "expected"),
    [
        ({}, None, "allow"),
        ({"expires": "2027-01-01T00:00:00Z"}, NOW, "allow"),
        ({"expires": "2027-01-01T00:00:00Z"}, None, "ask confirm-asks"),
        ({"expires": NOW}, NOW, "ask confirm-asks"),
        ({"answer": "refuse"}, NOW, "deny refused"),
        ({"by": "a"}, NOW, "ask confirm-asks"),
        ({"by": "a", "of": "agent"}, NOW, "ask confirm-asks"),
        ({"by": "b", "of": "agent"}, NOW, "ask confirm-asks"),
        ({"digest": "sha256:0"}, NOW, "ask confirm-asks"),
        ({"digest": ""}, NOW, "ask confirm-asks"),
    ],
)
def test_which_approvals_count(approval, now, expected):
    assert answered(SAVER, "save", {"path": "x"}, approval=approval, now=now) == expected


def test_an_approval_belongs_to_one_policy():
    other = book(tools=CONFIRM, agents={"a": {"may": ["save", "think", "deploy"]}, "b": {"may": ["think"]}})
    args = {"path": "x"}
    digest = call_digest(Call("a", "save", args), other.hash, Facts())
    assert answered(SAVER, "save", args, approval={"digest": digest}) == "ask confirm-asks"


def test_an_agent_answers_what_is_asked_of_it():
    agents = {
        "a": {"may": [], "must_ask": [{"think": {"ask": "b"}}, {"write": {"ask": "leads"}}]},
        "b": {"may": []},
        "c": {"may": [], "roles": ["leads"]},
    }
    rulebook = book(agents=agents, roles={"leads": {}})
    by = {name: {"by": name, "of": "agent"} for name in "abc"}
    assert [answered(rulebook, "think", approval=by[name]) for name in "bca"] == [
        "allow",
        "ask must-ask",
        "ask must-ask",
    ]
    found = [answered(rulebook, "write", {"path": "x"}, approval=by[name]) for name in "bc"]
    assert found == ["ask must-ask", "allow"]
    assert answered(rulebook, "think") == "allow"  # a person answers everything


def test_an_agent_does_not_pass_for_a_person():
    assert answered(may("deploy"), "deploy", approval={"by": "b", "of": "agent"}) == "ask tier-asks"


def test_an_agent_called_human_is_no_person():
    assert answered(may("deploy"), "deploy", approval={"by": "human", "of": "agent"}) == "ask tier-asks"


def test_no_approval_lifts_a_deny():
    rulebook = book(tools=CONFIRM, agents={"a": {"may": ["save"], "may_not": [{"save": {"path": "x"}}]}})
    assert answered(rulebook, "save", {"path": "x"}) == "deny may-not"
    rulebook = book(agents={"a": {"may": ["deploy"]}}, tiers={4: "deny"})
    assert answered(rulebook, "deploy") == "deny tier-denied"


@pytest.mark.parametrize(
    ("gates", "path", "expected"),
    [(["plan"], "docs/x", "allow"), ([], "docs/x", "ask"), (["plan"], "src/x", "ask"), (["plan"], ".env", "ask")],
)
def test_a_plan_answers_up_to_tier_3_what_a_rule_asks(gates, path, expected):
    rulebook = book(tools=CONFIRM, agents={"a": {"may": ["save"], "must_ask": [{"save": {"path": "**"}}]}})
    plan = [{"save": {"path": ["docs/**", ".env"]}}]
    known = facts(rulebook, capsules={"C": {"agent": "a", "plan": plan, "gates": gates}})
    assert outcome(rulebook, "save", {"path": path}, facts=known, capsule="C").split()[0] == expected


@pytest.mark.parametrize(("path", "tier", "expected"), [("package.json", 3, "allow"), (".env", 4, "ask")])
def test_a_plan_answers_no_rule_above_tier_3(path, tier, expected):
    record = {"may": ["write"], "must_ask": [{"write": {"path": "**"}}]}
    rulebook = book(agents={"a": record}, tiers={3: "allow", 4: "allow"})
    known = facts(rulebook, capsules={"C": {"agent": "a", "plan": [{"write": {"path": "**"}}], "gates": ["plan"]}})
    assert ask(rulebook, "write", {"path": path}, facts=known, capsule="C").tier == tier
    assert outcome(rulebook, "write", {"path": path}, facts=known, capsule="C").split()[0] == expected


def test_a_plan_answers_what_a_tier_below_3_asks():
    rulebook = book(agents={"a": {"may": ["write"]}}, tiers={1: {"ask": "human"}})
    known = facts(rulebook, capsules={"C": {"agent": "a", "plan": [{"write": {"path": "docs/**"}}], "gates": ["plan"]}})
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=known, capsule="C") == "allow"
    asked = ask(rulebook, "write", {"path": "src/x"}, facts=known, capsule="C")
    assert asked.code == "tier-asks"
    assert f"7 {asked.reason}" in [line.text for line in asked.trace]


def test_a_plan_never_answers_what_the_tier_asks():
    rulebook = may("write")
    plan = [{"write": {"path": "**"}}]
    known = facts(rulebook, capsules={"C": {"agent": "a", "plan": plan, "gates": ["plan"]}})
    assert outcome(rulebook, "write", {"path": "package.json"}, facts=known, capsule="C") == "ask tier-asks"


# --- statements ---

STATED = book(agents={"a": {"may": ["deploy"]}}, tiers={4: {"ask": "human", "statement": "required"}})
FULL = Statement("i", "b", "c")


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        (None, ("statement",)),
        (Statement(), ("statement",)),
        (Statement("i", "b"), ("statement",)),
        (Statement("i", "b", ""), ("statement",)),
        (FULL, ()),
    ],
)
def test_a_statement_that_is_missing(statement, missing):
    decision = ask(STATED, "deploy", statement=statement)
    assert (decision.code, decision.needs.of, decision.needs.missing) == ("tier-asks", "human", missing)


def test_what_was_approved_needs_no_second_statement():
    """Nobody could be asked without one, so the answer was given with it in sight."""
    assert outcome(STATED, "deploy") == "ask tier-asks"
    assert answered(STATED, "deploy") == "allow"
    assert answered(STATED, "deploy", statement=FULL) == "allow"
    assert answered(STATED, "deploy", approval={"answer": "refuse"}) == "deny refused"
    assert answered(STATED, "deploy", approval={"expires": NOW}) == "ask tier-asks"


def test_the_first_open_question_gives_the_code():
    rulebook = book(
        tools={**CONFIRM, "save": {**CONFIRM["save"], "tier": 4}}, agents={"a": {"may": ["save"], "must_ask": ["save"]}}
    )
    assert outcome(rulebook, "save", {"path": "x"}) == "ask tier-asks"
    rulebook = book(tools=CONFIRM, agents={"a": {"may": ["save"], "must_ask": ["save"]}})
    assert outcome(rulebook, "save", {"path": "x"}) == "ask must-ask"


# --- observing ---

OBSERVE = {"enforce": {"observe": {"until": "2027-01-01"}}}
RUNS_LOCAL = {"may": ["run"], "may_not": [{"effect": "network"}]}


def observed(tool, args=None, *, now=NOW, sections=None, **record):
    rulebook = book(agents={"a": {**OBSERVE, "may": ["read", "deploy"], **record}}, **(sections or {}))
    decision = ask(rulebook, tool, args, facts=Facts(now=now))
    return decision.verdict.word, decision.code, decision.would


@pytest.mark.parametrize(
    ("tool", "args", "record", "expected"),
    [
        ("read", {"path": "x"}, {}, ("allow", "allowed", None)),
        ("read", {"path": "x"}, {"may_not": ["read"]}, ("allow", "may-not", "deny")),
        ("write", {"path": "x"}, {}, ("allow", "not-permitted", "deny")),
        ("deploy", {}, {}, ("allow", "tier-asks", "ask")),
        ("write", {"path": "x"}, {"may": ["write"], "locks": {"may": []}}, ("allow", "locked", "deny")),
        ("write", {"path": ".git/config"}, {"may": ["write"]}, ("deny", "protected", None)),
        ("run", {"command": "ls"}, {"may": ["run"]}, ("allow", "allowed", None)),
        ("run", {"command": "ls"}, {}, ("allow", "not-permitted", "deny")),
        ("run", {"command": "curl https://x.example/"}, RUNS_LOCAL, ("allow", "may-not", "deny")),
        ("run", {"command": "touch .git/config"}, {"may": ["run"]}, ("deny", "protected", None)),
        ("query", {"sql": "SELECT 1"}, {"may": ["query"]}, ("allow", "allowed", None)),
        ("query", {"sql": "SELECT 1"}, {}, ("allow", "not-permitted", "deny")),
        ("read", {"path": "a//b"}, {}, ("allow", "bad-path", "deny")),
        ("read", {"path": "a//.git/x"}, {}, ("deny", "protected", None)),
        ("raed", {}, {}, ("allow", "unknown-tool", "deny")),
        ("raed", {"x": {".git/hooks": 1}}, {}, ("deny", "protected", None)),
        ("raed", {"x": ["y"] * 1001}, {}, ("deny", "unknown-tool", None)),
    ],
)
def test_observing_lifts_what_is_unknown_and_steps_3_to_7_only(tool, args, record, expected):
    assert observed(tool, args, **record) == expected


@pytest.mark.parametrize("now", [None, "2027-01-01T00:00:00Z", "2030-01-01T00:00:00Z"])
def test_observing_ends(now):
    assert observed("write", {"path": "x"}, now=now) == ("deny", "not-permitted", None)


def test_a_halt_is_not_observed():
    rulebook = book(agents={"a": {**OBSERVE, "may": ["think"]}})
    assert outcome(rulebook, "think", facts=Facts(now=NOW, halts=frozenset({"a"}))) == "deny halted"


SECRETS = {"labels": {"data": {2: {"path": ["hr/**"]}, 3: {"path": ["secrets/**"]}}}}


def test_data_tier_3_always_binds():
    assert observed("read", {"path": "hr/x"}, data_tiers=[0], sections=SECRETS) == ("allow", "data-tier", "deny")
    assert observed("read", {"path": "secrets/x"}, data_tiers=[0], sections=SECRETS) == ("deny", "data-tier", None)


@pytest.mark.parametrize("record", [{"may_not": ["read"]}, {"may": []}, {"capsule": "required", "may": []}])
def test_data_tier_3_binds_behind_what_is_observed(record):
    found = observed("read", {"path": "secrets/x"}, data_tiers=[0], sections=SECRETS, **record)
    assert found[0] == "deny"


@pytest.mark.parametrize(
    "value", [(1,), [(1,)], {"b": (1,)}, {"b": [{"c": (1,)}]}, {1: 2}, [{1: 2}], {"b": {1: 2}}, b"x", [b"x"]]
)
def test_what_is_no_json_has_no_digest(value):
    """A tuple would have the digest of a list, and a number as a key that of its text."""
    with pytest.raises(TypeError, match=r"no JSON|not text"):
        call_digest(Call("a", "save", {"data": value}), SAVER.hash, Facts())


@pytest.mark.parametrize("above", [False, True])
def test_a_capsule_asks_too(above):
    """What a task or one above it says must be asked is asked, whatever the policy allows."""
    rulebook = may("write", "read")
    asks = {"must_ask": [{"write": {"path": "docs/**"}}]}
    own = {"agent": "a", "parent": "P", **({} if above else asks)}
    parent = {"agent": "a", **(asks if above else {})}
    known = facts(rulebook, now=NOW, capsules={"C": own, "P": parent})
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=known, capsule="C") == "ask must-ask"
    assert outcome(rulebook, "write", {"path": "src/x"}, facts=known, capsule="C") == "allow"
    assert outcome(rulebook, "read", {"path": "docs/x"}, facts=known, capsule="C") == "allow"
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=known) == "allow"


@pytest.mark.parametrize(("of", "expected"), [("human", "allow"), ("b", "ask must-ask")])
def test_a_plan_answers_no_question_for_an_agent(of, expected):
    rulebook = book(agents={"a": {"may": [], "must_ask": [{"think": {"ask": of}}]}, "b": {"may": []}})
    known = facts(rulebook, capsules={"C": {"agent": "a", "gates": ["plan"], "plan": ["think"]}})
    assert outcome(rulebook, "think", facts=known, capsule="C") == expected


def test_what_a_capsule_must_ask_comes_before_a_target_that_the_text_does_not_tell() -> None:
    rulebook = book(agents={"a": {"may": ["run"]}}, tiers={2: "allow", 3: "allow", 4: "allow"})
    known = facts(rulebook, now=NOW, capsules={"C": {"agent": "a", "must_ask": ["run"]}, "D": {"agent": "a"}})
    asked = [ask(rulebook, "run", {"command": "rm $X"}, facts=known, capsule=name).code for name in ("C", "D")]
    assert asked == ["must-ask", "target-unknown"]
