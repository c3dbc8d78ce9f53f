"""The profile of a call: what the rules let an agent's commands touch, for the kernel to hold. Pure.

INVARIANT: what a profile lets be written below the root, the text rules let a command write that names it (`.git`,
which git itself writes, is the exception: see `_commits`). Where a rule says more than a profile can, it is narrower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from remit.decide.case import Case, Held, Objection
from remit.decide.grid import Bound, Cell, bind, grid_of
from remit.decide.steps import allowed_data_tiers, binders, known_capsules, limits, permissions, prohibited
from remit.model.call import Call, Context
from remit.model.decision import Remedy
from remit.model.facts import NO_FACTS, Facts
from remit.model.policy import Confine, Sandbox
from remit.model.profile import Limits, Network, Profile, Region
from remit.model.rulebook import Rulebook
from remit.model.terms import EFFECTS, PROJECT
from remit.model.trace import Unconfined
from remit.scopes.glob import fold
from remit.scopes.interface import NO_EFFECTS
from remit.scopes.kinds import kind_of
from remit.scopes.where import context_holds

if TYPE_CHECKING:
    from remit.model.facts import Capsule
    from remit.scopes.judge import Judge
    from remit.scopes.url import UrlPattern

EVERYTHING = ("**",)
ALL_EFFECTS = frozenset(EFFECTS)
_COMMIT = "git commit -m x"
_JOURNALS = ("", "-journal", "-wal", "-shm")
"""What SQLite writes beside a database."""


def profile_of(
    rulebook: Rulebook,
    agent: str,
    tool: str,
    capsules: Sequence[Capsule] = (),
    chain: Sequence[str] = (),
    *,
    context: Context | None = None,
    facts: Facts = NO_FACTS,
) -> Profile:
    """What commands of this agent's shell tool may touch. Raises LookupError for names that the policy doesn't know.

    `capsules` are its task and those above, nearest first. `context` counts for rules with `when`; of `facts` the root,
    the time and the grants. Where there is a call, `profile_of_call` finds all of these."""
    case = _case(rulebook, Call(agent, tool, {}, context or Context(chain=tuple(chain))), facts)
    case.capsules = list(capsules)
    return profile(case)


def profile_of_call(rulebook: Rulebook, call: Call, facts: Facts) -> Profile:
    """The profile of one call: the one whose digest its decision's obligation has. Raises LookupError."""
    case = _case(rulebook, call, facts)
    if call.context.capsule is not None and known_capsules(case) is not None:
        raise LookupError(call.context.capsule)
    return profile(case)


def _case(rulebook: Rulebook, call: Call, facts: Facts) -> Case:
    grid = grid_of(rulebook)
    row = grid.row(call.agent)
    found = row.tool(call.tool) if row is not None else None
    if row is None or found is None:
        raise LookupError(call.agent if row is None else call.tool)
    return Case(grid.cell(row, found), call, facts, {}, [])


def profile(case: Case) -> Profile:
    """The same for a case. Raises KeyError for a chain with somebody unknown in it."""
    chain = case.call.context.chain
    cells = [case.cell, *(binders(case.cell, chain) if chain else ())]
    protected = case.cell.rulebook.book.protected
    own = case.cell.caller.sandbox or Sandbox()
    writes, reads, hidden = _Regions(), _Regions(), list[str]()
    for cell in cells:
        rules = _Permits(permissions(cell, case), case, everything=bool(cell.access))
        for bounds in rules.alternatives:
            writes.add(glob for bound in bounds for glob in _writes(bound))
            reads.add(glob for bound in bounds for glob in (*_reads(bound), *_writes(bound)))
        locks = cell.caller.locks
        if locks is not None:
            writes.add(locks.may, locks.except_)
        hidden += [*_hidden_data(cell, case), *((cell.caller.sandbox or own).hide)]
        _prohibit(cell.nots, case, writes, hidden)
    for capsule in case.capsules:
        if capsule.scope is not None:
            writes.add(capsule.scope)
        if capsule.may is not None:
            for bounds in _Permits(bind(capsule.may, case.cell.tool.name, "may"), case).alternatives:
                writes.add(glob for bound in bounds for glob in _writes(bound))
                reads.add(glob for bound in bounds for glob in (*_reads(bound), *_writes(bound)))
        _prohibit(bind(capsule.may_not, case.cell.tool.name, "may_not"), case, writes, hidden)
    instructions = [name for name in protected.instructions if not case.cell.names_file(fold(name))]
    return Profile(
        agent=case.call.agent,
        write=writes.found(),
        read=reads.found(),
        protected_names=_sorted((*protected.names, *instructions)),
        protected_paths=_sorted(protected.paths),
        unprotected=_sorted(protected.lifted),
        hidden=_sorted((*(f"**/{name}" for name in protected.hidden), *hidden)),
        git=all(_commits(cell, case) for cell in cells),
        network=_network(cells, case),
        home=own.home or "private",
        caches=_sorted(own.caches or ()),
        limits=own.limits or Limits(),
    )


def _sorted(texts: Iterable[str]) -> tuple[str, ...]:
    """Each once, in an order of their own: where a policy says something is no part of a digest."""
    return tuple(sorted(set(texts)))


def confined(case: Case) -> Objection | None:
    """Says in the case what the kernel holds of its command, or that it runs unconfined; other calls are left alone.

    The objection is for the end, if nothing else is in the way: this machine can't hold what is required."""
    mode = _mode(case) if any(unit.kind == "shell" for unit in case.units) else "off"
    if mode == "off":
        return None
    found = _profile(case)
    lacking = sorted(found.needs - case.facts.confined)
    if lacking:
        words = " or ".join(_LACKING[one] for one in lacking)
        if mode == "preferred":
            case.trace.append(Unconfined(f"nothing on this machine can {words}"))
            return None
        remedy = Remedy("`remit status` says what is missing here and how to get it")
        reason = f"{case.call.agent} runs commands only confined, and nothing on this machine can {words}"
        return case.deny("confine-unavailable", reason, rule=case.cell.caller.at, remedy=remedy)
    network = found.network.mode != "open"
    case.held = Held(
        found,
        shell_argument(case.cell) or "",
        found.digest,
        lifts=mode == "required",
        read="read" in case.facts.confined,
        network=network,
        quiet=network and _is_quiet(found.network, case),
        data=network and "read" in case.facts.confined and not _tables(case),
        impossible=_MACHINE if _keeps_machine(found, case) else NO_EFFECTS,
    )
    return None


_MACHINE = frozenset({"system"})


def _keeps_machine(found: Profile, case: Case) -> bool:
    """Nothing of the machine can be changed: its files are read-only, its processes and sockets are not there, and no
    other machine can be reached."""
    return found.network.mode == "none" and found.home == "private" and "processes" in case.facts.confined


_LACKING = {
    "write": "limit what they write",
    "read": "limit what they read",
    "network": "keep them off the network",
    "hosts": "limit them to the places that the rules name",
}


def _mode(case: Case) -> Confine:
    """Whether the call's command is to run confined: the strictest of its caller and of those who bind it."""
    chain, callers = case.call.context.chain, case.cell.rulebook.book.callers
    modes: set[Confine] = {case.cell.confine}
    if chain and all(name in callers for name in chain):
        modes |= {cell.confine for cell in binders(case.cell, chain)}
    return next((mode for mode in _STRICT if mode in modes), "off")


_STRICT: tuple[Confine, ...] = ("required", "preferred")


def _profile(case: Case) -> Profile:
    """The profile of a case; kept where nothing but the cell makes it."""
    cell, context = case.cell, case.call.context
    same = not (context.chain or case.capsules or cell.grants or case.facts.grants or context.capsule_grants)
    if not same or any(bound.judge.when for bound in cell.rules):
        return profile(case)
    if cell.profile is None:
        cell.profile = profile(case)
    return cell.profile


def _is_quiet(network: Network, case: Case) -> bool:
    """No place that can be reached needs a question: by a label, or because of where the call runs."""
    if network.mode == "none":
        return True
    from remit.scopes.url import UrlPattern

    index = case.cell.index
    if case.call.context.environment and fold(case.call.context.environment) in index.environment_tiers:
        return False
    usual = index.grade_tiers[PROJECT]
    labels = [things for _, tier, effects, things in index.labels.named if tier > usual and "network" in effects]
    places = [_place(UrlPattern.parse(text)) for text in network.urls]
    return not any(place.host == "**" or any(things.reaches(place) for things in labels) for place in places)


def _tables(case: Case) -> bool:
    """Some data that a caller may not touch lies in tables, and a database may be a file."""
    cells = [case.cell, *(binders(case.cell, case.call.context.chain) if case.call.context.chain else ())]
    barred = [tiers for cell in cells if (tiers := allowed_data_tiers(cell.caller, case)) is not None]
    labels = case.cell.rulebook.book.labels
    return any(label.table and label.tier is not None and label.tier not in one for one in barred for label in labels)


class _Regions:
    """Regions that all must admit a path; one that admits everything is left out."""

    def __init__(self) -> None:
        self._found: dict[Region, None] = {}

    def add(self, may: Iterable[str], avoid: Iterable[str] = ()) -> None:
        globs, out = _sorted(may), _sorted(avoid)
        globs = EVERYTHING if "**" in globs else globs
        if globs != EVERYTHING or out:
            self._found[Region(globs, out)] = None

    def found(self) -> tuple[Region, ...]:
        return tuple(sorted(self._found, key=lambda region: (region.may, region.except_)))


class _Permits:
    """Rules that can permit, as alternatives that all must hold: those without conditions on other arguments together,
    or, if there are none, each with such conditions by itself, since nobody knows which one a call meets."""

    def __init__(self, bounds: list[Bound], case: Case, *, everything: bool = False) -> None:
        context = case.call.context
        mine = [bound for bound in bounds if context_holds(bound.judge.when, context) and _speaks_of_shell(bound.judge)]
        free = [bound for bound in mine if not bound.judge.where]
        self.alternatives: list[list[Bound]] = [free] if free or not mine else [[bound] for bound in mine]
        if everything:
            self.alternatives = []


def _speaks_of_shell(judge: Judge) -> bool:
    """It can cover a command: it names commands, or limits no argument at all."""
    return "shell" in judge.parts or not (judge.parts or judge.mentioned)


def _writes(bound: Bound) -> Iterator[str]:
    """Where commands of this rule may write."""
    judge = bound.judge
    if judge.effects is not None and "write" not in judge.effects:
        return
    matcher: Any = judge.parts.get("shell")
    if matcher is None:
        yield "**"
        return
    from remit.scopes.shell.samples import run_effects  # here, as below: few callers have shells

    paths = matcher.path_texts.get("write", ())
    if matcher.paths is not None:
        yield from paths
    else:
        effects, project = run_effects(matcher, on_databases=False)
        if project or "write" in effects:
            yield "**"
    if matcher.paths is None or paths:
        yield from matcher.redirects
    for run in matcher.entries():
        if run.databases is not None and (matcher.paths is None or paths):
            yield from (f"{text}{end}" for text in run.database_texts for end in _JOURNALS)


def _reads(bound: Bound) -> Iterator[str]:
    """What commands of this rule may read."""
    judge = bound.judge
    if judge.effects is not None and "read" not in judge.effects:
        return
    matcher: Any = judge.parts.get("shell")
    if matcher is None or matcher.paths is None:
        yield "**"
    else:
        yield from matcher.path_texts.get("read", ())


def _hidden_data(cell: Cell, case: Case) -> Iterator[str]:
    """The paths of data that the caller may not touch."""
    allowed = allowed_data_tiers(cell.caller, case)
    for label in cell.rulebook.book.labels:
        if allowed is not None and label.tier is not None and label.tier not in allowed:
            yield from (text for text in label.path if text[0] != "!")


def _prohibit(bounds: Iterable[Bound], case: Case, writes: _Regions, hidden: list[str]) -> None:
    """What `may_not` takes away: of one with a path, that path; of one without parts, everything.

    An exception for paths excepts no command, and is left out."""
    for bound in bounds:
        judge = bound.judge
        if not context_holds(judge.when, case.call.context):
            continue
        effects = judge.effects if judge.effects is not None else ALL_EFFECTS
        if set(judge.parts) == {"path"}:
            path: Any = judge.parts["path"]
            if not effects.isdisjoint(("write", "delete")):
                writes.add(EVERYTHING, path.scope.allow)
            if "read" in effects:
                hidden.extend(path.scope.allow)
        elif not judge.parts and not effects.isdisjoint(("write", "delete")):
            writes.add(())


def _commits(cell: Cell, case: Case) -> bool:
    """Whether the rules let it run `git commit`: then git may write `.git`, though no rule names it."""
    declared = next((arg for arg, _ in cell.intake.declared if arg.kind == "shell"), None)
    if declared is None:
        return False
    context = case.call.context
    call = Call(cell.caller.name, cell.tool.name, {declared.name: _COMMIT}, context)
    # A host says where it stands by an absolute path: without the root, that would lie outside of it.
    units = list(kind_of("shell").units(declared, _COMMIT, {}, call, Facts(root=case.facts.root)))
    told = Case(cell, call, case.facts, {}, units)
    told.capsules = case.capsules
    if prohibited(cell, told) is not None or limits(cell, told) is not None:
        return False
    name = cell.tool.name
    lists = _Permits(permissions(cell, case), case, everything=bool(cell.access)).alternatives
    for capsule in case.capsules:
        if any(b.judge.touches(context, {}, units) is not None for b in bind(capsule.may_not, name, "may_not")):
            return False
        if capsule.may is not None:
            lists = [*lists, *_Permits(bind(capsule.may, name, "may"), case).alternatives]
    mine = [unit for unit in units if not unit.derived]
    return all(any(bound.judge.covers(unit) for bound in bounds) for bounds in lists for unit in mine)


def shell_argument(cell: Cell) -> str | None:
    """The argument with a text for a shell; None: nothing of this tool is confined."""
    return next((name for name, argument in cell.tool.args.items() if argument.kind == "shell"), None)


def _network(cells: Sequence[Cell], case: Case) -> Network:
    """Nothing, everything, or the places that every caller's URL rules name: see `_named_urls`."""
    modes = {(cell.caller.sandbox or Sandbox()).network or "policy" for cell in cells}
    if "none" in modes or _no_network(cells, case):
        return Network()
    if modes == {"open"}:
        return Network("open")
    from remit.scopes.url import UrlPattern, UrlSet

    sets: list[UrlSet] = []
    for cell in cells:
        if (cell.caller.sandbox or Sandbox()).network != "open":
            sets.append(UrlSet(UrlPattern.parse(text) for text in _named_urls(cell, permissions(cell, case), case)))
        if cell.caller.apis is not None:
            sets.append(UrlSet(UrlPattern.parse(text) for text in cell.caller.apis))
    for capsule in case.capsules:
        bounds = bind(capsule.may or (), case.cell.tool.name, "may")
        if capsule.may is not None and not any(_any_url(bound.judge) for bound in bounds):
            texts = (text for bound in bounds for text in _urls_of(bound.judge))
            sets.append(UrlSet(UrlPattern.parse(text) for text in texts))
    found = {pattern.text: pattern for one in sets for pattern in one}
    kept = [text for text, one in found.items() if all(s.includes(one) for s in sets) and not _barred(one, cells, case)]
    return Network("hosts", tuple(sorted(kept))) if kept else Network()


def _no_network(cells: Sequence[Cell], case: Case) -> bool:
    """A prohibition without parts takes the network away."""
    name = case.cell.tool.name
    nots = [
        *(bound for cell in cells for bound in cell.nots),
        *(b for capsule in case.capsules for b in bind(capsule.may_not, name, "may_not")),
    ]
    judges = [bound.judge for bound in nots if context_holds(bound.judge.when, case.call.context)]
    return any(not judge.parts and (judge.effects is None or "network" in judge.effects) for judge in judges)


def _named_urls(cell: Cell, bounds: list[Bound], case: Case) -> set[str]:
    """The URL patterns that the caller's rules for the tool name; where these let it reach anything, its `apis`,
    or else what the rules for its other tools name."""
    mine = [bound for bound in bounds if context_holds(bound.judge.when, case.call.context)]
    if not cell.access and not any(_any_url(bound.judge) for bound in mine):
        return {text for bound in mine for text in _urls_of(bound.judge)}
    if cell.caller.apis is not None:
        return set(cell.caller.apis)
    rules = [rule for rule in cell.caller.rules if rule.verb in ("may", "must_ask")]
    judges = [Bound(rule).judge for rule in rules]
    judges += [bound.judge for bound in mine]
    return {text for judge in judges if context_holds(judge.when, case.call.context) for text in _urls_of(judge)}


def _any_url(judge: Judge) -> bool:
    """It lets commands reach any place."""
    if judge.effects is not None and "network" not in judge.effects:
        return False
    matcher: Any = judge.parts.get("shell")
    if matcher is None:
        return _speaks_of_shell(judge)
    if matcher.all:
        return True
    from remit.scopes.shell.samples import effects_of

    for run in matcher.entries():
        effects, project = effects_of(run)
        if run.urls is None and run.hosts is None and (project or "network" in effects):
            return True
    return False


def _urls_of(judge: Judge) -> Iterator[str]:
    url: Any = judge.parts.get("url")
    if url is not None:
        yield from judge.scope.parts["url"]
    matcher: Any = judge.parts.get("shell")
    if matcher is not None:
        yield from (text for run in matcher.entries() for text in run.url_texts)


def _barred(pattern: UrlPattern, cells: Sequence[Cell], case: Case) -> bool:
    """A prohibition, a reserved operation or a label of data that it may not touch meets one of these places, as far as
    the proxy can tell them apart: of an encrypted connection it sees no path."""
    place = _place(pattern)
    name = case.cell.tool.name
    nots = [bound for cell in cells for bound in cell.nots]
    nots += [bound for capsule in case.capsules for bound in bind(capsule.may_not, name, "may_not")]
    for bound in nots:
        url: Any = bound.judge.parts.get("url")
        if url is not None and url.patterns.intersects(place):
            return True
    for cell in cells:
        if any(urls.intersects(place) for _, urls in cell.reserved_urls):
            return True
        allowed = allowed_data_tiers(cell.caller, case)
        if allowed is not None and any(
            tier not in allowed and things.reaches(place) for tier, things in cell.index.labels.data
        ):
            return True
    return False


def _place(pattern: UrlPattern) -> UrlPattern:
    """All that is at the hosts of a pattern."""
    host = f"[{pattern.host}]" if ":" in pattern.host else pattern.host
    port = "*" if pattern.port is None else pattern.port
    return type(pattern).parse(f"{pattern.scheme}://{host}:{port}/**?*")
