"""Labels: what things are, by path, table, URL, host, branch and context, and the tiers that this gives."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.model.pattern import compile_later
from remit.model.policy import Label
from remit.model.rulebook import LabelTier
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet
from remit.scopes.interface import Unit
from remit.scopes.path import forms, is_below

if TYPE_CHECKING:
    from remit.scopes.url import UrlPattern, UrlSet

_SIMPLE = compile_later(r"(\*\*/)?(\*?)([A-Za-z0-9._/-]+?)(/\*\*)?")
"""`**/name`, `**/*.end`, `**/name/**`, `a/name` and the like: most globs of labels, which need no matcher."""


WAYS = ("bases", "ends", "exact", "folders", "inner", "names", "rest", "tails")
"""How a glob can be looked up; `rest`: by matching it."""


ROOTS = frozenset(
    ["api", "app", "backend", "etc", "internal", "lib", "packages", "pkg", "project", "server", "services", "src"]
)
"""Roots of whole trees: nearly all that they hold is something else."""


@lru_cache(maxsize=256)
def folded(texts: tuple[str, ...]) -> GlobSet:
    """Globs that ignore case and Unicode form. Shared, since most rulebooks have the same shipped ones."""
    return GlobSet(Glob.parse(text).folded() for text in texts)


def url_set(texts: tuple[str, ...]) -> UrlSet | None:
    """URL patterns as a set; None where there are none, and then nothing that reads URLs is loaded."""
    if not texts:
        return None
    from remit.scopes.url import UrlPattern, UrlSet

    return UrlSet(UrlPattern.parse(text) for text in texts)


class Paths:
    """The path globs of a label, ignoring case and Unicode form; made so that the first call finds them quickly."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.spared = frozenset(fold(text.removeprefix("!**/")) for text in texts if text[0] == "!")
        """Names that are none of them: `!**/.env.example`."""
        self.texts = texts = tuple(text for text in texts if text[0] != "!")
        simple: dict[str, list[str]] = {way: [] for way in WAYS}
        for text in texts:
            way, value = _way(text)
            simple[way].append(value)
        self.names, self.folders = frozenset(simple["names"]), frozenset(simple["folders"])
        self.exact, self.bases = frozenset(simple["exact"]), tuple(f"{base}/" for base in simple["bases"])
        self.ends, self.tails = tuple(simple["ends"]), tuple(f"/{tail}" for tail in simple["tails"])
        self.inner = tuple(f"/{inner}/" for inner in simple["inner"])
        self.rest = folded(tuple(simple["rest"]))
        within = [parent for path in (*simple["inner"], *simple["tails"]) for parent in _above(path)]
        holding = (*simple["folders"], *simple["inner"], *(parent for parent in within if parent not in ROOTS))
        self._holding = tuple(f"/{folder}" for folder in holding)
        """Folders of such names hold some of them, wherever they lie."""

    def __bool__(self) -> bool:
        return bool(self.texts)

    def matches(self, form: str) -> bool:
        """A folded path is one of them."""
        parts = form.split("/")
        last = parts.pop()
        if last in self.spared:
            return False
        if last in self.names or form in self.exact:
            return True
        if self._in_folder(form, parts):
            return True
        if last[1:].endswith(self.ends) or f"/{form}".endswith(self.tails):  # `*` is one character at least
            return True
        return self.rest.matches(form)

    def _in_folder(self, form: str, parts: list[str]) -> bool:
        """It lies in one of the folders."""
        if not self.folders.isdisjoint(parts) or form.startswith(self.bases):
            return True
        rooted = f"/{form}"
        return any(inner in rooted for inner in self.inner)

    def name(self, unit: Unit) -> bool:
        """A path unit that is not wide is one of them, or deletes a directory with some in it."""
        deletes = "delete" in unit.effects
        for form in forms(unit):
            inside = form.lstrip("/") or "."  # one outside the root counts as if the root were that of the machine
            if self.matches(inside) or (deletes and self.holds(inside)):
                return True
        return False

    def holds(self, folder: str) -> bool:
        """A folded path is a folder that some of them may lie in: who deletes or moves it does so with them."""
        return folder in self.above or f"/{folder}".endswith(self._holding)

    @cached_property
    def above(self) -> frozenset[str]:
        """Directories that some of them lie in: who deletes one deletes what is in it."""
        return frozenset(_above(*self.exact, *self.bases, *(f"{glob.base}/" for glob in self.rest)))

    @cached_property
    def all(self) -> GlobSet:
        """Every glob, for wide units."""
        return folded(self.texts)

    def aimed(self, value: Glob, *, some: bool = False) -> bool:
        """A wide unit is aimed at what it lies within, whose directory it meets, or whose name it names.

        Of `some` of what lies anywhere (`find . -name '*.pyc'`) only the name says what it is aimed at."""
        glob, every = value.folded(), self.all
        places = GlobSet(own for own in every if own.base != ".")
        if every.includes(glob) or (not (some and glob.base == ".") and places.intersects(glob)):
            return True
        if not every.intersects(glob):
            return False
        marks = [mark for own in every for mark in own.marks()]
        ends = tuple(suffix for _, _, suffix in marks if suffix)
        if any(tail.endswith(ends) for tail in glob.tails() if tail):
            return True
        return any(glob.aims_at(text) for text in {literal for literal, _, _ in marks if literal})

    def told(self, unit: Unit) -> bool:
        """An argument of code of the project is one of them, or a folder that some of them lie in."""
        return self.name(unit) or (unit.value[0] != "/" and any(is_below(glob, unit.value) for glob in self.all))


def _way(text: str) -> tuple[str, str]:
    """How a glob is looked up, and by which text."""
    found = _SIMPLE.fullmatch(text)
    if found is None:
        return "rest", text
    deep, star, name, below = found.groups()
    single = "/" not in name
    if deep and single and not (star and below):
        return ("ends" if star else "folders" if below else "names"), fold(name)
    if star:
        return "rest", text
    if deep:
        return ("inner" if below else "tails"), fold(name)
    return ("bases" if below else "exact"), fold(name)


def _above(*paths: str) -> Iterator[str]:
    """The directories of paths, and those above them; not the root, which is protected."""
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder not in ("", "."):
            yield folder
            folder = folder.rpartition("/")[0]


class Things:
    """What one label is about. A wide unit meets every name of its kind: it could be any."""

    __slots__ = ("branches", "contexts", "hosts", "paths", "tables", "urls")

    def __init__(self, labels: list[Label]) -> None:
        self.paths = Paths(tuple(text for label in labels for text in label.path))
        self.urls = url_set(tuple(text for label in labels for text in label.url))
        self.hosts = tuple(_bare(text) for label in labels for text in label.host)
        self.tables = tuple(_parts(text) for label in labels for text in label.table)
        self.branches = tuple(_pattern(text.removeprefix("refs/heads/")) for label in labels for text in label.branch)
        self.contexts = tuple(_pattern(text) for label in labels for text in label.kube_context)

    def __bool__(self) -> bool:
        return bool(self.paths or self.urls or self.hosts or self.tables or self.branches or self.contexts)

    def meets(self, unit: Unit) -> bool:
        """The unit is one of them, or could be; a wide path only if it is aimed at them."""
        if unit.kind != "path":
            return self.might(unit)
        if unit.wide:
            if self.paths.aimed(unit.value, some=unit.some):
                return True
            if "delete" not in unit.effects:
                return False
            glob = unit.value.folded()
            return self.paths.holds(glob.base) or any(map(glob.matches, self.paths.above))
        return self.paths.name(unit)

    def might(self, unit: Unit) -> bool:
        """The unit is one of them, or might be."""
        kind = unit.kind
        if kind == "path":
            if unit.wide:
                return self.paths.all.intersects(unit.value.folded())
            return any(form[0] != "/" and self.paths.matches(form) for form in forms(unit))
        if kind == "url":
            return self._url(unit.value, wide=unit.wide)
        if kind == "table":
            return bool(self.tables) and (unit.wide or _table(fold(unit.value), self.tables))
        if kind == "host":
            return bool(self.hosts) and (unit.wide or _host(unit.value, self.hosts))
        if kind in ("branch", "context"):
            names = self.branches if kind == "branch" else self.contexts
            name = fold(unit.value)
            return bool(names) and (unit.wide or any(fnmatchcase(name, pattern) for pattern in names))
        return False

    def reaches(self, place: UrlPattern) -> bool:
        """Some URL of the pattern is one of them."""
        return self._url(place, wide=True)

    def _url(self, value: Any, *, wide: bool) -> bool:
        if wide:
            hit = self.urls is not None and self.urls.intersects(value)
            return hit or any(_reaches_host(value, host) for host in self.hosts)
        return (self.urls is not None and self.urls.could_match(value)) or _host(value.host, self.hosts)


class Labelled(NamedTuple):
    """What the labels say about one unit."""

    data_tier: int
    """The highest data tier that it touches or could reach."""
    tier: int
    """The highest tier that a label gives it."""
    label: str | None
    """That label."""


UNLABELLED = Labelled(0, 0, None)
LABELLED = frozenset(("path", "url", "table", "host", "branch", "context"))
"""Kinds of units that labels are about."""
MOST_WIDE = 1024
"""Wide units whose result is kept: mostly fixed reaches of tools, the same in all their calls."""


class Labels:
    """What the labels of a rulebook say about a unit."""

    def __init__(self, labels: tuple[Label, ...], tiers: dict[str, LabelTier]) -> None:
        data = sorted({label.tier for label in labels if label.tier is not None}, reverse=True)
        self.data = [(tier, Things([label for label in labels if label.tier == tier])) for tier in data]
        self.data_paths = max((tier for tier, things in self.data if things.paths), default=0)
        """The highest data tier that a path can have."""
        self._own: list[tuple[str, int, frozenset[str], Paths]] = []
        """Labels with paths of the policy's own: what could be anything could be one of them."""
        self.named: list[tuple[str, int, frozenset[str], Things]] = []
        for name, rule in sorted(tiers.items(), key=lambda item: -item[1].tier):
            mine = [label for label in labels if label.name == name]
            things = Things(mine)
            if things:
                self.named.append((name, rule.tier, frozenset(rule.effects), things))
            own = Paths(tuple(text for label in mine if not label.shipped for text in label.path))
            if own:
                self._own.append((name, rule.tier, frozenset(rule.effects), own))

        self.things = [*(things for _, things in self.data), *(things for *_, things in self.named)]
        self._paths = Paths(tuple(text for things in self.things for text in things.paths.texts))
        """Those of all labels together: most paths have none."""
        self._wide = lru_cache(MOST_WIDE)(self._labelled)  # comparing globs takes long

    def of(self, unit: Unit) -> Labelled:
        """What they say about a unit."""
        if unit.kind not in LABELLED:
            return UNLABELLED
        if _is_anything(unit):
            return Labelled(self.data_paths, *self._untold(unit))
        if unit.wide:
            return self._wide(unit)
        if unit.kind == "path" and not self._paths.name(unit):
            return UNLABELLED
        return self._labelled(unit)

    def of_argument(self, unit: Unit) -> Labelled:
        """What they say about an argument of code of the project: data tiers, and the policy's own labels."""
        data = next((tier for tier, things in self.data if things.paths.told(unit)), 0)
        for name, tier, effects, paths in self._own:
            if not effects.isdisjoint(unit.effects) and paths.told(unit):
                return Labelled(data, tier, name)
        return Labelled(data, 0, None)

    def names(self, unit: Unit) -> frozenset[str]:
        """Every label that gives the unit a tier, or could."""
        if unit.kind not in LABELLED:
            return frozenset()
        if _is_anything(unit):
            own = {name for name, _, effects, _ in self._own if not effects.isdisjoint(unit.effects)}
            _, label = self._untold(unit)
            return frozenset(own | {label} if label is not None else own)
        return frozenset(
            name
            for name, _, effects, things in self.named
            if not (unit.declared and name == "dependencies")
            and not effects.isdisjoint(unit.effects)
            and things.meets(unit)
        )

    def is_called(self, label: str, path: str) -> bool:
        """A path has that label, whatever is done to it."""
        return any(name == label and things.paths.matches(fold(path)) for name, _, _, things in self.named)

    def _labelled(self, unit: Unit) -> Labelled:
        return Labelled(self._data_tier(unit), *self._tier(unit))

    def _data_tier(self, unit: Unit) -> int:
        """The highest data tier that the unit touches or could reach."""
        return next((tier for tier, things in self.data if things.might(unit)), 0)

    def _tier(self, unit: Unit) -> tuple[int, str | None]:
        """The highest tier that a label gives the unit, and that label."""
        for name, tier, effects, things in self.named:
            if unit.declared and name == "dependencies":
                continue  # the package manager writes there what these files say already
            if not effects.isdisjoint(unit.effects) and things.meets(unit):
                return tier, name
        return 0, None

    def _untold(self, unit: Unit) -> tuple[int, str | None]:
        """The same for what a text doesn't tell: the policy's own labels, and what it says of `~/.ssh/config`."""
        best = next(
            ((tier, name) for name, tier, effects, _ in self._own if not effects.isdisjoint(unit.effects)), None
        )
        texts = unit.also if unit.untold == "place" else ()
        written = [[part for part in text.split("/") if part not in ("", ".", "..", "~")] for text in texts]
        for name, tier, effects, things in self.named:
            if best is not None and tier <= best[0]:
                break
            if effects.isdisjoint(unit.effects) or not things.paths:
                continue
            if any(parts and things.paths.matches(fold("/".join(parts))) for parts in written):
                return tier, name
        return best or (0, None)


def _pattern(text: str) -> str:
    """A name with `*` and `?`, for fnmatch, which would take `[` for a class."""
    return fold(text).replace("[", "[[]")


def _parts(text: str) -> tuple[str, ...]:
    return tuple(_pattern(part) for part in text.split("."))


def _table(name: str, patterns: tuple[tuple[str, ...], ...]) -> bool:
    """Parts are compared from the last one on: whichever has no schema could mean any."""
    parts = name.split(".")
    return any(
        all(fnmatchcase(part, wanted) for part, wanted in zip(reversed(parts), reversed(pattern), strict=False))
        for pattern in patterns
    )


def _host(text: str, patterns: tuple[str, ...]) -> bool:
    host = _bare(text)
    return any(host == p or (p.startswith("*.") and host.endswith(p[1:])) for p in patterns)


def _bare(host: str) -> str:
    """A host without its port, and an IPv6 address without brackets, in its one canonical form."""
    name = fold(host)
    if name.count(":") > 1:
        import ipaddress  # here: few hosts are named by such an address

        name = name.removeprefix("[").partition("]")[0]
        try:
            return str(ipaddress.IPv6Address(name))
        except ValueError:
            return name
    return name.partition(":")[0].rstrip(".")


def _is_anything(unit: Unit) -> bool:
    """A path that could be any."""
    return unit.kind == "path" and bool(unit.untold or (unit.some and unit.wide and unit.value.text == "**"))


def _reaches_host(pattern: UrlPattern, host: str) -> bool:
    """A wide URL unit could reach this host."""
    scheme = pattern.text.partition("://")[0] if "://" in pattern.text else "https"
    authority = f"[{host}]" if ":" in host else host
    return pattern.intersects(type(pattern).parse(f"{scheme}://{authority}:*/**"))
