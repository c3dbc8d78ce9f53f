"""A scan from beginning to end: files, accounts, agents, findings."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterable, Sequence

from remit.model.errors import RemitError
from remit.scan.counts import Count, counts_in
from remit.scan.definitions import is_archived, is_headless, read_definition
from remit.scan.documents import Reader
from remit.scan.files import MOST, Text, Walk, is_past
from remit.scan.handovers import handed_over
from remit.scan.inventory import Inventory, Thing
from remit.scan.lint.agents import agent_findings, risky_pairs
from remit.scan.lint.counts import count_findings, is_past_page, sum_findings
from remit.scan.lint.documents import document_findings
from remit.scan.lint.finding import harm
from remit.scan.lint.policy import policy_findings
from remit.scan.lint.rights import right_findings
from remit.scan.lint.rosters import Team, roster_findings
from remit.scan.lint.servers import definition_findings, server_findings, servers_of, servers_used
from remit.scan.lint.settings import settings_findings, unreadable
from remit.scan.lint.team import grouped, headless, team_findings
from remit.scan.markdown import read_markdown
from remit.scan.merge import merge
from remit.scan.model import Account, Agent, Extent, Finding, Kind, Mark, Place, Survey, Weight
from remit.scan.names import Names, key_of
from remit.scan.records import Record, account_of, declared, read_records
from remit.scan.rosters import Page, read_page, scripts_of, things_by_kind
from remit.scan.servers import Listing, Use, listings_of, uses_of
from remit.scan.settings import EVERYBODY, Unreadable, is_everybody, read_settings
from remit.scan.statements import Statements, own_accounts
from remit.scan.sums import Sum, sums_of
from remit.scan.vocabulary import tool_key

_DOCUMENTS = (".md", ".markdown", ".mdx", ".mdc", ".txt")
_SPEAKS = re.compile(
    r"\|\s*:?-|-\s*\||agent_id|\d-agent\b|\nagent:"
    r"|\b(?:allowed|permitted|granted|tools|prohibited|forbidden|denied|tier \d|agents"
    r"|read-only|access|permissions?|can (?:write|edit|run)|may write|hand-?offs?|delegates?"
    r"|(?:may|must|can) (?:not|only)|cannot|never (?:edits?|writes?|modif\w+|runs?|uses?)"
    r"|only .{2,60}? (?:may|can)|no (?:shell|writes?|edits?|bash)"
    r"|subagents|specialists|skills|commands|hooks|prompts|agentes|habilidades|comandos|agenten|агентов)\b"
    r"|智能体|代理|技能|工具|에이전트|스킬|エージェント",
    re.IGNORECASE,
)
"""What a document has at the least, if it says anything that a scan reads."""
_OBSOLETE = re.compile(
    r"^\W{0,6}status\W{1,8}(?:superseded|deprecated|rejected|obsolete|withdrawn)\b", re.IGNORECASE | re.MULTILINE
)
"""A page that says that it holds no longer."""
_KEPT = 32 * 1024 * 1024
"""Characters of documents that are kept until the definitions are known; the rest is read twice."""
_RANK = {Weight.ERROR: 0, Weight.WARNING: 1, Weight.NOTE: 2}


class ScanError(RemitError):
    """A path that can't be scanned."""

    code = "not-scanned"


def scan(
    root: str,
    *,
    today: datetime.date,
    progress: Callable[[str], None] | None = None,
    policy: Sequence[Account] = (),
    most: int = MOST,
    look: Callable[[Text], None] | None = None,
) -> Survey:
    """What the repository at `root`, or the one file there, says about agents. Runs nothing. Raises ScanError.

    `policy` is what a policy allows, to be compared with the rest; at most `most` files are looked at; `look` is shown
    every text.
    """
    if os.path.isfile(root):
        walk = Walk(os.path.dirname(os.path.abspath(root)))
        found = walk.read_file(os.path.basename(root))
        texts: Iterable[Text] = [found] if found is not None else []
        walk.files, walk.read = 1, int(found is not None)
    elif os.path.isdir(root):
        walk = Walk(os.path.abspath(root), progress=progress, most=most)
        texts = walk.texts()
    else:
        raise ScanError(f"`{root}`: no such file or folder")
    reading = _Reading(walk, today, look)
    accounts = [*reading.accounts(texts), *policy]
    everybody = merge(accounts)
    agents = [agent for agent in everybody if not is_everybody(agent)]
    inventory = reading.inventory(accounts)
    findings = [
        *reading.findings,
        *agent_findings(agents),
        *right_findings(agents),
        *team_findings(agents, reading.headless),
        *count_findings(reading.counted, inventory, reading.definitions, reading.exists),
        *sum_findings(reading.sums),
        *settings_findings(accounts),
        *roster_findings(
            reading.pages, reading.team(accounts), reading.inventory(accounts), reading.exists, reading.leads
        ),
        *definition_findings(reading.uses, agents),
        *server_findings(reading.uses, reading.listings, servers_of(accounts)),
        *headless(reading.headless),
        *risky_pairs(agents),
        *(policy_findings(agents) if policy else ()),
    ]
    ordered = sorted(
        set(grouped(_once(findings))), key=lambda one: (_RANK[one.weight], harm(one.code), one.agent or "", one.places)
    )
    return Survey(
        root=walk.root,
        agents=tuple(agent for agent in everybody if any(one.kind is not Kind.ROSTER for one in agent.accounts)),
        findings=tuple(ordered),
        files=walk.files,
        read=walk.read,
        skipped=tuple(walk.skipped),
        enforced=tuple(_enforced(agents, accounts, os.path.exists(os.path.join(walk.root, "remit.yaml")))),
    )


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those that say again of two places that they contradict each other about an agent."""
    told: dict[tuple[str, str | None, frozenset[Place]], Finding] = {}
    for one in findings:
        key = (one.code, one.agent, frozenset(one.places))
        before = told.get(key)
        if one.agent is None or len(one.places) < 2:
            key = (one.code, one.text, key[2])
        elif before is not None and _RANK[before.weight] <= _RANK[one.weight]:
            continue
        told[key] = one
    return list(told.values())


def is_defined(account: Account) -> bool:
    """Whether an account is where a host learns that there is such an agent."""
    return account.kind is Kind.DEFINITION or (account.kind is Kind.SETTINGS and account.agent != EVERYBODY)


class _Reading:
    """What the files of a repository say. Definitions come first: documents are read by the names that they give."""

    def __init__(self, walk: Walk, today: datetime.date, look: Callable[[Text], None] | None) -> None:
        self.look = look
        self.walk = walk
        self.today = today
        self.findings: list[Finding] = []
        self.counted: list[Count] = []
        """Numbers of agents, skills and the like."""
        self.definitions: frozenset[str] = frozenset()
        self.pages: list[Page] = []
        self.uses: list[Use] = []
        self.sums: list[Sum] = []
        self.listings: list[Listing] = []
        self.servers: frozenset[str] = frozenset()
        """Keys of the MCP servers that settings declare."""
        self.used: frozenset[str] = frozenset()
        """Those, and the servers of tools in definitions."""
        self.things: dict[str, frozenset[str]] = {}
        """Keys of the names of skills, commands and the like, by kind."""
        self.stems: set[str] = set()
        """Keys of the names of all documents."""
        self.headless: list[Place] = []
        """Files in folders of definitions that have no head."""

    def accounts(self, texts: Iterable[Text]) -> list[Account]:
        """All that is said; findings inside one document are kept in `findings`."""
        accounts: list[Account] = []
        waiting: list[Text | str] = []
        kept = 0
        bodies: list[Text | str] = []
        scripts: list[Page] = []
        for text in texts:
            if self.look is not None:
                self.look(text)
            if text.path.endswith(_DOCUMENTS):
                self.stems.add(key_of(text.path.rpartition("/")[2].partition(".")[0]))
            definition = read_definition(text)
            if definition is not None:
                accounts += [definition, *own_accounts(definition, text)]
                kept += len(text.text)
                bodies.append(text if kept < _KEPT else text.path)
                continue
            if is_headless(text):
                self.headless.append(Place(text.path, 1))
            if text.path.endswith((*_DOCUMENTS, ".yaml", ".yml")):
                if not is_past(text.path) and _SPEAKS.search(text.text):
                    kept += len(text.text)
                    waiting.append(text if kept < _KEPT else text.path)
            elif text.path.endswith((".json", ".jsonc", ".toml")) and not is_archived(text.path):
                page = scripts_of(text)
                scripts += [page] if page is not None else []
                try:
                    accounts += read_settings(text)
                except Unreadable as error:
                    self.findings.append(unreadable(text, str(error)))
            else:
                accounts += declared(text)
        self.pages = scripts
        self.definitions = frozenset(one.place.file for one in accounts if one.kind is Kind.DEFINITION)
        reader = Reader([name for one in accounts if is_defined(one) for name in one.names])
        self.servers = frozenset(key for names in servers_of(accounts).values() for key in names)
        self.used = self.servers | servers_used(accounts)
        self.things = things_by_kind(self.walk.counted)
        for held in bodies:
            definition_text = self.walk.read_file(held) if isinstance(held, str) else held
            if definition_text is not None and not is_past(definition_text.path):
                self._body(definition_text, reader)
        statements = Statements(reader.known)
        waiting.reverse()
        while waiting:
            if self.walk.progress is not None and len(waiting) % 100 == 0:
                self.walk.progress(f"{len(waiting):,} documents to compare")
            held = waiting.pop()
            document = self.walk.read_file(held) if isinstance(held, str) else held
            if document is not None:
                accounts += self._document(document, reader, statements)
        defined = [one for one in accounts if is_defined(one) or one.kind is Kind.RECORD]
        return accounts + statements.resolved(Names(name for one in defined for name in one.names))

    def inventory(self, accounts: Sequence[Account]) -> Inventory:
        """What the repository has of each kind of thing, now that its files were seen."""
        settings = [one for one in accounts if one.kind is Kind.SETTINGS]
        named = [("agents", Thing(one.place.file, one.agent)) for one in settings if one.agent != EVERYBODY]
        servers = [
            ("servers", Thing(one.place.file, entry.tool.split("__")[1]))
            for one in settings
            for entry in one.entries
            if entry.tool.startswith("mcp__") and entry.tool.endswith("__*")
        ]
        loose = [place.file for place in self.headless]
        found = Inventory(self.walk.counted, sorted(self.definitions), loose, [*named, *servers])
        defined = [one for one in accounts if one.kind is Kind.DEFINITION]
        if any(one.mode for one in defined) and len({one.host for one in defined}) == 1:
            found.modes = [one.mode or "" for one in defined]
        return found

    def team(self, accounts: Sequence[Account]) -> Team:
        """Who is defined, and what else has a name here."""
        named = [one for one in accounts if is_defined(one)]
        loose = [place.file for place in self.headless]
        stems = {key_of(path.rpartition("/")[2].partition(".")[0]) for path in (*self.walk.counted, *loose)}
        folders = {key_of(path.split("/")[-2]) for path in self.walk.counted if path.endswith("/SKILL.md")}
        records = {key_of(one.agent) for one in accounts if one.kind is Kind.RECORD}
        return Team(
            named,
            self.inventory(accounts),
            frozenset(stems | folders | records),
            frozenset(self.stems) | {key_of(name) for name in self.walk.quoted},
        )

    def exists(self, path: str, page: str) -> bool:
        """Whether a path that a page names leads to something, from the page's folder or from one above it."""
        folder = page.rpartition("/")[0]
        while True:
            if os.path.lexists(os.path.join(self.walk.root, folder, path)):
                return True
            if not folder:
                return False
            folder = folder.rpartition("/")[0]

    def leads(self, link: str, page: str) -> bool:
        """Whether a link of a page leads to something: from its folder, or from the root."""
        folders = (os.path.dirname(page), "")
        return any(
            os.path.lexists(os.path.join(self.walk.root, os.path.normpath(f"{one}/{link}".lstrip("/"))))
            for one in folders
        )

    def _body(self, text: Text, reader: Reader) -> None:
        """What a definition says of others: whom it lists, counts and hands work to."""
        page = read_page(text, read_markdown(text.text), reader.known, (), self.things)
        self.pages += [page] if page is not None else []
        self.counted += counts_in(text.path, text.text)

    def _document(self, text: Text, reader: Reader, statements: Statements) -> list[Account]:
        if _OBSOLETE.search(text.text[:1_500]):
            return []
        records: list[Record] = read_records(text)
        found = [account_of(record, text.path) for record in records]
        if text.path.endswith(_DOCUMENTS):
            found += reader.read(text)
        self.findings += document_findings(text, found, records, self.today)
        if text.path.endswith(_DOCUMENTS):
            self.counted += counts_in(text.path, text.text)
            document = read_markdown(text.text)
            taken: dict[int, set[str]] = {}
            for one in found:
                taken.setdefault(one.place.line, set())
                for entry in one.entries:
                    taken.setdefault(entry.place.line, set()).add(tool_key(entry.tool))
            more = [] if is_past_page(text.path) else handed_over(text, document, reader.known)
            if not is_past_page(text.path):
                more += statements.read(text, document, taken)
            self.uses += uses_of(text, document, self.used)
            self.sums += sums_of(text, document)
            self.listings += listings_of(text, document, self.servers)
            page = read_page(text, document, reader.known, found, self.things)
            self.pages += [page] if page is not None else []
            found += more
        return found


def _enforced(agents: Sequence[Agent], accounts: Sequence[Account], policy: bool) -> list[tuple[str, int, int]]:
    """Of the statements about one agent and one tool: how many a host holds, and how many stand on paper only."""
    statements: dict[tuple[str, str], bool] = {}
    scopes: dict[tuple[str, str], bool] = {}
    denied = {
        tool_key(e.tool)
        for a in accounts
        if a.kind is Kind.SETTINGS
        for e in a.entries
        if e.mark is Mark.NO and e.scope is None
    }
    for agent in agents:
        definitions = [a for a in agent.accounts if a.kind is Kind.DEFINITION and a.extent is Extent.LIST]
        held = {tool_key(e.tool) for a in definitions for e in a.allowed()}
        for account in agent.accounts:
            for entry in account.entries:
                key = (agent.name, tool_key(entry.tool))
                if entry.mark is Mark.SCOPED:
                    scopes.setdefault(key, False)
                elif entry.mark is Mark.YES:
                    statements[key] = statements.get(key, False) or bool(definitions)
                elif entry.mark is Mark.NO:
                    holds = (bool(definitions) and key[1] not in held) or key[1] in denied
                    statements[key] = statements.get(key, False) or holds
    total = len(statements) + len(scopes)
    rows = [("tool lists and settings that a host follows", sum(statements.values()), total)]
    rows.append(("nothing: on paper only", total - sum(statements.values()), total))
    if policy:
        rows.append(("a `remit.yaml` is here; `remit status` says what it enforces", 0, total))
    return rows
