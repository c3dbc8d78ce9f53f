"""Paths: where a text points, as a normal path below the root, and whether a scope contains it.

A normal path is `.` for the root, `a/b` below it, or `/a/b` outside of it. Nothing here touches the disk:
whoever asks resolves symlinks first and hands the result in.
"""

from __future__ import annotations

import unicodedata

from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later
from remit.model.policy import PathScope
from remit.scopes.glob import Glob, GlobError, fold
from remit.scopes.globset import GlobSet
from remit.scopes.interface import Unit

MAX_PATH = 4096
_BAD_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})
_DRIVE = compile_later(r"[A-Za-z]:[/\\]")
_VARIABLE = compile_later(r"\$[A-Z_{(]")


def is_plain(text: str) -> bool:
    """True for a relative path that is normal already: the common case, decided quickly."""
    return (
        text != ""
        and text[0] not in "./~$"
        and text[-1] != "/"
        and "/." not in text
        and "//" not in text
        and "\\" not in text
        and ":" not in text
        and len(text) <= MAX_PATH
        and text.isprintable()
    )


def normalise(text: str, cwd: str | None = None, root: str | None = None) -> str:
    """The normal path that `text` names by its text alone. Raises NotUnderstood."""
    if cwd is None and is_plain(text):
        return text
    refuse(text)
    absolute = text.startswith("/")
    if not absolute and cwd not in (None, "", "."):
        base = normalise(str(cwd), None, root)
        text = text if base == "." else f"{base}/{text}"
        absolute = text.startswith("/")
    if "//" in text.rstrip("/") or (text.endswith("//")):
        raise NotUnderstood("bad-path", "the path has an empty segment")
    parts: list[str] = []
    for part in text.strip("/").split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        elif not absolute:
            raise NotUnderstood("outside-root", "the path leaves the root")
    normal = "/".join(parts)
    if not absolute:
        return normal or "."
    return relative_to("/" + normal, root)


def relative_to(absolute: str, root: str | None) -> str:
    """An absolute normal path in its form below the root, if it lies there."""
    if root is None:
        return absolute
    root = root.rstrip("/") or "/"
    if absolute == root:
        return "."
    prefix = root if root == "/" else root + "/"
    return absolute[len(prefix) :] if absolute.startswith(prefix) else absolute


def refuse(text: str) -> None:
    """Raises NotUnderstood for texts that tools and systems read in different ways."""
    if not text:
        raise NotUnderstood("bad-path", "the path is empty")
    if len(text) > MAX_PATH:
        raise NotUnderstood("bad-path", f"the path is longer than {MAX_PATH} characters")
    if "\\" in text:
        raise NotUnderstood("bad-path", "the path has a backslash")
    if not text.isprintable() and any(unicodedata.category(c) in _BAD_CATEGORIES for c in text):
        raise NotUnderstood("bad-path", "the path has a control or hidden character")
    if text[0] == "~":
        raise NotUnderstood("bad-path", "the path starts with `~`; name it below the root")
    if _DRIVE.match(text) or _VARIABLE.match(text):
        raise NotUnderstood("bad-path", "the path starts with a drive or a variable; name it below the root")


def glob_argument(text: str, root: str | None, *, base: str = ".", below: bool = False, anywhere: bool = True) -> Glob:
    """A glob argument as the widest reading of it below the root. Raises NotUnderstood.

    `base` is the normal path that it is relative to; with `below`, what it matches counts with all below it.

    Tools differ in what they make of a glob: `*` may match nothing, and a pattern without `/` may match at any
    depth, unless `anywhere` is false. All readings are taken together.
    """
    refuse(text)
    if root is not None and text.startswith(root.rstrip("/") + "/"):
        text, base = text[len(root.rstrip("/")) + 1 :], "."
    if text.startswith("/") or base.startswith("/"):
        raise NotUnderstood("outside-root", "the glob lies outside the root")
    while text.startswith("./"):
        text = text[2:]
    if text in ("", "."):
        return Glob.below(base)
    if text.endswith("/"):
        text += "**"
    parts = text.split("/")
    if ".." in parts:
        raise NotUnderstood("outside-root", "the glob leaves the root")
    if anywhere and len(parts) == 1 and parts[0] != "**":
        parts.insert(0, "**")
    wide = "/".join(parts)
    if base != ".":
        wide = f"{Glob.literal(base).text}/{wide}"
    try:
        glob = Glob.parse(wide).loosened()
        return glob.or_else(Glob.parse(f"{wide}/**").loosened()) if below and parts[-1] != "**" else glob
    except GlobError as error:
        raise NotUnderstood("bad-glob", str(error)) from None


class PathMatcher:
    """What a `path:` scope says about paths. Exact for `covers`; case and Unicode form ignored in `touches`."""

    __slots__ = ("allow", "avoid", "avoid_exact", "folded", "new_only", "outside", "scope")

    def __init__(self, scope: PathScope) -> None:
        self.scope = scope
        self.new_only = scope.new_only
        self.allow = GlobSet(Glob.parse(text) for text in scope.allow)
        self.folded = GlobSet(Glob.parse(text).folded() for text in scope.allow)
        self.avoid = GlobSet(Glob.parse(text).folded() for text in scope.except_)
        self.avoid_exact = GlobSet(Glob.parse(text) for text in scope.except_)
        self.outside = GlobSet(Glob.parse(text, absolute=True) for text in scope.outside)

    def covers(self, unit: Unit) -> bool:
        if unit.wide:
            glob: Glob = unit.value
            if glob.absolute:
                return self.outside.includes(glob)
            return self.allow.includes(glob) and not (self.avoid and self.avoid.intersects(glob.folded()))
        path: str = unit.value
        if path[0] == "/":
            return self.outside.matches(path)
        if not self.allow.matches(path):
            return False
        if not self.avoid:
            return True
        return not any(self.avoid.matches(form) for form in forms(unit))

    def touches(self, unit: Unit) -> bool:
        if unit.wide:
            glob = unit.value
            if glob.absolute:
                return self.outside.intersects(glob)
            return self.folded.intersects(glob.folded()) and not (self.avoid_exact and self.avoid_exact.includes(glob))
        if unit.value[0] == "/" and self.outside.matches(unit.value):
            return True
        if not any(self.folded.matches(form) for form in forms(unit)):
            return False
        return not (self.avoid_exact and self.avoid_exact.matches(unit.value))

    def describe(self) -> str:
        text = ", ".join((*self.scope.allow, *self.scope.outside)) or "nothing"
        if self.scope.except_:
            text += f" except {', '.join(self.scope.except_)}"
        return text + (" (new files only)" if self.new_only else "")


def is_outside(unit: Unit) -> bool:
    """True for a path, or a wide unit of paths, outside the root."""
    if unit.kind != "path":
        return False
    return bool(unit.value.absolute) if unit.wide else unit.value[0] == "/"


def forms(unit: Unit) -> tuple[str, ...]:
    """The folded spellings of a path unit: resolved, and as given where that differs."""
    folded = fold(unit.value)
    return (folded, *(fold(other) for other in unit.also)) if unit.also else (folded,)
