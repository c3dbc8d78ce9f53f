"""What a profile lets be written and read, by the policy's own matcher."""

from __future__ import annotations

from remit.model.profile import GIT_SEALED, Profile, Region
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet


class Admits:
    """One profile, ready to be asked about normal paths below the root (`a/b`; `.` is the root itself)."""

    __slots__ = ("_git", "_hidden", "_lifted", "_names", "_paths", "_read", "_write", "profile")

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._write = [_Sets(region) for region in profile.write]
        self._read = [_Sets(region) for region in profile.read]
        self._names = frozenset(map(fold, profile.protected_names))
        self._paths = _folded(profile.protected_paths)
        self._lifted = GlobSet(Glob.parse(text) for text in profile.unprotected)
        self._hidden = _folded((*profile.hidden, *(f"{text}/**" for text in profile.hidden if text[-2:] != "**")))
        self._git = _folded(GIT_SEALED)

    def writes(self, path: str) -> bool:
        """A command may write, make or delete the file of that path."""
        form = fold(path)
        if self.is_protected(path):
            return False
        if self._is_git(path) and not self._lifted.matches(path):
            return True
        return not self.hides(path) and all(one.has(path, form) for one in self._write)

    def is_protected(self, path: str) -> bool:
        """Whoever runs, nothing is written there."""
        form = fold(path)
        if self._lifted.matches(path):
            return False
        if self._is_git(path):
            return bool(self._git.matches(form))
        return not self._names.isdisjoint(form.split("/")) or bool(self._paths.matches(form))

    def _is_git(self, path: str) -> bool:
        """What git keeps, where it may be written; spelled otherwise it is something else."""
        return self.profile.git and (path == ".git" or path.startswith(".git/"))

    def hides(self, path: str) -> bool:
        """Nothing inside reads it."""
        return bool(self._hidden.matches(fold(path)))

    def reads(self, path: str) -> bool:
        """A command may read the file of that path."""
        form = fold(path)
        if self.hides(path):
            return False
        return all(one.has(path, form) for one in self._read)


class _Sets:
    __slots__ = ("avoid", "may")

    def __init__(self, region: Region) -> None:
        self.may = GlobSet(Glob.parse(text) for text in region.may)
        self.avoid = _folded(region.except_)

    def has(self, path: str, form: str) -> bool:
        return bool(self.may.matches(path)) and not self.avoid.matches(form)


def _folded(texts: tuple[str, ...]) -> GlobSet:
    return GlobSet(Glob.parse(text).folded() for text in texts if not text.startswith("~"))
