r"""Text for people: what comes from outside is escaped and bounded before anybody sees it.

shown("rm -rf x\u202e")         # rm -rf x\u202e, as eight visible characters at the end
did_you_mean("raed", ["read"])  # ; did you mean `read`?

A character is shown as it is only if people can plainly see it. Controls, format characters, bidirectional marks, every
blank but the space, surrogates, private and unassigned code points, and the letters and marks that Unicode draws as
nothing (Hangul fillers, variation selectors, tags) appear as Python writes them: `\n`, `\u202e`. Letters that look like
other letters stay; `remit.explain.visible` points them out to people who approve a call.

Different texts are shown differently: where a backslash of the text itself could be read as the start of an escape, it
is doubled. More than MARKS combining marks on one letter are escaped, since they can cover what stands beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from remit.model.pattern import compile_later

UNSEEN: tuple[tuple[int, int], ...] = (
    (0x00AD, 0x00AD),  # soft hyphen
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x061C, 0x061C),  # Arabic letter mark
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian variation selectors and vowel separator
    (0x200B, 0x200F),  # zero width characters, directional marks
    (0x2028, 0x202F),  # line and paragraph separators, bidirectional controls, narrow space
    (0x205F, 0x206F),  # mathematical space, invisible operators, bidirectional isolates
    (0x2800, 0x2800),  # Braille pattern blank
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFEFF, 0xFEFF),  # byte order mark
    (0xFFA0, 0xFFA0),  # halfwidth Hangul filler
    (0xFFF0, 0xFFFC),  # interlinear annotations, object replacement
    (0x13441, 0x13446),  # Egyptian hieroglyph blanks
    (0x16FE4, 0x16FE4),  # Khitan filler
    (0x1BCA0, 0x1BCA3),  # shorthand format controls
    (0x1D159, 0x1D159),  # musical null notehead
    (0x1D173, 0x1D17A),  # musical format controls
    (0xE0000, 0xE0FFF),  # tags, variation selectors
)
"""Every Default_Ignorable_Code_Point of Unicode 16, and what is blank besides; most are not printable in any case."""

_UNSEEN = compile_later("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in UNSEEN) + "]")
_LOOKS_ESCAPED = compile_later("[nrt]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}")
_BACKSLASHES = compile_later(r"\\+")
MARKS = 4
"""How many combining marks may follow one another; no living language needs more."""
_LONGEST = 10
"""Characters of an escape."""


def is_visible(character: str) -> bool:
    """True for a character that people can plainly see, and for the space."""
    return character.isprintable() and _UNSEEN.match(character) is None


def escaped(text: str, *, keep: str = "") -> str:
    """The whole text with all that can't be seen escaped, apart from the characters to keep."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if is_visible(c) or c in keep else _escape(c) for c in text)


def shown(text: object, limit: int = 80) -> str:
    """Text from outside for a line of ours: escaped, at most so many characters, and `…` if there is more."""
    raw = str(text)
    if len(raw) <= limit and raw.isascii() and raw.isprintable() and "\\" not in raw:
        return raw
    return _cut(_pieces(raw[: limit + _LONGEST], is_visible), limit)


def brief(name: object, limit: int) -> str:
    """A name that is shown in so many characters: `…` in its middle, since long names differ at their ends."""
    text = shown(name, 1_000)
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def shown_name(name: object, limit: int = 80) -> str:
    """The same for a name, which should be ASCII: everything else is escaped, so that no letter passes for another."""
    return _cut(_pieces(str(name)[: limit + _LONGEST], lambda c: c.isascii() and c.isprintable()), limit)


def as_text(name: str) -> str:
    """A name from the file system as text that UTF-8 can hold: bytes of another encoding become `\ufffd`."""
    return os.fsencode(name).decode("utf-8", "replace")


def counted(count: int, noun: str) -> str:
    """`1 call`, `2 calls`, `1,000 entries`: a number and its noun, which is given in the singular."""
    if count == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {many}"


def how_often(count: int) -> str:
    """`once`, `2 times`."""
    return "once" if count == 1 else f"{count:,} times"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean `that`?`` for the known word nearest to this one, or nothing."""
    import difflib  # here: only needed once a word is wrong, and decisions load this module

    names = list(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.65)
    near = near or [name for name in names if name.lower() == word.lower()]
    return f"; did you mean `{shown(near[0])}`?" if near else ""


MOST_NAMES = 8
"""How many names a message lists."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean `that`?``, or if no known word is near, what there is: `; there is a, b and 3 more`."""
    names = list(dict.fromkeys(known))
    return did_you_mean(word, names) or f"; there is {listed(names)}"


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Names in a row, at most so many, and how many more there are; `none` without any."""
    found = list(names)
    if not found:
        return "none"
    first, more = ", ".join(shown(name, 60) for name in found[:most]), len(found) - most
    return f"{first} and {more} more" if more > 0 else first


def near_miss(word: str, known: Iterable[str], *, cutoff: float = 0.8, least: int = 4) -> str | None:
    """The known name that this one is most probably a slip of: letters swapped or doubled, or one wrong, missing or too
    many. Of words with fewer than `least` letters only letters swapped or doubled count.

    A name that goes on where another ends (`pipx`, `pip`) is another name."""
    import difflib

    known = list(known)
    names = [name for name in known if not word.startswith(name)]
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)} - {word}
    doubled = {word[:i] + word[i + 1 :] for i in range(1, len(word)) if word[i] == word[i - 1]}
    slip = next((name for name in known if name in doubled and len(name) > 1), None)
    if slip is not None:
        return slip
    for name in names:
        if name in swapped or (name != word and name.lower() == word.lower()):
            return name
    if len(word) < least:
        return None
    near = difflib.get_close_matches(word, names, n=1, cutoff=cutoff)
    return near[0] if near else None


def _pieces(text: str, is_plain: Callable[[str], bool]) -> Iterator[str]:
    """Each character of the text as itself or escaped, so that the text could be read back from the pieces."""
    at = marks = 0
    while at < len(text):
        c = text[at]
        if c == "\\":
            run = _BACKSLASHES.match(text, at)
            end = run.end() if run is not None else at + 1
            unclear = end < len(text) and (not is_plain(text[end]) or _LOOKS_ESCAPED.match(text, end) is not None)
            yield from ["\\\\" if unclear else "\\"] * (end - at)
            at, marks = end, 0
            continue
        marks = marks + 1 if not c.isascii() and _is_mark(c) else 0
        yield c if is_plain(c) and marks <= MARKS else _escape(c)
        at += 1


def _is_mark(character: str) -> bool:
    import unicodedata  # here: most text is ASCII, and decisions load this module

    return unicodedata.category(character) in ("Mn", "Me")


def _escape(character: str) -> str:
    return ascii(character)[1:-1]


def _cut(pieces: Iterable[str], limit: int) -> str:
    """The pieces that fit, each whole, and `…` if one did not."""
    found: list[str] = []
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > limit:
            return "".join(found) + "…"
        found.append(piece)
    return "".join(found)
