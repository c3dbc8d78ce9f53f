"""Accounts that money is moved between: an IBAN with its check digits, or another id in a closed grammar.

    >>> read_account("de89 3704 0044 0532 0130 00")
    'DE89370400440532013000'

An IBAN may have spaces between its groups, and its case doesn't count. What begins like one must be one. Other ids are
letters, digits and `. _ : / -`, compared as they are; a prohibition takes those that differ only in case and separators
for the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from remit.model.pattern import compile_later
from remit.model.text import shown
from remit.scopes.canonical import CanonicalKind, CanonicalMatcher
from remit.scopes.interface import Matcher, Unit

_IBAN = compile_later(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_SPACED = compile_later(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_OTHER = compile_later(r"[A-Za-z0-9](?:[A-Za-z0-9._:/-]{0,62}[A-Za-z0-9])?")
_SEPARATORS = str.maketrans("", "", "._:/- ")


def read_account(text: str) -> str:
    """The account that a text is: an IBAN without spaces in upper case, or another id as it is. Raises ValueError."""
    if len(text) <= 64 and _SPACED.fullmatch(text):
        close = text.replace(" ", "").upper()
        if _IBAN.fullmatch(close):
            digits = "".join(str(int(char, 36)) for char in close[4:] + close[:4])
            if int(digits) % 97 != 1 or not 2 <= int(close[2:4]) <= 98:
                raise ValueError(f"`{shown(text, 80)}` looks like an IBAN, but its check digits are wrong")
            return close
    if not _OTHER.fullmatch(text):
        raise ValueError(f"`{shown(text, 80)}` is neither an IBAN nor an id of letters, digits and . _ : / -")
    return text


def _folded(account: str) -> str:
    return account.translate(_SEPARATORS).upper()


class AccountMatcher(CanonicalMatcher):
    """What an `account:` scope says about accounts."""

    __slots__ = ("accounts", "folded")

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts)
        self.accounts = frozenset(map(read_account, texts))
        self.folded = frozenset(map(_folded, self.accounts))

    def covers(self, unit: Unit) -> bool:
        return unit.value in self.accounts

    def touches(self, unit: Unit) -> bool:
        return _folded(unit.value) in self.folded

    def samples(self) -> list[Any]:
        return list(self.texts)


class AccountKind(CanonicalKind):
    """An account: an IBAN, or another id."""

    name = unit = "account"
    noun = "an account"
    about = "which accounts it may name: an IBAN, or another id"
    limited_by = ("account",)
    instead = "`account:`"
    usual_effect = "pay"
    pattern_example = "DE89 3704 0044 0532 0130 00"

    def read(self, text: str) -> Any:
        return read_account(text)

    def read_pattern(self, text: str) -> Any:
        return read_account(text)

    def matcher(self, data: Any) -> Matcher:
        return AccountMatcher(data)


KINDS = (AccountKind(),)
