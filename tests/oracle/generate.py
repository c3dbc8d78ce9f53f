"""A seeded generator of policies and of calls that come close to their rules.

    draw = Draw(seed)
    data = draw.policy()                            # for remit.compile.build_rulebook
    call, facts = draw.call(rulebook, digest)

Plain `random.Random`: fast enough for 10⁶ calls, and the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remit.model.call import Call, Context, Statement
from remit.model.facts import Approval, Capsule, Facts
from remit.model.policy import ANY, Caller, Grant, Rule, Scope, Tool
from remit.model.rulebook import Book, Rulebook
from tests.oracle import naive_urls
from tests.oracle.generate_policies import PolicyDraw
from tests.oracle.words import (
    ADDRESSES,
    AGENTS,
    BAD_ADDRESSES,
    BAD_GLOBS,
    CWDS,
    EFFECTS,
    GLOBS,
    LINKS,
    MOMENTS,
    OUTSIDES,
    ROOTS,
    SEGMENTS,
    SKILLS,
    STRANGE_PATHS,
)

PARAMETERS: tuple[str | int | bool, ...] = ("x", "x", "y", 1, True, "fast", *SKILLS)
Digest = Callable[[Call, str, Facts], str]


class Draw(PolicyDraw):
    """Draws policies, calls and facts from one seed."""

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
        args: dict[str, Any] = {}
        for name, argument in tool.args.items():
            if argument.optional and self.chance(0.5):
                if self.chance(0.1):
                    self.put(args, name, lambda: None)
                continue
            if self.chance(0.008):
                continue
            flat[name] = argument
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
            case "email" | "account" | "host" | "date":
                return self.one(ADDRESSES[kind]) if not self.chance(0.15) else self.one(BAD_ADDRESSES[kind])
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
            scope = Scope({"path": {"allow": allow, "outside": outside, "new_only": self.chance(0.15)}})
        elif self.chance(0.3):
            scope = Scope(effect=tuple(self.some(EFFECTS[:5], 1, 4)))
        elif self.chance(0.3):
            scope = Scope({"url": tuple(self.some(naive_urls.PATTERNS, 1, 2))})
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
                must_ask=(self.rule("must_ask", tool),) if self.chance(0.15) else (),
                scope=tuple(self.globs(2)) if self.chance(0.4) else None,
                plan=tuple(self.rule("may", tool) for _ in range(rules)),
                grants=tuple(self.rule("may", tool) for _ in range(rules)) if self.chance(0.5) else (),
                data_tiers=tuple(self.some((1, 2, 3), 0, 3)) if self.chance(0.4) else (),
                gates=tuple(gate for gate in ("plan", "demo", "start") if self.chance(0.6)),
                parameters={key: self.one(PARAMETERS) for key in self.some(("x", "y"), 0, 2)},
                issued_by=self.person() if self.aside.random() < 0.6 else None,
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
        if not self.chance(0.35):
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
                    by=self.person() if person else self.one(self.everybody),
                    of="human" if person else "agent",
                    answer="refuse" if self.chance(0.12) else "approve",
                    expires=self.one(MOMENTS) if self.chance(0.3) else None,
                )
            )
        for name in self.aside.sample(self.people, self.aside.randint(0, len(self.people))):
            found.append(Approval(id="A-9", digest=digest, by=name))
        return tuple(found)

    def person(self) -> str:
        return self.aside.choice(self.people) if self.people else "Maria"

    def resolved(self, call: Call, root: str) -> dict[str, str]:
        """Most texts to themselves, some to elsewhere, few missing."""
        found = {}
        texts = texts_of(call.args)
        cwd = call.context.cwd
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


_KEPT = ("now", "root", "resolved", "halts", "capsules", "grants", "registry", "store")


def texts_of(value: Any) -> list[str]:
    """Every text in the arguments of a call."""
    if isinstance(value, str):
        return [value]
    items: list[Any] = []
    if isinstance(value, dict):
        items = list(value.values())
    elif isinstance(value, list):
        items = value
    return [text for item in items for text in texts_of(item)]
