"""What is different between two books, in the words of a policy: callers, their rules, tools, and every other key.

Whatever changes a book's hash is a change here. Where something stands, and what is for people only, is none.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from remit.model.policy import Caller, Rule, Scope
from remit.model.rulebook import Book

What = Literal["added", "removed", "changed"]
NO_MATTER = frozenset({"at", "sources", "notices", "examples", "about", "pack", "packs", "places", "tier_words"})
"""Fields that say where something stands or are for people only."""
ANY_TOOL = "any tool"
_ORDERED = frozenset({"gates"})
_SECTIONS = {"agent": "agents", "role": "roles", "runner": "runners"}
_PLAIN = re.compile(r"[A-Za-z0-9_./*:@%+~^ -]*[A-Za-z0-9_./*]")
_NO_TEXT = re.compile(r"true|false|null|[0-9.+-].*", re.IGNORECASE)
"""What would be read as something else than a text."""
_EMPTY = Book("", {}, {}, {})


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One difference: in which section of the policy, of what by name, which key or rule."""

    what: What
    section: str
    name: str
    key: str = ""
    """`may`, `locks`, `tier` …; empty where the whole thing came or went."""
    old: str | None = None
    new: str | None = None
    at: str = ""
    """Where it stands; for what is gone, where it stood."""


def compare(old: Book | None, new: Book) -> tuple[Change, ...]:
    """Every difference; without an old book, everything that the new one says."""
    before = old if old is not None else _EMPTY
    return tuple(_callers(before, new)) + tuple(_others(before, new))


def _callers(old: Book, new: Book) -> Iterator[Change]:
    for name in dict.fromkeys((*new.callers, *old.callers)):
        mine, other = old.callers.get(name), new.callers.get(name)
        known = other if other is not None else mine
        section = _SECTIONS[known.kind] if known is not None else ""
        if mine is None and other is not None:
            yield Change("added", section, name, at=other.at)
        if other is None and mine is not None:
            yield Change("removed", section, name, at=mine.at)
            continue
        before, after = mine.rules if mine else (), other.rules if other else ()
        found = tuple(_rules(section, name, before, after))
        yield from found
        if not found and sorted(map(words, before)) != sorted(map(words, after)):
            sizes = (f"{len(before)} rules", f"{len(after)} rules that say the same")
            yield Change("changed", section, name, "rules", *sizes)
        blank = Caller(name, other.kind if other else "agent")
        yield from _fields(section, name, mine or blank, other or blank, skip={"name", "rules", "says_may"})
        if mine is not None and other is not None and mine.says_may != other.says_may:
            texts = ["not stated" if not caller.says_may else "stated" for caller in (mine, other)]
            yield Change("changed", section, name, "may", texts[0], texts[1], other.at)


def _rules(section: str, name: str, old: Iterable[Rule], new: Iterable[Rule]) -> Iterator[Change]:
    """Rules with the same verb and scope are one, so that a tool more in a list is only this tool."""
    before, after = _by_scope(old), _by_scope(new)
    for mine, other, what in ((before, after, "removed"), (after, before, "added")):
        for key, tools in mine.items():
            verb, scope = key
            fresh = {tool: at for tool, at in tools.items() if tool not in other.get(key, {})}
            for at in dict.fromkeys(fresh.values()):
                names = ", ".join(tool for tool, place in fresh.items() if place == at)
                text = f"{names}: {scope}" if scope else names
                if what == "added":
                    yield Change("added", section, name, verb, new=text, at=at)
                else:
                    yield Change("removed", section, name, verb, old=text, at=at)


def _by_scope(rules: Iterable[Rule]) -> dict[tuple[str, str], dict[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for rule in rules:
        parts = _plain(rule.scope) | _asked(rule)
        tools = found.setdefault((rule.verb, flow(parts) if parts else ""), {})
        for tool in rule.tools if rule.tools is not None else (ANY_TOOL,):
            tools.setdefault(tool, rule.at)
    return found


def _asked(rule: Rule) -> dict[str, Any]:
    """What a must_ask says of whom it asks."""
    said = {"ask": rule.ask, "approvals": rule.approvals if rule.approvals > 1 else None}
    return {key: value for key, value in (*said.items(), ("separate", rule.separate or None)) if value is not None}


def _others(old: Book, new: Book) -> Iterator[Change]:
    for field in Book.__struct_fields__:
        if field == "callers" or field in NO_MATTER:
            continue
        mine, other = getattr(old, field), getattr(new, field)
        if isinstance(other, Mapping):
            yield from _mapping(field, mine, other)
        elif isinstance(other, tuple):
            yield from _items(field, "", mine, other)
        elif (known := other if other is not None else mine) is not None and isinstance(known, msgspec.Struct):
            blank = type(known)()
            for name in known.__struct_fields__:
                one, two = (getattr(side if side is not None else blank, name) for side in (mine, other))
                if isinstance(two, Mapping):
                    yield from _mapping(field, one, two)
                elif isinstance(two, tuple):
                    yield from _items(field, name, one, two)
                elif words(one) != words(two):
                    text = [None if value is None else words(value) for value in (one, two)]
                    yield Change("changed", field, name, "", text[0], text[1])
        elif mine != other:
            yield Change("changed", field, "", "", flow(mine), flow(other))


def _mapping(section: str, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Iterator[Change]:
    for key in dict.fromkeys((*new, *old)):
        name = str(key)
        if key not in old:
            yield Change("added", section, name, new=words(new[key]), at=getattr(new[key], "at", ""))
        elif key not in new:
            yield Change("removed", section, name, old=words(old[key]), at=getattr(old[key], "at", ""))
        elif isinstance(new[key], msgspec.Struct):
            yield from _fields(section, name, old[key], new[key], skip={"name"})
        elif words(old[key]) != words(new[key]):
            yield Change("changed", section, name, old=words(old[key]), new=words(new[key]))


def _items(section: str, name: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> Iterator[Change]:
    before, after = {words(item): item for item in old}, {words(item): item for item in new}
    for text, item in before.items():
        if text not in after:
            yield Change("removed", section, name, old=text, at=getattr(item, "at", ""))
    for text, item in after.items():
        if text not in before:
            yield Change("added", section, name, new=text, at=getattr(item, "at", ""))
    if before.keys() == after.keys() and (section in _ORDERED or len(old) != len(new)) and old != new:
        yield Change("changed", section, name, old=flow(list(before)), new=flow(list(after)))


def _fields(section: str, name: str, old: Any, new: Any, *, skip: set[str]) -> Iterator[Change]:
    at = str(getattr(new, "at", ""))
    for key in new.__struct_fields__:
        if key in NO_MATTER or key in skip:
            continue
        mine, other = getattr(old, key), getattr(new, key)
        if words(mine) != words(other):
            text = [None if value is None else words(value) for value in (mine, other)]
            yield Change("changed", section, name, key, text[0], text[1], at)


def words(value: Any) -> str:
    """A value as a policy would say it, without its place; the same for the same meaning."""
    return flow(_plain(value))


def flow(value: Any) -> str:
    """Plain data in one line: `{path: [research/*.yaml], new_only: true}`."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and ": " not in value and not _NO_TEXT.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


_struct_fields = functools.cache(msgspec.structs.fields)


def _plain(value: Any, field: str = "") -> Any:
    """As plain data, what is absent left out and lists sorted: their order means nothing."""
    if isinstance(value, Scope):
        return {key: _plain(item) for key, item in value.written().items()}
    if isinstance(value, msgspec.Struct):
        found = {}
        for about in _struct_fields(type(value)):
            item = getattr(value, about.name)
            default = about.default if about.default_factory is msgspec.NODEFAULT else about.default_factory()
            if about.name not in NO_MATTER and (item != default or type(item) is not type(default)):
                found[about.encode_name] = _plain(item, about.name)
        return found
    if isinstance(value, Mapping):
        plain = {str(key): _plain(value[key]) for key in sorted(value, key=str)}
        return plain["allow"] if list(plain) == ["allow"] else plain
    if isinstance(value, (list, tuple)):
        items = [_plain(item) for item in value]
        return items if field in _ORDERED else sorted(items, key=flow)
    return value
