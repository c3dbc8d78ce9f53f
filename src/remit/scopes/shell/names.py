"""Names in a `shell:` scope that the catalog does not have: most are slips, and then the rule would do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.model.text import near_miss, shown
from remit.scopes.interface import Misnamed


def misnamed(scope: Any) -> Iterator[Misnamed]:
    """Programs, subcommands and options that nothing known has."""
    data = scope if isinstance(scope, dict) else {}
    runs = data.get("run", ())
    if not runs and not data.get("sets"):
        so = "name programs in `run`, or write `run: any`"
        yield Misnamed("the `shell` scope names no command", None, so, nothing=True)
    for entry in runs if isinstance(runs, (list, tuple)) else ():
        if isinstance(entry, dict):
            for name, limits in entry.items():
                yield from _entry(str(name), limits)
        else:
            yield from _entry(str(entry), None)
    filters = data.get("filters", ())
    for name in (filters,) if isinstance(filters, str) else filters:
        yield from _entry(str(name), None)


def _entry(text: str, limits: Any) -> Iterator[Misnamed]:
    words = text.split()
    if not words or text in ("any", "project_code") or "/" in words[0]:
        return
    profile = profile_of(words[0])
    if profile is None:
        near = near_miss(words[0], (*programs().programs, *programs().aliases))
        if near is not None:
            yield Misnamed(f"no program `{shown(words[0])}` is known", near, "write its whole path if it is called so")
        elif not (isinstance(limits, dict) and limits.get("unsafe_any_arguments")):
            so = f"only exactly `{shown(text)}` is admitted, and as it could do anything, it is of the highest tier"
            yield Misnamed(f"the catalog does not know `{shown(words[0])}`", None, so)
        return
    data = limits if isinstance(limits, dict) else {"sub": limits}
    if data.get("unsafe_any_arguments"):
        return
    subs = [words[1:]] if len(words) > 1 else []
    wanted = data.get("sub") or ()
    subs += [str(sub).split() for sub in ((wanted,) if isinstance(wanted, str) else wanted)]
    for sub in subs:
        yield from _subcommand(words[0], profile, sub)
    options = data.get("options") or ()
    known = _options(profile)
    for option in (options,) if isinstance(options, str) else options:
        name = str(option).partition("=")[0]
        if name not in known and f"-{name}" not in known:
            near = near_miss(name, known)
            yield Misnamed(f"the catalog has no option `{shown(name)}` of {words[0]}", near)


def _subcommand(program: str, profile: Profile, words: list[str]) -> Iterator[Misnamed]:
    so_far, found = program, profile
    for word in words:
        if not found.sub:
            return
        if word.startswith("-"):
            continue
        inner = found.sub.get(word)
        if inner is None:
            if found.any is None:
                near = near_miss(word, found.sub, cutoff=0.75, least=3)
                yield Misnamed(f"the catalog has no `{so_far} {shown(word)}`", near)
            return
        so_far, found = f"{so_far} {word}", inner


def _options(profile: Profile) -> set[str]:
    found = set(profile.options)
    for sub in (*profile.sub.values(), *((profile.bare,) if profile.bare is not None else ())):
        found |= _options(sub)
    return found
