"""E-mail addresses: `ann@x.example`, `Ann <ann@X.example>`; patterns `ann@x.example`, `*@x.example`, `*@*.x.example`.

    >>> read_address("Ann Example <ann@X.example>")
    'ann@x.example'

The grammar is strict: what two mail programs could read as two addresses is refused. There are no comments, no quoted
local parts, no lists, no routes, no domains outside ASCII (`xn--…` is), and no addresses for domains. The domain's case
doesn't count. That of the local part does where an address must be covered; a prohibition takes it, and what follows a
`+`, for the same mailbox.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from remit.model.pattern import compile_later
from remit.model.text import shown
from remit.scopes.canonical import CanonicalKind, CanonicalMatcher
from remit.scopes.interface import Matcher, Unit
from remit.scopes.url_grammar import parse_host

_LOCAL = compile_later(r"[A-Za-z0-9_+=~'](?:[A-Za-z0-9_+=~'-]|\.(?!\.|\Z))*")
_NAMED = compile_later(r"(?:([^<>@]*) )?<([^<>\s]+)>")
_IN_NAMES = frozenset(" .'_-")
MAX_LENGTH = 254


def read_address(text: str) -> str:
    """The one address that a text is, without a display name, its domain in lower case. Raises ValueError."""
    if len(text) > MAX_LENGTH * 2:
        raise ValueError("the address is too long")
    named = _NAMED.fullmatch(text)
    if named is not None:
        if not _harmless(named[1] or ""):
            raise ValueError(
                f"the display name of `{shown(text, 80)}` has characters that mail programs read in two ways"
            )
        text = named[2]
    local, _, domain = text.rpartition("@")
    if not _LOCAL.fullmatch(local) or len(local) > 64 or len(text) > MAX_LENGTH:
        raise ValueError(f"`{shown(text, 80)}` is not one plain address such as name@host.example")
    return f"{local}@{_domain(domain)}"


def read_pattern(text: str) -> tuple[str, str]:
    """The local part and the domain that a pattern names, each perhaps with a `*` before it. Raises ValueError."""
    local, _, domain = text.rpartition("@")
    if local != "*" and (not _LOCAL.fullmatch(local) or len(local) > 64):
        raise ValueError("an address such as name@host.example, or `*@host.example` for all of a domain")
    parent = domain.removeprefix("*.")
    return local, domain[: len(domain) - len(parent)] + _domain(parent)


def _domain(text: str) -> str:
    found = parse_host(text)
    if found.startswith("[") or found.rpartition(".")[2].isdigit() or "." not in found:
        raise ValueError(f"`{shown(text, 80)}` is not a mail domain")
    return found


def _harmless(name: str) -> bool:
    """A display name that no program takes for a part of an address."""
    bare = name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name
    return all(char in _IN_NAMES or unicodedata.category(char)[0] in "LM" or char.isdecimal() for char in bare)


def _mailbox(local: str) -> str:
    """The local part as most hosts take it: without case, and without what follows a `+`."""
    return local.lower().partition("+")[0] or local.lower()


class EmailMatcher(CanonicalMatcher):
    """What an `email:` scope says about addresses."""

    __slots__ = ("patterns",)

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts)
        self.patterns = [read_pattern(text) for text in texts]

    def covers(self, unit: Unit) -> bool:
        local, _, domain = unit.value.rpartition("@")
        return any(one in ("*", local) and _in_domain(domain, two) for one, two in self.patterns)

    def touches(self, unit: Unit) -> bool:
        local, _, domain = unit.value.rpartition("@")
        mine = _mailbox(local)
        return any(one == "*" or _mailbox(one) == mine for one, two in self.patterns if _in_domain(domain, two))


def _in_domain(domain: str, pattern: str) -> bool:
    return domain.endswith(pattern[1:]) if pattern[0] == "*" else domain == pattern


class EmailKind(CanonicalKind):
    """An e-mail address."""

    name = unit = "email"
    noun = "an e-mail address"
    about = "which e-mail addresses it may name: `ann@x.example`, `*@x.example`, `*@*.x.example`"
    limited_by = ("email",)
    instead = "`email:`"
    usual_effect = "message"
    pattern_example = "name@host.example or *@host.example"

    def read(self, text: str) -> Any:
        return read_address(text)

    def read_pattern(self, text: str) -> Any:
        return read_pattern(text)

    def matcher(self, data: Any) -> Matcher:
        return EmailMatcher(data)

    def harmless(self) -> Any:
        return "name@host.example"


KINDS = (EmailKind(),)
