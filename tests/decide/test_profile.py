"""The profile of an agent's commands: what it is made of, and that it is never wider than the rules."""

from __future__ import annotations

import random
import shlex
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.decide.profile import profile_of, profile_of_call
from remit.model.call import Call, Context
from remit.model.errors import PolicyError
from remit.model.facts import Capsule, Facts
from remit.model.policy import Rule, Scope
from remit.model.profile import Limits, Network, Profile, Region
from remit.model.rulebook import Rulebook
from remit.model.terms import DENY
from remit.scopes.admits import Admits

ROOT = Facts(root="/w")


def book(agent: dict[str, Any], **more: Any) -> Rulebook:
    return build_rulebook({"remit": 1, "use": ["claude-code"], "agents": {"dev": agent}, **more})


def profile(agent: dict[str, Any], **more: Any) -> Profile:
    return profile_of(book(agent, **more), "dev", "Bash")


def test_an_unscoped_shell_may_write_the_root_but_what_is_protected() -> None:
    found = profile({"may": ["Bash"]})
    assert found.write == found.read == ()
    assert found.git
    assert found.network == Network()
    admits = Admits(found)
    assert admits.writes("a/b.py")
    assert admits.reads("a/b.py")
    for path in (".claude/settings.json", "sub/.claude/x", "remit.yaml", ".MCP.json", "sub/CLAUDE.md", ".remit/x"):
        assert not admits.writes(path), path
    assert not admits.reads(".remit/book")


def test_git_is_written_by_whom_the_rules_let_commit_and_never_its_hooks_and_configuration() -> None:
    admits = Admits(profile({"may": ["Bash"], "locks": {"may": ["src/**"]}}))
    assert admits.writes(".git/objects/ab/cd")
    assert admits.writes(".git/refs/heads/config")
    assert admits.writes("src/a")
    for path in (".git/hooks/pre-commit", ".git/config", ".GIT/config", ".git/commondir", ".git/modules/m/config", "a"):
        assert not admits.writes(path), path
    reader = profile({"may": [{"Bash": {"shell": {"run": [{"git": ["status", "log"]}]}}}]})
    assert not reader.git
    assert not Admits(reader).writes(".git/index")
    assert not profile({"may": ["Bash"], "may_not": [{"Bash": {"shell": {"run": ["git"]}}}]}).git
    committer = profile({"may": [{"Bash": {"shell": {"run": [{"git": ["commit"]}], "path": {"read": ["**"]}}}}]})
    assert committer.write == (Region(()),)


@pytest.mark.parametrize(
    "agent",
    [
        {"may": ["Bash"], "locks": {"may": ["src/**"]}},
        {"may": [{"Bash": {"shell": {"run": [{"git": ["commit"]}], "path": {"write": ["src/**"]}}}}]},
        {"may": [{"Bash": {"shell": {"run": [{"git": ["commit"]}], "in": "src/"}}}]},
        {"may": ["Bash"], "locks": {"may": ["src/**"]}, "data_tiers": [0]},
    ],
)
@pytest.mark.parametrize(("told", "absolute"), [(".", "/w"), ("src", "/w/src"), ("src/", "/w/src/.")])
def test_a_host_says_where_it_stands_by_an_absolute_path(agent: dict[str, Any], told: str, absolute: str) -> None:
    rules = book(agent)
    relative, whole = (
        profile_of_call(rules, Call("dev", "Bash", {"command": "make"}, Context(cwd=cwd)), ROOT)
        for cwd in (told, absolute)
    )
    assert relative == whole
    assert whole.git == (told != "." or "'in'" not in str(agent))


def test_what_git_keeps_is_spelled_as_git_does_and_what_is_lifted_is_bound_by_rules() -> None:
    locked = {"may": ["Bash"], "locks": {"may": ["src/**"]}}
    assert not Admits(profile(locked)).writes(".GIT/x")
    admits = Admits(profile(locked, unsafe_unprotect=[".git/hooks/**", ".claude/**"]))
    assert admits.writes(".git/index")
    assert not admits.writes(".git/hooks/pre-commit")
    assert not admits.writes(".claude/x")
    assert Admits(profile({"may": ["Bash"]}, unsafe_unprotect=[".claude/**"])).writes(".claude/x")


def test_every_limit_narrows_what_is_written() -> None:
    scope = {"shell": {"run": ["any", "project_code"], "path": {"read": ["**"], "write": ["src/**", "docs/**"]}}}
    found = profile(
        {
            "may": [{"Bash": scope}],
            "locks": {"may": ["src/**", "tests/**"], "except": ["src/gen/**"]},
            "may_not": [{"path": "src/old/**", "effect": "write"}],
        },
        protect=["src/keep.txt"],
    )
    admits = Admits(found)
    assert admits.writes("src/a.py")
    for path in ("docs/a.md", "tests/a.py", "src/gen/a", "src/old/a", "src/Old/a", "src/keep.txt"):
        assert not admits.writes(path), path
    assert admits.reads("src/old/a")


def test_labels_and_hide_take_reading_away() -> None:
    found = profile(
        {"may": ["Bash"], "data_tiers": [0, 1], "may_not": [{"path": "letters/**"}]},
        labels={"data": {2: {"path": ["people/**"]}, 1: {"path": ["plans/**"]}}},
        sandbox={"hide": ["**/*.key"]},
    )
    admits = Admits(found)
    assert admits.reads("plans/a")
    assert admits.reads("a.py")
    for path in ("people/a", "x/y.key", "letters/a"):
        assert not admits.reads(path), path
        assert not admits.writes(path), path
    assert found.needs == {"write", "read", "network"}


def test_a_task_narrows_and_may_grant_data() -> None:
    rules = book(
        {"may": ["Bash"], "data_tiers": [0], "data_tiers_with_grant": [2]}, labels={"data": {2: {"path": "p/**"}}}
    )
    free = Capsule("T", "dev", scope=("src/**",), data_tiers=(2,))
    found = profile_of(rules, "dev", "Bash", [free])
    assert found.write == (Region(("src/**",)),)
    assert "p/**" not in found.hidden
    assert "p/**" in profile_of(rules, "dev", "Bash").hidden
    only = Rule(
        "may", ("Bash",), Scope(parts={"shell": {"run": ["any"], "path": {"read": ["**"], "write": ["src/a/**"]}}})
    )
    bound = profile_of(rules, "dev", "Bash", [Capsule("T", "dev", may=(only,))])
    assert bound.write == (Region(("src/a/**",)),)
    assert bound.git


def test_every_caller_that_binds_the_call_narrows_it() -> None:
    agents = {
        "lead": {
            "may": ["Bash", {"WebFetch": {"url": "https://a.example/**"}}],
            "locks": {"may": ["src/**"]},
            "delegates_to": ["dev"],
            "delegate_within": "chain",
            "sandbox": {"hide": ["x/**"]},
        },
        "dev": {"may": ["Bash", {"WebFetch": {"url": ["https://a.example/**", "https://b.example/**"]}}]},
    }
    rules = build_rulebook({"remit": 1, "use": ["claude-code"], "agents": agents})
    alone = profile_of(rules, "dev", "Bash")
    assert alone.write == ()
    assert alone.network.urls == ("https://a.example/**", "https://b.example/**")
    found = profile_of(rules, "dev", "Bash", chain=("lead",))
    assert found.write == (Region(("src/**",)),)
    assert "x/**" in found.hidden
    assert found.network == Network("hosts", ("https://a.example/**",))
    with pytest.raises(LookupError):
        profile_of(rules, "dev", "Bash", chain=("nobody",))
    with pytest.raises(LookupError):
        profile_of(rules, "nobody", "Bash")


URLS: list[tuple[dict[str, Any], Network]] = [
    ({"may": ["Bash"]}, Network()),
    ({"may": ["Bash"], "sandbox": {"network": "open"}}, Network("open")),
    ({"may": ["Bash"], "apis": ["https://a.example/**"]}, Network("hosts", ("https://a.example/**",))),
    (
        {"may": [{"Bash": {"shell": {"run": ["ls", {"curl": {"url": ["https://a.example/**"]}}]}}}]},
        Network("hosts", ("https://a.example/**",)),
    ),
    # The commands that it may run reach nothing: what another tool may fetch is not theirs.
    ({"may": [{"Bash": {"shell": {"run": ["ls"]}}}, {"WebFetch": {"url": "https://a.example/**"}}]}, Network()),
    ({"may": ["Bash", {"WebFetch": {"url": "https://a.example/**"}}], "apis": []}, Network()),
    # The proxy sees no path of an encrypted connection, so the whole host is barred.
    (
        {
            "may": ["Bash", {"WebFetch": {"url": ["https://a.example/**", "https://b.example/**"]}}],
            "may_not": [{"url": "https://a.example/admin/**"}],
        },
        Network("hosts", ("https://b.example/**",)),
    ),
    (
        {
            "may": ["Bash", {"WebFetch": {"url": "https://a.example/**"}}],
            "may_not": [{"Bash": {"effect": "network"}}],
        },
        Network(),
    ),
    (
        {"may": ["Bash", {"WebFetch": {"url": "https://a.example/**"}}], "sandbox": {"network": "none"}},
        Network(),
    ),
]


@pytest.mark.parametrize(("agent", "network"), URLS)
def test_the_network_is_what_the_url_rules_name(agent: dict[str, Any], network: Network) -> None:
    assert profile(agent).network == network


def test_places_with_data_that_it_may_not_touch_are_not_reached() -> None:
    agent = {"may": ["Bash"], "data_tiers": [0], "apis": ["https://a.example/**", "https://b.example/**"]}
    found = profile(agent, labels={"data": {3: {"url": ["https://b.example/people/**"]}}})
    assert found.network.urls == ("https://a.example/**",)


def test_of_policy_roles_and_agent_the_strictest_counts() -> None:
    data = {
        "remit": 1,
        "use": ["claude-code"],
        "confine": "preferred",
        "sandbox": {"network": "policy", "caches": ["pip", "npm"], "limits": {"time": "10m", "memory": "4G"}},
        "roles": {"r": {"confine": "required", "sandbox": {"network": "none", "hide": ["x/**"], "home": "read"}}},
        "agents": {
            "dev": {
                "roles": "r",
                "may": ["Bash"],
                "confine": "off",
                "sandbox": {"network": "open", "caches": ["npm"], "hide": ["y/**"], "limits": {"time": "20m"}},
            },
            "other": {"may": ["Bash"]},
        },
    }
    rules = build_rulebook(data)
    dev = rules.book.callers["dev"]
    assert dev.confine == "required"
    assert rules.book.callers["other"].confine == "preferred"
    found = profile_of(rules, "dev", "Bash")
    assert found.network == Network()
    assert found.home == "read"
    assert found.caches == ("npm",)
    assert found.limits == Limits(seconds=600, memory=4 * 2**30)
    assert found.hidden[-2:] == ("x/**", "y/**")
    assert found.digest == profile_of(build_rulebook(data), "dev", "Bash").digest


@pytest.mark.parametrize(
    "wrong",
    [
        {"confine": "always"},
        {"sandbox": {"network": "all"}},
        {"sandbox": {"limits": {"memory": "4GB"}}},
        {"sandbox": {"limits": {"time": 10}}},
        {"sandbox": {"write": ["x"]}},
        {"sandbox": {"hide": ["/etc/**"]}},
    ],
)
def test_what_is_not_understood_does_not_load(wrong: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        book({"may": ["Bash"], **wrong})


def test_rules_for_some_contexts_count_only_there() -> None:
    rules = book({"may": [{"Bash": {"when": {"mode": "build"}}}]})
    assert profile_of(rules, "dev", "Bash").write == (Region(()),)
    call = Call("dev", "Bash", {"command": "ls"}, Context(mode="build"))
    assert profile_of_call(rules, call, ROOT).write == ()


# Never wider than the rules.

FOLDERS = ["src", "docs", "tests", "src/gen", "Src", ".git", ".claude", "data", ".github/hooks"]
NAMES = ["a.py", "b.md", "CLAUDE.md", "remit.yaml", "x.test.yaml", "config", "A.py"]
GLOBS = ["**", "src/**", "docs/*.md", "src/gen/**", "tests/**", "**/*.py", "data/a.py", "src/*", ".git/**", "*"]
LIMITED = {"not-permitted", "locked", "may-not", "protected", "capsule-constraint", "outside-root", "data-tier"}


def some(draw: random.Random, most: int = 3) -> list[str]:
    return draw.sample(GLOBS, draw.randint(1, most))


def drawn_scope(draw: random.Random) -> Any:
    globs, both = some(draw), {"run": ["touch", "cat", "echo"]}
    return draw.choice(
        [
            lambda: "Bash",
            lambda: {"Bash": {"shell": {"run": "any", "path": {"read": ["**"], "write": globs}, "redirect": globs}}},
            lambda: {"Bash": {"shell": {**both, "path": {"read": some(draw), "write": globs}, "redirect": globs}}},
            lambda: {"Bash": {"shell": {**both, "redirect": ["**"]}}},
            lambda: {"Bash": {"shell": {"run": ["echo", "cat"], "redirect": some(draw)}}},
            lambda: {"Bash": {"shell": {"run": ["cat"]}}},
            lambda: {"Bash": {"effect": draw.sample(["read", "write", "execute"], 2)}},
            lambda: {"Bash": {"when": {"mode": draw.choice(["build", "plan"])}}},
            lambda: {"Bash": {"shell": {"run": "any", "redirect": ["**"]}, "where": {"timeout": {"max": 500}}}},
        ]
    )()


def drawn_policy(draw: random.Random) -> dict[str, Any]:
    def agent() -> dict[str, Any]:
        found: dict[str, Any] = {"may": [drawn_scope(draw) for _ in range(draw.randint(1, 2))]}
        if draw.random() < 0.5:
            found["locks"] = {"may": some(draw), **({"except": some(draw, 1)} if draw.random() < 0.5 else {})}
        if draw.random() < 0.5:
            effect = {"effect": draw.choice(["write", "read", "delete"])} if draw.random() < 0.5 else {}
            avoid = (
                {"path": some(draw, 1)} if draw.random() < 0.8 else {"effect": "write", "except": {"path": some(draw)}}
            )
            found["may_not"] = [{**avoid, **effect} if "path" in avoid else avoid]
        if draw.random() < 0.3:
            found["data_tiers"] = [0, 1]
        return found

    lead = {**agent(), "delegates_to": ["dev"], "delegate_within": draw.choice(["chain", "own"])}
    more: dict[str, Any] = {"protect": some(draw, 1)} if draw.random() < 0.3 else {}
    if draw.random() < 0.3:
        more["unsafe_unprotect"] = [draw.choice([".claude/**", "remit.yaml"])]
    labels = {"data": {2: {"path": some(draw, 1)}}}
    return {"remit": 1, "use": ["claude-code"], "agents": {"lead": lead, "dev": agent()}, "labels": labels, **more}


def drawn_capsule(draw: random.Random) -> Capsule:
    globs = some(draw)
    scope = {"run": ["any"], "redirect": globs, "path": {"read": ["**"], "write": globs}}
    rule = Rule("may", ("Bash",), Scope(parts={"shell": scope}))
    nots = Rule("may_not", None, Scope(parts={"path": {"allow": tuple(some(draw, 1))}}))
    return Capsule(
        "T",
        "dev",
        scope=tuple(some(draw)) if draw.random() < 0.5 else None,
        may=(rule,) if draw.random() < 0.4 else None,
        may_not=(nots,) if draw.random() < 0.4 else (),
    )


def refusals(rules: Rulebook, path: str, context: Context, facts: Facts) -> list[str]:
    """Why each way to write a path by name is denied; empty if one is not."""
    quoted, found = shlex.quote(path), []
    for text in (f"touch {quoted}", f"echo x > {quoted}"):
        for timeout in ({}, {"timeout": 1}):
            decision = decide(rules, Call("dev", "Bash", {"command": text, **timeout}, context), facts)
            if decision.verdict is not DENY or decision.code not in LIMITED:
                return []
            if "not among the commands" not in decision.reason:  # that is about programs, which no profile knows
                found.append(f"{text}: {decision.code} {decision.reason}")
    return found


def check_drawn(seed: int) -> tuple[int, int]:
    """How many paths of how many a drawn profile lets be written: each of them may be named, too."""
    draw = random.Random(seed)  # noqa: S311
    try:
        rules = build_rulebook(drawn_policy(draw))
    except PolicyError:
        return 0, 0
    capsule = drawn_capsule(draw) if draw.random() < 0.5 else None
    chain = ("lead",) if draw.random() < 0.5 else ()
    context = Context(chain=chain, capsule="T" if capsule else None, mode=draw.choice(["build", None]))
    facts = Facts(root="/w", capsules={"T": capsule} if capsule else {})
    admits = Admits(profile_of_call(rules, Call("dev", "Bash", {"command": "ls"}, context), facts))
    hits = tried = 0
    for _ in range(12):
        path = "/".join([*draw.sample(FOLDERS, draw.randint(0, 2)), draw.choice(NAMES)])
        tried += 1
        if admits.writes(path) and not path.startswith(".git/"):
            hits += 1
            assert not refusals(rules, path, context, facts), (seed, path, refusals(rules, path, context, facts))
    return hits, tried


def test_what_a_profile_lets_be_written_may_be_written_by_name() -> None:
    drawn = [check_drawn(seed) for seed in range(150)]
    hits, tried = (sum(column) for column in zip(*drawn, strict=True))
    assert tried > 1000
    assert hits > 100


@pytest.mark.more
def test_more_of_the_same() -> None:
    assert sum(check_drawn(seed)[0] for seed in range(1000, 4000)) > 2000
