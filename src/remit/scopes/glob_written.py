"""Globs as people write them into a policy: what could never match a path is refused, with what to write instead."""

from __future__ import annotations

from remit.model.pattern import compile_later
from remit.model.text import shown
from remit.scopes.glob import Glob, GlobError
from remit.scopes.glob_syntax import quoted

_DRIVE = compile_later(r"[A-Za-z]:(?:[/\\]|$)")
_VARIABLE = compile_later(r"\$[A-Z_{(]|%[A-Za-z_]+%")
_TYPOGRAPHIC = tuple("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
_OUTSIDE = "for another place a rule says path: {outside: [/tmp/**]}"


def written_glob(text: str) -> Glob:
    """The glob. Raises GlobError, with what to write, for one that could match nothing, or not what it seems to."""
    problem = _problem(text)
    if problem is not None:
        raise GlobError(problem)
    return Glob.parse(text)


def _problem(text: str) -> str | None:
    """What is wrong with it apart from its grammar. No path of a call begins so: each is refused as unclear."""
    what = f"glob {quoted(text)}"
    if _DRIVE.match(text) or text.startswith(("\\\\", "//")):
        return f"{what} is a path of Windows; write it relative to the root, with `/`: src/**"
    if "://" in text:
        return f"{what} is a URL; write a path relative to the root: src/**"
    if text.startswith("~") or _VARIABLE.match(text):
        return f"{what}: nothing expands `~` and variables; write it relative to the root, or {_OUTSIDE}"
    if text.startswith("/"):
        return f"absolute {what}; globs here are relative to the root; {_OUTSIDE}"
    if text.startswith("../"):
        return f"{what} leaves the root; {_OUTSIDE}"
    if text.startswith("./"):
        return f"segment `.` in {what}; write `{shown(text[2:])}`"
    if text.startswith("!"):
        return f"{what} would exclude nothing; write what to take out under `except`, or as `may_not`"
    if text[:1] in _TYPOGRAPHIC or text[-1:] in _TYPOGRAPHIC:
        return f"{what} has typographic quotation marks; write \" or '"
    if text != text.strip():
        return f"{what} begins or ends with a space"
    return None
