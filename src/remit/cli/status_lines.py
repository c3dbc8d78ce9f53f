"""The status for people, at a glance, and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from remit.adapters.hosts.setup import Finding
from remit.cli.output import paint
from remit.model.text import counted, shown
from remit.service.probe import Probes
from remit.service.status.model import AgentState, HostState, Status

_LONG = 20
_STYLES = {"fault": "red", "note": "yellow"}
_MARKS = {"fault": "❌", "note": "·"}
_STATES = {
    "same": "in force as it is written",
    "pending": "changed since it was activated: run `remit activate`",
    "broken": "BROKEN: the file does not load, or its tests fail; run `remit check`",
    "none": "never activated: run `remit activate`",
    "unusable": "NOT in force: what was activated can't be used",
}
_BONDS = {
    "host hook": ("✅", "green"),
    "observed": ("✋", "yellow"),
    "disabled": ("·", "dim"),
    "only words": ("✋", "yellow"),
    "not enforced": ("❌", "red"),
    "refused": ("❌", "red"),
}


_BOND_WORDS = {
    "host hook": "bound by a host's hook",
    "observed": "only observed",
    "disabled": "disabled",
    "only words": "only words: nothing enforces what the policy says about",
    "not enforced": "NOT ENFORCED",
    "refused": "all that they do is denied",
}
_FEW = 12


def as_json(status: Status, probes: Probes | None, fine: bool) -> dict[str, Any]:
    """Everything."""
    found: dict[str, Any] = msgspec.to_builtins(status)
    found["fine"] = fine
    found["probes"] = msgspec.to_builtins(probes) if probes is not None else None
    return found


def as_text(status: Status, probes: Probes | None, fine: bool) -> str:
    """For people, on one screen: what it comes to, what is wrong, and what is in force."""
    lines = [_headline(status, probes, fine)]
    everything = [*status.findings, *(one for host in status.hosts for one in host.findings)]
    for level in ("fault", "note"):
        lines += [line for one in everything if one.level == level for line in _finding(one)]
    lines += _weak(status)
    lines += _in_force(status)
    if probes is not None:
        lines += _probes(probes)
    gaps = sum(len(host.passes) for host in status.hosts if host.installed)
    more = f", {gaps} gaps of the host itself" if gaps else ""
    lines.append(paint(f"`remit status --all` shows the rest: evidence, agents one by one{more}", "dim"))
    return "".join(f"{line}\n" for line in lines)


def _in_force(status: Status) -> Iterator[str]:
    policy, ledger = status.policy, status.ledger
    yield paint("in force", "bold")
    since = f", since {shown(policy.at, 30)} by {shown(policy.by or '?')}" if policy.at is not None else ""
    yield f"  policy: {_STATES[policy.state]}{since}"
    for host in status.hosts:
        if host.installed:
            places = ", ".join(f"{shown(one.path, 300)}{'' if one.whole else ' (NOT whole)'}" for one in host.copies)
            yield f"  {shown(host.name)}: hooks in {places or shown(host.settings or '?', 300)}"
    by_bond: dict[str, list[str]] = {}
    for one in status.agents:
        by_bond.setdefault(one.bond, []).append(shown(one.name))
    for bond, names in by_bond.items():
        mark, style = _BONDS[bond]
        more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
        yield paint(f"  {mark} {_BOND_WORDS[bond]}: {', '.join(names[:_FEW])}{more}", style)
    if status.confinement:
        yield f"  {shown(status.confinement[0], 200)}"
    if ledger.reachable:
        last = f", the last of {shown(ledger.last, 30)}" if ledger.last else ""
        yield f"  ledger: {_entries(ledger.size)}{last}; daemon: {'serving' if status.serving else 'none'}"


def all_as_text(status: Status, probes: Probes | None, fine: bool) -> str:
    """Everything: what it comes to, each part, and again what it comes to."""
    headline = _headline(status, probes, fine)
    lines = [headline, *_project(status), *_weak(status)]
    absent = [host.name for host in status.hosts if not host.installed and not host.findings]
    for host in status.hosts:
        lines += _host(host) if host.name not in absent else ()
    if absent and len(absent) < len(status.hosts):
        lines.append(f"not installed in {', '.join(map(shown, absent))}")
    lines += _agents(status)
    if status.confinement:
        lines += [paint("confinement", "bold"), *(f"  {shown(line, 300)}" for line in status.confinement)]
    lines += _daily(status)
    lines += _project_code(status)
    code = any(one.project_code for one in status.agents)
    lines += [line for host in status.hosts if host.installed for line in _passes(host, code)]
    if probes is not None:
        lines += _probes(probes)
    if len(lines) > _LONG:
        lines.append(headline)
    return "".join(f"{line}\n" for line in lines)


def _headline(status: Status, probes: Probes | None, fine: bool) -> str:
    name = shown(status.policy.name or "(no policy)")
    if fine:
        return paint(f"✅ {name}: enforced as it should be", "green")
    count = len(status.faults)
    alarms = 0
    if probes is not None:
        alarms = 1 if probes.problem is not None else sum(1 for one in probes.results if _is_bad(one.verdict))
    words = [counted(count, "fault")] if count else []
    words += [f"{counted(alarms, 'probe')} not denied as it should be"] if alarms else []
    return paint(f"❌ {name}: NOT enforced as it should be: {', '.join(words)}", "red")


def _is_bad(verdict: str) -> bool:
    return verdict not in ("denied", "answered")


def _finding(one: Finding) -> Iterator[str]:
    yield paint(f"  {_MARKS[one.level]} {shown(one.text, 600)}", _STYLES[one.level])
    if one.help:
        yield f"      {shown(one.help, 300)}"


def _project(status: Status) -> Iterator[str]:
    policy, ledger = status.policy, status.ledger
    yield paint("policy", "bold")
    yield f"  {shown(policy.file, 300)}"
    yield f"  {_STATES[policy.state]}"
    if policy.at is not None:
        yield f"  activated {shown(policy.at, 30)} by {shown(policy.by or '?')}, {shown((policy.hash or '')[:19])}…"
    for one in status.findings:
        yield from _finding(one)
    yield paint("evidence", "bold")
    if ledger.reachable:
        last = f", the last of {shown(ledger.last, 30)}" if ledger.last else ""
        yield f"  ledger: {_entries(ledger.size)}{last}; {shown(ledger.store, 300)}"
        if ledger.bytes is not None:
            old = f", {counted(ledger.archived, 'entry')} archived" if ledger.archived else ""
            since = f", the oldest of {shown(ledger.oldest, 30)}" if ledger.oldest else ""
            yield f"  {ledger.bytes / 1_000_000:.1f} MB{since}{old}"
        yield f"  {_signed(status)}"
        for stream in ledger.streams:
            last = f", last delivered {shown(stream.last, 30)}" if stream.last else ""
            waiting = f"{counted(stream.waiting, 'entry')} waiting" if stream.waiting else "all delivered"
            yield f"  stream {shown(stream.name)} → {shown(stream.to, 300)}: {waiting}{last}"
    else:
        yield f"  ledger: {shown(ledger.problem or 'none', 300)}"
    if status.serving:
        yield "  daemon: serving"
    else:
        yield "  daemon: not serving; each hook reads the rulebook and opens the store itself, which takes longer"
    yield f"  {_credential(status)}"


def _entries(number: int) -> str:
    return counted(number, "entry")


def _signed(status: Status) -> str:
    ledger = status.ledger
    if ledger.signed is None:
        signed = "not signed yet"
    elif ledger.signed > ledger.size:
        signed = f"{counted(ledger.signed, 'entry')} signed, and there are {ledger.size}"
    elif ledger.signed == ledger.size:
        signed = "signed up to the last entry"
    else:
        signed = (
            f"{counted(ledger.size - ledger.signed, 'entry')} unsigned since {shown(ledger.unsigned_since or '?', 30)}"
        )
    anchors = (
        counted(len(ledger.anchors), "anchor") if ledger.anchors else "no anchor: whoever owns this machine can cut it"
    )
    witness = ", cosigned by a witness" if ledger.cosigned else ""
    return f"{signed}{witness}; {anchors}; `remit ledger verify` checks it"


def _credential(status: Status) -> str:
    found = status.credential
    if found is None:
        return "credential: can't be looked up"
    if found.lifted:
        return paint("approvals: not protected from a shell (unsafe_no_credential)", "yellow")
    if found.set:
        return f"credential: set since {shown(found.since or '?', 30)}"
    return "credential: not set; only a first activation works"


def _weak(status: Status) -> Iterator[str]:
    for guard in status.looked.without_activation:
        what = f"{shown(guard.point)} used a policy that nobody activated (unsafe_no_activation)"
        yield paint(f"✋ {what}, last on {shown(guard.last, 30)}", "yellow")
    if not status.weaknesses:
        return
    yield paint("weakened by the policy", "bold")
    for one in status.weaknesses:
        who = f" for {shown(one.agent)}" if one.agent else ""
        if one.what == "observe" and one.over:
            yield f"  · observe{who} ended {shown(one.until, 30)}: enforced again"
        elif one.what == "observe":
            yield paint(f"  ✋ OBSERVED ONLY{who}, until {shown(one.until, 30)}: denials are let through", "yellow")
        else:
            yield paint(f"  ✋ UNSAFE{who}: {shown(one.what, 300)}", "yellow")


def _host(host: HostState) -> Iterator[str]:
    yield paint(shown(host.name), "bold")
    if host.installed:
        yield f"  installed {shown(host.at or '?', 30)}; {shown(host.settings or '?', 300)}"
        for one in host.copies:
            yield f"  hooks: {shown(one.path, 300)} ({one.where}){'' if one.whole else ', NOT whole'}"
        if host.hooked:
            yield paint("  ✅ its hooks are in place, and nothing switches them off", "green")
        if host.server:
            yield "  the server of Remit's own tools is registered"
        if host.main is not None:
            yield f"  main agent: {shown(host.main)}"
    for found in host.findings:
        yield from _finding(found)
    states = Counter(one.state for one in host.definitions)
    if host.definitions:
        yield "  definitions: " + ", ".join(f"{number} {word}" for word, number in states.items())


def _agents(status: Status) -> Iterator[str]:
    if not status.agents:
        return
    yield paint("agents", "bold")
    width = min(30, max(len(shown(one.name)) for one in status.agents))
    for one in status.agents:
        mark, style = _BONDS[one.bond]
        yield paint(f"  {mark} {shown(one.name):<{width}}  {_bond(one)}", style) + f"; {_seen(one)}"
    if not status.looked.all:
        yield f"  (seen: in the newest {counted(status.looked.entries, 'entry')} of the ledger only)"


def _daily(status: Status) -> Iterator[str]:
    if not status.daily or status.clock is None:
        return
    yield paint(f"daily sums, on {shown(status.clock.now[:10], 10)} (UTC)", "bold")
    for one in status.daily:
        yield f"  {shown(one.agent)}: {shown(one.used, 40)} of {shown(one.most, 40)} in {shown(one.what)}"


def _bond(one: AgentState) -> str:
    by = f" ({shown(one.by)})" if one.by else ""
    since = f" since {shown(one.since, 30)}" if one.since else ""
    words = {
        "host hook": f"host hook{by}{since}",
        "observed": f"observed until {shown(one.until or '?', 30)}{by}: nothing is denied but what is protected",
        "disabled": f"disabled{by}",
        "only words": "only words: nothing enforces it",
        "not enforced": f"NOT ENFORCED{by}",
        "refused": f"everything it does is denied{by}",
    }
    return words[one.bond] + (f", {shown(one.why, 200)}" if one.why else "")


def _seen(one: AgentState) -> str:
    if not one.seen:
        return "not seen"
    return ", ".join(f"last seen at {shown(s.point, 40)} {shown(s.last, 30)} ({s.entries})" for s in one.seen[:3])


def _project_code(status: Status) -> Iterator[str]:
    able = [one for one in status.agents if one.project_code]
    if not able:
        return
    yield paint("project code", "bold")
    for one in able:
        yield (
            f"  {shown(one.name)} may run it by {', '.join(map(shown, one.project_code))}: it could do whatever your"
            " user can, unless a sandbox keeps it"
        )


def _passes(host: HostState, project_code: bool) -> Iterator[str]:
    yield paint(f"what {shown(host.name)} itself lets through", "bold")
    for one in host.passes:
        if "project code" in one.what and not project_code:
            continue  # nobody may run it
        yield f"  · {shown(one.what, 300)}"
        yield paint(f"      because {shown(one.because, 300)}", "dim")
        yield paint(f"      → {shown(one.do, 300)}", "dim")


def _probes(probes: Probes) -> Iterator[str]:
    yield paint("probes", "bold")
    if probes.problem is not None:
        yield paint(f"  ❌ ALARM: {shown(probes.problem, 300)}", "red")
        return
    fine = [one for one in probes.results if not _is_bad(one.verdict)]
    for one in probes.results:
        if one.verdict == "ALARM":
            yield paint(f"  ❌ ALARM: {shown(one.agent)}, {shown(one.probe)}: {shown(one.text, 300)}", "red")
        elif one.verdict == "only-broken":
            what = f"{shown(one.agent)}, {shown(one.probe)}: denied, but only because nothing works"
            yield paint(f"  ❌ {what}: {shown(one.text, 300)}", "red")
    if fine:
        count = Counter(one.verdict for one in fine)
        yield paint(f"  ✅ {count['denied']} denied as they must be, {count['answered']} answered", "green")
    yield f"  they are in the ledger, under the session {shown(probes.session)}; undecided ones, under none"
