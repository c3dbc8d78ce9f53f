"""Commands confined in the real Claude Code: as before for whoever works, and without effect for whoever attacks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.hosts.claude import Claude, Run
from tests.hosts.confined import ATTACKS, POLICY, Attack, bash, populate
from tests.hosts.fake_model import Use, serving
from tests.hosts.terminal import QUESTION, Step, in_terminal
from tests.hosts.test_claude_code import remit, serving_hooks

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not here: apt install bubblewrap"),
]


def confine(claude: Claude, policy: str = POLICY, network: str = "none") -> Claude:
    """Remit in the project, which has a repository already."""
    claude.env["XDG_STATE_HOME"] = str(claude.home / "state")
    claude.put("remit.yaml", policy.replace("NETWORK", network))
    remit(claude, "activate", "--yes")
    remit(claude, "install", "claude-code", "--yes")
    return claude


@pytest.fixture
def project(claude: Claude) -> Claude:
    populate(claude)
    return confine(claude)


def run(claude: Claude, *turns: Use, mode: str = "bypassPermissions") -> Run:
    return claude.run({"main": [*turns, "done"]}, mode=mode)


def tickets(claude: Claude) -> list[Path]:
    return list((claude.home / "state" / "remit").glob("*/confine/tickets/*"))


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


# As before


def test_a_command_runs_confined_and_says_what_it_says(project: Claude):
    (project.home / ".bashrc").write_text("greet() { echo hello-$1; }\nalias ll='echo listed'\n", "utf-8")
    project.env["SHELL"] = "/bin/bash"
    ran = run(
        project,
        bash("echo out; echo err >&2"),
        bash("exit 7"),
        bash("cat <<'EOF'\na $x 'q'\nEOF"),
        bash("seq 1 2000"),
        bash("cd src && pwd"),
        bash("pwd; cat app.py"),
        bash("touch new && ls"),
        bash("echo $$; touch /etc/evil"),
        bash("touch ../.claude/settings.json"),
    )
    said = [result.text for result in ran.model.results()]
    assert said[0] == "out\nerr"
    assert (said[1], ran.model.results()[1].is_error) == ("Exit code 7", True)
    assert said[2] == "a $x 'q'"
    assert said[3].split() == [str(n) for n in range(1, 2001)]
    assert said[4] == str(project.project / "src")
    assert said[5] == f"{project.project / 'src'}\nprint('app')"
    assert said[6] == "app.py\nnew"
    assert "Read-only file system" in said[7] or "Remit" in said[7]
    assert ran.model.results()[8].is_error
    assert tickets(project) == []
    remit(project, "ledger", "verify")


def test_a_server_in_the_background_is_reached_from_the_next_call_and_ends_with_the_session(project: Claude):
    port = 18761
    reach = f"for i in 1 2 3 4 5 6 7 8 9; do curl -s http://127.0.0.1:{port}/README.md && break; sleep 1; done"
    ran = run(
        project,
        bash(f"timeout 20 python3 -m http.server {port} --bind 127.0.0.1", run_in_background=True),
        bash(reach),
    )
    assert ran.said[1] == "# A project"
    until(lambda: _processes(f"http.server {port}") == [])
    assert tickets(project) == []
    assert list((project.home / "state" / "remit").glob("*/confine/sessions/*")) == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_host_that_is_killed(project: Claude, how: int):
    with _begun(project, bash("exec sleep 1234", run_in_background=True), bash("echo next; sleep 1235")) as host:
        until(lambda: len(_processes("sleep 1234")) > 0 and len(_processes("sleep 1235")) > 0)
        os.kill(host.pid, how)
        host.wait(60)
        until(lambda: _processes("sleep 1234") == _processes("sleep 1235") == [])
    until(lambda: _keepers(project) == [])


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(project: Claude):
    project.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    ran = run(project, bash("sh -c 'setsid sleep 1236 & sleep 1237'; echo never", timeout=2000))
    assert "never" not in ran.said[0]
    until(lambda: _processes("sleep 1236") == _processes("sleep 1237") == [])


def test_the_transcript_has_the_command_and_not_the_ticket(project: Claude):
    ran = run(project, bash("echo a-plain-command"))
    kept = [path.read_text() for path in (project.config / "projects").rglob("*.jsonl")]
    assert any('"command":"echo a-plain-command"' in text for text in kept)
    assert "confined.sh" not in json.dumps(ran.model.of("main")[-1].body)


def test_a_person_who_is_asked_sees_the_command(claude: Claude):
    populate(claude)
    confine(claude, POLICY + "    must_ask: [{Bash: {shell: {run: [touch]}}}]\n")
    steps: list[Step] = [(QUESTION, ["1"]), (lambda model: len(model.of("main")) >= 2, [])]
    session = in_terminal(claude, {"main": [bash("touch asked-for"), "done"]}, steps)
    assert session.steps == 3
    assert "Runs confined: touch asked-for" in session.screen
    assert (claude.project / "asked-for").exists()


# What is in the way


def test_where_the_hosts_own_sandbox_is_on_nothing_runs_and_it_says_why(project: Claude):
    path = project.config / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sandbox": {"enabled": True}}), "utf-8")
    ran = run(project, bash("touch made"))
    assert "(confine-unavailable)" in ran.said[0]
    assert not (project.project / "made").exists()


def test_a_deny_rule_of_the_hosts_own_still_counts(project: Claude):
    path = project.config / "settings.json"
    found = json.loads(path.read_text())
    found.setdefault("permissions", {}).setdefault("deny", []).append("Bash(touch:*)")
    path.write_text(json.dumps(found), "utf-8")
    ran = run(project, bash("true && touch made"), bash("echo untouched"))
    assert "(host-rule)" in ran.said[0]
    assert not (project.project / "made").exists()
    assert ran.said[1] == "untouched"


# Attacks


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_by_project_code_works_unconfined(claude: Claude, attack: Attack):
    populate(claude)
    claude.put("build.sh", attack.script)
    run(claude, bash("bash build.sh; echo ran"))
    until(lambda: attack.works(claude), 20)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_same_attack_has_no_effect_confined(project: Claude, attack: Attack):
    project.put("build.sh", attack.script)
    ran = run(project, bash("bash build.sh; echo ran"), bash("echo still asked"))
    assert "ran" in ran.said[0]
    if attack.name == "another process":
        time.sleep(4)
    assert not attack.works(project)
    lines = [json.loads(line)["entry"] for line in remit(project, "ledger", "show", "--json").splitlines()]
    assert [entry["decision"] for entry in lines if entry["type"] == "intent"] == ["allow", "allow"]


def test_what_was_found_is_recorded_and_the_agent_is_told(project: Claude):
    project.put("build.sh", "mkdir lib; echo evil > lib/CLAUDE.md")
    ran = run(project, bash("bash build.sh"), bash("bash build.sh; false"))
    last = json.dumps(ran.model.of("main")[-1].body)
    assert last.count("Remit: `lib/CLAUDE.md` is protected, and the command made it; it was moved aside") == 2
    lines = [json.loads(line)["entry"] for line in remit(project, "ledger", "show", "--json").splitlines()]
    runs = [entry for entry in lines if entry["type"] == "confined"]
    assert [[one["path"] for one in entry["findings"]] for entry in runs] == [["lib/CLAUDE.md"], ["lib/CLAUDE.md"]]
    assert {(entry["backend"], entry["call"].rpartition("/")[2]) for entry in runs} == {
        ("bubblewrap", "toolu_001_0"),
        ("bubblewrap", "toolu_002_0"),
    }
    assert "lib/CLAUDE.md" in remit(project, "aside")
    remit(project, "ledger", "verify")


def test_the_network_is_the_policys(claude: Claude):
    """Nothing of this machine's network is reached; unconfined the same command reaches it."""
    populate(claude)
    with _server() as url:
        assert run(claude, bash(f"curl -s {url}")).said[0] == "reached"
        confine(claude)
        ran = run(
            claude,
            bash(f"curl -s {url} || echo no"),
            bash(f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{url.split(':')[2][:-1]}' || echo no"),
        )
    assert ran.said[0].endswith("no")
    assert ran.said[1].endswith("no")


def test_hosts_of_the_policy_are_reached_through_the_proxy_and_all_is_recorded(claude: Claude):
    populate(claude)
    with _server() as url, _server() as other:
        may = f"may: [Bash, {{WebFetch: {{url: '{url}**'}}}}]"
        confine(claude, POLICY.replace("may: [Read, Bash, TaskStop]", may), "policy")
        ran = run(claude, bash(f"curl -s {url}a"), bash(f"curl -sS {other}a; bash -c 'exec 3<>/dev/tcp/1.1.1.1/80'"))
    assert ran.said[0] == "reached"
    assert "reached" not in ran.said[1]
    assert "Remit: the command could not reach" in json.dumps(ran.model.of("main")[-1].body)
    lines = [json.loads(line)["entry"] for line in remit(claude, "ledger", "show", "--json").splitlines()]
    found = [entry for entry in lines if entry["type"] == "confined" and entry["what"] == "contact"]
    assert [(entry["target"], entry["verdict"]) for entry in found] == [
        (f"{url}a", "allowed"),
        (f"{other}a", "refused"),
    ]


def test_with_a_daemon_it_is_the_same(project: Claude):
    project.put("src/x.sh", "touch made; touch ../.claude/x")
    with serving_hooks(project):
        ran = run(project, bash("cd src"), bash("pwd; bash x.sh"), bash("echo next"))
    assert str(project.project / "src") in ran.said[1]
    assert (project.project / "src" / "made").exists()
    assert not (project.project / ".claude" / "x").exists()
    assert tickets(project) == []


# Helpers


@contextmanager
def _server() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "7")
            self.end_headers()
            self.wfile.write(b"reached")

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def _begun(claude: Claude, *turns: Use) -> Iterator[subprocess.Popen[bytes]]:
    """A session that goes on."""
    with serving({"main": [*turns, "done"]}) as model:
        command = [str(claude.binary), "-p", "Go.", "--permission-mode", "bypassPermissions"]
        host = subprocess.Popen(
            command,
            cwd=claude.project,
            env=claude.environment(model),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield host
        finally:
            host.kill()
            host.wait(60)


def _processes(text: str) -> list[str]:
    """Command lines that end with a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        if (line.startswith(("sleep", "python")) and text in line) or line.endswith(text):
            found.append(line)
    return found


def _keepers(claude: Claude) -> list[str]:
    return _processes_of("remit.adapters.hooks.keeper", str(claude.home))


def _processes_of(module: str, below: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if module in line and below in line:
            found.append(line)
    return found
