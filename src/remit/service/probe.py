"""Probes: the hook in the host's own settings is asked as the host asks it, about calls that must be denied."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from remit.adapters.hosts import registry
from remit.adapters.hosts.setup import UNDECIDED, Act, HookRun, Said, Setup
from remit.model.call import PROBE
from remit.model.errors import RemitError
from remit.service.status.model import Status

LIMIT = 60.0
"""Seconds for one hook, if its entry gives it no other."""
AT_ONCE = 4
_CODE = re.compile(r"\(([a-z]+(?:-[a-z]+)*)\)\Z")
_SHOWN = 200
_STRANGER = "remit-probe-nobody"

Verdict = Literal["denied", "answered", "only-broken", "ALARM"]


class Probe(NamedTuple):
    """One question, and the codes of the denials that count as an answer to it; none: any decision will do."""

    name: str
    payload: bytes
    agent: str
    tool: str | None = None
    codes: frozenset[str] = frozenset()
    use: str | None = None


class Result(msgspec.Struct, frozen=True):
    """What came of a probe."""

    host: str
    agent: str
    probe: str
    verdict: Verdict
    text: str
    """What the hook answered, or why that is no answer."""


class Probes(msgspec.Struct, frozen=True):
    """All of them."""

    session: str
    results: tuple[Result, ...] = ()
    problem: str | None = None
    """Why none could be asked."""

    @property
    def fine(self) -> bool:
        """Everything was denied for a reason of its own, and everything was answered."""
        return (
            self.problem is None
            and bool(self.results)
            and all(r.verdict in ("denied", "answered") for r in self.results)
        )


_VOUCHED = ("pinned", "built in")
_PROTECTED = frozenset({"protected"})
_MALFORMED = frozenset({"malformed-call"})


def run_probes(
    root: Path, policy: Path, state: Path, status: Status, *, progress: Callable[[str], None] | None = None
) -> Probes:
    """Asks the hook of each installed host about its main agent, and about each pinned one."""
    session = PROBE + secrets.token_hex(8)
    installed = [host for host in status.hosts if host.installed and host.settings is not None]
    if not installed:
        return Probes("", problem="Remit is installed in no host: there is no hook to ask, and every call would run")
    observed = {one.name for one in status.agents if one.bond == "observed"}
    if observed and all(one.until is not None for one in status.agents):  # the policy as a whole only observes
        observed.add(_STRANGER)
    results: list[Result] = []
    for host in installed:
        setup = registry.find(host.name).setup()
        whole = [one.path for one in host.copies if one.whole]
        settings = Path(next(iter([*whole, *(one.path for one in host.copies)]), host.settings or ""))
        try:
            setup.hooks(root, settings, "before", None)
        except RemitError as error:
            return Probes(session, problem=str(error))
        pinned = {one.name: one.files for one in host.definitions if one.state in _VOUCHED and one.known}
        asked = _Asked(setup, root, policy, state, settings, pinned, host.main or "(main)", session)
        told = pinned if setup.catalog.names_agents else ()
        probes = [probe for name in (None, *told) for probe in asked.probes(name)]
        asker = _Asker(host.name, setup, root, settings, observed)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for number, result in enumerate(pool.map(asker.result, probes), 1):
                results.append(result)
                if progress is not None:
                    progress(f"{host.name}: {number} of {len(probes)} probes answered")
    return Probes(session, tuple(results))


class _Asked(NamedTuple):
    """What the probes are about."""

    setup: Setup
    root: Path
    policy: Path
    state: Path
    settings: Path
    agents: Mapping[str, Sequence[str]]
    main: str
    session: str

    def probes(self, agent: str | None) -> list[Probe]:
        """All of them for one agent; None: the main one."""
        root, policy = self.root, str(self.policy)
        rulebook = str(root / ".remit" / "rulebook")
        files = [file for pinned in self.agents.values() for file in pinned]
        definition = files[0] if files else str(Path(self.setup.definition_folders(root)[0], _STRANGER))
        acts: list[tuple[str, Act, str, frozenset[str]]] = [
            ("write the rulebook", "write", rulebook, _PROTECTED),
            ("read the rulebook", "read", rulebook, _PROTECTED),
            ("edit the policy", "edit", policy, _PROTECTED),
            ("write the host's settings", "write", str(self.settings), _PROTECTED),
            ("write an agent's definition", "write", definition, _PROTECTED),
            ("write a git hook", "write", str(root / ".git" / "hooks" / "pre-commit"), _PROTECTED),
            ("write into the state directory", "write", str(self.state / "probe"), _PROTECTED),
            ("remit activate", "shell", "remit activate --yes", _PROTECTED),
            ("python -m remit activate", "shell", "python -m remit activate --yes", _PROTECTED),
            ("a harmless call is answered", "read", str(root / "README.md"), frozenset()),
        ]
        found = []
        for name, act, target, codes in acts:
            sample = self.setup.sample(act, target)
            if sample is not None:
                found.append(self._probe(name, *sample, codes, agent))
        found.append(self._probe("an unknown tool", "RemitProbe", {}, frozenset({"unknown-tool"}), agent))
        read = self.setup.sample("read", policy)
        if read is not None:
            tool, args = read
            odd = {**args, "remit_probe": True}
            found.append(self._probe("an undeclared argument", tool, odd, frozenset({"undeclared-argument"}), agent))
            if agent is None and self.setup.catalog.names_agents:
                found.append(self._probe("an unknown agent", tool, args, frozenset({"unpinned"}), _STRANGER))
        if agent is None:
            half = found[0].payload[:-20]
            found.append(Probe("malformed JSON", half, self.main, None, _MALFORMED))
            found.append(Probe("nothing at all", b"", self.main, None, _MALFORMED))
        return found

    def _probe(self, name: str, tool: str, args: dict[str, Any], codes: frozenset[str], agent: str | None) -> Probe:
        use = f"probe_{secrets.token_hex(8)}"
        payload = self.setup.question(session=self.session, root=self.root, tool=tool, args=args, use=use, agent=agent)
        return Probe(name, payload, agent or self.main, tool, codes, use)


class _Asker:
    """Runs the hooks as the host does."""

    def __init__(self, host: str, setup: Setup, root: Path, settings: Path, observed: set[str]) -> None:
        self.host, self.setup, self.root, self.settings, self.observed = host, setup, root, settings, observed

    def result(self, probe: Probe) -> Result:
        """What the host would make of the answers."""
        said = [self._ask(one, probe.payload) for one in self._hooks("before", probe.tool)]
        found = _strictest(said)
        if probe.use is not None and (found is None or found.decision in ("allow", "ask")):
            for one in self._hooks("failed", probe.tool):  # the ledger must know that it did not run
                self._ask(one, self.setup.not_run(probe.payload))
        return Result(self.host, probe.agent, probe.name, *_judged(probe, found, probe.agent in self.observed))

    def _hooks(self, when: Literal["before", "failed"], tool: str | None) -> Sequence[HookRun]:
        try:
            return self.setup.hooks(self.root, self.settings, when, tool)
        except RemitError as error:  # they changed while it was asking
            return [HookRun((), {}, problem=str(error))]

    def _ask(self, hook: HookRun, data: bytes) -> Said:
        if hook.problem is not None:
            return Said(None, alarm=hook.problem)
        limit = hook.timeout if hook.timeout is not None and 0 < hook.timeout < LIMIT else LIMIT
        try:
            process = subprocess.Popen(  # noqa: S603 -- the host runs the same
                hook.words,
                cwd=self.root,
                env=hook.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Said(None, alarm=f"the hook could not be started: {error}")
        try:
            out, err = process.communicate(data, timeout=limit)
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Said(None, alarm=f"no answer in {limit:.0f} seconds")
        return self.setup.understood(process.returncode, out, err)


def _strictest(said: list[Said]) -> Said | None:
    """What counts of several answers: deny before ask before allow; None if nobody was asked."""
    order = ("deny", "ask", "allow", None)
    return min(said, key=lambda one: order.index(one.decision)) if said else None


_ONLY_RECORDED = frozenset(("unknown-tool", "undeclared-argument", "unpinned"))
"""What observing records and does not deny."""


def _judged(probe: Probe, said: Said | None, observed: bool) -> tuple[Verdict, str]:
    if said is None:
        return "ALARM", "no hook was asked: the settings leave this tool out"
    if said.decision is None:
        if said.alarm == UNDECIDED and observed and probe.codes <= _ONLY_RECORDED:
            return "answered", "only observed: the host's own rules count"
        return "ALARM", said.alarm or UNDECIDED
    found = _CODE.search(said.reason)
    code = found[1] if found is not None else None
    shown = f"{said.decision}: {said.reason[:_SHOWN]}" if said.reason else said.decision
    if said.decision != "deny":
        return ("ALARM" if probe.codes else "answered"), shown
    if code not in probe.codes and code not in DECIDED:
        return "only-broken", shown
    return ("denied" if probe.codes else "answered"), shown


DECIDED = frozenset(
    (
        "agent-disabled",
        "api-not-allowed",
        "ask-pending",
        "bad-path",
        "broken-chain",
        "capsule-constraint",
        "capsule-ended",
        "capsule-required",
        "confine-unavailable",
        "data-tier",
        "delegation-not-allowed",
        "gate-open",
        "halted",
        "locked",
        "may-not",
        "missing-argument",
        "mistyped-argument",
        "not-accessible",
        "not-permitted",
        "not-understood",
        "outside-root",
        "project-code",
        "protected",
        "refused",
        "reserved",
        "skill-not-allowed",
        "tier-denied",
        "undeclared-argument",
        "unknown-capsule",
        "unknown-tool",
    )
)
"""Denials that say something about the call. Of any other it can only be said that something is missing."""
