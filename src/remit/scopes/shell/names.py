"""Names in a `shell:` scope that the catalog does not have: most are slips, and then the rule would do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from remit.languages.programs.derived import CLUSTER_KINDS, resources
from remit.languages.programs.meta import meta_of
from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.model.terms import EFFECTS
from remit.model.text import near_miss, shown
from remit.scopes.interface import Misnamed
from remit.scopes.url import unknown_schemes

_JOINERS = frozenset(("&&", "||", ";", "|", "&"))


def misnamed(scope: Any) -> Iterator[Misnamed]:
    """Programs, subcommands and options that nothing known has."""
    data = scope if isinstance(scope, dict) else {}
    yield from _closed("set of commands", _several(data.get("sets")), programs().sets)
    paths = data.get("path")
    yield from _closed("effect", paths if isinstance(paths, dict) else (), EFFECTS)
    for name in _several(data.get("redirect")):
        if name != "devnull" and near_miss(str(name), ("devnull",)) is not None:
            yield Misnamed(f"`{shown(name)}` is no place to redirect to", "devnull", name=str(name))
    runs = data.get("run", ())
    if not runs and not data.get("sets"):
        so = "name programs in `run`, or write `run: any`"
        yield Misnamed("the `shell` scope names no command", None, so, fatal="prohibition")
    for entry in runs if isinstance(runs, (list, tuple)) else ():
        if isinstance(entry, dict):
            for name, limits in entry.items():
                yield from _entry(str(name), limits)
        else:
            yield from _entry(str(entry), None)
    for name in _several(data.get("filters")):
        yield from _entry(str(name), None)


def _several(value: Any) -> Iterable[Any]:
    """The texts of a key that takes one or several."""
    return (value,) if isinstance(value, str) else value or ()


def _closed(what: str, names: Iterable[Any], known: Iterable[str]) -> Iterator[Misnamed]:
    """Those of a vocabulary that nobody adds to: a rule with another would do nothing."""
    known = sorted(known)
    for name in names:
        if name not in known:
            near = near_miss(str(name), known, cutoff=0.7, least=3)
            there = f"there is {', '.join(known)}"
            yield Misnamed(f"there is no {what} `{shown(name)}`", near, there, fatal="always", name=str(name))


def _entry(text: str, limits: Any) -> Iterator[Misnamed]:
    words = text.split()
    if not words or text in ("any", "project_code") or "/" in words[0]:
        return
    if not _JOINERS.isdisjoint(words):
        so = "name each in `run`, and in `joined_by` how they may be joined, such as [and, pipe]"
        yield Misnamed(f"`{shown(text)}` is more than one command", None, so, fatal="always", name=text)
        return
    profile = profile_of(words[0])
    if profile is None:
        near = near_miss(words[0], (*programs().programs, *programs().aliases))
        if near is not None:
            so = "write its whole path if it is called so"
            yield Misnamed(f"no program `{shown(words[0])}` is known", near, so, name=text)
        elif not (isinstance(limits, dict) and limits.get("unsafe_any_arguments")):
            so = f"only exactly `{shown(text)}` is admitted, and as it could do anything, it is of the highest tier"
            yield Misnamed(f"the catalog does not know `{shown(words[0])}`", None, so, name=text)
        return
    data = limits if isinstance(limits, dict) else {"sub": limits}
    if data.get("unsafe_any_arguments"):
        return
    if len(words) > 1:
        yield from (found._replace(name=text) for found in _command(words[0], profile, words[1:]))
    for sub in _several(data.get("sub")):
        if not (profile.sub or profile.any or words[0] == "make"):
            so = f'write "{words[0]} {shown(sub)}" for exactly that, or `{words[0]}` for all that it may be given'
            if profile.modules and str(sub).startswith("-m "):
                so = f"write {words[0]}: {{module: [{shown(str(sub).split()[1])}]}}"
            yield Misnamed(f"{words[0]} has no subcommands", None, so, fatal="always", name=str(sub))
            continue
        for found in _subcommand(words[0], profile, str(sub).split()):
            yield found._replace(name=str(sub))
    for name in _several(data.get("meta")):
        commands = programs().metas.get(words[0], {})
        if commands and meta_of(words[0], str(name))[1] is None:
            yield Misnamed(f"{words[0]} has no command `{shown(name)}`", near_miss(str(name), commands), name=str(name))
    yield from unknown_schemes(map(str, _several(data.get("url"))))
    for option in _several(data.get("options")):
        yield from _option(words[0], profile, str(option))


def _option(program: str, profile: Profile, option: str) -> Iterator[Misnamed]:
    known, name = _options(profile), option.partition("=")[0]
    if name not in known and f"-{name}" not in known:
        near = near_miss(name, known)
        yield Misnamed(f"the catalog has no option `{shown(name)}` of {program}", near, name=option)


def _command(program: str, profile: Profile, words: list[str]) -> Iterator[Misnamed]:
    """A command line: its subcommands, and long options that are nearly known."""
    subs, found = 0, profile
    while subs < len(words) and not words[subs].startswith("-") and words[subs] in found.sub:
        subs, found = subs + 1, found.sub[words[subs]]
    yield from _subcommand(program, profile, [*words[:subs], *(words[subs : subs + 1] if found.sub else ())])
    for word in words[subs:]:
        if word.startswith("--"):
            yield from (one for one in _option(program, profile, word) if one.near is not None)


def _subcommand(program: str, profile: Profile, words: list[str]) -> Iterator[Misnamed]:
    so_far, found = program, profile
    for word in words:
        if not found.sub:
            yield from _behind(program, so_far, found, word)
            return
        if word.startswith("-"):
            continue
        inner = found.sub.get(word)
        if word == "*":
            so = f"no `*` stands for subcommands: write `{so_far}` for all that is understood of it, or name them"
            yield Misnamed(f"`{so_far} *` names no command", None, so, fatal="always")
            return
        if inner is None:
            if found.any is None:
                near = near_miss(word, found.sub, cutoff=0.75, least=2)
                yield Misnamed(f"the catalog has no `{so_far} {shown(word)}`", near)
            return
        so_far, found = f"{so_far} {word}", inner


def _behind(program: str, so_far: str, profile: Profile, word: str) -> Iterator[Misnamed]:
    """A word behind the last subcommand: a script, or what kubectl works on; no other is compared with anything."""
    kinds = {
        kind.removesuffix("...") for args in (profile.args, *(args for _, args in profile.args_with)) for kind in args
    }
    if not kinds.isdisjoint(("resource", "thing")):
        yield from _resources(word)
    elif "target" not in kinds and profile.grade != "project":
        sub = so_far.removeprefix(f"{program} ")
        so = f"write `{sub}` for all of it, or the whole command as an entry of `run`"
        yield Misnamed(
            f"`{so_far}` is a subcommand; `{shown(word)}` behind it is compared with nothing", None, so, "always"
        )


def _resources(word: str) -> Iterator[Misnamed]:
    """A cluster may know kinds of its own; one that is nearly a kind of every cluster is a slip."""
    for written, name in zip(word.split(","), resources(word), strict=True):
        near = None if name in CLUSTER_KINDS else near_miss(name, CLUSTER_KINDS) or _near_plural(written)
        if near is not None:
            yield Misnamed(f"kubectl knows no kind `{shown(written)}`", near)


def _near_plural(word: str) -> str | None:
    """`pods` for `pds`, which without its ending is too short to tell: three letters that begin and end alike."""
    near = near_miss(word, (f"{kind}s" for kind in CLUSTER_KINDS), least=3)
    return near if near is not None and word.endswith("s") and near[0] == word[0] else None


def _options(profile: Profile) -> set[str]:
    found = set(profile.options)
    for sub in (*profile.sub.values(), *((profile.bare,) if profile.bare is not None else ())):
        found |= _options(sub)
    return found
