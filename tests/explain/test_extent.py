"""The blast radius of a rule is a bound: no call that the rule covers gets further, whatever the labels."""

from __future__ import annotations

import random
from typing import Any

import pytest

from remit import catalog
from remit.compile import build_rulebook
from remit.compile.tasks import task_from
from remit.decide import decide
from remit.explain.extent import Extent, extents_of, rule_text
from remit.model.call import Call, Context
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.scopes.glob import Glob

TOOLS = {
    "read": {"args": {"file": "path"}, "does": {"read": "file"}},
    "write": {"args": {"file": "path"}, "does": {"write": "file"}, "tier": 1},
    "drop": {"args": {"file": "path"}, "does": {"delete": "file"}},
    "fetch": {"args": {"url": "url"}, "does": {"network": "url"}},
    "send": {"args": {"url": "url"}, "does": {"publish": "url"}},
    "term": {"args": {"command": "shell"}},
    "query": {"args": {"sql": "sql"}, "dialect": "sqlite"},
    "note": {"args": {"text": "text"}, "does": "nothing"},
}
LABELS = {
    "data": {2: {"path": ["reports/**", "**/*.csv"]}, 3: {"path": ["secrets/**"], "url": ["https://hr.example/**"]}},
    "production": {"host": ["*.prod.example"], "url": ["https://api.example/v1/**"]},
    "ci": {"path": ["pipelines/**"]},
}
GLOBS = ("**", "docs/**", "src/*.py", ".github/**", "**/*.yml", "a/b", "reports/2026/*", "*.csv", "db/**", "{a,b}/**")


def book(**more: Any) -> Rulebook:
    agents = {"dev": {"may": list(TOOLS)}}
    return build_rulebook({"remit": 1, "tools": TOOLS, "labels": LABELS, "agents": agents, **more})


BOOK = book()


def extents(rule: Any, **task: Any) -> list[Extent]:
    made = task_from(BOOK, {"id": "T", "agent": "dev", "goal": "x", "plan": [rule], **task}).capsule
    return extents_of(BOOK, "dev", made.plan[0], made)


def paths() -> list[str]:
    """Every path that a label of the catalog or the policy names, at several places, and plain ones."""
    texts = [text for label in BOOK.book.labels for text in label.path if text[0] != "!"]
    samples = {Glob.parse(text).sample(filler) for text in texts for filler in ("x", "a.yml", "2026")}
    placed = {
        f"{folder}{sample}" for sample in samples for folder in ("", "docs/", "src/", "reports/2026/", "db/", "a/")
    }
    return sorted({*placed, *(path.rpartition("/")[2] for path in placed), "docs/x", "a/b", "src/x.py", "x.csv"})


@pytest.mark.sample(4)
@pytest.mark.sample(12)
@pytest.mark.parametrize("tool", ["read", "write", "drop"])
@pytest.mark.parametrize("glob", GLOBS)
@pytest.mark.parametrize("scope", [None, ["docs/**", "src/**"]])
def test_no_covered_path_gets_further(tool: str, glob: str, scope: list[str] | None) -> None:
    task: dict[str, Any] = {"scope": scope} if scope is not None else {}
    made = task_from(BOOK, {"id": "T", "agent": "dev", "goal": "x", "plan": [{tool: {"path": glob}}], **task}).capsule
    [extent] = extents_of(BOOK, "dev", made.plan[0], made)
    assert extent.bounded
    facts = Facts(now="2026-01-01T00:00:00Z", capsules={"T": made})
    inside = [path for path in paths() if Glob.parse(glob).matches(path)]
    assert inside
    reached = [decide(BOOK, Call("dev", tool, {"file": p}, Context(capsule="T")), facts) for p in inside]
    assert max(decision.tier for decision in reached) <= extent.most
    assert max(decision.data_tier for decision in reached) <= extent.data_tier
    assert extent.tier <= extent.most


def test_the_catalog_has_labels_to_try() -> None:
    assert len(paths()) > 500
    assert "ci:" in catalog.text("labels.yaml")


@pytest.mark.parametrize("tool", ["fetch", "send"])
@pytest.mark.parametrize(
    "pattern", [None, "https://*.prod.example/**", "https://api.example/**", "https://hr.example/x"]
)
def test_no_covered_url_gets_further(tool: str, pattern: str | None) -> None:
    [extent] = extents({tool: {"url": pattern}} if pattern else tool)
    urls = ["https://a.prod.example/x", "https://api.example/v1/y", "https://api.example/z", "https://hr.example/x"]
    if pattern:
        from remit.scopes.url import UrlPattern, parse_url

        urls = [url for url in urls if UrlPattern.parse(pattern).matches(parse_url(url))]
    assert urls
    for url in urls:
        decision = decide(BOOK, Call("dev", tool, {"url": url}), Facts())
        assert decision.tier <= extent.most, url
        assert decision.data_tier <= extent.data_tier, url


def test_paths_outside_the_root_count_as_from_the_root_of_the_machine() -> None:
    [extent] = extents({"write": {"path": {"allow": ["x"], "outside": ["/srv/**"]}}})
    call = Call("dev", "write", {"file": "/srv/.env"})
    assert decide(BOOK, call, Facts(root="/work")).tier <= extent.most == 4


def test_commands_and_statements_are_tried() -> None:
    [pip] = extents({"term": {"shell": {"run": [{"pip": ["install"]}]}}})
    assert (pip.tier, pip.bounded, pip.example) == (3, False, "pip install x")
    [any_] = extents("term")
    assert (any_.tier, any_.bounded) == (4, False)
    [sql] = extents({"query": {"sql": {"select": "any"}}})
    assert (sql.tier, sql.bounded, sql.effects) == (0, False, ("read",))
    [drop] = extents({"query": {"sql": {"ddl": "any"}}})
    assert (drop.tier, "migrate" in drop.effects) == (3, True)


def test_a_rule_about_any_tool_is_about_each_that_it_fits() -> None:
    found = {extent.tool: extent for extent in extents({"effect": ["network"]})}
    assert "fetch" in found
    assert not {"read", "write", "note"} & set(found)


def test_the_whole_rule_is_told() -> None:
    random_ = random.Random(7)  # noqa: S311
    words = [f"w{random_.randrange(10**6)}" for _ in range(40)]
    rule = task_from(
        BOOK, {"id": "T", "agent": "dev", "goal": "x", "plan": [{"term": {"shell": {"run": [{"git": words}]}}}]}
    )
    assert all(word in rule_text(rule.capsule.plan[0]) for word in words)


def test_somebody_unknown_has_none() -> None:
    assert extents_of(BOOK, "nobody", BOOK.book.callers["dev"].rules[0]) == []
