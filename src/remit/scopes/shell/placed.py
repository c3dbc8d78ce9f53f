"""A command in its place: the paths that it touches, made normal from where it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from posixpath import normpath

from remit.languages.bash.reading import Touch, Word
from remit.languages.programs.client import FILED, MEMORY
from remit.languages.programs.derived import HERE
from remit.languages.programs.profiles import profile_of
from remit.languages.programs.understand import Act, Local
from remit.model.errors import NotUnderstood
from remit.model.facts import HOME
from remit.model.pattern import compile_later
from remit.model.terms import PROJECT, UNKNOWN
from remit.scopes.glob import Glob, GlobError
from remit.scopes.path import glob_argument, normalise, relative_to

_CONTROL = compile_later("[\x00-\x1f\x7f]")
"""Quoted control characters reach the program as they are; as names they match no pattern that people write."""
_BUT_DOT = compile_later(r"(^|/)\[[!^](?=[A-Za-z0-9_])")
"""A segment of a pattern that begins with any character but some."""
_WILD = compile_later(r"[*?\[]")
SCRATCH = frozenset(("/tmp", "/var/tmp"))  # noqa: S108 -- compared only
"""Where everybody unpacks and copies what is needed for a moment: that doesn't aim at a root that lies there too."""
_DESCRIPTOR = compile_later(r"/+(dev/fd|proc/[^/]+(/task/[^/]+)?/(fd|cwd|root|map_files))(/|$)")
_OPEN = compile_later(r"/+(dev|proc/[^/]+(/task/[^/]+)?)/fd/[0-9]+")
_OUTPUT = frozenset(("/dev/fd/1", "/dev/fd/2", "/proc/self/fd/1", "/proc/self/fd/2"))
_FILES = ("cat", "chmod", "cp", "diff", "du", "file", "grep", "head", "less", "ln", "ls", "mkdir", "mv", "rm", "rmdir")
_PACKERS = ("gzip", "gunzip", "zcat", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat")
_OTHERS = (
    "chgrp",
    "chown",
    "rename",
    "sed",
    "sort",
    "split",
    "stat",
    "tail",
    "tee",
    "touch",
    "truncate",
    "unlink",
    "wc",
)
HOOKS = ".git/hooks"
_RUN_HOOKS = frozenset(
    """
    am bisect checkout cherry-pick citool clone commit filter-branch gui maintenance gc merge p4 pull push rebase
    receive-pack revert send-email stash submodule subtree switch worktree
    """.split()  # noqa: SIM905
)
"""Subcommands of git that run a hook, or make other subcommands run one. Two more hooks run with nearly each: see
EVERYWHERE in enforce/git_look.py."""
EXPANDED = frozenset((*_FILES, *_PACKERS, *_OTHERS))
"""Programs that take a glob only as bash expands it, and to which an empty name is no file; `git add *.py` without a
match is git's own pattern."""


class Placed:
    """An act with its paths made normal: below the root as text or glob, `/…` outside, None where unknown."""

    __slots__ = ("act", "bases", "carries", "databases", "handed", "lost", "redirected", "spelled", "touches")

    def __init__(
        self,
        act: Act,
        cwd: str | None,
        root: str | None,
        links: Mapping[str, str] | None = None,
        installed: frozenset[str] = frozenset(),
    ) -> None:
        self.act = act
        self.spelled: dict[str, str] = {}
        """Where a path leads by symlinks → as it was spelled."""
        self.carries = False
        """It copies links, or moves them, to where it writes."""
        self.bases = [_normal(base, cwd, root) for base in act.bases]
        places = self.local_programs() if installed else []
        if act.local is not None and places and not any(installed.isdisjoint(one) for one in places):
            self.act = act = _as_installed(act, act.local)
        if installed and not installed.isdisjoint(self.repositories()):
            self.act = act = _as_project(act)
        if installed and act.sub[:1] and act.sub[0] in _RUN_HOOKS and not installed.isdisjoint(self.hooks()):
            self.act = act = _with_hooks(act)
        if act.grade == PROJECT and any(_is_elsewhere(word, self.bases, root, links) for word in act.code):
            self.act = act = act._replace(grade=UNKNOWN, unknown=(*act.unknown, "code outside the root"))
        runs = [_in_place(base, cwd, root) for base in act.bases]
        works = runs if act.works is None else [_in_place(base, cwd, root) for base in act.works]
        stands = runs if act.stands is None else [_in_place(base, cwd, root) for base in act.stands]
        self.lost = any(where is None for _, where in (*runs, *works, *stands))
        """Somewhere that it works or stands can't be told, even of what lies outside the root."""
        said = [touch for touch in act.touches if not touch.unsaid]
        self.touches = [
            *_placed(said, act, runs, root, links),
            *_placed((touch for touch in act.touches if touch.unsaid), act, works, root, links),
        ]
        self.redirected = list(_placed(act.redirected, act, stands, root, links)) if act.redirected else []
        self.databases = list(_databases(act, self.bases, root)) if act.databases else []
        self.handed = list(_placed((Touch("read", word) for word in act.handed), act, runs, root, links))
        """What code of the workspace gets as arguments: whether it is a path, and what becomes of it, nobody knows."""
        if links:
            self.handed += [found for one in self.handed for found in self._followed(*one, links)]
            self.touches = [found for one in self.touches for found in self._followed(*one, links)]
            self.redirected = [found for one in self.redirected for found in self._followed(*one, links)]
            for touches in (self.touches, self.redirected):
                climbing = {
                    touch for touch, _ in touches if not links.keys().isdisjoint(self._climbs(touch, cwd, root))
                }
                touches.extend((_untold(touch), None) for touch in climbing)

    def local_programs(self) -> list[tuple[str, ...]]:
        """By directory, where the program may lie that the command takes from the project if it is there."""
        path = self.act.local.path if self.act.local is not None else ""
        inside = [base for base in self.bases if base is not None and not base.startswith("/")]
        if not path or len(inside) < len(self.bases):
            return []
        return [(path,) if base == "." else (path, f"{base}/{path}") for base in inside]

    def repositories(self) -> list[str]:
        """By directory that git runs in, the file by which that would itself be a repository: its configuration names
        programs, and only one called `.git` is protected."""
        if (self.act.program or "").rpartition("/")[2] != "git":
            return []
        return ["HEAD" if base == "." else f"{base}/HEAD" for base in self.bases if base is not None]

    def hooks(self) -> list[str]:
        """By directory that git runs in, what stands for hooks of the workspace: only git's configuration tells."""
        if (self.act.program or "").rpartition("/")[2] != "git" or self.act.own <= {"read"}:
            return []
        return [HOOKS if base == "." else f"{base}/{HOOKS}" for base in self.bases if base is not None]

    def in_own_repository(self) -> None:
        """What git runs is what the workspace says."""
        self.act = _as_project(self.act)

    def climbs(self, cwd: str | None, root: str | None) -> set[str]:
        """The directories that paths leave again by `..`: of a link, that leads elsewhere than the text says."""
        touches = [touch for touch, _ in (*self.touches, *self.redirected)]
        return {path for touch in touches for path in self._climbs(touch, cwd, root)}

    def outside(self, cwd: str | None, root: str | None) -> set[str]:
        """Places outside the root that its words name: links may lead from there into it."""
        touches = (*self.act.touches, *self.act.redirected)
        bases = {where for base in self._everywhere() for _, where in [_in_place(base, cwd, root)]}
        found = (_from_outside(touch, base, root) for touch in touches for base in bases)
        return {relative_to(one[0], root) for one in found if one is not None}

    def outside_patterns(self, cwd: str | None, root: str | None) -> set[Glob]:
        """The patterns of what it changes outside the root: links among their matches may lead into it."""
        touches = [touch for touch in (*self.act.touches, *self.act.redirected) if touch.effect != "read"]
        bases = {where for base in self._everywhere() for _, where in [_in_place(base, cwd, root)]}
        found = (
            (touch, _from_outside(touch, base, root)) for touch in touches if touch.links != "none" for base in bases
        )
        globs = {_as_glob(*one) for touch, one in found if one is not None and _follows(touch, one[1])}
        return {glob for glob in globs if glob is not None}

    def _climbs(self, touch: Touch, cwd: str | None, root: str | None) -> Iterable[str]:
        for base in self._everywhere():
            text = touch.path.text or ""
            parts = (text if text[:1] == "/" or base in (None, ".") else f"{base}/{text}").split("/")
            for index, part in enumerate(parts):
                if part == ".." and any(above not in ("", ".", "..") for above in parts[:index]):
                    path = _normal("/".join(parts[:index]), cwd, root)
                    if path is not None:
                        yield path

    def _followed(
        self, touch: Touch, path: str | Glob | None, links: Mapping[str, str]
    ) -> Iterable[tuple[Touch, str | Glob | None]]:
        """Where it leads; what lies below a folder that is a link lies below where that leads, too."""
        if touch.path in self.act.taken and links.get(path.base if isinstance(path, Glob) else path or "") == "":
            yield _untold(touch), None  # no such file is there: to git it is a revision
            return
        if isinstance(path, str) and touch.effect == "delete":
            folder = folder_of(path)  # a link is deleted itself, not what it leads to
            place = f"{links[folder]}/{path.rpartition('/')[2]}".removeprefix("./") if links.get(folder) else path
            if place != path:
                self.spelled[place] = path
            yield touch, place
            return
        if isinstance(path, str) and links.get(path):  # empty: no such file is there, which matters to git alone
            self.carries = self.carries or touch.links == "copy"
            self.spelled[links[path]] = path
            yield touch, links[path]
            return
        yield touch, path
        if not isinstance(path, Glob):
            return
        if links.get(path.base):
            yield touch, _below(links[path.base])
        if touch.links == "copy" and (path.base in links or _has_link(path, links)):
            self.carries = True
        yield from _through(touch, path, links)

    def brought(self) -> list[Glob]:
        """Where links may lie that nobody has seen: below what it unpacks, and where it copies links to."""
        if not self.act.brings and not self.carries:
            return []
        written = [path for touch, path in self.touches if touch.effect == "write" and (self.carries or touch.deep)]
        globs = [glob for path in written if isinstance(path, str) for glob in (Glob.literal(path), Glob.below(path))]
        return [*globs, *(path for path in written if isinstance(path, Glob))]

    def pass_through(self, brought: Sequence[Glob]) -> None:
        """Other commands of the text bring links there: what is touched on the way through one could be anywhere."""
        for touches in (self.touches, self.redirected):
            lost = [touch for touch, path in touches if path is not None and _could_pass(touch, path, brought)]
            touches.extend((_untold(touch), None) for touch in lost)

    def written(self, touch: Touch) -> tuple[str, ...]:
        """What the text says of a place that can't be told: `~/p/.claude/x` for `cd ~/p && rm .claude/x`."""
        return tuple(f"{base or ''}/{touch.path.text or touch.path.raw}" for base in self._everywhere())

    def _everywhere(self) -> tuple[str | None, ...]:
        """Where its words and its redirections count from."""
        return (*self.act.bases, *(self.act.works or ()), *(self.act.stands or ()))


def _placed(
    touches: Iterable[Touch],
    act: Act,
    bases: Sequence[tuple[str | None, str | None]],
    root: str | None,
    links: Mapping[str, str] | None = None,
) -> Iterable[tuple[Touch, str | Glob | None]]:
    for touch in touches:
        if touch.path.text == "" and act.program in EXPANDED:
            continue
        for where, whole in bases:
            anywhere = act.program not in EXPANDED and not touch.shows
            path = _locate(touch, where, root, anywhere) if where is not None else None
            inside = path is not None and not (isinstance(path, str) and path.startswith("/"))
            at_work = touch.taken == "workplace" and isinstance(path, Glob) and path.text == "**"
            if inside and (touch.store or at_work):
                continue  # code of the workspace works in the root whether it is told or not
            yield touch, path
            if not inside and root is not None and not touch.store:
                for back in _back(touch, whole, root, links or {}):
                    yield (touch, back) if back is not None else (_untold(touch), None)


def _from_outside(touch: Touch, base: str | None, root: str | None) -> tuple[str, list[str]] | None:
    """Of a path that leaves the root by its text: the literal place that it begins with, and the patterns of names
    behind it. What is deleted is a name in a folder, whatever that name leads to."""
    text = touch.path.text
    if not text or root is None or (text[0] == "~" and text != "~" and text[:2] != "~/"):
        return None
    names = text.split("/")
    wild = [index for index, name in enumerate(names) if touch.path.glob and _WILD.search(name)]
    rest = names[wild[0] :] if wild else []
    if ".." in rest or any("{" in name for name in rest):
        return "/", ["**"]
    place = "/".join(names[: wild[0]]) if wild else text
    if text[0] not in "/~":
        if base is None or (base[0] != "/" and ".." not in names):
            return None
        place = f"{base if base[0] == '/' else f'{root}/{base}'}/{place}"
    if place[:1] != "~" or ".." not in names:
        place = normpath(place or "/").replace("//", "/")
    if touch.effect == "delete" and not rest and "/" in place and names[-1] != "..":
        folder, _, name = place.rpartition("/")
        return folder or "/", [name] if name else []
    return place, [name for name in rest if name not in ("", ".")]


def _back(touch: Touch, base: str | None, root: str, links: Mapping[str, str]) -> Iterable[str | Glob | None]:
    """What a path that leaves the root by its text may be in the root all the same, and where links lead it outside."""
    found = _from_outside(touch, base, root)
    if found is None:
        return
    place, rest = found
    if rest and touch.effect != "read" and _follows(touch, rest):
        yield from _linked(touch, place, rest, links)
    to = links.get(relative_to(place, root))
    if to:
        place = to if to[0] == "/" else f"{root}/{to}"
        if to[0] == "/" and not rest and not f"{root}/".startswith(f"{to}/"):
            yield to
    elif touch.effect == "read" or place[0] == "~":
        return
    own = [Glob.literal(name).text if touch.path.glob else name for name in place.split("/") if name not in ("", ".")]
    for tail in _tails([*own, *rest], root.strip("/").split("/"), wild=touch.path.glob):
        if tail is None:  # it is above the root, which lies below it
            told = touch.new or (touch.some and place in SCRATCH)
            if touch.deep and touch.effect != "read" and not told:
                yield Glob.below(".")
            continue
        path = "/".join(tail) or "."
        try:
            if touch.path.glob and tail:
                yield glob_argument(path, None, below=touch.deep, anywhere=False)
            else:
                yield Glob.below(path) if touch.deep else path
        except NotUnderstood:
            yield Glob.below(".")


def _as_glob(place: str, rest: Sequence[str]) -> Glob | None:
    """A pattern outside the root as one; `~` is a name in it like others."""
    try:
        text = Glob.literal(place).text.rstrip("/")
        return Glob.parse("/".join((text, *rest)), absolute=place[0] == "/").loosened() if rest else None
    except GlobError:
        return None


def _follows(touch: Touch, rest: Sequence[str]) -> bool:
    """Links among what the pattern stands for lead elsewhere; one that is deleted goes itself, with what lies in it."""
    return touch.links in ("all", "last") and (touch.effect != "delete" or (touch.links == "all" and len(rest) > 1))


def _linked(touch: Touch, place: str, rest: Sequence[str], links: Mapping[str, str]) -> Iterable[str | Glob | None]:
    """Where links lead that are among what a pattern outside the root stands for; None: nobody has seen them all."""
    places = {place, links.get(place) or place}
    if place[0] == "~" and HOME in links:
        places.add(links[HOME] + place[1:])
    for glob in [_as_glob(one, rest) for one in places if one[0] == "/"]:
        if glob is None or links.get(glob.text) == "":
            yield None
            continue
        for link, to in links.items():
            if not to or link[0] != "/":
                continue
            if glob.matches(link) and touch.effect != "delete":
                yield _below(to) if touch.deep else to
            if touch.links == "all" and glob.intersects(Glob.below(link)):
                yield _below(to)


def _tails(names: list[str], root: list[str], *, wild: bool) -> Iterable[list[str] | None]:
    """What is left of a pattern behind the root, by each way in which it leads there; None if it ends above."""
    if not root:
        yield names
    elif not names:
        yield None
    elif wild and names[:2] == ["**", "**"]:
        yield from _tails(names[1:], root, wild=wild)
    elif wild and names[0] == "**":
        yield names
        for index in range(len(root)):
            yield from _tails(names[1:], root[index:], wild=wild)
    elif _is_name(names[0], root[0]) if wild else names[0] == root[0]:
        yield from _tails(names[1:], root[1:], wild=wild)


def _is_name(pattern: str, name: str) -> bool:
    try:
        return Glob.parse(pattern).loosened().matches(name)
    except GlobError:
        return True


def _as_project(act: Act) -> Act:
    """The command where it runs what a file of the workspace names, besides what it does anyway."""
    more = frozenset(("execute",))
    grade = UNKNOWN if act.grade == UNKNOWN else PROJECT
    return act._replace(grade=grade, code=(*act.code, HERE), own=act.own | more, effects=act.effects | more)


def _with_hooks(act: Act) -> Act:
    """The command where its hooks lie in the workspace; whoever admits the command admits that it runs them."""
    grade = UNKNOWN if act.grade == UNKNOWN else PROJECT
    return act._replace(grade=grade, effects=act.effects | {"execute"})


def _as_installed(act: Act, local: Local) -> Act:
    """The command where its program is in the project: it installs nothing, and what it runs is code of the project."""
    unknown = tuple(text for text in act.unknown if text != local.doubt)
    grade, code, more = act.grade, act.code, frozenset[str]()
    if local.doubt and not unknown and not act.refused:
        grade, code, more = PROJECT, (HERE,), frozenset(("read", "write", "execute"))
    own, effects = (found - local.spares | more for found in (act.own, act.effects))
    return act._replace(unknown=unknown, grade=grade, code=code, own=own, effects=effects, local=None)


def _is_elsewhere(word: Word, bases: Sequence[str | None], root: str | None, links: Mapping[str, str] | None) -> bool:
    """True if that code may lie outside the root: then it is nobody's who wrote the workspace."""
    for base in bases:
        path = _locate(Touch("read", word), base, root, anywhere=False) if base is not None else None
        name = path.base if isinstance(path, Glob) else path
        if name is None or name.startswith("/") or ((links or {}).get(name) or "").startswith("/"):
            return True
    return False


def folder_of(path: str) -> str:
    """The folder that a path lies in."""
    return path.rpartition("/")[0] or "."


def _untold(touch: Touch) -> Touch:
    """The same, where the text says no longer where it goes."""
    return touch._replace(path=Word(None, touch.path.raw or touch.path.text or "?"))


def _below(folder: str) -> str | Glob:
    """All below a folder; what lies outside the root is only known by its name."""
    return folder if folder.startswith("/") else Glob.below(folder)


def _through(touch: Touch, path: Glob, links: Mapping[str, str]) -> Iterable[tuple[Touch, str | Glob | None]]:
    """Where links lead that are among what a pattern or a folder stands for, as far as the command follows them."""
    if touch.links not in ("all", "last"):
        return
    if path.text in links:
        yield touch, None  # more than anybody looks at
    for link, to in links.items():
        if not to:
            continue
        if touch.effect != "delete" and path.matches(link):
            yield touch, to
            if touch.deep:
                yield touch, _below(to)
        if touch.links == "all" and path.intersects(Glob.below(link)):
            yield touch, _below(to)


def _has_link(path: Glob, links: Mapping[str, str]) -> bool:
    """Links are among what it stands for, or may be."""
    return path.text in links or any(to and path.matches(link) for link, to in links.items())


def _could_pass(touch: Touch, path: str | Glob, brought: Sequence[Glob]) -> bool:
    """The path leads through one of these places; what is deleted there goes itself, be it a link or not."""
    if touch.effect == "delete":
        path = path.base if isinstance(path, Glob) else path.rpartition("/")[0] or "."
        if path == ".":
            return False  # nothing that lands in the root takes the place of the root itself
    if isinstance(path, Glob):
        return any(glob.intersects(path) for glob in brought)
    return any(glob.matches(path) for glob in brought)


def _databases(act: Act, bases: Sequence[str | None], root: str | None) -> Iterable[tuple[Word, str | None]]:
    """The databases: files by their normal path, those of a server by their name, None where it can't be told."""
    profile = profile_of((act.program or "").rpartition("/")[2])
    for word in act.databases:
        if profile is not None and profile.special not in FILED:
            yield word, word.text
            continue
        for _, path in _placed([Touch("read", word)], act, [(base, base) for base in bases], root):
            sure = isinstance(path, str) and word.text not in MEMORY and not (word.text or "").endswith("/")
            yield word, path if sure and isinstance(path, str) else None


def _normal(base: str | None, cwd: str | None, root: str | None) -> str | None:
    if base is None:
        return None
    try:
        return normalise(base, cwd, root)
    except NotUnderstood:
        return None


def _in_place(base: str | None, cwd: str | None, root: str | None) -> tuple[str | None, str | None]:
    """A directory as paths in it are judged, and, also of one that leaves the root by `..`, where it is."""
    where = _normal(base, cwd, root)
    if where is None and base is not None and root is not None and base[:1] not in "/~":
        return None, _normal(f"{root}/{cwd or '.'}/{base}", None, root)
    return where, where


def is_descriptor(text: str, effect: str) -> bool:
    """A path that leads to whatever a process has open, or works in: only the system knows what that is.

    Reading what is open gives nothing that whoever opened it was not judged for. Writing does: it is opened again.
    """
    path = normpath(text)
    if effect == "read":
        return _DESCRIPTOR.match(path) is not None and _OPEN.fullmatch(path) is None
    return path == "/dev/stdin" or (_DESCRIPTOR.match(path) is not None and path not in _OUTPUT)


def _normal_or_back(text: str, base: str, root: str | None) -> str:
    """The normal path; also of one that leaves the root by `..` and comes back into it. Raises NotUnderstood."""
    try:
        return normalise(text, base, root)
    except NotUnderstood:
        if root is None or ".." not in text or text.startswith(("/", "~")) or base.startswith(("/", "..", "~")):
            raise
        path = normalise(f"{root}/{base}/{text}", None, root)
        if path.startswith("/"):
            raise  # outside
        return path


def _locate(touch: Touch, base: str, root: str | None, anywhere: bool) -> str | Glob | None:
    """Where a path lies; None if it leaves the root or can't be told."""
    text = touch.path.text
    if text is None or is_descriptor(text, touch.effect):
        return None
    try:
        if touch.path.glob:
            text = f"{text.rstrip('/')}/*" if touch.shows == "names" else text
            if not (touch.path.found or touch.path.some or touch.path.deep):
                text = _BUT_DOT.sub(r"\1[!.", text)  # as bash reads it, which takes no other name for hidden ones
            return glob_argument(text, root, base=base, below=touch.deep, anywhere=anywhere)
        path = _normal_or_back(_CONTROL.sub("\ufffd", text) or ".", base, root)
    except NotUnderstood:
        return None
    if path.startswith("/"):
        return path
    if touch.shows == "names":
        return Glob.parse("*" if path == "." else f"{Glob.literal(path).text}/*").loosened()
    return Glob.below(path) if touch.deep else path
