"""E-mail addresses, accounts, hosts and dates: canonical forms, and what a scope says about them (semantics §4)."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

KINDS = ("email", "account", "host", "date")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.I)
_LOCAL = re.compile(r"(?!-)[A-Za-z0-9_+=~'-]+(?:\.[A-Za-z0-9_+=~'-]+)*")


def canonical(kind: str, text: str) -> str | None:
    """The canonical form of a value; None for one that can't be read."""
    return {"email": _email, "account": _account, "host": _host, "date": _date}[kind](text)


def _dns(text: str) -> str | None:
    """A DNS name, or an address in four canonical numbers, in lower case."""
    if not text.isascii() or _NAME.fullmatch(text) is None:
        return None
    labels = text.lower().split(".")
    if labels[-1].isdigit() or re.fullmatch(r"0x[0-9a-f]*", labels[-1]):
        fine = len(labels) == 4 and all(x.isdigit() and str(int(x)) == x and int(x) < 256 for x in labels)
        return ".".join(labels) if fine else None
    return ".".join(labels)


def _email(text: str) -> str | None:
    if text.endswith(">"):
        before, _, text = text[:-1].rpartition("<")
        name = before[:-1] if before.endswith(" ") else before
        if before and not before.endswith(" "):
            return None
        if len(name) > 1 and name.startswith('"') and name.endswith('"'):
            name = name[1:-1]
        if not all(c in " .'_-" or unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in name):
            return None
    if text.count("@") != 1:
        return None
    local, domain = text.split("@")
    found = _dns(domain)
    if _LOCAL.fullmatch(local) is None or found is None or "." not in found or found[-1].isdigit():
        return None
    return f"{local}@{found}"


def _account(text: str) -> str | None:
    if re.fullmatch(r"[A-Za-z0-9]+( [A-Za-z0-9]+)*", text):
        close = text.replace(" ", "").upper()
        if re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", close):
            number = 0
            for char in close[4:] + close[:4]:
                number = (number * (100 if char.isalpha() else 10) + int(char, 36)) % 97
            return close if number == 1 and 2 <= int(close[2:4]) <= 98 else None
    return text if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._:/-]{0,62}[A-Za-z0-9])?", text) else None


def _host(text: str) -> str | None:
    host, colon, port = text.partition(":")
    found = _dns(host)
    if found is None or (colon and (not re.fullmatch(r"[1-9][0-9]{0,4}", port) or int(port) > 65535)):
        return None
    return found + colon + port


def _date(text: str) -> str | None:
    day = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    try:
        if re.fullmatch(day, text):
            datetime.strptime(text, "%Y-%m-%d")
            return text
        if re.fullmatch(
            rf"{day}T[0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,6}})?)?(Z|[+-][0-9]{{2}}:[0-9]{{2}})", text
        ):
            return datetime.fromisoformat(text).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        pass
    return None


def surely(kind: str, entries: Any, value: str) -> bool:
    """Whether a canonical value certainly lies within a part of a scope."""
    return any(_fits(kind, entry, value, sure=True) for entry in entries)


def maybe(kind: str, entries: Any, value: str) -> bool:
    """Whether it might."""
    return any(_fits(kind, entry, value, sure=False) for entry in entries)


def _fits(kind: str, entry: Any, value: str, *, sure: bool) -> bool:
    if kind == "email":
        local, domain = value.split("@")
        wanted, place = entry.rsplit("@", 1)
        if not _below(domain, place.lower()):
            return False
        return wanted in ("*", local) if sure else wanted == "*" or _mailbox(wanted) == _mailbox(local)
    if kind == "account":
        mine = _account(entry) or ""
        return mine == value if sure else _bare(mine) == _bare(value)
    if kind == "host":
        host, _, port = value.partition(":")
        name, _, wanted = entry.partition(":")
        return _below(host, name.lower()) and (not sure or wanted in ("*", port))
    return _dated(entry, value, sure=sure)


def _below(name: str, pattern: str) -> bool:
    return name.endswith(pattern[1:]) and name != pattern[2:] if pattern.startswith("*.") else name == pattern


def _mailbox(local: str) -> str:
    folded = local.lower()
    return folded.split("+")[0] or folded


def _bare(account: str) -> str:
    return re.sub(r"[ ._:/-]", "", account).upper()


def _days(text: str) -> tuple[datetime, datetime]:
    """The first moment of a value, and the last one: a day ends a microsecond before the next."""
    found = datetime.fromisoformat(_date(text) or "")
    if "T" in text:
        return found, found
    first = found.replace(tzinfo=UTC)
    return first, first + timedelta(days=1) - timedelta(microseconds=1)


def _dated(entry: Any, value: str, *, sure: bool) -> bool:
    first, last = _days(value)
    if isinstance(entry, str):
        low, high = _days(entry)
    else:
        low = _days(entry["from"])[0] if "from" in entry else datetime.min.replace(tzinfo=UTC)
        high = datetime.max.replace(tzinfo=UTC)
        if "until" in entry:
            high = _days(entry["until"])[0] - timedelta(microseconds=1)
    return low <= first and last <= high if sure else first <= high and low <= last
