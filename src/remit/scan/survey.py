"""A scan from beginning to end: files, accounts, agents, findings."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from remit.model.errors import RemitError
from remit.scan.announced import Announced, announced_in
from remit.scan.attributes import Assignment, Attribute, assignments_in, attributes_in, in_head
from remit.scan.commands import Ban, bans_of, own_bans, rules_of
from remit.scan.configs import own_keys, read_config
from remit.scan.counts import Count, counts_in
from remit.scan.definitions import is_archived, is_headless, read_definition
from remit.scan.documents import Reader
from remit.scan.files import MOST, Text, Walk, is_manifest, is_past, is_published, is_team_file, tail_of
from remit.scan.front_matter import read_head
from remit.scan.grids import Grid, Paths, grid_of, grids_of, paths_of
from remit.scan.handovers import handed_over
from remit.scan.inventory import Inventory, Thing
from remit.scan.lint.agents import agent_findings, program_folder, risky_pairs
from remit.scan.lint.attributes import assignment_findings, attribute_findings
from remit.scan.lint.counts import announced_findings, count_findings, is_past_page, sum_findings
from remit.scan.lint.documents import document_findings
from remit.scan.lint.finding import harm
from remit.scan.lint.grids import grid_findings
from remit.scan.lint.manifests import manifest_findings
from remit.scan.lint.paths import path_findings
from remit.scan.lint.policy import policy_findings
from remit.scan.lint.rights import command_findings, right_findings
from remit.scan.lint.rosters import Team, need_findings, roster_findings
from remit.scan.lint.servers import (
    definition_findings,
    server_findings,
    servers_of,
    servers_used,
    switch_findings,
    undeclared_findings,
)
from remit.scan.lint.settings import denied_findings, forbidden_findings, settings_findings, unreadable
from remit.scan.lint.spoken import colleague_findings, spoken_findings
from remit.scan.lint.team import grouped, headless, team_findings
from remit.scan.lint.told import told_findings
from remit.scan.manifests import Manifest, read_manifest
from remit.scan.markdown import read_markdown
from remit.scan.merge import merge, team_of, teams_of
from remit.scan.model import Account, Agent, Extent, Finding, Kind, Mark, Place, Survey, Weight
from remit.scan.names import Names, key_of
from remit.scan.needs import colleagues_of, needs_of
from remit.scan.paths import Drawn, named_in_skill, paths_named
from remit.scan.records import Record, account_of, declared, read_records
from remit.scan.rosters import Mention, Page, read_page, scripts_of, things_by_kind
from remit.scan.servers import Listing, Switched, Use, listings_of, switched_in, uses_of
from remit.scan.settings import EVERYBODY, Unreadable, is_everybody, read_settings, switched
from remit.scan.spoken import Spoken, spoken_in
from remit.scan.statements import Statements, own_accounts, told_in
from remit.scan.sums import Sum, sums_of
from remit.scan.told import Told, told_tools
from remit.scan.vocabulary import tool_key, words

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
_HOOK = re.compile(r"hooks/(?:[\w-]{1,60}/){0,4}([\w-]{1,80})\.(?:py|sh|js|mjs|cjs|ts|ps1|bash)\b")
"""A hook that settings start, by its path."""
_KEPT = 32 * 1024 * 1024
"""Characters of documents that are kept until the definitions are known; the rest is read twice."""
_COPIED = 100_000
"""Characters that a definition or settings may have to be known again in a copy."""
_IGNORED = 100_000
"""Characters of a `.gitignore` that are read."""
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
    team = reading.team(accounts)
    listed = [
        *roster_findings(reading.pages, team, inventory, reading.exists, reading.leads),
        *need_findings(reading.needs, team, inventory),
    ]
    findings = [
        *reading.findings,
        *agent_findings(agents),
        *right_findings(agents),
        *command_findings(agents, reading.bans),
        *told_findings(reading.told),
        *team_findings(agents, reading.headless),
        *count_findings(reading.counted, inventory, reading.definitions, reading.exists),
        *manifest_findings(reading.manifests, inventory, reading.exists),
        *path_findings(reading.drawn, reading.exists, reading.somewhere),
        *sum_findings(reading.sums),
        *announced_findings(reading.announced),
        *attribute_findings(reading.heads, reading.attributes, reading.things),
        *assignment_findings(reading.assignments, reading.team(accounts)),
        *settings_findings(accounts),
        *denied_findings(accounts, reading.told),
        *forbidden_findings(accounts, reading.rules),
        *listed,
        *colleague_findings(reading.colleagues, team, listed),
        *spoken_findings(reading.spoken, team, inventory, listed),
        *definition_findings(reading.uses, agents, reading.servers),
        *undeclared_findings(agents, accounts),
        *server_findings(reading.uses, reading.listings, servers_of(accounts)),
        *switch_findings(reading.switched, reading.switches),
        *grid_findings(reading.every_grid(), reading.together(accounts)),
        *headless(reading.headless),
        *risky_pairs(agents),
        *(policy_findings(agents) if policy else ()),
    ]
    ordered = sorted(
        _joined(grouped(_once(findings))),
        key=lambda one: (_RANK[one.weight], harm(one.code), one.agent or "", one.places),
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
    return _without_repeats(list(told.values()))


def _without_repeats(findings: list[Finding]) -> list[Finding]:
    """The findings without those about names that another one calls undefined in the same places."""
    names = {n: frozenset(re.findall(r"`([^`]+)`", one.text)) for n, one in enumerate(findings)}
    by_place: dict[Place, list[int]] = {}
    for n, one in enumerate(findings):
        for place in one.places[:1] if one.code == "undefined-name" else ():
            by_place.setdefault(place, []).append(n)
    again = {
        n
        for same in by_place.values()
        for at, n in enumerate(same)
        if any(
            names[n] <= names[other] and set(findings[n].places) <= set(findings[other].places) for other in same[:at]
        )
    }
    return [one for n, one in enumerate(findings) if n not in again]


_NAMES_ITS_SUBJECT = ("undefined-name", "missing-file", "count-mismatch")
"""Findings that are about one thing wherever they say the same."""


def _joined(findings: Iterable[Finding]) -> list[Finding]:
    """What is said in the same words about several places, as one finding with all of them."""
    same: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        said: tuple[object, ...] = (one.code, one.weight, one.agent, one.text, one.fix)
        said = said if one.code in _NAMES_ITS_SUBJECT else (*said, one.places)
        places = (*same[said].places, *one.places) if said in same else one.places
        same[said] = msgspec.structs.replace(one, places=tuple(dict.fromkeys(places)))
    return list(same.values())


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
        self.spoken: list[Spoken] = []
        """Skills and commands that texts speak of."""
        self.colleagues: list[Mention] = []
        """Agents that definitions list as those theirs work with."""
        self.needs: list[Mention] = []
        """What definitions say that their agents work with."""
        self.uses: list[Use] = []
        self.drawn: list[Drawn] = []
        """Paths that documents name."""
        self.manifests: list[Manifest] = []
        self.sums: list[Sum] = []
        self.announced: list[Announced] = []
        self.heads: list[Attribute] = []
        """What the heads of definitions say besides tools."""
        self.attributes: list[Attribute] = []
        """What tables say of agents besides tools."""
        self.assignments: list[Assignment] = []
        self.listings: list[Listing] = []
        self.switched: list[Switched] = []
        """What tables say of servers: enabled or disabled."""
        self.switches: list[dict[str, tuple[bool, Place]]] = []
        """What each settings file says of that."""
        self.grids: list[Grid] = []
        self.bans: list[Ban] = []
        self.rules: list[Ban] = []
        """Commands that pages of rules forbid."""
        self.told: list[Told] = []
        """The tools that texts of definitions tell their agents to use."""
        self.paths: list[Paths] = []
        """Lists of paths that agents may read or write."""
        self.servers: frozenset[str] = frozenset()
        """Keys of the MCP servers that settings declare."""
        self.used: frozenset[str] = frozenset()
        """Those, and the servers of tools in definitions."""
        self.things: dict[str, frozenset[str]] = {}
        """Keys of the names of skills, commands and the like, by kind."""
        self.stems: set[str] = set()
        """Keys of the names of all documents, and of the folders of skills."""
        self.beside: set[str] = set()
        """Those in folders of agents: what has a file there is no unknown name."""
        self.starts: set[str] = set()
        """The names of the hooks that settings start."""
        self.ignored = _ignored(os.path.join(walk.root, ".gitignore"))
        """Files and folders that git ignores, by their paths."""
        self.headless: list[Place] = []
        """Files in folders of definitions that have no head."""

    def accounts(self, texts: Iterable[Text]) -> list[Account]:
        """All that is said; findings inside one document are kept in `findings`."""
        accounts: list[Account] = []
        waiting: list[Text | str] = []
        kept = 0
        bodies: list[Text | str] = []
        scripts: list[Page] = []
        seen: set[int] = set()
        for text in texts:
            if self.look is not None:
                self.look(text)
            if is_published(text.path) and hash(text.text) in seen:
                continue  # a copy that a site shows
            if text.path.endswith((".md", ".json", ".jsonc", ".toml")) and len(text.text) < _COPIED:
                seen.add(hash(text.text))
            if text.path.endswith(_DOCUMENTS):
                *folders, name = text.path.split("/")
                stem = key_of(folders[-1] if name == "SKILL.md" and folders else name.partition(".")[0])
                self.stems.add(stem)
                self.beside |= {stem} if not {"agents", "agent"}.isdisjoint(folders) else set()
            definition = read_definition(text)
            if definition is not None:
                head = read_head(text.text)
                self.heads += in_head(definition.agent, head, text.path) if head is not None else ()
                accounts += [definition, *own_accounts(definition, text), *own_keys(definition, text)]
                accounts += told_in(definition, text)
                self.told += told_tools(definition, text)
                self.bans += own_bans(definition, text)
                kept += len(text.text)
                bodies.append(text if kept < _KEPT else text.path)
                continue
            if is_headless(text):
                self.headless.append(Place(text.path, 1))
            if is_manifest(text.path):
                manifest = None if is_archived(text.path) else read_manifest(text)
                if manifest is not None:
                    self.manifests.append(manifest)
                    self.counted += manifest.counts
            elif text.path.endswith((*_DOCUMENTS, ".yaml", ".yml")) or is_team_file(text.path):
                if not is_past(text.path) and _SPEAKS.search(text.text):
                    kept += len(text.text)
                    waiting.append(text if kept < _KEPT else text.path)
            elif text.path.endswith((".json", ".jsonc", ".toml")) and not is_archived(text.path):
                self.starts.update(match[1] for match in _HOOK.finditer(text.text))
                page = scripts_of(text)
                scripts += [page] if page is not None else []
                try:
                    accounts += read_settings(text)
                    self.switches.append(switched(text))
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
        plugins = [("plugins", Thing(one.place.file, name)) for one in self.manifests for name in one.plugins]
        loose = [place.file for place in self.headless]
        found = Inventory(self.walk.counted, sorted(self.definitions), loose, [*named, *servers, *plugins])
        found.starts = frozenset(self.starts)
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
            frozenset(stems | folders | records | self.beside),
            frozenset(self.stems) | {key_of(name) for name in self.walk.quoted},
        )

    def every_grid(self) -> list[Grid]:
        """The grids of all tables, and of the lists of paths of one folder or one file of settings."""
        by_source: dict[str, list[Paths]] = {}
        for one in self.paths:
            file = one.place.file
            by_source.setdefault(file.rpartition("/")[0] + "/" if file.endswith(_DOCUMENTS) else file, []).append(one)
        return [*self.grids, *(grid_of(lists, source) for source, lists in by_source.items())]

    def together(self, accounts: Sequence[Account]) -> Callable[[str, str], bool]:
        """Whether two files speak of one team: not if they lie in the folders of two programs, or of two teams."""
        folders = teams_of(accounts)
        programs = {program_folder(one.place.file) for one in accounts if one.kind is Kind.DEFINITION}

        def same(one: str, other: str) -> bool:
            hosts = {program_folder(one), program_folder(other)}
            return team_of(one, folders) == team_of(other, folders) and (
                len(hosts) == 1 or ("" in hosts and len(programs) == 1)
            )

        return same

    def exists(self, path: str, page: str) -> bool:
        """Whether a path that a page names leads to something, from the page's folder or from one above it.

        What git ignores is made on each machine: it may be there.
        """
        parts = path.split("/")
        if not self.ignored.isdisjoint("/".join(parts[:count]) for count in range(1, len(parts) + 1)):
            return True
        folder = page.rpartition("/")[0]
        while True:
            if os.path.lexists(os.path.join(self.walk.root, folder, path)):
                return True
            if not folder:
                return False
            folder = folder.rpartition("/")[0]

    def somewhere(self, path: str) -> bool:
        """Whether any file has the name, and the folder, that a path ends with."""
        return tail_of(path) in self.walk.tails

    def skill_of(self, page: str) -> str:
        """The folder of the skill that a page belongs to; empty for none."""
        folder = page.rpartition("/")[0]
        while folder and folder not in self.walk.skills:
            folder = folder.rpartition("/")[0]
        return folder

    def leads(self, link: str, page: str) -> bool:
        """Whether a link of a page leads to something: from its folder, or from the root."""
        folders = (os.path.dirname(page), "")
        return any(
            os.path.lexists(os.path.join(self.walk.root, os.path.normpath(f"{one}/{link}".lstrip("/"))))
            for one in folders
        )

    def _body(self, text: Text, reader: Reader) -> None:
        """What a definition says of others: whom it lists, counts and hands work to."""
        document = read_markdown(text.text)
        page = read_page(text, document, reader.known, (), self.things)
        self.pages += [page] if page is not None else []
        self.drawn += (one for one in paths_named(text, document) if one.form == "text")
        self.needs += needs_of(text)
        self.colleagues += colleagues_of(text)
        self.spoken += spoken_in(text, document)
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
                self.attributes += attributes_in(text, document, statements)
                self.assignments += assignments_in(text, document, statements)
                self.bans += bans_of(text.path, document)
                self.rules += rules_of(text.path, document)
                self.grids += grids_of(text, document, statements, found)
                self.paths += paths_of(text, document, statements, statements.page_of(text, document))
            self.uses += uses_of(text, document, self.used)
            self.switched += switched_in(text, document, self.servers)
            self.sums += sums_of(text, document)
            self.drawn += paths_named(text, document) if self.definitions else ()
            self.drawn += named_in_skill(text, self.skill_of(text.path))
            self.listings += listings_of(text, document, self.servers)
            page = read_page(text, document, reader.known, found, self.things)
            self.pages += [page] if page is not None else []
            self.spoken += spoken_in(text, document)
            if found or page is not None or text.path in words("main_documents", ""):
                self.announced += announced_in(text.path, text.text, document)
            found += more
        elif not is_past_page(text.path):
            accounts, paths = read_config(text, statements)
            found += accounts
            self.paths += paths
        return found


def _ignored(path: str) -> frozenset[str]:
    """The names and paths in a `.gitignore` that are written whole, without stars."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait for a writer
        with open(descriptor, encoding="utf-8", errors="replace") as file:
            lines = file.read(_IGNORED).split("\n") if os.path.isfile(path) else []
    except (OSError, ValueError):
        return frozenset()
    return frozenset(line.strip().strip("/") for line in lines if not re.search(r"[*?!#\[]", line)) - {""}


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
            own = account.kind is Kind.DEFINITION and account.extent is Extent.EVERYTHING
            for entry in account.entries:
                key = (agent.name, tool_key(entry.tool))
                if own:  # what a definition takes away, or limits, its host takes away or limits
                    (scopes if entry.mark is Mark.SCOPED else statements)[key] = True
                elif entry.mark is Mark.SCOPED:
                    scopes.setdefault(key, False)
                elif entry.mark is Mark.YES:
                    statements[key] = statements.get(key, False) or bool(definitions)
                elif entry.mark is Mark.NO:
                    holds = (bool(definitions) and key[1] not in held) or key[1] in denied
                    statements[key] = statements.get(key, False) or holds
    total = len(statements) + len(scopes)
    kept = sum(statements.values()) + sum(scopes.values())
    rows = [("tool lists and settings that a host follows", kept, total)]
    rows.append(("nothing: on paper only", total - kept, total))
    if policy:
        rows.append(("a `remit.yaml` is here; `remit status` says what it enforces", 0, total))
    return rows
