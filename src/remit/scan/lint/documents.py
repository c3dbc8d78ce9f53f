"""Findings inside one document: counts against lists, names that nothing defines, examples against tables, records."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence

from remit.languages.programs.profiles import profile_of
from remit.model.text import how_often, shown
from remit.scan.claims import claims_all_tools
from remit.scan.counts import NUMBERS
from remit.scan.documents import is_written
from remit.scan.files import Text
from remit.scan.lint.examples import example_findings, total_findings
from remit.scan.lint.finding import finding, listing
from remit.scan.lint.reviews import review_of, reviews_of
from remit.scan.lint.sentences import sentence_findings
from remit.scan.markdown import Document, Table, read_markdown
from remit.scan.model import Account, Entry, Extent, Finding, Kind, Mark, Place
from remit.scan.names import Names, key_of
from remit.scan.records import Record, enums
from remit.scan.vocabulary import bare, is_heading, is_tool_name, tokens, tool_key, without_emoji

_NUMBER = re.compile(r"^\D{0,3}(\d{1,5})\b")
_PERCENT = re.compile(r"^\D{0,3}(\d{1,3}(?:\.\d)?)\s*%")
_PLACEHOLDER = re.compile(r"^(?:from|see|as in|tbd|todo|same as)\b.*\s", re.IGNORECASE)
_ALL_AGENTS = re.compile(r"\ball\s+(\d{1,2}|" + "|".join(NUMBERS) + r")\s+(?:\w+\s+){0,2}agents\b", re.IGNORECASE)
_GLOB_SPAN = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/\*\.\w{1,8})`")
_REGEX_SPAN = re.compile(r"`(\^?[\w./\\-]*\.\*[^`]*)`")
_COMMAND_SPAN = re.compile(r"`(\^[^`]{4,400})`")
_EXPRESSION = re.compile(r"\b(?:regex|regular expression|pattern|must match)", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w\\.-])[a-z][a-z0-9]{1,20}\b")
_ONLY = re.compile(r"\b([a-z][\w -]{2,40}?) only\b", re.IGNORECASE)
_SOLE = re.compile(
    r"^(?i:only) (?:the )?([\w-]+(?: [A-Z][\w-]+)?)s? ((?:can |may |is allowed to )?[a-z][\w -]{2,40})[.;]?$"
)
_EXCLUSIVE = re.compile(
    r"^(?:(?:exclusive|exclusively|sole|alone)\b|only$)", re.IGNORECASE
)  # "only in docs/" is a scope
_AROUND = frozenset(
    {"can", "may", "is", "allowed", "to", "use", "uses", "run", "runs", "call", "calls", "the", "a", "an"}
)
_TIER = re.compile(r"^\W*(?:tier|level)\s+(\d)\b", re.IGNORECASE)
_DOING = re.compile(
    r"^(?:\w[\w ]{0,24}:\s*)?"
    r"(?:(?:creating|modifying|installing|editing|changing|deleting|writing|running|accessing|updating)\s+)?"
)


def document_findings(
    text: Text, accounts: Sequence[Account], records: Sequence[Record], today: datetime.date
) -> Iterator[Finding]:
    """The findings of one document, given what was read from it."""
    document = read_markdown(text.text)
    yield from _tiers(text, document)
    if not accounts:
        return
    tools = _tools_of_tables(text, document)
    if text.repaired:
        yield finding(
            "mojibake",
            f"characters were decoded with the wrong table in {text.repaired} places; they are read as meant",
            Place(text.path, 1),
        )
    yield from _statistics(text, document, accounts, tools)
    yield from _agent_count(text, document, accounts)
    yield from _undefined(text)
    yield from example_findings(text, accounts, tools)
    yield from sentence_findings(text, document, accounts)
    yield from _prohibitions(text, accounts)
    yield from _empty_cells(text, document)
    yield from _rows_twice(text, document)
    yield from _only(text, document)
    yield from _alone(text, document, accounts)
    yield from _classes(text, document)
    yield from _patterns(text, document)
    yield from _open_ended(text, document)
    yield from _scopes(document, accounts)
    yield from reviews_of(text, document, today)
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
    yield from total_findings(text, document, granted, total, tools)
    if tools:
        yield from _claims(text, document, granted, total)
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
            if tools:
                yield from _left_out(text, table, known, granted)
        elif (
            counts
            and all(number for _, number, _ in counts)
            and "tool" in bare(table.head.cells[column]).lower()
            and len(counts) > 1
        ):
            added = sum(int(number[1]) for _, number, _ in counts if number)
            if tools and added != total:
                yield finding(
                    "counts-do-not-add-up",
                    f"the counts of this table add up to {added}; the tables list {total} tools",
                    Place(text.path, table.head.line),
                    next(iter(tools.values())),
                )


def _miscount(name: str, said: int, real: int, place: Place, other: Place | None) -> Finding:
    return finding(
        "count-mismatch/miscount",
        f"the statistics say {said} tools, the tables grant {real}",
        place,
        *([other] if other is not None else []),
        agent=name,
        real=real,
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
        yield finding(
            "percentages-off",
            f"{said} of {total} tools is not {percent_said:g} %; that implies about {implied} tools",
            Place(text.path, row.line),
        )


def _left_out(
    text: Text, table: Table, known: Sequence[tuple[str, int, object]], granted: dict[str, set[str]]
) -> Iterator[Finding]:
    named = {key_of(name) for name, _, _ in known}
    rest = {key: len(tools) for key, tools in granted.items() if tools and key not in named}
    if rest and len(rest) < len(granted):
        shown = ", ".join(f"`{key}` ({count})" for key, count in sorted(rest.items())[:6])
        yield finding(
            "count-mismatch/left-out",
            f"the statistics leave out callers that the tables name: {shown}",
            Place(text.path, table.head.line),
        )


def _claims(text: Text, document: Document, granted: dict[str, set[str]], total: int) -> Iterator[Finding]:
    """ "All tools" in a table of callers, where the tables grant fewer."""
    names = Names(granted)
    for table in document.tables:
        if not is_heading(table.head.cells[0], "agent"):
            continue
        for row in table.rows:
            name = names.resolve(bare(row.cells[0])) or _ends_with(bare(row.cells[0]), granted)
            claim = next((cell for cell in row.cells[1:] if claims_all_tools(bare(cell))), None)
            if claim is not None and name is not None and len(granted[name]) < total:
                yield finding(
                    "claims-everything/claims",
                    f"“{bare(claim)[:80]}”, but the tables grant {len(granted[name])} of {total} tools",
                    Place(text.path, row.line),
                    agent=bare(row.cells[0]),
                )


def _ends_with(name: str, granted: dict[str, set[str]]) -> str | None:
    """The only known key that ends with this name: `TOOL_EXECUTION` for `orchestrator-tool-execution`."""
    found = [key for key in granted if key.endswith(f"-{key_of(name)}")]
    return found[0] if len(found) == 1 and len(key_of(name)) > 3 else None


def _agent_count(text: Text, document: Document, accounts: Sequence[Account]) -> Iterator[Finding]:
    agents = {key_of(account.agent) for account in accounts if account.kind is Kind.MATRIX and account.closed}
    if len(agents) < 2:
        return
    for line in document.lines[:40]:
        match = _ALL_AGENTS.search(line.text)
        if match:
            said = NUMBERS.get(match[1].lower()) or int(match[1])
            if said != len(agents):
                yield finding(
                    "count-mismatch/agent-count",
                    f"the text speaks of all {said} agents; the matrix has {len(agents)}",
                    Place(text.path, line.line),
                    next(a.place for a in accounts if a.kind is Kind.MATRIX),
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
            yield finding(
                "definitions-differ",
                f"`{one.name}` is declared twice; the second lacks {', '.join(f'`{name}`' for name in lost)}",
                earlier.place,
                one.place,
            )
    seen: set[tuple[str, str]] = set()
    for name, member, place in uses:
        if name in members and member not in members[name] and (name, member) not in seen:
            seen.add((name, member))
            count = sum((name, member) == use[:2] for use in uses)
            yield finding(
                "undefined-name/undefined",
                f"`{name}.{member}` is used {how_often(count)} and never declared",
                place,
                places[name],
                name=name,
            )


def _prohibitions(text: Text, accounts: Sequence[Account]) -> Iterator[Finding]:
    granting = [one for one in accounts if one.kind is Kind.MATRIX and one.closed]
    if not granting:
        return
    known = {tool_key(entry.tool) for one in granting for entry in one.entries}
    names = Names(one.agent for one in granting)
    for account in accounts:
        if account.kind is not Kind.MATRIX or account.closed or account.extent is not Extent.UNCLEAR:
            continue
        if names.resolve(account.agent) is None:
            yield finding(
                "undefined-name/prohibitions",
                f"`{account.agent}` is prohibited something and is no agent of the other tables",
                account.place,
                granting[0].place,
                agent=account.agent,
            )
        for entry in account.entries:
            if entry.tool != "*" and tool_key(entry.tool) not in known and not is_tool_name(entry.tool):
                yield finding(
                    "prohibits-nothing",
                    f"prohibits `{entry.tool}`, which is no tool that anybody has here",
                    entry.place,
                    agent=account.agent,
                )


def _empty_cells(text: Text, document: Document) -> Iterator[Finding]:
    for table, tool, who in _caller_tables(document):
        filled = sum(bool(tokens(row.cells[who])) for row in table.rows)
        for row in table.rows:
            if filled and not tokens(row.cells[who]):
                yield finding(
                    "nobody-named",
                    f"`{bare(row.cells[tool])}` has an empty cell for who may use it",
                    Place(text.path, row.line),
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
                yield finding(
                    "tables-differ",
                    f"two tables say differently who may use `{bare(row.cells[tool])}`",
                    before[1],
                    place,
                )


def _only(text: Text, document: Document) -> Iterator[Finding]:
    """ "Reviewer only" in a row that names others too."""
    for table, tool, who in _caller_tables(document):
        for row in table.rows:
            callers = [bare(caller) for caller in tokens(row.cells[who])]
            for n, cell in enumerate(row.cells):
                match = _ONLY.search(bare(cell)) if n not in (tool, who) else None
                if match is None or len(callers) < 2:
                    continue
                words = key_of(match[1]).split("-")
                said = next((c for k in (1, 2, 3) for c in callers if key_of(c) == "-".join(words[-k:])), None)
                if said is not None:
                    others = ", ".join(f"`{caller}`" for caller in callers if caller != said)
                    yield finding(
                        "only-and-more",
                        f"`{bare(row.cells[tool])}`: “{match[0].strip()}”, and its row names {others} too",
                        Place(text.path, row.line),
                    )


def _alone(text: Text, document: Document, accounts: Sequence[Account]) -> Iterator[Finding]:
    """A tool or an action that only one agent has, by its mark or by a sentence, in a table that gives it to others."""
    rows: dict[str, dict[str, Entry]] = {}
    for account in accounts:
        for entry in account.allowed() if account.kind is Kind.MATRIX else ():
            rows.setdefault(_action(entry.tool), {})[account.agent] = entry
    names = Names(agent for held in rows.values() for agent in held)
    for held in rows.values():
        sole = [agent for agent, entry in held.items() if entry.scope and _EXCLUSIVE.match(entry.scope)]
        if sole and len(held) > 1:
            yield _shared(sole[0], held, held[sole[0]].place, "exclusive")
    for line in document.lines if rows else ():
        match = _SOLE.match(re.sub(r"[*`]", "", line.text[:300]))
        agent = names.resolve(match[1]) if match is not None else None
        held = rows.get(_action(match[2]), {}) if match is not None else {}
        if agent is not None and set(held) - {agent}:
            yield _shared(agent, held, Place(text.path, line.line), match[0] if match is not None else "")


def _shared(agent: str, held: dict[str, Entry], place: Place, words: str) -> Finding:
    others = [name for name in held if name != agent]
    entry = held[others[0]]
    given = ", ".join(f"`{name}`" for name in others[:6])
    text = f"“{words[:80]}”, but the table gives `{entry.tool}` to {given} too"
    return finding("only-and-more/alone", text, place, entry.place, agent=agent)


def _action(written: str) -> str:
    """An action in one form: "issues refunds" is "issue refund"."""
    words = re.findall(r"\w+", bare(written).lower().replace("_", " "))
    kept = [word for word in words if word not in _AROUND]
    return " ".join(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in kept
    )


def _classes(text: Text, document: Document) -> Iterator[Finding]:
    """A tool that two tables put into different classes, such as two levels of risk."""
    seen: dict[str, tuple[str, Place]] = {}
    for table in document.tables:
        head = [bare(cell).lower() for cell in table.head.cells]
        tools = next(
            (
                n
                for n, cell in enumerate(head)
                if n and re.fullmatch(r"(?:typical |example )?tools?(?: examples)?", cell)
            ),
            None,
        )
        if tools is None or not re.fullmatch(r"(?:risk|tier|class|category|danger)(?: level| class)?|level", head[0]):
            continue
        for row in table.rows:
            label = re.sub(r"\(.*?\)", "", without_emoji(bare(row.cells[0]))).strip().lower()
            for name in tokens(re.sub(r"\([^)]*\)", "", row.cells[tools])):
                place = Place(text.path, row.line)
                before = seen.setdefault(tool_key(name), (label, place))
                if before[0] != label and re.fullmatch(r"[\w./-]+", name):
                    yield finding(
                        "classified-differently/classes",
                        f"`{name}` is “{before[0]}” in one table and “{label}” in another",
                        before[1],
                        place,
                    )


def _tiers(text: Text, document: Document) -> Iterator[Finding]:
    """An action that stands under two tiers of one list."""
    tiers: dict[str, list[tuple[str, Place]]] = {}
    tier = None
    for line in document.lines:
        match = _TIER.match(line.text)
        if match:
            tier = match[1] if match[1] not in tiers else None  # a second mention is no definition
            if tier is not None:
                tiers[tier] = []
        elif not line.item:
            tier = None
        if tier is not None:
            rest = line.text[match.end() :] if match else line.text
            tiers[tier] += [(part, Place(text.path, line.line)) for part in re.split(r"[;,]\s+| - |\.\s", rest)]
    if len(tiers) < 3 or text.text.lower().count("agent") < 3:
        return
    seen: dict[str, tuple[str, Place]] = {}
    for name, parts in tiers.items():
        for part, place in parts:
            action = _DOING.sub("", re.sub(r"[*_`\"“”]", "", part).strip().lower(), count=1).strip(" .:")
            if action.startswith("instruction") or not 2 <= len(action.split()) <= 6 or re.search(r"\d", action):
                continue
            before = seen.setdefault(action, (name, place))
            if before[0] != name:
                yield finding(
                    "classified-differently",
                    f"“{action}” stands under tier {before[0]} and under tier {name}",
                    before[1],
                    place,
                )


def _patterns(text: Text, document: Document) -> Iterator[Finding]:
    """A glob and a regular expression for one scope, where the expression admits more."""
    for line in document.lines:
        glob, regex = _GLOB_SPAN.search(line.text), _REGEX_SPAN.search(line.text)
        if glob is None or regex is None:
            continue
        folder, _, last = glob[1].rpartition("/")
        stem = re.escape(folder).replace("\\-", "-")
        if regex[1].startswith((f"{stem}/.*", f"^{stem}/.*", f"{folder}/.*")) and last.startswith("*."):
            yield finding(
                "patterns-differ",
                f"`{glob[1]}` is one folder deep; `{regex[1][:60]}` admits any depth, and `..`",
                Place(text.path, line.line),
                one=glob[1],
            )


def _open_ended(text: Text, document: Document) -> Iterator[Finding]:
    """An expression for commands that ends anywhere: whatever follows its match passes too."""
    for line in document.lines:
        spans = _COMMAND_SPAN.findall(line.text) if _EXPRESSION.search(line.text) else ()
        for regex in spans:
            programs = [word for word in _WORD.findall(regex) if profile_of(word) is not None]
            if programs and not regex.endswith("$") and re.search(r"\\s| ", regex):
                what = f"`{shown(regex, 60)}` has no end: after a match anything may follow, such as `; rm -rf .`"
                yield finding("patterns-differ/end", what, Place(text.path, line.line), program=programs[0])


def _scopes(document: Document, accounts: Sequence[Account]) -> Iterator[Finding]:
    """A mark that says "with a scope", and no place that says which. For a table of `remit docs`, the policy does."""
    written = {row.line for table in document.tables if is_written(table, document) for row in table.rows}
    names = Names(one.agent for one in accounts if one.kind is Kind.SECTION)
    given = {(key_of(one.agent), tool_key(e.tool)) for one in accounts for e in one.entries if e.scope}
    missing = []
    for account in accounts:
        if account.kind is not Kind.MATRIX or not account.closed:
            continue
        own = {key_of(account.agent), key_of(names.resolve(account.agent) or account.agent)}
        for entry in account.entries:
            if entry.mark is not Mark.SCOPED or entry.place.line in written:
                continue
            if not any((key, tool_key(entry.tool)) in given for key in own):
                missing.append((account.agent, entry))
    if missing:
        agents = list(dict.fromkeys(agent for agent, _ in missing))
        tools = list(dict.fromkeys(entry.tool for _, entry in missing))
        whom = f" for {listing(agents)}" if len(agents) > 1 else ""
        yield finding(
            "scope-not-given",
            f"{listing(tools)} {'is' if len(tools) == 1 else 'are'} marked as limited{whom}, and this document does"
            " not say to what",
            *(entry.place for _, entry in missing),
            agent=agents[0] if len(agents) == 1 else None,
        )


def _record(text: Text, record: Record, today: datetime.date) -> Iterator[Finding]:
    def place(key: str) -> Place:
        return Place(text.path, record.lines.get(key, record.line))

    if record.flattened:
        yield finding(
            "record-flattened",
            "`permissions:` is empty: the keys below it have lost their indentation",
            place("permissions"),
            agent=record.agent,
        )
    for key, value in record.values.items():
        for item in value if isinstance(value, list) else ():
            if isinstance(item, str) and _PLACEHOLDER.match(item):
                yield finding(
                    "placeholder", f"`{key}` holds the words “{item[:60]}”, not names", place(key), agent=record.agent
                )
    allowed = record.values.get("tools_allowed")
    forbidden = record.values.get("tools_forbidden")
    if (
        isinstance(allowed, list)
        and isinstance(forbidden, list)
        and forbidden
        and not set(map(str, allowed)) & set(map(str, forbidden))
    ):
        yield finding(
            "dead-prohibition/record",
            "`tools_forbidden` names nothing that `tools_allowed` grants",
            place("tools_forbidden"),
            agent=record.agent,
        )
    locks, barred = (_globs(record, key) for key in ("resource_locks_allowed", "resource_locks_forbidden"))
    void = [one for one in locks if any(_within(one, other) for other in barred)]
    if void:
        yield finding(
            "shadowed-scope/locks",
            f"`resource_locks_allowed` has {listing(void)}, all of which `resource_locks_forbidden` takes away",
            place("resource_locks_allowed"),
            place("resource_locks_forbidden"),
            agent=record.agent,
        )
    yield from review_of(record, place("last_reviewed"), today)


def _globs(record: Record, key: str) -> list[str]:
    value = record.values.get(key)
    return [one.removeprefix("./") for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _within(glob: str, other: str) -> bool:
    """Whether a pattern can only match what another one matches: the same, or below its folder."""
    return glob == other or (other.endswith("/**") and glob.startswith(other[:-2]) and ".." not in glob)
