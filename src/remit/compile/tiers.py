"""Which tier effects, grades, labels and environments have: the catalog's table, refined by the policy."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.compile.defaults import data
from remit.forms.shapes import Reader
from remit.model.policy import Policy, TierOf, Tool
from remit.model.rulebook import LabelTier
from remit.model.text import did_you_mean, shown, suggestion
from remit.scopes.glob import fold
from remit.scopes.kinds import kind_of

RULES = ("outside_scope", "whole_table", "own_branch", "declared_install")
"""Entries of the table that are about calls of one kind, wherever they stand."""


class Tiers(msgspec.Struct, frozen=True):
    """The whole table, with the reasons for people."""

    effects: dict[str, int]
    grades: dict[str, int]
    labels: dict[str, LabelTier]
    environments: dict[str, LabelTier]
    words: dict[str, str]


def refined(policy: Policy, reader: Reader, notices: list[str]) -> Tiers:
    """The table for a policy; what it lowers is put among the notices, what names nothing among the problems."""
    table = data("tiers.yaml")
    tiers = Tiers(
        {effect: entry["tier"] for effect, entry in table["effects"].items()},
        {grade: entry["tier"] for grade, entry in table["grades"].items()},
        {name: _rule(entry) for name, entry in (*table["labels"].items(), *((name, table[name]) for name in RULES))},
        {fold(name): _rule(entry) for entry in table["environments"].values() for name in entry["names"]},
        dict(_words(table)),
    )
    for effect, entry in policy.effect_tiers.items():
        _lowered(notices, f"effect {effect}", tiers.effects[effect], entry)
        tiers.effects[effect] = entry.tier
        _because(tiers, f"effect {effect}", f"{table['effects'][effect]['does']}: ", entry)
    # A push to a shared branch is publishing like any other, whatever tier that has.
    shared = tiers.labels["shared"]
    tiers.labels["shared"] = LabelTier(min(shared.tier, tiers.effects["publish"]), shared.effects)
    _labels(policy, tiers, reader, notices)
    return tiers


def with_tool_tiers(policy: Policy, tiers: Tiers, reader: Reader, notices: list[str]) -> dict[str, Tool]:
    """The tools of the policy, each with the tier that it gives to their effects; what it lowers is a notice."""
    tools = dict(policy.tools)
    for name, entry in policy.tool_tiers.items():
        tool = tools.get(name)
        if tool is None:
            reader.fail(entry.at, "undeclared-tool", f"undeclared tool `{shown(name)}`{suggestion(name, tools)}")
            continue
        language = next((kind for kind in sorted(tool.kinds) if kind_of(kind).language), None)
        if language is not None:
            help = "limit what it may do by rules, or set the tier of an effect"
            reader.fail(entry.at, "bad-value", f"the tier of a {language} text comes from what it does", help)
            continue
        _lowered(notices, f"tool {name}", max(tool.tier, *(tiers.effects[does.effect] for does in tool.does), 0), entry)
        tiers.words[f"tool {name}"] = entry.because or "it says so"
        tools[name] = msgspec.structs.replace(tool, effect_tier=entry.tier)
    return tools


def _labels(policy: Policy, tiers: Tiers, reader: Reader, notices: list[str]) -> None:
    known = [name for name in tiers.labels if name not in RULES]
    own = {label.name: label for label in policy.labels if label.name != "data" and label.name not in known}
    usual = tiers.labels["production"].effects
    for name, entry in policy.label_tiers.items():
        if name not in known and name not in own:
            hint = suggestion(name, (*known, *own))
            reader.fail(entry.at, "unknown-label", f"no label is named `{shown(name)}`{hint}")
            continue
        before = tiers.labels.get(name)
        effects = entry.effects or (before.effects if before is not None else usual)
        if before is not None:
            _lowered(notices, f"label {name}", before.tier, entry)
        tiers.labels[name] = LabelTier(entry.tier, effects)
        tiers.words.setdefault(f"label {name}", "the policy says so")
        _because(tiers, f"label {name}", "", entry)
    for name, label in own.items():
        if name not in policy.label_tiers:
            hint = did_you_mean(name, known)
            help = f"say what it means: tiers: {{labels: {{{name}: 3}}}}"
            reader.fail(label.at, "unknown-label", f"the label `{shown(name)}` has no tier{hint}", help)


def _rule(entry: dict[str, Any]) -> LabelTier:
    return LabelTier(entry["tier"], tuple(entry["effects"]))


def _words(table: dict[str, Any]) -> list[tuple[str, str]]:
    found = [(f"effect {name}", f"{entry['does']}: {entry['because']}") for name, entry in table["effects"].items()]
    found += [(f"grade {name}", f"{entry['does']}: {entry['because']}") for name, entry in table["grades"].items()]
    found += [(f"label {name}", entry["because"]) for name, entry in table["labels"].items()]
    found += [
        (f"environment {fold(name)}", e["because"]) for e in table["environments"].values() for name in e["names"]
    ]
    return [*found, *((name, table[name]["because"]) for name in RULES)]


def _because(tiers: Tiers, key: str, does: str, entry: TierOf) -> None:
    if entry.because is not None:
        tiers.words[key] = does + entry.because


def _lowered(notices: list[str], what: str, before: int, entry: TierOf) -> None:
    if entry.tier < before:
        notices.append(f"{entry.at}: {what} is lowered from tier {before} to {entry.tier}")
