"""A scan from beginning to end: files, accounts, agents, findings."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Sequence

from remit.model.errors import RemitError
from remit.scan.compare import compare, risky_pairs, tool_key
from remit.scan.definitions import read_definition
from remit.scan.document_lint import lint
from remit.scan.documents import Reader
from remit.scan.files import Text, Walk, is_past
from remit.scan.merge import merge
from remit.scan.model import Account, Agent, Extent, Finding, Kind, Mark, Place, Survey, Weight
from remit.scan.names import key_of
from remit.scan.records import Record, account_of, declared, read_records
from remit.scan.settings import EVERYBODY, Unreadable, read_settings
from remit.scan.vocabulary import capability

_DOCUMENTS = (".md", ".markdown", ".mdx", ".mdc", ".txt")
_RANK = {Weight.ERROR: 0, Weight.WARNING: 1, Weight.NOTE: 2}


class ScanError(RemitError):
    """A path that can't be scanned."""

    code = "not-scanned"


def scan(root: str, *, today: datetime.date, progress: Callable[[int, int], None] | None = None) -> Survey:
    """What the repository at `root`, or the one file there, says about agents. Runs nothing. Raises ScanError."""
    if os.path.isfile(root):
        walk = Walk(os.path.dirname(os.path.abspath(root)))
        found = walk.read_file(os.path.basename(root))
        texts = [found] if found is not None else []
        walk.files, walk.read = 1, len(texts)
    elif os.path.isdir(root):
        walk = Walk(os.path.abspath(root), progress=progress)
        texts = list(walk.texts())
    else:
        raise ScanError(f"`{root}`: no such file or folder")
    accounts, findings = _read(texts, today)
    agents = [agent for agent in merge(accounts) if agent.name != EVERYBODY]
    findings += [*compare(agents), *risky_pairs(agents), *_settings(accounts), *_names(agents)]
    ordered = sorted(set(findings), key=lambda one: (_RANK[one.weight], one.code, one.agent or "", one.places))
    return Survey(
        root=walk.root,
        agents=tuple(merge(accounts)),
        findings=tuple(ordered),
        files=walk.files,
        read=walk.read,
        skipped=tuple(walk.skipped),
        enforced=tuple(_enforced(agents, accounts, os.path.exists(os.path.join(walk.root, "remit.yaml")))),
    )


def _read(texts: Sequence[Text], today: datetime.date) -> tuple[list[Account], list[Finding]]:
    accounts: list[Account] = []
    findings: list[Finding] = []
    rest: list[Text] = []
    for text in texts:
        definition = read_definition(text)
        if definition is not None:
            accounts.append(definition)
        elif text.path.endswith((*_DOCUMENTS, ".yaml", ".yml")):
            if not is_past(text.path):
                rest.append(text)
        elif text.path.endswith((".json", ".jsonc", ".toml")):
            try:
                accounts += read_settings(text)
            except Unreadable as error:
                findings.append(_unreadable(text, str(error)))
        else:
            accounts += declared(text)
    reader = Reader([account.agent for account in accounts if account.kind is Kind.DEFINITION])
    for text in rest:
        records: list[Record] = read_records(text)
        found = [account_of(record, text.path) for record in records]
        if text.path.endswith(_DOCUMENTS):
            found += reader.read(text)
        accounts += found
        if found:
            findings += lint(text, found, records, today)
    return accounts, findings


def _unreadable(text: Text, why: str) -> Finding:
    return Finding(
        code="unreadable-settings",
        weight=Weight.WARNING,
        agent=None,
        text=f"can't be read: {why[:120]}",
        places=(Place(text.path, 1),),
        why="the host may ignore the whole file, its prohibitions too",
        fix="correct it",
    )


def _settings(accounts: Sequence[Account]) -> list[Finding]:
    found = []
    for account in accounts:
        if account.kind is not Kind.SETTINGS or account.agent != EVERYBODY:
            continue
        wide = next(
            (
                e
                for e in account.entries
                if e.mark is Mark.YES and capability(e.tool) in ("shell", "everything") and e.scope is None
            ),
            None,
        )
        if account.extent is Extent.EVERYTHING or wide is not None:
            found.append(
                Finding(
                    code="settings-allow-everything",
                    weight=Weight.WARNING,
                    agent=None,
                    text=f"{account.host} runs `{wide.tool if wide else 'every tool'}` without asking, for every agent",
                    places=(wide.place if wide else account.place,),
                    why="whatever else a document says, any command runs",
                    fix="allow named commands, or let Remit decide each call",
                )
            )
    return found


def _names(agents: Sequence[Agent]) -> list[Finding]:
    """Names that one slip of a key turns into each other."""
    found = []
    keys = {key_of(agent.name): agent for agent in agents if len(key_of(agent.name)) > 5}
    for key, agent in keys.items():
        for at in range(len(key) - 1):
            swapped = key[:at] + key[at + 1] + key[at] + key[at + 2 :]
            if swapped != key and swapped in keys and key < swapped:
                other = keys[swapped]
                found.append(
                    Finding(
                        code="look-alike-names",
                        weight=Weight.WARNING,
                        agent=agent.name,
                        text=f"`{agent.name}` and `{other.name}` differ by two letters that are swapped",
                        places=(agent.accounts[0].place, other.accounts[0].place),
                        why="a rule for one is easily read as a rule for the other",
                        fix="if they are one agent, spell it one way",
                    )
                )
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
