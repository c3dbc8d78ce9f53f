"""Words as bash makes them: quoting removed, `$'…'` decoded, braces expanded; what is not literal is said so.

The parser says where a word begins and ends; what it means is decided here, from its raw text alone, so that the
two can be checked against each other.
"""

from __future__ import annotations

import re

from remit.scopes.interface import NotUnderstood
from remit.scopes.shell.reading import Word

MAX_EXPANSION = 256
_SPECIAL = frozenset(" \t\n;|&()<>")
_EXPANDS = re.compile(r"\$(?:[A-Za-z0-9_@*#?$!{(-]|\[)")
_SEQUENCE = re.compile(r"(-?\d{1,4})\.\.(-?\d{1,4})(?:\.\.(-?\d{1,3}))?|([A-Za-z])\.\.([A-Za-z])")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_ANSI_CODE = re.compile(r"x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)", re.DOTALL)

Char = tuple[str, bool]
"""A character, and whether quoting took its special meaning away."""


def words(raw: str) -> list[Word]:
    """The words that one word of the text becomes. Raises NotUnderstood."""
    chars = _unquote(raw)
    if chars is None:
        return [Word(None, raw)]
    if any(char == "{" and not quoted for char, quoted in chars):
        expanded = _braces(chars, raw)
    else:
        expanded = [chars]
    found = []
    for each in expanded:
        if not each and not _quoted_empty(raw):
            continue  # an alternative that is nothing at all makes no word
        text = "".join(char for char, _ in each)
        found.append(Word(text, raw, glob=any(c in "*?[" and not quoted for c, quoted in each)))
    return found


def literal(raw: str) -> str | None:
    """The text of a word that must be exactly one; None if it is not literal or not one."""
    found = words(raw)
    return found[0].text if len(found) == 1 else None


def _quoted_empty(raw: str) -> bool:
    return "'" in raw or '"' in raw


def _unquote(raw: str) -> list[Char] | None:
    """The characters of a word with their quoting; None if some of it is expanded when it runs."""
    out: list[Char] = []
    at, end = 0, len(raw)
    while at < end:
        char = raw[at]
        if char == "\\":
            if at + 1 >= end:
                raise NotUnderstood("shell", "a backslash at the end of a word")
            if raw[at + 1] != "\n":
                out.append((raw[at + 1], True))
            at += 2
        elif char == "'":
            close = raw.find("'", at + 1)
            if close < 0:
                raise NotUnderstood("shell", "a quote that doesn't end")
            out.extend((c, True) for c in raw[at + 1 : close])
            at = close + 1
        elif char == '"' or raw.startswith('$"', at):
            at = _double(raw, at + (1 if char == '"' else 2), out)
            if at < 0:
                return None
        elif raw.startswith("$'", at):
            at = _ansi(raw, at + 2, out)
        elif char == "`" or (char == "$" and _EXPANDS.match(raw, at)):
            return None
        elif char in _SPECIAL:
            raise NotUnderstood("shell", f"an unquoted {char!r} inside a word")
        else:
            out.append((char, False))
            at += 1
    return out


def _double(raw: str, at: int, out: list[Char]) -> int:
    """Reads up to the closing double quote; -1 if something in it is expanded when it runs."""
    end = len(raw)
    while at < end:
        char = raw[at]
        if char == '"':
            return at + 1
        if char == "\\" and at + 1 < end and raw[at + 1] in '$`"\\\n':
            if raw[at + 1] != "\n":
                out.append((raw[at + 1], True))
            at += 2
        elif char == "`" or (char == "$" and _EXPANDS.match(raw, at)):
            return -1
        else:
            out.append((char, True))
            at += 1
    raise NotUnderstood("shell", "a quote that doesn't end")


def _ansi(raw: str, at: int, out: list[Char]) -> int:
    """Reads `$'…'` up to its end, decoded as bash does."""
    end = len(raw)
    while at < end:
        char = raw[at]
        if char == "'":
            return at + 1
        if char != "\\":
            out.append((char, True))
            at += 1
            continue
        if at + 1 >= end:
            break
        code = _ANSI_CODE.match(raw, at + 1)
        if code is not None:
            out.append((_coded(code), True))
            at = code.end()
            continue
        following = raw[at + 1]
        if following in _ANSI:
            out.append((_ANSI[following], True))
        elif following in "\\'\"?":
            out.append((following, True))
        else:
            out.extend((("\\", True), (following, True)))
        at += 2
    raise NotUnderstood("shell", "a quote that doesn't end")


def _coded(code: re.Match[str]) -> str:
    hexadecimal, octal, small, large, control = code.groups()
    if control is not None:
        return chr(ord(control.upper()) & 0x1F)
    number = int(octal, 8) & 0xFF if octal else int(hexadecimal or small or large, 16)
    if number == 0 or (number > 0x7F and (octal or hexadecimal)) or number > 0x10FFFF:
        raise NotUnderstood("shell", "a byte in $'…' that is no character")
    return chr(number)


def _braces(chars: list[Char], raw: str) -> list[list[Char]]:
    """Brace expansion: `{a,b}` and `{1..3}`; anything else in braces is literal."""
    for start, (char, quoted) in enumerate(chars):
        if char != "{" or quoted:
            continue
        stop = _closing(chars, start)
        if stop is None:
            continue
        inner = chars[start + 1 : stop]
        parts = _alternatives(inner)
        if parts is None:
            continue
        heads = chars[:start]
        tails = _braces(chars[stop + 1 :], raw)
        found = [heads + middle + tail for part in parts for middle in _braces(part, raw) for tail in tails]
        if len(found) > MAX_EXPANSION:
            raise NotUnderstood("shell", "a brace expansion that is too large")
        return found
    return [chars]


def _closing(chars: list[Char], start: int) -> int | None:
    depth = 0
    for index in range(start, len(chars)):
        char, quoted = chars[index]
        if quoted:
            continue
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return index
    return None


def _alternatives(inner: list[Char]) -> list[list[Char]] | None:
    """The alternatives between the braces; None if there is neither a comma nor a sequence."""
    parts: list[list[Char]] = [[]]
    depth = 0
    for char, quoted in inner:
        if not quoted and char == "{":
            depth += 1
        elif not quoted and char == "}":
            depth -= 1
        if not quoted and char == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append((char, quoted))
    if len(parts) > 1:
        return parts
    text = "".join(char for char, _ in inner)
    sequence = _SEQUENCE.fullmatch(text) if not any(quoted for _, quoted in inner) else None
    return _sequence(sequence) if sequence else None


def _sequence(found: re.Match[str]) -> list[list[Char]]:
    first, last, step, one, other = found.groups()
    if one is not None:
        codes = range(min(ord(one), ord(other)), max(ord(one), ord(other)) + 1)
        texts = [chr(code) for code in codes]
        if one.islower() != other.islower():
            raise NotUnderstood("shell", "a brace sequence over mixed letters")
    else:
        if first.lstrip("-").startswith("0") and len(first.lstrip("-")) > 1:
            raise NotUnderstood("shell", "a brace sequence with leading zeros")
        low, high, by = int(first), int(last), abs(int(step or 1)) or 1
        numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
        texts = [str(number) for number in numbers]
    if len(texts) > MAX_EXPANSION:
        raise NotUnderstood("shell", "a brace expansion that is too large")
    return [[(char, False) for char in text] for text in texts]
