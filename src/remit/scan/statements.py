"""What documents say of the rights of agents that are defined: in tables, lists, sections and sentences of any heading.

The known agents are the anchor. Where a row, a column, an item or a section is certainly about one of them, each heading
and what stands under it are read alike (`phrases`): tools granted, denied or scoped, kinds of tools, a posture, or a level
whose meaning another table or list gives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document, Line, Row, Table, read_markdown
from remit.scan.model import Account, Entry, Extent, Kind, Mark, Place, Right
from remit.scan.names import Names, key_of
from remit.scan.phrases import Said, clauses, is_posture, marked, mentioned, names_tools, said, topic
from remit.scan.vocabulary import bare, capability, is_heading, is_tool_name, tokens, tool_key, unescaped, without_emoji

_KINDS = ("write", "shell", "network", "delegate")
_LABEL = re.compile(r"^(?:\*\*|__|`)?([^\W\d_][\w /'’-]{1,40}?)(?:\*\*|__|`)?\s*[:：](?:\*\*|__)?\s*(.*)$")
_PATH = re.compile(r"[\w.*-]+/[\w.*{}<>/-]*|\*[\w.*/-]*")
_NUMBERED = re.compile(r"^(?:(?:level|tier|stufe|nivel|l|t)\s?\d+\s*[:.–—-]*\s*|\d+[.)]\s*)", re.IGNORECASE)
_GROUP = re.compile(
    r"^(?:(?P<no>(?:strictly )?read[- ]only|no[- ]write|non[- ]writing)(?: (?:sub-?)?agents?| tier| group)?"
    r"|(?:sub-?)?agents? (?:with|that have) (?:(?P<none>read[- ]only|no write)|(?:full )?write|read[/ -]write) access"
    r"|(?:write[- ]capable|read[/ -]write|writing) (?:sub-?)?agents?)$",
    re.IGNORECASE,
)
"""What heads a group of agents with one right."""
_GROUPED = re.compile(
    r"^(?:agents? (?:with|that (?:have|can|may|use))|who (?:can|may|has)|has|have|can|may)\s+(?P<right>.{3,40})$|^(?P<kind>.{3,30}?)[- ](?:capable|enabled) agents?$",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"^(?:slash )?(?:skills?|commands?|prompts?|hooks?|workflows?|servers?|mcps?|技能|命令|스킬)\b", re.IGNORECASE
)
"""Columns of things that may have the name of an agent."""
ELSEWHERE = re.compile(
    r"\b(?:mcp|servers?|apis?|databases?|db|github|gitlab|services?|secrets?|environments?|branch(?:es)?|cloud|clusters?"
    r"|kubernetes|data|budget|memory|issues?|tickets?|endpoints?)\b",
    re.IGNORECASE,
)
"""What a table of postures may be about besides files."""
_ONLY = re.compile(
    r"^(?:only|nur|solo|sólo|solamente|somente|apenas|seule?)\s+(?P<who>.{2,120}?)\s+(?P<what>(?:can|may|is allowed to|are allowed to|has|have|holds?|uses?"
    r"|darf|dürfen|puede|pueden|pode|podem|peut|peuvent)\s.{3,60})$"
    r"|^(?:[\w ]{3,30}: )?(?P<things>\S.{2,150}?) (?:is|are) (?:(?:strictly )?(?P<held>restricted|limited|reserved|exclusive)|(?:only )?(?:available|granted|allowed|permitted|given))"
    r" (?:only )?(?:to|for) (?:the )?(?P<to>.{2,120}?)$"
    r"|^(?P<sole>\S.{1,60}?) (?:is|are) the only (?:agents?|ones?|roles?) (?:that|which|who|with|allowed to)\s+(?P<right>.{3,60})$",
    re.IGNORECASE,
)
_SOLE = re.compile(r"\b(?:only|nur|solo|sólo|solamente|somente|apenas|seule?)\b", re.IGNORECASE)
_MODAL = re.compile(
    r"^(?:(?:agent|subagent)\s+)?(?P<modal>(?:cannot|can['’]t|can not|may not|must not|never|does not|doesn['’]t|do not|has no|has only|can only|may only|is limited to|is restricted to|has|is)\b.*)$",
    re.IGNORECASE,
)
_MAY = re.compile(r"^(?:may|can|must|may only|can only)\b", re.IGNORECASE)
_SET_OFF = re.compile(r"^\W{0,4}?(?:\*\*|__|`|\[)+@?([^*`_\]\n][^*`\]\n]{0,60}?)(?:\*\*|__|`|\])+(?:\([^)\s]*\))?")
_MOST = 500
_LONGEST = 1_000


class _Level(msgspec.Struct, frozen=True):
    """What a level means, and where a document says so."""

    said: Said
    place: Place


class _Waiting(msgspec.Struct, frozen=True):
    """An agent on a level whose meaning is not known yet."""

    agent: str
    level: str
    place: Place
    shown: str


class Statements:
    """Reads the documents of a repository one by one; `known` are the agents that are defined."""

    def __init__(self, known: Names) -> None:
        self.known = known
        self.page: str | None = None
        """The agent that the page at hand is about as a whole."""
        self.levels: dict[str, dict[str, _Level]] = {}
        self.waiting: list[_Waiting] = []
        self.sole: list[tuple[str, Said, str, Place]] = []

    def read(self, text: Text, document: Document, taken: dict[int, set[str]] | None = None) -> list[Account]:
        """What a document says of known agents. The tools that `taken` names on a line were read already."""
        found: list[Account] = []
        self.page = self.page_of(text, document)
        for table in document.tables:
            found += self._table(text, table, taken or {})
        found += _of_rights(text, list(self._groups(text, document))[:_MOST])
        found += self._sections(text, document)
        found += self._lines(text, document)
        self._list_of_levels(text, document)
        return found[: 4 * _MOST]

    def resolved(self, known: Names) -> list[Account]:
        """What levels mean, and who may not what others alone may, now that all documents were read."""
        found = list(self._alone(known))[: 4 * _MOST]
        for one in self.waiting:
            level = self._meaning(one)
            shown = f"{one.shown} ({level.place})" if level is not None else ""
            account = _account(one.agent, level.said, one.place, shown, listed=True) if level is not None else None
            if account is not None:
                found.append(msgspec.structs.replace(account, most=True))
        return found

    def _meaning(self, one: _Waiting) -> _Level | None:
        """The level of this page, of the only page of its folder that has it, or of the only one anywhere."""
        given = {path: levels[one.level] for path, levels in self.levels.items() if one.level in levels}
        folder = one.place.file.rpartition("/")[0]
        for near in ({one.place.file}, {path for path in given if path.rpartition("/")[0] == folder}, set(given)):
            meanings = {given[path].said: given[path] for path in sorted(near) if path in given}
            if meanings:
                return next(iter(meanings.values())) if len(meanings) == 1 else None
        return None

    # tables

    def _table(self, text: Text, table: Table, taken: dict[int, set[str]]) -> Iterator[Account]:
        column = self.agents_down(table)
        if column is not None:
            yield from self._down(text, table, column, taken)
        elif self.agents_across(table):
            yield from self._across(text, table, taken)
        else:
            self._table_of_levels(text, table)
            owner = self.owner(table.headings)
            if owner is not None and len(table.head.cells) == 2:
                yield from self._properties(text, table, owner)
            elif owner is not None and len(table.head.cells) == 1:
                about = topic(table.head.cells[0])
                value = "\n".join(row.cells[0] for row in table.rows[:_MOST])
                yield from self.interpreted(owner, table.head.cells[0], about, value, Place(text.path, table.head.line))

    def named(self, cell: str) -> list[str] | None:
        """The agents that a cell names; None if it names anything else."""
        single = self.known.resolve(_name(cell))
        if single is not None:
            return [single]
        names = [self.known.by_key.get(key_of(_name(one))) for one in _parts(cell)]
        return [name for name in names if name is not None] if names and None not in names else None

    def agents_down(self, table: Table) -> int | None:
        """The column whose cells name agents that are defined, for the most part."""
        rows = table.rows[:_MOST]
        best: tuple[float, int] | None = None
        for column, heading in enumerate(table.head.cells[:12]):
            other = _OTHERS.match(bare(heading)) is not None or topic(heading) in ("tools", "denied", "elsewhere")
            if other or len(table.head.cells) < 2:
                continue
            filled = [row.cells[column] for row in rows if bare(row.cells[column])]
            names = [self.named(cell) for cell in filled]
            known = sum(one is not None for one in names)
            several = sum(len(one or ()) for one in names)
            share = known / len(filled) if filled else 0
            own = is_heading(heading, "agent") or topic(heading) == "who"
            if (several >= 2 and share >= (0.5 if own else 0.6)) or (own and share > 0.6):
                first = 1.0 if is_heading(heading, "agent") else 0.5 if column == 0 else 0.0
                best = max(best or (0.0, 0), (share + first, -column))
        return -best[1] if best is not None else None

    def agents_across(self, table: Table) -> bool:
        named = [self.known.resolve(_name(cell)) for cell in table.head.cells[1:]]
        known = sum(one is not None for one in named)
        return known >= 2 and known >= 0.6 * len(named)

    def _down(self, text: Text, table: Table, column: int, taken: dict[int, set[str]]) -> Iterator[Account]:
        about = [self._about(table, n) if n != column else "" for n in range(len(table.head.cells))]
        levels = [n for n in range(len(about)) if about[n] in ("", "posture") and _are_postures(table, n)]
        if len(levels) > 1:  # rights to several things, such as folders or memories
            about = ["elsewhere" if one in ("", "posture") else one for one in about]
        things = [said(row.cells[0]).whole for row in table.rows[:_MOST]]
        if column and topic(table.head.cells[column]) == "who" and 2 * sum(things) >= len(things):
            yield from self._inverse(text, table, column)
            return
        who = table.head.cells[column]
        spoken = {n: _spoken(table, n) for n, one in enumerate(about) if one == "posture"}
        for row in table.rows[:_MOST]:
            agents = self.named(row.cells[column]) or ()
            place = Place(text.path, row.line)
            for n, heading in enumerate(table.head.cells):
                if n == column or about[n] == "elsewhere" or not bare(row.cells[n]) or not agents:
                    continue
                if about[n] in ("tools", "denied") and row.line in taken:
                    continue
                if tool_key(bare(heading)) in taken.get(row.line, ()):
                    continue
                if n == 0 and about[n] in ("", "posture") and column and not ELSEWHERE.search(who):
                    yield from _of_rights(text, self._of_group(row.cells[0], agents, place))
                for agent in agents:
                    yield from self.interpreted(agent, heading, about[n], row.cells[n], place, spoken.get(n))

    def _about(self, table: Table, column: int) -> str:
        """What a column is about, by its heading, or by what most of its cells are."""
        heading = table.head.cells[column]
        found = topic(heading)
        where = " ".join((*table.head.cells, *table.headings[-1:]))[:500]
        if found in ("", "posture") and ELSEWHERE.search(where):
            return "elsewhere"
        if found:
            return found
        cells = [row.cells[column] for row in table.rows[:_MOST] if bare(row.cells[column])]
        lists = sum(names_tools(said(cell)) for cell in cells)
        if lists >= 2 and lists >= 0.6 * len(cells):
            return "tools"
        if is_tool_name(heading) and sum(marked(cell) is not None for cell in cells) >= 0.6 * len(cells) > 0:
            return "mark"
        return ""

    def _across(self, text: Text, table: Table, taken: dict[int, set[str]]) -> Iterator[Account]:
        agents = [self.known.resolve(_name(cell)) for cell in table.head.cells]
        for row in table.rows[:_MOST]:
            heading = row.cells[0]
            if tool_key(bare(heading)) in taken.get(row.line, ()):
                continue
            about = topic(heading) or ("mark" if is_tool_name(heading) or said(heading).kinds else "")
            if about in ("", "who"):
                continue
            for n, agent in enumerate(agents):
                if n and agent is not None and n < len(row.cells):
                    yield from self.interpreted(agent, heading, about, row.cells[n], Place(text.path, row.line))

    def _inverse(self, text: Text, table: Table, column: int) -> Iterator[Account]:
        """Rows of tools, or of kinds of tools, with those who may use them; whom the table names elsewhere may not."""
        everybody = {name for row in table.rows[:_MOST] for name in self.named(row.cells[column]) or ()}
        for row in table.rows[:_MOST]:
            agents = self.named(row.cells[column])
            thing = said(row.cells[0])
            if agents is None or not thing.whole:
                continue
            for name in sorted(everybody):
                yes = name in agents
                change = thing if yes else _refused(thing)
                account = _account(name, change, Place(text.path, row.line), _shown("who may use", row.cells[0]))
                if account is not None:
                    yield msgspec.structs.replace(account, closed=False, extent=Extent.UNCLEAR)

    def _properties(self, text: Text, table: Table, owner: str) -> Iterator[Account]:
        """A table of two columns in the section of an agent: "Tools", and which."""
        for row in (Row(table.head.cells, table.head.line), *table.rows[:_MOST]):
            about = topic(row.cells[0])
            if about:
                yield from self.interpreted(owner, row.cells[0], about, row.cells[1], Place(text.path, row.line))

    # one heading and what stands under it

    def interpreted(
        self, agent: str, heading: str, about: str, value: str, place: Place, spoken: frozenset[str] | None = None
    ) -> Iterator[Account]:
        """What stands under a heading, which is about `about`, says of an agent."""
        shown = _shown(heading, value)
        if about == "mode":
            mode = bare(value).lower()
            if mode in ("primary", "subagent"):
                yield _right(agent, mode, True, shown, place)
        elif about in _KINDS or about == "mark":
            yield from _by_kind(agent, heading, about, value, place)
        elif about == "denied":
            account = _account(agent, _refused(said(value)), place, shown)
            yield from [account] if account is not None else []
        elif about in ("tools", "granted"):
            account = _account(agent, said(value), place, shown, listed=about == "tools")
            yield from [account] if account is not None else []
            self._wait(agent, value, place)
        elif about == "posture":
            yield from self._posture(agent, value, shown, place, spoken or frozenset())
        elif about == "" and self.named(value) is None:
            for clause in clauses(bare(value)):
                if is_posture(clause):
                    yield _right(agent, "changes", False, clause, place)
                    return

    def switched(self, agent: str, label: str, about: str, yes: bool, place: Place) -> Iterator[Account]:
        """What a label with `true` or `false` behind it says: `can_write: false`, `read_only: true`."""
        kinds = [kind for kind, _ in said(label).kinds]
        shown = f"{label}: {str(yes).lower()}"
        if is_posture(label):
            yield from [_right(agent, "changes", False, shown, place)] if yes else []
        elif about in _KINDS or (len(kinds) == 1 and kinds[0] in _KINDS):
            yield _right(agent, about if about in _KINDS else kinds[0], yes, shown, place)

    def _posture(self, agent: str, value: str, shown: str, place: Place, spoken: frozenset[str]) -> Iterator[Account]:
        found = said(value)
        self._wait(agent, value, place)
        if is_posture(bare(value)):
            yield _right(agent, "changes", False, shown, place)
        elif found.everything and not found.tools and not found.kinds:
            yield _right(agent, "write", True, shown, place)
        elif found.whole and (found.kinds or found.tools):
            kinds = dict(found.kinds)
            for name, mark, scope in found.tools:
                if capability(name) in _KINDS and not scope:
                    kinds.setdefault(capability(name), mark is not Mark.NO)
            scoped = {capability(name) for name, mark, scope in found.tools if scope}
            if any(kinds.values()):
                kinds.update({one: False for one in spoken if one not in kinds and one not in scoped})
            rights = [(kind, yes) for kind, yes in kinds.items() if kind in (*_KINDS, "changes")]
            yield from (_right(agent, kind, yes, shown, place) for kind, yes in rights)

    def _wait(self, agent: str, value: str, place: Place) -> None:
        plain = _level(value) if not re.search(r"[(（]", value) else ""
        if plain and len(plain) <= 40 and len(self.waiting) < 20 * _MOST:
            self.waiting.append(_Waiting(agent, plain, place, bare(value)))

    # what levels mean

    def _table_of_levels(self, text: Text, table: Table) -> None:
        self._tools_of_levels(text, table)
        if len(table.head.cells) > 1 and topic(table.head.cells[0]) == "posture" and len(table.rows) <= 40:
            self._ladder(text, table)

    def _tools_of_levels(self, text: Text, table: Table) -> None:
        head = table.head.cells
        abouts = [topic(cell) or ("mark" if said(cell).kinds or is_tool_name(cell) else "") for cell in head]
        columns = [
            n for n, about in enumerate(abouts) if n and about in ("tools", "granted", "denied", "mark", *_KINDS)
        ]
        if len(head) < 2 or not columns or len(table.rows) > 40:
            return
        if topic(head[0]) == "tools" or any(is_tool_name(row.cells[0]) for row in table.rows):
            return
        before: Said | None = None
        for row in table.rows:
            whole = Said(whole=True)
            for n in columns:
                whole = _joined(whole, self._cell_of_level(text, head[n], abouts[n], row.cells[n], before))
            before = whole
            self._keep(text, row.cells[0], whole, row.line)

    def _ladder(self, text: Text, table: Table) -> None:
        """Levels whose rights are told in words: what no level below has, and others have, it lacks."""
        told: list[tuple[Row, dict[str, bool | None]]] = []
        by_key: dict[str, dict[str, bool | None]] = {}
        for row in table.rows:
            words_of = " . ".join(row.cells[1:])[:_LONGEST]
            kinds = mentioned(words_of)
            for key, below in by_key.items():
                if re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", words_of.lower()):
                    kinds = {**below, **kinds}
            by_key[_level(row.cells[0])] = kinds
            told.append((row, kinds))
        spoken = {kind for _, kinds in told for kind, yes in kinds.items() if yes is not False} & {"write", "shell"}
        for row, kinds in told if spoken and len(told) > 1 else ():
            if not any(yes is not False for yes in kinds.values()):
                continue
            rights = {kind: kinds.get(kind, False) for kind in spoken}
            found = tuple((kind, yes) for kind, yes in rights.items() if yes is not None)
            self._keep(text, row.cells[0], Said(kinds=found, whole=True), row.line)

    def _cell_of_level(self, text: Text, heading: str, about: str, cell: str, before: Said | None) -> Said:
        if about == "denied":
            return _refused(said(cell))
        if about in ("mark", *_KINDS):
            yes = marked(cell)
            kinds = [kind for kind, _ in said(heading).kinds] or [capability(bare(heading))]
            kinds = [about] if about in _KINDS else kinds
            return Said(kinds=tuple((kind, yes) for kind in kinds if yes is not None), whole=yes is not None)
        found = said(cell)
        refers = re.match(
            r"^(?:everything (?:in|from)|all of|all|same as|as|inherits?)\s+(.{1,30}?)\s*(?:tools)?\s*(?:,|\+|plus|and)\s+(.+)$",
            bare(cell),
            re.IGNORECASE,
        )
        if refers is not None:
            other = self.levels.get(text.path, {}).get(_level(refers[1]))
            return _joined(other.said, said(refers[2])) if other is not None else Said()
        if found.adds:
            return _joined(before, found) if before is not None else Said()
        return found

    def _keep(self, text: Text, name: str, meaning: Said, line: int) -> None:
        if not meaning.whole or not (meaning.tools or meaning.kinds or meaning.everything):
            return
        plain = without_emoji(bare(name))
        keys = {_level(name), *(_level(part) for part in re.split(r"\s[—–-]\s|:\s|\s\(|/", plain))}
        levels = self.levels.setdefault(text.path, {})
        for key in keys - {""}:
            if key_of(key) not in self.known.by_key and len(levels) < _MOST:
                levels.setdefault(key, _Level(meaning, Place(text.path, line)))

    def _list_of_levels(self, text: Text, document: Document) -> None:
        before: Said | None = None
        for line in document.lines:
            if not line.item or len(line.text) > _LONGEST:
                before = None
                continue
            name, rest = _split_item(line.text)
            if name and rest and self.known.by_key.get(key_of(name)) is None:
                found = said(re.sub(r"^tools?:\s*", "", rest, flags=re.IGNORECASE))
                found = (_joined(before, found) if before is not None else Said()) if found.adds else found
                if found.whole and (names_tools(found) or found.kinds):
                    self._keep(text, name, found, line.line)
                    before = found

    # groups, sections, items, sentences

    def _of_group(self, written: str, agents: Sequence[str], place: Place) -> list[tuple[str, Right]]:
        rights = _group(written)
        return [(name, Right(*right, bare(written)[:80], place)) for name in agents for right in rights]

    def _groups(self, text: Text, document: Document) -> Iterator[tuple[str, Right]]:
        """Lists of agents under a heading or a label that gives all of them one right."""
        group: list[tuple[str, bool]] = []
        named, last, under = "", 0, ""
        for line in document.lines:
            heading = line.headings[-1] if line.headings else ""
            if heading != under:
                under, group, named, last = heading, _group(heading), heading, line.line
            label, colon, rest = line.text[:_LONGEST].partition(":")
            own = _group(label.strip("*_ ")) if colon and len(label) < 60 else []
            if own:
                listed = rest.strip("*_ .")
                for name in (self.named(listed) or ()) if listed else ():
                    for right in own:
                        yield name, Right(*right, label.strip("*_ "), Place(text.path, line.line))
                group, named, last = ([] if listed else own), label.strip("*_ "), line.line
            elif not line.item or line.line > last + 3:
                group = group if line.line == last and not line.item else []
            elif group:
                first = re.split(r"\s[—–-]\s|:\s|\s\(", line.text[:100])[0]
                member = self.known.by_key.get(key_of(_name(first)))
                last = line.line
                if member is None:
                    group = []
                for right in group:
                    yield member or "", Right(*right, bare(named)[:80], Place(text.path, line.line))

    def page_of(self, text: Text, document: Document) -> str | None:
        """The agent that a page is about by its name and by its title."""
        name = self.known.by_key.get(key_of(text.path.rpartition("/")[2].partition(".")[0]))
        return name if name is not None and self.known.by_key.get(key_of(_name(document.title))) == name else None

    def owner(self, headings: Sequence[str]) -> str | None:
        """The agent whose section this is: the innermost heading that names one, or else the agent of the page."""
        for one in headings[::-1]:
            name = re.sub(r"^(?:§\s*)?[\d.]*\s*", "", one) if len(one) < 80 else ""
            name = re.split(r"\s[—–-]\s|:\s|\s\(", name)[0] if name else ""
            found = self.known.by_key.get(key_of(_name(name))) if name else None
            if found is not None:
                return found
            if topic(one) == "":
                break
        return self.page

    def _sections(self, text: Text, document: Document) -> Iterator[Account]:
        """Labels in the section of an agent, and the lists below them."""
        for agent, label, value, line in _labelled(document.lines, self.owner):
            yield from self.interpreted(agent, label, topic(label), value, Place(text.path, line))

    def _lines(self, text: Text, document: Document) -> Iterator[Account]:
        """Items and sentences that begin with an agent, and "only X may …"."""
        count = 0
        for line in document.lines:
            if len(line.text) > _LONGEST or count > 4 * _MOST:
                continue
            place = Place(text.path, line.line)
            self._only(line, place)
            for account in (*self._item(line, place), *self._under(line, place)):
                count += 1
                yield account

    def _under(self, line: Line, place: Place) -> Iterator[Account]:
        """A line right under the heading of an agent: its tools alone, or what it may and may not."""
        agent = self.owner(line.headings[-1:]) if line.headings else None
        if agent is None:
            return
        plain = re.sub(r"^(?:it|she|he|the agent|this agent)\s+", "", line.text, flags=re.IGNORECASE)
        first = re.split(r"(?<=[\w`])\.(?:\s|$)", plain)[0]
        found = said(first)
        if names_tools(found) and len(found.granted) > 1:
            account = _account(agent, found, place, first, listed=True)
            if account is not None:
                counted = re.search(r"\((\d{1,3}) tools?\)", line.headings[-1])
                number = (int(counted[1]), place) if counted is not None else None
                yield msgspec.structs.replace(account, kind=Kind.SECTION, counted=number)
        elif _MODAL.match(plain) or _MAY.match(plain):
            yield from self._clauses(agent, plain, place, item=False)

    def _item(self, line: Line, place: Place) -> Iterator[Account]:
        name, rest = _split_item(line.text)
        agent = self.known.by_key.get(key_of(name)) if name else None
        if agent is None or not rest:
            return
        yield from self._clauses(agent, rest, place, item=line.item)

    def _clauses(self, agent: str, rest: str, place: Place, *, item: bool) -> Iterator[Account]:
        for clause in clauses(rest):
            label = _LABEL.match(clause)
            about = topic(label[1]) if label is not None else ""
            if label is not None and about:
                yield from self.interpreted(agent, label[1], about, label[2], place)
                continue
            if is_posture(clause):
                yield _right(agent, "changes", False, clause, place)
                continue
            found = said(clause)
            refused = any(mark is Mark.NO for _, mark, _ in found.tools) or any(not yes for _, yes in found.kinds)
            if found.whole and (refused or (names_tools(found) and len(found.tools) > 1)):
                account = _account(agent, found, place, clause, listed=item and not refused)
                yield from [account] if account is not None else []

    def _only(self, line: Line, place: Place) -> None:
        """ "Only X may edit files": whom it does not name may not."""
        for sentence in re.split(r"(?<=[.!;])\s+", line.text) if _SOLE.search(line.text) else ():
            match = _ONLY.match(
                re.sub(
                    r"\*+|(?<!\w)_+|_+(?!\w)|(?<!\w)`(?=[\w-]+` )|(?<=[\w-])`(?= (?:is|are|may|can))", "", sentence
                ).strip(" .!;")
            )
            if match is None or len(self.sole) >= _MOST:
                continue
            if (
                match["things"]
                and not match["held"]
                and not _SOLE.search(re.sub(r"read[- ]only", "", sentence.lower()))
            ):
                continue
            who = re.sub(
                r"^(?:(?:only|the|el|la|los|las|der|die|das|o|a|le)\s+)+|\s+only$|(?:\s+agents?)(?:\s+only)?$",
                "",
                match["who"] or match["sole"] or match["to"],
                flags=re.IGNORECASE,
            )
            thing = said(match["what"] or match["right"] or match["things"])
            if thing.whole and all(yes for _, yes in thing.kinds) and not thing.everything:
                self.sole.append((who, thing, sentence.strip(), place))

    def _alone(self, known: Names) -> Iterator[Account]:
        """What sentences about those who alone may do something deny all others, once all agents are known."""
        self.known = known
        for who, thing, sentence, place in self.sole:
            agents = self.named(who)
            for name in sorted(set(known.by_key.values()) - set(agents)) if agents is not None else ():
                account = _account(name, _refused(thing), place, sentence)
                if account is not None:
                    yield account


def own_accounts(account: Account, text: Text) -> Iterator[Account]:
    """What the text of a definition says of its own agent's tools, under labels."""
    end = text.text.find("\n---", 3) if text.text.startswith(("---", "\ufeff---")) else 0
    body = text.text[max(end, 0) : max(end, 0) + 60_000].replace("\n---", "\n", 1)
    lines = read_markdown(body, text.text.count("\n", 0, max(end, 0)) + 1).lines[:_MOST]
    reader = Statements(Names([account.agent]))
    labelled = list(_labelled(lines, lambda _: account.agent))
    often = Counter(topic(label) for _, label, _, _ in labelled)
    for _, label, value, line in labelled:
        about = topic(label)
        if often[about] > 1:
            continue  # of a step, or of an example
        if about in ("tools", "denied", *_KINDS) or (about == "posture" and is_posture(bare(value))):
            yield from reader.interpreted(account.agent, label, about, value, Place(text.path, line))


_TOLD = re.compile(r"^\W{0,4}(?:(?P<you>you)\s+|(?=(?:never|do not|don['’]t|must not)\b))(?P<rest>.+)$", re.IGNORECASE)
_AT_TIMES = re.compile(
    r"\b(?:phase|step|stage|mode|when|while|during|if|before|after|first|example|wrong|bad|anti|instead|case|scenario|task|option)\b",
    re.IGNORECASE,
)
"""Words of a heading below which a rule holds at times only."""


def told_in(account: Account, text: Text) -> Iterator[Account]:
    """What the text of a definition tells its agent that it may not: "You have no shell.", "Never use `Write`."."""
    end = text.text.find("\n---", 3) if text.text.startswith(("---", "\ufeff---")) else 0
    body = text.text[max(end, 0) : max(end, 0) + 60_000].replace("\n---", "\n", 1)
    written = text.text.split("\n")
    count = 0
    for line in read_markdown(body, text.text.count("\n", 0, max(end, 0)) + 1).lines:
        if len(line.text) > _LONGEST or any(_AT_TIMES.search(one) for one in line.headings[1:]) or count > 20:
            continue
        *whole, last = re.split(r"(?<=[.!])\s+", line.text)
        after = written[line.line].strip() if line.line < len(written) else ""
        ended = re.search(r"[.!][\s*_]*$", last) is not None or not after or re.match(r"[-*+#|>]|\d+[.)]", after)
        for sentence in (*whole, last) if ended else whole:
            told = _TOLD.match(re.sub(r"\*\*|__", "", sentence))
            if (
                told is None
                or (told["you"] and not _MODAL.match(re.sub(r"^have\b", "has", told["rest"])))
                or _JUST.search(sentence)
            ):
                continue
            found = said(told["rest"])
            named = any(mark is Mark.NO and is_tool_name(name) for name, mark, _ in found.tools)
            kinds = bool(told["you"]) and any(not yes for kind, yes in found.kinds if kind in _KINDS)
            if found.whole and not found.granted and (named or kinds):
                count += 1
                change = _account(account.agent, found, Place(text.path, line.line), sentence)
                yield from [change] if change is not None else []


_JUST = re.compile(r"\b(?:just|simply|merely|blindly)\b", re.IGNORECASE)


def _labelled(
    lines: Sequence[Line], owner: Callable[[Sequence[str]], str | None]
) -> Iterator[tuple[str, str, str, int]]:
    """The owner, the label, what is said under it and its line: on one line, or in the list that follows."""
    label, start = "", 0
    items: list[str] = []
    agent: str | None = None

    def ended() -> Iterator[tuple[str, str, str, int]]:
        if label and items and agent is not None:
            yield agent, label, "\n".join(items), start

    under: tuple[str, ...] | None = None
    for line in lines:
        if line.headings != under:
            yield from ended()
            under, items = line.headings, []
            heading = line.headings[-1] if line.headings else ""
            agent = owner(line.headings)
            label, start = (heading if topic(heading) else ""), line.line
        if agent is None or len(line.text) > _LONGEST:
            continue
        match = _LABEL.match(unescaped(line.text)) if re.search(r"[:：]", line.text[:60]) else None
        if match is not None and topic(match[1]):
            yield from ended()
            label, items, start = "", [], line.line
            if bare(match[2]):
                yield agent, match[1], match[2], line.line
            else:
                label = match[1]
        elif label and line.item:
            items.append(re.split(r"\s[—–-]\s|:\s|：", line.text)[0].strip(" :"))
        elif label and not line.item:
            yield from ended()
            label, items = "", []
    yield from ended()


def _group(written: str) -> list[tuple[str, bool]]:
    """The rights that what heads a group of agents gives or denies."""
    plain = _NUMBERED.sub("", bare(without_emoji(written[:100])).strip(" :"))
    match = _GROUP.match(plain)
    if match is not None:
        if match["no"] or match["none"]:
            return [("changes" if "only" in match[0].lower() else "write", False)]
        return [("write", True)]
    other = _GROUPED.match(plain)
    if other is None:
        return []
    found = said(other["right"] or other["kind"])
    if not found.whole or found.everything:
        return []
    kinds = [*found.kinds, *((capability(name), mark is not Mark.NO) for name, mark, scope in found.tools if not scope)]
    return [(kind, yes) for kind, yes in dict(kinds).items() if kind in _KINDS]


def _by_kind(agent: str, heading: str, about: str, value: str, place: Place) -> Iterator[Account]:
    """A cell under a kind of tool, or under a tool."""
    yes = marked(value)
    shown = _shown(heading, value)
    if about == "mark":
        kinds = [kind for kind, _ in said(heading).kinds]
        if yes is None:
            return
        if kinds:
            yield from (_right(agent, kind, yes, shown, place) for kind in kinds if kind in _KINDS)
        else:
            entry = Entry(bare(heading), Mark.YES if yes else Mark.NO, place)
            yield Account(
                agent=agent, kind=Kind.MATRIX, place=place, extent=Extent.UNCLEAR, entries=(entry,), closed=False
            )
    elif is_posture(bare(value)) or (yes is None and said(value) == Said(whole=True)):
        yield _right(agent, about, False, shown, place)
    elif yes is not None:
        yield _right(agent, about, yes, shown, place)
    elif about == "write" and _are_paths(value):
        yield _right(agent, "write", True, shown, place)


def _are_paths(value: str) -> bool:
    parts = [one for one in re.split(r"[,;\n]\s*|<br\s*/?>|\s+and\s+", value[:400]) if one.strip()]
    return bool(parts) and all(_PATH.fullmatch(bare(one)) for one in parts)


def _account(agent: str, found: Said, place: Place, shown: str = "", *, listed: bool = False) -> Account | None:
    """What words say of an agent, as one account; None if they say nothing."""
    entries = tuple(Entry(name, mark, place, scope) for name, mark, scope in found.tools)
    kinds = [(kind, yes) for kind, yes in found.kinds if kind in (*_KINDS, "changes")]
    positive = [entry for entry in entries if entry.mark is not Mark.NO]
    closed = found.whole and not kinds and not found.adds and (listed or len(positive) > 1 or not shown)
    closed = closed and names_tools(found) and bool(positive)
    if found.everything:
        closed = False
    if not entries and not kinds and not found.everything:
        return None
    if not found.whole and not any(entry.mark is Mark.NO for entry in entries):
        return None
    return Account(
        agent=agent,
        kind=Kind.MATRIX if entries or found.everything else Kind.ROSTER,
        place=place,
        extent=Extent.EVERYTHING if found.everything else (Extent.LIST if closed else Extent.UNCLEAR),
        entries=entries,
        closed=closed,
        rights=tuple(Right(kind, yes, bare(shown)[:80], place) for kind, yes in kinds),
    )


def _refused(found: Said) -> Said:
    """The same tools and kinds, denied."""
    return Said(
        tuple((name, Mark.NO, None) for name, _, scope in found.tools if scope is None),
        tuple((kind, False) for kind, _ in found.kinds),
        whole=found.whole,
    )


def _joined(one: Said, other: Said) -> Said:
    return Said(
        tuple(dict.fromkeys((*one.tools, *other.tools))),
        tuple({**dict(one.kinds), **dict(other.kinds)}.items()),
        one.everything or other.everything,
        one.whole and other.whole,
    )


def _right(agent: str, kind: str, granted: bool, shown: str, place: Place) -> Account:
    return Account(
        agent=agent,
        kind=Kind.ROSTER,
        place=place,
        extent=Extent.UNCLEAR,
        closed=False,
        rights=(Right(kind, granted, bare(shown)[:80], place),),
    )


def _of_rights(text: Text, found: Sequence[tuple[str, Right]]) -> list[Account]:
    return [_right(name, one.kind, one.granted, one.text, one.place) for name, one in found if name]


def _are_postures(table: Table, column: int) -> bool:
    """Whether a third of a column's cells, or more, are postures or rights such as "read/write"."""
    cells = [row.cells[column] for row in table.rows[:_MOST] if bare(row.cells[column])]
    found = [said(cell) for cell in cells]
    kinds = [one.whole and bool(one.kinds) and not one.tools for one in found]
    return 3 * sum(kinds) >= len(cells) and sum(kinds) > 1


def _spoken(table: Table, column: int) -> frozenset[str]:
    """The kinds of tools that change something, as far as the cells of a column speak of them."""
    found = [said(row.cells[column]) for row in table.rows[:_MOST]]
    kinds = {kind for one in found if one.whole for kind, yes in one.kinds if yes}
    kinds |= {capability(name) for one in found if one.whole for name, _, _ in one.tools}
    kinds |= {"write", "shell"} if any(one.everything for one in found) else set()
    return frozenset(kinds & {"write", "shell"})


def _shown(heading: str, value: str) -> str:
    return f"{bare(heading)}: {', '.join(bare(value).splitlines())}"


def _level(written: str) -> str:
    """A level's name in one form: without emphasis, brackets and case."""
    plain = without_emoji(bare(re.sub(r"\([^)]*\)", "", written[:100])))
    return re.sub(r"\s+", " ", plain.lower()).strip(" .:*_")


def _name(cell: str) -> str:
    """The name in a cell, an item or a heading: what is set off in it, or all of it."""
    set_off = _SET_OFF.match(cell)
    plain = bare(without_emoji(set_off[1] if set_off else cell[:200])).lstrip("@")
    return re.sub(r"\.(?:agent|chatmode)?\.?md$", "", plain.rpartition("/")[2]) if plain.endswith(".md") else plain


def _parts(cell: str) -> list[str]:
    return [one for one in tokens(re.sub(r"\s+(?:and|or|und|y|et|&)\s+|\s*/\s*", ", ", cell[:_LONGEST])) if one]


def _split_item(text: str) -> tuple[str, str]:
    """The name that a line begins with, and what it says of it: behind a colon, a dash, a bracket or a verb."""
    line = re.sub(r"^(?:the|der|die|das|el|la|le)\s+", "", unescaped(text[:_LONGEST]), flags=re.IGNORECASE)
    set_off = _SET_OFF.match(line)
    if set_off is not None:
        name, rest = set_off[1], line[set_off.end() :]
    else:
        match = re.match(
            r"@?([\w][\w .&/-]{1,50}?)(?=\s*[:：(—–]|\s-\s|\s(?:cannot|can|may|must|never|has|is|does)\b)", line
        )
        if match is None:
            return "", ""
        name, rest = match[1], line[match.end() :]
    found = re.match(r"^\s*(?:agent\s*)?(?:[:：—–-]+|\()\s*(.*)$", rest, re.DOTALL)
    if found is not None:
        return bare(name).strip(": "), found[1]
    verb = _MODAL.match(rest.strip())
    return (bare(name).strip(": "), re.sub(r"^(?:is|are)\s+", "", verb["modal"])) if verb is not None else ("", "")
