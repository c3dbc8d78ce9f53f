"""Which paths below the root a profile protects, told by their text alone.

Names are compared folded, as decisions compare them: `.GIT` is `.git` on some file systems.
"""

from __future__ import annotations

from collections.abc import Sequence

from remit.model.profile import Profile
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet

GIT = ".git"
HELD_IN_GIT = frozenset(("hooks", "config", "config.worktree", "commondir"))
"""In a `.git` that is written: what runs programs, or leads git to another place where something does."""
_MODULES, _STORED = "modules", frozenset(("refs", "logs", "objects"))


class Protected:
    """What is protected by one profile."""

    def __init__(self, profile: Profile) -> None:
        self.git, self.digest = profile.git, profile.digest
        self.names = frozenset(map(fold, profile.protected_names))
        self.lifted = GlobSet(Glob.parse(text) for text in profile.unprotected)
        globs = [Glob.parse(text).folded() for text in profile.protected_paths]
        self.paths = GlobSet(globs)
        whole = {base for glob in globs if (base := _all_below(glob)) is not None}
        self.exact = frozenset(whole | {path for glob in globs if (path := _literal(glob)) is not None})
        """Paths that globs name to the letter, and directories of which all that is below is protected."""
        self._parents = frozenset(path.rpartition("/")[0] for path in self.exact)
        wild = (glob for glob in globs if _literal(glob) is None and _all_below(glob) is None)
        self._wild = tuple(sorted({"" if glob.base == "." else glob.base for glob in wild}))

    def top(self, path: str) -> str | None:
        """The highest part of a path, itself included, that is protected; None if nothing of it is."""
        if self.lifted and self.lifted.matches(path):
            return None
        segments = path.split("/")
        for count, segment in enumerate(segments, 1):
            name = fold(segment)
            if name in self.names:
                if not (self.git and name == GIT):
                    return "/".join(segments[:count])
                held = held_in_git(segments[count:])
                return "/".join(segments[: count + held]) if held else None
            if self._is_matched("/".join(segments[:count])):
                return "/".join(segments[:count])
        return None

    def __contains__(self, path: str) -> bool:
        return self.top(path) is not None

    def may_match_in(self, directory: str) -> bool:
        """Whether a glob could match something directly in this directory (empty: the root), by where globs begin.

        What lies below something protected is not asked for.
        """
        here = fold(directory)
        return here in self._parents or any(
            not base or here == base or here.startswith(base + "/") for base in self._wild
        )

    def _is_matched(self, path: str) -> bool:
        form = fold(path)
        return bool(self.paths) and (form in self.exact or self.paths.matches(form))


def held_in_git(inner: Sequence[str]) -> int:
    """Of a path within a `.git`, how many segments lead to what is held even where the rest is written; 0: none."""
    names = [fold(segment) for segment in inner]
    if names[:1] and names[0] in HELD_IN_GIT:
        return 1
    if names[:1] == [_MODULES]:
        for count, name in enumerate(names[1:], 2):
            if name in _STORED:
                return 0
            if name in HELD_IN_GIT:
                return count
    return 0


def is_named_like_file(path: str) -> bool:
    """Whether its name has an ending, as `AGENTS.md` and `.mcp.json` have.

    Where there is none, nothing can be mounted in its place: git and `find` would stumble over a folder of that name.
    So a run can make it, and the sweep takes it away.
    """
    return "." in path.rpartition("/")[2][1:]


def _all_below(glob: Glob) -> str | None:
    """The directory, if a glob is one and all that is below it."""
    directory = glob.text.removesuffix("/**")
    return glob.base if directory != glob.text and glob.base == fold(directory) else None


def _literal(glob: Glob) -> str | None:
    """The path, if a glob names just one."""
    one = len(glob.alternatives) == 1 and all(isinstance(element, str) for element in glob.alternatives[0])
    return "/".join(map(str, glob.alternatives[0])) if one else None
