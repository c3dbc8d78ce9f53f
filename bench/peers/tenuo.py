"""Tenuo: signed warrants with constraints on arguments, checked by a Rust core.

One warrant an agent. The plain engines ask the core for the constraints only, which Tenuo calls diagnostic:
no signature is checked. The signed one is what Tenuo recommends: each call is signed by its holder and
verified with the warrant's own signature. Of its two constraints for a path's text, `Regex` says exactly what
W2 needs; `Pattern` is faster, but its `*` also matches `/`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tenuo import Authorizer, Pattern, Range, Regex, SigningKey, Warrant, Wildcard

from bench.peers.interface import Built, CannotCheck
from bench.timing import Args
from bench.workloads import GLOBS, Check, Workload

MOST_TOOLS = 256
"""How many tools a warrant may name."""


def by_regex(glob: str) -> Any:
    """One folder, one name."""
    return Regex(rf"^{glob.partition('/')[0]}/[^/]+\.yaml$")


def _constraints(workload: Workload, agent: str, tool: str, path: Callable[[str], Any]) -> dict[str, Any]:
    if workload.check is Check.TYPES and tool == "grep_search":
        return {"query": Pattern("*"), "isRegexp": Wildcard(), "maxResults": Range(0, 1_000_000)}
    if workload.check is Check.PATTERN and tool == "create_file" and agent in GLOBS:
        return {"filePath": path(GLOBS[agent]), "content": Wildcard()}
    return {}


def _warrants(workload: Workload, key: SigningKey, path: Callable[[str], Any] = by_regex) -> dict[str, Warrant]:
    warrants = {}
    for agent, tools in workload.table.items():
        if len(tools) > MOST_TOOLS:
            raise CannotCheck(f"a warrant names at most {MOST_TOOLS} tools")
        builder = Warrant.mint_builder()
        for tool in sorted(tools):
            builder = builder.capability(tool, **_constraints(workload, agent, tool, path))
        warrants[agent] = builder.holder(key.public_key).ttl(3600).mint(key)
    return warrants


class Tenuo:
    """Constraints alone."""

    name = "Tenuo, constraints only"
    distribution = "tenuo"
    use = "a warrant per agent, `Warrant.check_constraints`; no signature checked"
    checks = {
        Check.MATRIX: "tool in the agent's warrant",
        Check.TYPES: "closed; text and number checked, a flag may be anything",
        Check.PATTERN: "closed arguments, a linear-time regex on the path's text",
    }
    grows = True

    def build(self, workload: Workload) -> Built:
        """A warrant for each agent."""
        warrants = _warrants(workload, SigningKey.generate())

        def decide(agent: str, tool: str, args: Args) -> Any:
            return warrants[agent].check_constraints(tool, args)

        return Built(decide, lambda answer: answer is None)


class PatternTenuo:
    """Constraints alone, the path by `Pattern`."""

    name = "Tenuo, Pattern"
    distribution = "tenuo"
    use = "the same with `Pattern` in place of `Regex`"
    checks = {
        Check.MATRIX: "the same, not timed again",
        Check.TYPES: "the same, not timed again",
        Check.PATTERN: "closed arguments, wildcards on the path's text, `*` matches `/` too",
    }
    grows = False

    def build(self, workload: Workload) -> Built:
        """A warrant for each agent."""
        if workload.check is not Check.PATTERN:
            raise CannotCheck("")  # as the engine above
        warrants = _warrants(workload, SigningKey.generate(), Pattern)

        def decide(agent: str, tool: str, args: Args) -> Any:
            return warrants[agent].check_constraints(tool, args)

        return Built(decide, lambda answer: answer is None)


class SignedTenuo:
    """With proof of possession, as in use."""

    name = "Tenuo, signed calls"
    distribution = "tenuo"
    use = "a warrant per agent, `Warrant.sign` and `Authorizer.authorize_one`"
    checks = dict.fromkeys(Tenuo.checks, "the same, and two signatures")
    grows = False

    def build(self, workload: Workload) -> Built:
        """A warrant for each agent, and an authorizer that trusts their issuer."""
        key = SigningKey.generate()
        warrants = _warrants(workload, key)
        authorizer = Authorizer(trusted_roots=[key.public_key])

        def decide(agent: str, tool: str, args: Args) -> Any:
            warrant = warrants[agent]
            try:
                signature = warrant.sign(key, tool, args, int(time.time()))
                return authorizer.authorize_one(warrant, tool, args, signature=signature)
            except Exception:
                return None

        return Built(decide, lambda answer: answer is not None)


ENGINES = (Tenuo(), PatternTenuo(), SignedTenuo())
