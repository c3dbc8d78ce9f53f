"""A policy from a survey: what the sources of each agent agree on, and a question for whatever they leave open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cache

import msgspec

from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.equivalents import Equal, Granted, meanings, translated
from remit.draft.history import is_glob, judged
from remit.draft.model import CONFINE, CONFINEMENT, Draft, quoted
from remit.draft.packs import host_of, of_kind, pack_for, tools_for, writing_call
from remit.forms.texts import plain
from remit.languages.programs.profiles import profile_of
from remit.model.errors import PolicyError
from remit.model.text import shown
from remit.scan.model import Account, Agent, Entry, Extent, Kind, Mark, Place, Survey
from remit.scan.names import key_of
from remit.scan.settings import is_everybody
from remit.scan.vocabulary import capability, tool_key

_GLOB = re.compile(r"[\w.*@{},/-]*[*/][\w.*@{},/-]*|[\w-]+\.(?:md|ya?ml|json|txt|csv|db)\b")
_COMMAND = re.compile(r"^([a-z][\w.+-]*)(?: ([a-z][\w-]*))?(?::\*| \*|\*)?$")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:/-]{0,63}")
_LOOK = ("read", "search")
_SHARED = 4
"""So many agents with one question are named; of more, the first."""


class Rule(msgspec.Struct, frozen=True):
    """One line of `may`: a tool, its scope as YAML, and where it comes from."""

    tool: str
    place: Place
    scope: str | None = None
    note: str | None = None


class Question(msgspec.Struct, frozen=True):
    """Something that a person must decide. `kind` says it for many agents at once."""

    kind: str
    agent: str | None
    text: str


class Section(msgspec.Struct):
    """What the draft says of one agent."""

    name: str
    written: str
    rules: list[Rule] = []
    questions: list[Question] = []
    delegates: bool = False

    def ask(self, kind: str, text: str) -> None:
        """One more question about this agent."""
        question = Question(kind, self.name, text)
        if question not in self.questions:
            self.questions.append(question)


def draft_from(survey: Survey, paths: Sequence[str] = (), host: str | None = None) -> Draft | None:
    """A draft from what a survey found; None if it found no agent. `paths` are those that were ever committed.

    With a host, in that one's tools: what was written for another is translated."""
    agents = [agent for agent in survey.agents if _speaks(agent)]
    if not agents:
        return None
    accounts = [account for agent in survey.agents for account in agent.accounts if account.host is not None]
    hosts = [a.host for a in accounts if a.kind is Kind.DEFINITION and a.host is not None] or [
        a.host for a in accounts if a.kind is Kind.SETTINGS and a.host is not None
    ]
    written = [entry.tool for agent in agents for account in agent.accounts for entry in account.entries]
    pack = host if host is not None else pack_for(hosts, written)
    questions: list[Question] = []
    if pack is None:
        text = "no tool here belongs to a pack of Remit's: declare the tools under `tools:` (docs/policy.md#tools)"
        questions.append(Question("no pack", None, text))
    elif host is None:
        questions += _host(pack, guessed=not hosts)
    sections: dict[str, Section] = {}
    for agent in agents:
        name = agent.name if _NAME.fullmatch(agent.name) else key_of(agent.name)
        place = agent.accounts[0].place
        if name in sections:
            text = f"is defined below {shown(agent.team) or 'the root'} too ({place}); only one is in the draft"
            questions.append(Question("are defined more than once; only one is in the draft", name, text))
        elif not _NAME.fullmatch(name):
            questions.append(
                Question("no name", None, f"`{shown(agent.name)}` left out: a policy can't name it ({place})")
            )
        else:
            sections[name] = _section(agent, name, pack, paths)
            _ask_name(sections[name], agent)
    questions += [question for section in sections.values() for question in section.questions]
    questions += _settings(survey, {rule.tool for section in sections.values() for rule in section.rules}, pack)
    if _runs_commands([*sections.values()], pack):
        questions.append(Question("confinement", None, CONFINE))
    found = list(sections.values())
    main = next(name for name in ("main", "main-session", "remit-main") if name not in sections)
    return Draft(_policy(found, pack, main), _tests(found, pack), tuple(_grouped(questions)), len(found))


def _host(pack: str, *, guessed: bool) -> Iterator[Question]:
    """Whose tools the draft is written in, where its sources don't settle it."""
    other = "for another, `remit init --host HOST --output FILE`"
    if guessed:
        text = f"no definition says which host runs these agents; the draft is in the tools of {pack}: {other}"
        yield Question("host", None, text)
    elif pack != (carrier := host_of(pack)) and carrier is not None:
        text = (
            f"the draft is in the tools of {pack}, which names no agents to hooks: there, every call is judged as the"
            f" main agent's. In {carrier} the tools differ: `remit init --host {carrier} --output FILE`"
        )
        yield Question("host", None, text)


def _ask_name(section: Section, agent: Agent) -> None:
    """Hosts call an agent by the name in its definition: one that a policy can't say would stay unknown to it."""
    defined = next((a for a in agent.accounts if a.kind is Kind.DEFINITION and a.agent != section.name), None)
    if defined is not None and not _NAME.fullmatch(defined.agent):
        text = (
            f"its definition says `name: {shown(defined.agent)}`, which a policy can't name:"
            f" write `name: {section.name}` there, or its calls are denied ({defined.place})"
        )
        section.ask("have names that a policy can't say: correct `name:`, or their calls are denied", text)


def _settings(survey: Survey, held: Set[str], pack: str | None) -> Iterator[Question]:
    """What settings deny of tools that the draft grants: the host holds it, and the draft does not."""
    for agent in survey.agents:
        for account in agent.accounts if is_everybody(agent) else ():
            refused = [entry for entry in account.entries if entry.mark is Mark.NO]
            denied = [entry for entry in refused if pack is not None and held & {*tools_for(entry.tool, pack)}]
            if denied:
                names = [f"`{shown(e.tool)}({shown(e.scope)})`" if e.scope else f"`{shown(e.tool)}`" for e in denied]
                rest = f" and {len(names) - _SHARED} more" if len(names) > _SHARED else ""
                text = (
                    f"{', '.join(names[:_SHARED])}{rest}: denied by {account.place}, which only its host follows;"
                    " add `may_not` to the agents"
                )
                yield Question("settings", None, text)


def _grouped(questions: Sequence[Question]) -> Iterator[str]:
    """The questions in a few lines: one that many agents share is asked once."""
    kinds: dict[str, list[Question]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    for kind, same in sorted(kinds.items(), key=lambda item: len(item[1])):
        names = list(dict.fromkeys(question.agent for question in same if question.agent is not None))
        if len(names) > _SHARED:
            rest = f" and {len(names) - _SHARED} more" if len(names) > _SHARED else ""
            yield f"{len(names)} agents {kind}: {', '.join(map(shown, names[:_SHARED]))}{rest}"
        else:
            yield from (f"{shown(one.agent)}: {one.text}" if one.agent else one.text for one in same)


def _speaks(agent: Agent) -> bool:
    return any(account.kind not in (Kind.SETTINGS, Kind.ROSTER) for account in agent.accounts)


def _section(agent: Agent, name: str, pack: str | None, paths: Sequence[str]) -> Section:
    section = Section(name, agent.name)
    source = _source(agent)
    read_only = next((account.read_only for account in agent.accounts if account.read_only is not None), None)
    if source.extent is not Extent.LIST:
        state = "has no tool list" if source.extent is Extent.EVERYTHING else "has a tool list that can't be read"
        text = f"{state} ({source.place}); the draft lets it read and search: add what it needs"
        section.ask("have no tool list that can be read; the draft lets them read and search", text)
        if pack is not None:
            section.rules += [Rule(tool, source.place, note="no list: reading only") for tool in _reading(pack)]
        return section
    foreign: list[Granted] = []
    for entry in source.allowed():
        _add(section, agent, entry, pack, paths, foreign, read_only=read_only is not None)
    if pack is not None:
        denied = [e.tool for account in agent.accounts for e in account.entries if e.mark is Mark.NO]
        _translate(section, foreign, denied, pack, paths, read_only=read_only is not None)
    if not section.rules and source.allowed():
        section.ask(
            "have a list of which nothing could be taken over",
            f"nothing of its list could be taken over ({source.place})",
        )
    return section


def _source(agent: Agent) -> Account:
    """The account that the draft starts from: a definition with a list, else a document with one, else the first."""
    ranked = [account for account in agent.accounts if account.kind is not Kind.SETTINGS and account.closed]
    lists = [account for account in ranked if account.extent is Extent.LIST]
    definition = next((a for a in lists if a.kind is Kind.DEFINITION), None)
    if definition is not None:
        return definition
    return next(iter(lists), None) or next(iter(ranked), agent.accounts[0])


def _reading(pack: str) -> list[str]:
    return of_kind(pack, *_LOOK)


def _translate(
    section: Section,
    foreign: Sequence[Granted],
    denied: Sequence[str],
    pack: str,
    paths: Sequence[str],
    *,
    read_only: bool,
) -> None:
    """Tools of other hosts, in the words of this one; each that has no equal there is a question."""
    found, left = translated(foreign, pack, denied)
    whole = {rule.tool for rule in section.rules if rule.scope is None}
    for one in found:
        if one.equal.tool in whole:
            continue
        first, kind = one.sources[0], capability(one.sources[0].tool)
        note = f"for {', '.join(shown(source.tool) for source in one.sources)}"
        rule = _of_equal(section, one.equal, kind, first, read_only=read_only)
        if rule is not None:
            section.rules.append(msgspec.structs.replace(rule, note=note))
            _try_scope(section, rule, first.limit, kind, paths)
            section.delegates |= kind == "delegate"
    for source in left:
        section.ask(
            f"have tools without an equal in {pack}; they are left out",
            f"`{shown(source.tool)}` left out: {pack} has no tool that does this and no more ({source.place})",
        )


def _of_equal(section: Section, equal: Equal, kind: str, source: Granted, *, read_only: bool) -> Rule | None:
    """The rule for a translated tool, with the source's limit and what takes a part of the tool away."""
    if equal.shell is not None:
        return Rule(equal.tool, source.place, f"{{shell: {{sets: [{equal.shell}]}}}}")
    rule = _rule(section, equal.tool, kind, source.limit, source.place, read_only=read_only)
    if rule is None or not (equal.new_only or equal.effect):
        return rule
    globs = ", ".join(quoted(glob) for glob in (globs_of(source.limit) if source.limit else ["**"]))
    path = f"path: {{allow: [{globs}], new_only: true}}" if equal.new_only else f"path: [{globs}]"
    limits = [
        *([path] if equal.new_only or source.limit else []),
        *([f"effect: {equal.effect}"] if equal.effect else []),
    ]
    return msgspec.structs.replace(rule, scope="{" + ", ".join(limits) + "}")


def _add(
    section: Section,
    agent: Agent,
    entry: Entry,
    pack: str | None,
    paths: Sequence[str],
    foreign: list[Granted],
    *,
    read_only: bool,
) -> None:
    tools = tools_for(entry.tool, pack) if pack is not None else []
    kind = capability(entry.tool)
    refusal = _refusal(agent, entry, tools)
    if refusal is not None:
        section.ask(
            "are granted what another place denies; it is left out",
            f"`{shown(entry.tool)}` left out: {refusal.place} denies it, {entry.place} grants it",
        )
        return
    translates = not tools and pack is not None and bool(meanings(entry.tool))
    if not tools and not translates:
        what = (
            "a tool of an MCP server; `remit init --tools FILE --server NAME` drafts those"
            if kind == "mcp"
            else f"no tool of {pack or 'a pack'} that Remit knows; if there is one, declare it under `tools:`"
        )
        section.ask(
            "have tools that no pack knows; they are left out",
            f"`{shown(entry.tool)}` left out: {what} ({entry.place})",
        )
        return
    if read_only and kind == "write":
        section.ask(
            "call themselves read-only; what writes is left out",
            f"`{shown(entry.tool)}` left out: the agent calls itself read-only ({entry.place})",
        )
        return
    other = _narrower(agent, entry)
    if other is not None:
        section.ask(
            "are limited in two ways that differ; the tool is left out",
            f"`{shown(entry.tool)}` with “{shown(entry.scope or '', 60)}” left out: "
            f"{other.place} limits it to “{shown(other.scope or '', 60)}”",
        )
        return
    limit, place = _limit(agent, entry)
    if translates:
        foreign.append(Granted(entry.tool, limit, place))
    for tool in tools:
        rule = _rule(section, tool, kind, limit, place, read_only=read_only)
        if rule is not None:
            section.rules.append(rule)
            _try_scope(section, rule, limit, kind, paths)
    section.delegates |= kind == "delegate" and bool(tools)


def _refusal(agent: Agent, entry: Entry, tools: Sequence[str]) -> Entry | None:
    """What another place says against it: a denial of this tool, or of its whole kind."""
    keys = {tool_key(entry.tool), *(tool_key(tool) for tool in tools)}
    for account in agent.accounts:
        if account.kind is Kind.SETTINGS or entry in account.entries:
            continue
        for other in account.entries:
            if other.mark is Mark.NO and tool_key(other.tool) in keys:
                return other
        kinds = {capability(other.tool) for other in account.allowed()}
        kind = capability(entry.tool)
        if (
            account.closed
            and not account.marks
            and account.extent is Extent.LIST
            and kind in ("write", "shell", "network", "delegate")
            and kind not in kinds
        ):
            return Entry(entry.tool, Mark.NO, account.place)
    return None


def _limit(agent: Agent, entry: Entry) -> tuple[str | None, Place]:
    """The scope that any place gives the tool, as written; the entry's own first."""
    if entry.scope:
        return entry.scope, entry.place
    keys = {tool_key(entry.tool)}
    for account in agent.accounts:
        for other in account.entries:
            if other.mark is Mark.SCOPED and tool_key(other.tool) in keys:
                if other.scope:
                    return other.scope, other.place
                entry = other if entry.mark is Mark.YES else entry
    kind_limit = _limit_of_kind(agent, entry)
    if kind_limit is not None:
        return kind_limit.scope, kind_limit.place
    return ("" if entry.mark is Mark.SCOPED else None), entry.place


def _limit_of_kind(agent: Agent, entry: Entry) -> Entry | None:
    """The scope that another place gives all the writing that it grants, if it doesn't name this tool: `Edit` would
    write where its `Write` may not."""
    if entry.mark is not Mark.YES or capability(entry.tool) != "write":
        return None
    for account in agent.accounts:
        writes = [other for other in account.allowed() if capability(other.tool) == "write"]
        if not account.closed or entry in writes or any(tool_key(w.tool) == tool_key(entry.tool) for w in writes):
            continue
        if writes and all(other.mark is Mark.SCOPED and other.scope for other in writes):
            return writes[0]
    return None


def _narrower(agent: Agent, entry: Entry) -> Entry | None:
    """A scope of the same tool in another account whose scopes don't name all that the entry's own does."""
    if not entry.scope:
        return None
    for account in agent.accounts:
        scoped = [
            other
            for other in account.entries
            if other.mark is Mark.SCOPED and other.scope and tool_key(other.tool) == tool_key(entry.tool)
        ]
        if scoped and entry not in scoped and not _named(entry.scope) <= {n for o in scoped for n in _named(o.scope)}:
            return scoped[0]
    return None


def _named(scope: str | None) -> set[str]:
    """What a scope names, however it is written: commands, globs, or its own words."""
    parts = re.split(r",\s*", (scope or "").removeprefix("shell "))  # as `remit docs` writes it
    commands = [_command(part) for part in parts]
    if all(commands):
        return {command for command in commands if command is not None}
    return set(globs_of(scope or "")) or {(scope or "").strip().lower()}


def _rule(section: Section, tool: str, kind: str, limit: str | None, place: Place, *, read_only: bool) -> Rule | None:
    if kind == "shell":
        return _shell(section, tool, limit, place, read_only=read_only)
    if limit is None:
        return Rule(tool, place)
    globs = globs_of(limit)
    if kind in ("write", "read", "search") and globs:
        return Rule(tool, place, "{path: [" + ", ".join(quoted(glob) for glob in globs) + "]}")
    words = f"“{shown(limit, 60)}”" if limit else "a scope that is not given"
    section.ask(
        "have limits that are no patterns; those tools are left out",
        f"`{tool}` left out: it is limited to {words}, which is no pattern ({place})",
    )
    return None


def _shell(section: Section, tool: str, limit: str | None, place: Place, *, read_only: bool) -> Rule | None:
    if limit is None and not read_only:
        section.ask(
            "may run any command: give them a `shell:` scope, or `confine: required`",
            f"`{tool}` may run any command ({place}): give it a `shell:` scope, or `confine: required`",
        )
        return Rule(tool, place)
    if limit is None:
        section.ask(
            "call themselves read-only and have a shell; it may look only",
            f"`{tool}` is limited to looking, since the agent calls itself read-only ({place})",
        )
        return Rule(tool, place, "{shell: {sets: [inspect, git-read]}}")
    runs = [run for part in re.split(r",\s*", limit) if (run := _command(part)) is not None]
    if runs and len(runs) == len(re.split(r",\s*", limit)):
        scope = "{shell: {run: [" + ", ".join(runs) + "]}}"
        if _loads(scope):
            return Rule(tool, place, scope)
    words = f"“{shown(limit, 60)}”" if limit else "a scope that is not given"
    section.ask(
        "have a shell with limits that are no commands; it is left out",
        f"`{tool}` left out: it is limited to {words}; say it as a `shell:` scope ({place})",
    )
    return None


@cache
def _loads(scope: str) -> bool:
    """Whether a scope names programs and subcommands that Remit knows."""
    text = f"remit: 1\ntools: {{t: {{args: {{c: shell}}}}}}\nagents: {{a: {{may: [{{t: {scope}}}]}}}}\n"
    try:
        build_rulebook(plain(parse(text, "scope")))
    except PolicyError:
        return False
    return True


def _command(text: str) -> str | None:
    match = _COMMAND.match(text.strip().strip("`"))
    if match is None or profile_of(match[1]) is None:
        return None
    return f"{{{match[1]}: [{match[2]}]}}" if match[2] else match[1]


def globs_of(text: str) -> list[str]:
    """The globs that a sentence names: in code spans if it has any, else words that look like one."""
    spans = re.findall(r"`([^`]+)`", text)
    found = [word for span in (spans or [text]) for word in _GLOB.findall(span) if not re.search(r"[\\^$()+]", span)]
    clean = (word.strip(",.").removeprefix("./") for word in found)
    globs = (f"{word}**" if word.endswith("/") else word for word in clean)
    return [glob for glob in dict.fromkeys(globs) if glob.strip("*/") and is_glob(glob)]


def _try_scope(section: Section, rule: Rule, limit: str | None, kind: str, paths: Sequence[str]) -> None:
    if kind != "write" or limit is None or rule.scope is None:
        return
    said = judged(globs_of(limit), paths)
    if said is not None:
        section.ask("have scopes that admit no committed file", said)


def _policy(sections: Sequence[Section], pack: str | None, main: str) -> str:
    lines = [
        "# A draft by `remit init`, from what this repository says. A comment after a line names its source.",
        "# It is never wider than that. `remit check` tests it; `remit activate` puts it in force.",
        "remit: 1",
    ]
    if pack is not None:
        lines.append(f"use: [{pack}]")
    if _runs_commands(sections, pack):
        lines += ["", *CONFINEMENT]
    lines += ["", "agents:"]
    for section in sections:
        note = f"   # {shown(section.written)}" if section.written != section.name else ""
        lines += [f"  {quoted(section.name)}:{note}", *_rules(section)]
        others = [quoted(other.name) for other in sections if other.name != section.name]
        if section.delegates and others:
            lines.append(
                f"    delegates_to: [{', '.join(others)}]   # its list has a tool that hands work on, to anybody"
            )
        lines.append("")
    if pack is not None and _has_main(pack):
        names = ", ".join(quoted(section.name) for section in sections)
        everything = ", ".join(of_kind(pack, *_LOOK, "plan", "ask"))
        asks = ", ".join(of_kind(pack, "write", "shell", "network"))
        hand = ", ".join(of_kind(pack, "delegate"))
        lines += [
            f"  {main}:                       # the session that you talk to: it asks you before it changes anything",
            f"    may: [{', '.join(part for part in (everything, asks, hand) if part)}]",
            f"    must_ask: [{asks}]",
            *([f"    delegates_to: [{names}]"] if hand and names else []),
            "",
            f"hosts: {{{host_of(pack)}: {{main: {main}}}}}",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _runs_commands(sections: Sequence[Section], pack: str | None) -> bool:
    """Some agent of the draft has a shell."""
    shells = of_kind(pack, "shell") if pack is not None else []
    return any(rule.tool in shells for section in sections for rule in section.rules)


def _has_main(pack: str) -> bool:
    return bool(of_kind(pack, "delegate")) and host_of(pack) is not None


def _rules(section: Section) -> Iterator[str]:
    if not section.rules:
        yield "    may: []"
        return
    yield "    may:"
    by_place: dict[tuple[str, str | None, str | None], list[Rule]] = {}
    for rule in dict.fromkeys(section.rules):
        by_place.setdefault((str(rule.place), rule.scope, rule.note), []).append(rule)
    for (place, scope, _), rules in by_place.items():
        note = f"; {rules[0].note}" if rules[0].note else ""
        names = ", ".join(dict.fromkeys(rule.tool for rule in rules))
        if scope is None:
            yield f"      - [{names}]   # {shown(place, 100)}{note}"
        else:
            for name in dict.fromkeys(rule.tool for rule in rules):
                yield f"      - {name}: {scope}   # {shown(place, 100)}{note}"


def _tests(sections: Sequence[Section], pack: str | None) -> str:
    """What every agent must not do, whatever is added to the draft later."""
    if pack is None or writing_call(pack, "remit.yaml", ()) is None or not sections:
        return ""
    lines = [
        "# Tests for the draft: what every agent must not do, whatever is added later.",
        "remit_tests: 1",
        "policy: remit.yaml",
        "facts: {root: /work}",
        "tests:",
    ]
    for section in sections:
        example = writing_call(pack, "remit.yaml", [rule.tool for rule in section.rules])
        if example is None:
            continue
        tool, arguments = example
        given = ", ".join(f"{name}: {value}" for name, value in arguments.items())
        lines += [
            f"  - name: {quoted(section.name + ' does not write the policy')}",
            f"    call: {{agent: {quoted(section.name)}, tool: {tool}, args: {{{given}}}}}",
            "    expect: deny",
        ]
    return "\n".join(lines) + "\n"
