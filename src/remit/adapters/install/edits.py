"""What an installation would change: the settings, the definitions, the pins; worked out before anything is written."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from remit.adapters.hooks.definitions import might_define, names_in
from remit.adapters.hooks.installed import (
    Copy,
    Installed,
    InstallError,
    client_is_current,
    installed_path,
    read_installed,
    write_installed,
)
from remit.adapters.hooks.roots import (
    Root,
    change_roots,
    guard_command,
    own_root,
    roots_are_current,
    server_command,
    shared_command,
    with_root,
)
from remit.adapters.hosts.interface import OUTSIDE, Where
from remit.adapters.install import compare
from remit.adapters.install.changes import (
    Change,
    check_unchanged,
    make_changes,
    make_directories,
    missing_directories,
    relative,
)
from remit.adapters.install.files import EditError, read_file, sha256
from remit.adapters.install.main_agent import Ask, Main, find_main, policy_original
from remit.adapters.install.originals import (
    Kind,
    Original,
    Originals,
    is_untouched,
    read_originals,
    text_of,
    without_ours,
    write_originals,
)
from remit.adapters.install.own_server import Registration, registration, shared_servers
from remit.adapters.install.place import Place
from remit.adapters.install.survey import Definition, Survey, survey
from remit.compile import load_rulebook
from remit.enforce.in_force import look_up_in_force
from remit.model.errors import RemitError
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.store.place import hosts_directory


class Edits(msgspec.Struct, frozen=True):
    """Everything that one `remit install` would do."""

    place: Place
    rulebook: Rulebook
    main: Main
    changes: tuple[Change, ...]
    """In the order in which they are made: definitions, the project's settings, the policy."""
    outside: tuple[Change, ...]
    """Settings that belong to all projects: they are made last, and undone with the last project."""
    originals: Originals
    """What is kept from before the first write."""
    originals_outside: Originals
    root: Root
    record: Installed
    renewed: bool
    """True if the record of the installation changes."""
    pins: tuple[str, ...]
    """What differs from the pinned definitions, for people."""
    survey: Survey
    warnings: tuple[str, ...]
    server: Registration | None = None
    """Remit's own MCP server, registered or taken out."""
    stale: str | None = None
    """What to say if the policy is not the one that was activated."""

    @property
    def needed(self) -> list[Change]:
        """The files that change."""
        return [change for change in (*self.changes, *self.outside) if change.needed]

    @property
    def nothing(self) -> bool:
        """True if there is nothing to do."""
        return not self.needed and not self.renewed and (self.server is None or not self.server.change.needed)

    @property
    def served(self) -> Path | None:
        """The host's list of servers that has Remit's own in it."""
        if self.server is not None:
            return self.server.change.path if self.server.kept is not None else None
        return shared_servers(self.place, self.rulebook)

    @property
    def unknown_agents(self) -> list[str]:
        """The host's agents that the policy doesn't know."""
        return compare.unknown_agents(self.place.setup, self.rulebook, self.survey.agents)

    @property
    def unknown_tools(self) -> list[str]:
        """The host's tools that the policy doesn't know."""
        return compare.unknown_tools(self.place.setup, self.rulebook, self.survey.servers)

    @property
    def undefined_agents(self) -> list[str]:
        """The policy's agents that the host has no definition of."""
        return compare.undefined_agents(self.place.setup, self.rulebook, self.survey.agents, self.main.name)

    def write(self) -> None:
        """Originals first; then definitions; the record, which pins them; the list of projects; then the settings,
        which start to ask: those outside before hooks in the project go.

        Raises EditError and InstallError; what was written until then can be repeated or uninstalled.
        """
        state, together = self.place.state, hosts_directory()
        check_unchanged((*self.changes, *self.outside), self.place.root)
        write_originals(state, self.originals)
        write_originals(together, self.originals_outside)
        make_directories((*self.originals.directories, *self.originals_outside.directories))
        make_changes([change for change in self.changes if change.kind == "definition"])
        write_installed(state, self.record)
        change_roots(self.place.host, lambda roots: with_root(roots, self.root))
        make_changes(self.outside)
        make_changes([change for change in self.changes if change.kind != "definition"])
        write_originals(state, _final(self.originals, self.changes))
        if self.server is not None:
            self.server.write()
        write_originals(together, _final(self.originals_outside, self.outside))


class Wanted(msgspec.Struct, frozen=True):
    """Where people want hooks and rules, besides where an earlier installation put them."""

    local: bool = False
    """The host's own rules go into settings that are not shared."""
    shared: bool = False
    """Hooks also into the project's settings, by a name that works on every machine."""
    managed: bool = False
    """Hooks also into the settings of whoever owns the machine."""
    daemon: bool | None = None
    """A hook that finds no daemon starts one; None: as it was, at first yes."""


def prepare(host: str, policy: Path, *, main: str | None, wanted: Wanted, now: str, ask: Ask | None) -> Edits:
    """What installing would do; `ask` where a person can be asked who the main agent is.

    Raises RemitError for whatever can't be found, read or edited; nothing is written.
    """
    if not os.path.lexists(policy):
        raise EditError(f"{shown(policy, 300)}: no such file", code="no-policy")
    place = Place(host, policy)
    rulebook = look_up_in_force(place.root).usable()
    who = find_main(place, rulebook, main, ask)
    return _edits(place, rulebook, who, wanted, now=now)


def _stale(place: Place, rulebook: Rulebook) -> str | None:
    name = shown(place.policy.name)
    try:
        same = load_rulebook(place.policy).hash == rulebook.hash
    except RemitError:
        return f"{name} does not load; what was activated counts: see `remit check`"
    return None if same else f"{name} has changed since it was activated; run `remit activate`, then this again"


def _copies(place: Place, wanted: Wanted, before: Installed | None) -> list[Copy]:
    """Where our hooks are to stand. Raises RemitError if the host has no such settings."""
    places = place.setup.places
    wheres: list[Where] = [places[0], *([one.where for one in before.copies] if before is not None else ())]
    wheres += ["project"] if wanted.shared else []
    wheres += ["managed"] if wanted.managed else []
    found = []
    for where in dict.fromkeys(wheres):
        if where not in places:
            raise EditError(f"{place.name} has no {where} settings", code="no-such-settings")
        command = guard_command(place.name) if where in OUTSIDE else shared_command(place.name)
        found.append(Copy(where, str(place.settings(where)), command))
    return found


def _outside(place: Place, rulebook: Rulebook, copies: list[Copy], files: dict[str, Original]) -> list[Change]:
    """What changes in settings that belong to all projects: our hooks, and our server where it serves all of them."""
    commands: dict[Path, str | None] = {Path(one.path): one.command for one in copies if one.where in OUTSIDE}
    servers = shared_servers(place, rulebook)
    if servers is not None:
        commands.setdefault(servers, None)
    found = []
    for path, command in commands.items():
        found.append(_hooks_in(place, path, command, [], files.get(str(path)), served=path == servers))
    wanted = {change.path for change in found}
    for name, original in files.items():  # of another project, or of settings that the user has elsewhere now
        other = Path(name)
        if other not in wanted:
            data = read_file(other, place.base(other))
            found.append(Change("settings", other, data, data, original))
    return found


def _edits(place: Place, rulebook: Rulebook, main: Main, asked: Wanted, *, now: str) -> Edits:
    seen = survey(place)
    before = _earlier(place)
    copies = _copies(place, asked, before)
    together = read_originals(hosts_directory(), place.name)
    outside = _outside(place, rulebook, copies, together.files if together is not None else {})
    warnings = list(seen.warnings)
    kept = read_originals(place.state, place.name)
    files = kept.files if kept is not None else {}
    edited = _definitions(place, rulebook, seen, files, now, warnings)
    settings = _settings(place, rulebook, files, asked.local, copies, now, warnings)
    changes = [*edited, *settings]
    if main.wanted is not None:
        digest = sha256(main.wanted)
        changes.append(Change("policy", place.policy, main.now, main.wanted, policy_original(main, digest)))
    wanted = {str(change.path) for change in changes}
    for path, original in files.items():
        if path in wanted:
            continue
        data = read_file(Path(path), place.root)
        if original.kind == "policy":
            changes.append(Change("policy", Path(path), data, data, original))
        else:
            wanted_now = without_ours(place.setup, path, data, original, original.kind)
            changes.append(Change(original.kind, Path(path), data, wanted_now))
    handled = {change.path for change in (*changes, *outside)}
    warnings.extend(
        f"{relative(path, place.root)}: holds hooks of another installation, which stop every call if they can't run"
        for path in seen.hooked
        if path not in handled
    )
    daemon = asked.daemon if asked.daemon is not None else before is None or before.daemon
    record = _record(place, rulebook, seen, changes, asked.local, copies, daemon, now)
    own = own_root(place.root, place.state)
    renewed = before is None or msgspec.structs.replace(record, at=before.at) != before
    renewed = renewed or not client_is_current(place.state, place.host) or not roots_are_current(place.host, own)
    if before is not None:
        record = msgspec.structs.replace(record, at=before.at)
    made = dict.fromkeys([*(kept.directories if kept is not None else ()), *missing_directories(changes)])
    originals = Originals(1, place.name, _kept(changes, files), tuple(made))
    pins = tuple(_pin_lines(place, seen, before)) if before is not None else ()
    stale = _stale(place, rulebook) if not main.lines else None
    made = dict.fromkeys([*(together.directories if together is not None else ()), *missing_directories(outside)])
    kept_outside = Originals(1, place.name, _kept(outside, together.files if together is not None else {}), tuple(made))
    return Edits(
        place,
        rulebook,
        main,
        tuple(changes),
        tuple(outside),
        originals,
        kept_outside,
        own,
        record,
        renewed,
        pins,
        seen,
        tuple(warnings),
        registration(place, rulebook),
        stale,
    )


def _final(originals: Originals, changes: tuple[Change, ...]) -> Originals:
    """What is kept once everything is written: no trace of what was restored, and one SHA-256 a file."""
    files = {}
    for change in changes:
        if change.original is not None:
            files[str(change.path)] = msgspec.structs.replace(change.original, written=change.original.written[-1:])
    return msgspec.structs.replace(originals, files=files)


def _kept(changes: list[Change], files: dict[str, Original]) -> dict[str, Original]:
    """What has to be kept while the changes are made: also of the files that are restored."""
    found = {}
    for change in changes:
        path = str(change.path)
        if change.original is None:
            found.update({path: files[path]} if path in files else {})
            continue
        earlier = files[path].ours if path in files and change.original.kind == "settings" else ()
        ours = dict.fromkeys([*earlier, *change.original.ours])  # until it is written, rules no longer wanted are ours
        found[path] = msgspec.structs.replace(change.original, ours=tuple(ours))
    return found


def _original(
    place: Place,
    kind: Kind,
    path: Path,
    now: bytes | None,
    wanted: bytes,
    ours: tuple[str, ...],
    earlier: Original | None,
) -> Original:
    """What is kept of a file that becomes `wanted`."""
    if earlier is not None and now is not None and is_untouched(now, earlier):
        before = earlier.before
    else:
        before = without_ours(place.setup, str(path), now, earlier, kind)
    new = sha256(wanted)
    written = [digest for digest in (earlier.written if earlier is not None else ()) if digest != new]
    return Original(kind, before, (*written, new), ours)


def _settings(
    place: Place,
    rulebook: Rulebook,
    files: dict[str, Original],
    local: bool,
    copies: list[Copy],
    now: str,
    warnings: list[str],
) -> list[Change]:
    """The project's settings: the host's own rules, and hooks where they are to stand in the project."""
    rules = compare.deny_rules(place.setup, rulebook, now)
    warnings.extend(compare.left_out(rulebook, now))
    of_rules = _rules_path(place, local)
    commands = {Path(one.path): one.command for one in copies if one.where not in OUTSIDE}
    found = []
    for path in dict.fromkeys([*([of_rules] if of_rules is not None else ()), *commands]):
        data = read_file(path, place.root)
        wanted = rules if path == of_rules else []
        if data is not None or wanted or path in commands:
            found.append(_hooks_in(place, path, commands.get(path), wanted, files.get(str(path)), data))
    return found


def _rules_path(place: Place, local: bool) -> Path | None:
    """The project's settings for the host's own rules; None for a host that has none there. Raises RemitError."""
    if not local and "project" not in place.setup.places:
        return None
    return place.settings("local" if local else "project")


def _hooks_in(
    place: Place,
    path: Path,
    command: str | None,
    rules: list[str],
    earlier: Original | None,
    data: bytes | None = None,
    *,
    served: bool = False,
) -> Change:
    """Settings with our hooks, if there is a command, with these rules, and with our MCP server if it is `served`."""
    data = data if data is not None else read_file(path, place.base(path))
    text = text_of(str(path), data) if data is not None else None
    try:
        new, ours = text, earlier.ours if earlier is not None else ()
        if command is not None or not served:
            new, ours = place.setup.put_hooks(text, command, rules, ours)
        if served:
            new, _ = place.setup.put_server(new, place.root, server_command(place.name))
    except RemitError as error:
        raise EditError(f"{shown(path, 300)}: {error}", code=error.code, help=error.help) from None
    wanted = (new or "").encode()
    return Change("settings", path, data, wanted, _original(place, "settings", path, data, wanted, ours, earlier))


def _definitions(
    place: Place, rulebook: Rulebook, seen: Survey, files: dict[str, Original], now: str, warnings: list[str]
) -> list[Change]:
    """The definitions in the project whose `tools` become what the policy allows."""
    found = []
    for one in seen.definitions:
        caller = rulebook.book.callers.get(one.name or "")
        if caller is None or caller.kind == "runner":
            _say_unclear(place, rulebook, one, warnings)
            continue
        name = relative(one.path, place.root)
        if compare.observed(caller, now):
            warnings.append(f"{name}: left as it is, since {caller.name} is only observed")
        elif Path(seen.folders[0]) not in one.path.parents:
            warnings.append(f"{name}: left as it is, since it belongs to all projects of the user")
        elif os.path.realpath(one.path) != str(one.path):
            warnings.append(f"{name}: left as it is, since it is a symlink, or below one")
        else:
            change = _definition(place, rulebook, one, files.get(str(one.path)), now, warnings)
            found.extend([change] if change is not None else [])
    return found


def _definition(
    place: Place, rulebook: Rulebook, one: Definition, earlier: Original | None, now: str, warnings: list[str]
) -> Change | None:
    """One of them; None if it has the right tools and always had, or can't be edited with certainty."""
    tools = compare.usable_tools(place.setup, rulebook, one.name or "", now)
    data = read_file(one.path, place.root) or b""
    try:
        text = data.decode("utf-8")
        new = place.setup.set_tools(text, tools)
    except (RemitError, UnicodeDecodeError) as error:
        error = RemitError("it is not UTF-8") if isinstance(error, UnicodeDecodeError) else error
        warnings.append(f"{relative(one.path, place.root)}: left as it is: {error}; the hook binds it anyway")
        return None
    if new == text and earlier is None:
        return None
    wanted = new.encode()
    return Change(
        "definition",
        one.path,
        data,
        wanted,
        _original(place, "definition", one.path, data, wanted, tuple(tools), earlier),
    )


def _say_unclear(place: Place, rulebook: Rulebook, one: Definition, warnings: list[str]) -> None:
    """A file that might define an agent of the policy, without saying so clearly."""
    might = sorted(name for name in compare.agents_of(rulebook) if might_define(one.names, name))
    if might and one.name is None:
        why = "it has no head with a name that is certain"
        warnings.append(f"{relative(one.path, place.root)}: left as it is: {why}; pinned for {', '.join(might)}")


def _record(
    place: Place,
    rulebook: Rulebook,
    seen: Survey,
    changes: list[Change],
    local: bool,
    copies: list[Copy],
    daemon: bool,
    now: str,
) -> Installed:
    wanted = {str(change.path): change.wanted for change in changes if change.wanted is not None}
    pins: dict[str, dict[str, str]] = {agent: {} for agent in compare.agents_of(rulebook)}
    for one in seen.definitions:
        path, data = str(one.path), wanted.get(str(one.path))
        names = one.names
        if data is not None:  # our own edit can make a name certain
            names = frozenset(names_in(one.path, data, place.host.definition_endings))
        digest = one.digest if data is None else sha256(data)
        for agent in pins:
            if might_define(names, agent):
                pins[agent][path] = digest
    return Installed(
        version=1,
        host=place.name,
        root=str(place.root),
        policy=str(place.policy),
        settings=str(_rules_path(place, local) or copies[0].path),
        at=now,
        definitions=seen.folders,
        # One without a file is not vouched for, unless the host has it built in: a session could bring its own along.
        agents={name: files for name, files in pins.items() if files or name in place.setup.catalog.agents},
        store=os.environ.get("REMIT_STORE") or None,
        copies=tuple(copies),
        daemon=daemon,
        present=tuple(sorted(seen.agents)),
    )


def _earlier(place: Place) -> Installed | None:
    """The record that is there; None if there is none, or none that can be read: then a new one is written."""
    if not os.path.lexists(installed_path(place.state, place.name)):
        return None
    try:
        return read_installed(place.state, place.name)
    except InstallError:
        return None


def _pin_lines(place: Place, seen: Survey, before: Installed) -> list[str]:
    """What differs from the pins on disk, before our own edits."""
    now = {str(one.path): one.digest for one in seen.definitions}
    found: dict[str, list[str]] = {}
    for agent, pins in before.agents.items():
        there = {str(one.path) for one in seen.definitions if might_define(one.names, agent)}
        for path in sorted({*pins, *there}):
            name = relative(Path(path), place.root)
            if path not in there:
                found.setdefault(f"definition gone since it was pinned: {name}", []).append(agent)
            elif path not in pins:
                found.setdefault(f"definition that is not pinned yet: {name}", []).append(agent)
            elif pins[path] != now[path]:
                found.setdefault(f"definition changed since it was pinned: {name}", []).append(agent)
    return [f"{what} ({', '.join(who)})" for what, who in found.items()]
