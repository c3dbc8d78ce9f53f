"""Decisions about commands that run confined (docs/semantics.md §7)."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.decide.profile import profile_of_call
from remit.decide.questions import call_digest
from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.facts import Approval, Capsule, Facts
from remit.model.policy import Rule, Scope
from remit.model.profile import HELD, HOLDS
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW

HERE = Facts(root="/w", now="2027-01-01T00:00:00Z", confined=HELD)
NOWHERE = Facts(root="/w", now="2027-01-01T00:00:00Z")


def book(agent: dict[str, Any], **more: Any) -> Rulebook:
    return build_rulebook(
        {
            "remit": 1,
            "use": ["claude-code"],
            "confine": "required",
            "agents": {"dev": {"may": ["Bash"], **agent}},
            **more,
        }
    )


def ask(rules: Rulebook, text: str, facts: Facts = HERE, **context: Any) -> Decision:
    return decide(rules, Call("dev", "Bash", {"command": text}, Context(**context)), facts)


def said(rules: Rulebook, text: str, facts: Facts = HERE, **context: Any) -> str:
    found = ask(rules, text, facts, **context)
    return f"{found.verdict.word} {found.code} {found.tier}"


LOCKED = {"locks": {"may": ["src/**"]}}
SPARED = {"locks": {"may": ["**"], "except": ["**/*.zz", "lib/gen/**"]}}
APIS = {"apis": ["https://a.example/**"]}
DATA = {"data_tiers": [0]}
ANY = {"may": [{"Bash": {"shell": {"run": ["any", "project_code"], "path": {"read": ["**"], "write": ["src/**"]}}}}]}
ONLY_UNDERSTOOD = {"may": [{"Bash": {"shell": {"run": "any", "path": {"read": ["**"], "write": ["src/**"]}}}}]}
LISTED = {"may": [{"Bash": {"shell": {"run": ["touch", "cat"], "path": {"read": ["**"], "write": ["src/**"]}}}}]}
LIFTED = [
    # What is not understood has the tier of project code.
    ({}, "frobnicate --all", "allow allowed 2", "ask tier-asks 4"),
    ({"sandbox": {"network": "open"}}, "frobnicate", "ask tier-asks 4", "ask tier-asks 4"),
    ({"sandbox": {"network": "none"}}, "python3 -c 'x()'", "allow allowed 2", "ask tier-asks 4"),
    # What the text shows stays.
    ({}, "npm install left-pad", "ask tier-asks 3", "ask tier-asks 3"),
    ({}, "git push", "ask tier-asks 4", "ask tier-asks 4"),
    ({}, "kubectl apply -f a.yaml", "ask tier-asks 4", "ask tier-asks 4"),
    ({}, "rm -rf ~", "ask tier-asks 4", "ask tier-asks 4"),
    ({}, "rm -rf ~/x", "ask tier-asks 4", "ask tier-asks 4"),
    ({}, "systemctl restart nginx", "allow allowed 2", "ask tier-asks 4"),
    ({}, "frobnicate; npm publish", "ask tier-asks 4", "ask tier-asks 4"),
    ({}, "echo x > .claude/settings.json", "deny protected 2", "deny protected 2"),
    ({}, "rm ~/x", "ask tier-asks 4", "ask tier-asks 4"),
    # Something protected could be it.
    ({}, "touch $f", "allow allowed 2", "ask target-unknown 2"),
    ({}, "git stash", "allow allowed 2", "ask target-unknown 2"),
    ({}, "rm -r $f", "allow allowed 2", "ask tier-asks 4"),
    # Locks.
    (LOCKED, "touch $f", "allow allowed 2", "deny locked 2"),
    (LOCKED, "frobnicate", "allow allowed 2", "deny not-understood 4"),
    (LOCKED, "touch docs/a", "deny locked 2", "deny locked 2"),
    (LOCKED, "touch $f docs/a", "deny locked 2", "deny locked 2"),
    (LOCKED, "cp a ~/b", "deny locked 2", "deny locked 2"),
    # What lies in a folder is not told; what an exception names is.
    (SPARED, "git mv a b", "allow allowed 2", "deny locked 2"),
    (SPARED, "cp -r src src2", "allow allowed 2", "deny locked 2"),
    (SPARED, "rm -r docs", "allow allowed 2", "deny locked 2"),
    (SPARED, "tsc --outDir dist", "allow allowed 2", "deny locked 2"),
    (SPARED, "find src -delete", "allow allowed 2", "deny locked 2"),
    (SPARED, "rm *.zz", "deny locked 2", "deny locked 2"),
    (SPARED, "rm src/*.z?", "deny locked 2", "deny locked 2"),
    (SPARED, "mv a b.zz", "deny locked 2", "deny locked 2"),
    (SPARED, "rm -r lib", "deny locked 2", "deny locked 2"),
    (SPARED, "rm -r LIB", "deny locked 2", "deny locked 2"),
    (SPARED, "cp -r src lib/gen", "deny locked 2", "deny locked 2"),
    (SPARED, "cp -r src lib/gen/in", "deny locked 2", "deny locked 2"),
    # A folder that is made is empty, confined or not.
    (SPARED, "mkdir -p x lib lib/y", "allow allowed 2", "allow allowed 2"),
    (SPARED, "mkdir lib/gen", "deny locked 2", "deny locked 2"),
    (SPARED, "mkdir lib/Gen/x", "deny locked 2", "deny locked 2"),
    (SPARED, "mkdir x.zz", "deny locked 2", "deny locked 2"),
    # Scopes.
    (ANY, "frobnicate", "allow allowed 2", "deny not-permitted 4"),
    (ANY, "touch $f", "allow allowed 2", "deny not-permitted 2"),
    (ANY, "touch docs/a", "deny not-permitted 2", "deny not-permitted 2"),
    (ANY, "touch ~/a", "deny not-permitted 2", "deny not-permitted 2"),
    (ONLY_UNDERSTOOD, "frobnicate", "deny not-permitted 2", "deny not-permitted 4"),
    (ONLY_UNDERSTOOD, "touch $f", "allow allowed 2", "deny not-permitted 2"),
    (LISTED, "frobnicate", "deny not-permitted 2", "deny not-permitted 4"),
    # Prohibitions.
    ({"may_not": [{"path": "src/**"}]}, "frobnicate", "allow allowed 2", "deny may-not 4"),
    ({"may_not": [{"path": "src/**"}]}, "touch $f", "allow allowed 2", "deny may-not 2"),
    ({"may_not": [{"path": "src/**"}]}, "touch src/a", "deny may-not 2", "deny may-not 2"),
    ({"may_not": [{"effect": "network"}]}, "frobnicate", "allow allowed 2", "deny may-not 4"),
    ({"may_not": [{"effect": "publish"}]}, "frobnicate", "deny may-not 2", "deny may-not 4"),
    ({"may_not": [{"Bash": {"shell": {"run": ["rm"]}}}]}, "frobnicate", "deny may-not 2", "deny may-not 4"),
    ({"may_not": [{"url": "https://x.example/**"}]}, "frobnicate", "allow allowed 2", "deny may-not 4"),
    ({"project_code": "deny"}, "frobnicate", "deny project-code 2", "deny project-code 4"),
    ({"project_code": "deny"}, "make", "deny project-code 2", "deny project-code 2"),
    # A question of a rule stays.
    ({"must_ask": [{"path": "db/**"}]}, "frobnicate", "ask must-ask 2", "ask tier-asks 4"),
    # APIs and data.
    (APIS, "frobnicate", "allow allowed 2", "deny not-understood 4"),
    (APIS, "git fetch", "allow allowed 2", "deny api-not-allowed 2"),
    (APIS, "curl https://b.example/x", "deny api-not-allowed 2", "deny api-not-allowed 2"),
    (DATA, "frobnicate", "allow allowed 2", "deny not-understood 4"),
    (DATA, "cat $f", "allow allowed 2", "deny data-tier 2"),
    (DATA, "cat people/a", "deny data-tier 2", "deny data-tier 2"),
    (DATA, "cat people/a $f", "deny data-tier 2", "deny data-tier 2"),
]


def test_a_lock_says_what_it_excepts() -> None:
    assert "only **, except **/*.zz, lib/gen/**; " in ask(book(SPARED), "touch a.zz").reason


LABELS = {"data": {2: {"path": ["people/**"]}}}


@pytest.mark.parametrize(("agent", "text", "confined", "plain"), LIFTED)
def test_what_falls_away_and_what_stays(agent: dict[str, Any], text: str, confined: str, plain: str) -> None:
    assert said(book(agent, labels=LABELS), text) == confined
    assert said(book(agent, labels=LABELS, confine="off"), text) == plain


@pytest.mark.parametrize(("agent", "text", "confined", "plain"), LIFTED)
def test_preferred_lowers_only_the_tier(agent: dict[str, Any], text: str, confined: str, plain: str) -> None:
    found, rules = (
        said(book(agent, labels=LABELS, confine="preferred"), text),
        book(agent, labels=LABELS, confine="off"),
    )
    if plain.startswith("deny"):
        assert found.split()[:2] == plain.split()[:2]
    else:
        assert found in (plain, confined)
    # Where it can't be held, it is as without it, and the trace says so.
    loose = ask(book(agent, labels=LABELS, confine="preferred"), text, NOWHERE)
    assert f"{loose.verdict.word} {loose.code} {loose.tier}" == said(rules, text, NOWHERE)
    assert not [one for one in loose.obligations if one.do == "confine"]
    if loose.code != "protected":
        assert any("runs unconfined" in line for line in loose.detail)


@pytest.mark.parametrize(("agent", "text", "confined", "plain"), LIFTED)
def test_required_runs_confined_or_not_at_all(agent: dict[str, Any], text: str, confined: str, plain: str) -> None:
    rules = book(agent, labels=LABELS)
    found = ask(rules, text, NOWHERE)
    assert found.verdict.word == "deny"
    assert found.code == "confine-unavailable" or plain.startswith(f"deny {found.code}")
    held = ask(rules, text)
    if held.verdict.word == "deny":
        assert held.obligations == ()
    else:
        [one] = [one for one in held.obligations if one.do == "confine"]
        digest = profile_of_call(rules, Call("dev", "Bash", {"command": text}), HERE).digest
        assert (one.arg, one.value) == ("command", digest)


def test_it_is_held_only_if_every_limit_of_the_profile_is() -> None:
    plain = book({})
    hosts = book(APIS)
    hiding = book({"sandbox": {"hide": ["**/*.key"]}})
    for rules, needed in (
        (plain, {"write", "network"}),
        (hosts, {"write", "hosts"}),
        (hiding, {"write", "network", "read"}),
    ):
        assert said(rules, "ls", Facts(confined=frozenset(needed))) == "allow allowed 2"
        for one in needed:
            assert said(rules, "ls", Facts(confined=frozenset(HOLDS) - {one})) == "deny confine-unavailable 2"
    open_ = book({"sandbox": {"network": "open"}})
    assert said(open_, "ls", Facts(confined=frozenset({"write"}))) == "allow allowed 2"


def test_reading_is_no_limit_where_it_is_not_held() -> None:
    rules = book(
        {"may_not": [{"path": "src/**"}, {"path": "docs/**", "effect": "write"}], "sandbox": {"network": "open"}}
    )
    some = Facts(confined=frozenset({"write", "read"}))
    assert said(rules, "touch $f", some) == "allow allowed 2"
    # Only a backend that hides could hold it, and the profile needs that: so it is all or nothing.
    assert said(rules, "touch $f", Facts(confined=frozenset({"write"}))) == "deny may-not 2"


def test_only_commands_are_confined() -> None:
    rules = book({"may": ["Bash", "Read"]})
    call = Call("dev", "Read", {"file_path": "a"})
    found = decide(rules, call, NOWHERE)
    assert found.allowed
    assert found.obligations == ()


def test_places_that_need_a_question_keep_it() -> None:
    urls = {"may": ["Bash", {"WebFetch": {"url": ["https://a.example/**", "https://prod.example/**"]}}]}
    labels = {"production": {"url": ["https://prod.example/**"]}}
    assert said(book(urls), "frobnicate") == "allow allowed 2"
    assert said(book(urls), "frobnicate", environment="production") == "ask tier-asks 4"
    assert said(book(urls, labels=labels), "frobnicate") == "ask tier-asks 4"
    anywhere = {"may": ["Bash", {"WebFetch": {"url": "https://**"}}]}
    assert said(book(anywhere), "frobnicate") == "ask tier-asks 4"


def test_data_in_tables_is_not_held() -> None:
    rules = book(DATA, labels={"data": {2: {"table": ["people"]}}})
    assert said(rules, "frobnicate") == "deny not-understood 2"


def test_reserved_programs_stay_reserved() -> None:
    more = {
        "runners": {"shipper": {"may": ["Bash"], "called_by": ["dev"]}},
        "reserved": {"ship": {"programs": ["terraform"], "runner": "shipper"}},
    }
    assert said(book({}, **more), "frobnicate") == "deny reserved 2"
    urls = {**more, "reserved": {"ship": {"urls": ["https://api.example/**"], "runner": "shipper"}}}
    assert said(book({}, **urls), "frobnicate") == "allow allowed 2"


def test_a_task_binds_and_is_held_too() -> None:
    rules = book({})
    only = Rule(
        "may", ("Bash",), Scope(parts={"shell": {"run": ["any", "project_code"], "path": {"write": ["src/**"]}}})
    )
    nots = Rule("may_not", None, Scope(parts={"path": {"allow": ("src/a/**",)}}))
    facts = Facts(root="/w", confined=HELD, capsules={"T": Capsule("T", "dev", may=(only,), may_not=(nots,))})
    assert said(rules, "frobnicate", facts, capsule="T") == "allow allowed 2"
    assert said(rules, "touch src/a/b", facts, capsule="T") == "deny capsule-constraint 2"
    assert said(rules, "touch docs/b", facts, capsule="T") == "deny capsule-constraint 2"


def test_who_binds_the_chain_confines_it() -> None:
    data = {
        "remit": 1,
        "use": ["claude-code"],
        "agents": {
            "lead": {
                "may": ["Bash"],
                "confine": "required",
                "delegates_to": ["dev"],
                "delegate_within": "chain",
                "locks": {"may": ["src/**"]},
            },
            "dev": {"may": ["Bash"]},
        },
    }
    rules = build_rulebook(data)
    assert said(rules, "frobnicate") == "ask tier-asks 4"
    assert said(rules, "frobnicate", chain=("lead",)) == "allow allowed 2"
    assert said(rules, "touch docs/a", chain=("lead",)) == "deny locked 2"
    assert said(rules, "ls", NOWHERE, chain=("lead",)) == "deny confine-unavailable 2"
    assert ask(rules, "ls", chain=("nobody",)).code == "broken-chain"


def test_what_was_looked_at_and_is_protected_is_asked_about() -> None:
    facts = Facts(root="/w", confined=HELD, changes={"git switch main": (".claude/settings.json",)})
    assert said(book({}), "git switch main", facts) == "ask target-unknown 2"


def test_answers_and_memory_are_of_one_state_of_confinement() -> None:
    rules = book({}, confine="preferred")
    call = Call("dev", "Bash", {"command": "frobnicate"})
    confined, loose = (call_digest(call, rules.hash, facts) for facts in (HERE, NOWHERE))
    assert confined != loose
    for _ in range(3):
        assert said(rules, "frobnicate") == "allow allowed 2"
        assert said(rules, "frobnicate", NOWHERE) == "ask tier-asks 4"
    answered = Facts(now=NOWHERE.now, root="/w", approvals=(Approval("A", confined, "ann"),))
    assert said(rules, "frobnicate", answered) == "ask tier-asks 4"


def test_observing_says_what_would_be() -> None:
    rules = book({}, enforce={"observe": {"until": "2028-01-01"}})
    found = ask(rules, "ls", NOWHERE)
    assert (found.verdict.word, found.would, found.code) == ("allow", "deny", "confine-unavailable")


MACHINE = (
    "systemctl restart nginx",
    "useradd ann",
    "mount /dev/sda1 /mnt",
    "shutdown now",
    "rm /tmp/x",
    "touch /var/tmp/x",
)


@pytest.mark.parametrize("text", MACHINE)
@pytest.mark.parametrize("agent", [{}, {"confine": "off"}, {"confine": "required", "sandbox": {"network": "open"}}])
def test_what_is_not_held_is_decided_as_without_confinement(text: str, agent: dict[str, Any]) -> None:
    """Tier and verdict of an agent that is not confined, or whose network is open, are those of a plain one, however
    much the machine could hold; only folders of a command's own need no network."""
    plain = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"dev": {"may": ["Bash"]}}})
    other = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"dev": {"may": ["Bash"], **agent}}})
    call = Call("dev", "Bash", {"command": text})
    before, after = decide(plain, call, Facts(root="/w")), decide(other, call, Facts(root="/w", confined=HELD))
    private = agent.get("confine") == "required" and text.endswith("tmp/x")
    assert (after.verdict, after.tier) == ((ALLOW, 2) if private else (before.verdict, before.tier))


@pytest.mark.parametrize("root", ["/tmp/w", "/tmp/a/b"])
def test_a_folder_that_the_root_lies_in_is_not_private(root: str) -> None:
    policy = {"remit": 1, "use": ["claude-code"], "agents": {"dev": {"may": ["Bash"], "confine": "required"}}}
    call = Call("dev", "Bash", {"command": "rm -rf /tmp/x /tmp/a"})
    rulebook = build_rulebook(policy)
    assert decide(rulebook, call, Facts(root="/w", confined=HELD)).verdict is ALLOW
    assert decide(rulebook, call, Facts(root=root, confined=HELD)).verdict is not ALLOW
    assert decide(rulebook, call, Facts(confined=HELD)).verdict is not ALLOW
