"""A seeded generator of policies and of calls that come close to their rules.

    draw = Draw(seed)
    data = draw.policy()                      # for remit.compile.build_rulebook
    call, facts = draw.call(rulebook)

Plain `random.Random`: fast enough for 10⁶ calls, and the same on every machine. Names and wildcards come from
what the universe of `naive_globs` was made for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from remit.model.call import Call, Context, Statement
from remit.model.facts import Approval, Capsule, Facts
from remit.model.policy import ANY, Caller, Grant, PathScope, Rule, Scope, Tool
from remit.model.rulebook import Book, Rulebook
from tests.oracle import naive_urls

T = TypeVar("T")
Digest = Callable[[Call, str, Facts], str]

AGENTS = ("ann", "bob", "cy", "dee")
ROLES = ("dev", "ops", "lead", "any:one")
RUNNERS = ("git-run", "ci-run")
SKILLS = ("plan", "test", "ship")
MOMENTS = ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z", "2027-01-01T00:00:00Z")
EFFECTS = (
    *("read", "write", "delete", "execute", "network", "install"),
    *("migrate", "publish", "deploy", "system", "delegate"),
)
PATH_EFFECTS = ("read", "read", "write", "write", "delete")

PATTERNS = (
    *("**", "docs/**", "src/**", "a/**", "a/b/**", "**/*.md", "*.md", "docs/*.md", "*", "a/*", "src/a", "docs/x.md"),
    *(
        "DOCS/**",
        "{a,docs}/**",
        "[ab]/**",
        "?/**",
        "a*",
        "src/[!a]",
        "**/a",
        "a/**/b",
        "deploy/**",
        "*/**",
        "docs/**/*.md",
    ),
    *("docs/a*", "**/z", "src/{a,b}", "**/.git/**", "a/b", "c", "**/docs/**", "[a-c]"),
)
GLOBS = (
    *("**", "*", "*.md", "docs/*", "docs/**", "a/**", "**/*.md", "src/", "a*", "docs/a*", "?", "{a,docs}/*", "[ab]/*"),
    *("DOCS/**", "**/a", "a/b/*", "src/**/*.md", "a.md", ".r*/z", "{a,.remit}/*", "./a/*", "/w/a/*", "/w/**", "docs"),
    *("src/*.md", "z", "**/", "?remit"),
)
BAD_GLOBS = ("[", "{a", "../a/*", "a/../*", "/etc/*", "/**", "a\\b", "a\u200b*", "a//b")
SEGMENTS = ("a", "b", "c", "z", "docs", "src", "x.md", "a.md", "ab", "DOCS", "deploy", ".git", ".remit", ".github")
STRANGE_PATHS = (
    *("", "a//b", "../a", "a/../../b", "a/../b", "./a", "a/.", ".", "..", "/", "/w", "/w/docs/x.md", "/w/../tmp/z"),
    *("/tmp/z", "/tmp", "/etc/a", "~/a", "C:/a", "$HOME/a", "${A}/a", "$(a)", "a\\b", "docs/", "src/a/", "a\u200bb"),
    *(
        "a\x00",
        "ＤＯＣＳ/a",
        ".GIT/config",
        ".Remit/x",
        "a/.git",
        ".github/hooks/z",
        ".github/hooks",
        ".github",
        ".vscode",
    ),
    *("deploy", "DEPLOY/z", "package.json", "A/Package.json", "a.pem", "db/migrations/z", ".mcp.json", "a" * 4097),
    *("a/" * 20 + "b", "ſrc/a", "/w/a/", "/ww/a", "/w/.remit/z", "docs/..", "src/./a", "Jenkinsfile", "q/q/q/q/q"),
)
CWDS = (None, None, None, None, ".", "a", "docs", "src/a", "/w/docs", "/tmp", "a/..", "..", "a//b", "/w")
ROOTS = (None, "/w", "/w", "/w", "/w/p")
OUTSIDES = ("/tmp/**", "/etc/*", "/**", "/tmp/z")
LINKS = (
    "/w/a",
    "/w/docs/x.md",
    "/w",
    "/tmp/z",
    "/w/.git/z",
    "/w/src/a",
    "/w/DOCS/a",
    "/etc/a",
    "/w/deploy/z",
    "/w/.g\u200bit/z",
)

ARGS: dict[str, Any] = {
    "p": "path",
    "q": "path",
    "ps[]": "path",
    "items[].path": "path",
    "items[].note": "text",
    "opt.path": "path",
    "g": "glob",
    "gs[]": "glob",
    "u": "url",
    "us[]": "url",
    "to": "agent",
    "s": "skill",
    "t": "text",
    "n": "number",
    "f": "flag",
    "j": "json",
    "mode": {"one_of": ["fast", "slow", 1, True, 2.5]},
    "cmd": "shell",
    "stmt": "sql",
    "deep.in[].url": "url",
    "ns[]": "number",
    "gp": {"glob": "p"},
    "gs2[]": {"glob": "p"},
}
COMMON = (*("p", "p", "p", "q", "ps[]", "items[].path", "g", "gp", "u", "u", "to", "s", "t", "n", "mode", "opt.path"),)

RARE = tuple(name for name in ARGS if name not in ("cmd", "stmt"))


class Draw:
    """Draws policies, calls and facts from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  # tests, not secrets
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
        ):
            if self.chance(probability):
                data[key] = draw()
        return data

    def tool(self, index: int) -> dict[str, Any]:
        pool = list(dict.fromkeys(self.some(COMMON, 0, 3) + (self.some(RARE, 1, 2) if self.chance(0.3) else [])))
        if "items[].note" in pool and "items[].path" not in pool:
            pool.append("items[].path")
        if any(name in pool for name in ("gp", "gs2[]")) and "p" not in pool:
            pool.append("p")
        if self.chance(0.07):
            pool.append(self.one(("cmd", "stmt")))
        tool: dict[str, Any] = {"args": {name: ARGS[name] for name in pool}}
        optional = [name for name in pool if self.chance(0.3 if name not in ("cmd", "stmt") else 0.7)]
        if optional:
            tool["optional"] = optional
            defaults = {"p": [".", "docs", "a/b"], "g": ["docs/*", "**"], "t": ["x"], "u": list(naive_urls.URLS[:3])}
            defaults |= {"to": list(AGENTS), "s": list(SKILLS), "q": ["../a", "src/a"], "opt.path": ["docs/x.md"]}
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
                or (kind not in ("path", "glob", "url", "agent") and self.chance(0.85))
            ):
                continue
            for _ in range(1 if self.chance(0.85) else self.random.randint(0, 2)):
                below = kind in ("path", "glob") and self.chance(0.2)
                if kind in ("path", "glob"):
                    calm = kind == "glob" or below
                    effect = self.one(PATH_EFFECTS) if self.chance(0.25 if calm else 0.9) else self.one(EFFECTS[:4])
                    effect = "read" if calm and self.chance(0.7) else effect
                else:
                    effect = {"url": "network", "agent": "delegate"}.get(kind, "execute")
                    if self.chance(0.15):
                        effect = self.one(EFFECTS)
                target: Any = {"below": name} if below else name
                if target not in does.setdefault(effect, []):
                    does[effect].append(target)
        if self.chance(0.12):
            reaches = ("docs/**", "**", "a/**", "https://**", "https://a.example/**", "src/*.md", "**/*.md")
            does.setdefault(self.one(EFFECTS), []).append(self.one(reaches))
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
            entry["tools"] = self.some(names, 1, 1)
        if self.chance(0.6):
            entry["urls"] = self.some(naive_urls.PATTERNS, 1, 2)
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
        return {str(tier): self.question() for tier in self.some((0, 1, 2, 3, 4), 1, 3)}

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
        return scope

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
        found = {}
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
        return found

    # Calls

    def call(self, rulebook: Rulebook, digest: Digest) -> tuple[Call, Facts]:
        """A call with facts, biased to come close to the rules."""
        book = rulebook.book
        name = self.one(list(book.callers)) if self.chance(0.3) else self.one(self.agents)
        if self.chance(0.01):
            name = "nobody"
        caller = book.callers.get(name)
        tool = self.pick_tool(book, caller)
        called = tool.name if tool is not None else "unheard-of"
        if tool is not None and tool.aliases and self.chance(0.5):
            called = tool.aliases[0]
        args = self.args(tool) if tool is not None else {}
        capsules = {} if self.chance(0.6) else self.capsules(name, tool)
        context = self.context(book, name, capsules)
        call = Call(name, called, args, context, self.statement(), None)
        if self.chance(0.008):
            call = self.malform(call)
        return call, self.facts(rulebook, call, capsules, digest)

    def pick_tool(self, book: Book, caller: Caller | None) -> Tool | None:
        if self.chance(0.01):
            return None
        names = list(book.tools)
        if caller is not None and self.chance(0.75):
            permitted = [tool for rule in caller.rules if rule.verb != "may_not" for tool in rule.tools or ()]
            names = permitted or names
        name = self.one(names)
        own = caller.tools if caller is not None else {}
        return own.get(name) or book.tools.get(name)

    def args(self, tool: Tool) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for name, argument in tool.args.items():
            if argument.optional and self.chance(0.5):
                continue
            if self.chance(0.008):
                continue
            flat[name] = argument
        args: dict[str, Any] = {}
        for name, argument in flat.items():
            self.put(args, name, lambda a=argument: self.value(a.kind, a.one_of))  # type: ignore[misc]
        if self.chance(0.008):
            args["extra"] = 1
        if args and self.chance(0.01):
            args[self.one(list(args))] = self.one((None, 5, {}, [], "x", [{}], {"path": 1}))
        return args

    def put(self, args: dict[str, Any], name: str, value: Callable[[], Any]) -> None:
        """Set a declared name, such as `items[].path`, in nested arguments."""
        first, dot, rest = name.partition(".")
        key = first.removesuffix("[]")
        if first.endswith("[]") and dot:
            if key not in args:
                args[key] = [{} for _ in range(self.random.randint(0 if self.chance(0.1) else 1, 3))]
            for item in args[key]:
                if not self.chance(0.01):
                    self.put(item, rest, value)
        elif first.endswith("[]"):
            args[key] = [value() for _ in range(self.random.randint(0 if self.chance(0.1) else 1, 3))]
        elif dot:
            self.put(args.setdefault(key, {}), rest, value)
        else:
            args[key] = value()

    def value(self, kind: str, one_of: tuple[Any, ...]) -> Any:
        if self.chance(0.005):
            return self.one((None, 1, "x", True, [], {}, float("nan"), 1.0))
        if one_of:
            return self.one((*one_of, *one_of, *one_of, "other", 1.0, False)) if self.chance(0.1) else self.one(one_of)
        match kind:
            case "path":
                return self.path()
            case "glob":
                return self.one(GLOBS) if not self.chance(0.1) else self.one(BAD_GLOBS)
            case "url":
                return self.one(naive_urls.URLS) if not self.chance(0.04) else self.one(naive_urls.BAD_URLS)
            case "agent":
                return self.one(self.everybody) if not self.chance(0.05) else "nobody"
            case "skill":
                return self.one((*SKILLS, "other")) if self.chance(0.2) else self.one(SKILLS)
            case "number":
                return self.one((0, 1, 2, 3.5, 7, -1, 1.0))
            case "flag":
                return self.chance(0.5)
            case "json":
                return self.one((None, 1, "x", [1], {"a": 1}))
        return self.one(("x", "y", "xy", "xyz", "", "x\ny"))

    def path(self) -> str:
        if self.chance(0.09):
            return self.one(STRANGE_PATHS)
        if self.chance(0.25):
            return "/".join(self.one(SEGMENTS[:11]) for _ in range(self.random.randint(1, 3)))
        text = "/".join(self.segment(segment) for segment in self.one(self.hot).split("/"))
        if self.chance(0.06):
            text = text.upper() if self.chance(0.5) else "./" + text
        if self.chance(0.03):
            text = "/w/" + text
        return text

    def segment(self, pattern: str) -> str:
        """A name that a segment of a pattern matches."""
        if pattern == "**":
            return "/".join(self.one(SEGMENTS[:11]) for _ in range(self.random.randint(1, 2)))
        for old, new in (("{a,docs}", "a"), ("{a,b}", "b"), ("[ab]", "a"), ("[!a]", "b"), ("[a-c]", "c"), ("?", "z")):
            pattern = pattern.replace(old, new)
        if pattern in ("*.md", "a*"):
            return self.one(("a.md", "x.md") if pattern == "*.md" else ("ab", "a.md"))
        return pattern.replace("*", self.one(("a", "b", "c", "docs")))

    def statement(self) -> Statement | None:
        if self.chance(0.5):
            return None
        return Statement("do", "why", "none") if self.chance(0.6) else Statement("do", self.one(("", None)), "none")

    def context(self, book: Book, name: str, capsules: dict[str, Capsule]) -> Context:
        capsule = next(iter(capsules), None)
        if self.chance(0.04):
            capsule = "C9"
        return Context(
            cwd=self.one(CWDS) if self.chance(0.5) else None,
            mode=self.one((None, "interactive", "batch")),
            environment=self.one((None, "dev", "prod")),
            session=self.one((None, "s1", "s2")),
            capsule=capsule,
            chain=self.chain(book, name) if self.chance(0.45) else (),
            data_tier=self.one((0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3)),
            capsule_grants=tuple(self.some((1, 2, 3), 0, 2)) if self.chance(0.2) else (),
        )

    def chain(self, book: Book, name: str) -> tuple[str, ...]:
        """Those who could have handed the work on, mostly."""
        if self.chance(0.02):
            return (self.one(self.agents),) * self.random.randint(15, 18)
        chain: list[str] = []
        following = name
        for _ in range(self.random.randint(1, 3)):
            taker = book.callers.get(following)
            givers = [
                giver.name
                for giver in book.callers.values()
                if taker is not None
                and (
                    any(one in (giver.delegates_to or ()) for one in (following, *taker.roles))
                    or any(one in (taker.called_by or ()) for one in (giver.name, *giver.roles))
                )
            ]
            if not givers and self.chance(0.8):
                break
            following = self.one(givers) if givers and not self.chance(0.04) else self.one([*self.everybody, "nobody"])
            chain.insert(0, following)
        return tuple(chain)

    def malform(self, call: Call) -> Call:
        bad: list[Any] = [[1], None, "x"]
        return Call(call.agent, call.tool, self.one(bad), call.context)

    # Facts

    def rule(self, verb: Any, tool: Tool | None) -> Rule:
        """A rule of a capsule or a grant, names resolved."""
        name = tool.name if tool is not None and not self.chance(0.15) else self.one(list(self.tools))
        tools = None if self.chance(0.15) else (name,)
        scope = ANY
        if self.chance(0.5):
            allow = tuple(self.globs(2))
            outside = tuple(self.some(OUTSIDES, 0, 1)) if self.chance(0.3) else ()
            scope = Scope(path=PathScope(allow=allow, outside=outside, new_only=self.chance(0.15)))
        elif self.chance(0.3):
            scope = Scope(effect=tuple(self.some(EFFECTS[:5], 1, 4)))
        elif self.chance(0.3):
            scope = Scope(url=tuple(self.some(naive_urls.PATTERNS, 1, 2)))
        return Rule(verb, tools, scope)

    def capsules(self, agent: str, tool: Tool | None) -> dict[str, Capsule]:
        found = {}
        names = ["C1", "C2", "C3"][: self.one((1, 1, 2, 3))]
        for i, name in enumerate(names):
            rules = self.random.randint(0, 2)
            parent = names[i + 1] if i + 1 < len(names) else None
            if self.chance(0.02):
                parent = self.one(("C9", "C1"))
            found[name] = Capsule(
                id=name,
                agent=agent if (i == 0 and not self.chance(0.05)) else self.one(self.everybody),
                parent=parent,
                expires=self.one(MOMENTS) if self.chance(0.1) else None,
                ended=self.chance(0.03),
                may=tuple(self.rule("may", tool) for _ in range(rules)) if self.chance(0.12) else None,
                may_not=(self.rule("may_not", tool),) if self.chance(0.1) else (),
                scope=tuple(self.globs(2)) if self.chance(0.4) else None,
                plan=tuple(self.rule("may", tool) for _ in range(rules)),
                grants=tuple(self.rule("may", tool) for _ in range(rules)) if self.chance(0.5) else (),
                data_tiers=tuple(self.some((1, 2, 3), 0, 3)) if self.chance(0.4) else (),
                gates=("plan",) if self.chance(0.6) else (),
            )
        return found

    def facts(self, rulebook: Rulebook, call: Call, capsules: dict[str, Capsule], digest: Digest) -> Facts:
        root = self.one(ROOTS)
        everybody = frozenset(self.everybody)
        facts = Facts(
            now=self.one((None, *MOMENTS, "2025-06-01T00:00:00Z", "2026-03-01T00:00:00Z")),
            root=root,
            resolved=self.resolved(call, root) if root is not None and self.chance(0.3) else None,
            halts=frozenset(self.some(("system", *AGENTS, "capsule:C1", "capsule:C2"), 1, 2))
            if self.chance(0.04)
            else frozenset(),
            capsules=capsules if not self.chance(0.02) else {},
            grants=self.fact_grants(call) if self.chance(0.25) else (),
            registry=everybody - frozenset(self.some(self.everybody, 0, 2)) if self.chance(0.06) else None,
            store=self.chance(0.3),
        )
        if not self.chance(0.35) or not isinstance(call.context, Context):
            return facts
        return Facts(
            **{key: getattr(facts, key) for key in _KEPT},
            approvals=self.approvals(digest(call, rulebook.hash, facts)),
        )

    def fact_grants(self, call: Call) -> tuple[Grant, ...]:
        agent = call.agent if self.chance(0.7) else self.one(self.everybody)
        name = call.tool if call.tool in self.tools else self.one(list(self.tools))
        rule = self.rule("may", None)
        if self.chance(0.7):
            rule = Rule("may", (name,), rule.scope)
        return (Grant(agent, (rule,), self.one(MOMENTS)),)

    def approvals(self, digest: str) -> tuple[Approval, ...]:
        found = []
        for i in range(self.random.randint(1, 2)):
            person = self.chance(0.5)
            found.append(
                Approval(
                    id=f"A-{i}",
                    digest=digest if not self.chance(0.1) else "sha256:0",
                    by="Maria" if person else self.one(self.everybody),
                    of="human" if person else "agent",
                    answer="refuse" if self.chance(0.12) else "approve",
                    expires=self.one(MOMENTS) if self.chance(0.3) else None,
                )
            )
        return tuple(found)

    def resolved(self, call: Call, root: str) -> dict[str, str]:
        """Most texts to themselves, some to elsewhere, few missing."""
        found = {}
        texts = texts_of(call.args)
        cwd = call.context.cwd if isinstance(call.context, Context) else None
        for text in (*texts, "docs", ".", "a/b", "src/a", "docs/x.md"):
            if self.chance(0.03):
                continue
            base = text if text.startswith("/") else f"{cwd if isinstance(cwd, str) else '.'}/{text}"
            names: list[str] = [] if base.startswith("/") else root[1:].split("/")
            for name in base.split("/"):
                if name == "..":
                    names = names[:-1]
                elif name not in ("", "."):
                    names = [*names, name]
            found[text] = "/" + "/".join(names) if not self.chance(0.12) else self.one(LINKS)
        return found


def kind_of(declared: Any) -> str:
    """The kind of an argument as it is declared."""
    return declared if isinstance(declared, str) else next(iter(declared))


_KEPT = ("now", "root", "resolved", "halts", "capsules", "grants", "registry", "store")


def texts_of(value: Any) -> list[str]:
    """Every text in the arguments of a call."""
    if isinstance(value, str):
        return [value]
    items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in texts_of(item)]
