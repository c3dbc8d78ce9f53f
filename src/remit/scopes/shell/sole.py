"""The one command of a text that changes files which no word tells: whoever enforces can look what it would change."""

from __future__ import annotations

from typing import NamedTuple

from remit.languages.bash.reading import Touch
from remit.languages.programs.find import as_look
from remit.languages.programs.understand import Act, understand
from remit.model.terms import UNDERSTOOD, UNKNOWN
from remit.scopes.glob import Glob
from remit.scopes.shell.placed import Placed

CHANGES = frozenset(("write", "delete"))
_SEARCHES = frozenset(("find", "ls", "dir", "vdir"))
"""Programs whose output is taken for names of files."""
_IN_ORDER = frozenset(("and", "or", "then", "pipe"))
"""How commands are joined that run once at most, in the order of the text."""


class Sole(NamedTuple):
    """A command, and the directory below the root that it runs in."""

    text: str
    words: tuple[str, ...]
    base: str


def found_files(text: str, cwd: str | None, root: str | None) -> tuple[Glob, ...]:
    """Patterns of all files that the text finds for its commands, if nothing before changes anything; else none.

    In another directory, the same names may be those of files that are not there yet."""
    found = understand(text)
    patterns: dict[str, Glob] = {}
    if len({act.bases for act in found.acts}) != 1:
        return ()
    for act in () if found.problem is not None else found.acts:
        words = [Touch("read", word, word.deep) for word in act.command.words if word.found and word.text is not None]
        words += [touch for touch in act.touches if touch.path.found and touch.path.text is not None]
        if not words and not is_of_odd_names(act):
            if not patterns and (act.grade != UNDERSTOOD or not act.effects <= {"read"}):
                return ()
            continue
        for _, path in Placed(act._replace(touches=tuple(words)), cwd, root).touches:
            if not isinstance(path, Glob):
                return ()
            patterns[path.text] = path
    return tuple(patterns.values())


def sole_search(text: str, cwd: str | None, root: str | None) -> Sole | None:
    """The one `find` of a text that finds files for its commands, as words with which it only prints; else None."""
    found = understand(text)
    searches = [act for act in found.acts if (act.program or "").rpartition("/")[2] in _SEARCHES]
    if found.problem is not None or len(searches) != 1:
        return None
    act = searches[0]
    if act.program != "find" or act.via or act.command.assigns or not act.command.joined <= _IN_ORDER:
        return None
    words = as_look(list(act.command.words[1:]))
    bases = Placed(act, cwd, root).bases
    if words is None or len(bases) != 1 or bases[0] is None or bases[0].startswith(("/", "..")):
        return None
    return Sole(act.command.raw, ("find", *words), bases[0])


def _may_interfere(act: Act) -> bool:
    """In a pipe, it runs at the same time as git before it, and may change what that finds in its store."""
    git = (act.program or "").rpartition("/")[2] == "git"
    return act.grade != UNDERSTOOD or (git and not act.own <= {"read"})


def is_of_odd_names(act: Act) -> bool:
    """A command that only runs if a name that was found has blanks or quotes in it."""
    return any(word.found and word.text is None for word in act.command.words)


def sole_change(text: str, cwd: str | None, root: str | None) -> Sole | None:
    """The only command of the text that changes files, if it says not which, runs once, and nothing before it could
    change what it would do; else None."""
    found = understand(text)
    changing = [at for at, act in enumerate(found.acts) if any(is_open(act, touch) for touch in _changed(act))]
    if found.problem is not None or len(changing) != 1:
        return None
    act = found.acts[changing[0]]
    before, after = found.acts[: changing[0]], found.acts[changing[0] + 1 :]
    words = [word for word in act.command.words if word.text is not None and not word.glob and not word.deep]
    if (
        act.grade == UNKNOWN
        or act.via
        or act.command.assigns
        or act.command.piped_from is not None
        or any(touch.effect in CHANGES for touch in act.redirected)
        or len(words) != len(act.command.words)
        or not all(one.command.joined <= _IN_ORDER and not one.via for one in found.acts)
        or not all(one.grade == UNDERSTOOD and one.effects <= {"read"} for one in before)
        or any(one.grade == UNKNOWN or _changed(one) for one in after)
        or ("pipe" in act.command.joined and any(map(_may_interfere, after)))
    ):
        return None
    bases = Placed(act, cwd, root).bases
    if len(bases) != 1 or bases[0] is None or bases[0].startswith(("/", "..")):
        return None
    return Sole(act.command.raw, tuple(word.text or "" for word in words), bases[0])


def stages_all(act: Act) -> bool:
    """It puts into git's index whatever has changed: `git add -A`, `git commit -am x`."""
    own = act.program == "git" and act.sub[:1] in (("add",), ("stage",), ("commit",))
    return own and any(touch.effect == "read" and _is_whole(touch) for touch in act.touches)


def is_open(act: Act, touch: Touch) -> bool:
    """Which files a command changes there, only who looks can tell: no word says it, or git puts back what a commit has
    of a folder."""
    return touch.implied or (touch.deep and act.program == "git" and act.sub[:1] in (("checkout",), ("restore",)))


def _is_whole(touch: Touch) -> bool:
    return touch.implied or (touch.deep and touch.path.text in (".", "./"))


def shows_changes(act: Act) -> bool:
    """It shows files, and which these are only git knows: `git diff`, `git show HEAD~1`, `git grep x src`."""
    shows = act.sub[:1] in (("diff",), ("show",), ("log",), ("grep",)) or act.sub[:2] == ("stash", "show")
    own = act.program == "git" and shows
    return own and any(touch.effect == "read" and not touch.shows for touch in act.touches)


def git_reads(text: str, cwd: str | None, root: str | None) -> tuple[Sole, ...]:
    """The commands of the text by which git reads what has changed, if nothing before them could change what that is;
    else none."""
    found = understand(text)
    places = [at for at, act in enumerate(found.acts) if stages_all(act) or shows_changes(act)]
    for at, act in enumerate(found.acts[: places[-1] + 1] if places and found.problem is None else ()):
        literal = all(word.text is not None and not word.glob and not word.deep for word in act.command.words)
        adds = act.program == "git" and act.sub[:1] in (("add",), ("stage",))
        calm = act.effects <= {"read"} or ((adds or at == places[-1]) and not act.redirected)
        plain = literal and not act.via and not act.command.assigns and act.command.joined <= _IN_ORDER
        piped = at in places and "pipe" in act.command.joined
        if act.grade != UNDERSTOOD or not calm or (at in places and not plain):
            return ()
        if piped and any(map(_may_interfere, found.acts[at + 1 :])):
            return ()
    soles = []
    for act in (found.acts[at] for at in places) if found.problem is None else ():
        bases = Placed(act, cwd, root).bases
        if len(bases) != 1 or bases[0] is None or bases[0].startswith(("/", "..")):
            return ()
        if bases[0] != "." and stages_all(act):
            return ()
        soles.append(Sole(act.command.raw, tuple(word.text or "" for word in act.command.words), bases[0]))
    return tuple(soles) if len({sole.text for sole in soles}) == len(set(soles)) else ()


def _changed(act: Act) -> list[Touch]:
    return [touch for touch in (*act.touches, *act.redirected) if touch.effect in CHANGES and not touch.store]
