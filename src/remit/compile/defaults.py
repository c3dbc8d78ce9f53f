"""What the catalog adds to every policy: tiers, labels, protected paths."""

from __future__ import annotations

from functools import cache
from typing import Any

from remit import catalog
from remit.declare.nodes import parse
from remit.declare.words import plain
from remit.model.policy import Label, Policy, Question
from remit.model.rulebook import LabelTier, Protected


@cache
def _data(name: str) -> dict[str, Any]:
    found: dict[str, Any] = plain(parse(catalog.text(name), f"catalog {name}"))
    return found


def effect_tiers() -> dict[str, int]:
    """The tier of each effect."""
    return {effect: entry["tier"] for effect, entry in _data("tiers.yaml")["effects"].items()}


def grade_tiers() -> dict[str, int]:
    """The least tier of a command by its grade."""
    return {grade: entry["tier"] for grade, entry in _data("tiers.yaml")["grades"].items()}


def label_tiers() -> dict[str, LabelTier]:
    """The tier of each label, and of deleting outside the scope of a task."""
    data = _data("tiers.yaml")
    entries = {**data["labels"], "outside_scope": data["outside_scope"]}
    return {name: LabelTier(entry["tier"], tuple(entry["effects"])) for name, entry in entries.items()}


def labels() -> tuple[Label, ...]:
    """The labels that ship with Remit."""
    return tuple(
        Label(name, path=tuple(entry["path"]), at=f"catalog {name}") for name, entry in _data("labels.yaml").items()
    )


def tiers(policy: Policy) -> dict[int, Question]:
    """What each tier does: the defaults, refined by the policy."""
    asks = {3: Question("ask", "chain", planned=True), 4: Question("ask", "human")}
    return {tier: policy.tiers.get(tier) or asks.get(tier) or Question() for tier in range(5)}


def protected(policy: Policy) -> Protected:
    """The protected paths: the catalog's, the policy's own files and tests, and what it adds."""
    data = _data("protected.yaml")
    inside = [source for source in policy.sources if not source.startswith("../")]
    tests = {f"{source.rpartition('/')[0]}/*.test.yaml".lstrip("/") for source in inside}
    files = tuple(_literal(source) for source in inside)
    return Protected(
        names=tuple(data["names"]),
        paths=(*data["paths"], *files, *sorted(tests), *policy.protect),
        hidden=tuple(data["hidden"]),
        programs=tuple(data["programs"]),
        above=tuple(source for source in policy.sources if source.startswith("../")),
        lifted=policy.unprotect,
    )


def _literal(path: str) -> str:
    """A path as a glob that matches just it."""
    return "".join(f"[{c}]" if c in "*?[{" else c for c in path)
