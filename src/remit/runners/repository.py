"""A repository, looked at before git runs in it: what its own settings say could run programs or lead elsewhere.

Settings of the machine and of the user don't count for runners, and the dangerous ones that have one name are
overridden (`catalog/runners.yaml`). The rest have names of their own (`filter.x.clean`, `alias.x`, `remote.x.vcs`): a
repository that contains any setting which is not known to be harmless is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from remit.confine.process import Bounds, Finished, run_process
from remit.languages.programs.profiles import profile_of
from remit.model.text import shown
from remit.runners.errors import RunnerError
from remit.runners.settings import runner_settings

_BOUNDS = Bounds(seconds=20.0, bytes=8_000_000)
_OWN = frozenset(("local", "worktree"))
_MODULE = "160000"
"""The mode of a submodule in the index."""
_MAX_MODULES = 200


def check_repository(
    program: str,
    directory: Path,
    environment: Mapping[str, str],
    *,
    remotes: Mapping[str, str] | None = None,
    unsafe_settings: Iterable[str] = (),
) -> None:
    """Raises RunnerError for a repository whose settings could run programs, or whose remotes are not those given."""
    look = _Look(program, environment, tuple(unsafe_settings))
    settings = look.settings(directory)
    git = runner_settings().git
    overridden = tuple(key.casefold() for key in git.settings) + git.overrides
    look.check(settings, overridden, "the repository")
    _check_remotes(settings, remotes)
    for path in look.modules(directory):
        if os.path.lexists(directory / path / ".git"):  # otherwise nobody has checked it out
            inside = look.settings(directory / path)
            look.check(inside, git.harmless_in_submodules, f"the submodule {shown(path, 200)}")


class _Look:
    def __init__(self, program: str, environment: Mapping[str, str], unsafe: tuple[str, ...]) -> None:
        self._program, self._environment = program, environment
        profile = profile_of("git")
        known = profile.settings if profile is not None else ()
        self._harmless = (*known, *runner_settings().git.harmless, *(one.casefold() for one in unsafe))

    def settings(self, directory: Path) -> list[tuple[str, str]]:
        """What the repository of a directory says, with the files that it includes. Raises RunnerError without one."""
        there = self._git(directory, "rev-parse", "--git-dir")
        if not there.ok:
            said = shown(there.err.strip().partition("\n")[0], 300)
            raise RunnerError(f"git finds no repository that it may use: {said}", code="no-repository")
        found = self._git(directory, "config", "--list", "--null", "--show-scope", "--includes")
        if not found.ok or found.truncated:
            raise RunnerError("the settings of the repository can't be read")
        parts = found.out.split("\0")
        if len(parts) % 2 != 1:
            raise RunnerError("the settings of the repository can't be read")
        pairs = zip(parts[0::2], parts[1::2], strict=False)
        return [_pair(one) for scope, one in pairs if scope in _OWN]

    def check(self, settings: Iterable[tuple[str, str]], also: tuple[str, ...], where: str) -> None:
        """Raises RunnerError for a setting that is not known to be harmless."""
        harmless = (*self._harmless, *also)
        for key, _ in settings:
            if not any(fnmatchcase(key.casefold(), pattern) for pattern in harmless):
                what = f"the setting `{shown(key)}` of {where} can run a program or lead elsewhere"
                help = f'remove it, or admit it: GitRunner(…, unsafe_settings=["{shown(key)}"])'
                raise RunnerError(what, code="repository-refused", help=help)

    def modules(self, directory: Path) -> list[str]:
        """Where submodules lie: git runs in them when it compares, and there no setting is overridden."""
        found = self._git(directory, "ls-files", "--stage", "-z", "--full-name", "--", ":/")
        if found.truncated or not found.ok:
            why = "there are too many" if found.truncated else shown(found.err.strip().partition("\n")[0], 200)
            raise RunnerError(f"the files of the repository can't be listed: {why}", code="repository-refused")
        paths = [line.partition("\t")[2] for line in found.out.split("\0") if line.startswith(_MODULE)]
        if len(paths) > _MAX_MODULES:
            raise RunnerError(f"the repository has more than {_MAX_MODULES} submodules", code="repository-refused")
        if not paths:
            return []
        top = self._git(directory, "rev-parse", "--show-cdup")
        if not top.ok:
            raise RunnerError("the repository does not tell where it begins", code="repository-refused")
        return [str(Path(top.out.strip() or ".") / path) for path in paths]

    def _git(self, directory: Path, *words: str) -> Finished:
        return run_process(
            ("git", *words),
            program=self._program,
            directory=directory,
            environment=self._environment,
            bounds=_BOUNDS,
            alone=True,  # none of these starts anything
        )


def _check_remotes(settings: Iterable[tuple[str, str]], remotes: Mapping[str, str] | None) -> None:
    if remotes is None:
        return
    for key, value in settings:
        section, _, rest = key.partition(".")
        name, _, last = rest.rpartition(".")
        if section == "remote" and last in ("url", "pushurl") and value != remotes.get(name):
            raise RunnerError(f"the remote `{shown(name)}` leads to an address that nobody gave", code="remote-changed")


def _pair(entry: str) -> tuple[str, str]:
    key, _, value = entry.partition("\n")
    return key, value
