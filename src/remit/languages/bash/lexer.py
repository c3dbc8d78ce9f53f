"""Words as bash makes them: quoting removed, `$'…'` decoded, braces expanded; what is not literal is said so.

The parser says where a word begins and ends; what it means is decided here, from its raw text alone, so that the
two can be checked against each other.
"""

from __future__ import annotations

import re

from remit.languages.bash.reading import PIPE, Word
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_EXPANSION = 256
MAX_BRACES = 16
_SPECIAL = frozenset(" \t\n;|&()<>")
_EXPANDS = compile_later(r"\$(?:[A-Za-z0-9_@*#?$!{(-]|\[)")
_QUASI_SEQUENCE = compile_later(r"(?:[+-]?\d+|[A-Za-z])\.\.")
_SEQUENCE = compile_later(
    r"(?:(-?(?:0|[1-9]\d{0,5}))\.\.(-?(?:0|[1-9]\d{0,5}))|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?\d{1,5}))?"
)
_MIXED_SEQUENCE = compile_later(r"\{(?:[A-Z]\.\.[a-z]|[a-z]\.\.[A-Z])")
"""Between `Z` and `a` there are a backslash and a backtick, which bash takes for its own: `{Z..a}'$(id)'` runs `id`."""
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}
_ANSI_CODE = compile_later(r"x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c([A-Za-z])")

_ANSI_END = compile_later(r"[xuU0]0*")
"""A zero byte: what is between it and the closing quote is lost."""

_DOCUMENT = compile_later(r"\"\$\(cat <<'([A-Za-z]+)'\n(?:(?!\1\n).*\n)*\1\n\s*\)\"")
"""`"$(cat <<'EOF' … EOF)"`, which is how agents write messages of several lines; quotes in it are text."""
_UNQUOTED = compile_later(r"[A-Za-z0-9_./,:=@%+^-]+|'[^'\\]*'")
_QUOTED = compile_later(r"[^\"\\$`]+")
_EXPANDED = compile_later(
    r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9*#?$!-]|\{[A-Za-z0-9_#?*]+(?:\[\*\])?(?:[:%#/+=?,^-][^\"'\\`$@{}]*)?\}"
    r"|\((?!\()(?:[^\"'\\`()#<]|\"[^\"\\`(]*\"|'[^'\\]*')*\)|\(\([^\"'\\`()]*\)\))"
    r"|`[^\"'\\`$#<]*`"
)
"""A variable or a substitution between double quotes that stays one word, as far as that is easily seen: no `$@`."""
_NUMBER = compile_later(r"\$[?#$]|\$\(\([^\"'\\`()]*\)\)|\$\{#[A-Za-z_][A-Za-z0-9_]*\}|\$\(nproc\)")
"""What is a number, and so one word without quotes too."""

_UNSURE_END = compile_later(r"case|#|<<|`|\$'|\$\{(?![A-Za-z0-9_]+\})")
"""Behind any of these, a `)` may be none that closes something."""

Char = tuple[str, bool]
"""A character, and whether quoting took its special meaning away."""
_EMPTY: Char = ("", True)
"""A quote that began: it makes a word even of nothing."""


def words(raw: str) -> list[Word]:
    """The words that one word of the text becomes. Raises NotUnderstood."""
    if raw[:2] in ("<(", ">(") and _is_substitution(raw):
        return [Word(None, raw, start=PIPE)]
    chars = _unquote(raw)
    if chars is None:
        if _MIXED_SEQUENCE.search(raw):
            raise NotUnderstood("shell", "a brace sequence that isn't followed")
        return [Word(None, raw, start=_start(raw))]
    braces = chars.count(("{", False))
    if braces > MAX_BRACES:
        raise NotUnderstood("shell", "too many braces in a word")
    if braces:
        expanded = _braces(chars)
        if expanded != [chars] and ("$", False) in chars:
            return [Word(None, raw)]  # what follows the `$` once the braces are gone may be a name
    else:
        expanded = [chars]
    return [_word(each, raw) for each in expanded if each]  # an alternative that is nothing at all makes no word


def _start(raw: str) -> str | None:
    """What a word that is not literal certainly begins with; None if it could become several words, or none.

    Whatever is hard to follow counts as the latter.
    """
    if _DOCUMENT.fullmatch(raw):
        return ""
    if "case" in raw:
        return None  # its `)` ends no substitution
    start, told, at = "", True, 0
    while at < len(raw):
        if raw[at] == '"':
            at += 1
            while at < len(raw) and raw[at] != '"':
                part = _QUOTED.match(raw, at)
                if part is not None:
                    start, at = start + part[0] if told else start, part.end()
                    continue
                part = _EXPANDED.match(raw, at)
                if part is None:
                    return None
                told, at = False, part.end()
            at += 1
            continue
        part = _UNQUOTED.match(raw, at)
        if part is not None:
            start, at = start + part[0].strip("'") if told else start, part.end()
            continue
        part = _NUMBER.match(raw, at)
        if part is None:
            return None
        told, at = False, part.end()
    return start


def _is_substitution(raw: str) -> bool:
    """True if a word that begins with `<(` or `>(` surely ends with the `)` that closes it."""
    if _UNSURE_END.search(raw):
        return False
    quotes = [""]
    """The quote that is open, in the substitution and in each one inside of it."""
    at = 2
    while at < len(raw) and quotes:
        char, quote = raw[at], quotes[-1]
        if char == "\\" and quote != "'":
            at += 1
        elif char == quote or (char in "'\"" and not quote):
            quotes[-1] = "" if quote else char
        elif char == "(" and (not quote or (quote == '"' and raw[at - 1] == "$")):
            quotes.append("")
        elif char == ")" and not quote:
            quotes.pop()
        at += 1
    return not quotes and at == len(raw)


def value(raw: str) -> Word:
    """The value that an assignment gives, where braces and globs have no meaning. Raises NotUnderstood."""
    chars = _unquote(raw)
    return Word(None if chars is None else "".join(char for char, _ in chars), raw)


def is_pattern(raw: str) -> bool:
    """True if the word has a `*`, `?` or `[` outside of quotes, expansions and substitutions."""
    inside: list[str] = []
    """What closes each thing that is open."""
    at = 0
    while at < len(raw):
        char, open_ = raw[at], inside[-1] if inside else ""
        if open_ == "'":
            at = raw.find("'", at)
            at = len(raw) if at < 0 else at
            inside.pop()
        elif char == "\\":
            at += 1
        elif char == open_:
            inside.pop()
        elif char == '"' or (char == "'" and open_ != '"') or char == "`":
            inside.append(char)
        elif raw.startswith(("$(", "${"), at):
            inside.append(")" if raw[at + 1] == "(" else "}")
            at += 1
        elif char == "(" and open_ == ")":
            inside.append(")")
        elif char in "*?[" and not inside:
            return True
        at += 1
    return False


def delimiter(raw: str) -> str:
    """The line that ends a here-document, from the word after `<<`. Raises NotUnderstood."""
    chars = None if "$" in raw or "`" in raw else _unquote(raw)
    text = "" if chars is None else "".join(char for char, _ in chars)
    if not text or "\n" in text:
        raise NotUnderstood("shell", "a here-document's delimiter that isn't followed")
    return text


def _word(chars: list[Char], raw: str) -> Word:
    glob = any(char in ("*", "?", "[") and not quoted for char, quoted in chars)
    if glob and any(quoted and char in ("*", "?", "[", "]", "{", "}", "\\") for char, quoted in chars):
        return Word(None, raw)  # as a pattern, its text would say something else
    return Word("".join(char for char, _ in chars), raw, glob)


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
            out.append(_EMPTY)
            out.extend((c, True) for c in raw[at + 1 : close])
            at = close + 1
        elif char == '"' or raw.startswith('$"', at):
            out.append(_EMPTY)
            at = _double(raw, at + (1 if char == '"' else 2), out)
            if at < 0:
                return None
        elif raw.startswith("$'", at):
            out.append(_EMPTY)
            at = ansi(raw, at + 2, out)
        elif char == "`" or (char == "$" and _EXPANDS.match(raw, at)) or raw.startswith(("<(", ">("), at):
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


def ansi(raw: str, at: int, out: list[Char]) -> int:
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
            ends = raw[code.end() : code.end() + 1] == "'"
            if not (ends and _ANSI_END.fullmatch(code[0])):
                out.append((_coded(code), True))
            at = code.end()
            continue
        following = raw[at + 1]
        if following == "c":
            raise NotUnderstood("shell", "a control character in $'…'")
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
        raise NotUnderstood("shell", "a byte in $'…' that is not a character")
    return chr(number)


def _braces(chars: list[Char]) -> list[list[Char]]:
    """Brace expansion as bash does it, which is not always as one would think: `{a}b,c}` is `a}b` and `c`."""
    start = _brace(chars, 0, "{")
    while start is not None:
        stop = _brace(chars, start + 1, "}")
        if stop is not None:
            break
        start = _brace(chars, start + 1, "{")
    else:
        return [chars]
    before, inner, after = chars[:start], chars[start + 1 : stop], chars[stop + 1 :]
    parts = _alternatives(inner)
    if parts is None:
        parts = [chars[start : stop + 1]]
    tails = _braces(after) if after else [[]]
    if len(parts) * len(tails) > MAX_EXPANSION:
        raise NotUnderstood("shell", "a brace expansion that is too large")
    return [before + part + tail for part in parts for tail in tails]


def _brace(chars: list[Char], at: int, wanted: str) -> int | None:
    """Where the next `{`, `}` or `,` that counts is; a `}` counts only after a comma or a `..`."""
    level, counts = 0, wanted != "}"
    for index in range(at, len(chars)):
        char, quoted = chars[index]
        if quoted:
            continue
        if char == wanted and level == 0 and counts:
            if char == "{" and index == 0 and chars[1:2] == [("}", False)]:
                continue
            return index
        if char == "{":
            level += 1
        elif char == "}" and level:
            level -= 1
        elif wanted == "}" and level == 0:
            following = chars[index + 1 : index + 3]
            dots = char == "." and following[:1] == [(".", False)] and following[1:] != [("}", False)]
            counts = counts or char == "," or dots
    return None


def _alternatives(inner: list[Char]) -> list[list[Char]] | None:
    """What stands between the braces, expanded; None if it is no list and no sequence."""
    text = "".join(char for char, _ in inner)
    if "," not in text:
        if _QUASI_SEQUENCE.match(text) and not any(quoted for _, quoted in inner):
            return _sequence(text)
        return None
    if (",", False) not in inner:
        raise NotUnderstood("shell", "a quoted comma in a brace sequence")
    parts: list[list[Char]] = []
    at = 0
    while True:
        stop = _brace(inner, at, ",")
        parts.extend(_braces(inner[at:stop]))
        if len(parts) > MAX_EXPANSION:
            raise NotUnderstood("shell", "a brace expansion that is too large")
        if stop is None:
            return parts
        at = stop + 1


def _sequence(text: str) -> list[list[Char]]:
    """`{1..3}` and `{a..e}`, with a step or without; which way it goes is told by its ends."""
    found = _SEQUENCE.fullmatch(text)
    if found is None or (found[3] and found[3].islower() != found[4].islower()):
        raise NotUnderstood("shell", "a brace sequence that isn't followed")
    first, last, one, other, step = found.groups()
    low, high = (int(first), int(last)) if first else (ord(one), ord(other))
    by = abs(int(step or 1)) or 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    if len(numbers) > MAX_EXPANSION:
        raise NotUnderstood("shell", "a brace expansion that is too large")
    return [[(char, False) for char in (str(number) if first else chr(number))] for number in numbers]
