"""Documents that say who may use what: matrices, tables of tool lists, and sections for each agent.

A table counts only if both of its axes are certain: one names tools (by the vocabulary, or under a heading that says
so), the other agents. Tables of a product's user roles, and of general advice, are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from remit.scan.claims import claims_all_tools, claims_read_only
from remit.scan.files import Text
from remit.scan.markdown import Document, Line, Row, Table, read_markdown
from remit.scan.model import Account, Claim, Entry, Extent, Kind, Mark, Place
from remit.scan.names import Names, is_short_for, key_of, short_names
from remit.scan.vocabulary import (
    bare,
    capability,
    is_heading,
    is_tool_name,
    mark_of,
    section,
    split_scope,
    tokens,
    unescaped,
    without_emoji,
)

_ABOUT_AGENTS = re.compile(
    r"\b(?:sub-?agents?|agents?|personas?|specialists?|agentes?)\b|代理|智能体|에이전트", re.IGNORECASE
)
_NAMES_ONE = re.compile(
    r"\b(?:sub-?agents?|agents?|personas?|specialists?|agentes?)\W*(?:\(.*\)\W*)?$|^\W*(?:sub-?)?agente?\b\W*[:—–-]|代理|智能体|에이전트",
    re.IGNORECASE,
)
"""A heading that names an agent, and not what agents need."""
_ABOUT_TOOLS = re.compile(
    r"\b(?:tools?|tool access|permissions?|capabilit\w+|herramientas|permisos|ferramentas|permissões|outils"
    r"|autorisations|access)\b|工具|权限|도구|권한",
    re.IGNORECASE,
)
_PEOPLE = re.compile(
    r"^(?:admin(?:istrator)?s?|users?|guests?|owners?|members?|viewers?|editors?|managers?|staff|employees?"
    r"|support agents?|team leads?|clients?|operators?|supervisors?|agent|anonymous"
    r"|moderators?|customers?|public|superuser)$",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"^\(?(?:none|no tools?|nothing|keine|ninguna|aucun|n/a|-|–|—|∅|无)\)?\.?$", re.IGNORECASE)


def _label(kind: str) -> re.Pattern[str]:
    """A line such as "6 allowed: Read, Grep", in any language of the catalog."""
    found = sorted(section("labels")[kind], key=len, reverse=True)
    spaced = "|".join(re.escape(one) for one in found if one[0] < "\u3040")
    unspaced = "|".join(re.escape(one) for one in found if one[0] >= "\u3040")
    return re.compile(
        rf"^\*{{0,2}}(?:(?P<count>\d{{1,3}})\s*[个個개종]?\s*)?(?:(?:{spaced})\b|(?:{unspaced}))"
        r"[^:：]{0,40}[:：]\*{0,2}\s*(?P<list>(?!\*+$).+)$",
        re.IGNORECASE,
    )


_LISTED = _label("tools")
_REFUSED = _label("denied tools")
_TERM = re.compile(  # what `remit docs` writes of all that an agent does
    r"\W*(?:delegates to (?P<whom>[\w.:/-]+(?:, [\w.:/-]+)*)"
    r"|data tiers (?P<tiers>none|[0-3](?:, [0-3])*)"
    r"|with a grant of its task also data tiers (?P<granted>[0-3](?:, [0-3])*)"
    r"|(?P<capsule>needs a capsule above tier 0)"
    r"|(?P<gate>waits for the gate .+))"
)
_SCOPE = re.compile(r"^\*{0,2}`?(?P<tool>[\w./-]+)`?\s*(?:🔒|✋|⚠️?|\(scoped\))\*{0,2}\s*[—–:-]+\s*(?P<scope>.+)$")
_EVERY_TOOL = re.compile(
    r"^(?:\*|everything|全部|所有|전체|any tools?"
    r"|(?:all|full|complete)(?:(?: available| the)? (?:tools?|toolset|tool access))?)"
    r"(?: ?\(\*\))?"
    r"(?: ?(?:\+|and|plus) ?mcp(?: tools)?)?$",
    re.IGNORECASE,
)
_READS = re.compile(
    r"^(?:(?:strictly )?read[- ]only(?: ?\(.*\))?|只读|읽기 전용|読み取り専用"
    r"|lecture seule|s[oó]lo lectura|(?:somente|apenas) leitura)$",
    re.IGNORECASE,
)
_OWN_MATRIX = re.compile(r"<!--\s*remit:\s*matrix\s*-->")
"""What `remit docs` writes: agents across, tools down."""
_NO_LIMITS = re.compile(
    r"\bnot (?:access |tool )?restrictions\b|\binherit (?:the full|all)[^.\n]{0,40}\btools(?:et)?\b", re.IGNORECASE
)
"""Where a document says that its lists of tools are no limits."""
_MOST_TITLES = 500
_MOST_ACCOUNTS = 2_000
"""What is read of one document: no person writes more."""
_NAME = re.compile(r"[@\w](?:[\w .&/#-]|\+(?! )){0,50}")
_ADDS = re.compile(r"^(?:\+|plus\b|adds?\b)\s*", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\[\^(\w{1,8})\]|([¹²³⁴⁵⁶⁷⁸⁹†‡])")
_NOTE = re.compile(r"^(?:\[\^(\w{1,8})\]:|([¹²³⁴⁵⁶⁷⁸⁹†‡]))\s*(\S.{0,200})$")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w:./*-]*")


def is_written(table: Table, document: Document) -> bool:
    """Whether `remit docs` wrote the table."""
    return any(_OWN_MATRIX.match(line.text) and line.line == table.head.line - 1 for line in document.lines)


class Reader:
    """Reads the documents of a repository; `agents` are names that are known from its definitions."""

    def __init__(self, agents: Iterable[str]) -> None:
        names = list(agents)
        self.agents = {**short_names(names), **{key_of(name): name for name in names}}
        self.known = Names([*self.agents.values(), *self.agents])

    def read(self, text: Text) -> list[Account]:
        """All that a document says of agents."""
        document = read_markdown(text.text)
        found: list[Account] = []
        rest: list[Table] = []
        for table in document.tables:
            accounts = self._table(text, document, table)
            found += accounts
            rest += [] if accounts else [table]
        found += self._roster(text, rest)
        found = found[:_MOST_ACCOUNTS]
        if _NO_LIMITS.search(text.text):
            found = [msgspec.structs.replace(one, limits=False) for one in found]
        named = {key_of(account.agent) for account in found} | set(self.agents)
        found += self._sections(text, document, Names(account.agent for account in found), named)
        return found[:_MOST_ACCOUNTS]

    def _table(self, text: Text, document: Document, table: Table) -> list[Account]:
        head = table.head.cells
        if len(head) < 2 or not table.rows:
            return []
        lists = self._list_table(text, table)
        if lists is not None:
            return lists
        callers = self._callers_table(text, table)
        if callers is not None:
            return callers
        return self._matrix(text, document, table) or []

    # Agent | Allowed tools | …

    def _list_table(self, text: Text, table: Table) -> list[Account] | None:
        head = table.head.cells
        agent = next((n for n, cell in enumerate(head) if is_heading(cell, "agent")), None)
        tools = next((n for n, cell in enumerate(head) if n != agent and is_heading(cell, "tools")), None)
        refused = next((n for n, cell in enumerate(head) if n != agent and is_heading(cell, "forbidden")), None)
        if agent is None or (tools is None and refused is None):
            return None
        found: list[Account] = []
        if tools is not None and sum(bare(row.cells[tools]).isdigit() for row in table.rows) * 2 > len(table.rows):
            return None  # how many, not which
        complete = tools is None or _names_tools(row.cells[tools] for row in table.rows)
        for row in table.rows:
            name = agent_name(row.cells[agent])
            if not name or len(name) > 80:
                continue
            account = self._row(text, row, name, tools, refused, complete=complete)
            if tools is not None and found and _ADDS.match(bare(row.cells[tools])):
                kept = (*found[-1].allowed(), *account.entries)  # what the row above has, and its own
                account = msgspec.structs.replace(account, entries=kept, extent=found[-1].extent)
            found.append(account)
        known = sum(is_tool_name(entry.tool) for account in found for entry in account.entries)
        total = sum(len(account.entries) for account in found)
        ours = any(key_of(account.agent) in self.agents for account in found)
        if not ours and ((total and not known) or (self.agents and "/skills/" in f"/{text.path}")):
            return None  # what a skill says of agents in general
        return found or None

    def _row(
        self,
        text: Text,
        row: Row,
        name: str,
        tools: int | None,
        refused: int | None,
        *,
        complete: bool,
    ) -> Account:
        place = Place(text.path, row.line)
        entries: list[Entry] = []
        extent = Extent.LIST
        if tools is not None:
            extent, entries = listed(row.cells[tools], place)
        denied = listed(row.cells[refused], place, Mark.NO)[1] if refused is not None else []
        if not complete:
            extent = Extent.UNCLEAR  # names of servers and programs: what else the agent has is not said
        claim = next((cell for n, cell in enumerate(row.cells) if n != refused and claims_read_only(bare(cell))), None)
        return Account(
            agent=name,
            kind=Kind.MATRIX,
            place=place,
            extent=extent if tools is not None else Extent.UNCLEAR,
            entries=(*entries, *denied),
            closed=tools is not None and complete,
            read_only=Claim(bare(claim), place) if claim else None,
        )

    # Agent | Purpose | …

    def _roster(self, text: Text, tables: Sequence[Table]) -> list[Account]:
        """The agents that a document's tables name without their tools, if most of them are defined."""
        names: dict[str, int] = {}
        for table in tables:
            if is_heading(table.head.cells[0], "agent"):
                for row in table.rows:
                    names.setdefault(agent_name(row.cells[0]), row.line)
        listed = {name: line for name, line in names.items() if _NAME.fullmatch(name)}
        known = sum(key_of(name) in self.agents for name in listed)
        if known < 3 or known < 0.6 * len(names):
            return []
        return [
            Account(agent=name, kind=Kind.ROSTER, place=Place(text.path, line), extent=Extent.UNCLEAR, closed=False)
            for name, line in listed.items()
        ]

    # Tool | … | Accessible by

    def _callers_table(self, text: Text, table: Table) -> list[Account] | None:
        head = table.head.cells
        tool = next((n for n, cell in enumerate(head) if is_heading(cell, "tool")), None)
        who = next(
            (n for n, cell in enumerate(head) if n != tool and is_heading(re.sub(r"\(.*\)", "", cell), "callers")), None
        )
        if tool != 0 or who is None:
            return None
        by_agent: dict[str, list[Entry]] = {}
        for row in table.rows:
            name = bare(row.cells[tool])
            callers = [bare(part) for part in tokens(row.cells[who])]
            if not name or not all(_IDENTIFIER.fullmatch(caller) for caller in callers):
                return None
            for caller in callers:
                by_agent.setdefault(caller, []).append(Entry(name, Mark.YES, Place(text.path, row.line)))
        return [
            Account(agent=name, kind=Kind.MATRIX, place=entries[0].place, entries=tuple(entries), closed=False)
            for name, entries in by_agent.items()
        ]

    # ✅ and ❌

    def _matrix(self, text: Text, document: Document, table: Table) -> list[Account] | None:
        head = table.head.cells
        cells = [cell for row in table.rows for cell in row.cells[1:]]
        marked = [mark_of(cell) for cell in cells]
        filled = [cell for cell in cells if bare(cell)]
        if len(head) < 3 or len(filled) < 2:
            return None
        sure = sum(found is not None for found in marked)
        if sure < max(2, 0.6 * len(filled)):
            return None
        columns, rows = [bare(cell) for cell in head[1:]], [bare(row.cells[0]) for row in table.rows]
        about = " ".join((document.title, *table.headings, head[0], text.path))
        own = is_written(table, document)
        across = "agents" if own else self._axes(columns, rows, about, head[0], document)
        if across is None:
            return None
        notes = _notes(document)
        if notes:
            table = _annotated(table, notes)
        blank_is_no = not any(found is not None and found[0] is Mark.NO for found in marked)
        if across == "agents":
            return self._by_column(text, table, columns, blank_is_no=blank_is_no)
        return self._by_row(text, table, columns, blank_is_no=blank_is_no)

    def _axes(
        self, columns: Sequence[str], rows: Sequence[str], about: str, corner: str, document: Document
    ) -> str | None:
        """`agents` if the columns are agents and the rows tools, `tools` the other way round, None if uncertain."""
        titles, listed = _titles(document), _listed_agents(document)
        if sum(bool(_PEOPLE.match(name)) for name in (*columns, *rows)) >= 2:
            return None

        def tools(names: Sequence[str]) -> float:
            return sum(is_tool_name(name) for name in names) / max(1, len(names))

        def agents(names: Sequence[str]) -> float:
            found = sum(bool(self.known.resolve(name) or titles.resolve(name)) for name in names)
            return found / max(1, len(names))

        if is_heading(corner, "tool") and len(columns) > 1 and tools(columns) < 0.5:
            sure = sum(bool(self.known.resolve(name) or listed.resolve(name)) for name in columns)
            if sure > 1 and sure >= 0.6 * len(columns):
                return "agents"
        agents_across = agents(columns) >= 0.5 or (is_heading(corner, "tool") and bool(_ABOUT_AGENTS.search(about)))
        agents_down = agents(rows) >= 0.5 or is_heading(corner, "agent")
        said = bool(_ABOUT_AGENTS.search(about)) and bool(_ABOUT_TOOLS.search(about))
        if (
            (agents_across or said)
            and not agents_down
            and tools(rows) >= (0.3 if agents_across else 0.5)
            and tools(columns) < 0.5
        ):
            return "agents"
        if (agents_down or said) and tools(columns) >= (0.3 if agents_down else 0.5) and tools(rows) < 0.5:
            return "tools"
        return None

    def _by_column(self, text: Text, table: Table, columns: Sequence[str], *, blank_is_no: bool) -> list[Account]:
        found = []
        for number, name in enumerate(columns, 1):
            if not name:
                continue
            entries = [
                entry
                for row in table.rows
                if bare(row.cells[0])
                and (entry := _entry(bare(row.cells[0]), row.cells[number], Place(text.path, row.line), blank_is_no))
            ]
            found.append(
                Account(
                    agent=name,
                    kind=Kind.MATRIX,
                    place=Place(text.path, table.head.line),
                    entries=tuple(entries),
                    marks=True,
                )
            )
        return found

    def _by_row(self, text: Text, table: Table, columns: Sequence[str], *, blank_is_no: bool) -> list[Account]:
        found = []
        for row in table.rows:
            name = agent_name(row.cells[0])
            if not name:
                continue
            place = Place(text.path, row.line)
            entries = [
                entry
                for number, tool in enumerate(columns, 1)
                if tool and (is_tool_name(tool) or mark_of(row.cells[number]))
                if (entry := _entry(tool, row.cells[number], place, blank_is_no))
            ]
            entries += _further(row, columns, place)
            claim = next(
                (cell for cell in row.cells[1:] if mark_of(cell) is None and claims_read_only(bare(cell))), None
            )
            found.append(
                Account(
                    agent=name,
                    kind=Kind.MATRIX,
                    place=place,
                    entries=tuple(entries),
                    marks=True,
                    read_only=Claim(bare(claim), place) if claim else None,
                )
            )
        return found

    # ## Researcher / - **6 allowed:** …

    def _sections(self, text: Text, document: Document, agents: Names, known: set[str]) -> list[Account]:
        by_heading: dict[str, list[Line]] = {}
        for line in document.lines:
            if line.headings:
                by_heading.setdefault(line.headings[-1], []).append(line)
        places = {heading.text: heading.line for heading in document.headings}
        found = []
        for heading, lines in by_heading.items():
            above = " ".join(lines[0].headings[:-1])
            account = self._section(text, heading, places.get(heading, 1), lines, agents, known, above)
            if account is not None:
                found.append(account)
        return found

    def _section(
        self,
        text: Text,
        heading: str,
        line: int,
        lines: Sequence[Line],
        agents: Names,
        known: set[str],
        above: str,
    ) -> Account | None:
        name = re.sub(r"^(?:§\s*)?[\d.]*\s*[—–-]*\s*", "", without_emoji(bare(heading))).strip()
        if not name or len(name) > 60:
            return None
        entries: list[Entry] = []
        extent, counted, claim, all_tools = Extent.UNCLEAR, None, None, None
        scopes: dict[str, str] = {}
        terms: dict[str, Any] = {}
        hands_to: list[tuple[str, Place]] = []
        for one in (msgspec.structs.replace(line, text=unescaped(line.text)) for line in lines):
            place = Place(text.path, one.line)
            if (match := _LISTED.match(one.text)) and (got := listed(match["list"], place)) != (Extent.LIST, []):
                if not _names_tools([match["list"]]) and str(len(got[1])) != match["count"]:
                    continue
                extent = got[0]
                entries += got[1]
                if match["count"]:
                    counted = (int(match["count"]), place)
            elif match := _REFUSED.match(one.text):
                entries += [entry for entry in listed(match["list"], place, Mark.NO)[1] if is_tool_name(entry.tool)]
            elif match := _TERM.fullmatch(one.text):
                terms |= _terms(match)
                hands_to += [(name, place) for name in (match["whom"] or "").split(", ") if name]
            elif match := _SCOPE.match(one.text):
                scopes[match["tool"]] = match["scope"][:300]
            elif claims_all_tools(one.text) and all_tools is None:
                all_tools = Claim(one.text[:200], place)
            if (
                claim is None
                and claims_read_only(one.text)
                and re.match(r"\W*(?:read-only|strictly|you|this agent)", one.text, re.IGNORECASE)
            ):
                claim = Claim(one.text[:200], place)
        if extent is Extent.UNCLEAR and not (entries and key_of(name) in known):
            return None
        scoped = [
            Entry(entry.tool, Mark.SCOPED, entry.place, scopes[entry.tool])
            if entry.tool in scopes and entry.mark is not Mark.NO
            else entry
            for entry in entries
        ]
        owner = agents.resolve(name) or self.known.resolve(name)
        if owner is None and not _ABOUT_AGENTS.search(heading):
            owner = next((agent for agent in agents.by_key.values() if is_short_for(agent, name)), None)
        named = _NAMES_ONE.search(heading) or (_ABOUT_AGENTS.search(above) and re.fullmatch(r"\W*[\w-]+\W*", heading))
        if owner is None and not (named or counted):
            return None
        return Account(
            agent=name,
            kind=Kind.SECTION,
            terms=terms,
            hands_to=tuple(hands_to),
            place=Place(text.path, line),
            extent=extent,
            entries=tuple(scoped),
            closed=extent is Extent.LIST,
            read_only=claim,
            all_tools=all_tools,
            counted=counted,
        )


def _further(row: Row, columns: Sequence[str], place: Place) -> list[Entry]:
    """The tools that a row of marks names in a column of its own, such as "Other"."""
    return [
        entry
        for number, column in enumerate(columns, 1)
        if not is_tool_name(column) and mark_of(row.cells[number]) is None
        for entry in listed(row.cells[number], place)[1]
        if is_tool_name(entry.tool)
    ]


def _notes(document: Document) -> dict[str, str]:
    """The footnotes of a document, by their signs."""
    found = (_NOTE.match(line.text) for line in document.lines if line.text[:1] in "[¹²³⁴⁵⁶⁷⁸⁹†‡")
    return {match[1] or match[2]: match[3] for match in found if match is not None}


def _annotated(table: Table, notes: dict[str, str]) -> Table:
    """The table with what footnotes say of a mark written behind it: `✅¹` is `✅ (under tests/ only)`."""

    def cell(written: str) -> str:
        sign = _FOOTNOTE.search(written)
        note = notes.get(sign[1] or sign[2]) if sign is not None else None
        found = mark_of(written) if note else None
        return f"{written} ({note})" if found is not None and found[0] is Mark.YES and not found[1] else written

    rows = (Row(tuple(map(cell, row.cells)), row.line) for row in table.rows)
    return msgspec.structs.replace(table, rows=tuple(rows))


def _listed_agents(document: Document) -> Names:
    """The names in columns of agents of a document's tables."""
    columns = (
        (one, n) for one in document.tables[:50] for n, cell in enumerate(one.head.cells) if is_heading(cell, "agent")
    )
    return Names(agent_name(row.cells[n]) for table, n in columns for row in table.rows[:_MOST_TITLES] if row.cells[n])


def _titles(document: Document) -> Names:
    """The headings of a document, which may name agents."""
    return Names(one.text for one in document.headings[:_MOST_TITLES] if len(one.text) < 100)


def agent_name(cell: str) -> str:
    """The name in a cell: what is set off in it, or all of it."""
    set_off = re.match(r"[\W_]*?(?:\*\*|__|`)@?([^*`_][^*`]*)(?:\*\*|__|`)", cell)
    return bare(without_emoji(set_off[1] if set_off else cell))


def listed(cell: str, place: Place, mark: Mark = Mark.YES) -> tuple[Extent, list[Entry]]:
    """The tools of a list in a cell or a line; a 🔒 behind a name makes it scoped."""
    plain = bare(cell)
    if _NOTHING.match(plain):
        return Extent.LIST, []
    if _EVERY_TOOL.match(plain):
        return (Extent.EVERYTHING, []) if mark is Mark.YES else (Extent.LIST, [Entry("*", mark, place)])
    entries = []
    cell = re.sub(r"^\s*(?:\+|plus\b|adds?\b)\s*", "", cell, flags=re.IGNORECASE)
    if _READS.match(plain):
        return Extent.UNCLEAR, []  # a claim, and no list
    cell = re.sub(r"\s\+\s", ", ", cell)
    if cell.strip().startswith("[") and cell.strip().endswith("]"):
        cell = cell.strip()[1:-1]
    for token in tokens(cell):
        scoped = bool(re.search(r"🔒|⚠|✋", token))
        name, scope = split_scope(re.sub(r"\s*(?:🔒|✋|⚠️?|✅|❌)\s*", "", token))
        name = name.strip().rstrip(".")
        if not name or len(name) > 60:
            continue
        said = Mark.SCOPED if mark is Mark.YES and (scoped or scope) else mark
        entries.append(Entry(name, said, place, scope))
    if mark is Mark.YES and any(" " in entry.tool and capability(entry.tool) == "unknown" for entry in entries):
        return Extent.UNCLEAR, [
            entry for entry in entries if " " not in entry.tool or capability(entry.tool) != "unknown"
        ]
    return Extent.LIST, entries


def _entry(tool: str, cell: str, place: Place, blank_is_no: bool) -> Entry | None:
    found = mark_of(cell)
    if found is not None:
        return Entry(tool, found[0], place, found[1])
    if not bare(cell):
        return Entry(tool, Mark.NO if blank_is_no else Mark.UNCLEAR, place)
    return Entry(tool, Mark.SCOPED, place, bare(cell)[:200])


def _names_tools(cells: Iterable[str]) -> bool:
    """Whether what stands in these cells is tools, for the most part: then a tool that is not there is not granted."""
    place = Place("", 0)
    written = list(cells)
    found = [listed(cell, place) for cell in written]
    entries = [entry for _, some in found for entry in some]
    known = sum(capability(entry.tool) != "unknown" for entry in entries)
    sure = sum(extent is Extent.EVERYTHING for extent, _ in found) + sum(bool(_READS.match(bare(c))) for c in written)
    return 2 * known >= len(entries) and (known > 0 or sure > 0)


def _terms(match: re.Match[str]) -> dict[str, Any]:
    """What a line says of all that an agent does, by the keys of permission records."""
    found: dict[str, Any] = {}
    for name, key in (("tiers", "data_tiers_allowed"), ("granted", "data_tiers_with_capsule_grant")):
        if match[name]:
            found[key] = [int(one) for one in match[name].split(", ") if one.isdigit()]
    for name in ("capsule", "gate"):
        if match[name]:
            found[name] = match[name]
    return found
