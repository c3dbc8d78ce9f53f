"""Fuzzing the loader: whatever a file holds, it is a rulebook or a PolicyError that can be read, in time."""

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.declare.nodes import parse
from remit.model import PolicyError
from tests.fuzz.kit import EXAMPLES, SIGNS, build, check_problems, check_protection, load_text, mutated

SMALL = [
    """remit: 1
tools: {t: {args: {p: path, n: number}, optional: [n], does: {write: p}}}
agents: {a: {may: [t: {path: "docs/**", examples: {allow: [{p: docs/x}]}}]}, b: {may: [], roles: [r]}}
roles: {r: {may_not: [{effect: write, except: {path: x}}]}}
never: [{agent: b, effect: write}]
""",
    """remit: 1
use: [vscode]
agents:
  a:
    may:
      - read_file
      - create_file: {path: "research/*.yaml"}
    must_ask: [{create_file: {path: "docs/**", ask: human}}]
    locks: {may: ["docs/**"], except: [docs/x]}
labels: {data: {3: {path: ["**/*.pem"]}}, production: {host: [x.example]}}
tiers: {3: {ask: chain, planned: true}}
""",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("policies")


@settings(max_examples=250)
@given(text=mutated(SMALL))
def test_mutated_small_policies(folder, text):
    rulebook = load_text(text.encode(), folder)
    if rulebook is not None:
        check_protection(rulebook)


@settings(max_examples=40)
@given(text=mutated(list(EXAMPLES.values())))
def test_mutated_examples(folder, text):
    rulebook = load_text(text.encode(), folder)
    if rulebook is not None:
        check_protection(rulebook)


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*SIGNS, "a", "b: c", "x"]) | st.text(max_size=6), max_size=25).map("".join))
def test_any_text_is_yaml_or_an_error(text):
    try:
        parse(text.encode("utf-8", "replace").decode(), "x")
    except PolicyError as error:
        check_problems(error)


@settings(max_examples=150)
@given(data=st.binary(max_size=60))
def test_any_bytes(folder, data):
    load_text(data, folder)


# --- policies of the right words in any shape ---

WORDS = """
a b r t u R x read write network path url text number one_of human chain docs/** ** * x/[
https://x.example/** https://** nothing allow deny ask required own 2027-01-01 10m 90d sandbox
interactive no true 1 3 .. a.b a[]
"""
KEYS = """
may may_not must_ask roles tools args does optional defaults path url agent skill where when effect
except allow outside new_only examples ask regex range min max length equals one_of mode capsule
t u a b r p a.b a[] data 3 below shell sql run halt observe until locks apis skills data_tiers
accessible_by layer aliases
"""
words = st.sampled_from([*WORDS.split(), "", "a\0b", "\u202e"])
scalars = words | st.booleans() | st.integers(-1, 5) | st.none() | st.floats(allow_nan=True)
keys = st.sampled_from(KEYS.split())
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)
tool = st.fixed_dictionaries(
    {
        "args": st.dictionaries(
            st.sampled_from(["p", "u", "n", "a", "a.b", "a[]", "c[].d"]),
            st.sampled_from(["path", "url", "number", "text", "agent", "shell"]) | anything,
            max_size=3,
        )
    },
    optional={
        "does": st.sampled_from(
            ["nothing", {"write": "p"}, {"read": ["**", "p"]}, {"network": "u"}, {"delete": {"below": "p"}}]
        )
        | anything,
        "optional": st.lists(st.sampled_from(["p", "u", "n"]), max_size=2) | anything,
        "defaults": st.dictionaries(st.sampled_from(["p", "u", "n"]), words, max_size=1) | anything,
        "tier": st.integers(0, 4) | anything,
        "accessible_by": st.lists(st.sampled_from(["a", "b", "r"]), max_size=2) | anything,
        "layer": words,
        "aliases": st.lists(st.sampled_from(["x", "t", "u"]), max_size=1) | anything,
        "confirm": st.booleans() | anything,
    },
)
scope = st.dictionaries(
    st.sampled_from(["path", "url", "where", "when", "effect", "except", "examples", "agent", "skill"]),
    anything,
    max_size=3,
)
rules = st.lists(
    st.sampled_from(["t", "u", "s", "*", "x"])
    | st.dictionaries(st.sampled_from(["t", "u", "s"]), scope, max_size=2)
    | scope
    | anything,
    max_size=3,
)
caller = st.fixed_dictionaries(
    {"may": rules | anything},
    optional={
        "may_not": rules,
        "must_ask": rules,
        "roles": st.lists(st.sampled_from(["r", "q", "a"]), max_size=2) | anything,
        "delegates_to": st.lists(st.sampled_from(["a", "b", "r"]), max_size=2) | anything,
        "locks": anything,
        "apis": anything,
        "skills": anything,
        "data_tiers": st.lists(st.integers(0, 3), max_size=3) | anything,
        "capsule": st.sampled_from(["required", "optional"]) | anything,
        "enforce": anything,
        "tools": st.dictionaries(st.sampled_from(["t", "own"]), tool | anything, max_size=1) | anything,
    },
)
policies = st.fixed_dictionaries(
    {
        "remit": st.just(1),
        "tools": st.dictionaries(st.sampled_from(["t", "u"]), tool, min_size=1, max_size=2),
        "agents": st.dictionaries(st.sampled_from(["a", "b"]), caller, min_size=1, max_size=2),
    },
    optional={
        "roles": st.dictionaries(st.sampled_from(["r", "q"]), caller | anything, max_size=2) | anything,
        "toolsets": st.dictionaries(
            st.sampled_from(["s", "t"]), st.lists(st.sampled_from(["t", "u", "s", "*"]), max_size=3), max_size=2
        ),
        "never": st.lists(
            st.dictionaries(
                st.sampled_from(["agent", "role", "tool", "effect", "kind", "toolset"]),
                st.sampled_from(["a", "b", "r", "t", "write", "path", "*", "s"]),
                max_size=3,
            ),
            max_size=2,
        ),
        "labels": anything,
        "tiers": anything,
        "grants": anything,
        "protect": anything,
        "reserved": anything,
        "runners": anything,
        "defaults": anything,
        "enforce": anything,
        "hosts": anything,
    },
)


@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large],
)
@given(policies)
def test_policies_of_any_shape(data):
    rulebook = build(data)
    if rulebook is not None:
        check_protection(rulebook)


# --- policies that load, with one place changed ---

RICH: dict[str, Any] = {
    "remit": 1,
    "tools": {
        "t": {"args": {"p": "path", "n": "number"}, "optional": ["n"], "does": {"write": "p"}, "aliases": ["tt"]},
        "u": {"args": {"u": "url", "g": "glob"}, "optional": ["g"], "defaults": {"g": "*"}, "does": {"network": "u"}},
        "w": {"args": {"c[].d": "path", "m": {"one_of": ["x", 1]}, "k": "skill"}, "does": {"read": ["c[].d", "**"]}},
        "z": {"args": {"to": "agent"}, "does": {"delegate": "to"}, "accessible_by": ["a"], "layer": "x", "risk": "low"},
        "run": {"args": {"c": "shell"}, "tier": 2},
    },
    "toolsets": {"s": ["t", "u"]},
    "roles": {"r": {"may": ["s"], "data_tiers": [0, 1]}, "q": {"roles": ["r"], "may_not": [{"effect": "delete"}]}},
    "runners": {"R": {"may": ["run"], "called_by": ["a"]}},
    "agents": {
        "a": {
            "roles": ["r"],
            "may": [{"t": {"path": {"allow": ["docs/**"], "except": ["docs/x"]}, "examples": {"allow": ["docs/a"]}}}],
            "must_ask": [{"u": {"url": ["https://x.example/**"], "ask": "human"}}],
            "may_not": [{"effect": ["network"], "except": {"url": "https://x.example/**"}}],
            "locks": {"may": ["docs/**"]},
            "delegates_to": ["b"],
            "tools": {"own": {"args": {}, "does": "nothing"}},
        },
        "b": {"may": [{"t": {"when": {"mode": ["m"]}, "where": {"n": {"range": [1, 2]}}}}], "capsule": "required"},
    },
    "reserved": {"git": {"tools": ["own*"], "urls": ["https://git.example/**"], "runner": "R"}},
    "never": [{"agent": "b", "tool": "run"}, {"agent": "b", "effect": "network", "assuming": ["sandbox"]}],
    "labels": {"data": {"3": {"path": ["**/*.pem"], "url": ["https://v.example/**"]}}, "production": {"host": ["x"]}},
    "tiers": {"3": {"ask": "chain", "planned": True}, "4": "deny"},
    "grants": [{"agent": "b", "may": ["own2"], "adr": "1", "approved_by": "p", "until": "2030-01-01"}],
    "protect": ["deploy/**"],
    "enforce": {"observe": {"until": "2027-01-01"}},
}
RICH["tools"]["own2"] = {"args": {}, "does": "nothing"}
RICH["never"] = RICH["never"][:1]


def places(value, path=()):
    """Every place of a policy: the keys and numbers that lead there."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


PLACES = [path for path in places(RICH) if path]
CHANGES = ["replace", "empty", "remove", "add", "copy"]


@st.composite
def changed(draw):
    data = copy.deepcopy(RICH)
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=2, unique=True)):
        parent: Any = data
        try:
            for key in path[:-1]:
                parent = parent[key]
            old = parent[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
        if not isinstance(parent, (dict, list)):
            continue
        change = draw(st.sampled_from(CHANGES))
        if change == "remove":
            del parent[path[-1]]
        elif change == "add" and isinstance(old, dict):
            old[draw(keys)] = draw(anything)
        elif change == "add" and isinstance(old, list):
            old.append(draw(anything))
        elif change == "empty":
            parent[path[-1]] = draw(st.sampled_from([[], {}, "", None, [{}], [[]]]))
        elif change == "copy":
            other: Any = RICH
            for key in draw(st.sampled_from(PLACES)):
                other = other[key]
            parent[path[-1]] = copy.deepcopy(other)
        else:
            parent[path[-1]] = draw(anything)
    return data


def test_the_policy_that_is_changed_loads():
    assert build(RICH) is not None


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(changed())
def test_a_policy_with_one_place_changed(data):
    rulebook = build(data)
    if rulebook is not None:
        check_protection(rulebook)


@pytest.mark.long
@settings(max_examples=10_000, suppress_health_check=list(HealthCheck))
@given(changed())
def test_many_policies_with_one_place_changed(data):
    rulebook = build(data)
    if rulebook is not None:
        check_protection(rulebook)


@settings(max_examples=120)
@given(anything)
def test_policies_that_are_hardly_policies(data):
    build({"remit": 1, "agents": data, "tools": data, "never": data, "labels": data, "grants": data, "tiers": data})
