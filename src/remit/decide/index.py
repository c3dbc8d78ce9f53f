"""What a whole rulebook says, whoever calls: protected paths, reserved URLs, and the tiers of effects and grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from posixpath import normpath

from remit.decide.labels import MOST_WIDE, Labels, folded, url_set
from remit.model.rulebook import Book, LabelTier
from remit.model.terms import EFFECTS
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet
from remit.scopes.interface import NO_EFFECTS, Unit
from remit.scopes.kinds import kind_of


class ProtectedPaths:
    """Step 2: what no agent may change, and what none may read."""

    def __init__(self, book: Book) -> None:
        protected = self._protected = book.protected
        self.names = frozenset(fold(name) for name in protected.names)
        self.instructions = frozenset(fold(name) for name in protected.instructions)
        self.hidden = frozenset(fold(name) for name in protected.hidden)
        self.programs = frozenset(protected.programs)
        self.paths = folded(protected.paths)
        self.bases = tuple({glob.base for glob in self.paths} - {"."})
        self.places = frozenset(_above(self.bases))
        self.words = protected.words
        self.above = protected.above
        self.lifted = GlobSet(Glob.parse(text) for text in protected.lifted) if protected.lifted else None

        self._wide = lru_cache(MOST_WIDE)(self._names_wide)  # mostly the fixed reach of a tool, in all its calls

    @cached_property
    def reach(self) -> GlobSet:
        """Everything protected that a wide path could reach."""
        top = (form for name in self._protected.names for form in (name, f"{name}/**"))
        return folded((*self._protected.paths, *top))

    @cached_property
    def loose(self) -> GlobSet:
        """What is protected by a pattern that begins with a wildcard (`*.test.yaml`): many others could meet it."""
        return GlobSet(glob for glob in self.paths if glob.base == ".")

    def only_loosely(self, value: Glob) -> bool:
        """Whether a pattern that is changed could meet such things, and nothing else that is protected."""
        glob = value.folded()
        strict = any(one.base != "." and one.intersects(glob) for one in self.reach)
        named = strict or any(glob.aims_at(name) for name in self.names) or any(map(glob.matches, self.places))
        return not named and self.loose.intersects(glob)

    def above_root(self, root: str | None) -> frozenset[str]:
        """The policy's own files that lie outside the root, as absolute paths."""
        if root is None:
            return _NOWHERE
        return frozenset(normpath(f"{root}/{text}") for text in self.above)

    def names_path(self, unit: Unit) -> bool:
        """True if this path unit touches something protected with one of its effects."""
        effects = unit.effects
        changes = "write" in effects or "delete" in effects
        if unit.wide:
            return self._wide(unit.value, changes, "read" in effects)
        for spelling in (unit.value, *unit.also):
            if self.lifted is not None and self.lifted.matches(spelling):
                continue
            form = fold(spelling)
            segments = form.split("/")
            if changes:
                if not self.names.isdisjoint(segments) or self.paths.matches(form):
                    return True
                if form in self.bases and not (
                    unit.taken == "new_folder" and not self.paths.includes(Glob.below(form))
                ):
                    return True  # a folder that is made replaces nothing that lies in it
                if "delete" in effects and self.contains(form):
                    return True
            elif "read" in effects and not self.hidden.isdisjoint(segments):
                return True
        return False

    def instruction(self, unit: Unit) -> str | None:
        """The name, folded, of a file with instructions that this path unit would change; None if it changes none."""
        if unit.effects.isdisjoint(("write", "delete")):
            return None
        if unit.wide:
            last = {alternative[-1] for alternative in unit.value.folded().alternatives}
            return next((name for name in sorted(self.instructions) if name in last), None)
        for spelling in (unit.value, *unit.also):
            name = fold(spelling).rpartition("/")[2]
            if name in self.instructions and not (self.lifted is not None and self.lifted.matches(spelling)):
                return name
        return None

    def instructs(self, unit: Unit, seen: Iterable[str]) -> bool:
        """Whether such a file is among what whoever enforces has seen that a pattern changes."""
        changes = not unit.effects.isdisjoint(("write", "delete"))
        return changes and any(fold(path).rpartition("/")[2] in self.instructions for path in seen)

    def may_instruct(self, unit: Unit) -> bool:
        """Whether a pattern could be such a file, which it does not name."""
        if not unit.wide or unit.effects.isdisjoint(("write", "delete")):
            return False
        glob = unit.value.folded()
        return any(glob.aims_at(name) for name in self.instructions)

    def _names_wide(self, value: Glob, changes: bool, reads: bool) -> bool:
        glob = value.folded()
        if changes and (self.reach.intersects(glob) or any(glob.aims_at(name) for name in self.names)):
            return True
        if changes and any(glob.matches(place) for place in self.places):
            return True
        return reads and any(glob.aims_at(name) for name in self.hidden)

    def contains(self, form: str) -> bool:
        """A directory with something protected below it: deleting it would delete that too."""
        return form == "." or any(base.startswith(form + "/") for base in self.bases)


_NOWHERE: frozenset[str] = frozenset()


def _above(bases: tuple[str, ...]) -> Iterator[str]:
    """The directories that protected globs lie in, and those above them."""
    for base in bases:
        while base != ".":
            yield base
            base = base.rpartition("/")[0] or "."


class Index:
    """Everything that is made once a rulebook."""

    def __init__(self, book: Book) -> None:
        self.protected = ProtectedPaths(book)
        self.labels = Labels(book.labels, book.label_tiers)
        self.reserved = [(entry, url_set(entry.urls)) for entry in book.reserved]
        self.effect_tiers = book.effect_tiers
        self.grade_tiers = book.grade_tiers
        self.environment_tiers = book.environment_tiers
        self.outside_scope = book.label_tiers["outside_scope"]
        self.whole_table = book.label_tiers["whole_table"]
        self.own_branch = book.label_tiers.get("own_branch")
        self.declared_install = book.label_tiers.get("declared_install")
        self.words = book.tier_words
        self._ranked = sorted(EFFECTS, key=lambda effect: -self.effect_tiers[effect])
        self._by_effects = lru_cache(self._of_effects)  # there are few sets of effects

    def effect_tier(self, unit: Unit, *, impossible: frozenset[str] = NO_EFFECTS) -> tuple[int, str] | None:
        """The tier of a unit by its effects alone, and why; None for a unit without any.

        Effects that are `impossible` where the call runs don't count."""
        effects = unit.effects - impossible
        if "publish" in effects and self.own_branch is not None and kind_of(unit.kind).to_own_branch(unit):
            return self._instead(effects, "publish", self.own_branch, f"publishes: {self.words.get('own_branch', '')}")
        if "install" in effects and self.declared_install is not None and self._is_declared(unit):
            why = f"installs what the project declares: {self.words.get('declared_install', '')}"
            return self._instead(effects, "install", self.declared_install, why)
        return self._by_effects(effects)

    def _instead(self, effects: frozenset[str], effect: str, rule: LabelTier, why: str) -> tuple[int, str]:
        """The tier of effects where a rule's counts in the place of that of one of them."""
        rest = self._by_effects(effects.difference(rule.effects)) or (0, "")
        lower = min(self.effect_tiers[effect], rule.tier)
        return rest if rest[0] > lower else (lower, why)

    def _is_declared(self, unit: Unit) -> bool:
        """It installs only what files say that nobody changes at a lower tier than installing has."""
        files = kind_of(unit.kind).declared_files(unit)
        return files is not None and all(self.labels.is_called("dependencies", path) for path in files)

    def _of_effects(self, effects: frozenset[str]) -> tuple[int, str] | None:
        effect = next((effect for effect in self._ranked if effect in effects), None)
        return (self.effect_tiers[effect], self.words.get(f"effect {effect}", effect)) if effect else None

    def grade_tier(self, unit: Unit) -> tuple[int, str]:
        """The least tier of a command by its grade, and of a statement that is not understood."""
        grade = kind_of(unit.kind).grade(unit)
        return (self.grade_tiers[grade], grade) if grade is not None else (0, "")

    def environment_tier(self, unit: Unit, environment: str) -> tuple[int, str] | None:
        """The tier that effects have where the call's context says that it runs there, and the gravest of them."""
        rule = self.environment_tiers.get(fold(environment))
        if rule is None or unit.effects.isdisjoint(rule.effects):
            return None
        return rule.tier, next(effect for effect in self._ranked if effect in unit.effects and effect in rule.effects)
