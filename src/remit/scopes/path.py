"""Paths: where a text points, as a normal path below the root, and whether a scope contains it.

A normal path is `.` for the root, `a/b` below it, or `/a/b` outside of it. Nothing here touches the disk:
whoever asks resolves symlinks first and hands the result in.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from remit.model.decoding import Decoding
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later
from remit.model.terms import FILES
from remit.scopes.glob import Glob, GlobError, fold
from remit.scopes.globset import GlobSet
from remit.scopes.interface import NO_EFFECTS, Declared, Kind, Matcher, Unit, Values, in_quotes

if TYPE_CHECKING:
    from remit.forms.nodes import Node
    from remit.forms.shapes import Reader, Shape
    from remit.model.call import Call
    from remit.model.facts import Facts

MAX_PATH = 4096
_EVERYTHING = Glob.parse("**")
_ONE_PLACE = ("workplace", "file")
_FILLERS = ("x", "remit-probe", "7")
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
    if any(unicodedata.category(c) in _BAD_CATEGORIES for c in text if not c.isprintable()):
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
        if not below or wide == "**":
            return glob
        return Glob.parse(wide.removesuffix("/**")).loosened().all_below() if parts[-1] == "**" else glob.and_below()
    except GlobError as error:
        raise NotUnderstood("bad-glob", str(error)) from None


class PathScope(msgspec.Struct, frozen=True, omit_defaults=True):
    """Globs below the root, exceptions, and whether only new files count."""

    allow: tuple[str, ...] = ()
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")
    outside: tuple[str, ...] = ()
    new_only: bool = False


_SCOPE = Decoding(PathScope)


class PathMatcher(Matcher):
    """What a `path:` scope says about paths. Exact for `covers`; case and Unicode form ignored in `touches`."""

    __slots__ = ("allow", "avoid", "avoid_exact", "empty", "folded", "obliges", "outside", "scope")

    def __init__(self, scope: PathScope) -> None:
        self.scope = scope
        self.obliges = scope.new_only
        self.empty = not scope.allow and not scope.outside
        self.allow = GlobSet(Glob.parse(text) for text in scope.allow)
        self.folded = GlobSet(Glob.parse(text).folded() for text in scope.allow)
        self.avoid = GlobSet(Glob.parse(text).folded() for text in scope.except_)
        self.avoid_exact = GlobSet(Glob.parse(text) for text in scope.except_)
        self.outside = GlobSet(Glob.parse(text, absolute=True) for text in scope.outside)

    def covers(self, unit: Unit) -> bool:
        if unit.untold:
            return False
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
        if unit.seen is not None:
            return any(map(self.touches, seen_of(unit)))
        if unit.untold:
            return bool(self.scope.allow or self.scope.outside)
        if unit.taken == "argument" and unit.value[0] != "/":
            return self._named(unit)
        if unit.wide:
            glob = unit.value
            if glob.absolute:
                return self.outside.intersects(glob)
            if not self.folded.intersects(glob.folded()) or (unit.taken in _ONE_PLACE and not self._aimed_at(glob)):
                return False
            return not (self.avoid_exact and self.avoid_exact.includes(glob))
        if self.outside.matches(unit.value):
            return True
        if not any(self.folded.matches(form) for form in forms(unit)):
            return False
        avoid = self.avoid_exact  # a link into the exception is named by its own place too
        return not all(avoid.matches(path) for path in (unit.value, *unit.also))

    def _aimed_at(self, wide: Glob) -> bool:
        """The scope is about all of a place, begins with a folder, or names the place itself. What it says of names
        anywhere (`**/.env`) says nothing about one place that code of the project is told, since that code can open
        these files in any case; nor about what looks like a file."""
        below = wide.folded()
        if below.absolute or below.place is None:
            return True
        place = below.place
        scopes = [glob for glob in self.folded if glob.intersects(below)]
        return any(glob.includes(below) or glob.base != "." or glob.intersects(place) for glob in scopes)

    def _named(self, unit: Unit) -> bool:
        """An argument of code of the project names something of the scope, or a folder that some of it lies in. What
        is about all files, or about names anywhere, says nothing about a folder: that code works there in any case."""
        below = Glob.below(unit.value)
        scopes = [glob for glob in self.folded if not glob.includes(_EVERYTHING)]
        own = any(glob.matches(form) for glob in scopes for form in forms(unit))
        if own and not all(self.avoid_exact.matches(path) for path in (unit.value, *unit.also)):
            return True
        return any(is_below(glob, unit.value) for glob in scopes) and not self.avoid_exact.includes(below)

    def describe(self) -> str:
        text = ", ".join((*self.scope.allow, *self.scope.outside)) or "nothing"
        if self.scope.except_:
            text += f" except {', '.join(self.scope.except_)}"
        return text + (" (new files only)" if self.scope.new_only else "")

    def obligation(self, unit: Unit) -> str | None:
        return "create-exclusively" if self.scope.new_only and "write" in unit.effects else None

    def samples(self) -> list[Any]:
        globs = [Glob.parse(text) for text in self.scope.allow]
        found = [glob.sample(filler) for filler in _FILLERS for glob in globs]
        return [*found, *(Glob.parse(text, absolute=True).sample("x") for text in self.scope.outside)]

    def reach(self) -> Iterator[tuple[Any, str]]:
        yield from ((Glob.parse(text), text) for text in self.scope.allow)
        yield from ((Glob.parse(text, absolute=True), text) for text in self.scope.outside)

    def excludes(self, unit: Unit) -> bool:
        return not self.allow.includes(unit.value)


def names_base(texts: Iterable[str], below: Glob) -> bool:
    """One of the texts names, to the letter, what all of this glob lies below: then it is a file, and nothing does."""
    base = below.base
    return below.text == f"{base}/**" and base in texts


def is_below(glob: Glob, path: str) -> bool:
    """A folded glob is about what lies below a path, and its text says so: not `**/x`, and nothing below a file."""
    below = Glob.below(path).folded()
    is_folder = "." not in path.rpartition("/")[2][1:] or f"{glob.base}/".startswith(f"{fold(path)}/")
    return glob.includes(below) or (is_folder and glob.base != "." and glob.intersects(below))


def seen_of(unit: Unit) -> list[Unit]:
    """What a target is that the text leaves open, as whoever enforces has seen."""
    return [Unit("path", unit.arg, path, unit.effects, text=path, derived=True) for path in unit.seen or ()]


def is_outside(unit: Unit) -> bool:
    """True for a path, or a wide unit of paths, outside the root."""
    if unit.kind != "path":
        return False
    return bool(unit.value.absolute) if unit.wide else unit.value[0] == "/"


def forms(unit: Unit) -> tuple[str, ...]:
    """The folded spellings of a path unit: resolved, and as given where that differs."""
    folded = fold(unit.value)
    return (folded, *(fold(other) for other in unit.also)) if unit.also else (folded,)


def path_units(
    name: str, text: str, effects: frozenset[str], below: frozenset[str], cwd: str | None, facts: Facts
) -> list[Unit]:
    """A path, and all below it where the tool goes there. Raises NotUnderstood."""
    normal = normalise(text, cwd, facts.root)
    if text[-1] == "/" and not effects | below <= frozenset({"read"}):
        raise NotUnderstood("bad-path", "the path ends in `/`; name the file")
    also: tuple[str, ...] = ()
    if facts.resolved is not None:
        real = facts.resolved.get(text)
        if real is None:
            raise NotUnderstood("bad-path", "the path could not be resolved")
        where = relative_to(real, facts.root)
        if where != normal:
            also, normal = (normal,), where
    real_path = normal if also else ""
    units = []
    if effects or not below:
        units.append(Unit("path", name, normal, effects, also=also, text=text, real=real_path))
    if below:
        units.append(Unit("path", name, Glob.below(normal), below, wide=True, text=text, real=real_path))
        units.extend(Unit("path", name, Glob.below(other), below, wide=True, text=text, derived=True) for other in also)
    if facts.root is not None and facts.root.startswith(normal.rstrip("/") + "/"):
        units.extend(_root_units(name, effects, below, text))
    return units


def _root_units(name: str, effects: frozenset[str], below: frozenset[str], text: str) -> list[Unit]:
    """What a directory above the root means for the root."""
    units = [Unit("path", name, ".", effects, text=text)] if effects else []
    if below:
        units.append(Unit("path", name, Glob.below("."), below, wide=True, text=text))
    return units


class PathKind(Kind):
    """A file or a directory."""

    name = unit = noun = "path"
    about = "where path arguments must lie"
    limited_by = ("path",)
    must_be_mentioned = True
    judges = FILES
    on_disk = True
    goes_below = True
    conditional = True
    tests = frozenset(("length",))
    instead = "`path:`"

    def check_default(self, value: Any) -> None:
        normalise(value)

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        found = path_units(arg.name, value, arg.effects, arg.below, call.context.cwd, facts)
        if arg.serves and any(other in values for other in arg.serves):
            return [msgspec.structs.replace(unit, derived=True) for unit in found]
        return found

    def form(self) -> Shape:
        from remit.forms.shapes import Field, Flag, Record, Ref, ShortOr  # here: compiled policies need none
        from remit.forms.texts import Parsed, many

        globs = glob_texts()
        absolute = many(Parsed(_absolute, "an absolute glob such as /tmp/**", "bad-glob", pattern="(?s)/.*"))
        fields = {
            "allow": Field(globs, "globs below the root"),
            "except": Field(globs, "globs that are left out again"),
            "new_only": Field(Flag(), "only files that don't exist yet"),
            "outside": Field(absolute, "absolute globs outside the root"),
        }
        expects = "a glob, a list of globs, or {allow, except, new_only, outside}"
        short = ShortOr(globs, "allow", Record(fields, _long, what="a path scope"), expects)
        return Ref("path-scope", lambda: short)

    def matcher(self, data: Any) -> Matcher:
        return PathMatcher(_SCOPE.convert(data))

    def beyond(self, unit: Unit) -> bool:
        return is_outside(unit)

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        if unit.value == ".":
            return None  # no glob is the root itself
        text = unit.value.text if unit.wide else Glob.literal(unit.value).text
        if is_outside(unit):
            return f"path: {{allow: [], outside: [{in_quotes(text, ascii=False)}]}}"
        kept = ", new_only: true" if isinstance(beside, dict) and beside.get("new_only") else ""
        quoted = in_quotes(text, ascii=False)
        return f"path: {{allow: [{quoted}]{kept}}}" if kept else f"path: {quoted}"

    def samples(self) -> list[Any]:
        return ["x", "src/x.py", "remit-probe/x.txt"]

    def reach(self, labelled: Sequence[str]) -> Iterator[tuple[Any, str]]:
        yield Glob.parse("**"), "**"


def _long(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if "allow" not in values and not values.get("outside"):
        return reader.fail(node.at, "missing-key", "a path scope says `allow` or `outside`")
    return {key: value for key, value in values.items() if value or key == "allow"}


def glob_texts() -> Shape:
    """A glob below the root, or a list of them, in a policy."""
    from remit.forms.texts import Parsed, many
    from remit.scopes.glob_written import written_glob

    return many(Parsed(written_glob, "a glob such as docs/**", "bad-glob"))


def _absolute(text: str) -> Glob:
    return Glob.parse(text, absolute=True)


class GlobKind(PathKind):
    """A glob: it stands for all the files that it could match."""

    name, noun = "glob", "glob"
    about = ""
    # Nobody looks up where the links lead that it could match: a change would follow them out of every limit.
    judges = frozenset(("read",))
    on_disk = False
    goes_below = False
    conditional = False

    def check_default(self, value: Any) -> None:
        glob_argument(value, None)

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        globs = self._globs(arg, value, values, call.context.cwd, facts)
        one = Unit("path", arg.name, globs[0], arg.effects | arg.below, wide=True, text=value)
        return [one, *(msgspec.structs.replace(one, value=glob, derived=True) for glob in globs[1:])]

    def _globs(self, arg: Declared, text: str, values: Values, cwd: str | None, facts: Facts) -> list[Glob]:
        """A glob argument: relative to its base, or else to the root and to the working directory alike.

        After the first one the same below other spellings of the base, which prohibitions and labels look at."""
        below = bool(arg.below)
        texts = values.get(arg.base) if arg.base is not None else None
        if texts:
            base = path_units(arg.name, texts[0], NO_EFFECTS, NO_EFFECTS, cwd, facts)[0]
            first = glob_argument(text, facts.root, base=str(base.value), below=below)
            inside = [other for other in base.also if other[0] != "/"]
            return [first, *(glob_argument(text, facts.root, base=other, below=below) for other in inside)]
        glob = glob_argument(text, facts.root, below=below)
        if cwd in (None, "", "."):
            return [glob]
        here = normalise(str(cwd), None, facts.root)
        return [glob.or_else(glob_argument(text, facts.root, base=here, below=below))]


KINDS = (PathKind(), GlobKind())
