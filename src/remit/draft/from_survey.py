"""A policy from a survey: what the sources of each agent agree on, and a question for whatever they leave open."""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.agreed import Limit, claims_to_look, limit_of, refusal, source_of
from remit.draft.equivalents import Equal, Granted, beside, looking, meanings, named_tools, translated
from remit.draft.from_tools import Served, names_served
from remit.draft.history import judged
from remit.draft.in_order import over
from remit.draft.limits import commands_of, globs_of, is_looking, program_of, runs_of, scope_loads, sites_of, skills_of
from remit.draft.model import CONFINE, CONFINEMENT, TO_DECIDE, Draft, quoted
from remit.draft.packs import host_of, of_kind, pack_for, shell_argument, skill_argument, tools_for, writing_call
from remit.draft.said import Said, Scope, is_said, said
from remit.draft.taken import DENIES, Rule, allowed_runs, meant, takes
from remit.draft.terms import key_of_line, terms_of
from remit.forms.texts import plain
from remit.model.errors import PolicyError
from remit.model.text import shown
from remit.scan.answers import ASK, is_pattern
from remit.scan.model import Account, Agent, Entry, Extent, Kind, Mark, Place, Survey
from remit.scan.names import key_of
from remit.scan.settings import SANDBOX_READS, SANDBOX_WRITES, is_everybody
from remit.scan.vocabulary import capability, pack_of_host, tokens, tool_key
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:/-]{0,63}")
_OWN = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+|[A-Z][a-zA-Z0-9]*)+")
"""A name that a program gives a function, in a document."""
_LOOK = ("read", "search")
_CHANGES = ("write", "shell", "network")
_KINDS = (*_LOOK, "plan", "ask", "skill", *_CHANGES, "delegate")
_LOOKING = "{shell: {sets: [inspect, git-read]}}"
_BUT_LOOKING = '{except: {shell: {sets: [inspect, git-read]}, path: ["**"]}}'
_READ_ONLY, _PLAN = "calls itself read-only", "works in plan mode"
_PLURAL = {_READ_ONLY: "call themselves read-only", _PLAN: "work in plan mode"}
_HOSTS_OWN = (Kind.DEFINITION, Kind.SETTINGS)
_PROGRAMS_OWN = (Kind.CODE, Kind.RECORD)
_UNKNOWN = "have tools that no pack knows, left out until `tools:` declares them (docs/policy.md#tools)"
_DRAFTS = "`remit init --tools FILE --server NAME` drafts"
_SERVERS = f"have tools of MCP servers; {_DRAFTS} those"
_READING = "no list: reading only"
_SHARED = 4
"""So many agents or tools with one question are named; of more, the first."""
_MARKS = re.compile(r"[{}\[\]\"]|:(?= )")
_LINE = re.compile(r"(?<=\w):\d+\b")
"""The line of a place: the entries of one list have several."""


class Question(msgspec.Struct, frozen=True):
    """Something that a person must decide. `kind` says it for many agents at once."""

    kind: str
    agent: str | None
    text: str
    tool: str | None = None
    """The tool that it is about, as written; the text goes on after its name."""


class Section(msgspec.Struct):
    """What the draft says of one agent: what it may do, and what of that is taken away or asked about."""

    name: str
    written: str
    rules: list[Rule] = []
    takes: list[Rule] = []
    questions: list[Question] = []
    record: dict[str, str] = {}
    """The same, where limits of its tools say so, by their keys."""
    asked: set[str] = set()
    """Tools that it may use only where a person is asked."""
    delegates: bool = False
    hands_to: list[str] = []
    """Those that it may hand work to, if its list names them; else it may to anybody."""
    terms: list[str] = []
    """What holds for all that it does: its data tiers, locks and APIs, as lines of a policy."""
    never_to: list[str] = []
    """Those that a host keeps it from."""

    def ask(self, kind: str, text: str, tool: str | None = None) -> None:
        """One more question about this agent."""
        question = Question(kind, self.name, text, tool)
        if question not in self.questions:
            self.questions.append(question)

    def drop(self) -> None:
        """What a denial takes away altogether is not in the draft, nor a limit beside the tool without one."""
        whole = {rule.tool for rule in self.rules if rule.whole}
        self.rules = [rule for rule in self.rules if rule.whole or rule.tool not in whole]
        for rule in list(self.rules):
            denial = self.denied(rule)
            if denial is not None:
                text = f"left out: denied by {denial.place}, granted by {rule.place}"
                self.ask("are granted what another place denies; it is left out", text, rule.tool)
                self.rules.remove(rule)
        held = {rule.tool for rule in self.rules} | self.asked
        asked = {rule.tool for rule in self.takes if rule.ask and rule.whole}
        self.takes = [
            rule
            for rule in self.takes
            if rule.tool in held
            and (not rule.ask or ((rule.whole or rule.tool not in asked) and not self.denied(rule)))
        ]

    def denied(self, rule: Rule) -> Rule | None:
        """A denial of all paths that a rule is about."""
        denials = [one for one in self.takes if not one.ask and one.tool == rule.tool and one.part == "path"]
        denied = GlobSet(Glob.parse(value) for one in denials for value in one.values)
        globs = rule.values if rule.part == "path" else ["**"]
        return denials[0] if denials and all(denied.includes(Glob.parse(glob)) for glob in globs) else None

    def kept(self, rule: Rule) -> Rule | None:
        """What is left of a denial or a question, if it is about anything that the agent may do. Commands that only
        look are all understood: there, what its host denies is denied."""
        if not rule.runs or self._may_run(rule):
            return rule
        looks = any(one.tool == rule.tool and one.scope == _LOOKING for one in self.rules)
        if not looks or not any(map(is_looking, rule.runs)):
            return None
        return msgspec.structs.replace(rule, ask=False) if rule.note is not None and DENIES in rule.note else rule

    def _may_run(self, rule: Rule) -> bool:
        """Whether the agent may run any of the commands that a rule is about: it says nothing about others."""
        mine = [one for one in self.rules if one.tool == rule.tool]
        programs = {program_of(run) for run in rule.runs}
        return any(one.whole or programs & {program_of(run) for run in one.runs} for one in mine)


class _Drafting(msgspec.Struct):
    """What the sections of a draft share."""

    paths: Sequence[str]
    """Those that were ever committed."""
    names: Sequence[str]
    settings: Sequence[Account]
    """What hosts let every agent do."""
    served: Sequence[Served]
    """Tools of an MCP server, as it declares them."""
    rows: dict[tuple[str, str], set[int]]
    """The lines of the rows that say who may use a tool."""
    left: list[tuple[Entry, Account]] = []
    """What settings deny or ask about, and no rule can say."""
    own: dict[str, Place] = {}
    """Tools of a program, which its code or its permission records name."""

    def settings_for(self, pack: str | None, agent: Agent) -> list[Account]:
        """The settings of the hosts that run an agent, where its own answers don't come after them."""
        hosts = {one.host for one in agent.accounts if one.kind is not Kind.SETTINGS}
        found = [one for one in self.settings if one.host in hosts or pack_of_host(one.host or "") == pack]
        own = [one for one in agent.accounts if one.kind in _HOSTS_OWN]
        return [left for one in found for left in over(one, own)]

    def settings_of(self, pack: str) -> list[Account]:
        """The settings for the session: those of the pack's own host, else what others say, in its tools."""
        found = [one for one in self.settings if pack_of_host(one.host or "") == pack]
        return found or [one for one in self.settings if one.host is not None]


def draft_from(
    survey: Survey, paths: Sequence[str] = (), host: str | None = None, served: Sequence[Served] = ()
) -> Draft | None:
    """A draft from what a survey found; None if it found no agent, and no host either. `paths` are those that were ever
    committed, and `served` what an MCP server offers.

    With a host, in that one's tools: what was written for another is translated."""
    agents = [agent for agent in survey.agents if _speaks(agent)]
    packs = _packs(survey, agents, host)
    if not agents and not any(_carries(pack) for pack in packs):
        return None
    questions: list[Question] = []
    if not packs and not _has_own(agents):
        text = "no tool here belongs to a pack of Remit's: declare the tools under `tools:` (docs/policy.md#tools)"
        questions.append(Question("no pack", None, text))
    elif packs and host is None:
        hosts = [one.host for agent in survey.agents for one in agent.accounts if one.kind is not Kind.MATRIX]
        questions += _host(packs[0], guessed=not any(hosts))
    named = dict(_named(agents))
    for agent in named.pop("", ()):
        place = agent.accounts[0].place
        questions.append(Question("no name", None, f"`{shown(agent.name)}` left out: a policy can't name it ({place})"))
    settings = [one for agent in survey.agents if is_everybody(agent) for one in agent.accounts]
    drafting = _Drafting(paths, list(named), settings, served, _rows(_accounts(agents)))
    found = [_section(name, same, packs, drafting) for name, same in named.items()]
    for section in found:
        _leave_moot(section, packs)
    defined = {name for name, same in named.items() if any(one.kind is Kind.DEFINITION for one in _accounts(same))}
    for section in found:
        _ask_name(section, named[section.name])
        if defined and section.name not in defined:
            place = named[section.name][0].accounts[0].place
            text = f"only a document names it ({place}): if nobody runs it, take it out"
            section.ask("are named by documents only: take out those that nobody runs", text)
    questions += [question for section in found for question in section.questions]
    main = _main(found, packs, drafting)
    questions += main.questions if main is not None else []
    questions += _unsaid(drafting.left)
    if _runs_commands(found, packs):
        questions.append(Question("confinement", None, CONFINE))
    used = {rule.tool for section in found for rule in section.rules}
    lines = [line for tool in served if tool.name in used for line in tool.lines]
    if drafting.own:
        lines += _declared(drafting.own)
        names = _first([f"`{shown(name)}`" for name in drafting.own])
        text = (
            f"{names}: tools of a program: say which arguments they take, or their calls are denied; and what they do"
        )
        questions.append(Question("own tools", None, text))
    everyone = [*found, *([main] if main is not None else [])]
    policy = _policy(found, packs, main, lines)
    tests = _tests(everyone, packs) if packs else _tests_of_program(found, sorted(drafting.own))
    return Draft(policy, tests, tuple(_grouped(questions)), len(everyone), tuple(_each(questions)))


def _packs(survey: Survey, agents: Sequence[Agent], host: str | None) -> list[str]:
    """The packs of the draft: the host's, or that of most definitions, with the one of the host that reads them too."""
    if host is not None:
        return [host]
    if _is_program(agents):
        return []
    accounts = [one for agent in survey.agents for one in agent.accounts if one.host is not None]
    hosts = [one.host for one in accounts if one.kind is Kind.DEFINITION and one.host is not None] or [
        one.host for one in accounts if one.kind is Kind.SETTINGS and one.host is not None
    ]
    named = [entry.tool for one in _accounts(agents) for entry in one.entries]
    pack = pack_for(hosts, named)
    if pack is not None and not hosts and _of_a_program(named, pack):
        return []
    carrier = host_of(pack) if pack is not None else None
    return list(dict.fromkeys(one for one in (pack, carrier if hosts else None) if one is not None))


def _is_program(agents: Sequence[Agent]) -> bool:
    """Whether a program's code and its permission records are all that speaks of tools."""
    kinds = {one.kind for one in _accounts(agents) if one.entries}
    return bool(kinds) and kinds <= set(_PROGRAMS_OWN)


def _has_own(agents: Sequence[Agent]) -> bool:
    """Whether a draft without a pack declares tools: those of a program."""
    return any(_OWN.fullmatch(entry.tool) for one in _accounts(agents) for entry in one.entries)


def _of_a_program(named: Iterable[str], pack: str) -> bool:
    """Whether most of the tools that documents name are a program's own, and no host's."""
    found = set(named)
    own = {tool for tool in found if _OWN.fullmatch(tool) and not tools_for(tool, pack)}
    return 2 * len(own) > len(found)


def _declared(tools: dict[str, Place]) -> Iterator[str]:
    """A program's tools: nobody knows what they take and do."""
    yield f"  # {TO_DECIDE} for each: which arguments it takes (with others it is denied), what it does, and its tier"
    for name, place in sorted(tools.items()):
        unknown = "{args: {}, does: {write: {records: program}}, tier: 3}"
        yield f"  {quoted(name)}: {unknown}   # {shown(str(place), 100)}"


def _host(pack: str, *, guessed: bool) -> Iterator[Question]:
    """Whose tools the draft is written in, where its sources don't settle it."""
    other = "for another, `remit init --host HOST --output FILE`"
    if guessed:
        text = f"no definition says which host runs these agents; the draft is in the tools of {pack}: {other}"
        yield Question("host", None, text)
    elif pack != (carrier := host_of(pack)) and carrier is not None:
        text = (
            f"the draft has the tools of {pack} and of {carrier}. {pack} names no agents to hooks: there, every call is"
            f" judged as the main agent's. For {carrier} alone: `remit init --host {carrier} --output FILE`"
        )
        yield Question("host", None, text)


def _accounts(agents: Iterable[Agent]) -> list[Account]:
    return [account for agent in agents for account in agent.accounts]


def _ask_name(section: Section, same: Sequence[Agent]) -> None:
    """Hosts call an agent by the name in its definition: one that a policy can't say would stay unknown to it."""
    for defined in (account for account in _accounts(same) if account.kind is Kind.DEFINITION):
        if defined.agent != section.name and not _NAME.fullmatch(defined.agent):
            text = (
                f"its definition says `name: {shown(defined.agent)}`, which a policy can't name:"
                f" write `name: {section.name}` there, or its calls are denied ({defined.place})"
            )
            section.ask("have names that a policy can't have: correct `name:`, or their calls are denied", text)


def _unsaid(left: Sequence[tuple[Entry, Account]]) -> Iterator[Question]:
    """What settings take away and no rule says: the host holds it, and the draft does not."""
    by_place: dict[str, list[str]] = {}
    for entry, account in left:
        name = f"`{shown(entry.tool)}({shown(entry.scope)})`" if entry.scope else f"`{shown(entry.tool)}`"
        by_place.setdefault(str(account.place), []).append(name)
    for place, names in by_place.items():
        text = f"{_first(names)}: only its host follows this rule of {place}; add one to the agents"
        yield Question("settings", None, text)


def _grouped(questions: Sequence[Question]) -> Iterator[str]:
    """The questions in a few lines: one that many agents share is asked once, and so is one about many tools."""
    kinds: dict[str, list[Question]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    for kind, same in sorted(kinds.items(), key=lambda item: len(item[1])):
        names = list(dict.fromkeys(shown(question.agent) for question in same if question.agent is not None))
        if len(names) > _SHARED:
            tools = _most(one.tool for one in same)
            yield f"{len(names)} agents {kind}: {_first(names)}{f' ({_first(tools)})' if tools else ''}"
        else:
            yield from _together(same)


def _together(same: Sequence[Question]) -> Iterator[str]:
    """A line for each question; one line for several tools of an agent about which the same is asked."""
    found: dict[tuple[str | None, str, bool], list[Question]] = {}
    for one in same:
        alike = _LINE.sub("", one.text) if one.tool is not None else one.text
        found.setdefault((one.agent, alike, one.tool is not None), []).append(one)
    for (agent, *_), questions in found.items():
        yield _said(agent, _most(one.tool for one in questions), questions[0].text)


def _each(questions: Sequence[Question]) -> Iterator[str]:
    """Every question in a line of its own."""
    yield from (_said(one.agent, _most([one.tool]), one.text) for one in questions)


def _said(agent: str | None, tools: Sequence[str], text: str) -> str:
    """A question in words."""
    return f"{f'{shown(agent)}: ' if agent is not None else ''}{f'{_first(tools)} ' if tools else ''}{text}"


def _most(tools: Iterable[str | None]) -> list[str]:
    """The tools as they are shown, those of most questions first."""
    return [f"`{shown(tool)}`" for tool, _ in Counter(tool for tool in tools if tool is not None).most_common()]


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHARED]) + (f" and {len(names) - _SHARED} more" if len(names) > _SHARED else "")


def _speaks(agent: Agent) -> bool:
    """Whether somebody says what the agent may use: more than a name in a table, and not the settings for everybody."""
    if is_everybody(agent):
        return False
    return any(account.kind is not Kind.ROSTER for account in agent.accounts)


def _named(agents: Iterable[Agent]) -> Iterator[tuple[str, list[Agent]]]:
    """Each name that a policy can say with the agents that have it; an empty one for those without."""
    found: dict[str, list[Agent]] = {}
    for agent in agents:
        first = agent.accounts[0].place.file.rpartition("/")[2].partition(".")[0]
        names = (agent.name, key_of(agent.name), first, key_of(first))
        name = next((name for name in names if _NAME.fullmatch(name)), "")
        found.setdefault(name, []).append(agent)
    yield from found.items()


def _section(name: str, same: Sequence[Agent], packs: Sequence[str], drafting: _Drafting) -> Section:
    """What the draft says of one agent, or of all that have its name: what the sources of each grant."""
    section = Section(name, same[0].name)
    accounts = [_by_rows(one, _accounts(same), drafting.rows, section) for one in _accounts(same)]
    agent = msgspec.structs.replace(same[0], accounts=tuple(_as_one(accounts)))
    if len(same) > 1:
        places = ", ".join(str(one.accounts[0].place) for one in same)
        text = f"is defined {len(same)} times ({places}); the draft grants what all of them do"
        section.ask("are defined more than once; the draft grants what all of them do", text)
    for number, pack in enumerate(packs or [None]):
        part = _Writing(section if number == 0 else Section(name, same[0].name), agent, pack, drafting)
        part.write()
        if number:  # another host's words for the same: what is left out there was said, or has no equal
            section.rules += [rule for rule in part.section.rules if rule not in section.rules]
            lost = (_unequal(packs[0]), _UNKNOWN)  # one host's tools do what the other's don't
            section.questions = [q for q in section.questions if q.tool not in part.used or q.kind not in lost]
            section.takes += [rule for rule in part.section.takes if rule not in section.takes]
    return section


def _leave_moot(section: Section, packs: Sequence[str]) -> None:
    """Tools of which the denials leave nothing are left out: a policy in which a rule never applies does not load."""
    denied = {rule.tool for rule in section.takes if not rule.ask}
    if not packs or not denied or _loads(section, packs):
        return
    for tool in sorted(denied & {rule.tool for rule in section.rules} | denied & section.asked):
        grants = [rule for rule in section.rules if rule.tool == tool]
        limits = [rule for rule in section.takes if rule.tool == tool]
        if not _loads(msgspec.structs.replace(section, rules=grants, takes=limits), packs):
            text = f"left out: what denies it leaves nothing ({limits[0].place})"
            section.ask("have tools of which denials leave nothing; they are left out", text, tool)
            section.rules = [rule for rule in section.rules if rule.tool != tool]
            section.takes = [rule for rule in section.takes if rule.tool != tool]


def _loads(section: Section, packs: Sequence[str]) -> bool:
    """Whether a policy with these rules loads."""
    text = "\n".join(["remit: 1", f"use: [{', '.join(packs)}]", "agents:", "  a:", *_rules(section, packs)])
    try:
        build_rulebook(plain(parse(text, "draft")))
    except PolicyError:
        return False
    return True


def _as_one(accounts: Sequence[Account]) -> Iterator[Account]:
    """The accounts, with a program's code as one, and a page's tables of who may use a tool: each file or table has
    tools of its own."""
    joined: dict[str, list[Account]] = {}
    for one in accounts:
        if one.kind is Kind.CODE or _is_of_rows(one):
            joined.setdefault(one.place.file if _is_of_rows(one) else "", []).append(one)
        else:
            yield one
    for same in joined.values():
        entries = tuple(entry for one in same for entry in one.entries)
        yield msgspec.structs.replace(same[0], entries=entries)


def _is_of_rows(account: Account) -> bool:
    """Whether it is of a table whose rows say who may use a tool: it says nothing of tools without a row."""
    return account.kind is Kind.MATRIX and account.extent is Extent.LIST and not account.closed and not account.marks


def _rows(accounts: Iterable[Account]) -> dict[tuple[str, str], set[int]]:
    """The rows that say who may use a tool: by its file and name, their lines."""
    found: dict[tuple[str, str], set[int]] = {}
    for entry in (entry for one in accounts if _is_of_rows(one) for entry in one.entries):
        found.setdefault((entry.place.file, tool_key(entry.tool)), set()).add(entry.place.line)
    return found


def _by_rows(
    account: Account, accounts: Sequence[Account], rows: dict[tuple[str, str], set[int]], section: Section
) -> Account:
    """An account without the tools that another row gives to others only."""
    if not _is_of_rows(account):
        return account
    mine = _rows(accounts)
    kept = []
    for entry in account.entries:
        key = (entry.place.file, tool_key(entry.tool))
        other = min(rows[key] - mine[key], default=None)
        if other is None:
            kept.append(entry)
        else:
            text = f"left out: denied by {Place(key[0], other)}, granted by {entry.place}"
            section.ask("are granted what another place denies; it is left out", text, entry.tool)
    return msgspec.structs.replace(account, entries=tuple(kept))


class _Writing:
    """One agent in the tools of one pack."""

    def __init__(self, section: Section, agent: Agent, pack: str | None, drafting: _Drafting) -> None:
        self.section, self.agent, self.pack, self.drafting = section, agent, pack, drafting
        self.own = source_of(agent)
        self.foreign: list[Granted] = []
        self.words: dict[str, dict[str, bool]] = {}
        """By tool, the words that grant it, and whether each does so without a limit."""
        self.used: set[str] = set()
        """Tools of other hosts that became one of this."""
        self.looks = _READ_ONLY if claims_to_look(agent) else None
        """Why it changes nothing, if it does not."""
        if any(one.gated for one in agent.accounts):
            self.looks = _PLAN
        self.settings = drafting.settings_for(pack, agent)
        lists = [one for one in self.settings if one.closed]
        self.agent = msgspec.structs.replace(agent, accounts=(*agent.accounts, *lists))

    def write(self) -> None:
        """All rules of the section."""
        entries = self.own.allowed()
        nothing = self.own.kind is Kind.SETTINGS and not entries  # a host's settings that say nothing of tools
        if self.own.extent is not Extent.LIST or nothing:
            unread = self.own.extent is Extent.UNCLEAR
            state = "has a tool list that can't be read" if unread else "has no tool list"
            more = ", and what it names besides" if entries else ""
            text = f"{state} ({self.own.place}); the draft lets it read and search{more}: add what it needs"
            self.section.ask("have no tool list that can be read; the draft lets them read and search", text)
            for tool in of_kind(self.pack, *_LOOK) if self.pack is not None else ():
                self._add(Entry(tool, Mark.YES, self.own.place), note=_READING)
            for tool, scope in looking(self.pack) if self.pack is not None else ():
                self._grant(Rule(tool, self.own.place, scope, _READING), "shell", Limit(None, self.own.place))
        for entry in entries:
            self._add(entry)
        self._hold()
        self._translate()
        self._take()
        if not self.section.rules and entries:
            text = f"nothing in its list could be used ({self.own.place})"
            self.section.ask("have a list of which nothing could be used", text)
        self._record()

    def _add(self, entry: Entry, note: str | None = None) -> None:
        kind = capability(entry.tool)
        refused = refusal(self.agent, entry, self.own, self.pack)
        if refused is not None:
            if note is None:
                text = f"left out: denied by {refused.place}, granted by {entry.place}"
                self.section.ask("are granted what another place denies; it is left out", text, entry.tool)
            return
        if is_pattern(entry.tool) and self.own.kind in _HOSTS_OWN and kind != "mcp":
            return  # what it grants is nowhere by name; what it asks about or denies is taken below
        tools = self._tools(entry) if note is None else [entry.tool]
        translates = not tools and self.pack is not None and bool(meanings(entry.tool, self.own.host))
        if not tools and not translates:
            self._server(entry) if kind == "mcp" else self._unknown(entry)
            return
        if self.looks and kind == "write":
            text = f"left out: the agent {self.looks} ({entry.place})"
            self.section.ask(f"{_PLURAL[self.looks]}; what writes is left out", text, entry.tool)
            return
        if entry.scope == ASK and self.own.kind in _HOSTS_OWN:
            entry = msgspec.structs.replace(entry, mark=Mark.YES, scope=None)
        limit = limit_of(self.agent, entry, self.own)
        if isinstance(limit, Entry):
            limits = f"limited to “{shown(entry.scope or '', 60)}”, and to “{shown(limit.scope or '', 60)}”"
            text = f"left out: {limits} by {limit.place}"
            self.section.ask("are limited in two ways that differ; the tool is left out", text, entry.tool)
            return
        if translates:
            granted = Granted(entry.tool, limit.scope, limit.place, self.own.host, limit.whole)
            self.foreign.append(granted)
        for tool in tools:
            words = self.words.setdefault(tool, {})
            words[tool_key(entry.tool)] = words.get(tool_key(entry.tool), False) or limit.scope is None
            rule = self._rule(tool, kind, limit, note)
            if rule is not None:
                self._grant(rule, kind, limit)

    def _hold(self) -> None:
        """A tool that two words mean has the limit of either: `Edit` is also a word for what `Write` may do in a folder
        only."""
        limited = {tool for tool, words in self.words.items() if len(words) > 1 and not all(words.values())}
        self.section.rules = [rule for rule in self.section.rules if not rule.whole or rule.tool not in limited]

    def _tools(self, entry: Entry) -> Sequence[str]:
        """The tools of the pack that a name means, if its host's tools are those of the pack."""
        if self.pack is None or (self.own.host is not None and pack_of_host(self.own.host) != self.pack):
            return []
        return named_tools(entry.tool, self.pack, self.own.host)

    def _grant(self, rule: Rule, kind: str, limit: Limit) -> None:
        if self._refused(rule.tool):
            return
        self.section.rules.append(rule)
        self.section.delegates |= kind == "delegate"
        if kind == "write" and limit.scope and (rule.scope is not None or rule.values):
            problem = judged(globs_of(limit.scope), self.drafting.paths)
            if problem is not None:
                self.section.ask("have scopes that admit no committed file", problem)

    def _refused(self, tool: str) -> bool:
        """Whether settings deny a tool altogether; then it is left out."""
        refused = next((one for one in self._denials() if one[1].scope is None and tool in one[0]), None)
        if refused is not None:
            text = f"left out: denied to every agent by {refused[1].place}"
            self.section.ask("are granted what settings deny to every agent; it is left out", text, tool)
        return refused is not None

    def _unknown(self, entry: Entry) -> None:
        name = _NAME if self.own.kind in _PROGRAMS_OWN else _OWN
        own = self.pack is None or self.own.kind in _PROGRAMS_OWN
        if own and entry.mark is Mark.YES and name.fullmatch(entry.tool) and not self.looks:
            self.drafting.own.setdefault(entry.tool, entry.place)
            self.section.rules.append(Rule(entry.tool, entry.place))
            return
        whose = f" of {self.pack}" if self.pack is not None else ""
        text = f"left out: Remit knows no such tool{whose}; declare what exists under `tools:` ({entry.place})"
        self.section.ask(_UNKNOWN, text, entry.tool)

    def _server(self, entry: Entry) -> None:
        """A tool of an MCP server, or all of one's, by what the server says of them."""
        found = [tool for tool in self.drafting.served if names_served(entry.tool, tool.name)]
        if not found or entry.mark is not Mark.YES:
            self.section.ask(_SERVERS, f"left out: of an MCP server; {_DRAFTS} its tools ({entry.place})", entry.tool)
        for tool in found:
            if self.looks and not tool.reads:
                text = f"left out: the agent {self.looks} ({entry.place})"
                self.section.ask(f"{_PLURAL[self.looks]}; what writes is left out", text, tool.name)
                continue
            self.section.rules.append(Rule(tool.name, entry.place))
            if not tool.reads:
                self.section.takes.append(
                    Rule(tool.name, entry.place, note="until somebody has looked at it", ask=True)
                )

    def _record(self) -> None:
        """What sources say of all that the agent does, and whom it hands work to; it may do nothing if that can't be
        said."""
        for account in self.agent.accounts:
            self._delegates(account)
            lines = terms_of(account.terms)
            record = self.section.record
            if lines is None or any(record.get(key_of_line(line), line) != line for line in lines):
                self.section.rules.clear()
                self.section.takes.clear()
                self.section.asked.clear()
                text = f"has limits that can't be written as rules; it may do nothing ({account.place})"
                self.section.ask("have limits that can't be written as rules; they may do nothing", text)
                continue
            self.section.terms += [f"{line}   # {shown(str(account.place), 100)}" for line in lines]

    def _delegates(self, account: Account) -> None:
        """It hands work to those that every source names which names any."""
        keys = {key_of(name) for name, _ in account.hands_to}
        if not keys or account.kind is Kind.ROSTER:
            return
        known = [name for name in self.drafting.names if key_of(name) in keys]
        self.section.delegates |= account.kind is Kind.RECORD
        before = self.section.hands_to or known
        self.section.hands_to = [name for name in before if name in known]
        if self.section.delegates and not self.section.hands_to:
            self.section.delegates = False
            text = f"hands work to none of the agents here ({account.hands_to[0][1]})"
            self.section.ask("hand work to none of the agents here", text)

    def _translate(self) -> None:
        """Tools of other hosts, in the words of this one; each that has no equal there is a question."""
        if self.pack is None:
            return
        denied = [
            *(one.tool for account in self.agent.accounts for one in account.entries if one.mark is Mark.NO),
            *(tool for tools, one, _ in self._denials() for tool in tools if one.scope is None),
        ]
        found, left = translated(self.foreign, self.pack, denied)
        whole = {rule.tool for rule in self.section.rules if rule.whole}
        for one in found:
            if one.equal.tool in whole:
                continue
            first = one.sources[0]
            kind, limit = capability(first.tool), Limit(first.limit, first.place, first.whole)
            rule = self._of_equal(one.equal, kind, limit)
            if rule is not None:
                self.used |= {source.tool for source in one.sources}
                note = f"for {', '.join(dict.fromkeys(shown(source.tool) for source in one.sources))}"
                self._grant(msgspec.structs.replace(rule, note=note), kind, limit)
        for source in left:
            text = f"left out: {self.pack} has no tool that does this and no more ({source.place})"
            self.section.ask(_unequal(self.pack), text, source.tool)

    def _of_equal(self, equal: Equal, kind: str, limit: Limit) -> Rule | None:
        """The rule for a translated tool, with the source's limit and what takes a part of the tool away."""
        if equal.shell is not None:
            return Rule(equal.tool, limit.place, f"{{shell: {{sets: [{equal.shell}]}}}}")
        rule = self._rule(equal.tool, kind, limit, None)
        if rule is None or not (equal.new_only or equal.effect):
            return rule
        globs = ", ".join(quoted(glob) for glob in (globs_of(limit.scope) if limit.scope else ["**"]))
        path = f"path: {{allow: [{globs}], new_only: true}}" if equal.new_only else f"path: [{globs}]"
        limits = [
            *([path] if equal.new_only or limit.scope else []),
            *([f"effect: {equal.effect}"] if equal.effect else []),
        ]
        return msgspec.structs.replace(rule, scope="{" + ", ".join(limits) + "}", part=None)

    def _rule(self, tool: str, kind: str, limit: Limit, note: str | None) -> Rule | None:
        if limit.scope and is_said(limit.scope):
            return self._said(tool, kind, limit)
        if kind == "shell":
            return self._shell(tool, limit)
        if limit.scope is None:
            return Rule(tool, limit.place, note=note)
        if self.pack is not None and skill_argument(tool, self.pack) is not None and (skills := skills_of(limit.scope)):
            return Rule(tool, limit.place, part="skill", values=tuple(skills), note=note)
        if kind == "delegate" and self._hands(limit.scope):
            return Rule(tool, limit.place)
        globs = globs_of(limit.scope) if kind in ("write", "read", "search") else []
        sites = sites_of(limit.scope) if kind == "network" else []
        if globs or sites:
            part = "path" if globs else "url"
            return Rule(tool, limit.place, part=part, values=tuple(globs or sites), note=note)
        self._wordy(tool, limit)
        return None

    def _said(self, tool: str, kind: str, limit: Limit) -> Rule | None:
        """The rule for a limit as `remit docs` writes it."""
        found, rule = said(limit.scope or ""), Rule(tool, limit.place)
        runs = shell_argument(tool, self.pack or "") is not None
        skills = skill_argument(tool, self.pack or "") is not None
        scopes = (*found.may, *found.never, *found.asks) if found is not None else ()
        written = [scope.written() for scope in scopes if scope.fits(kind, runs=runs, skills=skills)]
        if (
            found is None
            or len(written) < len(scopes)
            or not all(scope_loads(one) for one in written if one)
            or Scope() in found.never
            or not self._recorded(found)
        ):
            self._wordy(tool, limit)
            return None
        if not found.may:  # the questions permit what they are about, and nothing permits the rest
            if self._refused(tool):
                return None
            self.section.asked.add(tool)
        asked = [msgspec.structs.replace(rule, scope=scope.written(), ask=True) for scope in found.asks]
        denied = [msgspec.structs.replace(rule, scope=scope.written()) for scope in found.never]
        self.section.takes += [*asked, *denied]
        if not found.may:
            return None
        granted = [msgspec.structs.replace(rule, scope=scope.written()) for scope in found.may]
        for one in granted[1:]:
            self._grant(one, kind, limit)
        return granted[0]

    def _recorded(self, found: Said) -> bool:
        """Whether the agent may have what a limit says of all its tools: there is one line of each kind."""
        record = self.section.record
        if any(record.get(key, line) != line for key, line in found.record):
            return False
        record.update(found.record)
        return True

    def _wordy(self, tool: str, limit: Limit) -> None:
        words = f"“{shown(limit.scope, 60)}”" if limit.scope else "a scope that is not given"
        self.section.ask(
            "have limits that are not patterns; those tools are left out",
            f"left out: limited to {words}, which is not a pattern ({limit.place})",
            tool,
        )

    def _hands(self, scope: str) -> bool:
        """Whether a limit names agents of the draft; it hands work to no others then."""
        names = [key_of(name) for name in tokens(scope)]
        known = [name for name in self.drafting.names if key_of(name) in names]
        self.section.hands_to += known
        return bool(known)

    def _shell(self, tool: str, limit: Limit) -> Rule | None:
        place, looks = limit.place, self.looks
        if limit.scope in (SANDBOX_READS, SANDBOX_WRITES) and shell_argument(tool, self.pack or "") is not None:
            return self._sandboxed(tool, limit)
        if limit.scope is None and shell_argument(tool, self.pack or "") is None and looks:
            return None  # it runs commands of another language: nobody can say that it only looks
        if limit.scope is None and looks:
            text = f"limited to looking, since the agent {looks} ({place})"
            self.section.ask(f"{_PLURAL[looks]} and have a shell; it may look only", text, tool)
            return Rule(tool, place, _LOOKING)
        if limit.scope is None:
            self.section.ask(
                "may run any command: give them a `shell:` scope, or `confine: required`",
                f"may run any command ({place}): give it a `shell:` scope, or `confine: required`",
                tool,
            )
            return Rule(tool, place)
        if looks and any(_only_looks(one) for one in self.agent.accounts if one is not self.own):
            text = f"left out: limited to “{shown(limit.scope, 60)}”, and another definition only reads ({place})"
            self.section.ask("are limited in two ways that differ; the tool is left out", text, tool)
            return None
        runs = runs_of(commands_of(limit.scope, whole=limit.whole))
        if runs and shell_argument(tool, self.pack or "") is not None:
            return Rule(tool, place, runs=tuple(runs), host=self.own.host if limit.whole else None)
        words = f"“{shown(limit.scope, 60)}”" if limit.scope else "a scope that is not given"
        self.section.ask(
            "have a shell with limits that are not commands; it is left out",
            f"left out: limited to {words}; say it as a `shell:` scope ({place})",
            tool,
        )
        return None

    def _sandboxed(self, tool: str, limit: Limit) -> Rule:
        """A shell that its host keeps in a sandbox: it looks; where that may write to the workspace, a person is asked
        about other commands, and what writes files does so there."""
        if limit.scope == SANDBOX_READS or self.looks:
            return Rule(tool, limit.place, _LOOKING)
        self.section.takes.append(Rule(tool, limit.place, _BUT_LOOKING, "its host sandboxes it", ask=True))
        for writes in of_kind(self.pack or "", "write"):
            self._grant(Rule(writes, limit.place, part="path", values=("**",)), "write", Limit(None, limit.place))
        return Rule(tool, limit.place)

    def _denials(self) -> Iterator[tuple[list[str], Entry, Account]]:
        """What settings and the agent's definitions deny: the tools of the pack that are meant, and the entry."""
        for account in (*self.settings, *(one for one in self.agent.accounts if one.kind in _HOSTS_OWN)):
            for entry in account.entries:
                if entry.mark is Mark.NO and self.pack is not None:
                    yield meant(entry, account, self.pack), entry, account

    def _take(self) -> None:
        """What settings and definitions take away of the tools that the agent holds."""
        if self.pack is not None:
            held = {rule.tool for rule in self.section.rules} | self.section.asked
            spoken = (*self.settings, *(one for one in self.agent.accounts if one.kind in _HOSTS_OWN))
            found = takes(spoken, held, self.pack, self.drafting.left)
            self.section.never_to += _kept_from(spoken, self.drafting.names)
            self.section.takes += [kept for rule in found if (kept := self.section.kept(rule)) is not None]
            self.section.drop()


def _only_looks(account: Account) -> bool:
    """Whether a definition only reads, and limits its shell to no commands of its own."""
    shells = [one for one in account.allowed() if capability(one.tool) == "shell"]
    limited = bool(shells) and all(one.scope for one in shells)
    only = account.read_only is not None or account.gated
    return account.kind is Kind.DEFINITION and only and not limited


def _unequal(pack: str) -> str:
    return f"have tools without an equal in {pack}; they are left out"


def _kept_from(accounts: Iterable[Account], names: Sequence[str]) -> list[str]:
    """The agents that hosts allow no work to be handed to."""
    denied = [
        name
        for account in accounts
        for entry in account.entries
        if entry.mark is Mark.NO and entry.scope and capability(entry.tool) == "delegate"
        for name in tokens(entry.scope)
    ]
    keys = {key_of(one) for one in denied if "*" not in one}
    return [name for name in names if key_of(name) in keys or any(fnmatch.fnmatchcase(name, one) for one in denied)]


def _carries(pack: str) -> bool:
    """Whether the session of a host has these tools, and hands work on."""
    return bool(of_kind(pack, "delegate")) and host_of(pack) is not None


def _main(sections: Sequence[Section], packs: Sequence[str], drafting: _Drafting) -> Section | None:
    """The session that a person talks to: it reads, hands work on, and asks before it changes anything."""
    if not any(map(_carries, packs)):
        return None
    taken = {section.name for section in sections}
    main = Section(next(name for name in ("main", "main-session", "remit-main") if name not in taken), "")
    place = Place("", 0)
    for pack in packs:
        settings = drafting.settings_of(pack)
        refused = {
            tool
            for account in settings
            for entry in account.entries
            if entry.mark is Mark.NO and entry.scope is None
            for tool in meant(entry, account, pack)
        }
        for account in (one for one in settings if one.closed):
            there = {tool for entry in account.allowed() for tool in meant(entry, account, pack)}
            refused |= {tool for tool in of_kind(pack, *_KINDS) if tool not in there}
        kinds = [kind for kind in _KINDS if kind != "delegate" or sections]
        held = [tool for tool in of_kind(pack, *kinds) if tool not in refused]
        changes = [tool for tool in held if capability(tool) in (*_CHANGES, "skill")]
        main.rules += [Rule(tool, place) for tool in held]
        main.delegates |= any(capability(tool) == "delegate" for tool in held)
        main.never_to += _kept_from(settings, drafting.names)
        limits = list(takes(settings, set(held), pack, drafting.left))
        hidden = dict.fromkeys(
            value for rule in limits if rule.part == "path" and not rule.ask for value in rule.values
        )
        seen = f'{{allow: ["**"], except: [{", ".join(map(quoted, hidden))}]}}' if hidden else '["**"]'
        for tool in changes:
            shell = shell_argument(tool, pack) is not None
            own = [one for one in settings if pack_of_host(one.host or "") == pack]
            runs = allowed_runs(own, pack) if shell else []
            if runs:
                names = _first([f"`{_MARKS.sub('', run)}`" for run in runs])
                main.ask("run", f"runs {names} without a question, since settings of the host allow it")
            more = f", run: [{', '.join(runs)}]" if runs else ""
            scope = f"{{except: {{shell: {{sets: [inspect, git-read]{more}}}, path: {seen}}}}}"
            note = f"but what {own[0].place.file} lets run" if runs else None
            main.takes.append(Rule(tool, place, scope if shell else None, note, ask=True))
        main.takes += [rule for rule in limits if not rule.ask or rule.runs or rule.tool not in changes]
        _ask_servers(main, settings)
    main.drop()
    return main


def _ask_servers(main: Section, settings: Sequence[Account]) -> None:
    """Servers that the session could call, and the draft does not let it."""
    for account in settings:
        every = [one.tool for one in account.entries if one.mark is Mark.YES and capability(one.tool) == "mcp"]
        for tool in every:
            main.ask(_SERVERS, f"left out: of an MCP server; {_DRAFTS} its tools ({account.place})", tool)


def _policy(sections: Sequence[Section], packs: Sequence[str], main: Section | None, declared: Sequence[str]) -> str:
    lines = [
        "# A draft by `remit init`, from what this repository says. A comment after a line names its source.",
        "# It is never wider than that. `remit check` tests it; `remit activate` puts it in force.",
        "remit: 1",
    ]
    if packs:
        lines.append(f"use: [{', '.join(packs)}]")
    if _runs_commands(sections, packs):
        lines += ["", *CONFINEMENT]
    if declared:
        lines += ["", "tools:", *declared]
    lines += ["", "agents:"]
    for section in sections:
        note = f"   # {shown(section.written)}" if section.written != section.name else ""
        lines += [f"  {quoted(section.name)}:{note}", *_rules(section, packs)]
        lines += [f"    {line}" for line in section.terms]
        there = set(map(key_of_line, section.terms))
        lines += [f"    {line}" for key, line in section.record.items() if key not in there]
        others = [other.name for other in sections if other.name not in (section.name, *section.never_to)]
        names = [name for name in others if name in section.hands_to] if section.hands_to else others
        if section.delegates and names:
            why = f"it hands work on, {'to these' if section.hands_to else 'to anybody'}"
            given = ", ".join(map(quoted, names))
            lines.append(f"    delegates_to: [{given}]   # {why}")
        lines.append("")
    if main is not None:
        names = [section.name for section in sections if section.name not in main.never_to]
        lines += [
            f"  {main.name}:   # the session that you talk to: it asks you before it changes anything",
            f"    may: [{', '.join(dict.fromkeys(rule.tool for rule in main.rules))}]",
            *_taken(main),
            *([f"    delegates_to: [{', '.join(map(quoted, names))}]"] if main.delegates and names else []),
            "",
            f"hosts: {{{host_of(packs[0])}: {{main: {main.name}}}}}",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _runs_commands(sections: Sequence[Section], packs: Sequence[str]) -> bool:
    """Some agent of the draft has a shell."""
    shells = {tool for pack in packs for tool in of_kind(pack, "shell")}
    return any(rule.tool in shells for section in sections for rule in section.rules)


def _rules(section: Section, packs: Sequence[str]) -> Iterator[str]:
    if not section.rules:
        yield "    may: []"
        yield from _taken(section)
        return
    yield "    may:"
    reads = any(rule.whole for rule in section.rules if capability(rule.tool) == "read")
    by_place: dict[Rule, list[Rule]] = {}
    for rule in dict.fromkeys(section.rules):
        alike = msgspec.structs.replace(rule, tool="", runs=("",) if rule.runs else (), host=None)
        by_place.setdefault(alike, []).append(rule)
    for one, rules in by_place.items():
        limited, scope, part, values = bool(one.runs), one.scope, one.part, one.values
        place, note = one.place, one.note
        source = f"   # {shown(str(place), 100)}{f'; {note}' if note else ''}"
        tools = dict.fromkeys(rule.tool for rule in rules)
        if limited:
            for tool in tools:
                yield f"      - {tool}: {_run([one for one in rules if one.tool == tool], reads=reads)}{source}"
        elif scope is None and not values:
            yield f"      - [{', '.join(map(quoted, tools))}]{source}"
        else:
            scope = scope if scope is not None else f"{{{part}: [{', '.join(map(quoted, values))}]}}"
            yield from (f"      - {quoted(tool)}: {scope}{source}" for tool in tools)
    yield from _taken(section)


def _run(rules: Sequence[Rule], *, reads: bool) -> str:
    """One scope for all commands of a tool: a line may then run several of them. Who may read any file may also change
    the folder and filter what a command prints, where the host lets everybody."""
    runs = [run for rule in rules for run in rule.runs]
    more, filters = beside(rules[0].host) if reads else ((), ())
    parts = [f"run: [{', '.join(dict.fromkeys((*runs, *more)))}]"]
    if filters:
        parts.append(f"filters: [{', '.join(filters)}]")
    return "{shell: {" + ", ".join(parts) + "}}"


def _taken(section: Section) -> Iterator[str]:
    """What is asked about, and what is denied: one line for a tool and a kind of limit, with all its places."""
    for key, ask in (("must_ask", True), ("may_not", False)):
        groups: dict[tuple[str, str | None, str | None, bool], list[Rule]] = {}
        for rule in dict.fromkeys(section.takes):
            if rule.ask is ask:
                groups.setdefault((rule.tool, rule.scope, rule.part, bool(rule.runs)), []).append(rule)
        if groups:
            yield f"    {key}:"
        for (tool, scope, part, limited), rules in groups.items():
            if limited:
                scope = _run(rules, reads=False)
            elif part is not None:
                values = dict.fromkeys(value for rule in rules for value in rule.values)
                scope = f"{{{part}: [{', '.join(map(quoted, values))}]}}"
            places = dict.fromkeys(str(rule.place) for rule in rules if rule.place.file)
            notes = dict.fromkeys(rule.note for rule in rules if rule.note)
            source = "; ".join([*([shown(", ".join(places), 160)] if places else []), *notes])
            limit, comment = f": {scope}" if scope is not None else "", f"   # {source}" if source else ""
            yield f"      - {quoted(tool)}{limit}{comment}"


_TESTS = (
    "# Tests for the draft: what every agent must not do, whatever is added later.",
    "remit_tests: 1",
    "policy: remit.yaml",
    "facts: {root: /work}",
    "tests:",
)


def _tests_of_program(sections: Sequence[Section], tools: Sequence[str]) -> str:
    """What every agent must not call: a tool of the program that nothing gives it."""
    lines: list[str] = []
    for section in sections:
        held = {rule.tool for rule in section.rules}
        tool = next((name for name in tools if name not in held), None)
        if tool is not None:
            lines += _test(section.name, f"does not call {tool}", tool, "")
    return "\n".join([*_TESTS, *lines]) + "\n" if lines else ""


def _test(agent: str, what: str, tool: str, given: str) -> list[str]:
    """A test that an agent's call is denied."""
    return [
        f"  - name: {quoted(f'{agent} {what}')}",
        f"    call: {{agent: {quoted(agent)}, tool: {quoted(tool)}, args: {{{given}}}}}",
        "    expect: deny",
    ]


def _tests(sections: Sequence[Section], packs: Sequence[str]) -> str:
    """What every agent must not do, whatever is added to the draft later."""
    if not packs or writing_call(packs[0], "remit.yaml", ()) is None or not sections:
        return ""
    lines = list(_TESTS)
    for section in sections:
        example = writing_call(packs[0], "remit.yaml", [rule.tool for rule in section.rules])
        if example is None:
            continue
        tool, arguments = example
        given = ", ".join(f"{name}: {value}" for name, value in arguments.items())
        lines += _test(section.name, "does not write the policy", tool, given)
    return "\n".join(lines) + "\n"
