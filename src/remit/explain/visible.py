"""Text from outside, shown so that it can't mislead: whatever can't be seen is named, and nothing is cut silently.

marked("rm -rf x\u202e")        # rm -rf x⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

from remit.model.text import counted, is_visible

BAR = "│ "
"""Before every line that comes from outside, so that it can't pass for one of ours."""
MOST_CHARACTERS, MOST_LINES, MOST_ITEMS = 1_500, 40, 60
_DEEPEST = 32
_NAMES = {"\t": "TAB", "\r": "CR", "\0": "NUL", "\x1b": "ESC", "\x7f": "DEL", "\x07": "BEL", "\x08": "BS"}
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "HEBREW", "ARABIC", "GEORGIAN", "LISU")
_ALIKE = frozenset("асԁеһіјӏорԛѕԝхуАВСЕНІЈКМОРЅТХУανορυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
"""Cyrillic and Greek letters that look like Latin ones."""


def marked(text: str) -> str:
    """One line: every character is itself, or named between ⟨ and ⟩; so is white space at the end."""
    body = text.rstrip(" ")
    spaces = len(text) - len(body)
    found = "".join(map(_mark, body))
    if spaces:
        found += f"⟨{spaces} SPACE{'S' if spaces > 1 else ''}⟩"
    return found


def marked_lines(text: str) -> list[str]:
    """A text of several lines, each behind a bar; a line break at the end is said."""
    lines = text.split("\n")
    ending = len(lines) > 1 and not lines[-1]
    if ending:
        lines.pop()
    found = [BAR + marked(line) for line in lines]
    if ending:
        found[-1] += "⟨LINE BREAK⟩"
    return found


def bounded(text: str, most: int = 200) -> str:
    """One line of at most so many characters; how many are hidden stands behind it, unless that takes more room."""
    hidden = f" [{_amount(len(text) - most, 'more character')}]"
    return _flat(text) if len(text) <= most + len(hidden) else f"{_flat(text[:most])}{hidden}"


def hints(text: str) -> list[str]:
    """What could be taken for something else: letters of several scripts in a word, or such as look like others."""
    found: dict[str, None] = {}
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in text):
        found["it has letters that are written from right to left: a terminal may show it in another order"] = None
    if any(_stacked(text)):
        found["it has several combining marks on one letter, which can hide what stands beside it"] = None
    for word in _words(text):
        scripts = {script for c in word if (script := _script(c))}
        strange = [c for c in word if unicodedata.normalize("NFKC", c) != c and ord(c) > 0x24F]
        if len(scripts) > 1:
            other = [c for c in word if _script(c) not in ("LATIN", "")]
            what = " and ".join(sorted(script.capitalize() for script in scripts))
            found[f"`{bounded(word, 60)}` mixes {what} letters: {_named(other)}"] = None
        elif scripts and scripts != {"LATIN"} and all(c in _ALIKE for c in word if _script(c)):
            what = next(iter(scripts)).capitalize()
            found[f"`{bounded(word, 60)}` is written in {what} letters that look like Latin ones"] = None
        if strange:
            plain = unicodedata.normalize("NFKC", word)
            found[f"`{bounded(word, 60)}` is not plain `{bounded(plain, 60)}`: {_named(strange)}"] = None
        if len(found) > MOST_ITEMS:
            break
    return list(found)


def hidden_in(text: str) -> list[str]:
    """The hidden characters of a text, each once, with how often."""
    counts: dict[str, int] = {}
    for c in text:
        if c not in "\n\t" and _mark(c) != c and c not in "⟨⟩":
            counts[c] = counts.get(c, 0) + 1
    return [f"{_title(c)}{f' ({n} times)' if n > 1 else ''}" for c, n in counts.items()]


def shown_value(name: str, value: Any, *, full: bool, depth: int = 0) -> Iterator[str]:
    """A JSON value with its structure, argument names and types; says what it leaves out unless it is to be full."""
    pad, head = "  " * depth, bounded(name, 10_000)
    if isinstance(value, str):
        yield f"{pad}{head}  (text, {_amount(len(value), 'character')})"
        yield from (f"{pad}  {line}" for line in _text(value, full=full))
    elif isinstance(value, (dict, list)) and depth >= _DEEPEST:
        yield f"{pad}{head}  (nested deeper, as JSON)"
        yield from (f"{pad}  {line}" for line in _text(_json(value), full=full))
    elif isinstance(value, dict):
        yield f"{pad}{head}  (object, {_amount(len(value), 'key')})"
        items = [(str(key), item) for key, item in value.items()]
        yield from _items(items, pad, full=full, depth=depth)
    elif isinstance(value, list):
        yield f"{pad}{head}  (list, {_amount(len(value), 'item')})"
        yield from _items([(f"[{i}]", item) for i, item in enumerate(value)], pad, full=full, depth=depth)
    else:
        kind = "nothing" if value is None else "flag" if isinstance(value, bool) else "number"
        yield f"{pad}{head}  ({kind})  {_json(value)}"


def _items(items: list[tuple[str, Any]], pad: str, *, full: bool, depth: int) -> Iterator[str]:
    kept = items if full else items[:MOST_ITEMS]
    for name, item in kept:
        yield from shown_value(name, item, full=full, depth=depth + 1)
    if len(kept) < len(items):
        yield f"{pad}  [{len(items) - len(kept)} more are hidden; --full shows them]"


def _text(value: str, *, full: bool) -> list[str]:
    kept = value
    if not full:
        kept = "\n".join(value[:MOST_CHARACTERS].split("\n")[:MOST_LINES])
    found = marked_lines(kept) if kept or not value else []
    if len(kept) < len(value):
        rest = value[len(kept) :]
        lines = f" ({_amount(rest.count(chr(10)), 'line break')} among them)" if "\n" in rest else ""
        found.append(f"[{_amount(len(rest), 'more character')} hidden{lines}; --full shows them]")
    return found


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (RecursionError, TypeError, ValueError, OverflowError):
        return "nested deeper than can be shown"


def _flat(text: str) -> str:
    return "⟨LINE BREAK⟩".join(marked(line) for line in text.split("\n"))


def _mark(c: str) -> str:
    if c in "⟨⟩":
        return f"⟨U+{ord(c):04X}⟩"
    if " " <= c <= "~":
        return c
    if c in _NAMES:
        return f"⟨{_NAMES[c]}⟩"
    return c if is_visible(c) else f"⟨{_title(c)}⟩"


def _title(c: str) -> str:
    return f"U+{ord(c):04X} {unicodedata.name(c, _NAMES.get(c, ''))}".rstrip()


def _named(characters: list[str]) -> str:
    unique = list(dict.fromkeys(characters))
    more = f" and {len(unique) - 3} more" if len(unique) > 3 else ""
    return ", ".join(map(_title, unique[:3])) + more


def _words(text: str) -> Iterator[str]:
    word = ""
    for c in text:
        if c.isalpha() or unicodedata.category(c) in ("Mn", "Cf"):
            word += c
            continue
        if not word.isascii():
            yield word
        word = ""
    if word and not word.isascii():
        yield word


def _stacked(text: str) -> Iterator[bool]:
    run = 0
    for c in text:
        run = run + 1 if not c.isascii() and unicodedata.combining(c) else 0
        yield run > 2


def _script(c: str) -> str:
    name = unicodedata.name(c, "")
    return next((script for script in _SCRIPTS if script in name.split()[:1]), "")


def _amount(number: int, word: str) -> str:
    return counted(number, word)
