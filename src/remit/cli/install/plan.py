"""What an installation would change: the settings, the definitions, the pins; worked out before anything is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from remit.adapters.hooks.definitions import might_define, names_in
from remit.adapters.hooks.installed import (
    Installed,
    InstallError,
    client_is_current,
    hook_command,
    installed_path,
    read_installed,
)
from remit.adapters.hosts import registry
from remit.cli.common import InputError
from remit.cli.install.changes import Change, missing_directories, relative
from remit.cli.install.files import read_file, sha256
from remit.cli.install.main_agent import Main, policy_original
from remit.cli.install.originals import Original, Originals, is_untouched, read_originals, text_of, without_ours
from remit.cli.install.place import Place
from remit.cli.install.survey import Definition, Survey, survey
from remit.exchange.claude import agents, frontmatter, settings
from remit.exchange.claude.frontmatter import HeadError
from remit.exchange.json_text import JsonError
from remit.model.rulebook import Rulebook
from remit.model.text import shown


class Plan(msgspec.Struct, frozen=True):
    """Everything that one `remit install` would do."""

    changes: tuple[Change, ...]
    """In the order in which they are made: definitions, settings, the policy."""
    originals: Originals
    """What is kept from before the first write."""
    record: Installed
    renewed: bool
    """True if the record of the installation changes."""
    pins: tuple[str, ...]
    """What differs from the pinned definitions, for people."""
    survey: Survey
    warnings: tuple[str, ...]

    @property
    def needed(self) -> list[Change]:
        """The files that change."""
        return [change for change in self.changes if change.needed]

    @property
    def nothing(self) -> bool:
        """True if there is nothing to do."""
        return not self.needed and not self.renewed


def make_plan(place: Place, rulebook: Rulebook, main: Main, *, local: bool, now: str) -> Plan:
    """Raises InputError for whatever can't be read or edited."""
    seen = survey(place)
    warnings = list(seen.warnings)
    kept = read_originals(place.state, place.host)
    files = kept.files if kept is not None else {}
    edited = _definitions(place, rulebook, seen, files, now, warnings)
    changes = [*edited, _settings(place, rulebook, files, local, now, warnings)]
    if main.wanted is not None:
        digest = sha256(main.wanted)
        changes.append(Change(place.policy, main.now, main.wanted, policy_original(main, digest)))
    wanted = {str(change.path) for change in changes}
    for path, original in files.items():
        if path in wanted:
            continue
        data = read_file(Path(path), place.root)
        if original.kind == "policy":
            changes.append(Change(Path(path), data, data, original))
        else:
            changes.append(Change(Path(path), data, without_ours(path, data, original, original.kind)))
    handled = {change.path for change in changes}
    warnings.extend(
        f"{relative(path, place.root)}: holds hooks of another installation, which stop every call if they can't run"
        for path in seen.hooked
        if path not in handled
    )
    record, before = _record(place, rulebook, seen, changes, local, now), _earlier(place)
    renewed = before is None or msgspec.structs.replace(record, at=before.at) != before
    renewed = renewed or not client_is_current(place.state, registry.find(place.host))
    if before is not None:
        record = msgspec.structs.replace(record, at=before.at)
    made = dict.fromkeys([*(kept.directories if kept is not None else ()), *missing_directories(changes)])
    originals = Originals(1, place.host, _kept(changes, files), tuple(made))
    pins = tuple(_pin_lines(place, seen, before)) if before is not None else ()
    return Plan(tuple(changes), originals, record, renewed, pins, seen, tuple(warnings))


def final(originals: Originals, changes: tuple[Change, ...]) -> Originals:
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
    kind: Any, path: Path, now: bytes | None, wanted: bytes, ours: tuple[str, ...], earlier: Original | None
) -> Original:
    """What is kept of a file that becomes `wanted`."""
    if earlier is not None and now is not None and is_untouched(now, earlier):
        before = earlier.before
    else:
        before = without_ours(str(path), now, earlier, kind)
    new = sha256(wanted)
    written = [digest for digest in (earlier.written if earlier is not None else ()) if digest != new]
    return Original(kind, before, (*written, new), ours)


def _settings(
    place: Place, rulebook: Rulebook, files: dict[str, Original], local: bool, now: str, warnings: list[str]
) -> Change:
    path = place.settings(local)
    earlier = files.get(str(path))
    data = read_file(path, place.root)
    rules = agents.deny_rules(rulebook, now)
    warnings.extend(agents.left_out(rulebook, now))
    command = hook_command(place.state, place.host)
    try:
        text = text_of(str(path), data) if data is not None else settings.EMPTY
        new, ours = settings.install(text, command, rules, earlier.ours if earlier is not None else ())
    except JsonError as error:
        help = "nothing was changed; settings must be JSON without comments"
        raise InputError(f"{shown(path, 300)}: {error}", code="bad-json", help=help) from None
    wanted = new.encode()
    return Change(path, data, wanted, _original("settings", path, data, wanted, ours, earlier))


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
        if agents.observed(caller, now):
            warnings.append(f"{name}: left as it is, since {caller.name} is only observed")
        elif place.root / ".claude" / "agents" not in one.path.parents:
            warnings.append(f"{name}: left as it is, since it belongs to all projects of the user")
        elif os.path.realpath(one.path) != str(one.path):
            warnings.append(f"{name}: left as it is, since it is a symlink or lies behind one")
        else:
            change = _definition(place, rulebook, one, files.get(str(one.path)), now, warnings)
            found.extend([change] if change is not None else [])
    return found


def _definition(
    place: Place, rulebook: Rulebook, one: Definition, earlier: Original | None, now: str, warnings: list[str]
) -> Change | None:
    """One of them; None if it has the right tools and always had, or can't be edited with certainty."""
    tools = agents.usable_tools(rulebook, one.name or "", now)
    data = read_file(one.path, place.root) or b""
    try:
        text = frontmatter.decode(data)
        new = frontmatter.set_tools(text, tools)
    except HeadError as error:
        warnings.append(f"{relative(one.path, place.root)}: left as it is: {error}; the hook binds it all the same")
        return None
    if new == text and earlier is None:
        return None
    wanted = new.encode()
    return Change(one.path, data, wanted, _original("definition", one.path, data, wanted, tuple(tools), earlier))


def _say_unclear(place: Place, rulebook: Rulebook, one: Definition, warnings: list[str]) -> None:
    """A file that might define an agent of the policy, without saying so clearly."""
    might = sorted(name for name in agents.agents_of(rulebook) if might_define(one.names, name))
    if might and one.name is None:
        why = "it has no head with a name that is certain"
        warnings.append(f"{relative(one.path, place.root)}: left as it is: {why}; pinned for {', '.join(might)}")


def _record(place: Place, rulebook: Rulebook, seen: Survey, changes: list[Change], local: bool, now: str) -> Installed:
    wanted = {str(change.path): change.wanted for change in changes if change.wanted is not None}
    pins: dict[str, dict[str, str]] = {agent: {} for agent in agents.agents_of(rulebook)}
    for one in seen.definitions:
        path, data = str(one.path), wanted.get(str(one.path))
        names = (
            one.names if data is None else names_in(one.path, data, registry.find(place.host).definition_endings)
        )  # our own edit can make a name certain
        digest = one.digest if data is None else sha256(data)
        for agent in pins:
            if might_define(names, agent):
                pins[agent][path] = digest
    return Installed(
        version=1,
        host=place.host,
        root=str(place.root),
        policy=str(place.policy),
        settings=str(place.settings(local)),
        at=now,
        definitions=place.definitions,
        # One without a file is not vouched for, unless the host has it built in: a session could bring its own along.
        agents={name: files for name, files in pins.items() if files or name in agents.built_in_agents()},
        store=os.environ.get("REMIT_STORE") or None,
    )


def _earlier(place: Place) -> Installed | None:
    """The record that is there; None if there is none, or none that can be read: then a new one is written."""
    if not os.path.lexists(installed_path(place.state, place.host)):
        return None
    try:
        return read_installed(place.state, place.host)
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
