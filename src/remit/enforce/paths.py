"""Looking up where paths really lead, before a decision that itself never touches the disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from remit.decide.grid import grid_of
from remit.enforce.errors import GuardError
from remit.enforce.refusal import own_places
from remit.model.call import Call
from remit.model.errors import RemitError
from remit.model.facts import HOME, Facts
from remit.model.policy import Argument
from remit.model.rulebook import Rulebook
from remit.scopes.interface import Kind, Unit
from remit.scopes.kinds import kind_of
from remit.scopes.path import relative_to

if TYPE_CHECKING:
    from pathlib import Path

CHANGES = frozenset(("write", "delete"))
MAX_PATHS = 10_000
MAX_READS = 4
"""Commands of one call that git is asked about by what they read; further ones are judged by their text."""
MAX_DATABASES = 4
MAX_PLACES = 8
MAX_THERE = 2_000
"""Folders and patterns of one call that are looked at, and names below one: where there are more, any could be."""


def open_root(root: Path | None, policy: Path, facts: Facts, *, policy_root: str = ".") -> tuple[Path, Facts]:
    """The root to judge paths against, and facts that know it. Raises RemitError for a root that is a file."""
    from pathlib import Path  # here: `look_up` alone does without

    chosen = root if root is not None else policy.parent / policy_root
    absolute = Path(os.path.abspath(chosen))
    if absolute.exists():
        if not absolute.is_dir():
            raise RemitError(f"the root {absolute} is not a directory", code="bad-root")
        real = Path(os.path.realpath(absolute))
        return real, msgspec.structs.replace(facts, root=str(real), resolved={})
    note = "the root does not exist: paths are judged by their text"
    return absolute, msgspec.structs.replace(facts, root=str(absolute), notes=(*facts.notes, note))


def facts_at(root: Path, state: Path, sealed: tuple[str, ...] = ()) -> Facts:
    """What an enforcement point knows before any call: the root of paths, and the places that are Remit's own.

    `sealed` are more that nobody may change.

    Raises RemitError for a root that is a file.
    """
    base = Facts(store=True, guarded=(os.path.realpath(state),), sealed=(*own_places(), *sealed))
    return open_root(root, root, base)[1]


def look_up(rulebook: Rulebook, call: Call, facts: Facts) -> Facts:
    """The facts with every path of the call, as an argument or in a command, resolved below an existing root."""
    root = facts.root
    if facts.resolved is None or root is None:
        return facts
    row = grid_of(rulebook).row(call.agent)
    book = rulebook.book
    tool = row.tool(call.tool) if row is not None else book.tools.get(book.aliases.get(call.tool, call.tool))
    if tool is None or not isinstance(call.args, dict):
        return facts
    kinds = {name: kind_of(argument.kind) for name, argument in tool.args.items()}
    texts_in = {name: kind for name, kind in kinds.items() if kind.language}
    if texts_in:
        changes = _changes(rulebook, call, texts_in, root) or facts.changes
        stands = _stands(rulebook, call, texts_in, root) or facts.stands
        schema = _schemas(call, texts_in, root, facts.schema)
        (links, files), installed = _links(call, texts_in, root), _installed(call, texts_in, root)
        facts = msgspec.structs.replace(facts, links=links, files=files, changes=changes, installed=installed)
        there = _there(rulebook, call, texts_in, facts, root)
        facts = msgspec.structs.replace(facts, there=there) if there else facts
        objects = _objects(call, texts_in, root)
        facts = msgspec.structs.replace(facts, objects=objects) if objects else facts
        facts = msgspec.structs.replace(facts, schema=schema) if schema is not facts.schema else facts
        facts = msgspec.structs.replace(facts, stands=stands) if stands else facts
    names = [name for name, kind in kinds.items() if kind.on_disk]
    if not names:
        return facts
    resolved: dict[str, str] = {}
    base = os.path.join(root, call.context.cwd or ".")
    defaults = [text for name in names if isinstance(text := tool.args[name].default, str)]
    texts = [*defaults, *(text for name in names for text in texts_at(call.args, name.split(".")))]
    for text in texts[:MAX_PATHS]:
        where = _real(os.path.join(base, text))
        if where is not None:
            resolved[text] = where
    return msgspec.structs.replace(facts, resolved=resolved)


def place(
    rulebook: Rulebook, call: Call, facts: Facts, *, fill: Container[str] = (), observed: bool = False
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments with every path and glob absolute, and the places that the paths lead to.

    INVARIANT: each path is where the decision saw it lead, so the function depends on no working directory and on no
    link. Raises GuardError for a path whose place nobody knows; of what is only `observed`, it is made absolute.
    An absent argument that is in `fill`, and that the policy judges by a default, gets that.
    """
    placed = placed_arguments(rulebook, call)
    if not placed or facts.root is None:
        return call.args, ()
    base = os.path.normpath(os.path.join(facts.root, call.context.cwd or "."))
    places: dict[str, str] = {}

    def of_path(text: str) -> str:
        if text not in places:
            places[text] = _place(text, base, facts, observed)
        return places[text]

    def of_glob(text: str) -> str:
        import glob  # here: few calls have one

        return os.path.join(glob.escape(base), text)

    args = call.args
    for name, argument in placed.items():
        if argument.default is not None and name not in args and name in fill:
            args = {**args, name: argument.default}
        if argument.kind != "glob":
            args = with_texts(args, name.split("."), of_path)
        elif argument.base is None or not texts_at(call.args, argument.base.split(".")):
            args = with_texts(args, name.split("."), of_glob)
    return args, tuple(dict.fromkeys(places.values()))


def placed_arguments(rulebook: Rulebook, call: Call) -> dict[str, Argument]:
    """The declared arguments of the call that are paths or globs; none of a tool that nobody knows."""
    row = grid_of(rulebook).row(call.agent)
    tool = row.tool(call.tool) if row is not None else None
    args = tool.args.items() if tool is not None else ()
    return {name: argument for name, argument in args if argument.kind == "glob" or kind_of(argument.kind).on_disk}


def _place(text: str, base: str, facts: Facts, observed: bool) -> str:
    """Where a path led when it was decided; where the root is not there yet, by its text as the decision took it."""
    if facts.resolved is None:
        root, found = str(facts.root), os.path.normpath(os.path.join(base, text))
        return os.path.realpath(root) + found[len(root) :] if f"{found}/".startswith(f"{root}/") else found
    found = facts.resolved.get(text, "")
    if not found and observed:
        return os.path.normpath(os.path.join(base, text))
    if not found:
        raise GuardError("it is unclear where the path leads", code="path-changed")
    return found


def still_there(places: Iterable[str]) -> None:
    """Raises GuardError if a place that the call was decided on has a link on its way by now."""
    for place in places:
        parts = place.split("/")
        if any(os.path.islink("/".join(parts[:count])) for count in range(2, len(parts) + 1)):
            raise GuardError("the path leads elsewhere than when it was decided", code="path-changed")


def _links(call: Call, kinds: dict[str, Kind], root: str) -> tuple[dict[str, str], frozenset[str]]:
    """What the paths in the call's commands lead to, where symlinks make that something else; and those of all these
    where something stands that is no folder."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    paths = sorted({path for kind, text in texts for path in kind.paths(text, call.context.cwd, root)})
    found = {path: _real(os.path.join(root, _at_home(path))) for path in paths[:MAX_PATHS]}
    links = {
        path: to
        for path, real in found.items()
        if real is not None and (to := relative_to(real, root)) != path and (to != _at_home(path) or _above(to, root))
    }
    stand = {path: relative_to(real, root) for path, real in found.items() if real is not None and _is_file(real)}
    files = frozenset((*stand, *stand.values()))
    for kind, text in texts:
        for names in kind.taken_for_files(text, call.context.cwd, root):
            if not any(os.path.lexists(os.path.join(root, name)) for name in names):
                links.update(dict.fromkeys(names, ""))
    globs = {glob for kind, text in texts for glob in kind.patterns(text, call.context.cwd, root)}
    if not globs:
        return links, files
    from remit.enforce.link_look import at_home, links_among  # here: few calls have a pattern

    own = {glob for glob in globs if glob.text.startswith("~/")}
    home = os.path.expanduser("~")
    there = {HOME: home} if own else {}
    return {**links_among(globs - own | {at_home(glob, home) for glob in own}, root), **links, **there}, files


def _is_file(path: str) -> bool:
    return os.path.exists(path) and not os.path.isdir(path)


def _at_home(path: str) -> str:
    """The path as the shell sees it, which puts the user's own directory in the place of `~`."""
    return os.path.expanduser(path) if path == "~" or path.startswith("~/") else path


def _above(path: str, root: str) -> bool:
    return f"{root}/".startswith(f"{path.rstrip('/')}/")


def _installed(call: Call, kinds: dict[str, Kind], root: str) -> frozenset[str]:
    """Of the programs that the call's commands would take from the project, those that are there, and lie there; and
    the repositories and hooks of the workspace that git would take for its own."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    paths = sorted({path for kind, text in texts for path in kind.local_programs(text, call.context.cwd, root)})
    heads = [path for path in paths if path.rpartition("/")[2] == "HEAD"]
    stores = {path for at, path in enumerate(heads) if at >= MAX_PATHS or _is_repository(os.path.join(root, path))}
    for path in paths:
        stores |= _hooked(path, root)
    found = ((path, _real(os.path.join(root, path))) for path in paths[:MAX_PATHS])
    return frozenset(stores).union(
        path
        for path, real in found
        if real is not None and real.startswith(f"{root}/") and os.path.isfile(real) and os.access(real, os.X_OK)
    )


def _hooked(path: str, root: str) -> set[str]:
    """What stands for hooks of the workspace in a directory, if there are any that git runs; those that it runs with
    nearly every command make it a repository of the workspace's own."""
    from remit.enforce.git_look import EVERYWHERE, workspace_hooks  # here: few calls have such a command
    from remit.scopes.shell.placed import HOOKS

    folder = path.removesuffix(HOOKS)
    if not f"/{path}".endswith(f"/{HOOKS}"):
        return set()
    hooks = workspace_hooks(os.path.join(root, folder), root)
    if hooks is None:
        return set()
    return {path} if EVERYWHERE.isdisjoint(hooks) else {path, f"{folder}HEAD"}


def _is_repository(head: str) -> bool:
    """In the folder of that file git finds a repository that is not in a `.git`, there or above."""
    folder = os.path.realpath(os.path.dirname(head))
    while not os.path.lexists(os.path.join(folder, ".git")):
        has = {name for name in ("HEAD", "objects", "refs", "commondir") if os.path.lexists(os.path.join(folder, name))}
        if "HEAD" in has and ("commondir" in has or {"objects", "refs"} <= has):
            return True
        if folder == os.path.dirname(folder):
            return False
        folder = os.path.dirname(folder)
    return False


def _changes(rulebook: Rulebook, call: Call, kinds: dict[str, Kind], root: str) -> dict[str, tuple[str, ...]]:
    """What the one command of the call would change whose text doesn't tell it, where git or the disk does."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    protected = grid_of(rulebook).index.protected
    names = protected.instructions
    folders = {pair for kind, text in texts for pair in kind.moved_folders(text, call.context.cwd, root)}
    found = _looked_up(texts, names, call, root) if len(texts) == 1 else {}
    globs = {glob for kind, text in texts for glob in kind.expanded_patterns(text, call.context.cwd, root)}
    loose = sorted((glob for glob in globs if protected.only_loosely(glob)), key=lambda glob: glob.text)
    if loose:
        from remit.enforce.find_look import protected_among  # here, as below: few calls have such a command

        found = {**protected_among(loose, tuple(protected.loose), root), **found}
    reads = [sole for kind, text in texts for sole in kind.git_reads(text, call.context.cwd, root)]
    if reads and len(texts) == 1:
        from remit.enforce.git_look import read_by

        seen = {sole.text: paths for sole in reads[:MAX_READS] if (paths := read_by(sole, root)) is not None}
        found = {**seen, **found}
    if not folders or not names:
        return found
    from remit.enforce.find_look import named_below

    for pattern, paths in named_below(folders, names, root).items():
        found = {**found, pattern: (*found.get(pattern, ()), *paths)}
    return found


def _there(
    rulebook: Rulebook, call: Call, kinds: dict[str, Kind], facts: Facts, root: str
) -> dict[str, tuple[str, ...]]:
    """What is there below the folders and patterns that the call's one text touches, if a prohibition of paths could
    be about it."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    rules = (rule for caller in rulebook.book.callers.values() for rule in caller.rules if rule.verb != "may")
    if len(texts) != 1 or not (facts.capsules or any("path" in rule.scope.parts for rule in rules)):
        return {}
    kind, text = texts[0]
    globs = sorted(kind.standing_places(text, call.context.cwd, root), key=lambda glob: glob.text)
    if not globs:
        return {}
    from remit.enforce import find_look  # here, as above: few calls have such a command

    found: dict[str, tuple[str, ...]] = {}
    for glob in globs[:MAX_PLACES]:
        seen = find_look.changes_of([glob], root)
        found.update({glob.text: seen[glob.text]} if seen and len(seen[glob.text]) <= MAX_THERE else {})
    return found


def _objects(call: Call, kinds: dict[str, Kind], root: str) -> frozenset[str]:
    """Of the words that git would take for commits, those that are something else in its store."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    words = {pair for kind, text in texts for pair in kind.revisions(text, call.context.cwd, root)}
    if not words:
        return frozenset()
    from remit.enforce.git_look import other_objects  # here, as above: few calls have such a command

    bases = sorted({base for base, _ in words})
    asked = {base: [word for where, word in sorted(words) if where == base] for base in bases}
    found = (other_objects(os.path.join(root, base), asked[base]) for base in bases[:MAX_READS])
    return frozenset().union(*found, *(asked[base] for base in bases[MAX_READS:]))


def _stands(rulebook: Rulebook, call: Call, kinds: dict[str, Kind], root: str) -> dict[str, tuple[str, ...]]:
    """What is there of all that the call's patterns stand for, where some of that could have a label with a tier."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    if len(texts) != 1:
        return {}
    kind, text = texts[0]
    labels = grid_of(rulebook).index.labels
    found: dict[str, tuple[str, ...]] = {}
    for glob in sorted(kind.standing_patterns(text, call.context.cwd, root), key=lambda glob: glob.text):
        if labels.of(Unit("path", "", glob, CHANGES, wide=True)).label is not None:
            from remit.enforce import find_look  # here, as above: few calls have such a command

            seen = find_look.changes_of([glob], root)
            found.update({glob.text: seen[glob.text]} if seen else {})
    return found


def _looked_up(
    texts: list[tuple[Kind, str]], names: frozenset[str], call: Call, root: str
) -> dict[str, tuple[str, ...]]:
    """The same of what the text's patterns stand for, or of the one command that says nothing of what it changes."""
    kind, text = texts[0]
    patterns = kind.found_files(text, call.context.cwd, root)
    if patterns:
        from remit.enforce import find_look

        return find_look.changes_of(patterns, root, kind.sole_search(text, call.context.cwd, root))
    command = kind.sole_change(text, call.context.cwd, root)
    if command is None:
        wide = kind.changed_patterns(text, call.context.cwd, root)
        aimed = (glob for glob in wide if any(glob.folded().aims_at(name) for name in names))  # the rest asks nothing
        globs = sorted(aimed, key=lambda glob: glob.text)
        if not globs:
            return {}
        from remit.enforce import find_look

        seen = find_look.changes_of(globs, root)
        return {glob.text: seen[glob.text] for glob in globs} if seen else {}
    from remit.enforce import format_look, git_look  # here: few calls have such a command

    changed = (git_look if command.words[0] == "git" else format_look).changes_of(command, root)
    return {command.text: changed} if changed is not None else {}


def _schemas(call: Call, kinds: dict[str, Kind], root: str, given: dict[str, str] | None) -> dict[str, str] | None:
    """The schemas that are known, with those of the databases that the call's commands work on."""
    texts = [(kind, text) for name, kind in kinds.items() for text in texts_at(call.args, name.split("."))]
    names = sorted({path for kind, text in texts for path in kind.databases(text, call.context.cwd, root)})
    names = [name for name in names if name not in (given or ())]
    if not names:
        return given
    from remit.enforce.database_look import schema_below  # here: few calls name a database

    found = {name: text for name in names[:MAX_DATABASES] if (text := schema_below(name, root)) is not None}
    return {**found, **(given or {})} if found else given


def _real(path: str) -> str | None:
    """The path with symlinks followed, also through what doesn't exist yet; None for a loop or a bad name."""
    try:
        real = os.path.realpath(path)
        parts = real.split("/")
        loop = any(os.path.islink("/".join(parts[:count])) for count in range(2, len(parts) + 1))
        return None if loop else real
    except (OSError, ValueError):
        return None


def texts_at(value: Any, parts: list[str]) -> list[str]:
    """The texts at a declared name such as `replacements[].filePath`; anything else is left to the decision."""
    if not parts:
        return [value] if isinstance(value, str) else []
    head, rest = parts[0], parts[1:]
    if not isinstance(value, dict) or head.removesuffix("[]") not in value:
        return []
    found = value[head.removesuffix("[]")]
    if not head.endswith("[]"):
        return texts_at(found, rest)
    return [text for item in found for text in texts_at(item, rest)] if isinstance(found, list) else []


def with_texts(value: Any, parts: list[str], turn: Callable[[str], str]) -> Any:
    """A copy of the arguments with each text at such a name replaced by what `turn` makes of it."""
    if not parts:
        return turn(value) if isinstance(value, str) else value
    head, rest = parts[0], parts[1:]
    key = head.removesuffix("[]")
    if not isinstance(value, dict) or key not in value:
        return value
    found = value[key]
    if not head.endswith("[]"):
        return {**value, key: with_texts(found, rest, turn)}
    return {**value, key: [with_texts(one, rest, turn) for one in found]} if isinstance(found, list) else value
