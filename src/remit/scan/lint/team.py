"""Findings across the agents of a team: names and hand-overs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from remit.scan.lint.agents import holds
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Agent, Extent, Finding, Kind, Mark, Place, Weight
from remit.scan.names import key_of, short_names
from remit.scan.vocabulary import can_write, tool_key, words

_PAPER = (Kind.MATRIX, Kind.SECTION)
# Letters of other alphabets that look like Latin ones, and digits that look like letters.
_ALIKE = str.maketrans("аеорсухіјѕԁһոαοερνι01", "aeopcyxijsdhnaoepviol")
_MOST = 6


def team_findings(agents: Sequence[Agent], files: Sequence[Place]) -> Iterator[Finding]:
    """Every finding that needs more than one agent; `files` lie where definitions do and have no head."""
    loose = {key_of(place.file.rpartition("/")[2].partition(".")[0]) for place in files}
    teams: dict[str, list[Agent]] = {}
    for agent in agents:
        teams.setdefault(agent.team, []).append(agent)
    for members in teams.values():
        yield from _look_alikes(members)
        yield from _delegation(members)
        yield from _handed_otherwise(members)
        yield from _callers(members)
        yield from _beside_matrix(members)
    yield from _hand_overs(agents, loose)


def _callers(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Who may call a tool by the code, against the tables that say who may."""
    tables: dict[str, dict[str, Place]] = {}
    held: dict[tuple[str, str], Place] = {}
    code: dict[str, set[str]] = {}
    for agent in agents:
        for account in agent.accounts:
            for entry in account.allowed():
                key = tool_key(entry.tool)
                if account.kind is Kind.MATRIX and not account.closed and not account.marks:
                    tables.setdefault(entry.place.file, {}).setdefault(key, entry.place)
                    held[agent.name, key] = entry.place
                elif account.kind is Kind.CODE:
                    code.setdefault(agent.name, set()).add(key)
    for agent in agents:
        for account in (one for one in agent.accounts if one.kind is Kind.CODE):
            for entry in account.allowed():
                key = tool_key(entry.tool)
                place = next((rows[key] for rows in tables.values() if key in rows), None)
                if place is not None and (agent.name, key) not in held:
                    text = f"the code lets it call `{entry.tool}`; the table does not"
                    yield finding("tables-differ/code", text, place, entry.place, agent=agent.name)
            called = {
                tool_key(e.tool) for one in agents for a in one.accounts if a.kind is Kind.CODE for e in a.entries
            }
            for (name, key), place in held.items():
                if name == agent.name and key in called and key not in code.get(name, set()):
                    text = "the table lets it call a tool that the code does not let it call"
                    yield finding("tables-differ/code", text, place, account.place, agent=agent.name)


def _beside_matrix(agents: Sequence[Agent]) -> Iterator[Finding]:
    """A section for an agent in a document whose other sections are of the agents of its matrix."""
    matrices: dict[str, list[Account]] = {}
    agreed: Counter[str] = Counter()
    for agent in agents:
        files = {one.place.file for one in agent.accounts if one.kind is Kind.MATRIX and one.closed}
        agreed.update(files & {one.place.file for one in agent.accounts if _has_list(one)})
        for one in agent.accounts:
            if one.kind is Kind.MATRIX:
                matrices.setdefault(one.place.file, []).append(one)
    for agent in agents:
        own = agent.accounts[0]
        if len(agent.accounts) == 1 and agreed[own.place.file] > 1 and _has_list(own):
            text = f"has a section, and `{own.agent}` is neither in the matrix beside it nor defined"
            place = matrices[own.place.file][0].place
            yield finding("undefined-name/section", text, own.place, place, agent=agent.name, name=own.agent)


def _has_list(account: Account) -> bool:
    return account.kind is Kind.SECTION and account.extent is Extent.LIST


def grouped(findings: Sequence[Finding]) -> Iterator[Finding]:
    """The findings, with those that many agents share told once."""
    alone = [one for one in findings if one.code not in _SHARED or one.agent is None]
    shared = [one for one in findings if one.code in _SHARED and one.agent is not None]
    for where in (_home, _top):
        groups: dict[tuple[str, str, Weight], list[Finding]] = {}
        for one in shared:
            groups.setdefault((one.code, where(one), one.weight), []).append(one)
        shared = [one for found in groups.values() if len(found) <= _FEW for one in found]
        yield from _told_once({key: found for key, found in groups.items() if len(found) > _FEW})
    yield from _said_once([*alone, *shared])


def _said_once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Words that are said of many agents, said once."""
    same: dict[tuple[str, Weight, str], list[Finding]] = {}
    for one in findings:
        same.setdefault((one.code, one.weight, one.text if one.agent is not None else ""), []).append(one)
    for found in same.values():
        names = list(dict.fromkeys(one.agent for one in found if one.agent is not None))
        if len(names) <= _FEW:
            yield from found
        else:
            places = tuple(dict.fromkeys(place for one in found for place in one.places))
            text = f"{listing(names, _MOST)}: {found[0].text}"
            yield msgspec.structs.replace(found[0], agent=None, text=text, places=places)


_FEW = 3
"""Findings of a kind that are told one by one."""


def _home(one: Finding) -> str:
    """The document that a finding is about, or the folder of all definitions of its kind."""
    file = one.places[0].file
    return file if one.code in _BY_FILE else folder_of_all(file)


def _top(one: Finding) -> str:
    """The outermost folder: for definitions that lie in many folders, few in each."""
    file = one.places[0].file
    return file if one.code in _BY_FILE else file.partition("/")[0]


def folder_of_all(path: str) -> str:
    """The folder of agents that a definition lies in, at any depth."""
    own = re.match(r"(?:.*?/)?(?:agents?|chatmodes|modes?)(?=/)", path)
    return own[0] if own is not None else path.rpartition("/")[0]


def _told_once(groups: Mapping[tuple[str, str, Weight], Sequence[Finding]]) -> Iterator[Finding]:
    for (code, folder, weight), found in groups.items():
        names = listing(list(dict.fromkeys(str(one.agent) for one in found)), _MOST)
        yield Finding(
            code=code,
            weight=weight,
            agent=None,
            text=f"{_shared(code, len(found), folder)}: {names}",
            places=tuple(dict.fromkeys(place for one in found for place in one.places[: 2 if code in _BY_FILE else 1])),
            why=found[0].why,
            fix=found[0].fix,
        )


def _shared(code: str, count: int, where: str) -> str:
    if code in ("definition-wider", "definition-narrower"):
        more = "more" if code == "definition-wider" else "less"
        return f"the definitions of {count} agents grant {more} than `{where}`"
    return f"{count} agents in `{where}` {_SHARED[code]}"


_SHARED = {
    "definition-wider": "",
    "definition-narrower": "",
    "tables-differ": "have different tools in two tables",
    "read-only-can-write": "call themselves read-only and can write",
    "no-tool-list": "have no tool list, so the host gives them every tool",
    "invalid-front-matter": "have front matter that is not valid YAML and was read line by line",
    "dead-prohibition": "prohibit tools that their lists don't grant",
    "defined-twice": "are defined twice for one host, with different tools or modes",
    "agent-without-rules": "have a definition, and the policy has no such agents",
}


_BY_FILE = frozenset({"definition-wider", "definition-narrower", "tables-differ"})
"""Codes whose first place is the document that many agents share."""


def _look_alikes(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Names that one slip of a key, or a letter of another alphabet, turns into each other."""
    by_key = {key_of(agent.name): agent for agent in agents}
    seen: dict[str, tuple[str, Agent]] = {}
    for key, agent in by_key.items():
        letters = re.sub(r"[\W_]", "", agent.name.lower())
        skeleton = unicodedata.normalize("NFKC", letters).translate(_ALIKE)
        written, other = seen.setdefault(skeleton, (letters, agent))
        if written != letters:
            yield _alike(other, agent, "look the same and are written with different characters")
        for at in range(len(key) - 1) if len(key) > 5 else ():
            swapped = key[:at] + key[at + 1] + key[at] + key[at + 2 :]
            if swapped != key and swapped in by_key and key < swapped and key[at : at + 2].isalpha():
                yield _alike(agent, by_key[swapped], "differ by two letters that are swapped")
        for at in range(1, len(key) - 1):
            less = key[:at] + key[at + 1 :]
            if less in by_key and _misses(key, less, at):
                yield _alike(by_key[less], agent, "differ by one letter inside a word")
                break


def _misses(long: str, short: str, at: int) -> bool:
    """Whether a letter inside a long word was left out: `reviewr`, `planer`."""
    start = max(long.rfind("-", 0, at) + 1, 0)
    word = long[start:].partition("-")[0]
    return word.isalpha() and len(word) > 6 and start < at < start + len(word) - 1 and short != long


def _alike(one: Agent, other: Agent, how: str) -> Finding:
    return finding(
        "look-alike-names",
        f"`{one.name}` and `{other.name}` {how}",
        one.accounts[0].place,
        other.accounts[0].place,
        agent=one.name,
    )


def _known(agents: Sequence[Agent]) -> dict[str, Agent]:
    """Every name that stands for an agent with a definition, a record or rules."""
    found: dict[str, Agent] = {}
    for agent in agents:
        for account in agent.accounts:
            if account.kind not in (*_PAPER, Kind.ROSTER):
                found.update({key_of(name): agent for name in account.names})
    short = short_names([agent.name for agent in found.values()])
    return {**{key: found[key_of(name)] for key, name in short.items() if key_of(name) in found}, **found}


def _is_builtin(name: str) -> bool:
    return key_of(name) in {key_of(word) for word in words("builtin_agents", "")} or "*" in name


def _hand_overs(agents: Sequence[Agent], loose: set[str]) -> Iterator[Finding]:
    """Work that is handed to an agent that nobody defines."""
    known = _known(agents)
    single = sum(any(one.kind is Kind.RECORD for one in agent.accounts) for agent in agents) == len(known) == 1
    for agent in agents:
        for account in agent.accounts:
            for name, place in (*account.hands_to, *account.offers):
                if key_of(name) in known or key_of(name) in loose or _is_builtin(name) or single:
                    continue
                near = _near(key_of(name), known)
                hint = f"; `{near}` is defined" if near else ""
                yield finding(
                    "undefined-name/hand-overs",
                    f"hands work to `{name}`, which is defined nowhere here{hint}",
                    *((place, account.place) if place != account.place else (place,)),
                    agent=agent.name,
                    one=f", such as `{near}`" if near else "",
                    name=name,
                )


def _near(key: str, known: dict[str, Agent]) -> str | None:
    """The only known name that one letter more, less or other turns into this one."""
    near = {agent.name for other, agent in known.items() if min(len(key), len(other)) > 4 and _one_off(key, other)}
    return next(iter(near)) if len(near) == 1 else None


def _one_off(one: str, other: str) -> bool:
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[at + 1 :] in (other[at:], other[at + 1 :]) or one[at:] == other[at + 1 :]


def _delegation(agents: Sequence[Agent]) -> Iterator[Finding]:
    """An agent that must not change anything, or not use a tool, and hands work to one that can."""
    known = _known(agents)
    for agent in agents:
        for account in agent.accounts:
            claim = account.read_only
            denied = {tool_key(e.tool): e for e in account.entries if e.mark is Mark.NO and e.scope is None}
            for name, place in account.hands_to:
                other = known.get(key_of(name))
                if other is None or other is agent:
                    continue
                if claim is not None and _holds_writing(other) and not re.search(r"\byour?self\b", claim.text):
                    # an agent that plans and leaves the work to others is nothing unusual
                    told = (agent, other, "calls itself read-only", "can write", (claim.place, place))
                    yield _reaches(*told, weight=Weight.NOTE)
                elif account.kind is Kind.RECORD:
                    held = [e for one in other.accounts if one.kind is Kind.RECORD for e in one.allowed()]
                    reached = [e for e in held if tool_key(e.tool) in denied]
                    if reached:
                        no, yes = f"may not use `{reached[0].tool}`", "may"
                        yield _reaches(
                            agent, other, no, yes, (denied[tool_key(reached[0].tool)].place, reached[0].place)
                        )


class _Handed(msgspec.Struct, frozen=True):
    """An agent whose head and whose row in a document name different agents."""

    agent: str
    lacks: tuple[str, ...]
    """In the document only."""
    more: tuple[str, ...]
    """In the head only."""
    places: tuple[Place, Place]
    shares: bool
    """Whether both name some agent, or the text is no more than some of them."""

    def __str__(self) -> str:
        parts = [f"{listing(self.lacks)} in the text only"] if self.lacks else []
        return ", ".join([*parts, *([f"{listing(self.more)} in the head only"] if self.more else [])])


def _handed_otherwise(agents: Sequence[Agent]) -> Iterator[Finding]:
    """Agents whose head names others to hand work to than a document, or than the list in their own text."""
    known = _known(agents)
    heads = {agent.name: _heads(agent) for agent in agents}
    usual = sum(one is not None and bool(one.offers) for one in heads.values()) >= max(3, 0.6 * len(agents))
    by_file: dict[str, list[_Handed]] = {}
    agree: Counter[str] = Counter()
    for agent in agents:
        head = heads[agent.name]
        if head is None or any("*" in name for name, _ in head.hands_to):
            continue
        own = _differs(agent, head, head.lists, known, (*head.hands_to, *head.offers))
        if own is not None and own.shares and not any(key_of(name) not in known for name, _ in head.lists):
            text = f"its head and the text hand work to different agents: {own}"
            yield finding("hand-overs-differ", text, *own.places, agent=agent.name)
        for paper in agent.accounts if head.offers or head.hands_to or usual else ():
            if paper.kind is Kind.ROSTER:
                offered = bool(paper.offers)
                counted = (head.offers or head.hands_to) if offered else (head.hands_to or head.offers)
                other = _differs(agent, head, paper.offers or paper.hands_to, known, counted, whole=paper.closed)
                agree[paper.place.file] += other is None or other.shares
                if other is not None:
                    by_file.setdefault(paper.place.file, []).append(other)
    for file, found in by_file.items():
        cases = [one for one in found if one.shares or agree[file] >= _ENOUGH]
        if not cases:
            continue
        told = "; ".join(f"`{one.agent}`: {one}" for one in cases[:_MANY])
        rest = f"; and {len(cases) - _MANY} more" if len(cases) > _MANY else ""
        where = [place for one in cases[:_MANY] for place in one.places]
        text = f"heads and a text hand work to different agents: {told}{rest}"
        yield finding("hand-overs-differ", text, *where, agent=cases[0].agent if len(cases) == 1 else None)


_ENOUGH = 3
"""Rows that name some agent that the head names too, to be sure what a document means by its column."""
_MANY = 40
"""Agents of one finding that are told with their places."""


def _heads(agent: Agent) -> Account | None:
    """The first definition of an agent, which says whom it hands work to, or nobody."""
    found = [one for one in agent.accounts if one.kind is Kind.DEFINITION]
    return next((one for one in found if one.hands_to or one.offers), found[0] if found else None)


def _differs(
    agent: Agent,
    head: Account,
    listed: Sequence[tuple[str, Place]],
    known: dict[str, Agent],
    counted: Sequence[tuple[str, Place]],
    *,
    whole: bool = True,
) -> _Handed | None:
    """What a text and a head name differently; a text that is not `whole` may leave some out."""
    said = {other.name: place for name, place in listed if (other := known.get(key_of(name))) not in (None, agent)}
    every = {known[key_of(name)].name for name, _ in (*head.hands_to, *head.offers) if key_of(name) in known}
    named = {known[key_of(name)].name: place for name, place in counted if key_of(name) in known}
    lacks = sorted(said.keys() - every)
    more = sorted(named.keys() - said.keys() - {agent.name}) if whole else []
    if not said or not (lacks or more):
        return None
    first = said[lacks[0]] if lacks else next(iter(said.values()))
    at = named[more[0]] if more else next(iter(named.values()), head.place)
    return _Handed(agent.name, tuple(lacks), tuple(more), (first, at), shares=not whole or bool(said.keys() & every))


def _holds_writing(agent: Agent) -> bool:
    held = [one for one in agent.accounts if one.kind in (Kind.POLICY, Kind.DEFINITION)]
    return any(
        any(map(can_write, one.allowed()))
        or (one.extent is Extent.EVERYTHING and any(holds(one, kind) is None for kind in ("write", "shell")))
        for one in held[:1]
    )


def _reaches(
    agent: Agent, other: Agent, no: str, yes: str, places: tuple[Place, ...], weight: Weight | None = None
) -> Finding:
    return finding(
        "delegation-reaches",
        f"{no} and hands work to `{other.name}`, which {yes}",
        *places,
        agent=agent.name,
        weight=weight,
    )


def headless(places: Sequence[Place]) -> Iterator[Finding]:
    """Files in a folder of definitions that no host takes for one."""
    folders: dict[str, list[Place]] = {}
    for place in places:
        folders.setdefault(folder_of_all(place.file), []).append(place)
    for folder, found in folders.items():
        names = ", ".join(f"`{place.file.rpartition('/')[2]}`" for place in found[:_MOST])
        more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
        yield finding(
            "no-front-matter", f"in `{folder}` and without front matter: {names}{more}", *tuple(found[:_MOST])
        )
