"""Sets of globs, matched as one: a path is in the set if any of its globs matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from remit.scopes import glob_algebra as algebra
from remit.scopes.glob import Glob
from remit.scopes.glob_match import matcher

__all__ = ["GlobSet"]


class GlobSet:
    """The union of some globs, in the order given: immutable, false if empty.

    `matches(path)` says whether any of them matches. All are folded or none is.
    """

    __slots__ = ("globs", "matches")

    globs: tuple[Glob, ...]
    matches: Callable[[str], bool]

    def __init__(self, globs: Iterable[Glob] = ()) -> None:
        """Raises `ValueError` if only some are folded: a path comes in one form."""
        unique = tuple(dict.fromkeys(globs))
        if len({glob.is_folded for glob in unique}) > 1:
            raise ValueError("a set of globs can't be partly folded")
        object.__setattr__(self, "globs", unique)

    def first(self, path: str) -> Glob | None:
        """The first glob that matches `path`."""
        return next((glob for glob in self.globs if glob.matches(path)), None)

    def includes(self, glob: Glob) -> bool:
        """True only if every path that `glob` matches is in the set; each alternative needs one member."""
        other = self._form(glob)
        kind = (other.absolute, other.is_folded)
        mine = [each for own in self.globs if (own.absolute, own.is_folded) == kind for each in own.alternatives]
        return all(any(algebra.includes(each, part) for each in mine) for part in other.alternatives)

    def intersects(self, glob: Glob) -> bool:
        """False only if no path that `glob` matches is in the set."""
        other = self._form(glob)
        return any(own.intersects(other) for own in self.globs)

    def _form(self, glob: Glob) -> Glob:
        return glob.folded() if self.globs and self.globs[0].is_folded else glob

    def __getattr__(self, name: str) -> Callable[[str], bool]:
        # Only an unset slot gets here: the common test is compiled when a path is first matched.
        if name != "matches":
            raise AttributeError(name)
        test = _matcher(self.globs)
        object.__setattr__(self, "matches", test)
        return test

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a set of globs can't be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a set of globs can't be changed: {name}")

    def __bool__(self) -> bool:
        return bool(self.globs)

    def __len__(self) -> int:
        return len(self.globs)

    def __iter__(self) -> Iterator[Glob]:
        return iter(self.globs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobSet) and self.globs == other.globs

    def __hash__(self) -> int:
        return hash(self.globs)

    def __repr__(self) -> str:
        return f"GlobSet({list(self.globs)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (GlobSet, (self.globs,))


def _matcher(globs: tuple[Glob, ...]) -> Callable[[str], bool]:
    """One test for all: relative and absolute paths never meet, so each kind has its own."""
    relative = [each for glob in globs if not glob.absolute for each in glob.alternatives]
    absolute = [each for glob in globs if glob.absolute for each in glob.alternatives]
    below, outside = matcher(relative, lead=""), matcher(absolute, lead="/")
    return below if not absolute else outside if not relative else lambda path: below(path) or outside(path)
