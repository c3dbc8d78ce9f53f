"""Resolving names: toolsets, tool patterns and aliases into tools; did-you-mean for the rest."""

from __future__ import annotations

from remit.decide.selection import names_tool
from remit.declare.load import known_pack
from remit.forms.shapes import Reader
from remit.model.policy import Policy, Tool
from remit.model.text import did_you_mean, shown


class Names:
    """What a name in a rule can mean."""

    def __init__(self, policy: Policy, reader: Reader) -> None:
        self.policy = policy
        self.reader = reader
        self.tools = policy.tools
        self.aliases: dict[str, str] = {}
        for tool in policy.tools.values():
            for alias in tool.aliases:
                taken = alias in policy.tools or self.aliases.get(alias, tool.name) != tool.name
                if taken:
                    reader.fail(
                        tool.at,
                        "duplicate-name",
                        f"the alias `{alias}` of `{tool.name}` is another tool's name",
                    )
                self.aliases[alias] = tool.name
        self.toolsets: dict[str, tuple[str, ...]] = {}
        for name in policy.toolsets:
            if name in policy.tools or name in self.aliases:
                reader.fail(self._at(name), "duplicate-name", f"`{name}` is a tool and a toolset")
            self._toolset(name, ())

    def _at(self, name: str) -> str:
        return self.policy.places.get(f"toolsets.{name}", f"toolsets.{name}")

    def _toolset(self, name: str, above: tuple[str, ...]) -> tuple[str, ...]:
        if name in self.toolsets:
            return self.toolsets[name]
        if name in above:
            self.reader.fail(self._at(name), "toolset-cycle", f"the toolset `{name}` contains itself")
            return ()
        found: list[str] = []
        for member in self.policy.toolsets[name]:
            if member in self.policy.toolsets:
                found.extend(self._toolset(member, (*above, name)))
            else:
                found.extend(self.expand(member, self._at(name), {}))
        self.toolsets[name] = tuple(dict.fromkeys(found))
        return self.toolsets[name]

    def expand(self, name: str, at: str, own: dict[str, Tool]) -> tuple[str, ...]:
        """The tools that a name stands for; `own` are declarations of one agent only."""
        if name in own or name in self.tools:
            return (name,)
        if name in self.aliases:
            return (self.aliases[name],)
        if name in self.toolsets:
            return self.toolsets[name]
        if "*" in name:
            return self._pattern(name, at, own)
        known = {*self.tools, *self.toolsets, *self.aliases, *own}
        hint = did_you_mean(name, known)
        help = known_pack(name) or (None if hint else _how_to_declare(name))
        self.reader.fail(at, "undeclared-tool", f"undeclared tool `{shown(name)}`{hint}", help)
        return ()

    def _pattern(self, pattern: str, at: str, own: dict[str, Tool]) -> tuple[str, ...]:
        found = tuple(sorted(n for n, tool in {**self.tools, **own}.items() if names_tool(pattern, tool)))
        if not found:
            help = _how_to_declare(pattern) if pattern.startswith("mcp__") else None
            self.reader.fail(at, "matches-nothing", f"`{shown(pattern)}` matches no declared tool", help)
        return found

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Tools that a reserved pattern matches; it may match none, since unknown tools are denied anyway."""
        own = [tool for caller in self.policy.callers.values() for tool in caller.tools.values()]
        return tuple(sorted(t.name for t in (*self.tools.values(), *own) if names_tool(pattern, t)))


def _how_to_declare(name: str) -> str:
    """How a tool that nothing declares gets declared; what it does, only its author can say."""
    if name.lower() in ("all", "any", "everything"):
        return 'for every declared tool write "*"'
    if name.startswith("mcp__"):
        server = name.split("__")[1] or "NAME"
        return (
            f"declare the server's tools: save its answer to tools/list, then remit init --tools FILE --server {server}"
        )
    declare = f"declare it under tools, with its arguments and what it does:\n      {shown(name)}:"
    return (
        f"{declare} {{args: {{…}}, does: {{…}}}}\n    or, if a Python program has it, run `remit publish app.py:guard`"
    )
