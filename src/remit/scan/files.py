"""Which files of a repository a scan reads: bounded in number and size, and nothing outside the root."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

import msgspec

from remit.scan.inventory import thing_of
from remit.scan.mojibake import repaired
from remit.scan.vocabulary import layouts, words

LARGEST = 2 * 1024 * 1024
"""Bytes of one file that are read; what stands behind them is said to be unread."""
MOST = 200_000
"""Files that are looked at."""
MOST_READ = 512 * 1024 * 1024
"""Bytes that are read in all."""
DEEPEST = 40

_LEFT_OUT = frozenset(
    {
        *(".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".mypy_cache", ".ruff_cache"),
        *("dist", "build", "target", "vendor", ".next", ".nuxt", "site-packages", ".cache", "coverage", ".remit"),
        *("fixtures", "__fixtures__", "testdata", "test-data", "__tests__", "test", "tests", "spec-fixtures"),
    }
)
_COPY = re.compile(
    r"(?:^|[-_.])(?:fixtures?|testdata)(?:$|[-_.])|^\..*[-_.](?:backup|bak|old)(?:$|[-_.\d])", re.IGNORECASE
)
"""A folder of test data by a word of its name, or a copy of a program's hidden folder: no host reads it."""
_PUBLISHED = re.compile(r"(?:^|/)(?:public|static|(?:website|site|www|web|docs)/data)/", re.IGNORECASE)
"""Folders of what a site shows: a team there is a copy."""
_QUOTED = re.compile(rb"[\"'`]([a-z][a-z0-9]{1,24}(?:[-_][a-z0-9]{1,24}){1,5})[\"'`]")
_MOST_QUOTED = 100_000
_PAST = frozenset(
    {
        *("archive", "archives", "archived", "history", "old", "deprecated", "legacy", "review", "reviews", "findings"),
        *(
            "evidence",
            "reports",
            "feature",
            "features",
            "proposals",
            "plans",
            "drafts",
            "templates",
            "template",
            "backup",
        ),
        *(
            "research",
            "specs",
            "examples",
            "example",
            "samples",
            "planning",
            "prd",
            "prds",
            "trd",
            "trds",
            "execplans",
            "roadmap",
            "sessions",
            "sprints",
            "trash",
        ),
    }
)
_ADVICE = re.compile(r"best[-_ ]?practices|tutorial|how[-_]?to[-_.]")
"""Pages about agents in general."""
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBERING = re.compile(r"^[\d._-]+")
"""What stands before the name of a folder: `98.archive`, `_drafts`."""
_TEAM_FILE = re.compile(
    r"(?:^|[/._-])(?:agents?|roles?|teams?|crew|permissions?|access|capabilities)[\w-]*(?:\.config)?\.(?:ya?ml|jsonc?|toml)$",
    re.IGNORECASE,
)
_OF_AGENTS = re.compile(
    rb"agent_id|tools_allowed"
    rb"|^[ ]{0,6}[\"']?(?:sub-?)?(?:agents?|roles?|team|crew|members|permissions)[\"']?:[ ]*(?:#.*)?$",
    re.MULTILINE,
)
"""What a YAML file has at the least, if it says something of agents."""
_SOURCES = (".ts", ".tsx", ".mts", ".js", ".mjs")


class Text(msgspec.Struct, frozen=True):
    """A file that was read."""

    path: str
    text: str
    repaired: int = 0
    """Places where characters had been decoded with the wrong table."""
    cut: bool = False
    link: bool = False


class Walk(msgspec.Struct):
    """The files below a root, one at a time; what was left out is in `skipped`."""

    root: str
    files: int = 0
    read: int = 0
    size: int = 0
    skipped: list[tuple[str, str]] = []
    progress: Callable[[str], None] | None = None
    most: int = MOST
    counted: set[str] = set()
    """The paths of things that documents count."""
    tails: set[str] = set()
    """The last two parts of every path: `scripts/weigh.py`."""
    skills: set[str] = set()
    """The folders of skills."""
    quoted: set[str] = set()
    """Names such as `docs-writer` in the quotes of programs, which may define agents, and those of workflows."""

    def texts(self) -> Iterator[Text]:
        """Every text that may say something about agents, in the order of its path."""
        for path in self._paths():
            found = self.read_file(path)
            if found is not None:
                self.read += 1
                yield found

    def _paths(self) -> Iterator[str]:
        seen: set[tuple[int, int]] = set()
        waiting = [("", 0)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                here = os.stat(os.path.join(self.root, folder))
                names = sorted(os.listdir(os.path.join(self.root, folder)))
            except OSError as error:
                self.skipped.append((folder or ".", error.strerror or "can't be read"))
                continue
            if (here.st_dev, here.st_ino) in seen:
                continue
            seen.add((here.st_dev, here.st_ino))
            below: list[tuple[str, int]] = []
            for name in names:
                path = f"{folder}/{name}" if folder else name
                full = os.path.join(self.root, path)
                if os.path.isdir(full):
                    if os.path.islink(full):
                        # what it leads to lies in the tree itself, or is not this repository's
                        if thing_of(f"{path}/SKILL.md") is not None:
                            self.counted.add(f"{path}/SKILL.md")
                        continue
                    if name in words("team_folders", "") and name.startswith(".") and is_published(f"{path}/"):
                        self.skipped.append((path, "a copy that a site shows"))
                        continue
                    named = folder.rpartition("/")[2] in words("thing_folders", "")  # `skills/test`, `commands/build`
                    if named or (name.lower() not in _LEFT_OUT and _COPY.search(name) is None):
                        if depth >= DEEPEST:
                            self.skipped.append((path, f"more than {DEEPEST} folders deep"))
                        else:
                            below.append((path, depth + 1))
                    continue
                self.files += 1
                if self.progress is not None and self.files % 500 == 0:
                    self.progress(f"looked at {self.files:,} files, read {self.read:,}")
                if self.files > self.most:
                    self.skipped.append((path, f"only the first {self.most:,} files are looked at"))
                    return
                self.tails.add(tail_of(path))
                if name == "SKILL.md":
                    self.skills.add(folder)
                if thing_of(path) is not None and not is_published(path):
                    self.counted.add(path)
                if name.endswith((".yaml", ".yml")) and len(self.quoted) < _MOST_QUOTED:
                    self.quoted.add(name.rpartition(".")[0])
                if is_candidate(path):
                    yield path
            waiting += reversed(below)

    def read_file(self, path: str) -> Text | None:
        """One file below the root; None if it says nothing about agents or can't be read."""
        full = os.path.join(self.root, path)
        link = os.path.islink(full)
        if link and not os.path.realpath(full).startswith(os.path.realpath(self.root) + os.sep):
            self.skipped.append((path, "a link that leads out of the repository"))
            return None
        try:
            descriptor = os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self.skipped.append((path, error.strerror or "can't be read"))
            return None
        with open(descriptor, "rb") as file:
            if not os.path.isfile(full):
                self.skipped.append((path, "not a regular file"))
                return None
            if self.size > MOST_READ:
                self.skipped.append((path, f"only {MOST_READ // 1024 // 1024} MiB are read"))
                return None
            data = file.read(LARGEST + 1)
        self.size += len(data)
        if path.endswith(_SOURCES) and len(self.quoted) < _MOST_QUOTED:
            self.quoted.update(match[1].decode() for match in _QUOTED.finditer(data))
        if path.endswith(_SOURCES) and b"accessibleBy" not in data:
            return None
        if path.endswith((".yaml", ".yml")) and not is_team_file(path) and _OF_AGENTS.search(data) is None:
            return None
        cut = len(data) > LARGEST
        if cut:
            data = data[:LARGEST]
            self.skipped.append((path, f"only its first {LARGEST // 1024 // 1024} MiB were read"))
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            text = data.decode("utf-16", "replace")
        else:
            text = data.decode("utf-8-sig", "replace")
        if "\0" in text:
            self.skipped.append((path, "not a text"))
            return None
        meant, count = repaired(text.replace("\r\n", "\n"))
        return Text(path, meant, count, cut, link)


def tail_of(path: str) -> str:
    """The name of a file and of the folder that holds it."""
    return "/".join(path.rsplit("/", 2)[-2:])


def around(path: str) -> str:
    """A path without the names of agents, and of their groups, in a program's folder: `plan.md` there is no plan."""
    return _OWN_FILES.sub(r"\1/agent.md", path)


_OWN_FILES = re.compile(
    r"((?:^|/)\.[\w-]+/(?:agents?|chatmodes))/(?!.*(?:archive|deprecated|/old/))"
    r"(?:[\w-]+/)*[a-z][a-z-]*(?:\.agent|\.chatmode)?\.md$"
)


def is_published(path: str) -> bool:
    """Whether a file lies where a site keeps what it shows."""
    return _PUBLISHED.search(path) is not None


def is_past(path: str) -> bool:
    """Whether a document speaks of another time or of nobody: a plan, a report, an archive, a template."""
    *folders, name = around(path).lower().split("/")
    return (
        any(_NUMBERING.sub("", part) in _PAST or part.endswith(("_archive", "-archive")) for part in folders)
        or _DATED.match(name) is not None
        or _ADVICE.search(name) is not None
    )


def is_candidate(path: str) -> bool:
    """Whether a file of this name may say something about agents."""
    name = path.rpartition("/")[2].lower()
    if name.endswith((".md", ".mdc", ".markdown", ".mdx", ".txt", ".yaml", ".yml")) or name.endswith(_SOURCES):
        return not name.endswith((".d.ts", ".min.js", "pnpm-lock.yaml"))
    if not name.endswith((".json", ".jsonc", ".toml")):
        return False
    return (
        is_team_file(path) or is_manifest(path) or any(layout.path.search(f"/{path}") for layout in layouts("settings"))
    )


def is_team_file(path: str) -> bool:
    """Whether a file is of a team's own settings by its name, and no host's."""
    return _TEAM_FILE.search(path) is not None and not any(
        layout.path.search(f"/{path}") for layout in layouts("settings")
    )


def is_manifest(path: str) -> bool:
    """Whether a file is the manifest of a plugin, of a marketplace or of the repository's package."""
    return any(re.search(one, path) is not None for one in words("manifests", ""))
