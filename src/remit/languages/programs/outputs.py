"""The literal output of `echo`, `printf` and `cat`: what they feed to the next program of a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remit.languages.bash.script import Command
from remit.model.pattern import compile_later

_ESCAPE = compile_later(r"\\(.?)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
_PLACE = compile_later(r"%(.?)", re.DOTALL)
MAX_OUTPUT = 65_536


def output_of(command: Command, *, posix: bool = False) -> str | None:
    """What the command prints, to the letter; None where that isn't certain. `posix`: a shell other than bash."""
    texts = [word.text for word in command.words]
    known = [text for text in texts if text is not None]
    if len(known) != len(texts) or any(word.glob for word in command.words) or command.assigns:
        return None
    inputs = [r for r in command.redirects if r.op in ("<<", "<<<") and r.fd in ("", "0")]
    if len(inputs) != len(command.redirects):
        return None
    if known[:1] == ["echo"] and not inputs:
        return _echo(known[1:], posix)
    if known[:1] == ["printf"] and len(known) > 1 and not inputs:
        return _printf(known[1:])
    if known == ["cat"] and inputs:
        return inputs[-1].body
    return None


def _echo(words: list[str], posix: bool) -> str | None:
    newline, escapes = "\n", False
    while words and re.fullmatch("-[neE]+", words[0]):
        if posix:
            return None
        for letter in words[0][1:]:
            newline = "" if letter == "n" else newline
            escapes = escapes if letter == "n" else letter == "e"
        words = words[1:]
    text = " ".join(words) + newline
    if not escapes:
        return None if posix and "\\" in text else text
    return _unescaped(text) if _named(text).isdisjoint("'\"") else None


def _named(text: str) -> set[str]:
    """The characters behind backslashes."""
    return {found[1] for found in _ESCAPE.finditer(text)}


def _printf(words: list[str]) -> str | None:
    """A format of text, `%s` and `%%`, used again until the arguments are used up."""
    if words[0] == "--":
        words = words[1:]
    if not words or words[0].startswith("-"):
        return None
    form = _unescaped(words[0])
    if form is None or "\\" in _named(words[0]):
        return None
    places = {found[1] for found in _PLACE.finditer(form)}
    if not places <= {"s", "%"}:
        return None
    rest = words[1:]
    if "s" not in places:
        return form.replace("%%", "%") if not rest else None
    found, step = "", form.replace("%%", "").count("%s")
    for start in range(0, max(len(rest), 1), step):
        words = rest[start : start + step]
        found += _filled(form, iter(words))
        if len(found) > MAX_OUTPUT:
            return None
    return found


def _filled(form: str, words: Iterator[str]) -> str:
    return _PLACE.sub(lambda place: "%" if place[1] == "%" else next(words, ""), form)


def _unescaped(text: str) -> str | None:
    if not _named(text) <= set(_SIMPLE):
        return None
    return _ESCAPE.sub(lambda found: _SIMPLE[found[1]], text)
