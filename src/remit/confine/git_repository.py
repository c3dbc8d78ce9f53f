"""Whether a repository that a run made is one that a person can enter: `git status` in it must run no program.

`git init` and `git clone` make such repositories. One with hooks, with other settings than these, or that leads
git somewhere else is none.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from remit.confine.protected import held_in_git

_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf)"
    r"|remote\..+\.(url|fetch|tagopt|mirror|promisor|partialclonefilter)"
    r"|branch\..+\.(remote|merge|rebase|description)"
    r"|submodule\.(.+\.)?(url|active)"
    r"|user\.(name|email)|init\.defaultbranch|extensions\.(objectformat|partialclone|refstorage)"
)
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*')
_SETTING = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
MAX_BYTES = 100_000


def problem(root: str, path: str, known: frozenset[str]) -> str | None:
    """What is wrong with a repository at a path below the root; None if nothing is.

    `known` are the repositories that were there before the run.
    """
    full = f"{root}/{path}"
    try:
        mode = os.lstat(full).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return next(_problems(full), None)
    if not stat.S_ISREG(mode):
        return "it leads git to another place"
    return _leads_elsewhere(root, path, known)


def work_tree_problem(git: str, name: str) -> str | None:
    """The same of what a `.git` keeps about one of its work trees."""
    folder = f"{git}/worktrees/{name}"
    if _read(f"{folder}/commondir").strip() != "../..":
        return "it leads git to another place"
    return "it has settings of its own" if os.path.lexists(f"{folder}/config.worktree") else None


def _leads_elsewhere(root: str, path: str, known: frozenset[str]) -> str | None:
    """A file `.git` is fine if it names a work tree or a module of a repository that was there."""
    text = _read(f"{root}/{path}").strip()
    target = text.removeprefix("gitdir:").strip()
    if target == text or "\n" in target:
        return "it leads git to another place"
    real = os.path.realpath(os.path.join(root, os.path.dirname(path), target))
    for one in known:
        git = os.path.realpath(f"{root}/{one}")
        for kind in ("worktrees", "modules"):
            if os.path.dirname(real) == f"{git}/{kind}":
                found = work_tree_problem(git, os.path.basename(real)) if kind == "worktrees" else None
                return found or (next(_problems(real), None) if kind == "modules" else None)
    return "it leads git to another place"


def _problems(git: str) -> Iterator[str]:
    for here, folders, files in os.walk(git):
        below = os.path.relpath(here, git)
        inner = [] if below == "." else below.split("/")
        if inner[:1] == ["objects"] or inner[:1] == ["refs"] or inner[:1] == ["logs"]:
            folders.clear()
            continue
        for name in (*folders, *files):
            if not held_in_git([*inner, name]):
                continue
            if name == "hooks":
                yield from _hooks(f"{here}/{name}")
            elif name == "config":
                yield from _settings(f"{here}/{name}")
            elif inner[:1] != ["worktrees"]:
                yield f"it has a `{name}`"
        folders[:] = [name for name in folders if name != "hooks"]


def _hooks(folder: str) -> Iterator[str]:
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        yield "its hooks are elsewhere"
        return
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".sample"):
            yield f"it has a hook `{name}`"


def _settings(path: str) -> Iterator[str]:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        yield "its settings are elsewhere"
        return
    section = ""
    for line in _read(path).splitlines():
        text = line.strip()
        while found := _SECTION.match(text):
            section = found[1].lower() + (f".{found[2]}" if found[2] is not None else "")
            text = text[found.end() :]
        if not text or text[0] in "#;":
            continue
        setting = _SETTING.fullmatch(text)
        if setting is None or text.endswith("\\"):
            yield "its settings can't be read"
            return
        key = f"{section}.{setting[1].lower()}"
        value = (setting[2] or "").strip().strip('"')
        if not _HARMLESS.fullmatch(key):
            yield f"it sets `{key}`"
        elif key.endswith(".url") and ("::" in value or value.startswith("-")):
            yield f"`{key}` runs a program"


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
