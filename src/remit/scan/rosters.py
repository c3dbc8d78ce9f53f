"""Where documents enumerate agents, and where they name one: tables, lists, drawn trees, hand-overs, paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import msgspec

from remit.scan.files import Text
from remit.scan.inline import enumerated, names_of_cell
from remit.scan.inventory import thing_of
from remit.scan.markdown import Document, Row, Table, example_rows
from remit.scan.model import Account, Kind, Place
from remit.scan.names import Names, key_of, parts_of
from remit.scan.vocabulary import bare, is_heading, section, without_emoji, words

_SET_OFF = re.compile(r"^\W{0,4}(?:\*\*|`|\[)[@`*]*([\w .&-]{2,50}?)(?:\.md|\.agent)*[`*\]]+")
_LEAF = re.compile(r"^[\s│|]*(?:[├└][─\s-]*|[+`]?--+\s*)`?([\w.-]+?)(?:\.agent|\.chatmode)?\.md\b")
_BRANCH = re.compile(r"^([\s│|]*(?:[├└][─\s-]*|[+`]?--+\s*)?)(?:\./)?(\.?[\w.@-]+(?:/[\w.-]+)*)/(?=\s|$)")
_CUT = re.compile(r"^[\s│|├└─-]*(?:\.\.\.|…|\(?(?:\d+ |and |\+)?more\b|etc)", re.IGNORECASE)
_NAME = re.compile(r"[\w](?:[\w .&/#-]){1,50}")
_HANDS = re.compile(
    r"(?i:\b(?:delegat\w+|hand(?:s|ed|ing)?(?:[ -]off|s?)|escalat\w+|rout\w+|forward\w*) to|\bdelega (?:a|para|ao))\s+"
    r"(?:the\s+)?[`*\"@]{1,3}([a-z][a-z0-9]*(?:[-_][a-z0-9]+)+)(?![\w:-])[`*\"]*"
    r"|\bsubagent_type[\"']?\s*[:=]\s*[\"'`]([a-z][\w-]+)[\"'`]"
    r"|\b(?i:use|invoke|spawn|launch|dispatch|call|run)s? the "
    r"[`*\"@]{1,3}([a-z][a-z0-9]*(?:[-_][a-z0-9]+)+)[`*\"]{0,3} (?:sub-?)?agent\b",
)
_AT = re.compile(r"(?<![\w./@`-])`?@([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)`?(?![\w/.(@-])")
_FILE = re.compile(
    r"(?<![\w/.~$}>*{\\-])(?:\./)?((?:\.?[\w-]+/)*(?:agents|chatmodes|skills|commands|hooks|prompts|instructions|rules)/"
    r"(?:[\w-]+/)*[\w.-]+\.(?:mdc?|py|sh|js|mjs|cjs|ps1|toml))\b(?![\w*])"
)
_FOLDERS_OF_THINGS = ("agents/", "chatmodes/", "skills/", "commands/", "hooks/", "prompts/", "instructions/", "rules/")
_SCRIPT = re.compile(
    r"(?:\$\{?[A-Z]+_(?:PROJECT_DIR|PLUGIN_ROOT)\}?(?:\\?\")?/|(?<![\w/.~$}\\-]))(?:\./)?"
    r"((?:\.?[\w-]+/)+[\w.-]+\.(?:sh|py|js|mjs|cjs|ts|ps1|bash))(?![\w/])"
)
"""A script that settings run, by its path from the root."""
_INVENTED = re.compile(
    r"^(?:my|your|new|some|example|sample|foo|bar|demo|test|custom|the|name|agent(?=$|[-_.](?:\d|[a-z]$|name|id|type|file))|xxx?|other|another|any|this)(?:[-_.]|$)|(?:^|[-_])(?:name|xxx?|example|here|template|foo)$",
    re.IGNORECASE,
)
_AGENT = re.compile(r"agent|代理|智能体|에이전트|エージェント", re.IGNORECASE)
_RUN_BY = re.compile(r"^agent:[ \t]*[\"']?([A-Za-z][\w .-]{1,50}?)[\"']?[ \t]*$", re.MULTILINE)
"""The agent that runs a prompt or a command, in its head."""
_HANDLE = re.compile(r"@[a-z][\w-]{2,40}")
_CODED = re.compile(r"`[a-z][a-z0-9]*(?:-[a-z0-9]+)+`")
_MOST = 500


class Roster(msgspec.Struct, frozen=True):
    """One enumeration of agents: the names as they are written, with the line of each."""

    names: tuple[tuple[str, int], ...]
    form: str
    """`table`, `list`, `tree`, `handles` (a column of `@names`), or `matrix` for all that says what agents may use."""
    place: Place
    headings: tuple[str, ...]
    """The line that introduces it, or its heading, and the heading above that."""
    folder: str = ""
    """The folder that a tree draws."""
    cut: bool = False
    """Whether it says that there are more."""
    loose: bool = False
    """Whether its column may name people and roles that are no agents."""
    part: bool = False
    """Whether only the tables beside it, under one heading, make it an enumeration."""
    kind: str = "agents"
    """What it enumerates: agents, or things such as skills and commands."""


class Mention(msgspec.Struct, frozen=True):
    """A name that a text uses for an agent, or the path of a definition."""

    name: str
    form: str
    """`handover`, `at`, `file`, `link` or `script`."""
    place: Place


class Page(msgspec.Struct, frozen=True):
    """What a text says of who there is."""

    path: str
    rosters: tuple[Roster, ...]
    """Its enumerations of agents."""
    things: tuple[Roster, ...]
    """Its enumerations of skills, commands and the like."""
    mentions: tuple[Mention, ...]
    own: bool
    """Whether it is part of the team: a definition, a command, a skill."""
    spoken: str
    """Every word of it, in the form of a key."""
    named: str = ""
    """The words of it that are set off as names, in the same form."""

    def names(self, key: str) -> bool:
        """Whether it names somebody or something: a name of one word, which may be an ordinary word, only set off."""
        return f"-{key}-" in (self.spoken if "-" in key else self.named)


def read_page(
    text: Text, document: Document, known: Names, accounts: Sequence[Account], things: Mapping[str, frozenset[str]]
) -> Page | None:
    """The enumerations and the names of a text; None if it has none. `things` are keys of names, by kind."""
    rosters = [*_tables(text, document, known), *_lists(text, document, known), *_trees(text, document)]
    rosters += _inline(text, document, known)
    matrix = {one.agent: one.place.line for one in accounts if one.kind is Kind.MATRIX}
    if matrix:
        rosters.append(Roster(tuple(matrix.items()), "matrix", min(one.place for one in accounts), ()))
    mentions = [*_mentions(text), *_drawn(text, document)][:_MOST]
    others = list(_of_things(text, document, things))
    if not rosters and not mentions and not others:
        return None
    spoken = f"-{'-'.join(parts_of_text(text.text))}-" if rosters or others else ""
    named = f"-{'--'.join(_set_off(document))}-" if rosters or others else ""
    own = re.search(r"(?:^|/)(?:agents?|commands?|skills|chatmodes|prompts)/", text.path) is not None
    return Page(text.path, tuple(rosters[:_MOST]), tuple(others[:_MOST]), tuple(mentions), own, spoken, named)


def parts_of_text(text: str) -> list[str]:
    """The words of a text as names have them."""
    return re.findall(r"[^\W_]+", text.lower())


_AS_A_NAME = re.compile(
    r"`([^`\n]{1,200})`|\*\*([^*\n]{1,60})\*\*|\[([^\]\n]{1,80})\]\(([^)\s]{1,200})\)|(?<![\w/])([/@][a-zA-Z][\w:-]*)"
    r"|(?<![\w./-])([\w./-]{1,100}?\.(?:md|toml|py|sh|js|ts))\b|(?<=[a-z,;] )([A-Z][\w-]*)"
)
"""What is set off as a name: code, bold, links, `/commands`, `@agents`, files, and capitals inside a sentence."""


def _set_off(document: Document) -> Iterator[str]:
    """What a document sets off as names, each as its words: also short headings, first words of items, and cells."""
    lines = [line.text for line in (*document.lines, *document.headings)]
    rows = [row for table in document.tables for row in (table.head, *table.rows)]
    fenced = [line for block in document.code for line in block.text.split("\n")]
    for written in (*lines, *(cell for row in rows for cell in row.cells), *fenced):
        for match in _AS_A_NAME.finditer(written[:4_000]):
            yield "-".join(parts_of_text(" ".join(one for one in match.groups() if one)))
    firsts = [re.split(r"\s[—–-]\s|[:：(（]", line.text)[0] for line in document.lines if line.item]
    for short in (*firsts, *(line.text for line in document.headings), *(cell for row in rows for cell in row.cells)):
        words_of = parts_of_text(short[:100])
        if len(words_of) <= 3:
            yield "-".join(words_of)


def _tables(text: Text, document: Document, known: Names) -> Iterator[Roster]:
    labels = _labels(document)
    columns = {table.head.line: _column(table, known) for table in document.tables}
    together: dict[tuple[object, ...], list[int]] = {}
    for table in document.tables:
        names, right, certain = columns[table.head.line]
        if certain and len(table.headings) > 1:
            total = together.setdefault((table.headings[:-1], table.head.cells), [0, 0])
            total[0] += right
            total[1] += len(names)
    for table in document.tables:
        names, right, certain = columns[table.head.line]
        few, share = (2, 0.5) if certain and all(is_one_word(name) for name, _ in names) else (3, 0.6)
        group = together.get((table.headings[:-1], table.head.cells), [0, 1])
        alone = right >= few and right >= share * len(names)
        if names and (alone or (certain and group[0] >= 3 and group[0] >= 0.8 * group[1])):
            place = Place(text.path, names[0][1])
            label = labels.get(table.head.line - 1) or labels.get(table.head.line - 2)
            headings = ((label,) if label else ()) + table.headings[:-3:-1]
            yield Roster(tuple(names), "table", place, headings, cut=_is_cut(names), loose=not certain, part=not alone)
        yield from _handles(text, table, known)


def _column(table: Table, known: Names) -> tuple[list[tuple[str, int]], int, bool]:
    """The names of a table's column of agents, how many are known, and whether its heading says that it is one."""
    best: tuple[list[tuple[str, int]], int, bool] = ([], 0, False)
    for column in range(min(3, len(table.head.cells))):
        rows = [row for row in table.rows if bare(row.cells[column]) and not _is_elsewhere(row)]
        names = [(_name(row.cells[column]), row.line) for row in rows]
        right = sum(known.by_key.get(key_of(name)) is not None for name, _ in names)
        certain = _AGENT.search(table.head.cells[column]) is not None
        if names and right and is_heading(table.head.cells[column], "agent"):
            return names, right, certain
        if right >= 4 and right >= 0.8 * len(names) and column == 0:
            best = names, right, False
    return best


def _is_elsewhere(row: Row) -> bool:
    """Whether a row says that its agent is the host's own, or is yet to come."""
    return any(bare(cell).lower() in words("elsewhere", "") for cell in row.cells)


def is_one_word(name: str) -> bool:
    """Whether a name is written without blanks."""
    return " " not in name.strip()


def _handles(text: Text, table: Table, known: Names) -> Iterator[Roster]:
    """A column whose cells are nothing but `@names`, or names such as `docs-writer` in marks of code."""
    for column in range(1, min(12, len(table.head.cells))):
        found: dict[str, int] = {}
        for row in table.rows:
            cell = re.sub(r"\*", "", row.cells[column])
            names = [part.strip() for part in re.split(r"[,/·]|<br>|\band\b", cell) if part.strip()]
            handles = [_HANDLE.fullmatch(name.replace("`", "")) or _CODED.fullmatch(name) for name in names]
            names = [name.replace("`", "") for name in names]
            if not names or not all(handles):
                continue
            for name in names:
                found.setdefault(name.lstrip("@"), row.line)
        right = sum(known.by_key.get(key_of(name)) is not None for name in found)
        if right >= 3:
            yield Roster(tuple(found.items()), "handles", Place(text.path, table.head.line), ())


def _labels(document: Document) -> dict[int, str]:
    """Lines that introduce what follows, by their numbers: `**Available agents:**`."""
    return {
        line.line: line.text.strip("*_: ：")
        for line in document.lines
        if not line.item and len(line.text) < 80 and line.text.rstrip("*_ ").endswith((":", "："))
    }


def _is_cut(names: Sequence[tuple[str, int]]) -> bool:
    return any(_CUT.match(name) for name, _ in names)


def _name(cell: str) -> str:
    set_off = _SET_OFF.match(cell)
    return bare(without_emoji(set_off[1] if set_off else cell)).lstrip("@")


def _lists(text: Text, document: Document, known: Names) -> Iterator[Roster]:
    group: list[tuple[str, int, tuple[str, int]]] = []
    labels = _labels(document)
    above: tuple[str, ...] = ()
    heading, label, last, cut = "", "", 0, False

    def ended() -> Iterator[Roster]:
        marks = [mark for name, _, mark in group if known.by_key.get(key_of(name)) is not None]
        alike = [(name, line) for name, line, mark in group if mark in marks]
        if len(marks) >= 3 and len(marks) >= 0.6 * len(alike):
            headings = ((label,) if label else ()) + above[:-3:-1]
            yield Roster(tuple(alike), "list", Place(text.path, alike[0][1]), headings, cut=cut)

    for line in document.lines:
        under = line.headings[-1] if line.headings else ""
        if group and (under != heading or not line.item or line.line > last + 3):
            yield from ended()
            group, cut = [], False
        set_off = _SET_OFF.match(line.text) if line.item and "](#" not in line.text else None
        cut = cut or (line.item and _CUT.match(line.text) is not None)
        if set_off is not None:
            if not group:
                label = labels.get(line.line - 1) or labels.get(line.line - 2) or ""
            group.append((set_off[1], line.line, (set_off[0].lstrip()[:1], line.indent)))
            heading, above, last = under, line.headings, line.line
    yield from ended()


def _inline(text: Text, document: Document, known: Names) -> Iterator[Roster]:
    """Lines that are a word for agents and their names: "Agents: docs, tests, release"."""
    for one in enumerated(document):
        right = sum(known.by_key.get(key_of(name)) is not None for name in one.names)
        if _AGENTS.search(one.label) is not None and right >= 3 and right >= 0.6 * len(one.names):
            names = tuple((name, one.line) for name in one.names)
            yield Roster(names, "inline", Place(text.path, one.line), (one.label, *one.headings[:-3:-1]))


_AGENTS = re.compile(r"\b(?:sub-?)?agents?\b|代理|智能体|에이전트|エージェント|\bagentes?\b|\bagenten\b", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def thing_key(written: str) -> str:
    """One text for all spellings of the name of a skill, a command or a script: `/docs:write-page` is `write-page`."""
    name = bare(without_emoji(written)).strip().lstrip("/@$").split(" ")[0].removesuffix("/SKILL.md").rstrip("/")
    name = re.sub(r"(?:\.prompt|\.instructions|\.chatmode)?\.(?:md|mdc|toml|py|sh|js|mjs|cjs|ts|ps1|bash)$", "", name)
    return "-".join(parts_of_text(re.split(r"[/:]", name)[-1]))


def things_by_kind(paths: Iterable[str]) -> dict[str, frozenset[str]]:
    """The keys of the names of skills, commands and the like, by kind; commands and skills may be called alike."""
    found: dict[str, set[str]] = {}
    for path in paths:
        kind, thing = thing_of(path) or ("", None)
        if thing is not None:
            found.setdefault(kind, set()).add(thing_key(thing.name))
    return {kind: frozenset(keys) for kind, keys in found.items()}


def _of_things(text: Text, document: Document, things: Mapping[str, frozenset[str]]) -> Iterator[Roster]:
    """Tables, lists and trees most of whose names are those of skills, commands or the like, and that say which."""
    labels = _labels(document)
    beside = _kind_of_folder(text.path)
    for table in document.tables:
        label = labels.get(table.head.line - 1) or labels.get(table.head.line - 2) or ""
        headings = (label, *table.headings[:-3:-1]) if label else table.headings[:-3:-1]
        for kind in kinds_of(table.head.cells[_first(table)]) or kinds_of(*headings[:1]) or beside:
            names = _column_of_things(table, kind, things.get(kind, frozenset()))
            if names:
                place = Place(text.path, names[0][1])
                yield Roster(tuple(names), "table", place, headings, cut=_is_cut(names), kind=kind)
    for table in document.tables:
        yield from _columns_of_things(text, table, things)
    for one in enumerated(document):
        names = [(name, one.line) for name in one.names]
        for kind in kinds_of(one.label):
            if _mostly(names, things.get(kind, frozenset())):
                headings = (one.label, *one.headings[:-3:-1])
                yield Roster(tuple(names), "inline", Place(text.path, one.line), headings, kind=kind)
    items: dict[tuple[tuple[str, ...], str], list[tuple[str, int]]] = {}
    explained = {line.line for line in document.lines if line.item and _EXPLAINED.match(line.text)}
    cut: set[tuple[tuple[str, ...], str]] = set()
    last, label = -9, ""
    for line in document.lines:
        if not line.item:
            continue
        if line.line > last + 3:
            label = labels.get(line.line - 1) or labels.get(line.line - 2) or ""
        last = line.line
        if (name := _THING_ITEM.match(line.text)) is not None:
            items.setdefault((line.headings, label), []).append((name[1], line.line))
        elif _CUT.match(line.text):
            cut.add((line.headings, label))
    for (above, label), names in items.items():
        headings = (label, *above[:-3:-1]) if label else above[:-3:-1]
        named = kinds_of(*headings[:1])
        for kind in named or beside:
            if not named:
                names = [(name, line) for name, line in names if line in explained and not name.endswith("/")]
            if _mostly(names, things.get(kind, frozenset())):
                place = Place(text.path, names[0][1])
                yield Roster(tuple(names), "list", place, headings, cut=(above, label) in cut, kind=kind)


def _column_of_things(table: Table, kind: str, known: frozenset[str]) -> list[tuple[str, int]]:
    """The names of a table's first column, or of one beside it that has nothing but files of the kind."""
    first = _first(table)
    rows = [row for row in table.rows if bare(row.cells[first]) and not _is_elsewhere(row)]
    for column in range(first, min(first + 3, len(table.head.cells))):
        cells = [(row, names_of_cell(row.cells[column])) for row in rows]
        found = [(name, row.line) for row, several in cells for name in several or _thing_in(row.cells[column])]
        if column > first:
            found = [(name, line) for name, line in found if "." in name]
        if len({line for _, line in found}) >= 0.9 * len(table.rows) and _mostly(found, known):
            return found
    called = [(bare(without_emoji(row.cells[first])), row.line) for row in rows]
    called = [(re.sub(r"[\s_]+", "-", name.lower()), line) for name, line in called if re.fullmatch(r"[\w -]+", name)]
    if kinds_of(table.head.cells[first]) == [kind] and len(called) == len(table.rows) and _mostly(called, known):
        return called
    return []


def _first(table: Table) -> int:
    """The first column that does not just number the rows."""
    rows = table.rows[:50]
    numbered = all(re.fullmatch(r"\W*\d{0,4}\W*", row.cells[0]) for row in rows)
    return 1 if rows and numbered and len(table.head.cells) > 1 else 0


def _thing_in(cell: str) -> list[str]:
    name = _THING.match(cell)
    return [name[1]] if name is not None else []


def _columns_of_things(text: Text, table: Table, things: Mapping[str, frozenset[str]]) -> Iterator[Roster]:
    """The names of skills or commands that a table gives each agent, or each task, in a column of its own."""
    for column in range(1, min(12, len(table.head.cells))):
        head = bare(table.head.cells[column])
        for kind in kinds_of(head) if len(head.split()) <= 3 else ():
            cells = [(re.split(r"\s*[,/·+]\s*|<br\s*/?>", row.cells[column].strip()), row.line) for row in table.rows]
            names = [(name.strip("` *"), line) for parts, line in cells for name in parts if name.strip("` *—–-")]
            unique = list({thing_key(name): (name, line) for name, line in reversed(names)}.values())[::-1]
            if all(_ONE_THING.fullmatch(name) for name, _ in unique) and _mostly(unique, things.get(kind, frozenset())):
                yield Roster(tuple(unique), "column", Place(text.path, table.head.line), (), kind=kind)


_ONE_THING = re.compile(r"/?[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)*")


def _mostly(names: Sequence[tuple[str, int]], known: frozenset[str]) -> bool:
    """Whether most names are known: as they are, or without the prefix that all of them share."""
    keys = [thing_key(name) for name, _ in names]
    right = max(sum(key in known for key in one) for one in (keys, without_prefix(keys)))
    return right >= 3 and right >= 0.7 * len(names)


def without_prefix(keys: Sequence[str]) -> list[str]:
    """The keys without the first word that all of them share; none if they share none."""
    shared = {key.partition("-")[0] for key in keys}
    return [key.partition("-")[2] for key in keys] if len(shared) == 1 and len(keys) > 1 else []


_THING = re.compile(r"^\W{0,4}[`*\[]{0,4}\s*(/?[\w][\w./:-]*)[`*\]]*(?:\([^)]*\))?(?:\s+`?[<\[(].*)?[`*]*\s*$")
"""A cell that is the name of one thing: `/plan <topic>`, [docs](docs/SKILL.md)."""
_THING_ITEM = re.compile(r"^(?:\*\*)?[`\[]+(?:\*\*)?(/?[\w][\w./:-]*)(?:\s+[<\[(][^`]*)?[`*\]]+")
_EXPLAINED = re.compile(r"^(?:\*\*)?[`\[][^`\]]+[`\]](?:\([^)]*\))?(?:\*\*)?\s*(?:[—–:：-]|$)")
"""An item that says what a name is, and not something about it in a sentence."""
_THINGS = ("skills", "commands", "prompts", "hooks", "chatmodes", "rules")


@cache
def _nouns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The kinds of things with a pattern of the words for each, in several languages."""
    patterns = []
    for kind in _THINGS:
        nouns = {kind, kind.removesuffix("s"), *section("countables")[kind]["nouns"]}
        spaced = "|".join(sorted((re.escape(one) for one in nouns if one[0] < "\u3040"), key=len, reverse=True))
        others = "|".join(re.escape(one) for one in sorted(nouns) if one[0] >= "\u3040")
        patterns.append((kind, re.compile(rf"(?<![\w-])(?:{spaced})(?![\w-])" + (f"|{others}" if others else ""))))
    return tuple(patterns)


def kinds_of(*headings: str) -> list[str]:
    """The kinds of things that a heading, or the head of a column, names."""
    plain = [without_emoji(bare(one)).lower() for one in headings]
    return [kind for kind, pattern in _nouns() if any(pattern.search(one) for one in plain)]


def _kind_of_folder(path: str) -> list[str]:
    """The kind of the things that lie beside a page which introduces their folder."""
    folder, _, name = path.rpartition("/")
    parts = folder.split("/")
    introduces = name.lstrip("._").partition(".")[0].lower() in {*words("no_agent_files", ""), "ai", "overview"}
    return [parts[-1]] if introduces and parts[-1] in _THINGS else []


def _trees(text: Text, document: Document) -> Iterator[Roster]:
    for block in document.code:
        if not any(mark in block.text for mark in ("├", "└", "|--", "+--")):
            continue
        above: list[tuple[int, str]] = []
        found: dict[str, list[tuple[str, int]]] = {}
        cut: set[str] = set()
        for number, line in enumerate(block.text.split("\n")[:2000], block.line):
            branch, leaf = _BRANCH.match(line[:400]), _LEAF.match(line[:400])
            column = len(branch[1]) if branch else len(line) - len(line.lstrip(" │|├└─+`-"))
            above = [(depth, name) for depth, name in above if depth < column]
            folder = "/".join(name for _, name in above)
            if branch:
                above.append((column, branch[2]))
            elif leaf and re.search(r"(?:^|/)(?:agents?|chatmodes)(?:/|$)", folder):
                found.setdefault(folder, []).append((leaf[1], number))
            elif _CUT.match(line):
                cut.add(folder)
        for folder, names in found.items():
            place = Place(text.path, names[0][1])
            yield Roster(tuple(names), "tree", place, block.headings[:-3:-1], folder, folder in cut)


def _drawn(text: Text, document: Document) -> Iterator[Mention]:
    """The files of a hidden folder that a tree draws, where their names say what they are."""
    for block in document.code:
        if not any(f".{kind}.md" in block.text for kind in _SUFFIXES):
            continue
        above: list[tuple[int, str]] = []
        for number, line in enumerate(block.text.split("\n")[:2000], block.line):
            branch, leaf = _BRANCH.match(line[:400]), _DRAWN_LEAF.match(line[:400])
            column = len(branch[1]) if branch else len(line) - len(line.lstrip(" │|├└─+`-"))
            above = [(depth, name) for depth, name in above if depth < column]
            if branch:
                above.append((column, branch[2]))
            elif leaf and above:
                folder = "/".join(name for _, name in above)
                if (hidden := re.search(r"(?:^|/)(\.[\w-]+/[\w/-]+)$", folder)) is not None:
                    yield Mention(f"{hidden[1]}/{leaf[1]}", "file", Place(text.path, number))


_SUFFIXES = ("instructions", "prompt", "agent", "chatmode")
_DRAWN_LEAF = re.compile(
    r"^[\s│|]*(?:[├└][─\s-]*|[+`]?--+\s*)`?([\w.+-]+\.(?:instructions|prompt|agent|chatmode)\.md)\b"
)


def _mentions(text: Text) -> Iterator[Mention]:
    fenced = False
    examples = example_rows(text.text)
    if text.text.startswith("---\n") and re.search(r"(?:^|/)(?:prompts|commands?)/", text.path):
        head = text.text[4 : max(4, text.text.find("\n---", 4))][:4000]
        if (named := _RUN_BY.search(head)) is not None:
            at = head.count("\n", 0, named.start()) + 2
            yield Mention(named[1].strip(), "handover", Place(text.path, at))
    for number, raw in enumerate(text.text.split("\n"), 1):
        line = raw[:2000]
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if _HANDING.search(line) is not None and IF_THERE.search(line) is None:
            for match in _HANDS.finditer(line):
                yield Mention(next(one for one in match.groups() if one), "handover", Place(text.path, number))
        if "@" in line and not fenced:
            for match in _AT.finditer(line):
                yield Mention(match[1], "at", Place(text.path, number))
        told = not fenced and number not in examples and any(folder in line for folder in _FOLDERS_OF_THINGS)
        if told and not is_made(line):
            links = list(_LINK.finditer(line))
            for match in links:
                yield Mention(match[1], "link", Place(text.path, number))
            for match in _FILE.finditer(line):
                if not any(link.start() <= match.start() < link.end() for link in links):
                    yield Mention(match[1], "file", Place(text.path, number))


_HANDING = re.compile(r"to|agent|delega")
IF_THERE = re.compile(
    r"\b(?:if|when|where) (?:it is |it's |one is )?(?:available|installed|present|defined|configured)\b", re.IGNORECASE
)
"""What hands work only to an agent that may be missing."""
_MADE = re.compile(
    r"\b(?:creat|generat|writ|add|renam|delet|remov|moved?|migrat|copi|copy|scaffold|e\.g|example|new|your|would|will|legacy|deprecated|"
    r"replac|missing|absent|planned|future|optional|if (?:present|it|exists)|not (?:exist|yet|found))",
    re.IGNORECASE,
)
"""What a line says of a file that need not be there."""


_LINK = re.compile(
    r"(?<!!)\[[^\]\n]{1,80}\]\((?:\./)?((?:\.\./){0,6}(?:[\w.-]+/)*(?:agents|chatmodes|skills|commands|hooks|prompts|instructions|rules)/"
    r"(?:[\w.-]+/)*[\w.-]+\.(?:mdc?|py|sh|js|toml))(?:#[\w-]*)?\)"
)


def is_made(line: str) -> bool:
    """Whether a line speaks of what is yet to be made, or need not be there."""
    return _MADE.search(re.sub(r"`[^`]*`|[\w.-]*/[\w./-]*", "", line)) is not None


def scripts_of(text: Text) -> Page | None:
    """The scripts that a file of settings runs as hooks."""
    found = [
        Mention(match[1], "script", Place(text.path, number))
        for number, line in enumerate(text.text.split("\n"), 1)
        if '"command"' in line
        for match in _SCRIPT.finditer(line[:2000])
    ]
    return Page(text.path, (), (), tuple(found[:_MOST]), True, "") if found else None


def is_invented(name: str) -> bool:
    """Whether a name stands for any name: `my-agent`, `agent-name`."""
    plain = name.removesuffix(".md").removesuffix(".agent")
    return _INVENTED.search(plain) is not None or re.search(r"\b[NX]\b", plain) is not None


def is_name(written: str) -> bool:
    """Whether a cell can be the name of an agent."""
    return _NAME.fullmatch(written) is not None and len(parts_of(written)) <= 4


def shape(name: str) -> str:
    """How a name is written: agents of one list are written alike."""
    if " " in name:
        return "words"
    return "word" if name[:1].isupper() else "id"


def own_names() -> frozenset[str]:
    """The keys of agents that hosts bring along."""
    return frozenset(key_of(name) for name in words("builtin_agents", ""))
