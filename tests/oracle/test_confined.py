"""Oracle and engine side by side about commands that run confined."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model.call import Call, Context
from remit.model.errors import PolicyError
from remit.model.facts import Capsule, Facts
from remit.model.policy import Rule, Scope
from remit.model.profile import HELD, HOLDS
from tests.oracle.naive_confined import TEXTS, Answer, naive_confined

GLOBS = ["**", "src/**", "docs/**", "src/gen/**", "people/**", "Src/**"]
EXCEPTED = ["src/gen/**", "**/*.zz"]
URLS = ["https://a.example/**", "https://b.example/**"]
CODES = {
    *("project-code", "may-not", "not-permitted", "capsule-constraint", "data-tier", "not-understood", "locked"),
    *("api-not-allowed", "confine-unavailable", "tier-asks", "must-ask", "target-unknown", "allowed"),
}


class Draw(random.Random):
    """Policies, texts and facts by a seed."""

    def some(self, items: list[str], most: int = 2) -> list[str]:
        return self.sample(items, self.randint(1, most))

    def may(self) -> list[Any]:
        paths = {effect: self.some(GLOBS, 3) for effect in ("read", "write", "delete") if self.random() < 0.8}
        run = ["any", "project_code"] if self.random() < 0.6 else ["any"]
        shell = {"run": run, **({"path": paths} if paths and self.random() < 0.7 else {})}
        found: list[Any] = ["Bash"] if self.random() < 0.6 else [{"Bash": {"shell": shell}}]
        if self.random() < 0.4:
            found.append({"WebFetch": {"url": self.some(URLS)}})
        return found

    def avoid(self) -> dict[str, Any]:
        effects = self.sample(["read", "write", "delete", "network", "publish"], self.randint(1, 2))
        return self.choice(
            [
                {"path": self.some(GLOBS, 1)},
                {"path": self.some(GLOBS, 1), "effect": self.some(["read", "write", "delete"])},
                {"url": self.some(URLS, 1)},
                {"Bash": {"effect": effects}},
            ]
        )

    def policy(self) -> dict[str, Any]:
        agent: dict[str, Any] = {
            "may": self.may(),
            "confine": self.choice(["required", "required", "preferred", "off"]),
        }
        if self.random() < 0.3:
            agent["may_not"] = [self.avoid()]
        if self.random() < 0.2:
            agent["must_ask"] = [{"path": self.some(GLOBS, 1)}]
        if self.random() < 0.3:
            agent["locks"] = {
                "may": self.some(GLOBS),
                **({"except": self.some(EXCEPTED)} if self.random() < 0.5 else {}),
            }
        if self.random() < 0.3:
            agent["apis"] = self.some(URLS) if self.random() < 0.8 else []
        if self.random() < 0.3:
            agent["data_tiers"] = [0]
        if self.random() < 0.1:
            agent["project_code"] = "deny"
        sandbox: dict[str, Any] = {}
        if self.random() < 0.4:
            sandbox["network"] = self.choice(["none", "policy", "open"])
        if self.random() < 0.1:
            sandbox["hide"] = ["secret/**"]
        if self.random() < 0.1:
            sandbox["home"] = "read"
        kind = self.choice([{"path": ["people/**"]}, {"url": URLS[1:]}, {"table": ["people"]}, {"path": ["people/**"]}])
        labels: dict[str, Any] = {"data": {2: kind}} if self.random() < 0.6 else {}
        if self.random() < 0.3:
            labels["production"] = {"url": URLS[:1]}
        agent |= {"sandbox": sandbox} if sandbox else {}
        return {"remit": 1, "use": ["claude-code"], "agents": {"dev": agent}, **({"labels": labels} if labels else {})}

    def task(self) -> Capsule:
        nots = Rule("may_not", None, Scope(parts={"path": {"allow": tuple(self.some(GLOBS, 1))}}))
        scope = tuple(self.some(GLOBS)) if self.random() < 0.5 else None
        return Capsule("T", "dev", scope=scope, may_not=(nots,) if self.random() < 0.5 else ())

    def facts(self) -> Facts:
        held = HELD if self.random() < 0.6 else frozenset(self.sample(list(HOLDS), self.randint(0, 5)))
        return Facts(root="/w", confined=held, capsules={"T": self.task()} if self.random() < 0.3 else {})


def compare(seeds: range) -> Counter[str]:
    """Compares some calls for each policy; which codes came up."""
    codes: Counter[str] = Counter()
    for seed in seeds:
        draw = Draw(seed)
        data = draw.policy()
        try:
            rulebook = build_rulebook(data)
        except PolicyError:
            codes["does not load"] += 1
            continue
        for _ in range(12):
            texts, facts = tuple(draw.sample(list(TEXTS), draw.randint(1, 2))), draw.facts()
            environment = "production" if draw.random() < 0.1 else None
            context = Context(capsule="T" if facts.capsules else None, environment=environment)
            call = Call("dev", "Bash", {"command": "; ".join(texts)}, context)
            for found in (decide(rulebook, call, facts, memo=False), decide(rulebook, call, facts)):
                wanted = naive_confined(rulebook.book, texts, facts, environment)
                confined = any(one.do == "confine" for one in found.obligations)
                got = Answer(found.verdict.word, frozenset({found.code}), found.tier, confined)
                same = got._replace(codes=wanted.codes) == wanted and found.code in wanted.codes
                assert same, f"seed {seed}\n{data}\n{texts} {facts}\nengine {found}\noracle {wanted}"
            codes[found.code] += 1
    return codes


def test_engine_and_oracle_agree() -> None:
    codes = compare(range(120))
    assert CODES - codes.keys() == set()
    assert codes["does not load"] < 30


@pytest.mark.more
def test_more_of_the_same() -> None:
    compare(range(1000, 5000))
