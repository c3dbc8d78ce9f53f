"""A profile's limits for whole folders: what mounts need to know besides what `scopes.admits` says of single paths."""

from __future__ import annotations

from remit.model.profile import Profile, Region
from remit.scopes.admits import Admits
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet

GIT_NEVER = ("hooks", "config", "config.worktree", "commondir", "gitdir", "modules", "worktrees")
"""What of a `.git` mounts keep: it runs programs, or leads to other configuration that does."""


class Bounds(Admits):
    """What a profile admits, asked about paths and about folders; the root itself is `.`."""

    def __init__(self, profile: Profile) -> None:
        super().__init__(profile)
        self.write = tuple(map(Area, profile.write))
        self.read = tuple(map(Area, profile.read))

    def keeps(self, path: str) -> bool:
        """Never written, by its own name or by a glob that names it; its folder is not looked at."""
        form = fold(path)
        name = form.rpartition("/")[2]
        if path == ".git":
            return not self.profile.git
        return (name in self._names or name == ".git" or self._paths.matches(form)) and not self._lifted.matches(path)

    def lifts_below(self, directory: str) -> bool:
        """All below a protected folder that the policy has taken out of what is protected."""
        return bool(self._lifted) and self._lifted.includes(Glob.below(directory))

    def avoids(self, path: str) -> bool:
        """An exception of a write scope has it."""
        form = fold(path)
        return any(area.avoid and area.avoid.matches(form) for area in self.write)

    def may_make(self, path: str) -> bool:
        """Whether a run may make a directory here: one that it may write, or that leads to what it may."""
        if self.writes(path):
            return True
        return not (self.is_protected(path) or self.avoids(path)) and all(area.meets_below(path) for area in self.write)


class Area:
    """One region, compiled."""

    def __init__(self, region: Region) -> None:
        self.may = GlobSet(Glob.parse(text) for text in region.may)
        self.avoid = GlobSet(Glob.parse(text).folded() for text in region.except_)

    def covers(self, path: str) -> bool:
        """Whether the region admits this path."""
        return self.may.matches(path) and not (self.avoid and self.avoid.matches(fold(path)))

    def covers_below(self, directory: str) -> bool:
        """Whether `may` admits everything below it; exceptions aside."""
        return self.may.includes(Glob.below(directory))

    def meets_below(self, directory: str) -> bool:
        """Whether `may` could admit something below it."""
        return self.may.intersects(Glob.below(directory))
