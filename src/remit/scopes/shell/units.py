"""A shell text as units: one for each command that would run, and one for each path and URL that it touches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from remit.languages.bash.reading import Touch, Word
from remit.languages.bash.script import Command
from remit.languages.programs.interpret import AT_HOST
from remit.languages.programs.profiles import profile_of, programs
from remit.languages.programs.understand import Act, understand
from remit.model.pattern import compile_later
from remit.model.terms import PROJECT, UNDERSTOOD, UNKNOWN, Taken
from remit.scopes.glob import Glob
from remit.scopes.interface import Unit
from remit.scopes.shell.hosts import host_in
from remit.scopes.shell.placed import EXPANDED, Placed, folder_of, is_descriptor
from remit.scopes.shell.sole import is_of_odd_names, is_open, shows_changes, stages_all
from remit.scopes.sql.units import checked_statement, may_change_schema, table_units
from remit.scopes.url import Url, UrlError, UrlPattern, any_url, parse_url

LISTERS = frozenset(("find", "fd", "fdfind", "ls", "du", "tree", "stat"))
"""Programs that show the names of what lies below a folder, and nothing that is in it."""
_NAMING = frozenset((("tag",), ("update-ref",), ("replace",), ("fast-import",), ("symbolic-ref",)))
_CARRYING = frozenset((("fetch",), ("pull",), ("push",)))
"""Subcommands of git that can name something else than a commit; the latter, if they say under what name."""
_FOLLOWED = frozenset(("read", "write", "delete", "network"))
"""Effects of commands that bring no files but those that they are known to write."""
_WILD = compile_later(r"[*?\[]")
_SIGN = compile_later(r"[*?\[\]]")
EVERYTHING = Glob.parse("**")
"""What an effect touches whose target the text does not tell; such a unit is also what lies outside the root."""


def named_paths(text: str, cwd: str | None, root: str | None) -> set[str]:
    """The normal paths that a text names: whoever looks at the disk follows these."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts]
    found = [pair for one in placed for pair in (*one.touches, *one.redirected, *one.handed) if pair[1] is not None]
    climbed = {path for one in placed for path in one.climbs(cwd, root)}
    names = {path.base if isinstance(path, Glob) else path for _, path in found if path is not None}
    folders = {folder_of(path) for touch, path in found if touch.effect == "delete" and isinstance(path, str)}
    outside = {path for one in placed for path in one.outside(cwd, root)}
    return (names | folders | climbed | outside) - {"."}


def named_patterns(text: str, cwd: str | None, root: str | None) -> set[Glob]:
    """The patterns and folders of a text among whose matches links matter: whoever looks at the disk looks for some."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts]
    found = [pair for one in placed for pair in (*one.touches, *one.redirected)]
    own = {path for touch, path in found if isinstance(path, Glob) and not path.absolute and touch.links != "none"}
    return own.union(*(one.outside_patterns(cwd, root) for one in placed))


def moved_folders(text: str, cwd: str | None, root: str | None) -> set[tuple[Glob, str]]:
    """Patterns of what a text deletes with a folder, or copies to, each with the folder that tells which files."""
    found: set[tuple[Glob, str]] = set()
    for placed in (Placed(act, cwd, root) for act in understand(text).acts):
        deep = [(touch, path) for touch, path in placed.touches if isinstance(path, Glob) and not path.absolute]
        sources = [path.base for touch, path in deep if touch.effect == "read" and touch.deep]
        for touch, path in deep:
            if touch.effect == "delete" and touch.deep and not touch.path.found:
                found.add((path, path.base))
            elif touch.effect == "write":
                found.update((path, source) for source in sources if source != path.base)
    return found


def taken_for_files(text: str, cwd: str | None, root: str | None) -> list[tuple[str, ...]]:
    """By command of git, what was taken for files by how it looks: if nothing of it is there, these are revisions."""
    found = []
    for act in understand(text).acts:
        touches = tuple(touch for touch in act.touches if touch.path in act.taken)
        placed = Placed(act._replace(touches=touches), cwd, root).touches if touches else ()
        paths = tuple(path.base if isinstance(path, Glob) else path for _, path in placed if path is not None)
        if paths:
            found.append(paths)
    return found


def named_revisions(text: str, cwd: str | None, root: str | None) -> set[tuple[str, str]]:
    """Directories below the root, each with a word that git takes there for a commit."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts if act.revisions]
    pairs = {(base, word.text or "") for one in placed for base in one.bases for word in one.act.revisions}
    return {(base, word) for base, word in pairs if base is not None and not base.startswith("/")}


def local_programs(text: str, cwd: str | None, root: str | None) -> set[str]:
    """Programs that a text takes from the project if they are there: whoever looks at the disk can tell."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts]
    programs = {path for one in placed for paths in one.local_programs() for path in paths}
    return programs.union(*((*one.repositories(), *one.hooks()) for one in placed))


def expanded_patterns(text: str, cwd: str | None, root: str | None) -> set[Glob]:
    """The patterns of a text that bash replaces by what is there, and whose matches are changed: `rm -rf build-*`."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts if act.program in EXPANDED]
    found = [pair for one in placed for pair in one.touches]
    own = (path for touch, path in found if touch.effect != "read" and touch.path.glob and not touch.path.found)
    return {path for path in own if isinstance(path, Glob) and not path.absolute}


def standing_patterns(text: str, cwd: str | None, root: str | None) -> set[Glob]:
    """The patterns of a text that stand for files which are there, and whose matches it changes in place or deletes:
    `sed -i s/a/b/ src/*.py`. Not those for which another command of the text could bring more of them."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts]
    sure: set[Glob] = set()
    other: set[str] = set()
    for at, one in enumerate(placed):
        for touch, path in (*one.touches, *one.redirected):
            if touch.effect == "read" or not isinstance(path, Glob):
                continue
            if _stands(one, touch) and not path.absolute and not _could_bring(placed, at, path):
                sure.add(path)
            else:
                other.add(path.text)
    return {path for path in sure if path.text not in other}


def standing_places(text: str, cwd: str | None, root: str | None) -> set[Glob]:
    """Folders and patterns of which a text reads, deletes or changes in place what is there, where no other command of
    the text could bring more: `grep -rn x src`."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts]
    sure: set[Glob] = set()
    other: set[str] = set()
    for at, one in enumerate(placed):
        for touch, path in one.touches:
            if isinstance(path, Glob) and _is_there(one, touch):
                if path.absolute or _could_bring(placed, at, path):
                    other.add(path.text)
                else:
                    sure.add(path)
    return {path for path in sure if path.text not in other}


def _is_there(placed: Placed, touch: Touch) -> bool:
    """What the command touches there is there before, on the disk, and more of it than its name."""
    if touch.taken or touch.shows or (touch.effect == "read" and placed.act.from_store):
        return False
    return touch.effect != "write" or _works_in_place(placed.act)


def _stands(placed: Placed, touch: Touch) -> bool:
    """A word of the command that bash replaces by what is there, and that the command changes as it is, or deletes."""
    act, path = placed.act, touch.path
    in_place = act.program in EXPANDED if touch.effect == "delete" else _works_in_place(act)
    own = any(word.glob and not word.found and word.text == path.text for word in act.command.words)
    return in_place and own and path.glob and not (path.found or path.some or path.deep or touch.nested)


def _works_in_place(act: Act) -> bool:
    profile = profile_of(act.program or "")
    return profile is not None and profile.in_place


def _could_bring(acts: list[Placed], at: int, pattern: Glob) -> bool:
    """A file that the pattern matches may be there only once another command of the text has run."""
    for one in acts[:at] if all(map(_in_order, acts)) else [*acts[:at], *acts[at + 1 :]]:
        if one.act.grade != UNDERSTOOD or not one.act.effects <= _FOLLOWED:
            return True
        for touch, path in (*one.touches, *one.redirected):
            if touch.effect != "write" or (one is acts[at] and _stands(one, touch)):
                continue
            if path is None or any(glob.intersects(pattern) for glob in _at_and_below(path)):
                return True
    return False


def _at_and_below(path: str | Glob) -> tuple[Glob, ...]:
    if isinstance(path, Glob):
        return (path,)
    return () if path.startswith("/") else (Glob.literal(path), Glob.below(path))


def changed_patterns(text: str, cwd: str | None, root: str | None) -> set[Glob]:
    """The patterns below the root whose matches a text changes: whoever looks at the disk can tell which there are."""
    placed = [Placed(act, cwd, root) for act in understand(text).acts]
    found = [pair for one in placed for pair in (*one.touches, *one.redirected)]
    own = (path for touch, path in found if touch.effect != "read" and not touch.path.found)
    return {path for path in own if isinstance(path, Glob) and not path.absolute}


def shell_units(
    name: str,
    text: str,
    cwd: str | None,
    root: str | None,
    schema: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
    *,
    installed: frozenset[str] = frozenset(),
    files: frozenset[str] | None = None,
    objects: frozenset[str] = frozenset(),
    new_shell: bool = False,
    plain_names: bool = False,
    changes: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    there: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> list[Unit]:
    """The units of a text; never empty. A text that can't be read is one command that is not understood.

    `files`: of the paths that the text names, those that are there and no folders; None where nobody has looked.
    `plain_names`: whoever enforces has seen that no name that the text finds has blanks or quotes in it.
    """
    found = understand(text, new_shell=new_shell)
    if found.problem is not None:
        lost = Act(None, (), frozenset(), frozenset(), frozenset(), UNKNOWN, Command(()), unknown=(found.problem,))
        return [Unit("shell", name, Placed(lost, cwd, root), text=text, grade=UNKNOWN)]
    units: list[Unit] = []
    acts = [act for act in found.acts if not (plain_names and is_of_odd_names(act))]
    all_placed = [Placed(act, cwd, root, links, installed) for act in acts]
    if installed:
        gone = _changed_programs(all_placed, installed)
        all_placed = [Placed(act, cwd, root, links, installed - gone) for act in acts] if gone else all_placed
    _pass_through(all_placed)
    _own_repositories(all_placed)
    replaced = [_replaced(placed, files) for placed in all_placed] if files else []
    for at, placed in enumerate(all_placed):
        act = placed.act
        stand = files.difference(*replaced[:at], *replaced[at + 1 :]) if files else files
        if schema and act.statements:
            act = placed.act = _checked(
                placed, schema, alone=all(_only_reads(one) for one in found.acts if one is not act)
            )
        raw = act.command.raw
        grade = UNKNOWN if any(statement.strange for statement in act.statements) else act.grade
        units.append(Unit("shell", name, placed, act.effects, text=raw, grade=grade))
        declared = 0 if act.declared is None else len(placed.touches)
        seen = changes.get(raw)
        shown = seen is not None and shows_changes(act)
        if seen is not None and (shown or stages_all(act)):
            units.extend(_read_by_git(name, one) for one in seen)
        alone = seen is not None and sum(one.act.command.raw == raw for one in all_placed) == 1
        for place, (touch, path) in enumerate((*placed.touches, *placed.redirected)):
            whole = touch.implied if path is None else path == EVERYTHING
            staged = seen is not None and whole and stages_all(act)
            path, taken = _of_file(touch, path, stand, in_place=_works_in_place(act))
            told = shown and place < len(placed.touches) and not isinstance(path, str)
            if touch.effect == "read" and (told or staged):
                if isinstance(path, Glob) and not touch.path.glob and path.base != ".":
                    units.append(_itself(name, touch, path.base))
                continue
            unit = _touched(name, placed, touch, path, taken=taken, declared=place < declared)
            if isinstance(path, Glob) and place < len(placed.touches) and _is_there(placed, touch):
                unit = msgspec.structs.replace(unit, seen=there.get(path.text))
            units.append(
                msgspec.structs.replace(unit, seen=seen)
                if alone and touch.effect != "read" and is_open(act, touch)
                else unit
            )
            if isinstance(path, Glob) and not touch.path.glob and path.base != ".":
                units.append(_itself(name, touch, path.base))
        units.extend(_handed(name, placed))
        named = act.revisions and any(_names_objects(one) for one in acts if one is not act)
        if named or any(word.text in objects for word in act.revisions):
            units.append(_touched(name, placed, Touch("read", Word(None, "")), None, taken="", declared=False))
        for statement in act.statements:
            units.extend(table_units(name, statement))
        units.extend(_reached(name, act))
        units.extend(_aimed(name, act))
    if not units:
        units.append(Unit("call", "", "", text=text))
    return units


def _of_file(
    touch: Touch, path: str | Glob | None, files: frozenset[str] | None, *, in_place: bool
) -> tuple[str | Glob | None, Taken]:
    """All below a place that a command is told and reads, deletes or changes in place: the place alone where something
    stands that is no folder. Where nobody has looked, a name may say that it is a file: then it is still all below."""
    told = isinstance(path, Glob) and (touch.effect != "write" or in_place) and not (touch.path.glob or touch.path.deep)
    if not told or not isinstance(path, Glob) or path != Glob.below(path.base):
        return path, touch.taken
    if files is None:
        ends = programs().files
        looks = touch.effect == "read" and (touch.path.text or "").endswith(ends) and path.base.endswith(ends)
        return path, "file" if looks else touch.taken
    return path.base if path.base in files else path, touch.taken


def _replaced(placed: Placed, files: frozenset[str]) -> frozenset[str]:
    """Of the files that are there, those that a command may put a folder in place of."""
    found: set[str] = set()
    for touch, path in (*placed.touches, *placed.redirected):
        lays = touch.effect == "write" and not (isinstance(path, str) or _works_in_place(placed.act))
        if touch.effect == "delete" or lays:
            if path is None:
                return files
            found.update(file for file in files if _holds(path, file))
    return frozenset(found)


def _own_repositories(acts: list[Placed]) -> None:
    """Git where another command of the text may make a repository that is not called `.git`."""
    others = [placed for placed in acts if not placed.repositories() and placed.act.program != "mkdir"]
    pairs = [pair for placed in others for pair in (*placed.touches, *placed.redirected)]
    written = [path for touch, path in pairs if touch.effect == "write" and path is not None]
    for placed in acts if written else ():
        heads = [above for head in placed.repositories() for above in _heads_above(head)]
        if any(_holds(path, head) for path in written for head in heads):
            placed.in_own_repository()


def _heads_above(head: str) -> Iterator[str]:
    """The same file in each folder above, up to the root: git looks for a repository there too."""
    folder = head.rpartition("/")[0]
    while folder and folder != "/":
        yield f"{folder}/HEAD"
        folder = folder.rpartition("/")[0]


def _names_objects(act: Act) -> bool:
    """It may give something of git's store a name, which another command of the text then takes for a commit."""
    if (act.program or "").rpartition("/")[2] != "git" or act.own <= {"read"}:
        return False
    words = [word.text for word in act.command.words[1:]]
    carries = any(text is None or (":" in text and "://" not in text) for text in words)
    return act.sub[:1] in _NAMING or (act.sub[:1] in _CARRYING and carries)


def _changed_programs(acts: list[Placed], installed: frozenset[str]) -> frozenset[str]:
    """Of the programs that are there, those that the text itself may delete, move or replace."""
    touched = [pair for placed in acts for pair in (*placed.touches, *placed.redirected)]
    of_git = {path for placed in acts for path in (*placed.repositories(), *placed.hooks())}
    installed = installed - of_git  # what git finds there is worse than if it finds nothing
    if any(touch.effect == "delete" and path is None for touch, path in touched):
        return installed
    changed = [path for touch, path in touched if touch.effect != "read" and path is not None]
    return frozenset(program for program in installed if any(_holds(path, program) for path in changed))


def _holds(path: str | Glob, program: str) -> bool:
    """The path is the program's, or that of a folder that it is in."""
    parts = program.split("/")
    names = ("/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return any(path == name if isinstance(path, str) else path.matches(name) for name in names)


def _pass_through(acts: list[Placed]) -> None:
    """Links that one command of a text makes, or brings, are there for the others, unless these surely ran before."""
    brought = [placed.brought() for placed in acts]
    for index, placed in enumerate(acts):
        others = [
            glob
            for at, globs in enumerate(brought)
            if at != index and not (index < at and _in_order(placed) and _in_order(acts[at]))
            for glob in globs
        ]
        if others:
            placed.pass_through(others)


def _in_order(placed: Placed) -> bool:
    """It runs at most once, after what stands before it in the text has ended, and ends before what follows."""
    return not placed.act.via and placed.act.command.joined <= {"and", "or", "then"}


def _touched(name: str, placed: Placed, touch: Touch, path: str | Glob | None, *, taken: Taken, declared: bool) -> Unit:
    """The unit of one path that a command touches.

    INVARIANT: here alone a target that the text does not tell becomes everything that it could be.
    """
    effects = frozenset({touch.effect})
    if touch.shows and isinstance(path, Glob):
        path = _nameless(path)
    if path is not None:
        also = (placed.spelled[path],) if isinstance(path, str) and path in placed.spelled else ()
        return Unit(
            "path",
            name,
            path,
            effects,
            wide=isinstance(path, Glob),
            also=also,
            text=touch.path.raw,
            derived=True,
            some=touch.some,
            found=touch.path.found,
            sweeps=touch.deep and isinstance(path, str) and placed.act.program not in LISTERS,
            nested=touch.nested,
            declared=declared,
            itself=touch.shows == "itself" and touch.effect != "read",
            taken=taken,
        )
    told = touch.path.text
    if touch.store and None not in placed.act.bases:
        told = "/"  # some other repository
    starts = ("~/", "/") if placed.lost else ("~/", "/", "../")  # from where nobody knows, `../x` may be in the root
    outside = told is not None and told != "~" and f"{told}/".startswith(starts)
    placeless = outside and not is_descriptor(told or "", touch.effect)
    text = touch.path.raw or placed.act.command.raw
    return Unit(
        "path",
        name,
        EVERYTHING,
        effects,
        wide=True,
        also=placed.written(touch),
        text=text,
        derived=True,
        untold="place" if placeless else "target",
        sweeps=touch.deep and placed.act.program not in LISTERS,
        implied=touch.implied,
        literal=touch.path.text is not None or touch.implied or touch.shows == "itself",
    )


def _nameless(path: Glob) -> str | Glob:
    """What is read where only the names are that a pattern matches: an entry of the folder, whatever it is called.

    The pattern stands for it as a name. That lies in what holds all that the pattern could match, and in nothing that
    is about some of it: `ls src` is no read of `**/*.pem`."""
    folder, slash, last = path.text.rpartition("/")
    if path.absolute or "{" in path.text or "**" in path.text:
        return path
    if not _WILD.search(folder):
        return path.text
    name = _SIGN.sub(lambda found: f"[{found[0]}]", last)
    return Glob.parse(f"{folder}{slash}{name}").loosened()


def _read_by_git(name: str, path: str) -> Unit:
    """A file that git would show, or put into its index, as whoever enforces has seen."""
    return Unit("path", name, path, frozenset({"read"}), text=path, derived=True)


def _handed(name: str, placed: Placed) -> Iterator[Unit]:
    """Arguments of code of the project that may be paths below the root, or outside: it may read and write these."""
    for touch, path in placed.handed if placed.act.grade == PROJECT else ():
        if isinstance(path, str) and path != ".":
            also = (placed.spelled[path],) if path in placed.spelled else ()
            effects = frozenset(("read", "write"))
            yield Unit("path", name, path, effects, also=also, text=touch.path.raw, derived=True, taken="argument")


def _itself(name: str, touch: Touch, path: str) -> Unit:
    """What all lies below: the text doesn't tell whether it is a folder, and if it is a file, that is what changes."""
    effects = frozenset({touch.effect})
    return Unit("path", name, path, effects, text=touch.path.raw, derived=True, itself=True)


def named_databases(text: str, cwd: str | None, root: str | None) -> set[str]:
    """The files of SQLite databases that a text runs SQL on: whoever looks at the disk reads their schemas."""
    found = [Placed(act, cwd, root) for act in understand(text).acts if act.statements]
    return {name for placed in found if (name := _sqlite_database(placed)) is not None}


def _sqlite_database(placed: Placed) -> str | None:
    """The one database file that a command of SQLite's shell works on."""
    names = [name for _, name in placed.databases]
    return names[0] if placed.act.program in ("sqlite3", "sqlite") and len(names) == 1 else None


def _only_reads(act: Act) -> bool:
    return act.grade != UNKNOWN and act.effects <= {"read"}


def _checked(placed: Placed, schema: Mapping[str, str], *, alone: bool) -> Act:
    """The act with a second look at its statements by SQLite itself, where the schema of its database is known.

    If it is not the only command of the text that does anything, the schema may be another one by then."""
    act = placed.act
    known = schema.get(_sqlite_database(placed) or "")
    if known is None:
        return act
    statements = []
    for statement in act.statements:
        statements.append(checked_statement(statement, "sqlite", known, current=alone))
        alone = alone and not may_change_schema(statement)
    unknown = tuple(reason for statement in statements for reason in statement.unknown)
    grade = UNKNOWN if unknown else act.grade
    return act._replace(statements=tuple(statements), unknown=(*act.unknown, *unknown), grade=grade)


def _reached(name: str, act: Act) -> Iterator[Unit]:
    """The URLs that a command reaches. One that the text doesn't tell, or that is no URL, could be any."""
    network, raw = frozenset({"network"}), act.command.raw
    untold = False
    for word in (*act.urls, *act.hosts):
        if word.text is not None:
            found = _addresses(word)
            yield from (Unit("url", name, url, network, text=raw, derived=True) for url in found)
            untold = untold or (not found and word in act.urls)
        elif (pattern := _on_host(word)) is not None:
            yield Unit("url", name, pattern, network, wide=True, text=raw, derived=True)
        else:
            untold = True
    if untold:
        yield Unit("url", name, any_url(), network, wide=True, text=raw, derived=True, untold="target")


def _aimed(name: str, act: Act) -> Iterator[Unit]:
    """Hosts, branches and contexts that a command works on; one that the text doesn't tell could be any."""
    network = frozenset({"network"})
    for word in act.hosts:
        host = None if word.text is None else host_in(word.text)
        yield Unit("host", name, host or "", network, wide=host is None, text=word.raw, derived=True)
    effects = act.own - {"read"} or act.own
    for kind, words in (("branch", act.branches), ("context", act.contexts)):
        for word in words:
            yield Unit(kind, name, word.text or "*", effects, wide=word.text is None, text=word.raw, derived=True)


def _on_host(word: Word) -> UrlPattern | None:
    """All that a URL could be of which the text tells the host: `"https://x.example/$page"`; None for any other."""
    if word.text is not None or not AT_HOST.match(word.start or ""):
        return None
    scheme, _, rest = (word.start or "").partition("://")
    try:
        return UrlPattern.parse(f"{scheme}://{rest.partition('/')[0]}/**?*")
    except UrlError:
        return UrlPattern.parse(f"{scheme}://**/**?*")


def _addresses(word: Word) -> list[Url]:
    """The URLs that a word may mean: itself, or without a scheme (`example.com/x`, `host:path`) each likely one."""
    text = word.text or ""
    host, colon, path = text.partition(":")
    texts = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    if colon and "://" not in text:
        texts.append(f"ssh://{host.rpartition('@')[2]}/{path.lstrip('/')}")
    found = []
    for candidate in texts:
        try:
            found.append(parse_url(candidate))
        except UrlError:
            continue
    return found
