"""Which links lie among what the patterns and folders of a command stand for, and where they lead."""

from __future__ import annotations

import os
from collections.abc import Iterable

from remit.scopes.glob import Glob
from remit.scopes.path import relative_to

MAX_ENTRIES = 20_000
"""Names that one call has looked at; a pattern that needs more counts as leading anywhere."""
MAX_LINKS = 256


def links_among(globs: Iterable[Glob], root: str) -> dict[str, str]:
    """Each link that a pattern matches, or could lead through → where it leads; and each pattern that stands for too
    much to look at → nothing."""
    look = _Look(root)
    too_much = [glob for glob in sorted(globs, key=lambda glob: glob.text) if not look.below(glob)]
    return {**look.links, **dict.fromkeys((glob.text for glob in too_much), "")}


def at_home(glob: Glob, home: str) -> Glob:
    """The pattern as the shell sees it, which puts the user's own directory in the place of `~`."""
    text = Glob.literal(home).text.rstrip("/")
    return Glob.parse(text + glob.text[1:], absolute=True).loosened()


class _Look:
    def __init__(self, root: str) -> None:
        self.root = root
        self.entries = 0
        self.links: dict[str, str] = {}

    def below(self, glob: Glob) -> bool:
        """Notes the links that the pattern could lead to or through, and those in the folders that they lead to.

        False if there are too many names, or links, or one leads in circles."""
        todo: list[Glob] = [glob]
        seen: set[str] = set()
        while todo:
            one = todo.pop()
            if one.text in seen:
                continue
            seen.add(one.text)
            folders = [self._begin(one, todo)]
            while folders:
                folder = folders.pop()
                for entry in self._entries(folder):
                    self.entries += 1
                    path = entry.name if folder == "." else f"{folder.rstrip('/')}/{entry.name}"
                    if self.entries > MAX_ENTRIES or len(self.links) > MAX_LINKS:
                        return False
                    if entry.is_symlink():
                        if not self._link(one, path, todo):
                            return False
                    elif entry.is_dir(follow_symlinks=False) and one.intersects(Glob.below(path)):
                        folders.append(path)
        return True

    def _begin(self, glob: Glob, todo: list[Glob]) -> str:
        """The folder that the pattern lies in; if that is a link, what it leads to is looked at too."""
        to = relative_to(os.path.realpath(os.path.join(self.root, glob.base)), self.root)
        if to != glob.base and not to.startswith("/"):
            todo.append(Glob.below(to))
        return glob.base

    def _link(self, glob: Glob, path: str, todo: list[Glob]) -> bool:
        """One link; False if it leads in circles."""
        through = glob.intersects(Glob.below(path))
        if not through and not glob.matches(path):
            return True
        real = os.path.realpath(os.path.join(self.root, path))
        if os.path.islink(real):
            return False
        to = relative_to(real, self.root)
        if path.startswith("/") and to.startswith("/") and not f"{self.root}/".startswith(f"{to.rstrip('/')}/"):
            return True  # from outside to outside
        self.links[path] = to
        if not to.startswith("/") and os.path.isdir(real):
            todo.append(Glob.below(to))
        return True

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self.root, folder)) as entries:
                return list(entries)
        except (OSError, ValueError):
            return []  # whoever runs the command sees nothing there either
