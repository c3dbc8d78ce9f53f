"""One host of the project: what was installed, what is there now, and whom the host has that nobody vouches for."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

from remit.adapters.hooks.definitions import might_define, read_definitions
from remit.adapters.hooks.installed import Installed, InstallError, client_is_current, hook_command, read_installed
from remit.adapters.hosts import registry
from remit.exchange.claude import frontmatter
from remit.exchange.claude.agents import built_in_agents
from remit.exchange.claude.frontmatter import HeadError
from remit.exchange.claude.host import HOST, host_data
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.service.status.hooked import Settings, all_settings, hook_faults, switch_faults
from remit.service.status.model import Definition, DefinitionWord, Finding, HostState

HOSTS = (HOST,)
_UNHOOKED = frozenset(
    (
        "installed-elsewhere",
        "settings-elsewhere",
        "settings-gone",
        "settings-invalid",
        "hook-missing",
        "hook-other-command",
        "hook-incomplete",
        "hooks-disabled",
        "hook-injected",
        "interpreter-gone",
        "client-gone",
    )
)
"""Faults after which nobody can say that the hook binds."""


def user_directory() -> Path | None:
    """The host's configuration of the user: CLAUDE_CONFIG_DIR, as the host obeys it, or below the home directory."""
    given = os.environ.get("CLAUDE_CONFIG_DIR", "")
    if os.path.isabs(given):
        return Path(os.path.normpath(given))
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".claude"
    except KeyError:
        return None


def settings_files(root: Path) -> list[Settings]:
    """Every settings file that the host would read for the project."""
    user = user_directory()
    return all_settings(root, user if user is not None else root / ".claude")


def host_state(host: str, root: Path, policy: Path, state: Path, rulebook: Rulebook | None) -> HostState:
    """How one host stands."""
    passes = tuple(host_data()["passes"])
    main = rulebook.book.hosts.get(host, {}).get("main") if rulebook is not None else None
    try:
        installed = read_installed(state, host)
    except InstallError as error:
        there = error.help is not None or os.path.lexists(state / "hooks" / f"{host}.json")
        if not there:
            return HostState(host, False, main=main)
        return HostState(host, False, main=main, findings=(_fault("install-unreadable", str(error), error.help),))
    findings = list(_record_faults(installed, root, policy, state, main, rulebook))
    files = settings_files(root)
    settings = Path(installed.settings)
    here = next((one for one in files if one.path == settings), None)
    if here is None:
        here = Settings(settings, "elsewhere")
        findings.append(_fault("settings-elsewhere", f"the host does not read {shown(settings, 300)} for this project"))
    findings += hook_faults(here, hook_command(state, host))
    findings += switch_faults(files, settings)
    definitions, problems = _definitions(installed, rulebook)
    findings += problems
    hooked = not any(one.level == "fault" and one.code in _UNHOOKED for one in findings)
    return HostState(host, True, installed.at, installed.settings, main, hooked, tuple(findings), definitions, passes)


def _record_faults(
    installed: Installed, root: Path, policy: Path, state: Path, main: str | None, rulebook: Rulebook | None
) -> Iterator[Finding]:
    again = f"run `remit install {installed.host}` again"
    if installed.root != str(root):
        yield _fault("installed-elsewhere", f"it was installed for {shown(installed.root, 300)}, not for {root}", again)
    elif installed.policy != str(policy):
        yield Finding("note", "other-policy", f"it was installed with the policy {shown(installed.policy, 300)}")
    if not client_is_current(state, registry.find(installed.host)):
        text = "the file by which the hook knows how to refuse, and who attends, is not as it must be: it only denies"
        yield _fault("client-file", text, again)
    if rulebook is not None and main is None:
        text = f"the policy does not say who the main agent of {installed.host} is: all that it does is denied"
        yield _fault("no-main", text, f"add `hosts: {{{installed.host}: {{main: NAME}}}}` and run `remit activate`")


def _definitions(installed: Installed, rulebook: Rulebook | None) -> tuple[tuple[Definition, ...], list[Finding]]:
    """The host's agents, as they are now beside as they were pinned."""
    help_ = f"look at it, then run `remit install {installed.host}`"
    try:
        there = read_definitions(installed.definitions, registry.find(installed.host).definition_endings)
    except OSError as error:
        text = f"the definitions of agents can't be read, so every subagent is denied: {shown(error, 200)}"
        return (), [_fault("definitions-unreadable", text)]
    known = rulebook.book.callers.keys() if rulebook is not None else None
    found: dict[str, Definition] = {}
    findings = []
    for name, pinned in sorted(installed.agents.items()):
        now = {path: digest for path, (names, digest) in there.items() if might_define(names, name)}
        files = tuple(sorted({*pinned, *now}))
        found[name] = Definition(name, _word(name, pinned, now), files, known is None or name in known)
        if now != pinned:
            what = _difference(pinned, now)
            text = (
                f"the definition of {shown(name)} is not the one that was pinned ({what}): all that it does is denied"
            )
            findings.append(_fault("definition-changed", text, help_))
    for path in sorted(there):
        new = _name(Path(path))
        if new is not None and new not in found:
            found[new] = Definition(new, "new", (path,), known is None or new in known)
    for name in built_in_agents():
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


def _word(name: str, pinned: dict[str, str], now: dict[str, str]) -> DefinitionWord:
    if now != pinned:
        return "changed"
    if pinned:
        return "pinned"
    return "built in" if name in built_in_agents() else "without definition"


def _difference(pinned: dict[str, str], now: dict[str, str]) -> str:
    words = [f"{shown(path, 200)} is gone" for path in sorted(pinned.keys() - now.keys())]
    words += [f"{shown(path, 200)} is new" for path in sorted(now.keys() - pinned.keys())]
    words += [f"{shown(path, 200)} changed" for path in sorted(pinned) if path in now and now[path] != pinned[path]]
    return "; ".join(words[:5])


def _name(path: Path) -> str | None:
    """The name that the head of a definition gives, if that is certain; otherwise that of the file."""
    try:
        head = frontmatter.head_of(frontmatter.decode(path.read_bytes()))
        found = frontmatter.name_of(head) if head is not None else None
    except (HeadError, OSError):
        return path.stem
    return found


def _fault(code: str, text: str, help: str | None = None) -> Finding:
    return Finding("fault", code, text, help)
