"""Whether one book is within another: whatever it allows, the other allows too. Proved rule by rule, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from remit.analyze.changes import words
from remit.model.policy import Caller, Rule, Scope
from remit.model.rulebook import Book
from remit.scopes.glob import Glob
from remit.scopes.glob_syntax import GlobError
from remit.scopes.globset import GlobSet
from remit.scopes.url import UrlError, UrlPattern

_FOR_PEOPLE = ("name", "notices", "sources", "protected", "tier_words")
"""Fields of a book that are not compared: the file's own name is among what is protected."""


def not_within(new: Book, old: Book) -> Iterator[str]:
    """Why nobody can say that the new book allows no more than the old one; nothing if that is proved.

    INVARIANT: everything but `may` is the same, and each `may` of a caller lies in one of the old `may` of that caller.
    A prohibition, a question, a tier, a label that differs at all is no proof.
    """
    for about in msgspec.structs.fields(Book):
        if about.name not in (*_FOR_PEOPLE, "callers") and words(getattr(new, about.name)) != words(
            getattr(old, about.name)
        ):
            yield f"`{about.name}` differs"
    for name, caller in new.callers.items():
        before = old.callers.get(name)
        if before is None:
            yield f"{name} is new"
            continue
        if words(_without_may(caller)) != words(_without_may(before)):
            yield f"more than `may` of {name} differs"
        olds = [rule for rule in before.rules if rule.verb == "may"]
        for rule in caller.rules:
            if rule.verb == "may" and not any(_is_within(rule, other) for other in olds):
                yield f"`may` of {name}: nothing shows that {words(rule)} is within what it may now"


def _without_may(caller: Caller) -> Caller:
    rules = tuple(sorted((rule for rule in caller.rules if rule.verb != "may"), key=words))
    return msgspec.structs.replace(caller, rules=rules, says_may=False, at="")


def _is_within(new: Rule, old: Rule) -> bool:
    """For tools of the old rule, under each of its conditions, and in no part wider."""
    if old.tools is not None and (new.tools is None or not set(new.tools) <= set(old.tools)):
        return False
    wide, narrow = old.scope, new.scope
    if words(msgspec.structs.replace(wide, parts={})) != words(msgspec.structs.replace(narrow, parts={})):
        return False
    if not wide.parts:
        # It covers whatever one with parts does, except what lies outside the root.
        return not wide.where and not narrow.parts.get("path", {}).get("outside")
    return wide.parts.keys() == narrow.parts.keys() and all(
        words(wide.parts[kind]) == words(part)
        or (kind == "path" and _path_within(part, wide.parts[kind]))
        or (kind == "url" and all(url_includes(wide, text) for text in part))
        for kind, part in narrow.parts.items()
    )


def _path_within(new: Any, old: Any) -> bool:
    """The same exceptions and conditions, and only patterns that the old ones include, each one of them alone."""
    rest = [{key: value for key, value in part.items() if key != "allow"} for part in (new, old)]
    if words(rest[0]) != words(rest[1]):
        return False
    try:
        wide = [GlobSet([Glob.parse(text)]) for text in old.get("allow", ())]
        return all(any(one.includes(Glob.parse(text)) for one in wide) for text in new.get("allow", ()))
    except GlobError:
        return False


def url_includes(old: Scope, pattern: str) -> bool:
    """Whether a rule's scope has no URL part, or one that includes the pattern."""
    part = old.parts.get("url")
    try:
        one = UrlPattern.parse(pattern)
        return part is None or any(UrlPattern.parse(text).includes(one) for text in part)
    except UrlError:
        return False


def path_includes(old: Scope, pattern: str) -> bool:
    """Whether a rule's scope has no path part, or one that includes the pattern."""
    part = old.parts.get("path")
    return part is None or _path_within({**part, "allow": (pattern,)}, part)
