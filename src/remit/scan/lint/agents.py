"""Findings about one agent: where two places disagree, and what is risky in what they agree on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from remit.model.text import counted
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Agent, Claim, Entry, Extent, Finding, Kind, Mark, Place, Weight
from remit.scan.settings import EVERYBODY
from remit.scan.vocabulary import CHANGES, can_write, capability, mutates, tool_key, words

_DOCUMENTS = (Kind.MATRIX, Kind.SECTION, Kind.RECORD)
_MATTERS = CHANGES | {"network", "delegate"}
_NO_SCOPE = "everything the agent can reach"


class _Words(msgspec.Struct, frozen=True):
    """How a finding about what is wider than a document is said."""

    code: str
    who: str
    why: str
    fix: str


_DEFINITION_WIDER = _Words(
    "definition-wider",
    "the definition",
    "the definition is what the host follows: the document's limit holds nothing back",
    "take them out of the definition's `tools`, or change the document",
)
_POLICY_WIDER = _Words(
    "policy-wider",
    "the policy",
    "the policy is what is enforced: the document's limit holds nothing back",
    "narrow the agent's `may`, or correct the document (`remit docs` writes it from the policy)",
)


def agent_findings(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Every finding about one agent."""
    for agent in agents:
        yield from _counts(agent)
        yield from _list_against_matrix(agent)
        yield from _all_tools(agent)
        yield from _both_ways(agent)
        yield from _definition_against_document(agent)
        yield from _documents_differ(agent)
        yield from _policy(agent)
        yield from _read_only(agent)
        yield from _moot_scope(agent)
        yield from _shadowed(agent)
        yield from _dead(agent)
        yield from _given_and_taken(agent)
        yield from _no_list(agent)
        yield from _twice(agent)
        yield from _settled_twice(agent)
        yield from _broken(agent)


def _counts(agent: Agent) -> Iterator[Finding]:
    for account in agent.accounts:
        if account.counted is None:
            continue
        said, place = account.counted
        tools = {tool_key(entry.tool) for entry in account.allowed()}
        if said != len(tools):
            yield finding(
                "count-mismatch",
                f"the text says {said} tools and lists {len(tools)}",
                place,
                agent=agent.name,
                one=len(tools),
            )


def _list_against_matrix(agent: Agent) -> Iterator[Finding]:
    for section in agent.accounts:
        if section.kind is not Kind.SECTION or section.extent is not Extent.LIST:
            continue
        granted = {tool_key(entry.tool): entry for entry in section.allowed()}
        for matrix in agent.accounts:
            if matrix.kind is not Kind.MATRIX or not matrix.closed or matrix.place.file != section.place.file:
                continue
            cells = {tool_key(entry.tool): entry for entry in matrix.entries}
            for key, entry in granted.items():
                cell = cells.get(key)
                if cell is None or cell.mark is Mark.NO:
                    state = "has no row or column for it" if cell is None else "denies it"
                    yield _disagree(
                        agent, entry, cell, f"a list grants `{entry.tool}`, the matrix {state}", matrix.place
                    )
            for key, cell in cells.items():
                if cell.mark in (Mark.YES, Mark.SCOPED) and key not in granted:
                    text = f"the matrix grants `{cell.tool}`, the agent's own list lacks it"
                    yield _disagree(agent, cell, None, text, section.place)


def _disagree(agent: Agent, one: Entry, other: Entry | None, text: str, place: Place) -> Finding:
    return finding(
        "list-against-matrix", text, one.place, other.place if other is not None else place, agent=agent.name
    )


def _all_tools(agent: Agent) -> Iterator[Finding]:
    for account in agent.accounts:
        if account.all_tools is None:
            continue
        denied = [
            entry
            for other in agent.accounts
            for entry in other.entries
            if entry.mark is Mark.NO and other.place.file == account.place.file
        ]
        if denied:
            names = list(dict.fromkeys(entry.tool for entry in denied))
            yield finding(
                "claims-everything",
                f"“{account.all_tools.text[:80]}”, but these are denied: {listing(names)}",
                account.all_tools.place,
                denied[0].place,
                agent=agent.name,
            )


def _both_ways(agent: Agent) -> Iterator[Finding]:
    granted = {(e.place.file, tool_key(e.tool)): e for a in agent.accounts if a.kind in _DOCUMENTS for e in a.allowed()}
    seen: set[str] = set()
    for account in agent.accounts:
        for entry in account.entries:
            key = tool_key(entry.tool)
            other = granted.get((entry.place.file, key))
            if (
                entry.mark is not Mark.NO
                or other is None
                or key in seen
                or account.kind not in (Kind.MATRIX, Kind.RECORD)
            ):
                continue
            if account.closed and account.kind is Kind.MATRIX and other.place != entry.place:
                continue  # a list against its matrix has been said already
            seen.add(key)
            yield finding(
                "allowed-and-prohibited",
                f"`{entry.tool}` is granted in one place and prohibited in another",
                other.place,
                entry.place,
                agent=agent.name,
            )


def _definition_against_document(agent: Agent) -> Iterator[Finding]:
    definitions = definitions_of(agent)
    written = [one for one in agent.accounts if one.kind in _DOCUMENTS and one.limits]
    for definition in definitions:
        mine = [one for one in written if one is not definition and is_about(one, definition, definitions)]
        papers = [one for one in mine if one.extent is Extent.LIST and one.closed]
        yield from _less(agent, definition, [one for one in mine if one.extent is Extent.EVERYTHING])
        yield from _unscoped(agent, definition, papers)
        for paper in papers:
            yield from _exactly(agent, definition, paper)
        said: dict[tuple[str, str], Finding] = {}
        for paper in mine:
            if paper in papers:
                compared = (*_wider(agent, definition, paper), *_narrower(agent, definition, paper))
            else:
                compared = (*_denied(agent, definition, paper),)
            for found in compared:
                before = said.get((found.code, found.text))
                places = (*before.places, found.places[-1]) if before is not None else found.places
                said[found.code, found.text] = msgspec.structs.replace(found, places=tuple(dict.fromkeys(places)))
        yield from _once_a_document(said.values(), definition)


def _once_a_document(found: Iterable[Finding], definition: Account) -> Iterator[Finding]:
    """Of the findings of one code, one document and one definition the gravest, with all places."""
    by_document: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        file = next((place.file for place in one.places if place.file != definition.place.file), "")
        by_document.setdefault((one.code, file), []).append(one)
    for several in by_document.values():
        first = min(several, key=lambda one: list(Weight).index(one.weight))
        places = (*first.places, *(place for one in several for place in one.places))
        yield msgspec.structs.replace(first, places=tuple(dict.fromkeys(places)))


def definitions_of(agent: Agent) -> list[Account]:
    """Where a host learns of an agent: its files, and the settings that name it."""
    named = [one for one in agent.accounts if one.kind is Kind.SETTINGS and one.agent != EVERYBODY and one.entries]
    found = [*(one for one in agent.accounts if one.kind is Kind.DEFINITION), *named]
    return found or [one for one in agent.accounts if one.kind is Kind.RECORD]


def is_about(paper: Account, definition: Account, definitions: Sequence[Account]) -> bool:
    """Whether what a document says is about this definition: not if it lies in another program's folder, beside that
    program's own definition of the agent."""
    folder = program_folder(paper.place.file)
    owned = [one for one in definitions if program_folder(one.place.file) == folder]
    if paper.place.file in {one.place.file for one in definitions}:
        return paper.place.file == definition.place.file
    if folder or len({one.host for one in definitions}) < 2:
        return not folder or definition in owned or not owned
    written = {entry.tool for entry in paper.entries}  # as one program writes them
    shared = [len(written & {entry.tool for entry in one.entries}) for one in definitions]
    return not written or shared[definitions.index(definition)] == max(shared) > 0


def program_folder(path: str) -> str:
    """The folder of a program that a path lies in, such as `.github`."""
    return next((part for part in path.split("/")[:-1] if part.startswith(".") and len(part) > 1), "")


def holds(definition: Account, kind: str) -> list[Entry] | None:
    """The tools of a kind that a definition grants whole; None for every one, where nothing takes them away."""
    found = [e for e in definition.allowed() if capability(e.tool) == kind and e.mark is Mark.YES and e.scope is None]
    if definition.extent is not Extent.EVERYTHING:
        return found
    taken = {tool_key(e.tool) for e in definition.entries if e.mark is not Mark.YES}
    if any(capability(one) == kind for one in taken):
        return found if kind != "write" or taken & _WRITING else None
    return None


_WRITING = {"write", "edit", "multiedit", "createfile", "editfiles", "patch"}
"""What a definition that starts from everything must take away to write no file."""


def _denied(agent: Agent, definition: Account, paper: Account) -> Iterator[Finding]:
    """Tools that a document denies by their names, and says nothing else of."""
    refused = [e for e in paper.entries if e.mark is Mark.NO and e.scope is None]
    granted = {tool_key(e.tool) for e in definition.allowed() if e.mark is Mark.YES and e.scope is None}
    taken = {tool_key(e.tool) for e in definition.entries if e.mark is not Mark.YES}
    if definition.extent is Extent.EVERYTHING:
        extra = [
            e
            for e in refused
            if tool_key(e.tool) not in taken
            and not (capability(e.tool) == "write" and taken & _WRITING)
            and capability(e.tool) in _MATTERS
        ]
    else:
        extra = [e for e in refused if tool_key(e.tool) in granted or _runs_it(definition, e.tool)]
    if definition.gated or (definition.extent is Extent.UNCLEAR):
        return
    if definition.reports:
        extra = [e for e in extra if not creates(e.tool)]
    if extra:
        has = "has no tool list, so it has" if definition.extent is Extent.EVERYTHING else "grants"
        names = listing(list(dict.fromkeys(e.tool for e in extra)))
        text = f"the document denies {names}; the definition {has} {_it(extra)}"
        yield finding("definition-wider/denied", text, extra[0].place, definition.place, agent=agent.name)


def _wider(agent: Agent, definition: Account, paper: Account, reason: _Words = _DEFINITION_WIDER) -> Iterator[Finding]:
    said = {tool_key(entry.tool): entry for entry in paper.entries}
    kinds = {capability(entry.tool) for entry in paper.allowed()}
    refused = {capability(entry.tool) for entry in paper.entries if entry.mark is Mark.NO} - kinds
    if definition.extent is Extent.EVERYTHING:
        yield from _without_list(agent, definition, paper)
        return
    extra = []
    for entry in definition.allowed():
        cell = said.get(tool_key(entry.tool))
        kind = capability(entry.tool)
        if cell is not None:
            if cell.mark is Mark.NO:
                extra.append(entry)
        elif paper.marks:
            extra += [entry] if kind in refused else []
        elif kind == "mcp":
            if mutates(entry.tool) and not any(_covers(other.tool, entry.tool) for other in paper.allowed()):
                extra.append(entry)
        elif kind in refused or (kind in _MATTERS and kind not in kinds and "unknown" not in kinds):
            extra.append(entry)
    if extra:
        changes = any(can_write(entry) or said.get(tool_key(entry.tool)) for entry in extra)
        lighter = Weight.WARNING if any(capability(entry.tool) == "network" for entry in extra) else Weight.NOTE
        names = list(dict.fromkeys(entry.tool for entry in extra))
        denied = said.get(tool_key(extra[0].tool))
        yield Finding(
            code=reason.code,
            weight=Weight.ERROR if changes else lighter,
            agent=agent.name,
            text=f"{reason.who} grants {listing(names)}; the document does not",
            places=(paper.place if denied is None else denied.place, extra[0].place),
            why=reason.why,
            fix=reason.fix,
        )


def _runs_it(definition: Account, command: str) -> bool:
    """Whether a scope of the definition's shell names a command that a document denies as it denies a tool."""
    scopes = [e.scope or "" for e in definition.allowed() if capability(e.tool) == "shell" and e.mark is Mark.SCOPED]
    return capability(command) == "unknown" and any(re.match(rf"{re.escape(command)}(?![\w-])", one) for one in scopes)


def _without_list(agent: Agent, definition: Account, paper: Account) -> Iterator[Finding]:
    """A list in a document, beside a definition that starts from everything."""
    kinds = {capability(entry.tool) for entry in paper.allowed()}
    if any(entry.mark is Mark.UNCLEAR for entry in paper.entries) or "unknown" in kinds:
        return
    if paper.marks:
        yield from _denied(agent, definition, paper)
        return
    whole = [kind for kind in ("write", "shell") if holds(definition, kind) is None]
    if not kinds & CHANGES and whole == ["write", "shell"]:
        what = "no tool that writes; the definition has no tool list, so it has every tool"
    elif in_host_names(paper) and (lacks := [_MEANS[kind] for kind in whole if kind not in kinds]):
        what = f"no tool to {' or '.join(lacks)}; the definition takes none away"
    else:
        return
    text = f"the document grants {what}"
    yield finding("definition-wider", text, paper.place, definition.place, agent=agent.name)


def in_host_names(paper: Account) -> bool:
    """Whether a list has several tools, all of them by names that hosts give them."""
    names = [entry.tool for entry in paper.allowed()]
    return (
        len(names) > 1
        and all(capability(name) != "unknown" for name in names)
        and sum(name in words("host_names", "") for name in names) >= 2
    )


def _less(agent: Agent, definition: Account, whole: Sequence[Account]) -> Iterator[Finding]:
    """A document that gives an agent every tool, beside a list without tools of the main kinds."""
    kinds = {capability(entry.tool) for entry in definition.allowed()}
    taken = [e.tool for e in definition.entries if e.mark is Mark.NO and capability(e.tool) in ("write", "shell")]
    if whole and definition.extent is Extent.EVERYTHING and taken:
        text = f"the document grants every tool; the definition takes {listing(taken)} away"
        yield finding("definition-narrower/right", text, whole[0].place, definition.place, agent=agent.name)
    denied = {capability(e.tool) for one in whole for e in one.entries if e.mark is Mark.NO}
    taken = [tool for tool in taken if capability(tool) not in denied]
    lacks = [kind for kind in ("write", "shell") if kind not in kinds | denied]
    if whole and definition.extent is Extent.LIST and not definition.recovered and lacks and "everything" not in kinds:
        text = f"the document grants every tool; the definition's list has none to {_MEANS[lacks[0]]}"
        places = [one.place for one in whole]
        yield finding("definition-narrower/right", text, *places[:3], definition.place, agent=agent.name)


_MEANS = {"write": "write files", "shell": "run commands"}


def _unscoped(agent: Agent, definition: Account, papers: Sequence[Account]) -> Iterator[Finding]:
    """A scope in a document, as `Bash(git log:*)`, for a tool that the definition grants whole."""
    held = {tool_key(e.tool): e for e in definition.allowed() if e.mark is Mark.YES and e.scope is None}
    for paper in papers:
        whole = {tool_key(e.tool) for e in paper.allowed() if e.mark is Mark.YES}
        for entry in paper.allowed():
            same = held.get(tool_key(entry.tool))
            scoped = entry.mark is Mark.SCOPED and entry.scope is not None and _COMMAND.fullmatch(entry.scope)
            if same is not None and scoped and capability(entry.tool) == "shell" and tool_key(entry.tool) not in whole:
                limit = f"{entry.tool}({(entry.scope or '')[:60]})"
                text = f"the document grants `{limit}`; the definition grants `{same.tool}` whole"
                yield finding("definition-wider/scope", text, entry.place, same.place, agent=agent.name)
                return


_COMMAND = re.compile(
    r"[a-z][\w./-]*(?:[ :][^\n()*]{0,100})?[*]"
    r"|(?:git|gh|npm|npx|pnpm|yarn|bun|node|pytest|python3?|go|cargo|make|docker|kubectl|terraform)\b"
    r"(?! only)[\w ,:-]{0,80}"
)
"""A pattern of commands: `git log:*`, `npm test`."""


def _exactly(agent: Agent, definition: Account, paper: Account) -> Iterator[Finding]:
    """What differs tool by tool, where both lists use the host's own names."""
    held = {tool_key(e.tool): e for e in definition.allowed()}
    said = {tool_key(e.tool): e for e in paper.allowed()}
    if not _is_comparable(definition, held, said):
        return
    extra = [e for key, e in held.items() if key not in said and capability(e.tool) not in _SMALL | {"mcp", "unknown"}]
    extra = [] if paper.marks else extra
    missing = [
        e for key, e in said.items() if key not in held and capability(e.tool) not in _SMALL | {"mcp", "unknown"}
    ]
    loose = {capability(e.tool) for key, e in said.items() if key not in held and key in words("groups", "")}
    extra = [e for e in extra if capability(e.tool) not in loose]  # "Web" stands for all of its kind
    missing = [e for e in missing if capability(e.tool) not in loose & {capability(e.tool) for e in held.values()}]
    kinds = {capability(e.tool) for e in said.values()}
    extra = [e for e in extra if capability(e.tool) in kinds or capability(e.tool) not in _MATTERS]
    if extra:
        text = f"the definition grants {listing([e.tool for e in extra])}; the document does not list {_it(extra)}"
        yield finding("definition-wider/exactly", text, paper.place, extra[0].place, agent=agent.name)
    if missing and not paper.most:
        text = f"the document grants {listing([e.tool for e in missing])}; the definition lacks {_it(missing)}"
        yield finding("definition-narrower/exactly", text, missing[0].place, definition.place, agent=agent.name)


_SMALL = frozenset({"plan", "ask", "memory", "skill", "test", "editor", "git"})
"""Kinds of tools that nobody minds."""


def _it(entries: Sequence[Entry]) -> str:
    return "it" if len(entries) == 1 else "them"


def _is_comparable(definition: Account, held: dict[str, Entry], said: dict[str, Entry]) -> bool:
    """Whether two lists are written in one vocabulary, so that what one of them lacks is lacking."""
    return (
        definition.extent is Extent.LIST
        and len(said) > 0
        and 2 * len(held.keys() & said.keys()) >= len(said)
        and all(capability(entry.tool) != "unknown" for entry in said.values())
    )


def _documents_differ(agent: Agent) -> Iterator[Finding]:
    """Two documents, or two tables of one, that give one agent different tools."""
    papers = _distinct(
        one
        for one in agent.accounts
        if one.kind is Kind.MATRIX and one.closed and one.extent is Extent.LIST and one.allowed()
    )
    for at, (one, first) in enumerate(papers):
        for other, second in papers[at + 1 :]:
            only = [e.tool for key, e in first.items() if key not in second and e.mark is Mark.YES and _tells(other, e)]
            more = [e.tool for key, e in second.items() if key not in first and e.mark is Mark.YES and _tells(one, e)]
            shared = 2 * len(first.keys() & second.keys()) >= min(len(first), len(second))
            known = all(capability(e.tool) != "unknown" for e in (*first.values(), *second.values()))
            if shared and known and (only or more):
                text = f"two tables give it different tools: {listing([*only, *more])} in one of them only"
                yield finding("tables-differ/agent", text, one.place, other.place, agent=agent.name)
                break


def _tells(paper: Account, entry: Entry) -> bool:
    """Whether a table that does not grant a tool denies it: one of marks does so only where the tool has a place."""
    return not paper.marks or any(tool_key(one.tool) == tool_key(entry.tool) for one in paper.entries)


def _distinct(papers: Iterable[Account]) -> list[tuple[Account, dict[str, Entry]]]:
    """The papers with what they grant; of many, those that say what no other of them does."""
    found: list[tuple[Account, dict[str, Entry]]] = []
    seen: set[frozenset[tuple[str, Mark]]] = set()
    for one in papers:
        granted = {tool_key(e.tool): e for e in one.allowed()}
        content = frozenset((key, e.mark) for key, e in granted.items())
        if len(found) < _MANY_PAPERS or (content not in seen and len(found) < 10 * _MANY_PAPERS):
            found.append((one, granted))
        seen.add(content)
    return found


_MANY_PAPERS = 40
"""Tables about one agent that are compared one with the other, whatever they say."""


def _covers(pattern: str, tool: str) -> bool:
    """Whether a name with a star at its end, or an MCP server's name alone, means this tool."""
    stem = pattern.rstrip("*").rstrip("_/")
    if tool_key(stem) in ("mcp", "mcptools", "mcpservers"):
        return capability(tool) == "mcp"
    return capability(pattern) in ("mcp", "everything") and tool_key(tool).startswith(tool_key(stem))


def _narrower(agent: Agent, definition: Account, paper: Account) -> Iterator[Finding]:
    if definition.extent is not Extent.LIST or paper.most:
        return
    held = {tool_key(entry.tool) for entry in definition.allowed()}
    kinds = {capability(entry.tool) for entry in definition.allowed()}
    if "unknown" in kinds:
        return
    missing = [
        entry
        for entry in paper.allowed()
        if tool_key(entry.tool) not in held and capability(entry.tool) not in kinds | {"unknown", "mcp"}
    ]
    if missing:
        names = list(dict.fromkeys(entry.tool for entry in missing))
        yield finding(
            "definition-narrower",
            f"the document grants {listing(names)}; the definition lacks {'it' if len(names) == 1 else 'them'}",
            missing[0].place,
            definition.place,
            agent=agent.name,
        )


def _read_only(agent: Agent) -> Iterator[Finding]:
    claim: Claim | None = next((one.read_only for one in agent.accounts if one.read_only is not None), None)
    if claim is None:
        return
    policy = [one for one in agent.accounts if one.kind is Kind.POLICY]
    held = policy or [one for one in agent.accounts if one.kind is Kind.DEFINITION] or list(agent.accounts)
    for account in held:
        denied = {tool_key(entry.tool) for entry in account.entries if entry.mark is Mark.NO and entry.scope is None}
        if account.extent is Extent.EVERYTHING:
            if claim.edits_only:
                continue  # that it has no list is said elsewhere
            open_to = {capability(e.tool) for e in account.entries if e.mark is not Mark.NO}
            whole = [e for e in account.allowed() if can_write(e) and e.scope in (None, "ask")]
            shell = "bash" in denied or ("shell" in open_to and not whole)
            if shell and ("edit" in denied or "write" in denied or (not whole and holds(account, "write") == [])):
                continue
            if len(account.allowed()) > 2 and not any(map(can_write, account.allowed())):
                continue  # it names what it has, and hosts differ in what they make of the rest
            taken = holds(account, "write") is not None
            what = "may run any command, since nothing takes the shell away" if taken else ""
            what, place = what or "has no tool list, so it holds every tool", account.place
        else:
            writing = [e for e in account.allowed() if can_write(e) and not (account.reports and creates(e.tool))]
            writing = [e for e in writing if not _is_named_beside(e, claim)]
            if claim.edits_only:
                writing = [e for e in writing if capability(e.tool) == "write"]
            if not writing:
                continue
            names = list(dict.fromkeys(entry.tool for entry in writing))
            verb = "may use" if account.kind is Kind.POLICY else "holds"
            what, place = f"{verb} {listing(names)}", writing[0].place
        held_back = "; only its plan mode holds it back" if account.gated else ""
        yield Finding(
            code="read-only-can-write",
            weight=Weight.NOTE if account.gated else Weight.ERROR,
            agent=agent.name,
            text=f"calls itself read-only (“{claim.text[:80]}”) and {what}{held_back}",
            places=(claim.place, place),
            why="a shell without a scope and an editing tool can change any file"
            if "list" not in what
            else "the host grants what no list limits",
            fix="give it only reading tools, or a shell with a scope (`remit init` writes one)",
        )
        return


_BESIDE = re.compile(
    r"\b(?:plus|along with|together with|apart from|in addition to)\b|(?<=\s)[&+](?=\s)", re.IGNORECASE
)
_TOOL_WORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")


def _is_named_beside(entry: Entry, claim: Claim) -> bool:
    """Whether the sentence itself allows a tool: "read-only plus browser interaction"."""
    beside = _BESIDE.search(claim.text)
    if beside is None:
        return False
    said = {one.lower() for one in _TOOL_WORD.findall(claim.text[beside.end() :])}
    return not said.isdisjoint(one.lower() for one in _TOOL_WORD.findall(entry.tool))


def _moot_scope(agent: Agent) -> Iterator[Finding]:
    for kind in (Kind.MATRIX, Kind.SECTION, Kind.DEFINITION):
        accounts = [one for one in agent.accounts if one.kind is kind]
        entries = [entry for one in accounts for entry in one.entries]
        shell = next(
            (e for e in entries if capability(e.tool) == "shell" and e.mark is Mark.YES and _runs(e.tool)), None
        )
        scoped = next((e for e in entries if capability(e.tool) == "write" and e.mark is Mark.SCOPED), None)
        if shell is not None and scoped is not None:
            limit = f" to {scoped.scope[:60]}" if scoped.scope else ""
            yield finding(
                "moot-scope",
                f"`{scoped.tool}` is limited{limit}, but `{shell.tool}` is not",
                scoped.place,
                shell.place,
                agent=agent.name,
                tool=shell.tool,
            )
            return


def _policy(agent: Agent) -> Iterator[Finding]:
    """What the policy allows against what documents and definitions say."""
    for policy in agent.accounts:
        if policy.kind is not Kind.POLICY:
            continue
        for other in agent.accounts:
            if other.kind in _DOCUMENTS and other.closed and other.extent is Extent.LIST:
                yield from _wider(agent, policy, other, _POLICY_WIDER)
            if other.kind in (*_DOCUMENTS, Kind.DEFINITION) and other.extent is Extent.LIST:
                yield from _refused(agent, policy, other)


def _refused(agent: Agent, policy: Account, other: Account) -> Iterator[Finding]:
    """Tools that a document or a definition grants, and the policy, which has rules for them, never allows."""
    cells = {tool_key(entry.tool): entry for entry in policy.entries}
    refused = [
        (entry, cells[tool_key(entry.tool)])
        for entry in other.allowed()
        if tool_key(entry.tool) in cells and cells[tool_key(entry.tool)].mark is Mark.NO
    ]
    if refused:
        names = list(dict.fromkeys(entry.tool for entry, _ in refused))
        paper = other.kind is not Kind.DEFINITION
        yield Finding(
            code="policy-narrower",
            weight=Weight.WARNING if paper else Weight.NOTE,
            agent=agent.name,
            text=f"the {'document' if paper else 'definition'} grants {listing(names)}; the policy denies every call",
            places=(refused[0][0].place, refused[0][1].place),
            why="whoever relies on the text is refused" if paper else "the host offers a tool that is always refused",
            fix="correct the text (`remit docs` writes it from the policy), or add a rule to `may`",
        )


def _shadowed(agent: Agent) -> Iterator[Finding]:
    """A scope beside the same tool without one, in one list."""
    for account in agent.accounts:
        if account.kind not in (Kind.DEFINITION, Kind.SETTINGS):
            continue
        whole = {tool_key(e.tool): e for e in account.entries if e.mark is Mark.YES and e.scope is None}
        for entry in account.entries:
            other = whole.get(tool_key(entry.tool))
            if (
                entry.mark is Mark.SCOPED
                and entry.scope
                and entry.scope != "ask"
                and not entry.asked
                and other is not None
            ):
                yield finding(
                    "shadowed-scope",
                    f"`{entry.tool}({entry.scope[:60]})` has no effect: the list grants `{other.tool}` whole",
                    entry.place,
                    other.place,
                    agent=agent.name,
                    tool=other.tool,
                )
                break


def _given_and_taken(agent: Agent) -> Iterator[Finding]:
    """A head that lists a tool and takes it away again."""
    for account in agent.accounts:
        if account.kind is Kind.DEFINITION and account.taken:
            text = (
                f"its head lists {listing(account.taken)} and takes {'it' if len(account.taken) == 1 else 'them'} away"
            )
            yield finding("allowed-and-prohibited/head", text, account.place, agent=agent.name)


def _dead(agent: Agent) -> Iterator[Finding]:
    """Prohibitions of a definition that take nothing away."""
    for account in agent.accounts:
        if account.kind is not Kind.DEFINITION or account.extent is not Extent.LIST:
            continue
        held = {tool_key(tool) for tool in (*(entry.tool for entry in account.allowed()), *account.taken)}
        dead = [e for e in account.entries if e.mark is Mark.NO and e.scope is None and tool_key(e.tool) not in held]
        if dead:
            yield finding(
                "dead-prohibition",
                f"prohibits {listing([entry.tool for entry in dead])}, which its tool list does not grant",
                dead[0].place,
                account.place,
                agent=agent.name,
            )


def creates(tool: str) -> bool:
    return tool_key(tool).rpartition("/")[2] in {"write", "createfile", "writefile", "create", "new", "createdirectory"}


def _runs(tool: str) -> bool:
    return tool_key(tool) not in {
        "getterminaloutput",
        "terminallastcommand",
        "killshell",
        "killbash",
        "runtests",
        "runtest",
    }


def _no_list(agent: Agent) -> Iterator[Finding]:
    limited = any(account.kind is Kind.POLICY for account in agent.accounts)
    for account in agent.accounts:
        if account.kind is not Kind.DEFINITION or limited:
            continue
        if account.extent is Extent.EVERYTHING and not account.entries:
            yield finding(
                "no-tool-list",
                "has no tool list, so the host gives it every tool",
                account.place,
                agent=agent.name,
                _NO_SCOPE=_NO_SCOPE,
            )
        elif account.extent is Extent.UNCLEAR:
            yield finding(
                "unclear-tools", "its tool list can't be read with certainty", account.place, agent=agent.name
            )


def _twice(agent: Agent) -> Iterator[Finding]:
    by_program: dict[tuple[str | None, str], list[Account]] = {}
    for account in agent.accounts:
        if account.kind is Kind.DEFINITION:  # a program reads its own folder, and no copy elsewhere
            by_program.setdefault((account.host, program_folder(account.place.file)), []).append(account)
    for accounts in by_program.values():
        first = accounts[0]
        for other in accounts[1:]:
            if {tool_key(e.tool) for e in first.allowed()} != {
                tool_key(e.tool) for e in other.allowed()
            } or first.extent != other.extent:
                yield finding(
                    "defined-twice",
                    "is defined twice for one host, with different tools",
                    first.place,
                    other.place,
                    agent=agent.name,
                )
                break


def _settled_twice(agent: Agent) -> Iterator[Finding]:
    """A definition and the host's settings that say different things of one agent, word for word."""
    settings = [one for one in agent.accounts if one.kind is Kind.SETTINGS and one.agent != EVERYBODY]
    for definition in agent.accounts:
        if definition.kind is not Kind.DEFINITION or definition.extent is not Extent.EVERYTHING:
            continue
        for other in settings:
            if other.host != definition.host:
                continue
            said = {tool_key(e.tool): e for e in other.entries}
            differ = [
                (entry, cell)
                for entry in definition.entries
                if (cell := said.get(tool_key(entry.tool))) is not None and _setting(entry) != _setting(cell)
            ]
            modes = definition.mode and other.mode and definition.mode != other.mode
            if differ:
                entry, cell = differ[0]
                text = f"`{entry.tool}` is {_setting(entry)} in the definition and {_setting(cell)} in the settings"
                yield finding("defined-twice/settings", text, entry.place, cell.place, agent=agent.name)
            elif modes:
                text = f"is a {definition.mode} agent in the definition and a {other.mode} agent in the settings"
                yield finding("defined-twice/settings", text, definition.place, other.place, agent=agent.name)


def _setting(entry: Entry) -> str:
    """What a host does with a tool of this entry, in a word."""
    if entry.scope not in (None, "ask"):
        return "limited"
    if entry.mark is Mark.SCOPED:
        return "asked about"
    return "allowed" if entry.mark is Mark.YES else "denied"


def _broken(agent: Agent) -> Iterator[Finding]:
    for account in agent.accounts:
        if account.recovered:
            yield finding(
                "invalid-front-matter",
                f"its front matter is not valid YAML ({_brief(account.recovered)}); it was read line by line",
                account.place,
                agent=agent.name,
            )


def _brief(problem: str) -> str:
    """What a parser said, without its place: that counts from the head."""
    return re.sub(r"^(?:[\w.]+:)?[\d:]*\s*", "", problem.partition("\n")[0])[:80]


def risky_pairs(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Agents that can both read what is private and send it away, as one note."""
    found = []
    for agent in agents:
        for account in agent.accounts:
            kinds = {capability(entry.tool) for entry in account.allowed() if entry.mark is Mark.YES}
            servers = any(capability(entry.tool) == "mcp" and mutates(entry.tool) for entry in account.allowed())
            if (
                account.kind is Kind.DEFINITION
                and account.extent is Extent.LIST
                and kinds & CHANGES
                and ("network" in kinds or servers)
            ):
                found.append((agent.name, account.place))
                break
    if found:
        names = [name for name, _ in found]
        yield finding(
            "write-and-network",
            f"{counted(len(names), 'agent')} that can write and reach the network: " + listing(names),
            *tuple(place for _, place in found[:6]),
        )
