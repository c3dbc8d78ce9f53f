"""What a `shell:` scope lets happen: the effects that its commands can have, and texts that show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from remit.languages.programs.profiles import Profile, profile_of
from remit.model.terms import EFFECTS

if TYPE_CHECKING:
    from remit.scopes.shell.scope import Run, ShellMatcher

ANY_EFFECT = frozenset(EFFECTS)
SAMPLES = (
    "touch x",
    "rm x",
    "cat x",
    "make",
    "curl https://host.example/x",
    "pip install x",
    "alembic upgrade head",
    "git push",
    "terraform apply",
    "systemctl restart x",
)
"""A text for each effect, to try on a scope that takes any."""


def possible_effects(matcher: ShellMatcher) -> tuple[frozenset[str], bool]:
    """The effects that covered commands can show, and whether they can run project code, which could do anything."""
    effects, project = run_effects(matcher)
    return (effects | {"write"} if matcher.redirect else effects), project


def run_effects(matcher: ShellMatcher, *, on_databases: bool = True) -> tuple[frozenset[str], bool]:
    """The same of the commands without their redirections, and perhaps without what is done to databases by name."""
    if matcher.all:
        return ANY_EFFECT, True
    effects: frozenset[str] = frozenset()
    project = False
    for run in matcher.entries():
        mine, runs = effects_of(run)
        effects |= mine if on_databases or run.databases is None else mine - {"write", "delete"}
        project = project or runs
    return effects, project


def effects_of(run: Run) -> tuple[frozenset[str], bool]:
    """The effects that commands of one entry can show, and whether they can run project code."""
    profile = profile_of(run.program.split()[0])
    if run.anything or profile is None:
        return ANY_EFFECT, True
    effects: set[str] = set()
    project = False
    for leaf in _leaves(profile, run):
        effects |= run.effects if run.effects is not None else set(leaf.effects)
        project = project or leaf.grade == "project" or _runs_scripts(leaf)
    return frozenset(effects), project


def sample_texts(matcher: ShellMatcher) -> list[str]:
    """Texts that the scope may cover."""
    found: list[str] = list(SAMPLES) if matcher.all else []
    for program, runs in matcher.runs.items():
        for run in runs:
            if run.exact is not None:
                found.append(" ".join(run.exact))
                continue
            for sub in run.subs or [()]:
                head = " ".join((program, *sub))
                found.extend((head, f"{head} x"))
            found.extend(f"{program} {target}" for target in sorted(run.targets or ()))
            found.extend(f"{program} -m {module}" for module in sorted(run.modules or ()))
            if run.urls is not None:
                found.extend(f"{program} {pattern.sample()}" for pattern in run.urls)
    return found


def _leaves(profile: Profile, run: Run) -> Iterator[Profile]:
    """The profiles that an entry admits: those of its subcommands, or all."""
    if run.modules is not None:
        yield from (profile.modules.get(name, Profile(grade="project")) for name in run.modules)
        return
    if run.subs is None:
        yield from _below(profile)
        return
    for sub in run.subs:
        found: Profile | None = profile
        for name in sub:
            if found is not None and found.sub:
                found = found.sub.get(name)
        if found is not None:
            yield from _below(found)


def _below(profile: Profile) -> Iterator[Profile]:
    if not profile.sub:
        yield profile
        return
    for sub in profile.sub.values():
        yield from _below(sub)
    if profile.bare is not None:
        yield profile.bare


def _runs_scripts(profile: Profile) -> bool:
    return any(kind.removesuffix("...") in ("script", "module", "command", "target") for kind in profile.args)
