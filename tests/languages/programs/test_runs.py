"""What runs code says which: the text, another command, or code of the workspace, which `project_code: deny` denies."""

from __future__ import annotations

from collections.abc import Iterator

from remit.languages.programs.profiles import Profile, profile_of, programs

SHOWN = frozenset(("program", "command", "shell", "joined", "code", "script", "module", "remote"))
"""Kinds of words by which the text shows what runs."""
ELSEWHERE = (
    "amplify", "ansible-pull", "asdf", "aws-vault", "bazel shutdown", "brew bundle", "cabal install",
    "cpan", "dmypy", "docker", "docker-compose", "docker-machine",
    "dotnet tool", "eb", "gh", "git", "go bug", "go install", "goenv", "helm test", "k3d", "kubectl", "npm bugs",
    "npm docs", "npm home", "npm issues", "npm repo", "npm-home", "nvm", "nx add", "pipenv", "playwright",
    "rlogin", "rustup doc", "sdk", "stack install", "supabase stop", "tmux", "webbrowser", "antigravity", "turtledemo",
    "lesspipe", "perf", "zig", "npx", "bun pm trust",
)  # fmt: skip
"""What they run lies elsewhere: in a container, at a service, in a package that is installed (which asks), in the
system, or in a session that nobody types into. Installing what the project declares is denied as its code is."""


def running(name: str, profile: Profile) -> Iterator[tuple[str, Profile]]:
    """All that execute something and are not said to run code of the workspace."""
    if "execute" in profile.effects and profile.grade != "project" and not profile.lends:
        yield name, profile
    inner = [*profile.sub.items(), *profile.modules.items(), *((("", profile.bare),) if profile.bare else ())]
    for sub, other in inner:
        yield from running(f"{name} {sub}".rstrip(), other)


def shows(profile: Profile) -> bool:
    kinds = [*profile.args, *(option.kind or "" for option in profile.options.values()), profile.any or ""]
    return profile.stdin in ("code", "commands", "sql") or any(kind.removesuffix("...") in SHOWN for kind in kinds)


def test_what_runs_code_shows_it_or_is_code_of_the_workspace() -> None:
    profiles = ((name, profile) for name in programs().programs if (profile := profile_of(name)) is not None)
    found = (pair for name, profile in profiles if profile.special is None for pair in running(name, profile))
    hidden = [name for name, profile in found if not shows(profile)]
    assert not [name for name in hidden if not any(map(_ends(name).__contains__, ELSEWHERE))]
    assert not [one for one in ELSEWHERE if not any(one in _ends(name) for name in hidden)]


def _ends(name: str) -> set[str]:
    """The name of a command in whatever runs it: `pip wheel` of `python -m pip wheel x`, and each of its beginnings."""
    words = name.split()
    return {" ".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1)}
