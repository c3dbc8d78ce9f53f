"""Step 2, second half: what governs the agents, and what Remit keeps, is out of their reach."""

from __future__ import annotations

from collections.abc import Iterator

from remit.decide.case import Case, Objection
from remit.decide.index import ProtectedPaths
from remit.model.terms import UNKNOWN
from remit.model.text import shown
from remit.scopes.glob import Glob, fold
from remit.scopes.glob_syntax import GlobError
from remit.scopes.interface import Unit
from remit.scopes.path import forms, is_outside, relative_to

MAX_GUESSES = 64
Places = tuple[tuple[str, str], ...]
"""Directories, each absolute and as it is written below the root."""
MOVES = frozenset({"cd", "pushd"})


def protected(case: Case) -> Objection | None:
    """Step 2, second half: no agent changes what governs it."""
    paths = case.cell.index.protected
    above = paths.above_root(case.facts.root)
    guarded = tuple((place, relative_to(place, case.facts.root)) for place in case.facts.guarded)
    sealed = _below(case.facts.sealed, case.facts.root)
    moved: list[str] = []
    mover = False
    for unit in case.units:
        if unit.kind == "shell":
            if (unit.value.act.program or "").rpartition("/")[2] == "ln" and any(
                _is_above(paths, path, case.facts.root)
                for touch, path in unit.value.touches
                if path is not None or touch.effect == "read"
            ):
                return case.deny("protected", "a link to a directory with something protected in it")
            reserved = unit.value.act.names & paths.programs if unit.value.act.program is not None else None
            if reserved:
                return case.deny("protected", f"{min(reserved)} is reserved to people")
            if _changes_by_word(paths, unit):
                return case.deny("protected", f"`{shown(unit.text)}` changes what governs git")
            mover = unit.value.act.program in MOVES
        if unit.untold:
            if mover:
                moved += unit.also
            for text in unit.also:
                whole = "/".join((*moved, text))
                told = [guess for guess in guesses(unit, whole) if not (unit.implied and guess.value == ".")]
                if (
                    _could_be_in(text, unit, case)
                    or _could_be_above(whole, unit, case)
                    or any(_is_protected(paths, guess, guarded, lost=True) for guess in told)
                ):
                    why = "may be protected, and its location is unknown; give a path below the root"
                    return case.deny("protected", f"{shown(unit.text)} {why}")
        elif (
            unit.kind == "path"
            and unit.effects
            and (_is_protected(paths, unit, guarded) or _names_above(unit, above) or _changes_sealed(unit, sealed))
            and not (unit.some and _may_miss(paths, unit) and not _names_above(unit, above))
            and not _misses(case, unit)
        ):
            what = "changed" if not unit.effects.isdisjoint(("write", "delete")) else "read"
            return case.deny("protected", f"{shown(unit.text)} is protected and can't be {what} by an agent")
        elif unit.kind == "path" and paths.instructions and unit.effects:
            name = paths.instruction(unit)
            if name is not None and not case.cell.names_file(name):
                reason = (
                    f"{shown(unit.text)} is read to models unasked, so only a rule that names it permits changing it"
                )
                return case.deny("protected", reason)
    return None


def unknown_target(case: Case) -> Unit | None:
    """What the text doesn't tell and might be something protected: a person must look at it.

    Where whoever enforces has looked what the command would change, that counts in its place.
    """
    paths = case.cell.index.protected
    for unit in case.units:
        if case.held is not None and case.held.keeps(unit) and not changed_protected(case, unit):
            continue  # whichever it is, the kernel does not let it be one
        if unit.some and _could_hit(case, unit) and changed_protected(case, unit) != "":
            return unit
        if unit.kind == "path" and unit.arg and unit.wide:  # what a tool always changes is declared
            seen = case.facts.changes.get(unit.value.text)
            hit = paths.may_instruct(unit) if seen is None else paths.instructs(unit, seen)
            if hit and not any(map(case.cell.names_file, paths.instructions)):
                return unit
        if unit.untold != "target" or unit.kind != "path":
            continue
        if not unit.effects.isdisjoint(("write", "delete")):
            if changed_protected(case, unit) != "":
                return unit
        elif case.facts.guarded and not unit.literal:
            return unit
    return None


def changed_protected(case: Case, unit: Unit) -> str | None:
    """The first protected path that the command would change, as whoever enforces has seen; empty if there is none,
    None if nobody has looked."""
    if unit.found:
        changed = case.facts.changes.get(unit.value.text) if unit.wide else None
    else:
        changed = unit.seen
    if changed is None:
        return None
    root, paths = case.facts.root, case.cell.index.protected
    above = paths.above_root(root)
    guarded = tuple((place, relative_to(place, root)) for place in case.facts.guarded)
    sealed = _below(case.facts.sealed, root)
    for path in changed:
        one = Unit("path", unit.arg, path, unit.effects, text=path)
        if _is_protected(paths, one, guarded) or _names_above(one, above) or _changes_sealed(one, sealed):
            return path
    return ""


def _may_miss(paths: ProtectedPaths, unit: Unit) -> bool:
    """Of all that it could touch there is something that is not protected: perhaps it touches only that."""
    return bool(unit.wide) and not paths.reach.includes(unit.value.folded())


def _misses(case: Case, unit: Unit) -> bool:
    """A pattern that the shell replaces by what is there, and as far as anybody saw, none of that is protected."""
    paths, seen = case.cell.index.protected, case.facts.changes.get(unit.value.text) if unit.wide else None
    return seen == () and not unit.untold and not unit.found and paths.only_loosely(unit.value)


def _could_hit(case: Case, unit: Unit) -> bool:
    root = case.facts.root
    sealed = _below(case.facts.sealed, root)
    guarded = tuple((place, relative_to(place, root)) for place in case.facts.guarded)
    return _is_protected(case.cell.index.protected, unit, guarded) or _changes_sealed(unit, sealed)


def _is_protected(paths: ProtectedPaths, unit: Unit, guarded: Places, *, lost: bool = False) -> bool:
    return paths.names_path(unit) or _is_guarded(unit, guarded, lost)


def guesses(unit: Unit, text: str) -> Iterator[Unit]:
    """The paths below the root that a text could mean when nobody knows where it starts: each end of it."""
    segments: list[str] = []
    for part in text.replace('"', "").replace("'", "").split("/"):
        if part == "..":
            del segments[-1:]
        elif part not in ("", "."):
            segments.append(part)
    count = len(segments)
    for start in sorted({0, *range(max(0, count - MAX_GUESSES), count)}):  # what is protected lies in few folders
        path = "/".join(segments[start:]) or "."
        yield Unit("path", unit.arg, path, unit.effects, text=text)


def _could_be_in(text: str, unit: Unit, case: Case) -> bool:
    """An absolute pattern, written behind the directory, that could match what is guarded or sealed, what is in it,
    or, where that is changed or read with all below it, a directory above it."""
    _, absolute, pattern = text.partition("//")
    if not absolute:
        return False
    changes = unit.effects != {"read"}
    places = (*case.facts.guarded, *(case.facts.sealed if changes else ()))
    try:
        glob = Glob.parse(f"/{pattern.rstrip('/')}", absolute=True)
    except GlobError:
        return bool(places)
    tops = [top for place in places for top in (_upwards(place) if changes or unit.sweeps else (place,))]
    return any(map(glob.matches, tops)) or any(Glob.below(place).intersects(glob) for place in places)


def _could_be_above(text: str, unit: Unit, case: Case) -> bool:
    """A folder below somebody's home (`~/.local`), wherever that is, that something guarded or sealed could lie in, and
    that is changed or read with all below it."""
    changes = unit.effects != {"read"}
    segments = text.split("/")
    home = next((index for index, segment in enumerate(segments) if segment[:1] == "~"), None)
    if home is None or not (changes or unit.sweeps):
        return False
    below = [segment for segment in segments[home + 1 :] if segment not in ("", ".")]
    places = (*case.facts.guarded, *(case.facts.sealed if changes else ()))
    return any(".." in below or _has_run(place.strip("/").split("/"), below) for place in places)


def _has_run(parts: list[str], run: list[str]) -> bool:
    """Somewhere behind the first of the parts, one after the other, stand names that match these."""
    from fnmatch import fnmatchcase  # here: few commands name a home directory

    starts = range(1, len(parts) - len(run) + 1)
    return any(all(map(fnmatchcase, parts[start : start + len(run)], run)) for start in starts)


def _names_above(unit: Unit, above: frozenset[str]) -> bool:
    """A path outside the root that is one of the policy's own files, or a directory with one in it."""
    if unit.effects.isdisjoint(("write", "delete")) or not is_outside(unit):
        return False
    if unit.wide:
        return any(unit.value.matches(path) for path in above)
    return any(path == unit.value or path.startswith(unit.value + "/") for path in above)


def _is_guarded(unit: Unit, guarded: Places, lost: bool) -> bool:
    """A path in a directory that nobody may look into, or above it if that is changed; a search sweeps over it.

    Where the text alone doesn't tell the place (`~/x`, `cd $DIR && cat x`), the directory is known by its name.
    """
    changes = not unit.effects.isdisjoint(("write", "delete"))
    from_above = changes or unit.sweeps
    for name, short in guarded:
        if (lost or unit.wide) and any(mark in f"/{unit.text}/" for mark in _marks(name)):
            return True
        if unit.wide:
            if changes and unit.value.absolute and any(unit.value.matches(place) for place in _upwards(name)):
                return True
            continue
        if changes and unit.value == "." and not short.startswith(("/", "..")):
            return True
        for place in (unit.value, *unit.also):
            for own in (name, short):
                if (
                    place == own
                    or place.startswith(own + "/")
                    or (from_above and own.startswith(place.rstrip("/") + "/"))
                ):
                    return True
    return False


def _marks(path: str) -> tuple[str, str]:
    """What a text has in it that names the directory: its own name, or those of the two above it."""
    above, _, own = path.rpartition("/")
    return f"/{own}/", f"/{'/'.join(above.split('/')[-2:])}/"


def _upwards(path: str) -> Iterator[str]:
    """The path, and every directory above it but the topmost."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _below(places: tuple[str, ...], root: str | None) -> tuple[str, ...]:
    """As paths of units are: relative where they lie below the root."""
    return tuple(fold(relative_to(place, root)) for place in places)


def _changes_sealed(unit: Unit, sealed: tuple[str, ...]) -> bool:
    """A change to something sealed, to what is in it, or to a directory that it is in."""
    if unit.effects.isdisjoint(("write", "delete")):
        return False
    if unit.wide:
        glob = unit.value.folded()
        return any(_aims_into(glob, name) or any(map(glob.matches, _upwards(name))) for name in sealed)
    return any(
        form == name or form.startswith(name + "/") or name.startswith(form.rstrip("/") + "/")
        for form in forms(unit)
        for name in sealed
    )


def _aims_into(glob: Glob, name: str) -> bool:
    """A pattern could match something in this directory, and not by wildcards alone: it names the directory."""
    own = name.rpartition("/")[2]
    return glob.aims_at(own) and glob.intersects(Glob.below(name).folded())


def _is_above(paths: ProtectedPaths, path: object, root: str | None) -> bool:
    """A directory with something protected below it, which all above the root have, or a place that nobody can tell."""
    if not isinstance(path, str):
        return path is None
    above = path.startswith("/") and root is not None and f"{fold(root)}/".startswith(f"{fold(path).rstrip('/')}/")
    return above or paths.contains(fold(path))


def _changes_by_word(paths: ProtectedPaths, unit: Unit) -> bool:
    act = unit.value.act
    words = paths.words.get((act.program or "").rpartition("/")[2])
    if not words or (act.grade != UNKNOWN and act.effects.isdisjoint(("write", "delete"))):
        return False
    return any(
        word.text.lower() in words if word.text is not None else any(name in word.raw.lower() for name in words)
        for word in act.command.words
    )
