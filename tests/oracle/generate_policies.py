"""Random policies, as plain data."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from remit.model.terms import FILES
from remit.scopes import kinds
from tests.oracle import naive_urls
from tests.oracle.words import (
    ADDRESS_SCOPES,
    AGENTS,
    ARGS,
    COMMON,
    EFFECTS,
    MOMENTS,
    OUTSIDES,
    PATH_EFFECTS,
    PATTERNS,
    RARE,
    ROLES,
    RUNNERS,
    SKILLS,
    kind_of,
)

T = TypeVar("T")


REACHES = ("docs/**", "**", "a/**", "https://**", "https://a.example/**", "src/*.md", "**/*.md")
PEOPLE = ["Maria", "Noor", "Olu", "Pat"]


class PolicyDraw:
    """Draws policies from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  # tests, not secrets
        self.aside = random.Random(f"{seed} people")  # noqa: S311  # so that policies without people stay as they were
        self.fixed = random.Random(f"{seed} fixed")  # noqa: S311
        self.people: list[str] = []
        self.hot: list[str] = ["docs/**", "a/**"]

    # Small things

    def one(self, items: Sequence[T]) -> T:
        return items[self.random.randrange(len(items))]

    def some(self, items: Sequence[T], least: int, most: int) -> list[T]:
        return self.random.sample(list(items), min(len(items), self.random.randint(least, most)))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def globs(self, most: int = 2) -> list[str]:
        found = self.some(PATTERNS, 1, most)
        self.hot += found
        return found

    # Tools

    def policy(self) -> dict[str, Any]:
        """A policy as plain data. It may fail to load."""
        self.hot = ["docs/**", "a/**"]
        self.agents = self.some(AGENTS, 2, 4)
        self.roles = self.some(ROLES, 1, 3)
        self.runners = self.some(RUNNERS, 0, 2)
        self.everybody = [*self.agents, *self.roles, *self.runners]
        self.layers = {"inner": self.some(self.everybody, 0, 2)} if self.chance(0.3) else {}
        names = [f"t{i}" for i in range(self.random.randint(3, 6))]
        self.tools = {name: self.tool(i) for i, name in enumerate(names)}
        if self.layers and not any("layer" in tool for tool in self.tools.values()):
            self.tools[names[-1]]["layer"] = "inner"
        data: dict[str, Any] = {"remit": 1, "name": "random", "tools": self.tools}
        if self.layers:
            data["defaults"] = {"accessible_by": {"layer": self.layers}}
        if self.chance(0.3):
            data["toolsets"] = {"set": self.some(names, 1, 3)}
        self.sets = data.get("toolsets", {})
        data["roles"] = {name: self.role(i) for i, name in enumerate(self.roles)}
        data["agents"] = {name: self.agent(name) for name in self.agents}
        if self.runners:
            data["runners"] = {name: self.runner(name) for name in self.runners}
            if self.chance(0.5):
                data["reserved"] = {"thing": self.reserved(names)}
        for key, draw, probability in (
            ("labels", self.labels, 0.5),
            ("tiers", self.tiers, 0.65),
            ("grants", self.grants, 0.3),
            ("protect", lambda: self.some(("deploy/**", "docs/x.md", "src/*.md"), 1, 2), 0.2),
            ("unsafe_unprotect", lambda: self.some((".git/**", "deploy/**", "**/.remit/z", "docs/**"), 1, 1), 0.1),
            ("enforce", self.enforce, 0.03),
            ("gates", self.gates, 0.12),
        ):
            if self.chance(probability):
                data[key] = draw()
        if self.aside.random() < 0.3:
            data["people"] = self.named_people(data)
        return data

    def named_people(self, data: dict[str, Any]) -> dict[str, Any]:
        """Some people, and questions that need several of them, or others than the issuer."""
        aside = self.aside
        self.people = PEOPLE[: aside.randint(2, 4)]
        found: dict[str, Any] = {}
        for name in self.people:
            roles = aside.choice(
                (["approver"], ["approver"], ["owner"], ["operator", "auditor"], ["approver", "operator"])
            )
            found[name] = {"roles": roles}
            if roles[0] in ("approver", "owner") and aside.random() < 0.5:
                found[name]["approves"] = [self.approved() for _ in range(aside.randint(1, 2))]
        found["Zoe"] = {"roles": ["owner"]}
        self.people = [*self.people, "Zoe"]
        for grant in data.get("grants", ()):
            grant["approved_by"] = aside.choice([name for name, one in found.items() if "owner" in one["roles"]])
        most = sum(not {"approver", "owner"}.isdisjoint(one["roles"]) for one in found.values())
        asking = [one for one in data.get("tiers", {}).values() if isinstance(one, dict) and one.get("ask") == "human"]
        for who in ("roles", "agents", "runners"):
            for record in data.get(who, {}).values():
                entries = [e for e in record.get("must_ask", ()) if isinstance(e, dict)]
                scopes = [s for e in entries for s in (e, *e.values()) if isinstance(s, dict) and "ask" in s]
                asking += [s for s in scopes if s["ask"] == "human"]
        for question in asking:
            if aside.random() < 0.6:
                question["approvals"] = aside.randint(1, most)
            if aside.random() < 0.3:
                question["separate"] = True
        return found

    def approved(self) -> dict[str, Any]:
        aside = self.aside
        found: dict[str, Any] = {}
        if aside.random() < 0.5:
            found["tiers"] = aside.sample(range(5), 3)
        if aside.random() < 0.4:
            found["agents"] = aside.sample(self.everybody, min(2, len(self.everybody)))
        if aside.random() < 0.3:
            found["labels"] = aside.sample(("security", "ci", "dependencies", "migrations"), 3)
        numbers = [name for name, tool in self.tools.items() if "n" in tool["args"]]
        if numbers and aside.random() < 0.6:
            found["amount"] = {f"{aside.choice(numbers)}.n": aside.choice((1, 2.5, 10, 100))}
        return found or {"tiers": [4]}

    def gates(self) -> dict[str, Any]:
        terms: dict[str, Any] = {"tier": self.random.randint(1, 4)}
        if self.chance(0.4):
            terms = {"effects": self.some(("write", "delete", "network", "delegate"), 1, 2)}
        return {"demo": {"before": terms}, "start": {} if self.chance(0.7) else {"before": {"tier": 2}}}

    def tool(self, index: int) -> dict[str, Any]:
        pool = list(dict.fromkeys(self.some(COMMON, 0, 3) + (self.some(RARE, 1, 2) if self.chance(0.3) else [])))
        if ("items[].note" in pool or "items[].to" in pool) and "items[].path" not in pool:
            pool.append("items[].path")
        if "items[].path" in pool and self.chance(0.4):
            pool += [name for name in self.some(("items[].note", "items[].to"), 1, 2) if name not in pool]
        if any(name in pool for name in ("gp", "gs2[]")) and "p" not in pool:
            pool.append("p")
        tool: dict[str, Any] = {"args": {name: ARGS[name] for name in pool}}
        optional = [name for name in pool if self.chance(0.3)]
        if optional:
            tool["optional"] = optional
            defaults = {"p": [".", "docs", "a/b"], "g": ["docs/*", "**"], "t": ["x"], "u": list(naive_urls.URLS[:3])}
            defaults |= {"to": list(AGENTS), "s": list(SKILLS), "q": ["a", "src/a"], "opt.path": ["docs/x.md"]}
            defaults |= {"items[].path": ["docs/x.md"], "items[].to": ["C-17"], "mail": ["a@x.example"]}
            chosen = {name: self.one(defaults[name]) for name in optional if name in defaults and self.chance(0.5)}
            if chosen:
                tool["defaults"] = chosen
        tool["does"] = self.does(pool)
        if self.chance(0.2):
            tool["tier"] = self.random.randint(0, 4)
        if self.chance(0.2):
            tool["aliases"] = [f"alias{index}"]
        if self.chance(0.12):
            tool["accessible_by"] = self.some(self.everybody, 1, 5)
        if self.layers and self.chance(0.15):
            tool["layer"] = "inner"
        if self.chance(0.08):
            tool["confirm"] = True
        return tool

    def does(self, pool: list[str]) -> Any:
        does: dict[str, list[Any]] = {}
        for name in pool:
            kind = kind_of(ARGS[name])
            if (
                kind == "one_of"
                or (name == "p" and "gp" in pool and self.chance(0.7))
                or (kind not in ("path", "glob", "url", "agent", "host") and self.chance(0.7))
            ):
                continue
            for _ in range(1 if self.chance(0.85) else self.random.randint(0, 2)):
                below = kind in ("path", "glob") and self.chance(0.2)
                if kind in ("path", "glob"):
                    calm = kind == "glob" or below
                    effect = self.one(PATH_EFFECTS) if self.chance(0.25 if calm else 0.9) else self.one(EFFECTS[:4])
                    effect = "read" if calm and self.chance(0.7) else effect
                    effect = effect if kinds.kind_of(kind).bears(effect) else "read"
                else:
                    effect = {"url": "network", "host": "network", "agent": "delegate"}.get(kind, "execute")
                    if self.chance(0.15):
                        effect = self.one(
                            [one for one in EFFECTS if kinds.kind_of("text" if kind == "one_of" else kind).bears(one)]
                        )
                target: Any = {"below": name} if below else name
                if target not in does.setdefault(effect, []):
                    does[effect].append(target)
        if self.chance(0.12):
            does.setdefault(self.one(EFFECTS), []).append(self.one(REACHES))
        if self.chance(0.08):
            does.setdefault(self.one(sorted(FILES)), []).append({"records": self.one(("tickets", "orders.lines"))})
        return does or "nothing"

    # Callers

    def open_tools(self) -> list[str]:
        """Tools that no accessible_by closes."""
        return [n for n, t in self.tools.items() if "accessible_by" not in t and "layer" not in t]

    def role(self, index: int) -> dict[str, Any]:
        role = self.record(self.open_tools(), [])
        if index and self.chance(0.5):
            role["roles"] = self.some(self.roles[:index], 1, 2)
        return role

    def agent(self, name: str) -> dict[str, Any]:
        agent = self.record(self.open_tools(), self.named(name))
        agent["roles"] = self.some(self.roles, 0, 2)
        agent.setdefault("may", [])
        if self.chance(0.03):
            agent["enabled"] = False
        if self.chance(0.1):
            chosen = self.one(list(self.tools))
            agent["tools"] = {chosen: {**self.tools[chosen], "does": self.does(list(self.tools[chosen]["args"]))}}
            agent["tools"][chosen].pop("aliases", None)
            if self.chance(0.3):
                agent["tools"][chosen]["aliases"] = ["own-alias"]
            for entry in agent["may"]:
                if isinstance(entry, dict) and chosen in entry:
                    self.cover(entry[chosen], agent["tools"][chosen])
        return agent

    def runner(self, name: str) -> dict[str, Any]:
        record = self.record(self.open_tools(), self.named(name))
        runner = {k: v for k, v in record.items() if k in ("may", "must_ask", "may_not", "locks", "apis", "data_tiers")}
        if self.chance(0.7):
            runner["called_by"] = self.some([*self.agents, *self.roles], 1, 2)
        return runner

    def named(self, name: str) -> list[str]:
        """Tools whose accessible_by names this caller itself."""
        found = []
        for tool, declared in self.tools.items():
            access = declared.get("accessible_by", self.layers.get(declared.get("layer", "")))
            if access is not None and name in access:
                found.append(tool)
        return found

    def record(self, tools: list[str], named: list[str]) -> dict[str, Any]:
        record: dict[str, Any] = {}
        if tools and self.chance(0.85):
            record["may"] = [self.entry("may", tools) for _ in range(self.random.randint(1, 4))]
        if tools and self.chance(0.35):
            record["must_ask"] = [self.entry("must_ask", tools + named) for _ in range(self.random.randint(1, 2))]
        if self.chance(0.2):
            record["may_not"] = [self.entry("may_not", list(self.tools)) for _ in range(self.random.randint(1, 2))]
        optional: list[tuple[str, float, Callable[[], Any]]] = [
            ("delegates_to", 0.6, lambda: self.some(self.everybody, 0, 4)),
            ("delegate_within", 0.25, lambda: self.one(("own", "chain", "chain"))),
            ("acknowledges", 0.3, lambda: self.chance(0.8)),
            ("locks", 0.1, self.locks),
            ("skills", 0.2, lambda: self.some(SKILLS, 0, 2)),
            ("apis", 0.2, lambda: self.some(naive_urls.PATTERNS, 0, 3)),
            ("data_tiers", 0.2, lambda: [0, *self.some((1, 2, 3), 0, 3)]),
            ("data_tiers_with_grant", 0.3, lambda: self.some((0, 1, 2, 3), 1, 3)),
            ("capsule", 0.15, lambda: self.one(("required", "optional"))),
            ("enforce", 0.06, self.enforce),
        ]
        for key, probability, draw in optional:
            if self.chance(probability):
                record[key] = draw()
        return record

    def enforce(self) -> Any:
        return "always" if self.chance(0.2) else {"observe": {"until": self.one(MOMENTS)}}

    def locks(self) -> dict[str, Any]:
        locks: dict[str, Any] = {"may": self.globs(3)}
        if self.chance(0.5):
            locks["except"] = self.globs(1)
        return locks

    def reserved(self, names: list[str]) -> dict[str, Any]:
        entry: dict[str, Any] = {"runner": self.one(self.runners)}
        if self.chance(0.6):
            entry["urls"] = self.some(naive_urls.PATTERNS, 1, 2)
        if "urls" not in entry or self.chance(0.6):
            entry["tools"] = self.some(names, 1, 1)
        return entry

    def labels(self) -> dict[str, Any]:
        labels: dict[str, Any] = {}
        if self.chance(0.7):
            labels["data"] = {
                str(tier): self.one(({"path": self.globs(2)}, {"url": self.some(naive_urls.PATTERNS, 1, 1)}))
                for tier in self.some((1, 2, 3), 1, 3)
            }
        if self.chance(0.4):
            labels["production"] = {"host": ["*.prod.example"], "path": self.globs(1)}
        if self.chance(0.3):
            labels[self.one(("security", "ci", "dependencies", "migrations"))] = {"path": self.globs(1)}
        return labels

    def tiers(self) -> dict[str, Any]:
        tiers: dict[str, Any] = {str(tier): self.question() for tier in self.some((0, 1, 2, 3, 4), 1, 3)}
        if self.chance(0.2):
            tiers["tools"] = {name: self.random.randint(0, 4) for name in self.some(list(self.tools), 1, 2)}
        return tiers

    def question(self) -> Any:
        if self.chance(0.3):
            return self.one(("allow", "deny", "allow"))
        question: dict[str, Any] = {"ask": self.one(("human", "chain", *self.everybody))}
        if self.chance(0.4):
            question["planned"] = True
        if self.chance(0.3):
            question["statement"] = "required"
        return question

    def grants(self) -> list[Any]:
        tools = self.open_tools()
        if not tools:
            return []
        grant = {
            "adr": "ADR-1",
            "approved_by": "someone",
            "until": self.one(MOMENTS),
            "agent": self.one(self.everybody),
        }
        return [{**grant, "may": [self.entry("may", tools)]}]

    # Rules

    def entry(self, verb: str, tools: list[str]) -> Any:
        """One entry of `may`, `must_ask` or `may_not`."""
        named = list(self.sets) if verb == "may_not" and self.chance(0.2) else []
        if self.chance(0.2 if verb == "may_not" else 0.4):
            return named[0] if named else self.some(tools, 1, 3)
        if verb != "may" and self.chance(0.25):
            return self.toolless(verb)
        if self.chance(0.08):
            return {"effect": self.some(EFFECTS[:5], 1, 3)}
        chosen = self.one(tools)
        scope = self.scope(verb, self.tools[chosen])
        if verb == "must_ask" and self.chance(0.5):
            scope["ask"] = self.one(("human", "chain", *self.everybody))
        return {chosen: scope} if scope else chosen

    def toolless(self, verb: str) -> dict[str, Any]:
        scope: dict[str, Any] = {}
        if self.chance(0.6):
            scope["effect"] = self.some(EFFECTS[:6], 1, 2)
        kind = self.one(("path", "url", "none", "none"))
        if kind == "path":
            scope["path"] = self.path_scope()
        if kind == "url":
            scope["url"] = self.some(naive_urls.PATTERNS, 1, 2)
        if not scope:
            scope["effect"] = ["system"]
        if self.chance(0.3):
            scope["except"] = self.one(({"effect": self.some(EFFECTS[:6], 1, 1)}, {"path": self.path_scope()}))
        return scope

    def scope(self, verb: str, tool: dict[str, Any]) -> dict[str, Any]:
        scope: dict[str, Any] = {}
        kinds = {kind_of(kind) for kind in tool["args"].values()}
        if kinds & {"path", "glob"} and self.chance(0.7):
            scope["path"] = self.path_scope()
        if "url" in kinds and self.chance(0.6):
            scope["url"] = self.some(naive_urls.PATTERNS, 1, 3)
        if "agent" in kinds and self.chance(0.6):
            scope["agent"] = self.some(self.everybody, 1, 3)
        if "skill" in kinds and self.chance(0.5):
            scope["skill"] = self.some(SKILLS, 1, 2)
        for kind in sorted(kinds & ADDRESS_SCOPES.keys()):
            if self.chance(0.5):
                scope[kind] = self.some(ADDRESS_SCOPES[kind], 1, 3)
        if tool["args"] and self.chance(0.3):
            scope["where"] = self.where(tool)
        if self.chance(0.15):
            scope["when"] = self.when()
        if self.chance(0.15):
            does = tool["does"]
            scope["effect"] = (
                list(does) if isinstance(does, dict) and self.chance(0.6) else self.some(EFFECTS[:6], 1, 3)
            )
        if verb != "may" and self.chance(0.3):
            scope["except"] = self.exception(tool, kinds)
        if verb == "may":
            self.cover(scope, tool)
        return scope

    def cover(self, scope: dict[str, Any], tool: dict[str, Any]) -> None:
        """Adds what the tool reaches whatever its arguments are, mostly: without it, a `may` never applies."""
        does = tool["does"] if isinstance(tool["does"], dict) else {}
        for reach in [one for found in does.values() for one in found if one in REACHES]:
            kind = "url" if "://" in reach else "path"
            if kind not in scope or self.fixed.random() < 0.2:
                continue
            within = scope[kind]
            if isinstance(within, list):
                scope[kind] = [*within, *({reach} - {*within})]
            else:
                rest = {key: one for key, one in within.items() if key not in ("except", "new_only")}
                scope[kind] = {**rest, "allow": [*within["allow"], *({reach} - {*within["allow"]})]}

    def exception(self, tool: dict[str, Any], kinds: set[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if kinds & {"path", "glob"} and self.chance(0.6):
            found["path"] = self.path_scope()
        if "url" in kinds and self.chance(0.5):
            found["url"] = self.some(naive_urls.PATTERNS, 1, 1)
        if tool["args"] and self.chance(0.2):
            found["where"] = self.where(tool)
        if not found or self.chance(0.2):
            found["effect"] = self.some(EFFECTS[:5], 1, 2)
        return found

    def path_scope(self) -> Any:
        if self.chance(0.6):
            return self.globs(3)
        scope: dict[str, Any] = {"allow": self.globs(2)}
        if self.chance(0.5):
            scope["except"] = self.globs(2)
        if self.chance(0.35):
            scope["outside"] = self.some(OUTSIDES, 1, 2)
        if self.chance(0.25):
            scope["new_only"] = True
        return scope

    def when(self) -> dict[str, Any]:
        choices = {"mode": ["interactive", "batch"], "environment": ["dev", "prod"], "session": ["s1"]}
        choices |= {"capsule": ["C1"], "cwd": ["a", "."]}
        return {key: self.some(choices[key], 1, 2) for key in self.some(list(choices), 1, 1)}

    def where(self, tool: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in self.some(list(tool["args"]), 1, 2):
            kind = kind_of(tool["args"][name])
            if kind == "one_of":
                found[name] = self.one(("fast", 1, ["slow", True], {"one_of": [2.5]}))
            elif kind in ("path", "glob"):
                found[name] = {"path": self.globs(2)}
            elif kind == "url":
                found[name] = {"url": self.some(naive_urls.PATTERNS, 1, 2)}
            elif kind == "agent":
                found[name] = self.one(({"agent": self.some(self.everybody, 1, 2)}, self.one(self.everybody)))
            elif kind == "skill":
                found[name] = self.one(({"skill": self.some(SKILLS, 1, 2)}, self.one(SKILLS)))
            elif kind == "text":
                tests: tuple[Any, ...] = ("x", ["x", "y"], {"regex": "[xy]+"}, {"length": {"max": 2}}, {"length": 1})
                found[name] = self.one((*tests, {"regex": "x.*", "length": {"min": 2}}))
            elif kind == "number":
                found[name] = self.one((1, {"range": [0, 5]}, {"min": 2}, {"max": 3.5}, [1, 2]))
            elif kind == "flag":
                found[name] = self.one((True, False))
            elif kind in ADDRESS_SCOPES:
                found[name] = {kind: self.some(ADDRESS_SCOPES[kind], 1, 3)}
            if kind in ("text", "number", "flag", "one_of", "skill", "agent") and self.chance(0.15):
                bound = {"task": self.one(("x", "y"))} if self.chance(0.8) else {"context": "session"}
                found[name] = {"equals": bound}
            if isinstance(found.get(name), dict) and self.chance(0.3):
                found[name] = {**found[name], "optional": self.chance(0.9)}
            elif self.chance(0.1):
                found[name] = {"optional": True}
        return self.each(found, tool)

    def each(self, found: dict[str, Any], tool: dict[str, Any]) -> dict[str, Any]:
        """The conditions on fields of elements as `each`, mostly, perhaps with an alternative."""
        mine = {name: one for name, one in found.items() if name.startswith("items[].")}
        if not mine or self.chance(0.3):
            return found
        groups = [{name.removeprefix("items[]."): one for name, one in mine.items()}]
        if self.chance(0.4):
            fields = [name for name in tool["args"] if name.startswith("items[].")]
            scopes = {name: self.where({"args": {name: tool["args"][name]}}) for name in self.some(fields, 1, 3)}
            plain = {k: v for part in scopes.values() for k, v in part.items() if k.startswith("items[].")}
            more = {name.removeprefix("items[]."): one for name, one in plain.items()}
            groups += [more] if more else []
        rest = {name: one for name, one in found.items() if name not in mine}
        each = groups if len(groups) > 1 or self.chance(0.3) else groups[0]
        return {**rest, "items[]": {"each": each, **({"optional": True} if self.chance(0.3) else {})}}
