"""What the catalog adds to every policy: what tiers do, labels, protected paths."""

from __future__ import annotations

from functools import cache
from typing import Any

from remit import catalog
from remit.declare.nodes import parse
from remit.declare.published import published_name
from remit.forms.texts import plain
from remit.model.policy import Label, Policy, Question
from remit.model.rulebook import Protected


@cache
def data(name: str) -> dict[str, Any]:
    """One file of the catalog, as plain data."""
    found: dict[str, Any] = plain(parse(catalog.text(name), f"catalog {name}"))
    return found


def labels() -> tuple[Label, ...]:
    """The labels that ship with Remit."""
    entries = data("labels.yaml").items()
    return tuple(
        Label(
            name,
            path=tuple(entry.get("path", ())),
            branch=tuple(entry.get("branch", ())),
            at=f"catalog {name}",
            shipped=True,
        )
        for name, entry in entries
    )


def tiers(policy: Policy) -> dict[int, Question]:
    """What each tier does: the defaults, refined by the policy."""
    asks = {3: Question("ask", "chain", planned=True), 4: Question("ask", "human")}
    return {tier: policy.tiers.get(tier) or asks.get(tier) or Question() for tier in range(5)}


def protected(policy: Policy) -> Protected:
    """The protected paths: the catalog's, the policy's own files and tests, and what it adds."""
    found = data("protected.yaml")
    sources = policy.sources or ("remit.yaml",)  # a policy built in Python protects the file that others read
    sources = tuple(dict.fromkeys((*sources, published_name(sources[0]))))  # before it is there, too
    inside = [source for source in sources if not source.startswith("../")]
    tests = {f"{source.rpartition('/')[0]}/*.test.yaml".lstrip("/") for source in inside}
    files = tuple(_literal(source) for source in inside)
    return Protected(
        names=tuple(found["names"]),
        paths=(*found["paths"], *files, *sorted(tests), *policy.protect),
        instructions=tuple(found["instructions"]),
        hidden=tuple(found["hidden"]),
        programs=tuple(found["programs"]),
        words={program: tuple(words) for program, words in found["words"].items()},
        above=tuple(source for source in sources if source.startswith("../")),
        lifted=policy.unprotect,
    )


def _literal(path: str) -> str:
    """A path as a glob that matches just it."""
    return "".join(f"[{c}]" if c in "*?[{" else c for c in path)
