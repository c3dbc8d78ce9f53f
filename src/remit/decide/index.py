"""What a whole rulebook says about paths and URLs: protected, labelled, reserved; and the tier of effects."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import normpath

from remit.model.policy import Label
from remit.model.rulebook import Book, LabelTier
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet
from remit.scopes.interface import Unit
from remit.scopes.path import forms
from remit.scopes.url import UrlPattern, UrlSet


def folded(texts: tuple[str, ...]) -> GlobSet:
    """Globs that ignore case and Unicode form."""
    return GlobSet(Glob.parse(text).folded() for text in texts)


class ProtectedPaths:
    """Step 2: what no agent may change, and what none may read."""

    def __init__(self, book: Book) -> None:
        protected = book.protected
        self.names = frozenset(fold(name) for name in protected.names)
        self.hidden = frozenset(fold(name) for name in protected.hidden)
        self.programs = frozenset(protected.programs)
        self.paths = folded(protected.paths)
        self.bases = tuple({Glob.parse(text).folded().base for text in protected.paths} - {"."})
        self.places = frozenset(_above(self.bases))
        top = tuple(form for name in protected.names for form in (name, f"{name}/**"))
        self.reach = folded((*protected.paths, *top))
        self.above = protected.above
        self.lifted = GlobSet(Glob.parse(text) for text in protected.lifted)

    def above_root(self, root: str | None) -> frozenset[str]:
        """The policy's own files that lie outside the root, as absolute paths."""
        if not self.above or root is None:
            return frozenset()
        return frozenset(normpath(f"{root}/{text}") for text in self.above)

    def names_path(self, unit: Unit) -> bool:
        """True if this path unit touches something protected with one of its effects."""
        effects = unit.effects
        changes = "write" in effects or "delete" in effects
        if unit.wide:
            glob = unit.value.folded()
            if changes and (self.reach.intersects(glob) or any(glob.aims_at(name) for name in self.names)):
                return True
            if changes and any(glob.matches(place) for place in self.places):
                return True
            return "read" in effects and any(glob.aims_at(name) for name in self.hidden)
        if self.lifted and self.lifted.matches(unit.value):
            return False
        for form in forms(unit):
            segments = form.split("/")
            if changes:
                if not self.names.isdisjoint(segments) or self.paths.matches(form) or form in self.bases:
                    return True
                if "delete" in effects and self._contains(form):
                    return True
            elif "read" in effects and not self.hidden.isdisjoint(segments):
                return True
        return False

    def _contains(self, form: str) -> bool:
        """A directory with something protected below it: deleting it would delete that too."""
        return form == "." or any(base.startswith(form + "/") for base in self.bases)


def _above(bases: tuple[str, ...]) -> Iterator[str]:
    """The directories that protected globs lie in, and those above them."""
    for base in bases:
        while base != ".":
            yield base
            base = base.rpartition("/")[0] or "."


class Labels:
    """What the labels say about a unit."""

    def __init__(self, labels: tuple[Label, ...], tiers: dict[str, LabelTier]) -> None:
        data = [label for label in labels if label.name == "data"]
        self.data_paths = [(label.tier or 0, folded(label.path)) for label in data if label.path]
        self.data_urls = [(label.tier or 0, _urls(label.url)) for label in data if label.url]
        self.data_paths.sort(key=lambda pair: -pair[0])
        self.named: list[tuple[str, int, frozenset[str], GlobSet, UrlSet, tuple[str, ...]]] = []
        self.aims: dict[str, tuple[GlobSet, frozenset[str], tuple[str, ...]]] = {}
        for name, rule in sorted(tiers.items(), key=lambda item: -item[1].tier):
            mine = [label for label in labels if label.name == name]
            paths = tuple(text for label in mine for text in label.path)
            urls = _urls(tuple(text for label in mine for text in label.url))
            hosts = tuple(host.lower() for label in mine for host in label.host)
            if paths or urls or hosts:
                self.named.append((name, rule.tier, frozenset(rule.effects), folded(paths), urls, hosts))
                globs = [Glob.parse(text).folded() for text in paths]
                places = GlobSet(glob for glob in globs if glob.base != ".")
                marks = [mark for glob in globs for mark in glob.marks()]
                names = frozenset(literal for literal, _, _ in marks if literal)
                self.aims[name] = (places, names, tuple(suffix for _, _, suffix in marks if suffix))

    def data_tier(self, unit: Unit) -> int:
        """The highest data tier that the unit touches or could reach."""
        if unit.kind == "path" and self.data_paths:
            for tier, paths in self.data_paths:
                if unit.wide:
                    if paths.intersects(unit.value.folded()):
                        return tier
                elif any(paths.matches(form) for form in forms(unit)):
                    return tier
        elif unit.kind == "url" and self.data_urls:
            hits = [tier for tier, urls in self.data_urls if _meets(urls, unit)]
            return max(hits, default=0)
        return 0

    def tier(self, unit: Unit) -> tuple[int, str | None]:
        """The highest tier that a label gives the unit, and that label."""
        kind = unit.kind
        if kind not in ("path", "url"):
            return 0, None
        for name, tier, effects, paths, urls, hosts in self.named:
            if effects.isdisjoint(unit.effects):
                continue
            if kind == "path":
                if not paths:
                    continue
                hit = self._aimed(name, paths, unit) if unit.wide else any(paths.matches(f) for f in forms(unit))
            else:
                hit = _meets(urls, unit) or (not unit.wide and _host(unit.value.host, hosts))
                hit = hit or (unit.wide and any(_reaches_host(unit.value, host) for host in hosts))
            if hit:
                return tier, name
        return 0, None

    def _aimed(self, name: str, paths: GlobSet, unit: Unit) -> bool:
        """A wide unit is aimed at a label that it lies within, whose directory it meets, or whose name it names."""
        glob = unit.value.folded()
        places, names, suffixes = self.aims[name]
        if paths.includes(glob) or places.intersects(glob):
            return True
        if not paths.intersects(glob):
            return False
        ends_so = any(tail.endswith(suffixes) for tail in glob.tails() if tail)
        return ends_so or any(glob.aims_at(text) for text in names)


def _urls(texts: tuple[str, ...]) -> UrlSet:
    return UrlSet(UrlPattern.parse(text) for text in texts)


def _meets(urls: UrlSet, unit: Unit) -> bool:
    return bool(urls) and (urls.intersects(unit.value) if unit.wide else urls.could_match(unit.value))


def _reaches_host(pattern: UrlPattern, host: str) -> bool:
    """A wide URL unit could reach this host."""
    scheme = pattern.text.partition("://")[0]
    return pattern.intersects(UrlPattern.parse(f"{scheme}://{host}:*/**"))


def _host(host: str, patterns: tuple[str, ...]) -> bool:
    return any(host == p or (p.startswith("*.") and host.endswith(p[1:])) for p in patterns)


class Index:
    """Everything that is made once a rulebook."""

    def __init__(self, book: Book) -> None:
        self.protected = ProtectedPaths(book)
        self.labels = Labels(book.labels, book.label_tiers)
        self.reserved = [(entry, _urls(entry.urls)) for entry in book.reserved]
        self.effect_tiers = book.effect_tiers
        self.grade_tiers = book.grade_tiers
        self.outside_scope = book.label_tiers.get("outside_scope", LabelTier(4, ("delete",)))

    def effect_tier(self, unit: Unit) -> int:
        """The tier of a unit by its effects alone, and of a command by its grade."""
        tier = max([self.effect_tiers[effect] for effect in unit.effects], default=0)
        return tier if unit.kind != "shell" else max(tier, self.grade_tiers[unit.value.act.grade])
