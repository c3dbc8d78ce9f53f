"""Answers are remembered: no decision may depend on the calls before it."""

import gc
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.compile import load_rulebook
from remit.decide import decide, engine, memo
from remit.decide.grid import grid_of
from remit.decide.intake import BY_TYPE, Intake
from remit.decide.memo import Answers, Remembered, Shape, Terms, memo_of
from remit.decide.questions import call_digest
from remit.decide.view import Noted
from remit.declare.cases import read_tests
from remit.model import Call, Context, Facts, Rulebook, Statement
from remit.model.decision import Needs
from remit.model.facts import NO_FACTS, Approval, Capsule
from remit.model.policy import Condition, Grant, Rule, Scope
from remit.model.terms import ALLOW, DENY
from tests.decide.kit import NOW, book, facts, may

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/remit.yaml"))


class Text(str):
    """Equal to a text, and none."""

    __slots__ = ()


class LikeContext(Context, frozen=True):
    """Equal in every field to a context, and none."""


class Args(dict[str, Any]):
    """Equal to arguments, and none."""


def differing(rulebook: Rulebook, calls: list[tuple[Call, Facts]]) -> list[Call]:
    """Calls that are decided otherwise after the ones before them than by themselves."""
    return [
        call for call, known in calls * 3 if decide(rulebook, call, known) != decide(rulebook, call, known, memo=False)
    ]


@pytest.mark.sample(3)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_calls_of_the_examples_in_any_order(path):
    rulebook = load_rulebook(path)
    calls = [
        (test.call, Facts(now=NOW))
        for file in sorted(path.parent.glob("*.test.yaml"))
        for test in read_tests(file.read_text(), file.name).tests
    ]
    for seed in range(2):
        random.Random(seed).shuffle(calls)  # noqa: S311 - the same order on every run
        assert differing(rulebook, calls) == []


@pytest.mark.parametrize("tier", [0, 1, 2])
def test_the_detail_is_about_this_call(tier):
    tools = {"write": {"args": {"path": "path"}, "does": {"write": "path"}, "tier": tier}}
    rulebook = book(tools=tools, agents={"a": {"may": [{"write": {"path": "docs/**"}}]}})
    calls = [(Call("a", "write", {"path": f"docs/{name}"}), Facts()) for name in ("one", "two", "three")]
    assert differing(rulebook, calls) == []


def test_notes_are_those_of_this_decision():
    rulebook = may("think")
    calls = [(Call("a", "think"), Facts(notes=notes)) for notes in ((), ("first",), ("second",), ())]
    assert differing(rulebook, calls) == []


def verdicts(rulebook, *situations) -> list[str]:
    """What one call becomes in one situation after another."""
    calls = [(Call("a", "write", {"path": "docs/x"}, Context(**context)), known) for context, known in situations]
    assert differing(rulebook, calls) == []
    return [decide(rulebook, call, known).code for call, known in calls]


def test_facts_are_looked_at_each_time():
    rulebook = book(agents={"a": {"may": ["write"]}, "b": {"may": [], "delegates_to": ["a"]}})
    none = Facts()
    assert verdicts(
        rulebook,
        ({}, none),
        ({}, Facts(halts=frozenset({"a"}))),
        ({}, none),
        ({}, Facts(registry=frozenset())),
        ({}, none),
        ({"chain": ("b",)}, none),
        ({"chain": ("b",)}, Facts(halts=frozenset({"b"}))),
        ({"chain": ("b",)}, Facts(registry=frozenset({"a"}))),
        ({"chain": ("nobody",)}, none),
        ({"capsule": "C"}, none),
        ({"capsule": "C"}, facts(rulebook, capsules={"C": {"agent": "a"}})),
        ({"capsule": "C"}, facts(rulebook, capsules={"C": {"agent": "a"}}, halts=["capsule:C"])),
        ({"cwd": ".git"}, none),
        ({"cwd": "/etc"}, none),
        ({}, Facts(root="/p", resolved={"docs/x": "/p/.git/x"})),
        ({}, Facts(root="/p", resolved={"docs/x": "/p/docs/x"})),
        ({}, Facts(root="/p", resolved={})),
        ({}, none),
    ) == [
        "allowed",
        "halted",
        "allowed",
        "agent-disabled",
        "allowed",
        "allowed",
        "halted",
        "broken-chain",
        "broken-chain",
        "unknown-capsule",
        "allowed",
        "halted",
        "protected",
        "outside-root",
        "protected",
        "allowed",
        "bad-path",
        "allowed",
    ]


def test_the_context_is_looked_at_each_time():
    rulebook = may({"write": {"when": {"mode": "auto"}}}, data_tiers=[0, 1], data_tiers_with_grant=[2])
    assert verdicts(
        rulebook,
        ({}, Facts()),
        ({"mode": "auto"}, Facts()),
        ({"mode": "interactive"}, Facts()),
        ({"mode": "auto", "data_tier": 1}, Facts()),
        ({"mode": "auto", "data_tier": 2}, Facts()),
        ({"mode": "auto", "data_tier": 2, "capsule_grants": (2,)}, Facts()),
        ({"mode": "auto", "data_tier": 2, "capsule_grants": (2,)}, Facts(store=True)),
        ({"mode": "auto", "data_tier": 2}, Facts()),
        ({"mode": "auto"}, Facts()),
    ) == [
        "not-permitted",
        "allowed",
        "not-permitted",
        "allowed",
        "data-tier",
        "allowed",
        "data-tier",
        "data-tier",
        "allowed",
    ]


RULES = ["docs/*.yaml", "docs/**", "**", "{docs,src}/*.yaml", "d*s/?.yaml", "docs/[a-z].yaml"]
RULEBOOKS = {rule: may({"write": {"path": rule}}) for rule in RULES}


@pytest.mark.sample(60)
@pytest.mark.parametrize(
    "path",
    [
        "docs/.yaml",
        "docs/x.yaml",
        "docs/X.YAML",
        "docs/sub/x.yaml",
        "docs/x.yaml/",
        "docs//x.yaml",
        "docs/../x.yaml",
        "docs/./x.yaml",
        "./docs/x.yaml",
        "docs/..yaml",
        "docs/x.yaml\n",
        "docs/x\u200b.yaml",
        "docs/é.yaml",
        "docs/e\u0301.yaml",
        "docs/~x.yaml",
        "docs/$A.yaml",
        "docs/a:b.yaml",
        "docs/a\\b.yaml",
        "docs/.git/x.yaml",
        "docs/.GIT",
        "docs/requirements.txt",
        "docs/ID_RSA.yaml",
        "docs/id_rsa",
        "docs/x.PEM",
        "docs/.env.yaml",
        "Docs/x.yaml",
        "docs",
        "",
        "x" * 5000,
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_paths_are_looked_at_each_time(rule, path):
    texts = ("docs/a.yaml", path, "docs/b.yaml", path)
    calls = [(Call("a", "write", {"path": text}), Facts()) for text in texts]
    assert differing(RULEBOOKS[rule], calls) == []


def remembered(rulebook: Rulebook, call: Call, known: Facts = NO_FACTS) -> bool:
    """The memo has an answer to this call."""
    return memo_of(rulebook).find(call, known) is not None


def code(rulebook: Rulebook, tool: str, path: str, known: Facts = NO_FACTS, **context: Any) -> str:
    """The code of a decision that the memo may have given, and the procedure gives too."""
    call = Call("a", tool, {"path": path}, Context(**context))
    decision = decide(rulebook, call, known)
    assert decision == decide(rulebook, call, known, memo=False)
    return decision.code


def test_who_binds_through_the_chain_is_asked_about_each_path():
    lead = {"may": [{"write": {"path": "docs/a/**"}}], "delegates_to": ["a"], "delegate_within": "chain"}
    rulebook = book(agents={"a": {"may": [{"write": {"path": "docs/**"}}]}, "lead": lead})
    for _ in range(3):
        assert code(rulebook, "write", "docs/a/x", chain=("lead",)) == "allowed"
    assert code(rulebook, "write", "docs/b/y", chain=("lead",)) == "not-permitted"
    assert code(rulebook, "write", "docs/b/y") == "allowed"
    assert code(rulebook, "write", "docs/b/y", chain=("lead",)) == "not-permitted"


def test_a_standing_grant_ends():
    grant = {"agent": "a", "may": ["write"], "until": "2026-12-01", "adr": "ADR-1", "approved_by": "Ann"}
    rulebook = book(agents={"a": {"may": ["read"]}}, grants=[grant])
    times = ["2026-11-15T12:00:00Z", "2026-11-30T23:59:59Z", "2027-01-01T00:00:00Z", "2026-11-30T23:59:59Z"]
    codes = [code(rulebook, "write", "x", Facts(now=now)) for now in times * 2]
    assert codes == ["allowed", "allowed", "not-permitted", "allowed"] * 2
    assert code(rulebook, "write", "x") == "not-permitted"


def test_a_grant_from_the_facts_ends():
    rulebook = may("read")
    known = facts(rulebook, now=NOW, grants=[{"agent": "a", "may": ["write"], "until": "2026-11-15T12:00:01Z"}])
    replace = msgspec.structs.replace
    for now, expected in [(NOW, "allowed"), ("2026-11-15T12:00:01Z", "not-permitted"), (None, "not-permitted")] * 2:
        assert code(rulebook, "write", "x", replace(known, now=now)) == expected
    assert code(rulebook, "write", "x", replace(known, grants=())) == "not-permitted"


def test_a_capsule_is_the_one_that_the_facts_have():
    rulebook = may("write")
    task = {"agent": "a", "may": [{"write": {"path": "docs/**"}}], "expires": "2026-11-15T13:00:00Z"}
    open_ = facts(rulebook, now=NOW, capsules={"C": task})
    equal = facts(rulebook, now=NOW, capsules={"C": dict(task)})
    wider = facts(rulebook, now=NOW, capsules={"C": {"agent": "a"}})
    ended = facts(rulebook, now=NOW, capsules={"C": {**task, "ended": True}})
    over = msgspec.structs.replace(open_, now="2026-11-15T13:00:00Z")
    for _ in range(2):
        assert code(rulebook, "write", "docs/x", open_, capsule="C") == "allowed"
        assert remembered(rulebook, Call("a", "write", {"path": "docs/x"}, Context(capsule="C")), equal)
        assert code(rulebook, "write", "docs/x", ended, capsule="C") == "capsule-ended"
        assert code(rulebook, "write", "docs/x", over, capsule="C") == "capsule-ended"
        assert code(rulebook, "write", "src/x", open_, capsule="C") == "capsule-constraint"
        assert code(rulebook, "write", "src/x", wider, capsule="C") == "allowed"
        assert code(rulebook, "write", "docs/x", Facts(now=NOW), capsule="C") == "unknown-capsule"


def test_facts_that_are_changed_in_place_are_noticed():
    rulebook = may("write", "run")
    resolved, links = {"x": "/p/x"}, dict[str, str]()
    known = Facts(root="/p", resolved=resolved, links=links)
    command = Call("a", "run", {"command": "touch notes"})
    assert [code(rulebook, "write", "x", known) for _ in range(2)] == ["allowed", "allowed"]
    assert [decide(rulebook, command, known).code for _ in range(2)] == ["allowed", "allowed"]
    resolved["x"] = "/p/.git/x"
    links["notes"] = ".git/x"
    assert code(rulebook, "write", "x", known) == "protected"
    assert decide(rulebook, command, known).code == "protected"
    del resolved["x"]
    assert code(rulebook, "write", "x", known) == "bad-path"


def test_capsules_that_are_exchanged_in_place_are_noticed():
    rulebook = may("write")
    capsules = dict(facts(rulebook, capsules={"C": {"agent": "a", "may": [{"write": {"path": "docs/**"}}]}}).capsules)
    ended = facts(rulebook, capsules={"C": {"agent": "a", "ended": True}}).capsules["C"]
    known = Facts(now=NOW, capsules=capsules)
    open_ = known.capsules["C"]
    for _ in range(3):
        assert [code(rulebook, "write", "docs/x", known, capsule="C") for _ in range(3)] == ["allowed"] * 3
        capsules["C"] = ended
        assert code(rulebook, "write", "docs/x", known, capsule="C") == "capsule-ended"
        capsules["C"] = open_


def test_a_decision_that_looks_at_more_facts_is_kept_by_these_too():
    rulebook = may({"write": {"path": "docs/**"}})
    call = Call("a", "write", {"path": "docs/x"})
    digest = call_digest(call, rulebook.hash, Facts())
    refused = Facts(now=NOW, approvals=(Approval(id="A", digest=digest, of="human", by="ann", answer="refuse"),))
    for path, known, expected in (
        ("src/x", Facts(now=NOW), "not-permitted"),  # ends before anybody looks for answers
        ("docs/x", Facts(now=NOW), "allowed"),
        ("docs/x", refused, "refused"),
    ) * 2:
        assert code(rulebook, "write", path, known) == expected


def test_answers_that_depend_on_the_same_stay():
    rulebook = may({"write": {"path": "docs/**"}}, "think")
    calls = [
        Call("a", "write", {"path": f"docs/{n}"}, Context(environment=e)) for n in range(3) for e in ("dev", "live")
    ]
    calls += [Call("a", "think", {"text": "x"}), Call("a", "think", {})]
    for call in calls:
        decide(rulebook, call)
    assert [call for call in calls if not remembered(rulebook, call)] == []


def test_a_call_without_arguments_is_answered_for_the_facts_as_they_are():
    path = {"args": {"path": "path"}, "optional": ["path"], "defaults": {"path": "docs/notes"}}
    tools = {"tidy": {**path, "does": {"write": "path"}}, "look": {"args": {}, "does": "nothing"}}
    rulebook = book(tools=tools, agents={"a": {"may": ["tidy", "look"]}})
    resolved, links = {"docs/notes": "/p/notes"}, dict[str, str]()
    known, context = Facts(root="/p", resolved=resolved, links=links), Context()
    for tool in ("tidy", "look"):
        call = Call("a", tool, {}, context)
        for target in ("/p/notes", "/p/.git/x") * 2:
            resolved["docs/notes"] = target
            links["docs/notes"] = target.removeprefix("/p/")
            for _ in range(3):
                assert decide(rulebook, call, known) == decide(rulebook, call, known, memo=False)


def test_a_call_without_arguments_is_answered_for_its_own_arguments_context_statement_and_facts():
    does = {"network": "https://x.example/a"}
    rulebook = book(
        tools={"tell": {"args": {"text": "text"}, "optional": ["text"], "does": does}},
        agents={"a": {"may": ["tell"], "may_not": [{"tell": {"where": {"text": ["x"]}}}]}},
        tiers={2: "allow", 3: "allow", 4: {"ask": "human", "statement": "required"}},
    )
    plain, live, said = Context(), Context(environment="production"), Statement("i", "b", "c")
    calls = [
        (Call("a", "tell", {}, plain), False, "allowed"),
        (Call("a", "tell", {}, plain), True, "halted"),
        (Call("a", "tell", {}, plain, said), False, "allowed"),
        (Call("a", "tell", {}, live), False, "tier-asks"),
        (Call("a", "tell", {}, live, said), False, "tier-asks"),
        (Call("a", "tell", {"text": "x"}, plain), False, "may-not"),
        (Call("a", "tell", {"text": "y"}, plain), False, "allowed"),
        (Call("a", "tell", {}, plain, Statement(intent=1)), False, "malformed-call"),  # type: ignore[arg-type]
        (Call("a", "tell", {}, plain, "words"), False, "malformed-call"),  # type: ignore[arg-type]
    ]
    by_itself = []
    for call, halted, expected in calls:
        by_itself.append(decide(rulebook, call, Facts(halts=frozenset({"a"} if halted else ())), memo=False))
        assert by_itself[-1].code == expected
    assert by_itself[3] != by_itself[4]  # the statement is missing
    for before, its_halted, _ in calls:
        for (call, halted, _), decision in zip(calls, by_itself, strict=True):
            known = {halted: Facts(halts=frozenset({"a"} if halted else ())) for halted in (True, False)}
            for _ in range(3):  # so often that it is answered without a look at anything else
                decide(rulebook, before, known[its_halted])
            assert decide(rulebook, call, known[halted]) == decision


def test_a_call_without_arguments_is_answered_while_its_capsule_is_the_same():
    rulebook = book(tools={"look": {"args": {}, "does": "nothing"}}, agents={"a": {"may": ["look"]}})
    context = Context(capsule="T")
    call = Call("a", "look", {}, context)
    capsules = dict[str, Capsule]()
    known = Facts(now=NOW, capsules=capsules)
    for ended, expected in ((False, "allowed"), (True, "capsule-ended")) * 2:
        capsules["T"] = Capsule("T", "a", ended=ended)
        for _ in range(3):
            assert decide(rulebook, call, known).code == expected


@pytest.mark.parametrize("values", [{"halts": {"b"}}, {"registry": {"b"}}, {"grants": []}, {"notes": ["n"]}])
def test_facts_that_could_change_are_refused(values):
    with pytest.raises(TypeError):
        Facts(**values)


def test_what_only_its_type_matters_for_is_shared():
    tools = {"save": {"args": {"path": "path", "content": "text", "n": "number"}, "does": {"write": "path"}}}
    rulebook = book(tools=tools, agents={"a": {"may": ["save"]}})
    first = decide(rulebook, Call("a", "save", {"path": "x", "content": "one", "n": 1}, Context(session="s")))
    assert first.allowed
    other = Call("a", "save", {"path": "x", "content": "two", "n": 2}, Context(session="t"), id="another")
    assert memo_of(rulebook).find(other, Facts()) is first
    for args in (
        {"path": "y", "content": "one", "n": 1},
        {"path": "x", "content": "one"},
        {"path": "x", "content": 1, "n": 1},
        {"path": "x", "content": "one", "n": True},
        {"path": "x", "content": "one", "n": 1.0},
        {"path": "x", "content": "one", "n": float("nan")},
        {"path": "x", "content": "one", "n": 1, "more": 1},
        {"path": Text("x"), "content": "one", "n": 1},
        {Text("path"): "x", "content": "one", "n": 1},
    ):
        call = Call("a", "save", args)
        assert not remembered(rulebook, call), args
        assert decide(rulebook, call) == decide(rulebook, call, memo=False)
        assert decide(rulebook, call) == decide(rulebook, call, memo=False)


def test_what_a_condition_looks_at_is_not_shared():
    tools = {"say": {"args": {"text": "text"}, "does": "nothing"}}
    rulebook = book(tools=tools, agents={"a": {"may": [{"say": {"where": {"text": {"regex": "a.*"}}}}]}})
    said = [decide(rulebook, Call("a", "say", {"text": text})).code for text in ("a", "b", "a2", "b", "a")]
    assert said == ["allowed", "not-permitted", "allowed", "not-permitted", "allowed"]


@pytest.mark.parametrize(
    "call",
    [
        Call(Text("a"), "write", {"path": "x"}),
        Call("a", Text("write"), {"path": "x"}),
        Call("a", "write", Args(path="x")),
        Call("a", "write", {Text("path"): "x"}),
        Call("a", "write", {"path": "x"}, None),  # type: ignore[arg-type]
        Call("a", "write", {"path": "x"}, LikeContext()),
        Call("a", "write", {"path": "x"}, statement="words"),  # type: ignore[arg-type]
        Call("a", "write", {"path": "x"}, statement=Statement(intent=1)),  # type: ignore[arg-type]
    ],
    ids=["agent", "tool", "args", "name", "context", "like-context", "statement", "intent"],
)
def test_a_malformed_twin_of_a_known_call_is_refused(call):
    rulebook = may("write")
    assert decide(rulebook, Call("a", "write", {"path": "x"})).allowed
    assert remembered(rulebook, Call("a", "write", {"path": "x"}))
    assert not remembered(rulebook, call)
    assert not decide(rulebook, call).allowed


def test_an_approval_counts_for_its_call_and_nobody_elses():
    rulebook = book(agents={"a": {"may": ["think"], "must_ask": ["write"]}})
    call, other = (Call("a", "write", {"path": path}, Context(session="s")) for path in ("x", "y"))
    approved = Facts(now=NOW, approvals=(Approval("A-1", call_digest(call, rulebook.hash, Facts()), "Ann"),))
    for _ in range(2):
        assert decide(rulebook, call, Facts(now=NOW)).code == "must-ask"
        assert decide(rulebook, call, approved).approval == "A-1"
        assert decide(rulebook, other, approved).code == "must-ask"
        assert not remembered(rulebook, call, approved)


def test_a_complete_statement_makes_a_difference_only_where_one_is_needed():
    tiers = {2: {"ask": "human", "statement": "required"}}
    rulebook = book(agents={"a": {"may": ["write", "run"]}}, tiers=tiers)
    bare = Call("a", "run", {"command": "make"})
    full = msgspec.structs.replace(bare, statement=Statement("i", "b", "c"))
    part = msgspec.structs.replace(bare, statement=Statement("i"))
    for _ in range(2):
        needs = [decide(rulebook, call).needs for call in (bare, full, part)]
        assert needs == [Needs("human", missing=("statement",)), Needs("human"), Needs("human", missing=("statement",))]
    write = Call("a", "write", {"path": "x"})
    assert decide(rulebook, write).allowed
    assert remembered(rulebook, msgspec.structs.replace(write, statement=Statement("i", "b", "c")))


def test_it_forgets_rather_than_grow(monkeypatch):
    monkeypatch.setattr(memo, "MOST", 10)
    rulebook = may("write")
    for n in range(35):
        assert decide(rulebook, Call("a", "write", {"path": f"x{n}"})).allowed
    kept = [n for n in range(35) if remembered(rulebook, Call("a", "write", {"path": f"x{n}"}))]
    assert 0 < len(kept) <= 10


def test_long_texts_are_not_kept():
    rulebook = may("write")
    for length, kept in ((memo.LONGEST - 4, True), (memo.LONGEST - 3, False)):
        call = Call("a", "write", {"path": "x" * length})
        assert decide(rulebook, call).allowed
        assert remembered(rulebook, call) is kept


def test_it_goes_with_its_rulebook():
    rulebook = may("write")
    assert decide(rulebook, Call("a", "write", {"path": "x"})).allowed
    place = id(rulebook)
    assert place in memo_of.by_id
    assert place in grid_of.by_id
    del rulebook
    assert decide(may("write"), Call("a", "write", {"path": "x"})).allowed  # the one that was asked last stays
    gc.collect()
    assert place not in memo_of.by_id
    assert place not in grid_of.by_id


def test_a_rulebook_can_not_be_changed():
    rulebook = may("write")
    with pytest.raises(AttributeError):
        setattr(rulebook, "hash", "sha256:0")  # noqa: B010 - the type checker knows it too
    assert {*rulebook.__struct_fields__} == {"book", "hash"}


def test_threads_share_it():
    rulebook = book(
        agents={"a": {"may": ["read", {"write": {"path": "docs/**"}}]}, "b": {"may": [], "delegates_to": ["a"]}}
    )
    calls = [
        Call("a", tool, {"path": f"{folder}/{n % 7}"}, Context(chain=chain, mode=str(n % 3)))
        for n in range(60)
        for tool in ("read", "write")
        for folder in ("docs", "src")
        for chain in ((), ("b",), ("nobody",))
    ]
    expected = [decide(rulebook, call, memo=False) for call in calls]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            rounds = [pool.submit(lambda: [decide(rulebook, call) for call in calls]) for _ in range(16)]
            assert all(one.result() == expected for one in rounds)
    finally:
        sys.setswitchinterval(before)


@given(st.text(), st.integers(), st.booleans(), st.recursive(st.text() | st.integers(), st.lists))
def test_kinds_that_are_good_by_their_type_alone_accept_every_value(text, number, flag, json):
    """What `BY_TYPE` says of them: intake looks at nothing but the type."""
    kinds = {"text": "text", "number": "number", "flag": "flag", "json": "json"}
    assert set(BY_TYPE) == set(kinds)
    intake = Intake(OF_TYPES.book.tools["take"])
    args = {"text": text, "number": number, "flag": flag, "json": json}
    assert intake.values(args) == {name: [value] for name, value in args.items()}


OF_TYPES = book(
    tools={"take": {"args": {kind: kind for kind in ("text", "number", "flag", "json")}, "does": "nothing"}},
    agents={"a": {"may": ["take"]}},
)


LOOK_ALIKES = (1, True, 1.0, "1", 2, 0, False, -0.0, 0.0)


def limited(value: Any) -> tuple[Rule, ...]:
    return (Rule("may", ("pay",), Scope(where={"n": Condition(equals=value)})),)


def in_a_task(value: Any) -> Facts:
    return Facts(now=NOW, capsules={"T": Capsule("T", "a", may=limited(value))}, store=True)


def granted(value: Any) -> Facts:
    return Facts(now=NOW, grants=(Grant("b", limited(value), "2099-01-01T00:00:00Z"),))


@pytest.mark.parametrize(("agent", "context", "known"), [("a", {"capsule": "T"}, in_a_task), ("b", {}, granted)])
@given(asked=st.sampled_from(LOOK_ALIKES), limits=st.lists(st.sampled_from(LOOK_ALIKES), min_size=2, max_size=6))
def test_facts_that_only_look_alike(agent, context, known, asked, limits):
    rulebook = book(
        tools={"pay": {"args": {"n": "number"}, "does": "nothing"}}, agents={"a": {"may": ["pay"]}, "b": {"may": []}}
    )
    call = Call(agent, "pay", {"n": asked}, Context(**context))
    assert differing(rulebook, [(call, known(value)) for value in limits]) == []


def test_a_capsule_with_true_is_not_one_with_1():
    rulebook = book(tools={"pay": {"args": {"n": "number"}, "does": "nothing"}}, agents={"a": {"may": ["pay"]}})
    call = Call("a", "pay", {"n": 1}, Context(capsule="T"))
    found = [decide(rulebook, call, in_a_task(value)).verdict.word for value in (1, 1, True)]
    assert found == ["allow", "allow", "deny"]


@pytest.mark.parametrize(
    ("one", "other"), [((1,), [1]), ({"a": 1}, {"a": True}), (0.0, -0.0), ("a", Text("a")), (frozenset("a"), {"a"})]
)
def test_what_looks_alike_is_not_the_same(one, other):
    assert not memo.same(one, other)


def test_what_was_remembered_can_not_be_changed_from_within():
    rulebook, known = may("write"), in_a_task(1)
    rules: Any = known.capsules["T"].may
    scope = rules[0].scope
    insides: list[Any] = [scope.where, scope.parts, rulebook.book.callers, rulebook.book.tools, Scope().where]
    for inside in insides:
        with pytest.raises(TypeError, match="can't be changed"):
            inside["n"] = None
    with pytest.raises(TypeError, match="are tuples"):
        Capsule("T", "a", may=[*rules])  # type: ignore[arg-type]


class Hostile(str):
    """A name that nobody can compare."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        raise ValueError("no")


def test_a_name_that_raises_when_compared():
    rulebook = may("write")
    for _ in range(2):
        decide(rulebook, Call("a", "write", {"path": "docs/x"}))
    call = Call("a", "write", {Hostile("path"): "docs/x"})
    assert decide(rulebook, call).code == decide(rulebook, call, memo=False).code == "malformed-call"
    assert decide(rulebook, Call(Hostile("a"), "write", {"path": "docs/x"})).code == "unknown-agent"


def test_an_answer_that_depended_on_the_time_alone():
    grant = {"agent": "a", "may": ["think"], "until": "2026-12-01", "adr": "ADR-1", "approved_by": "Ann"}
    rulebook = book(agents={"a": {"may": ["read"]}}, grants=[grant])
    times = ["2026-11-15T12:00:00Z", "2027-01-01T00:00:00Z", "2026-11-30T23:59:59Z"]
    codes = [decide(rulebook, Call("a", "think", {}), Facts(now=now)).code for now in times * 2]
    assert codes == ["allowed", "not-permitted", "allowed"] * 2


@pytest.mark.parametrize("now", ["2026-11-15T12:00:00Z", "2026-12-02T00:00:00Z", None])
def test_answers_before_and_after_a_moment_are_both_found_again(now):
    grant = {"agent": "a", "may": ["think"], "until": "2026-12-01", "adr": "ADR-1", "approved_by": "Ann"}
    rulebook, call = book(agents={"a": {"may": ["read"]}}, grants=[grant]), Call("a", "think", {})
    decide(rulebook, call, Facts(now=now))
    assert remembered(rulebook, call, Facts(now=now))
    for other in {"2026-11-15T12:00:00Z", "2026-12-02T00:00:00Z", None} - {now}:
        assert not remembered(rulebook, call, Facts(now=other))


ANSWER = decide(may("think"), Call("a", "think", {}), memo=False)


@pytest.mark.parametrize(
    ("before", "same", "other"),
    [
        (None, [None], [{}, {"a": "/w/a"}]),
        ({"a": "/w/a"}, [{"a": "/w/a"}, {"a": "/w/a", "b": "/x"}], [None, {}, {"a": "/x"}]),
        ({"a": None}, [{}, {"b": "/x"}], [None, {"a": "/w/a"}]),
    ],
)
def test_terms_hold_where_the_same_texts_lead_to_the_same_places(before, same, other):
    terms = Terms(None, False, before, True, {}, {})
    assert [terms.hold(Facts(resolved=resolved)) for resolved in (*same, *other)] == [True] * len(same) + [False] * len(
        other
    )
    assert all(terms._replace(placed=False).hold(Facts(resolved=resolved)) for resolved in other)


@pytest.mark.parametrize(
    ("moments", "holding"),
    [
        ((None, None), ["1", "2", "3"]),
        (("2", None), ["2", "3"]),
        ((None, "2"), ["1"]),
        (("2", "3"), ["2"]),
        (None, [None]),
    ],
)
def test_terms_hold_between_two_moments(moments, holding):
    times = [None, *(f"2026-11-1{day}T00:00:00Z" for day in "123")]
    since, until = (moment and f"2026-11-1{moment}T00:00:00Z" for moment in moments or (None, None))
    terms = Terms((since, until) if moments else None, True, None, False, {}, {})
    found = [now and now[9] for now in times if terms.hold(Facts(now=now))]
    assert found == holding
    assert all(terms._replace(timed=False).hold(Facts(now=now)) for now in times)


def test_facts_are_seen_only_by_what_no_dictionary_could_change():
    known = Facts(now=NOW)
    terms = Terms(None, False, None, False, {}, {})
    for one, lasting in (
        (None, True),
        (terms, True),
        (terms._replace(resolved={}), False),
        (terms._replace(copies={"schema": None}), True),
        (terms._replace(copies={"links": {}}), False),
    ):
        answer = Remembered(ANSWER, (), one)
        assert answer.seen is None
        assert answer.holds(known, ())
        assert (answer.seen is known) == lasting
        assert not answer.holds(known, (1,))


def test_answers_are_found_by_names_types_and_the_values_that_matter():
    answers = Answers({"a": str, "b": int}, Shape(args=frozenset(("b", "c"))))
    one, two = Remembered(ANSWER, (), None), Remembered(ANSWER, (), None)
    answers.keep({"a": "x", "b": 1}, one)
    answers.keep({"a": "x", "b": 2}, two)
    assert answers.find({"b": 1, "a": "y"}) is one
    assert answers.find({"a": "x", "b": 2}) is two
    for args in ({"a": "x"}, {"a": "x", "b": 3}, {"a": "x", "b": True}, {"a": 1, "b": 1}, {"a": "x", "c": 1}):
        with pytest.raises(KeyError):
            answers.find(args)
    with pytest.raises(KeyError):
        answers.find({"a": "x", "b": 1, "c": 1})
    assert not hasattr(answers, "bare")


def test_the_latest_answers_are_those_of_the_context_of_the_last_call():
    rulebook = may("think", "read")
    one, two = Context(session="1"), Context(session="2")
    for context, tools, expected in (
        (one, ["think"], ["think"]),
        (one, ["read"], ["read", "think"]),
        (two, ["think"], ["think"]),
        (two, ["think"], ["think"]),
    ):
        for tool in tools * 2:
            decide(rulebook, Call("a", tool, {"path": "x"} if tool == "read" else {}, context))
        assert memo_of(rulebook).latest["a"][0] is context
        assert sorted(memo_of(rulebook).latest["a"][3]) == expected
    decide(rulebook, Call("a", "read", {"path": "x"}, two, Statement("x", "y", "z")))
    assert sorted(memo_of(rulebook).latest["a"][3]) == ["think"]


def test_an_answer_without_arguments_is_that_of_the_facts_of_the_last_call():
    rulebook, context = may("think"), Context(session="1")
    free, halted = Facts(), Facts(halts=frozenset(("a",)))
    for known, verdict in ((free, ALLOW), (free, ALLOW), (halted, DENY), (halted, DENY), (free, ALLOW), (halted, DENY)):
        assert decide(rulebook, Call("a", "think", {}, context), known).verdict is verdict
    context_then, facts_then, bare, _ = memo_of(rulebook).latest["a"]
    assert (context_then is context, facts_then is halted, bare["think"].verdict) == (True, True, DENY)
    odd = type("Text", (str,), {})("think")
    for call in (Call("a", odd, {}, context), Call("a", "think", None, context)):  # type: ignore[arg-type]
        assert decide(rulebook, call, halted) == decide(rulebook, call, halted, memo=False)


def test_answers_are_counted():
    rulebook = may("pay")
    for amount in (1, 2, 3, 3):
        decide(rulebook, Call("a", "pay", {"amount": amount}))
    by_values = may({"pay": {"where": {"amount": {"max": 2}}}})
    for amount in (1, 2, 3, 3):
        decide(by_values, Call("a", "pay", {"amount": amount}))
    assert (memo_of(rulebook).count, memo_of(by_values).count) == (1, 3)


def test_a_shape_grows_by_what_was_looked_at():
    noted = Noted()
    noted.context, noted.args, noted.facts = {"mode"}, {"path"}, {"store", "resolved", "links"}
    grown = Shape(frozenset(("cwd",)), frozenset(("to",)), frozenset(("root",)), True).grown(noted)
    assert grown == Shape(frozenset(("cwd", "mode")), frozenset(("path", "to")), frozenset(("root", "store")), True)
    assert grown.grown(noted) == grown
    assert not Shape().grown(noted).stated


def test_an_answer_is_in_force_while_its_capsules_are_the_very_ones():
    capsule, twin = (Capsule(id="C", agent="a") for _ in range(2))
    answer = Remembered(ANSWER, (), Terms(None, False, None, False, {"C": capsule, "D": None}, {}))
    known = [{"C": capsule}, {"C": twin}, {"C": capsule, "D": twin}, {}]
    assert [answer.in_force(Facts(capsules=capsules)) for capsules in known] == [True, False, False, False]


def test_the_answer_to_a_call_without_arguments_stands_apart():
    answers, one = Answers({}, Shape()), Remembered(ANSWER, (), None)
    answers.keep({}, one)
    assert answers.bare is answers.find({}) is one


ALIKE: list[Any] = [
    *(
        "",
        "a",
        Text("a"),
        0,
        1,
        True,
        False,
        0.0,
        -0.0,
        1.0,
        1.5,
        float("nan"),
        None,
        (),
        ("a",),
        ("a", "b"),
        (1,),
        (True,),
    ),
    *(
        {},
        {"a": 1},
        {"a": True},
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
        {1: "a"},
        {True: "a"},
        frozenset(),
        frozenset("a"),
    ),
    *(
        frozenset("ab"),
        Context(),
        Context(mode="a"),
        LikeContext(),
        Needs("human"),
        Needs("a"),
        (("a",),),
        {"a": {"b": 1.0}},
    ),
]


def copied(value: Any) -> Any:
    """An equal value that is another object wherever Python allows that."""
    if type(value) in (float, Text):
        return type(value)(repr(value) if type(value) is float else value)
    if type(value) is tuple:
        return tuple([copied(one) for one in value])
    if type(value) is dict:
        return {key: copied(one) for key, one in value.items()}
    if type(value) is frozenset:
        return frozenset(list(value))
    return msgspec.structs.replace(value) if isinstance(value, msgspec.Struct) else value


def test_each_value_is_the_same_as_itself_and_as_no_other():
    for number, one in enumerate(ALIKE):
        if type(one) is not Text:  # whoever compares these can tell nothing
            assert memo.same(one, copied(one)), one
        assert [other for at, other in enumerate(ALIKE) if at != number and memo.same(one, other)] == []
    assert not memo.same(frozenset((1,)), frozenset((True,)))
    assert not memo.same(frozenset((1,)), frozenset((1.0,)))
    assert not memo.same(object(), object())
    assert not memo.same(Text("a"), Text("a"))


class Reached(Exception):
    """The full way was taken."""


@pytest.mark.parametrize("args", [{}, {"text": "x"}], ids=str)
@pytest.mark.parametrize("capsule", [None, "C"])
def test_a_call_like_the_one_before_is_answered_at_once(monkeypatch, args, capsule):
    rulebook = may("think", "read")
    known = Facts(now=NOW, capsules={"C": Capsule("C", "a", expires="2027-01-01T00:00:00Z")})
    context = Context(capsule=capsule)

    def refuse(*_: object) -> None:
        raise Reached

    calls = [Call("a", "think", dict(args), context) for _ in range(3)]
    expected = decide(rulebook, calls[0], known)
    assert decide(rulebook, calls[1], known) is expected  # found, and from now on the latest
    monkeypatch.setattr(engine, "_decide", refuse)
    assert decide(rulebook, calls[2], known) is expected
    other = Capsule("C", "a", expires="2026-01-01T00:00:00Z")
    others = [
        (may("think"), calls[2], known),
        (rulebook, Call("b", "think", args, context), known),
        (rulebook, Call("a", "read", args, context), known),
        (rulebook, Call("a", "think", {"text": 1}, context), known),
        (rulebook, Call("a", "think", {"other": "x"}, context), known),
        (rulebook, Call("a", "think", dict(args), Context(capsule=capsule)), known),
        (rulebook, Call("a", "think", dict(args), context, Statement("i", "b", "c")), known),
        (rulebook, calls[2], msgspec.structs.replace(known)),
    ]
    if capsule is not None:
        known.capsules["C"] = other
        others.append((rulebook, calls[2], known))
    for one in others:
        with pytest.raises(Reached):
            decide(*one)


def test_what_was_remembered_is_found_and_nothing_else():
    """By the memo itself, whatever the latest call was."""
    rulebook = book(agents={"a": {"may": [{"write": {"path": "docs/**"}}, "think"]}})
    calls = [Call("a", "write", {"path": path}) for path in ("docs/a", "docs/b", "c")]
    calls += [Call("a", "think"), Call("a", "think", {"text": "x"})]
    expected = [decide(rulebook, call) for call in calls]
    found = [memo_of(rulebook).find(call, NO_FACTS) for call in calls]
    assert found == expected
    assert [one is other for one, other in zip(found, expected, strict=True)] == [True] * 5
    for call in (Call("a", "write", {"path": "docs/c"}), Call("a", "write"), Call("b", "think"), Call("a", "read")):
        assert memo_of(rulebook).find(call, NO_FACTS) is None


def test_without_the_memo_nothing_is_remembered():
    rulebook = may("think")
    for call in (Call("a", "think"), Call("a", "think", {"text": "x"})):
        decide(rulebook, call, memo=False)
        assert memo_of(rulebook).find(call, NO_FACTS) is None
        assert memo_of(rulebook).cells == {}


def test_fewer_or_more_arguments_are_another_call():
    tool = {"args": {"a": "text", "b": "text"}, "does": "nothing"}
    rulebook = book(tools={"t": tool, "u": {**tool, "optional": ["a", "b"]}}, agents={"a": {"may": ["t", "u"]}})
    context = Context()
    for name in ("t", "u"):
        calls = [Call("a", name, args, context) for args in ({"a": "", "b": ""}, {"a": ""}, {"b": ""}, {})]
        calls += [Call("a", name, {"a": "", "b": "", "c": ""}, context), Call("a", name, {"a": "", "c": ""}, context)]
        for first in calls:
            decide(rulebook, first), decide(rulebook, first)
            assert differing(rulebook, [(one, NO_FACTS) for one in (first, *calls)]) == []
