"""Parts of rules that do nothing, or less than they seem to: exceptions that take nothing out, and limits within
prohibitions of commands, which prohibit the whole command.

A rule that does nothing at all is found by `shadowed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from remit.decide.grid import Bound
from remit.model.policy import Caller, Rule
from remit.model.rulebook import Rulebook
from remit.model.text import counted, shown
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet

_MANY = 3
_WHOLE = {"may_not": "prohibits", "must_ask": "asks about"}


def idle(rulebook: Rulebook) -> Iterator[str]:
    """A sentence for each part, with its place, once."""
    seen: set[str] = set()
    for caller in rulebook.book.callers.values():
        for text in _of_caller(rulebook, caller):
            if text not in seen:
                seen.add(text)
                yield text


def _of_caller(rulebook: Rulebook, caller: Caller) -> Iterator[str]:
    inherited = {rule.at for name in caller.roles for rule in rulebook.book.callers[name].rules}
    if caller.locks is not None and ".locks" in caller.places:
        yield from _takes_nothing(caller.at_key("locks"), "locks", caller.locks.may, caller.locks.except_)
    for rule in caller.rules:
        if rule.at in inherited:
            continue
        for part in _paths(rule):
            yield from _takes_nothing(rule.at, f"`{rule.verb}`", part.get("allow") or (), part.get("except") or ())
        beside = rule.scope.except_
        if beside is not None and {"path"} == beside.parts.keys() == rule.scope.parts.keys() and not beside.where:
            mine, other = rule.scope.parts["path"], beside.parts["path"]
            yield from _takes_nothing(rule.at, f"`{rule.verb}`", mine.get("allow") or (), other.get("allow") or ())
        if rule.verb != "may":
            yield from _coarse(rule)


def _paths(rule: Rule) -> Iterator[dict[str, Any]]:
    """Every path limit of a rule: of its scope, and of single arguments."""
    for parts in (rule.scope.parts, *(condition.parts for _, condition in rule.scope.conditions())):
        if isinstance(parts.get("path"), dict):
            yield parts["path"]


def _takes_nothing(at: str, what: str, allowed: Iterable[str], taken: Iterable[str]) -> Iterator[str]:
    """Globs of an exception that meet none of those that they are excepted from: perhaps misspelt."""
    texts = list(allowed)
    inside = GlobSet(Glob.parse(text).folded() for text in texts)
    alone = [text for text in taken if inside and not inside.intersects(Glob.parse(text).folded())]
    if alone:
        more = f" and {counted(len(texts) - _MANY, 'more place')}" if len(texts) > _MANY else ""
        where = ", ".join(texts[:_MANY]) + more
        yield f"{at}: `except` of this {what} takes nothing out: {shown(', '.join(alone))} lies outside {shown(where)}"


def _coarse(rule: Rule) -> Iterator[str]:
    """Limits of commands that a prohibition does not look at."""
    shell = Bound(rule).judge.parts.get("shell")
    if shell is None:
        return
    from remit.scopes.shell.scope import ShellMatcher  # here: few policies prohibit commands

    if not isinstance(shell, ShellMatcher):
        return
    beside = [key for key in rule.scope.parts["shell"] if key not in ("sets", "run", "filters")]
    for run in shell.entries():
        wider = run.wider(beside)
        if wider is not None:
            whole, unread = wider
            why = f"only the program and its subcommands count here, not {unread}"
            yield f"{rule.at}: this `{rule.verb}` {_WHOLE[rule.verb]} all of `{shown(whole)}`: {why}"
