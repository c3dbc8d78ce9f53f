"""Findings about numbers: what documents count, against what is there and what they list."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from remit.model.text import shown
from remit.scan.announced import Announced
from remit.scan.counts import NUMBERS, Count, Form
from remit.scan.files import around
from remit.scan.inventory import Inventory
from remit.scan.lint.finding import finding
from remit.scan.model import Finding, Place
from remit.scan.sums import Sum
from remit.scan.vocabulary import section, words

_MOST = 12
_FIRST_PAGE = re.compile(
    rf"^(?:[^/]+/)?(?:{'|'.join(sorted(words('first_pages', '')))})(?:[._-][\w-]+)?\.md$", re.IGNORECASE
)
"""The pages that introduce a repository."""
_LARGE = 8
"""From here on a number in a sentence is hardly that of some agents at work."""


class _Wrong(msgspec.Struct, frozen=True):
    """What a number should be, how certain that is (a case of `count-mismatch`), and where it can be seen."""

    case: str
    real: int
    folder: str = ""
    part: str = ""
    """The word in the names of those that are counted, if it counts a part."""


def sum_findings(sums: Sequence[Sum]) -> Iterator[Finding]:
    """Totals that their parts don't add up to."""
    for one in sums:
        if not is_past_page(one.places[0].file):
            text = f"the text counts {one.said} {one.kind}, and its parts add up to {one.added}"
            if one.kind == "files":
                text = f"a tree says {one.said} files, and draws {one.added}"
            yield finding("count-mismatch/sum", text, *one.places)


def announced_findings(announced: Sequence[Announced]) -> Iterator[Finding]:
    """Numbers that differ from the list right below them."""
    for one in announced:
        if not is_past_page(one.place.file):
            text = f"the text announces {one.said} {shown(one.what, 40)}, and {one.listed} are listed"
            yield finding("count-mismatch/listed", text, one.place, real=one.listed)


def count_findings(
    counts: Sequence[Count], inventory: Inventory, pages: frozenset[str], exists: Callable[[str, str], bool]
) -> Iterator[Finding]:
    """Each number that is wrong, once for all places that give it. `pages` are definitions: no documents.

    `exists` says whether a path that a page names leads to something.
    """
    counts = [
        one
        for one in counts
        if not _is_some(one, inventory) and not is_past_page(one.place.file) and not _TEACHES.search(one.place.file)
    ]
    inventories = _inventories(counts, inventory)
    found: dict[tuple[str, int, bool, str], list[tuple[Place, _Wrong]]] = {}
    for count in counts:
        named = _named(count, inventory.folders(count.kind), exists)
        wrong = _against_list(count) or _against(
            count,
            inventory,
            named,
            several=inventories.get(count.place, 0.0),
            own=count.place.file in pages or count.place.file in inventory.paths,
        )
        if wrong is None and not inventory.folders(count.kind):
            wrong = _none(count, inventory, exists)
        if wrong is not None:
            key = (count.kind, count.said, wrong.case == "listed", wrong.part)
            found.setdefault(key, []).append((count.place, wrong))
    for (kind, said, _, part), cases in found.items():
        best = next((wrong for _, wrong in cases if wrong.case == "folder"), cases[0][1])
        if best.case == "listed":
            text = f"the text counts {said} {kind}, and {best.real} are listed below it"
        else:
            has = "defines" if kind == "agents" else "has"
            what = f"{part} {kind}" if part else kind
            text = f"the text speaks of {said} {what}; `{best.folder or '.'}` {has} {best.real}"
        things = inventory.things.get(kind, ()) if best.case != "listed" else ()
        seen = [Place(one.file, 1) for one in things if one.path.startswith(best.folder)]
        places = list({place.file: place for place, _ in reversed(cases)}.values())[::-1][:_MOST]
        yield finding(f"count-mismatch/{best.case}", text, *places, *seen[: kind == "agents"], real=best.real)


_TEACHES = re.compile(r"(?:^|/)skills/(?:[^/]+/)+(?:references?|resources|assets|templates|examples)/")
"""What a skill teaches: it speaks of any team, or of people."""
_OF_A_STAGE = re.compile(
    r"(?:^|[/_.-])(?:phase|sprint|milestone|iteration)[-_. ]?\d|(?:^|[/_-])v\d{1,3}[._]\d{1,3}(?![\d])"
)
"""A page of one phase, sprint or version: it tells what was planned or true then."""


def is_past_page(path: str) -> bool:
    """Whether the name of a page, or of its folder, says that it speaks of another day."""
    *folders, name = around(path).lower().split("/")
    stem = [word for word in re.split(r"[^a-z]+", name.partition(".")[0]) if word]
    said = {*stem[-1:], *(word for folder in folders for word in folder.split("-"))}
    return (
        not words("past_pages", "").isdisjoint(said)
        or _OF_A_STAGE.search("/".join([*folders, name])) is not None
        or re.search(r"\d{4}-\d\d|changelog|release.?notes|migration|demo|^(?:adr|prd|rfc|trd)(?![a-z])", name)
        is not None
    )


def _none(count: Count, inventory: Inventory, exists: Callable[[str, str], bool]) -> _Wrong | None:
    """A number beside a hidden folder that is not there, though the folder around it is."""
    for folder in count.folders:
        hidden = re.search(r"(?:^|/)(\.[\w-]+)/([\w-]+)$", folder)
        if hidden is not None and hidden[2] == count.kind and exists(hidden[1], "") and inventory.paths:
            path = f"{hidden[1]}/{hidden[2]}"
            return None if exists(path, count.place.file) else _Wrong("none", 0, path)
    return None


def _is_some(count: Count, inventory: Inventory) -> bool:
    """Whether a number counts some of a kind: a part, a limit, what was done."""
    if set(count.about) == {"primary"} and inventory.modes:
        return False  # a mode of its own
    if not words("counts_of_a_day", "").isdisjoint(count.around):
        return True
    own = set(count.about) if count.form is not Form.HEADING else set()
    own -= words("main_of_them", "") if count.form is Form.TREE else set()  # what a folder holds
    doing = {word for word in count.about if _DOING.search(word)} if count.form is Form.SENTENCE else set()
    if doing and not any(
        word in thing.path.lower() for word in doing for thing in inventory.things.get(count.kind, ())
    ):
        return True
    before = () if count.before[-1:] == ("the",) or _is_of_company(count) else count.before[-2:]
    return bool(own & words("part_of_agents", "")) or bool(set(before) & words("counts_some", ""))


_DOING = re.compile(r"^(?!engineering|marketing|testing|planning|coding|reasoning)[a-z]{3,}ing$")
"""What some of them do: "all 14 evaluating agents"."""


def _is_of_company(count: Count) -> bool:
    """Whether a number says how large a team, a collection or the like is: "a team of 12 agents"."""
    return count.before[-1:] == ("of",) and not words("companies", "").isdisjoint(count.before[-2:-1])


def _against_list(count: Count) -> _Wrong | None:
    """A number and the list below it."""
    if not count.listed or count.more or count.roughly or count.said in count.listed:
        return None
    real = min(count.listed, key=lambda number: abs(number - count.said))
    return _Wrong("listed", real) if 0.5 * count.said <= real <= 2 * count.said else None


def _inventories(counts: Sequence[Count], inventory: Inventory) -> dict[Place, float]:
    """The places of numbers of several kinds, side by side, with how far from the truth they may be to be meant.

    Where one of them is right, or nearly so, the others speak of this repository too.
    """
    groups: list[list[Count]] = []
    for count in counts:
        if groups and _is_side_by_side(groups[-1][-1], count):
            groups[-1].append(count)
        else:
            groups.append([count])
    found: dict[Place, float] = {}
    for group in groups:
        kinds = {one.kind for one in group} & set(inventory.things)
        if len(kinds) < 2:
            continue
        known = any(
            _is_near(one.said, frozenset({inventory.whole(one.kind, scope)[1]}), 0.5)
            or one.said in inventory.sizes(one.kind, scope, said=frozenset())
            for one in group
            if one.kind in kinds and (scope := inventory.scope_of(one.kind, one.place.file)) is not None
        )
        found.update((one.place, 0.8 if known else 0.5) for one in group)
    return found


def _is_side_by_side(last: Count, count: Count) -> bool:
    if last.place.file != count.place.file or not 0 <= count.place.line - last.place.line <= 2:
        return False
    return last.place.line == count.place.line or (last.form is count.form and count.form is not Form.SENTENCE)


def _against(
    count: Count, inventory: Inventory, named: Sequence[str] | None, *, several: float, own: bool
) -> _Wrong | None:
    """A number and what there is; None if it may be right.

    `several` says that other kinds are counted beside it, and how far from the truth it may be.
    """
    if named is None or not inventory.folders(count.kind):
        return None
    if named:
        return _against_folders(count, inventory, named)
    scope = _scope(count, inventory, told=bool(several) or _tells_all(count))
    if scope is not None and (part := _named_part(count, inventory, scope)) is not None:
        return part
    claims = count.said >= _LARGE and not words("own_agents", "").isdisjoint(count.about)
    if (own and not claims) or scope is None or count.form is Form.TREE or any("/" in one for one in count.folders):
        return None
    sizes = inventory.sizes(count.kind, scope, said=count.line | count.under)
    if scope and not count.more and count.said in inventory.sizes(count.kind, "", said=frozenset()):
        return None  # a translated page may speak of the whole repository
    folder, most = inventory.whole(count.kind, scope)
    if _is_of_other_program(count, folder):
        return None
    told = bool(several) or _tells_all(count) or (count.form is Form.HEADING and _is_whole(count))
    told = told or count.home is not None or _is_alone(count)
    if count.row and count.said <= most:
        return None  # a row of a table is about what its first cell names
    sure = bool({"total", "all"} & {*count.about, *count.before[-1:]})
    near = _is_near(count.said, frozenset({most}), max(several, 0.75 if sure else 0.5 if told else 0.25))
    told = told or count.before[-1:] == ("the",)
    told = told or (count.before[-1:] in (("a",), ("an",)) and bool(set(count.about) & words("companies", "")))
    if count.ours and _FIRST_PAGE.search(count.place.file) is not None and _is_whole_kind(count):
        told, near = True, near or abs(count.said - most) <= max(most, 2)
    return _wrong(count, sizes, inventory, "all", folder, most) if near and told else None


def _is_whole_kind(count: Count) -> bool:
    """Whether no word makes what is counted some of its kind."""
    return set(count.about) <= words("counts_whole", "") | words("own_agents", "") | set(NUMBERS)


def _is_alone(count: Count) -> bool:
    """Whether a number can only mean all: large, or at the beginning of a sentence, with no word to limit it."""
    if count.form is not Form.SENTENCE or count.table or count.kind in ("hooks", "tools", "plugins"):
        return False
    if _FIRST_PAGE.search(count.place.file) is None:
        return False  # a page about something else may tell how it was, or will be
    if count.said in count.listed or (count.named_first and count.before):
        return False  # the list says what it counts; the words before a noun say which of them
    return _is_whole_kind(count) and (count.said >= _LARGE + 2 or (count.said >= _LARGE - 1 and not count.before))


def _is_of_other_program(count: Count, folder: str) -> bool:
    """Whether a heading, or the line, names another program than the one that reads a folder."""
    programs = section("programs")
    own = {name for name, hidden in programs.items() if hidden in folder.split("/")}
    named = programs.keys() & (count.headings | count.line)
    return bool(own and named) and own.isdisjoint(named)


def _against_folders(count: Count, inventory: Inventory, named: Sequence[str]) -> _Wrong | None:
    """A number and the folders that its line names."""
    sizes = frozenset[int]().union(*(inventory.sizes(count.kind, one, named=True) for one in named))
    bound = count.bound or count.form is Form.TREE
    pointed = count.pointed in named or any(one.endswith(f"/{count.pointed}") for one in named if count.pointed)
    own = set(count.about) <= words("counts_whole", "") | words("own_agents", "") | set(NUMBERS)
    near = _is_near(count.said, sizes, 0.5) or (pointed and max(sizes) <= 3 and count.said <= 2 * max(sizes) + 1)
    if not bound and not (near and (own or pointed or _tells_all(count))):
        return None
    if len(named) == 1:
        return _wrong(count, sizes, inventory, "all" if count.form is Form.TREE else "folder", named[0])
    above = os.path.commonpath(named)
    whole = inventory.sizes(count.kind, above, named=True)
    return _wrong(count, sizes | whole, inventory, "all", above, max(whole))


def _named(count: Count, folders: Sequence[str], exists: Callable[[str, str], bool]) -> list[str] | None:
    """The folders of things that a line names: by their path, or by its end, below a name that a tree gives the whole.

    None if it names a folder that is there and holds none.
    """
    found: list[str] = []
    for written in count.folders:
        parts = written.split("/")
        tree = count.form is Form.TREE and len(parts) > 1 and not exists(parts[0], "")
        for end in (written, "/".join(parts[1:])) if tree else (written,):
            same = [one for one in folders if one == end or one.endswith(f"/{end}")]
            exact = [one for one in same if one == end]
            if not exact and written and parts[-1] == count.kind and exists(end, count.place.file):
                exact = [one for one in same if _is_beside(one, end, count)]
                if not exact:
                    return None
            if same:
                found += exact or same
                break
    return list(dict.fromkeys(found))


def _is_beside(folder: str, end: str, count: Count) -> bool:
    """Whether a folder is what its path means on a page: from the page's folder, or one above it."""
    above = folder.removesuffix(end).rstrip("/")
    return not above or count.place.file.startswith(f"{above}/")


def _scope(count: Count, inventory: Inventory, *, told: bool) -> str | None:
    """The folder that a page speaks of: its own team's, or the whole repository for a page of it."""
    if count.home is not None:
        return count.home if inventory.has(count.kind, count.home) else None
    scope = inventory.scope_of(count.kind, count.place.file)
    between = count.place.file[len(scope) :].strip("/").split("/")[:-1] if scope is not None else []
    page = not between or not words("page_folders", "").isdisjoint({between[0].lower(), *between[0].lower().split("-")})
    things = words("thing_folders", "")
    readme = len(between) == 1 and between[0] in things and count.place.file.lower().endswith("/readme.md")
    return scope if page or (told and (scope or readme)) else None


def _named_part(count: Count, inventory: Inventory, scope: str) -> _Wrong | None:
    """A number of agents with a word that is part of their names: "12 reviewer agents"."""
    if count.kind != "agents" or len(count.about) != 1 or count.row or count.form is Form.TREE:
        return None
    if count.about == ("primary",) and inventory.modes:
        return _wrong(count, inventory.of_mode("primary"), inventory, "all", inventory.whole("agents", scope)[0])
    sizes = inventory.named_for(count.about[0], scope)
    if max(sizes) < 4 or count.said < 4 or not _is_near(count.said, sizes, 0.25):
        return None
    folder = inventory.whole("agents", scope)[0]
    return _wrong(count, sizes, inventory, "all", folder, max(sizes), count.about[0])


def _is_whole(count: Count) -> bool:
    """Whether a heading counts all of a kind, and not a group of it."""
    return set(count.about) <= words("counts_whole", "") | words("own_agents", "")


def _tells_all(count: Count) -> bool:
    own = bool(set(count.about) & words("own_agents", "")) or _is_of_company(count)
    return own or bool(set(count.before[-3:]) & words("counts_all", ""))


def _is_near(said: int, sizes: frozenset[int], share: float) -> bool:
    """Whether a number can mean these at all: a sentence about three of forty does not."""
    if max(sizes) <= 3:
        return False
    if max(sizes) < said:
        return said - max(sizes) <= share * said  # more than there are is no part of them
    return any(abs(said - size) <= share * size for size in sizes)


def _wrong(
    count: Count, sizes: frozenset[int], inventory: Inventory, case: str, scope: str, real: int = 0, part: str = ""
) -> _Wrong | None:
    right = set(sizes)
    if count.kind == "agents":
        leads = inventory.leads(scope)
        listed = count.said in count.listed
        if leads and (listed or count.around & (words("counts_workers", "") | words("leads", ""))):
            right |= {size - less for size in sizes for less in range(1, leads + 1)}
        elif count.around & words("leads", ""):
            right |= {size + 1 for size in sizes}  # whoever reads the page leads the others
    if count.kind == "rules" and "files" in count.line:
        right |= {size + 1 for size in sizes}  # with the page that lists them
    if count.kind == "agents" and inventory.modes:
        named = count.around & words("counts_workers", "")
        right |= inventory.of_mode("subagent") if named else {inventory.modes.count("subagent")}
    if count.kind == "hooks":
        right |= {inventory.started(scope)}
    if count.said in right or (count.more and max(*right, inventory.whole(count.kind, "")[1]) >= count.said):
        return None
    if count.roughly and _is_near(count.said, sizes, 0.25):
        return None
    return _Wrong(case, real or max(sizes), scope, part)
