"""One host of the project: what was installed, what is there now, and whom the host has that nobody vouches for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from remit.adapters.hooks.command import program_faults
from remit.adapters.hooks.definitions import might_define, read_definitions
from remit.adapters.hooks.installed import (
    Installed,
    InstallError,
    client_is_current,
    installed_path,
    read_installed,
)
from remit.adapters.hooks.roots import own_root, read_roots, roots_are_current
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import OUTSIDE, Host, ReadsByItself
from remit.adapters.hosts.registry import UnknownHost
from remit.adapters.hosts.setup import UNHOOKED, Finding, Setup
from remit.adapters.install.own_server import is_registered
from remit.enforce.attempt import foreseen
from remit.enforce.own_names import OWN_IN_HOST
from remit.enforce.paths import facts_at
from remit.model.call import Call, Context
from remit.model.errors import RemitError
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW
from remit.model.text import shown
from remit.service.status.model import CopyState, Definition, DefinitionWord, HostState


def host_state(name: str, root: Path, policy: Path, state: Path, rulebook: Rulebook | None) -> HostState:
    """How one host stands."""
    main = rulebook.book.hosts.get(name, {}).get("main") if rulebook is not None else None
    try:
        installed = read_installed(state, name)
        host = registry.find(name)
        setup = host.setup()
    except (InstallError, UnknownHost) as error:
        there = error.help is not None or os.path.lexists(installed_path(state, name))
        if not there:
            return HostState(name, False, main=main)
        return HostState(name, False, main=main, findings=(_fault("install-unreadable", str(error), error.help),))
    again = f"run `remit install {name}` again"
    findings = list(_record_faults(host, installed, root, policy, state, main, rulebook))
    findings += _list_faults(host, root, state)
    findings += setup.switches(root, Path(installed.settings))
    copies, lost = [], []
    for copy in installed.copies:
        wrong = list(setup.hook_faults(root, Path(copy.path), copy.command))
        whole = not any(_unhooks(one) for one in wrong)
        copies.append(CopyState(copy.where, copy.path, whole))
        lost += wrong
    outside = [one for one in copies if one.where in OUTSIDE] or copies
    hooked = any(one.whole for one in outside) and not any(map(_unhooks, findings))
    if not installed.copies:
        lost.append(_fault("installed-before", "its hooks are in the project, where a command can remove them", again))
    findings += lost
    definitions, problems = _definitions(host, setup, installed, rulebook)
    findings += problems
    if rulebook is not None and main is not None:
        findings += _reads_by_itself(host, root, state, rulebook, main)
    server = None
    if rulebook is not None and OWN_IN_HOST & rulebook.book.tools.keys() and host.can_change_args:
        server = is_registered(setup, root, state, name)
    if server is False:
        text = "the server of Remit's own tools is not registered, so agents can't make requests or acknowledge them"
        findings.append(_fault("server-missing", text, again))
    open_ = {one.help for one in findings if one.code == "unset"}
    passes = [gap for gap in setup.catalog.passes if gap.key is None or any(gap.key in (text or "") for text in open_)]
    return HostState(
        name,
        True,
        installed.at,
        installed.settings,
        main,
        hooked,
        tuple(findings),
        definitions,
        tuple(passes),
        tuple(copies),
        server,
    )


def _reads_by_itself(host: Host, root: Path, state: Path, rulebook: Rulebook, main: str) -> Iterator[Finding]:
    """What files of the project make the host read to its model, and its main agent may not read."""
    if not isinstance(host, ReadsByItself):
        return
    facts = facts_at(root / rulebook.book.root, state)
    for file, target, (tool, args) in host.reads_now(root):
        call = Call(main, tool, args, Context(cwd=str(root)))
        found = foreseen(rulebook, call, facts)
        if found.verdict is not ALLOW:
            text = (
                f"{shown(file, 300)} makes the host read {shown(target, 300)} to its model, and {main} may not read it"
            )
            yield _fault("import-forbidden", f"{text}: {shown(found.reason, 200)}", "remove the import from the file")


def _unhooks(one: Finding) -> bool:
    return one.level == "fault" and one.code in UNHOOKED


def _list_faults(host: Host, root: Path, state: Path) -> Iterator[Finding]:
    """What is wrong with the list of projects, and with what it starts for this one."""
    again = f"run `remit install {host.name}` again"
    try:
        own = next((one for one in read_roots(host.name) if one.root == str(root)), None)
    except RemitError as error:
        yield _fault("roots-unreadable", f"the list of projects can't be used, so everything is denied: {error}", again)
        return
    if own is None:
        yield _fault("not-listed", "the project is not in the hook's list of projects", again)
        return
    yield from program_faults(own.python, own.client)
    if own.state != str(state):
        yield _fault("installed-elsewhere", f"the hook uses the state directory {shown(own.state, 300)}", again)
    elif own == own_root(root, state) and not roots_are_current(host, own):
        yield _fault("roots-changed", "the list of projects is not as this Remit writes it", again)


def _record_faults(
    host: Host,
    installed: Installed,
    root: Path,
    policy: Path,
    state: Path,
    main: str | None,
    rulebook: Rulebook | None,
) -> Iterator[Finding]:
    again = f"run `remit install {installed.host}` again"
    if installed.root != str(root):
        yield _fault("installed-elsewhere", f"it was installed for {shown(installed.root, 300)}, not for {root}", again)
    elif installed.policy != str(policy):
        yield Finding("note", "other-policy", f"it was installed with the policy {shown(installed.policy, 300)}")
    if not client_is_current(state, host):
        text = "the file that tells the hook how to refuse, and who attends, is wrong: the hook only denies"
        yield _fault("client-file", text, again)
    if rulebook is not None and main is None:
        text = f"the policy does not say who the main agent of {installed.host} is: everything it does is denied"
        yield _fault("no-main", text, f"add `hosts: {{{installed.host}: {{main: NAME}}}}` and run `remit activate`")


def _definitions(
    host: Host, setup: Setup, installed: Installed, rulebook: Rulebook | None
) -> tuple[tuple[Definition, ...], list[Finding]]:
    """The host's agents, as they are now beside as they were pinned."""
    help_ = f"look at it, then run `remit install {installed.host}`"
    try:
        there = read_definitions(installed.definitions, host.definition_endings)
    except OSError as error:
        text = f"the definitions of agents can't be read, so every subagent is denied: {shown(error, 200)}"
        return (), [_fault("definitions-unreadable", text)]
    known = rulebook.book.callers.keys() if rulebook is not None else None
    found: dict[str, Definition] = {}
    findings = []
    for name, pinned in sorted(installed.agents.items()):
        now = {path: digest for path, (names, digest) in there.items() if might_define(names, name)}
        files = tuple(sorted({*pinned, *now}))
        found[name] = Definition(name, _word(setup, name, pinned, now), files, known is None or name in known)
        if now != pinned:
            what = _difference(pinned, now)
            text = (
                f"the definition of {shown(name)} is not the one that was pinned ({what}): everything it does is denied"
            )
            findings.append(_fault("definition-changed", text, help_))
    for path in sorted(there):
        new = _name(setup, Path(path))
        if new is not None and new not in found:
            told = known is None or new in known
            word: DefinitionWord = "unknown" if new in installed.present and not told else "new"
            found[new] = Definition(new, word, (path,), told)
    for name in setup.catalog.agents:
        wanted = known is not None and name in known
        found.setdefault(name, Definition(name, "new" if wanted else "built in", (), known is None or wanted))
    findings += _strangers(found, known is not None, help_)
    return tuple(found.values()), findings


def _strangers(found: dict[str, Definition], told: bool, help_: str) -> Iterator[Finding]:
    new = [one.name for one in found.values() if one.state == "new"]
    if new:
        names = ", ".join(map(shown, new))
        yield Finding("note", "unpinned-agents", f"defined since then, so denied: {names}", help_)
    unknown = [one.name for one in found.values() if told and not one.known]
    if unknown:
        text = f"agents of the host that the policy does not know, so denied: {', '.join(map(shown, unknown))}"
        yield Finding("note", "unknown-agents", text)


def _word(setup: Setup, name: str, pinned: dict[str, str], now: dict[str, str]) -> DefinitionWord:
    if now != pinned:
        return "changed"
    if pinned:
        return "pinned"
    return "built in" if name in setup.catalog.agents else "without definition"


def _difference(pinned: dict[str, str], now: dict[str, str]) -> str:
    words = [f"{shown(path, 200)} is gone" for path in sorted(pinned.keys() - now.keys())]
    words += [f"{shown(path, 200)} is new" for path in sorted(now.keys() - pinned.keys())]
    words += [f"{shown(path, 200)} changed" for path in sorted(pinned) if path in now and now[path] != pinned[path]]
    return "; ".join(words[:5])


def _name(setup: Setup, path: Path) -> str | None:
    """The name that the head of a definition gives, if that is certain; that of the file if it can't be read."""
    try:
        return setup.name_in(path.read_bytes().decode("utf-8"))
    except (RemitError, OSError, UnicodeDecodeError):
        return path.stem


def _fault(code: str, text: str, help: str | None = None) -> Finding:
    return Finding("fault", code, text, help)
