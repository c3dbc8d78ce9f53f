"""Findings about paths that documents name and that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from remit.scan.lint.counts import is_past_page
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Finding
from remit.scan.paths import Drawn
from remit.scan.rosters import is_invented
from remit.scan.vocabulary import words

_MOST = 6
_SCRIPT = re.compile(r"\.(?:py|sh|js|mjs|cjs|ts|ps1)$")
_THINGS = re.compile(r"(?:^|/)(?:agents?|chatmodes|skills?|commands?|hooks|prompts|instructions|rules)/")
_KEPT = re.compile(r"\.(?:mdc?|py|sh|js|mjs|cjs|ts|ps1)$")
_COMMON = re.compile(
    r"(?:^|/)(?:agents?|chatmodes)/[^/]+\.md$|/[A-Z]+\.md$(?<!/SKILL\.md)|/[a-z]+-instructions\.md$|\d\d"
)
"""Definitions, which are compared elsewhere; files that hosts know in every repository; what is numbered."""
_MAKES = re.compile(
    r"setup|install|init|bootstrap|creator|scaffold|generator|migrat|overhaul|upgrade|output|\.txt$", re.IGNORECASE
)
"""Pages about what is made elsewhere."""
_WORK = re.compile(r"(?:^|/)(?:skills?|commands?|agents?|prompts|workflows|rules|instructions|protocols)/")
"""Where pages tell an agent what to do, often in another repository."""


def path_findings(
    drawn: Sequence[Drawn], exists: Callable[[str, str], bool], somewhere: Callable[[str], bool]
) -> Iterator[Finding]:
    """Paths that are not there, where most of those beside them are. `exists` says so for a path on a page."""
    for one in drawn:
        if is_past_page(one.page):
            continue
        there = [path for path, _ in one.paths if exists(path, one.page)]
        absent = [(path, place) for path, place in one.paths if path not in there and not _is_local(path)]
        if one.form == "text":
            absent = [
                found
                for found in absent
                if _is_meant(found[0], one, there, exists)
                or (_is_kept(found[0], one.page, exists) and not somewhere(found[0]))
            ]
        elif one.form == "skill":
            absent = [found for found in absent if _is_own(found[0], one, there, exists) and not somewhere(found[0])]
        elif len(there) < 4 or len(absent) > (0.5 if one.form == "table" else 0.34) * len(there):
            continue  # the tree of something else
        elif one.form == "table":
            absent = [(path, place) for path, place in absent if "/" in path.rstrip("/")]
        elif one.form == "tree":
            absent = [(path, place) for path, place in absent if not re.search(r"(?:^|/)(?:agents?|chatmodes)/", path)]
        if absent:
            paths = list(dict.fromkeys(path for path, _ in absent))
            text = f"{listing(paths, _MOST)} {'does' if len(paths) == 1 else 'do'} not exist"
            yield finding("missing-file", text, *(place for _, place in absent[:_MOST]))


def _is_meant(path: str, page: Drawn, there: Sequence[str], exists: Callable[[str, str], bool]) -> bool:
    """Whether a path in a text means a file of this repository: its folder is there, and others of it are named."""
    folder = path.rpartition("/")[0]
    if _THINGS.search(path) or not exists(folder, ""):
        return False  # compared with what is defined, elsewhere; or of another program
    if _SCRIPT.search(path):
        return True
    beside = [one for one in there if one.partition("/")[0] == path.partition("/")[0] and "/" in one]
    return len(beside) >= 2 and _WORK.search(page.page) is None


def _is_kept(path: str, page: str, exists: Callable[[str, str], bool]) -> bool:
    """Whether a path in a text is one that a repository would keep, though its folder may be absent too."""
    if _KEPT.search(path) is None or _COMMON.search(path) is not None or _MAKES.search(page) is not None:
        return False
    skill = re.match(r"[^/]+/skills/[^/]+(?=/)", path)
    there = skill is not None and exists(skill[0], "")
    return there or _SCRIPT.search(path) is not None or _WORK.search(page) is None


def _is_own(path: str, page: Drawn, there: Sequence[str], exists: Callable[[str, str], bool]) -> bool:
    """Whether a path in a page of a skill means a file of the skill: its folder is one of skills only, or the page
    names other files of it that the skill has."""
    first = path.partition("/")[0]
    beside = (one for one in there if one.partition("/")[0] == first)
    return first in ("references", "resources") or any(exists(f"{page.skill}/{one}", "") for one in beside)


def _is_local(path: str) -> bool:
    """Whether a path is one of some machine, or stands for any."""
    parts = re.findall(r"[a-z]+", path.lower())
    names = (part.partition(".")[0] for part in path.split("/") if not part.startswith("."))
    return any(map(is_invented, names)) or not words("local_files", "").isdisjoint(parts)
