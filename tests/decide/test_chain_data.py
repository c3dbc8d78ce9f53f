"""Steps 5 and 6: hand-overs, capsules, data tiers, locks, names."""

import pytest

from remit.model import Facts
from tests.decide.kit import NOW, book, facts, may, outcome

# --- the chain ---

TEAM = book(
    agents={
        "boss": {"may": ["read"], "delegates_to": ["lead", "workers"]},
        "lead": {"may": ["read"], "delegates_to": ["a"]},
        "a": {"may": ["write", "think"], "roles": ["workers"]},
        "gone": {"may": [], "delegates_to": ["a"], "enabled": False},
    },
    roles={"workers": {}},
    runners={"Git": {"may": ["write"], "called_by": ["workers", "lead"]}},
)


@pytest.mark.parametrize(
    ("chain", "agent", "expected"),
    [
        ([], "a", "allow"),
        (["lead"], "a", "allow"),
        (["boss", "lead"], "a", "allow"),
        (["boss"], "a", "allow"),  # by its role
        (["lead", "boss"], "a", "deny broken-chain"),
        (["a"], "a", "deny broken-chain"),
        (["nobody"], "a", "deny broken-chain"),
        (["gone"], "a", "deny broken-chain"),
        (["boss", "nobody", "lead"], "a", "deny broken-chain"),
        (["Boss"], "a", "deny broken-chain"),
        (["lead"], "Git", "allow"),
        (["a"], "Git", "allow"),  # called_by names its role
        (["boss"], "Git", "deny broken-chain"),
        (["boss", "a"], "Git", "allow"),
    ],
)
def test_hand_overs(chain, agent, expected):
    assert outcome(TEAM, "write", {"path": "x"}, agent=agent, chain=tuple(chain)) == expected


def test_a_chain_has_an_end():
    rulebook = may("think", delegates_to=["a"])
    assert outcome(rulebook, "think", chain=("a",) * 16) == "allow"
    assert outcome(rulebook, "think", chain=("a",) * 17) == "deny broken-chain"


def test_everybody_along_the_chain_is_registered():
    chain = ("boss", "lead")
    assert outcome(TEAM, "think", chain=chain, facts=Facts(registry=frozenset({"a", "boss", "lead"}))) == "allow"
    assert outcome(TEAM, "think", chain=chain, facts=Facts(registry=frozenset({"a", "boss"}))) == "deny broken-chain"


def test_a_delegate_acts_within_its_own_remit():
    assert outcome(TEAM, "write", {"path": "x"}, agent="boss") == "deny not-permitted"
    assert outcome(TEAM, "write", {"path": "x"}, chain=("boss", "lead")) == "allow"
    assert outcome(TEAM, "read", {"path": "x"}, chain=("boss", "lead")) == "deny not-permitted"


def bound(**boss):
    return book(
        agents={
            "boss": {"may": [{"write": {"path": "docs/**"}}], "delegates_to": ["lead", "a"], **boss},
            "lead": {"may": ["write"], "delegates_to": ["a"]},
            "a": {"may": ["write", "read"]},
        }
    )


@pytest.mark.parametrize("chain", [("boss",), ("boss", "lead")])
def test_who_delegates_within_the_chain_binds_all_after_it(chain):
    free, strict = bound(), bound(delegate_within="chain")
    for path in ("docs/x", "src/x"):
        assert outcome(free, "write", {"path": path}, chain=chain) == "allow"
    assert outcome(strict, "write", {"path": "docs/x"}, chain=chain) == "allow"
    assert outcome(strict, "write", {"path": "src/x"}, chain=chain) == "deny not-permitted"
    assert outcome(strict, "read", {"path": "docs/x"}, chain=chain) == "deny not-permitted"
    assert outcome(strict, "write", {"path": "src/x"}) == "allow"  # on its own


def test_those_before_one_who_binds_are_bound_by_too():
    rulebook = book(
        agents={
            "boss": {"may": ["read"], "delegates_to": ["lead"]},
            "lead": {"may": ["write"], "delegates_to": ["a"], "delegate_within": "chain"},
            "a": {"may": ["write", "read"]},
        }
    )
    assert outcome(rulebook, "write", {"path": "x"}, chain=("lead",)) == "allow"
    assert outcome(rulebook, "write", {"path": "x"}, chain=("boss", "lead")) == "deny not-permitted"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"may_not": [{"write": {"path": "docs/x"}}]}, "deny may-not"),
        ({"locks": {"may": ["src/**"]}}, "deny locked"),
        ({"data_tiers": []}, "deny data-tier"),
        ({"must_ask": [{"write": {"path": "docs/**"}}]}, "ask must-ask"),
    ],
)
def test_binding_means_prohibitions_limits_and_questions_too(record, expected):
    assert outcome(bound(delegate_within="chain", **record), "write", {"path": "docs/x"}, chain=("boss",)) == expected
    assert outcome(bound(**record), "write", {"path": "docs/x"}, chain=("boss",)) == "allow"


# --- capsules ---


def in_capsule(record=None, *, now=NOW, path="docs/x", tool="write", **capsule):
    rulebook = may("write", "read", "think", **(record or {}))
    capsules = {"C": {"agent": "a", "parent": "P", **capsule}, "P": {"agent": "boss", **capsule.pop("above", {})}}
    capsules["C"].pop("above", None)
    known = facts(rulebook, capsules=capsules, **({"now": now} if now else {}))
    args = {"path": path} if tool != "think" else {}
    return outcome(rulebook, tool, args, facts=known, capsule="C")


def test_a_capsule_that_is_there():
    assert in_capsule() == "allow"


def test_a_capsule_that_nobody_knows():
    assert outcome(may("think"), "think", capsule="C") == "deny unknown-capsule"
    assert in_capsule(parent="nowhere") == "deny unknown-capsule"


def test_capsules_that_contain_each_other():
    assert in_capsule(above={"parent": "C"}) == "deny unknown-capsule"


def test_a_capsule_that_was_handed_to_somebody_else():
    assert in_capsule(agent="b") == "deny unknown-capsule"


@pytest.mark.parametrize(
    ("record", "tool", "expected"),
    [("required", "write", "deny capsule-required"), ("required", "read", "allow"), ("optional", "write", "allow")],
)
def test_a_capsule_that_is_required_above_tier_0(record, tool, expected):
    assert outcome(may("write", "read", capsule=record), tool, {"path": "x"}) == expected
    assert in_capsule({"capsule": record}, tool=tool) == "allow"


@pytest.mark.parametrize("where", ["own", "above"])
def test_a_capsule_that_has_ended(where):
    def ended(now=NOW, **fields):
        return in_capsule(now=now, **(fields if where == "own" else {"above": fields}))

    assert ended(ended=True) == "deny capsule-ended"
    assert ended(expires="2026-01-01") == "deny capsule-ended"
    assert ended(expires=NOW) == "deny capsule-ended"
    assert ended(expires="2027-01-01") == "allow"
    assert ended(expires="2027-01-01", now=None) == "deny capsule-ended"


@pytest.mark.parametrize("where", ["own", "above"])
def test_the_constraints_of_a_capsule(where):
    def limited(path, **fields):
        return in_capsule(path=path, **(fields if where == "own" else {"above": fields}))

    may_docs = {"may": [{"write": {"path": "docs/**"}}]}
    assert limited("docs/x", **may_docs) == "allow"
    assert limited("src/x", **may_docs) == "deny capsule-constraint"
    assert limited("docs/x", may=[]) == "deny capsule-constraint"
    assert limited("docs/x", may_not=[{"effect": "write"}]) == "deny capsule-constraint"
    assert limited("docs/x", may_not=[{"write": {"path": "docs/y"}}]) == "allow"


def test_a_capsule_widens_nothing_but_by_its_grants():
    rulebook = may("read")
    known = facts(rulebook, capsules={"C": {"agent": "a", "may": ["write", "think"], "grants": ["think"]}})
    assert outcome(rulebook, "write", {"path": "x"}, facts=known, capsule="C") == "deny not-permitted"
    assert outcome(rulebook, "think", facts=known, capsule="C") == "allow"


# --- data tiers ---

LABELLED = {
    "labels": {
        "data": {
            1: {"path": ["docs/**"]},
            2: {"path": ["hr/**"], "url": ["https://hr.example/**"]},
            3: {"path": ["secrets/**", "**/*.pem"], "url": ["https://vault.example/**"]},
        }
    }
}


def data(tool="read", args=None, facts=None, context=None, **record):
    rulebook = book(agents={"a": {"may": ["read", "sweep", "index", "fetch", "search_web"], **record}}, **LABELLED)
    return outcome(rulebook, tool, args, facts=facts, **(context or {}))


@pytest.mark.parametrize(
    ("path", "tier"),
    [("src/x", 0), ("docs/x", 1), ("hr/x", 2), ("secrets/x", 3), ("SECRETS/x", 3), ("docs/a.pem", 3), ("hr/a.PEM", 3)],
)
def test_the_data_tier_of_a_path(path, tier):
    for allowed in ([0, 1, 2, 3], [0, 1, 2], [0, 1], [0]):
        expected = "allow" if tier in allowed else "deny data-tier"
        assert data(args={"path": path}, data_tiers=allowed) == expected


def test_a_search_touches_the_highest_label_that_it_could_reach():
    assert data("sweep", {"path": "src"}, data_tiers=[0, 1, 2]) == "deny data-tier"  # src/x.pem
    assert data("sweep", {"path": "."}, data_tiers=[0, 1, 2]) == "deny data-tier"
    assert data("index", {"query": "x"}, data_tiers=[0, 1, 2]) == "deny data-tier"
    assert data("index", {"query": "x"}, data_tiers=[3]) == "allow"


def test_the_data_tier_of_a_url():
    assert data("fetch", {"url": "https://hr.example/x"}, data_tiers=[0]) == "deny data-tier"
    assert data("fetch", {"url": "https://www.example/x"}, data_tiers=[0]) == "allow"
    assert data("search_web", {"query": "x"}, data_tiers=[0, 1, 2]) == "deny data-tier"


def test_the_context_raises_the_data_tier_and_never_lowers_it():
    assert data(args={"path": "src/x"}, context={"data_tier": 2}, data_tiers=[0]) == "deny data-tier"
    assert data(args={"path": "secrets/x"}, context={"data_tier": 1}, data_tiers=[0, 1]) == "deny data-tier"


@pytest.mark.parametrize(
    ("granted", "store", "expected"),
    [
        ((), False, "deny data-tier"),
        ((3,), False, "allow"),
        ((2,), False, "deny data-tier"),
        ((3,), True, "deny data-tier"),
    ],
)
def test_a_data_tier_with_a_grant_in_the_context(granted, store, expected):
    record = {"data_tiers": [0], "data_tiers_with_grant": [3]}
    found = data(args={"path": "secrets/x"}, facts=Facts(store=store), context={"capsule_grants": granted}, **record)
    assert found == expected


def test_a_data_tier_with_a_grant_of_the_capsule():
    record = {"data_tiers": [0], "data_tiers_with_grant": [3]}
    rulebook = book(agents={"a": {"may": ["read"], **record}}, **LABELLED)
    for tiers, expected in (([3], "allow"), ([2], "deny data-tier"), ([], "deny data-tier")):
        known = facts(rulebook, capsules={"C": {"agent": "a", "data_tiers": tiers}}, store=True)
        assert outcome(rulebook, "read", {"path": "secrets/x"}, facts=known, capsule="C") == expected


def test_a_grant_of_a_tier_that_the_record_does_not_foresee():
    found = data(
        args={"path": "secrets/x"}, context={"capsule_grants": (3,)}, data_tiers=[0], data_tiers_with_grant=[2]
    )
    assert found == "deny data-tier"
    assert data(args={"path": "secrets/x"}, context={"capsule_grants": (3,)}, data_tiers=[0]) == "deny data-tier"


# --- locks, apis, skills, delegates ---


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("write", {"path": "src/x"}, "allow"),
        ("delete", {"path": "src/x"}, "allow"),
        ("read", {"path": "docs/x"}, "allow"),
        ("write", {"path": "docs/x"}, "deny locked"),
        ("delete", {"path": "docs/x"}, "deny locked"),
        ("write", {"path": "SRC/x"}, "deny locked"),
        ("write", {"path": "src/gen/x"}, "deny locked"),
        ("write", {"path": "src/GEN/x"}, "deny locked"),
        ("copy", {"from": "docs/x", "to": "src/x"}, "allow"),
        ("copy", {"from": "src/x", "to": "docs/x"}, "deny locked"),
    ],
)
def test_locks_bind_writing_and_deleting(tool, args, expected):
    locks = {"may": ["src/**"], "except": ["src/gen/**"]}
    assert outcome(may("read", "write", "delete", "copy", locks=locks), tool, args) == expected


def test_a_lock_for_what_a_tool_might_write():
    tools = {"gen": {"args": {}, "does": {"write": "src/gen/a/b"}}, "out": {"args": {}, "does": {"write": "out/a/b"}}}
    agents = {"a": {"may": ["gen", "out"], "locks": {"may": ["src/**", "out/**"], "except": ["src/gen/**"]}}}
    rulebook = book(tools=tools, agents=agents)
    assert [outcome(rulebook, "gen"), outcome(rulebook, "out")] == ["deny locked", "allow"]


@pytest.mark.parametrize("command", ["some-program", "$x y", "curl https://x.example/api/a; some-program"])
def test_apis_and_what_is_not_understood(command):
    rulebook = book(agents={"a": {"may": ["run"], "apis": ["https://x.example/api/**"]}}, tiers={4: "allow"})
    assert outcome(rulebook, "run", {"command": command}) == "deny not-understood"
    assert outcome(rulebook, "run", {"command": "ls"}) == "allow"


def test_apis():
    rulebook = may("fetch", "search_web", "read", apis=["https://x.example/api/**"])
    assert outcome(rulebook, "fetch", {"url": "https://x.example/api/a"}) == "allow"
    assert outcome(rulebook, "fetch", {"url": "https://x.example/a"}) == "deny api-not-allowed"
    assert outcome(rulebook, "fetch", {"url": "https://x.example/api/%2e%2e/a"}) == "deny api-not-allowed"
    assert outcome(rulebook, "search_web", {"query": "x"}) == "deny api-not-allowed"
    assert outcome(rulebook, "read", {"path": "x"}) == "allow"


def test_skills():
    rulebook = may("invoke", skills=["dig"])
    assert outcome(rulebook, "invoke", {"name": "dig"}) == "allow"
    assert outcome(rulebook, "invoke", {"name": "DIG"}) == "deny skill-not-allowed"


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("b", "allow"),
        ("c", "allow"),  # by its role
        ("Git", "allow"),  # by called_by
        ("d", "deny delegation-not-allowed"),
        ("off", "deny delegation-not-allowed"),
        ("nobody", "deny delegation-not-allowed"),
        ("B", "deny delegation-not-allowed"),
    ],
)
def test_an_agent_that_is_named_in_an_argument(to, expected):
    rulebook = book(
        agents={
            "a": {"may": ["delegate"], "delegates_to": ["b", "workers", "off"]},
            "b": {"may": []},
            "c": {"may": [], "roles": ["workers"]},
            "d": {"may": []},
            "off": {"may": [], "enabled": False},
        },
        roles={"workers": {}},
        runners={"Git": {"may": [], "called_by": ["a"]}},
    )
    assert outcome(rulebook, "delegate", {"to": to}) == expected


def test_an_agent_that_is_not_registered_gets_no_work():
    rulebook = book(agents={"a": {"may": ["delegate"], "delegates_to": ["b"]}, "b": {"may": []}})
    known = Facts(registry=frozenset({"a"}))
    assert outcome(rulebook, "delegate", {"to": "b"}, facts=known) == "deny delegation-not-allowed"
