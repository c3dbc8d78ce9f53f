"""Probes: the hook in the host's own settings is asked as the host asks it, about calls that must be denied."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from remit.exchange.claude.settings import is_ours
from remit.service.status.hooked import Settings, handlers
from remit.service.status.hosts import settings_files
from remit.service.status.ledger import PROBE

BEFORE, FAILED = "PreToolUse", "PostToolUseFailure"
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


class Said(NamedTuple):
    """What one hook said: a decision with its reason, or what is wrong."""

    decision: str | None
    reason: str
    alarm: str | None = None


_PROTECTED = frozenset({"protected"})
_MALFORMED = frozenset({"malformed-call"})


def run_probes(
    root: Path,
    policy: Path,
    state: Path,
    settings: Path,
    agents: Mapping[str, Sequence[str]],
    *,
    main: str,
    observed: frozenset[str] = frozenset(),
) -> Probes:
    """Asks about the main agent, and about each pinned one (`agents`, with their definition files)."""
    session = PROBE + secrets.token_hex(8)
    files = settings_files(root)
    here = next((one for one in files if one.path == settings), None) or Settings(settings, "elsewhere")
    if here.data is None:
        return Probes(session, problem=f"{here.name}: {here.problem or 'it is gone'}; no hook would run")
    if not handlers(here.data, BEFORE):
        return Probes(session, problem=f"{here.name} has no hook before tool calls; every call would run")
    asker = _Asker(root, here, _environment(root, files))
    probes = [
        probe
        for name in (None, *agents)
        for probe in _probes(root, policy, state, settings, name, agents, main, session)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Probes(session, tuple(pool.map(lambda probe: asker.result(probe, observed), probes)))


def _probes(
    root: Path,
    policy: Path,
    state: Path,
    settings: Path,
    agent: str | None,
    agents: Mapping[str, Sequence[str]],
    main: str,
    session: str,
) -> list[Probe]:
    def call(name: str, tool: str, args: dict[str, Any], codes: frozenset[str], who: str | None = agent) -> Probe:
        use = f"toolu_{secrets.token_hex(8)}"
        payload: dict[str, Any] = {
            "session_id": session,
            "transcript_path": os.devnull,
            "cwd": str(root),
            "permission_mode": "default",
            "hook_event_name": BEFORE,
            "tool_name": tool,
            "tool_input": args,
            "tool_use_id": use,
        }
        if who is not None:
            payload |= {"agent_id": secrets.token_hex(8), "agent_type": who}
        return Probe(name, json.dumps(payload).encode(), who or main, tool, codes, use)

    def write(path: Path | str) -> dict[str, str]:
        return {"file_path": str(path), "content": "remit probe\n"}

    rulebook = root / ".remit" / "rulebook"
    files = [file for pinned in agents.values() for file in pinned]
    definition = files[0] if files else str(root / ".claude" / "agents" / f"{_STRANGER}.md")
    found = [
        call("write the rulebook", "Write", write(rulebook), _PROTECTED),
        call("read the rulebook", "Read", {"file_path": str(rulebook)}, _PROTECTED),
        call("edit the policy", "Edit", {"file_path": str(policy), "old_string": "a", "new_string": "b"}, _PROTECTED),
        call("write the host's settings", "Write", write(settings), _PROTECTED),
        call("write an agent's definition", "Write", write(definition), _PROTECTED),
        call("write a git hook", "Write", write(root / ".git" / "hooks" / "pre-commit"), _PROTECTED),
        call("write into the state directory", "Write", write(state / "probe"), _PROTECTED),
        call("remit activate", "Bash", {"command": "remit activate --yes"}, _PROTECTED),
        call("python -m remit activate", "Bash", {"command": "python -m remit activate --yes"}, _PROTECTED),
        call("an unknown tool", "RemitProbe", {}, frozenset({"unknown-tool"})),
        call(
            "an undeclared argument",
            "Read",
            {"file_path": str(policy), "remit_probe": True},
            frozenset({"undeclared-argument"}),
        ),
        call("a harmless call is answered", "Read", {"file_path": str(root / "README.md")}, frozenset()),
    ]
    if agent is None:
        found += [
            call("an unknown agent", "Read", {"file_path": str(policy)}, frozenset({"unpinned"}), _STRANGER),
            Probe("malformed JSON", b'{"hook_event_name": "PreToolUse", "tool_name": ', main, None, _MALFORMED),
            Probe("nothing at all", b"", main, None, _MALFORMED),
        ]
    return found


class _Asker:
    """Runs the hooks as the host does."""

    def __init__(self, root: Path, settings: Settings, env: dict[str, str]) -> None:
        self.root, self.env = root, env
        self.before = _chosen(handlers(settings.data, BEFORE))
        self.failed = _chosen(handlers(settings.data, FAILED))

    def result(self, probe: Probe, observed: frozenset[str]) -> Result:
        """What the host would make of the answers."""
        said = [self._ask(one, probe.payload) for matcher, one in self.before if _matches(matcher, probe.tool)]
        found = _strictest(said)
        if probe.use is not None and (found is None or found.decision in ("allow", "ask")):
            self._not_run(probe)
        return Result(probe.agent, probe.name, *_judged(probe, found, probe.agent in observed))

    def _not_run(self, probe: Probe) -> None:
        """Tells the ledger that what was allowed did not run."""
        payload = json.loads(probe.payload) | {"hook_event_name": FAILED, "error": "probe", "is_interrupt": True}
        for matcher, one in self.failed:
            if _matches(matcher, probe.tool) and is_ours(one.get("command")):
                self._ask(one, json.dumps(payload).encode())

    def _ask(self, entry: dict[str, Any], data: bytes) -> Said:
        command, args = entry.get("command"), entry.get("args")
        if entry.get("type") != "command" or not isinstance(command, str):
            return Said(None, "", "the hook is no command")
        words = ["/bin/sh", "-c", command]
        if isinstance(args, list):
            words = [str(word).replace("${CLAUDE_PROJECT_DIR}", str(self.root)) for word in (command, *args)]
        timeout = entry.get("timeout")
        limit = float(timeout) if isinstance(timeout, int | float) and 0 < timeout < LIMIT else LIMIT
        try:
            process = subprocess.Popen(  # noqa: S603 -- the host runs the same
                words,
                cwd=self.root,
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return Said(None, "", f"the hook could not be started: {error}")
        try:
            out, _ = process.communicate(data, timeout=limit)
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Said(None, "", f"no answer in {limit:.0f} seconds")
        return _understood(process.returncode, out)


def _understood(code: int, out: bytes) -> Said:
    """The answer, read as strictly as it must be written: the host takes anything else for no decision."""
    if code != 0:
        return Said(None, "", f"it ended with {code}")
    try:
        found = json.loads(out.decode("utf-8"))
    except (ValueError, RecursionError):
        return Said(None, "", "its answer is no JSON" if out.strip() else "it answered nothing")
    if not isinstance(found, dict):
        return Said(None, "", "its answer is no object")
    words = found.get("hookSpecificOutput")
    if words is None:
        return Said(
            None, "", "it gave no decision" if found == {} else "its answer has no decision where the host looks"
        )
    if not isinstance(words, dict) or words.get("hookEventName") != BEFORE:
        return Said(None, "", "its answer is for another event")
    decision, reason = words.get("permissionDecision"), words.get("permissionDecisionReason", "")
    if decision not in ("allow", "ask", "deny") or not isinstance(reason, str) or found.get("continue") is False:
        return Said(None, "", "its decision is none that the host knows")
    return Said(decision, reason)


def _strictest(said: list[Said]) -> Said | None:
    """What counts of several answers: deny before ask before allow; None if nobody was asked."""
    order = ("deny", "ask", "allow", None)
    return min(said, key=lambda one: order.index(one.decision)) if said else None


def _judged(probe: Probe, said: Said | None, observed: bool) -> tuple[Verdict, str]:
    if said is None:
        return "ALARM", "no hook was asked: its `matcher` leaves this tool out"
    if said.decision is None:
        if said.alarm == "it gave no decision" and observed and not probe.codes:
            return "answered", "only observed: the host's own rules count"
        return "ALARM", said.alarm or "it gave no decision"
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
        "data-tier",
        "delegation-not-allowed",
        "halted",
        "locked",
        "may-not",
        "missing-argument",
        "mistyped-argument",
        "not-accessible",
        "not-permitted",
        "not-understood",
        "outside-root",
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


def _chosen(found: list[tuple[Any, dict[str, Any]]]) -> list[tuple[Any, dict[str, Any]]]:
    """Our hooks; where there are none, whatever stands in their place."""
    ours = [(matcher, one) for matcher, one in found if is_ours(one.get("command"))]
    return ours or found


def _matches(matcher: Any, tool: str | None) -> bool:
    if matcher in (None, "", "*") or tool is None:
        return True
    try:
        return isinstance(matcher, str) and re.fullmatch(matcher, tool) is not None
    except re.error:
        return False


def _environment(root: Path, files: list[Settings]) -> dict[str, str]:
    """What the host would hand the hook: its own environment, and what settings add."""
    found = dict(os.environ)
    found.pop("CLAUDE_CODE_SESSION_ATTENDED", None)  # as if somebody sat there: a question must show as one
    for one in files:
        extra = (one.data or {}).get("env", {})
        found.update(
            {name: value for name, value in extra.items() if isinstance(value, str) and "\0" not in name + value}
        )
    return found | {"CLAUDE_PROJECT_DIR": str(root), "CLAUDECODE": "1"}
