"""The content hash: the same for the same meaning, however it is written; another for another meaning."""

import copy
import json
from typing import Any

import pytest

from remit.compile import build_rulebook, load_rulebook

POLICY: dict[str, Any] = {
    "remit": 1,
    "name": "small",
    "tools": {
        "read": {"args": {"path": "path"}, "does": {"read": "path"}, "aliases": ["view", "open"]},
        "write": {"args": {"path": "path", "text": "text"}, "does": {"write": "path"}, "tier": 1},
    },
    "toolsets": {"files": ["read", "write"]},
    "roles": {"L1": {"may": ["read"], "data_tiers": [0, 1]}},
    "agents": {
        "a": {
            "roles": ["L1"],
            "may": [{"write": {"path": ["docs/**", "src/**"]}}],
            "must_ask": [{"write": {"path": "src/**"}}],
            "may_not": [{"effect": "delete"}],
            "delegates_to": ["b"],
            "locks": {"may": ["docs/**", "src/**"], "except": ["src/gen/**"]},
        },
        "b": {"may": ["files"], "data_tiers": [0, 1, 2]},
    },
    "labels": {"data": {3: {"path": ["secrets/**", "**/*.pem"]}}, "production": {"host": ["*.prod.example"]}},
    "tiers": {3: {"ask": "human"}},
    "gates": ["plan", "demo"],
    "protect": ["deploy/**"],
}
HASH = build_rulebook(POLICY).hash


def turned(value):
    """The same data with every mapping and every list in reverse, but for those whose order is their meaning."""
    if isinstance(value, dict):
        return {key: (item if key == "gates" else turned(item)) for key, item in reversed(value.items())}
    if isinstance(value, list):
        return [turned(item) for item in reversed(value)]
    return value


def test_the_order_of_keys_and_rules_does_not_matter():
    assert json.dumps(turned(POLICY)) != json.dumps(POLICY)
    assert build_rulebook(turned(POLICY)).hash == HASH


def test_the_same_text_gives_the_same_hash(tmp_path):
    path = tmp_path / "remit.yaml"
    path.write_text(json.dumps(POLICY))  # flow style, quoted
    first = load_rulebook(path).hash
    path.write_text("# a comment\n\n" + json.dumps(POLICY, indent=4) + "\n")
    assert load_rulebook(path).hash == first


def test_block_and_flow_style(tmp_path):
    path = tmp_path / "remit.yaml"
    path.write_text(
        "remit: 1\ntools: {t: {args: {p: path}, does: {read: p}}}\nagents: {a: {may: [t: {path: 'a/**'}]}}\n"
    )
    first = load_rulebook(path).hash
    path.write_text(
        "agents:\n  a:\n    may:\n      - t:\n          path:\n            - a/**   # the same\n"
        'tools:\n  "t":\n    does:\n      read: p\n    args:\n      p: path\nremit: 1\n'
    )
    assert load_rulebook(path).hash == first


def test_a_toolset_and_its_members_mean_the_same():
    other = copy.deepcopy(POLICY)
    other["agents"]["b"]["may"] = [["read", "write"]]
    assert build_rulebook(other).hash == HASH


def test_comments_for_people_do_not_count():
    other = copy.deepcopy(POLICY)
    other["tools"]["read"]["about"] = "Reads a file"
    other["agents"]["a"]["may"][0]["write"]["examples"] = {"ask": [{"path": "src/a", "text": ""}]}
    assert build_rulebook(other).hash == HASH


def split(tmp_path, files: dict[str, dict]) -> str:
    """The hash of a policy that lies in these files; the same file names each time, since includes are protected."""
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"remit": 1, **data}))
    return load_rulebook(tmp_path / "remit.yaml").hash


def test_where_a_declaration_lies_does_not_matter(tmp_path):
    agents = POLICY["agents"]
    main = {key: value for key, value in POLICY.items() if key != "agents"}
    both = {"include": ["x/1.yaml", "x/2.yaml"]}
    hashes = {
        split(tmp_path, {"remit.yaml": {**main, **both}, "x/1.yaml": {"agents": agents}, "x/2.yaml": {}}),
        split(tmp_path, {"remit.yaml": {**main, **both}, "x/1.yaml": {}, "x/2.yaml": {"agents": agents}}),
        split(
            tmp_path,
            {
                "remit.yaml": {**main, "include": ["x/2.yaml", "x/1.yaml"]},
                "x/1.yaml": {"agents": {"b": agents["b"]}},
                "x/2.yaml": {"agents": {"a": agents["a"]}},
            },
        ),
        split(tmp_path, {"remit.yaml": {**main, **both, "agents": agents}, "x/1.yaml": {}, "x/2.yaml": {}}),
    }
    assert len(hashes) == 1


def changed(**edits):
    other = copy.deepcopy(POLICY)
    for path, value in edits.items():
        place = other
        *above, last = path.split("__")
        for key in above:
            place = place[key]
        place[last] = value
    return other


@pytest.mark.parametrize(
    "edits",
    [
        {"agents__a__may": [{"write": {"path": ["docs/**"]}}]},
        {"agents__a__may": [{"write": {"path": ["docs/**", "src/*"]}}]},
        {"agents__a__must_ask": []},
        {"agents__a__may_not": []},
        {"agents__a__roles": []},
        {"agents__a__delegates_to": []},
        {"agents__a__enabled": False},
        {"agents__a__locks": {"may": ["docs/**", "src/**"]}},
        {"agents__b__data_tiers": [0, 1]},
        {"agents__b__data_tiers": []},
        {"agents__b__apis": []},
        {"agents__b__skills": []},
        {"agents__b__delegates_to": []},
        {"agents__c": {"may": []}},
        {"tools__read__tier": 2},
        {"tools__read__aliases": ["view"]},
        {"tools__read__args": {"path": "glob"}},
        {"tools__read__does": {"write": "path"}},
        {"tools__write__confirm": True},
        {"tools__write__optional": ["text"]},
        {"tools__read__accessible_by": ["a", "L1", "b"]},
        {"labels__data": {3: {"path": ["secrets/**"]}}},
        {"labels__data": {2: {"path": ["secrets/**", "**/*.pem"]}}},
        {"tiers": {3: "deny"}},
        {"tiers": {}},
        {"gates": ["demo", "plan"]},
        {"protect": []},
        {"unsafe_unprotect": [".vscode/settings.json"]},
        {"enforce": {"observe": {"until": "2030-01-01"}}},
        {"grants": [{"agent": "b", "may": ["read"], "adr": "A", "approved_by": "p", "until": "2027-01-01"}]},
        {"runners": {"R": {"may": ["read"]}}},
    ],
    ids=lambda edits: next(iter(edits)),
)
def test_another_meaning_is_another_hash(edits):
    assert build_rulebook(changed(**edits)).hash != HASH


@pytest.mark.parametrize("name", ["at", "root", "about", "pack", "packs", "sources", "notices"])
def test_a_name_is_never_taken_for_a_position(name):
    def book(kind, rules):
        tools = {name: {"args": {name: kind}, "does": "nothing"}}
        return build_rulebook({"remit": 1, "tools": tools, "agents": {name: {"may": rules}}}).hash

    assert len({book("path", [name]), book("text", [name]), book("path", [])}) == 3


def test_the_hash_has_a_form():
    kind, _, digits = HASH.partition(":")
    assert kind == "sha256"
    assert len(digits) == 64
    assert set(digits) <= set("0123456789abcdef")
