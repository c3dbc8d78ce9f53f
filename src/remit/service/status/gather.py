"""Everything that `remit status` tells, put together. What is broken does not stop it: people want to know it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from remit.adapters.hooks.installed import InstallError, read_installed
from remit.adapters.hooks.silence import unseen
from remit.adapters.hosts import registry
from remit.adapters.hosts.setup import Finding, KeepsTranscripts
from remit.enforce.in_force import ledger_settings
from remit.grant.authority import Authority
from remit.grant.clock import Clock
from remit.grant.credential import status as credential_status
from remit.grant.daily import used_on
from remit.grant.halts import name_of
from remit.model.errors import RemitError
from remit.model.moments import moment
from remit.model.rulebook import Rulebook
from remit.model.task import SUM, amount_text
from remit.record.continuity import check_continuity
from remit.record.faults import faults
from remit.record.open import OpenLog, open_log
from remit.record.policy import weakenings
from remit.service.daemon import is_answering, is_serving
from remit.service.status.agents import agent_states
from remit.service.status.hosts import host_state
from remit.service.status.ledger import ledger_state, seen, with_sizes, with_streams
from remit.service.status.model import (
    AgentState,
    ClockState,
    CredentialState,
    DailySum,
    HostState,
    LedgerState,
    Looked,
    PolicyState,
    Seen,
    Status,
    Weakness,
)
from remit.store.open import FILE, default_url, store_url

LIFTED = "unsafe_no_credential"


class Project(msgspec.Struct, frozen=True):
    """What it is about."""

    root: Path
    """The policy's directory, with symlinks followed."""
    policy: Path
    state: Path


class NoStore(msgspec.Struct, frozen=True):
    """Why there is no ledger to look at."""

    store: str
    problem: str
    help: str | None = None
    none: bool = False
    """There is none yet."""


def open_hooks_log(project: Project) -> OpenLog | NoStore:
    """The ledger that the hooks of the project write to; otherwise the one that REMIT_STORE names."""
    url = hooks_store(project.state)
    if url is None:
        url = store_url()
    name = (url or default_url(project.state)).partition(":")[0]
    here = url is None or url == default_url(project.state)
    if here and not os.path.lexists(project.state / FILE):
        return NoStore(name, "there is no ledger here yet", none=True)
    try:
        return open_log(project.root, state=project.state, url=url, settings=ledger_settings(project.root))
    except RemitError as error:
        return NoStore(name, str(error), error.help, error.code == "no-ledger")


def hooks_store(state: Path) -> str | None:
    """The store that was chosen when something was installed; None if nothing is."""
    for host in registry.names():
        try:
            return read_installed(state, host).store or default_url(state)
        except InstallError:
            continue
    return None


def gather(
    project: Project, policy: PolicyState, rulebook: Rulebook | None, opened: OpenLog | NoStore, problems: list[str]
) -> Status:
    """`rulebook`: what is in force, or where nothing is, what the policy file says. `problems`: of the policy file."""
    now = moment(time.time())
    hosts = tuple(host_state(host, project.root, project.policy, project.state, rulebook) for host in registry.names())
    ledger, credential, calls, looked, ids = _looked_up(opened, rulebook)
    if ledger.reachable:
        hosts = tuple(_with_silence(project, host, looked, ids) for host in hosts)
    agents: tuple[AgentState, ...] = ()
    nothing = policy.fault or ("no policy is activated" if policy.at is None else None)
    if rulebook is not None:
        agents = agent_states(rulebook, hosts, calls, now, nothing)
    weak = tuple(_weaknesses(rulebook, now)) if rulebook is not None and nothing is None else ()
    clock, daily = _clock_and_sums(opened, rulebook)
    serving = is_serving(project.state)
    hung = serving and not is_answering(project.state)
    findings = tuple(_findings(project, policy, hosts, opened, ledger, credential, clock, problems))
    if not isinstance(opened, NoStore) and ledger.reachable:
        findings += tuple(_halts_and_reviews(opened, rulebook))
    if hung:
        text = "the daemon runs and does not answer: every call is denied (daemon-failed)"
        findings += (Finding("fault", "daemon-hung", text, "restart `remit serve`, or stop it"),)
    confinement: tuple[str, ...] = ()
    if rulebook is not None:
        confinement, unheld = _confinement(rulebook, project.state)
        findings += unheld
    return Status(
        str(project.root),
        str(project.state),
        policy,
        ledger,
        serving,
        credential,
        weak,
        hosts,
        agents,
        looked,
        findings,
        clock,
        daily,
        confinement,
    )


def _confinement(rulebook: Rulebook, state: Path) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The lines of the backends, if the policy has commands confined; and a fault if it requires what can't be had."""
    wanted = {caller.confine for caller in rulebook.book.callers.values()} & {"required", "preferred"}
    if not wanted:
        return (), ()
    from remit.confine.interface import state_for  # here: few policies confine, and a trial starts programs
    from remit.confine.pick import lines, working

    found = tuple(lines(state_for(state)))
    if "required" not in wanted or working(state_for(state)):
        return found, ()
    text = (
        "commands must run confined, but nothing on this machine can confine them: all are denied (confine-unavailable)"
    )
    return found, (Finding("fault", "confine-unavailable", text, "; ".join(found[1:])),)


def _looked_up(
    opened: OpenLog | NoStore, rulebook: Rulebook | None
) -> tuple[LedgerState, CredentialState | None, dict[str, tuple[Seen, ...]], Looked, dict[str, str]]:
    nobody: dict[str, tuple[Seen, ...]] = {}
    if isinstance(opened, NoStore):
        credential = CredentialState(False) if opened.none else None
        return LedgerState(opened.store, False, opened.problem), credential, nobody, Looked(0, opened.none), {}
    ledger = ledger_state(opened)
    try:
        kept = credential_status(opened.store)
        lifted = rulebook is not None and LIFTED in rulebook.book.unsafe
        credential = CredentialState(kept is not None, kept.set_at if kept is not None else None, lifted)
        calls, looked, ids = seen(opened)
        ledger = with_sizes(with_streams(ledger, opened, rulebook), opened)
    except RemitError as error:
        broken = msgspec.structs.replace(ledger, reachable=False, problem=ledger.problem or str(error))
        return broken, None, nobody, Looked(0, False), {}
    return ledger, credential, calls, looked, ids


def _with_silence(project: Project, host: HostState, looked: Looked, calls: dict[str, str]) -> HostState:
    """The same with what ran in the host, by its own word, and is not in the ledger."""
    setup: object = registry.find(host.name).setup() if host.installed else None
    if not isinstance(setup, KeepsTranscripts) or host.at is None:
        return host
    since = host.at if looked.all else max(host.at, min(calls.values(), default=host.at))
    silent = unseen(setup, project.root, since, calls)
    if not silent:
        return host
    last = max(silent, key=lambda one: one.at)
    text = (
        f"{len(silent)} uses of tools ran in {host.name} and are not in the ledger, the last {last.tool} at {last.at}"
        f" in session {last.session}: no hook was asked about them"
    )
    help_ = "check how that session was started, and see `remit status --all` for what the host lets through"
    found = Finding("fault", "ledger-silent", text, help_)
    return msgspec.structs.replace(host, findings=(*host.findings, found))


def _clock_and_sums(
    opened: OpenLog | NoStore, rulebook: Rulebook | None
) -> tuple[ClockState | None, tuple[DailySum, ...]]:
    if isinstance(opened, NoStore):
        return None, ()
    try:
        with opened.store.read() as view:
            now, doubt = Clock().read(view)
            used = used_on(view, now[:10])
    except RemitError:
        return None, ()  # that the store can't be used is said of the ledger
    callers = rulebook.book.callers.values() if rulebook is not None else ()
    sums = (
        DailySum(one.name, what, amount_text(SUM, used.get((one.name, what), 0)), amount_text(SUM, most))
        for one in callers
        for what, most in one.daily_sum.items()
    )
    return ClockState(now, doubt.reason if doubt is not None else None), tuple(sums)


def _weaknesses(rulebook: Rulebook, now: str) -> Iterator[Weakness]:
    for kind, about in weakenings(rulebook.book):
        if kind == "observe":
            yield Weakness("observe", about["agent"], about["until"], about["until"] <= now)
        else:
            program = about.get("program")
            yield Weakness(about["what"] + (f": {program}" if program else ""), about.get("agent"))


def _ledger_faults(opened: OpenLog) -> Iterator[Finding]:
    """What is wrong with the ledger; a log that was cut or forked is stopped for everybody."""
    try:
        with opened.stopping("status"):
            check_continuity(opened.store, opened.state)
    except RemitError:
        pass  # it is among the faults
    try:
        found = faults(opened, full=True)
    except RemitError as error:
        yield Finding("fault", error.code, str(error), error.help)
        return
    for one in found:
        yield Finding("fault", one.code, one.message, one.help)


def _halts_and_reviews(opened: OpenLog, rulebook: Rulebook | None) -> Iterator[Finding]:
    """Who is halted, and which reviews are overdue."""
    authority = Authority(opened.store, opened.vault)
    try:
        for one in authority.halted(rulebook):
            text = f"{name_of(one.who)} is halted since {one.at}: {one.because}"
            yield Finding("note", "halted", text, "look at `remit incidents`; `remit resume` lifts it")
        reviews = authority.reviews(rulebook) if rulebook is not None else []
    except RemitError as error:
        yield Finding("fault", error.code, f"halts and reviews can't be looked up: {error}", error.help)
        return
    late = [one.who for one in reviews if one.state == "overdue"]
    if late:
        text = f"reviews are overdue: {', '.join(late[:10])}{' …' if len(late) > 10 else ''}"
        yield Finding("note", "review-overdue", text, "run `remit review`")


def _findings(
    project: Project,
    policy: PolicyState,
    hosts: tuple[HostState, ...],
    opened: OpenLog | NoStore,
    ledger: LedgerState,
    credential: CredentialState | None,
    clock: ClockState | None,
    problems: list[str],
) -> Iterator[Finding]:
    if policy.fault is not None:
        text = f"nothing is in force, and everything is denied: {policy.fault}"
        yield Finding("fault", "nothing-in-force", text, "run `remit activate`")
    elif policy.at is None:
        yield Finding("fault", "never-activated", "no policy was ever activated", "run `remit activate`")
    if policy.state == "broken":
        gone = not os.path.lexists(project.policy)
        what = problems[0] if problems else "it is gone" if gone else "its tests fail"
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        text = f"the policy file is broken, so nobody can activate the pending edit: {what}{more}"
        yield Finding("fault", "broken-policy", text, "run `remit check`")
    elif policy.state == "pending":
        yield Finding("note", "pending", "the policy file differs from what is in force", "run `remit activate`")
    installed = [host for host in hosts if host.installed]
    if not installed and not any(host.findings for host in hosts):
        text = "Remit is installed in no host: only programs that use Guard enforce the policy"
        known = ", ".join(registry.names())
        yield Finding("fault", "not-installed", text, f"run `remit install HOST`, where HOST is one of: {known}")
    if isinstance(opened, NoStore) and opened.none and not installed:
        pass  # nothing has begun yet
    elif not ledger.reachable:
        text = f"the ledger can't be used, so everything is denied: {ledger.problem}"
        look = "look at `remit ledger verify`; if the store is damaged, restore its newest copy"
        yield Finding("fault", "ledger-unavailable", text, opened.help if isinstance(opened, NoStore) else look)
    if not isinstance(opened, NoStore) and ledger.reachable:
        yield from _ledger_faults(opened)
    chosen, here = hooks_store(project.state), store_url()
    if chosen is not None and here is not None and here != chosen:
        text = "REMIT_STORE names a store other than the hook's: commands look elsewhere"
        yield Finding("fault", "other-store", text, "run `remit install` with this REMIT_STORE, or unset it")
    for one in ledger.streams:
        if one.error is not None:
            text = f"the stream `{one.name}` fails, and {one.waiting} entries wait for it: {one.error}"
            yield Finding("fault", "stream-failed", text, "look at `remit ledger stream`; no entry is lost")
    if clock is not None and clock.doubt is not None:
        yield Finding("fault", "clock-in-doubt", clock.doubt, "run `remit clock`")
    if credential is not None and not credential.set and not credential.lifted and policy.at is not None:
        text = "no passphrase is set: nobody can activate another policy, and whoever sets one first is trusted"
        yield Finding("note", "no-credential", text, "run `remit credential set` in a terminal")
