"""Findings inside one document: counts against lists, names that nothing defines, examples against tables, records."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence

from remit.scan.compare import tool_key
from remit.scan.files import Text
from remit.scan.markdown import Document, Table, read_markdown
from remit.scan.model import Account, Entry, Extent, Finding, Kind, Place, Weight
from remit.scan.names import key_of, resolve
from remit.scan.records import Record, declared, enums
from remit.scan.vocabulary import bare, is_heading, is_tool_name, tokens

_NUMBER = re.compile(r"^\D{0,3}(\d{1,5})\b")
_PERCENT = re.compile(r"^\D{0,3}(\d{1,3}(?:\.\d)?)\s*%")
_PLACEHOLDER = re.compile(r"^(?:from|see|as in|tbd|todo|same as)\b.*\s", re.IGNORECASE)
_WORDS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
}
_ALL_AGENTS = re.compile(r"\ball\s+(\d{1,2}|" + "|".join(_WORDS) + r")\s+(?:\w+\s+){0,2}agents\b", re.IGNORECASE)
OVERDUE = 100
"""Days after which a review is overdue, if the record does not say."""


def lint(text: Text, accounts: Sequence[Account], records: Sequence[Record], today: datetime.date) -> Iterator[Finding]:
    """The findings of one document, given what was read from it."""
    document = read_markdown(text.text)
    tools = _tools_of_tables(text, document)
    if text.repaired:
        yield Finding(
            code="mojibake",
            weight=Weight.NOTE,
            agent=None,
            text=f"characters were decoded with the wrong table in {text.repaired} places; they are read as meant",
            places=(Place(text.path, 1),),
            why="a mark that can't be read is a rule that nobody follows",
            fix="save the file as UTF-8 again, from a good copy",
        )
    yield from _statistics(text, document, accounts, tools)
    yield from _agent_count(text, document, accounts)
    yield from _undefined(text)
    yield from _examples(text, accounts, tools)
    yield from _prohibitions(text, accounts)
    yield from _empty_cells(text, document)
    yield from _rows_twice(text, document)
    for record in records:
        yield from _record(text, record, today)


def _tools_of_tables(text: Text, document: Document) -> dict[str, Place]:
    """The tools that a document's tables of callers have a row for."""
    found: dict[str, Place] = {}
    for table, tool, _ in _caller_tables(document):
        for row in table.rows:
            found.setdefault(bare(row.cells[tool]), Place(text.path, row.line))
    return found


def _caller_tables(document: Document) -> Iterator[tuple[Table, int, int]]:
    for table in document.tables:
        head = table.head.cells
        who = next((n for n, cell in enumerate(head) if n and is_heading(re.sub(r"\(.*\)", "", cell), "callers")), None)
        if len(head) > 1 and is_heading(head[0], "tool") and who is not None:
            yield table, 0, who


def _statistics(
    text: Text, document: Document, accounts: Sequence[Account], tools: dict[str, Place]
) -> Iterator[Finding]:
    granted: dict[str, set[str]] = {}
    for account in accounts:
        if account.kind is Kind.MATRIX:
            granted.setdefault(key_of(account.agent), set()).update(tool_key(entry.tool) for entry in account.allowed())
    total = len({tool_key(name) for name in tools}) or len(
        {tool_key(e.tool) for a in accounts if a.kind is Kind.MATRIX for e in a.entries}
    )
    for table in document.tables:
        column = next((n for n, cell in enumerate(table.head.cells) if n and is_heading(cell, "count")), None)
        if column is None or total == 0:
            continue
        counts = [(bare(row.cells[0]), _NUMBER.match(bare(row.cells[column])), row) for row in table.rows]
        known = [(name, int(number[1]), row) for name, number, row in counts if number and key_of(name) in granted]
        if known and len(known) >= len(counts) / 2:
            for name, said, row in known:
                real = len(granted[key_of(name)])
                if said != real:
                    yield _miscount(name, said, real, Place(text.path, row.line), next(iter(tools.values()), None))
            yield from _percentages(text, table, known, total)
        elif (
            counts
            and all(number for _, number, _ in counts)
            and "tool" in bare(table.head.cells[column]).lower()
            and len(counts) > 1
        ):
            added = sum(int(number[1]) for _, number, _ in counts if number)
            if tools and added != total:
                yield Finding(
                    code="counts-do-not-add-up",
                    weight=Weight.WARNING,
                    agent=None,
                    text=f"the counts of this table add up to {added}; the tables list {total} tools",
                    places=(Place(text.path, table.head.line), next(iter(tools.values()))),
                    why="some tools are classified twice or not at all",
                    fix="count again from the tables (`remit docs` writes such a table)",
                )


def _miscount(name: str, said: int, real: int, place: Place, other: Place | None) -> Finding:
    return Finding(
        code="count-mismatch",
        weight=Weight.ERROR,
        agent=name,
        text=f"the statistics say {said} tools, the tables grant {real}",
        places=(place, *([other] if other is not None else [])),
        why="one of the two is out of date, and a reader can't tell which",
        fix=f"correct the count to {real}, or the tables",
    )


def _percentages(text: Text, table: Table, known: Sequence[tuple[str, int, object]], total: int) -> Iterator[Finding]:
    column = next(
        (n for n, cell in enumerate(table.head.cells) if "percent" in cell.lower() or cell.strip() == "%"), None
    )
    if column is None:
        return
    off = []
    for row in table.rows:
        percent = _PERCENT.match(bare(row.cells[column]))
        said = next((count for name, count, _ in known if name == bare(row.cells[0])), None)
        if percent and said is not None and abs(100 * said / total - float(percent[1])) > 0.5 + 1e-9:
            off.append((row, said, float(percent[1])))
    if len(off) > len(known) / 2:
        row, said, percent_said = off[0]
        implied = round(100 * said / percent_said)
        yield Finding(
            code="percentages-off",
            weight=Weight.WARNING,
            agent=None,
            text=f"{said} of {total} tools is not {percent_said:g} %; that implies about {implied} tools",
            places=(Place(text.path, row.line),),
            why="the number of tools has changed since they were written",
            fix="count again from the tables",
        )


def _agent_count(text: Text, document: Document, accounts: Sequence[Account]) -> Iterator[Finding]:
    agents = {key_of(account.agent) for account in accounts if account.kind is Kind.MATRIX and account.closed}
    if len(agents) < 2:
        return
    for line in document.lines[:40]:
        match = _ALL_AGENTS.search(line.text)
        if match:
            said = _WORDS.get(match[1].lower()) or int(match[1])
            if said != len(agents):
                yield Finding(
                    code="count-mismatch",
                    weight=Weight.ERROR,
                    agent=None,
                    text=f"the text speaks of all {said} agents; the matrix has {len(agents)}",
                    places=(Place(text.path, line.line), next(a.place for a in accounts if a.kind is Kind.MATRIX)),
                    why="an agent without a line has no limit on paper",
                    fix="add the missing agent, or correct the count",
                )
            return


def _undefined(text: Text) -> Iterator[Finding]:
    declared_here, uses = enums(text)
    members: dict[str, set[str]] = {}
    places: dict[str, Place] = {}
    for one in declared_here:
        members.setdefault(one.name, set()).update(one.members)
        places.setdefault(one.name, one.place)
        earlier = next((e for e in declared_here if e.name == one.name and e.place < one.place), None)
        if earlier is not None and set(earlier.members) - set(one.members):
            lost = sorted(set(earlier.members) - set(one.members))
            yield Finding(
                code="definitions-differ",
                weight=Weight.WARNING,
                agent=None,
                text=f"`{one.name}` is declared twice; the second lacks {', '.join(f'`{name}`' for name in lost)}",
                places=(earlier.place, one.place),
                why="which one holds is unclear",
                fix="keep one declaration",
            )
    seen: set[tuple[str, str]] = set()
    for name, member, place in uses:
        if name in members and member not in members[name] and (name, member) not in seen:
            seen.add((name, member))
            count = sum((name, member) == use[:2] for use in uses)
            yield Finding(
                code="undefined-name",
                weight=Weight.ERROR,
                agent=None,
                text=f"`{name}.{member}` is used {count} {'time' if count == 1 else 'times'} and never declared",
                places=(place, places[name]),
                why="a grant to a name that nobody has is lost, or given to whoever takes the name",
                fix=f"declare it in `{name}`, or use one of its members",
            )


def _examples(text: Text, accounts: Sequence[Account], tools: dict[str, Place]) -> Iterator[Finding]:
    """`accessibleBy` in a document's examples against its tables."""
    if not tools:
        return
    rows = {tool_key(name): place for name, place in tools.items()}
    table: dict[str, dict[str, Entry]] = {}
    for account in accounts:
        if account.kind is Kind.MATRIX and not account.closed:
            table.setdefault(key_of(account.agent), {}).update(
                {tool_key(entry.tool): entry for entry in account.entries}
            )
    missing: dict[str, Place] = {}
    seen: set[tuple[str, str]] = set()
    for example in declared(text):
        agent = resolve(example.agent, [account.agent for account in accounts])
        for entry in example.entries:
            key = tool_key(entry.tool)
            if key not in rows:
                missing.setdefault(entry.tool, entry.place)
            elif agent is not None and key not in table.get(key_of(agent), {}) and (agent, key) not in seen:
                seen.add((agent, key))
                yield Finding(
                    code="example-against-table",
                    weight=Weight.WARNING,
                    agent=example.agent,
                    text=f"an example grants `{entry.tool}`; the table does not",
                    places=(entry.place, rows[key]),
                    why="people copy examples",
                    fix="bring the example in line with the table",
                )
    for name, place in missing.items():
        yield Finding(
            code="undefined-name",
            weight=Weight.WARNING,
            agent=None,
            text=f"the tool `{name}` is in an example and in no table",
            places=(place,),
            why="nobody can say who may use it",
            fix="add it to a table, or take the example out",
        )


def _prohibitions(text: Text, accounts: Sequence[Account]) -> Iterator[Finding]:
    granting = [one for one in accounts if one.kind is Kind.MATRIX and one.closed]
    if not granting:
        return
    known = {tool_key(entry.tool) for one in granting for entry in one.entries}
    for account in accounts:
        if account.kind is not Kind.MATRIX or account.closed or account.extent is not Extent.UNCLEAR:
            continue
        if resolve(account.agent, [one.agent for one in granting]) is None:
            yield Finding(
                code="undefined-name",
                weight=Weight.WARNING,
                agent=account.agent,
                text=f"`{account.agent}` is prohibited something and is no agent of the other tables",
                places=(account.place, granting[0].place),
                why="a prohibition that names nobody binds nobody",
                fix="name each agent that is meant",
            )
        for entry in account.entries:
            if entry.tool != "*" and tool_key(entry.tool) not in known and not is_tool_name(entry.tool):
                yield Finding(
                    code="prohibits-nothing",
                    weight=Weight.WARNING,
                    agent=account.agent,
                    text=f"prohibits `{entry.tool}`, which is no tool that anybody has here",
                    places=(entry.place,),
                    why="the prohibition holds nothing back: the same can be done with a shell",
                    fix="name the tools or commands that are meant",
                )


def _empty_cells(text: Text, document: Document) -> Iterator[Finding]:
    for table, tool, who in _caller_tables(document):
        filled = sum(bool(tokens(row.cells[who])) for row in table.rows)
        for row in table.rows:
            if filled and not tokens(row.cells[who]):
                yield Finding(
                    code="nobody-named",
                    weight=Weight.WARNING,
                    agent=None,
                    text=f"`{bare(row.cells[tool])}` has an empty cell for who may use it",
                    places=(Place(text.path, row.line),),
                    why="nobody, or everybody? A program with a default may read it as everybody",
                    fix="write `none`, or who may",
                )


def _rows_twice(text: Text, document: Document) -> Iterator[Finding]:
    """A tool with a row in two tables that name different callers."""
    seen: dict[str, tuple[set[str], Place]] = {}
    for table, tool, who in _caller_tables(document):
        for row in table.rows:
            key, place = tool_key(bare(row.cells[tool])), Place(text.path, row.line)
            callers = {key_of(bare(caller)) for caller in tokens(row.cells[who])}
            before = seen.setdefault(key, (callers, place))
            if before[0] != callers:
                yield Finding(
                    code="tables-differ",
                    weight=Weight.ERROR,
                    agent=None,
                    text=f"two tables say differently who may use `{bare(row.cells[tool])}`",
                    places=(before[1], place),
                    why="whoever follows one table breaks the other",
                    fix="keep one row for a tool",
                )


def _record(text: Text, record: Record, today: datetime.date) -> Iterator[Finding]:
    def place(key: str) -> Place:
        return Place(text.path, record.lines.get(key, record.line))

    if record.flattened:
        yield Finding(
            code="record-flattened",
            weight=Weight.ERROR,
            agent=record.agent,
            text="`permissions:` is empty: the keys below it have lost their indentation",
            places=(place("permissions"),),
            why="a program that reads the record finds no permissions and no prohibitions",
            fix="indent the keys below `permissions:`",
        )
    for key, value in record.values.items():
        for item in value if isinstance(value, list) else ():
            if isinstance(item, str) and _PLACEHOLDER.match(item):
                yield Finding(
                    code="placeholder",
                    weight=Weight.WARNING,
                    agent=record.agent,
                    text=f"`{key}` holds the words “{item[:60]}”, not names",
                    places=(place(key),),
                    why="a program takes them for one name",
                    fix="write the names",
                )
    allowed = record.values.get("tools_allowed")
    forbidden = record.values.get("tools_forbidden")
    if (
        isinstance(allowed, list)
        and isinstance(forbidden, list)
        and forbidden
        and not set(map(str, allowed)) & set(map(str, forbidden))
    ):
        yield Finding(
            code="dead-prohibition",
            weight=Weight.NOTE,
            agent=record.agent,
            text="`tools_forbidden` names nothing that `tools_allowed` grants",
            places=(place("tools_forbidden"),),
            why="with a closed list it changes nothing; it only matters where a grant adds tools",
            fix="keep it as a promise for later grants, or remove it",
        )
    yield from _review(record, place("last_reviewed"), today)


def _review(record: Record, place: Place, today: datetime.date) -> Iterator[Finding]:
    try:
        reviewed = datetime.date.fromisoformat(str(record.values.get("last_reviewed")))
    except ValueError:
        return
    age = (today - reviewed).days
    if age > OVERDUE:
        yield Finding(
            code="review-overdue",
            weight=Weight.WARNING,
            agent=record.agent,
            text=f"last reviewed {age} days ago ({reviewed})",
            places=(place,),
            why="permissions that nobody looks at grow stale",
            fix="review it, and let `remit review` keep watch",
        )
