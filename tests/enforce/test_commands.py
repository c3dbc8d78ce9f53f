"""Commands through a guard: decided, recorded, run. What confines them is tested with bubblewrap, at the end."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from remit import CallDenied, CallPending, Guard, ValidationRunner
from remit.enforce.commands import shell_tool, text_of
from remit.enforce.errors import GuardError, Refused
from remit.record.reader import entries
from tests.attacks.confined.arena import Arena
from tests.confine.populated import environment

TOOLS = {"Bash": {"args": {"command": "shell"}}, "read": {"args": {"path": "path"}, "does": {"read": "path"}}}
real = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def policy(**more: Any) -> dict[str, Any]:
    agents = {"builder": {"may": ["Bash"]}, "reader": {"may": ["read"]}}
    return {"remit": 1, "tools": TOOLS, "agents": agents, **more}


def guard_at(root: Path, **more: Any) -> Guard:
    return Guard(policy(**more), root=root, state=root.parent / "state")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "project"
    found.mkdir()
    return found


def events(guard: Guard, kind: str = "confined") -> list[dict[str, Any]]:
    guard.flush()
    with guard.authority.store.read() as view:
        return [entry.data for entry in entries(view) if entry.data["type"] == kind]


def test_a_command_is_decided_run_and_recorded(root: Path):
    with guard_at(root, confine="off") as guard:
        ran = guard.run("echo hello; exit 3", agent="builder")
        assert (ran.code, ran.out, ran.backend, ran.findings) == (3, "hello\n", "none", ())
        (said,) = events(guard)
        assert (said["what"], said["agent"], said["tool"], said["backend"], said["code"]) == (
            *("ran", "builder", "Bash", "none"),
            3,
        )
        (outcome,) = events(guard, "outcome")
        assert outcome["call"] == said["call"]


def test_words_are_what_they_are(root: Path):
    with guard_at(root, confine="off") as guard, guard.agent("builder"):
        assert guard.run(["printf", "%s|", "a b", "$HOME", "*"]).out == "a b|$HOME|*|"
        assert guard.run("cat", stdin=b"given").out == "given"
    assert text_of(["echo", "a b"]) == "echo 'a b'"
    with pytest.raises(GuardError, match="a text, or a list of words"):
        text_of([])


def test_who_may_not_run_commands_does_not(root: Path):
    with guard_at(root, confine="off") as guard:
        with pytest.raises(CallDenied):
            guard.run("echo hello", agent="reader")
        with pytest.raises(CallDenied):
            guard.run("echo x > .git/hooks/pre-commit", agent="builder")
        with pytest.raises(GuardError, match="nobody acts here"):
            guard.run("echo hello")
        assert events(guard) == []
        guard.refusals = "return"
        assert isinstance(guard.run("echo hello", agent="reader"), Refused)


def test_which_tool_runs_commands(root: Path):
    with guard_at(root) as guard:
        assert shell_tool(guard.rulebook, "builder", None) == ("Bash", "command")
        with pytest.raises(GuardError, match="not a tool that runs commands"):
            shell_tool(guard.rulebook, "builder", "read")
    two = {**TOOLS, "sh": {"args": {"text": "shell"}}}
    both = {"builder": {"may": ["Bash", "sh"]}, "reader": {"may": ["sh"]}}
    with guard_at(root, tools=two, agents=both) as guard:
        assert shell_tool(guard.rulebook, "reader", None) == ("sh", "text")
        assert shell_tool(guard.rulebook, "builder", "sh") == ("sh", "text")
        with pytest.raises(GuardError, match="runs commands: Bash, sh"):
            shell_tool(guard.rulebook, "builder", None)


def test_a_question_waits(root: Path):
    asked = {"builder": {"may": ["Bash"], "must_ask": ["Bash"]}}
    with guard_at(root, agents=asked, confine="off") as guard:
        with pytest.raises(CallPending):
            guard.run("echo hello", agent="builder")
        guard.answer = lambda question, args: "approve"
        assert guard.run("echo hello", agent="builder").code == 0


def test_in_an_event_loop(root: Path):
    async def both(guard: Guard) -> list[Any]:
        return await asyncio.gather(*(guard.arun(f"sleep 0.1; echo {n}", agent="builder") for n in range(3)))

    with guard_at(root, confine="off") as guard:
        assert [ran.out for ran in asyncio.run(both(guard))] == ["0\n", "1\n", "2\n"]


def test_cancelled_it_ends(root: Path):
    async def cancelled(guard: Guard) -> None:
        work = asyncio.create_task(guard.arun("echo $$ > pid; sleep 600", agent="builder"))
        while not (root / "pid").exists() or not (root / "pid").read_text():
            await asyncio.sleep(0.02)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    with guard_at(root, confine="off") as guard:
        asyncio.run(cancelled(guard))
        assert not Path("/proc", (root / "pid").read_text().strip()).exists()


def test_a_process_to_talk_to(root: Path):
    with guard_at(root, confine="off") as guard:
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with guard.popen("read x; echo got $x", agent="builder", **options) as process:
            assert process.communicate("this\n")[0] == "got this\n"
        assert process.returncode == 0
        assert [said["code"] for said in events(guard)] == [0]


def test_a_tool_that_starts_its_processes_itself(root: Path):
    with guard_at(root, confine="off") as guard:
        with guard.launching("echo x > made", agent="builder") as launch:
            launch.code = subprocess.run(launch.words, env=launch.environment, cwd=launch.cwd, check=False).returncode
        assert (root / "made").read_text() == "x\n"
        assert [said["code"] for said in events(guard)] == [0]
        with pytest.raises(CallDenied), guard.launching("echo x", agent="reader"):
            raise AssertionError("it may not run")


def test_a_limit_of_time(root: Path):
    with guard_at(root, confine="off") as guard:
        ran = guard.run("sleep 600", agent="builder", seconds=0.5)
        assert (ran.code, ran.timed_out) == (None, True)
        assert ran.messages == ("Remit: the command exceeded its time limit and was ended",)


# With bubblewrap


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return Arena(tmp_path / "a", Arena.build(tmp_path / "t"))


def script(arena: Arena, text: str) -> str:
    """A command that runs code of the project: its own text shows nothing of what that does."""
    (arena.root / "x.sh").write_text(text)
    return "sh x.sh"


@pytest.mark.hosts
@real
class TestConfined:
    """What holds only where something confines."""

    @pytest.fixture(autouse=True)
    def surroundings(self, monkeypatch: pytest.MonkeyPatch, arena: Arena) -> None:
        for name, value in environment(arena.home).items():
            monkeypatch.setenv(name, value)

    def guard(self, arena: Arena, **more: Any) -> Guard:
        said = {"confine": "required", "sandbox": {"network": "none"}, **more}
        return Guard(policy(**said), root=arena.root, state=arena.folder / "own")

    def test_it_is_held_swept_and_recorded(self, arena: Arena):
        protected = arena.protected()
        with self.guard(arena) as guard:
            ran = guard.run(
                script(arena, "echo x > docs/new; mkdir -p src/.claude; echo x > src/.claude/y"), agent="builder"
            )
            assert (ran.code, ran.backend) == (0, "bubblewrap")
            (found,) = ran.findings
            assert (found.code, found.path) == ("protected-made", "src/.claude")
            assert ran.messages[0].startswith("Remit: `src/.claude` is protected, and the command made it")
            (said,) = events(guard)
            assert (said["backend"], said["profile"], said["findings"][0]["aside"]) == (
                *("bubblewrap", ran.profile),
                found.aside,
            )
            (incident,) = guard.authority.incidents()
            assert (incident.agent, incident.code) == ("builder", "protected-made")
        assert arena.protected() == protected
        assert (arena.root / "docs/new").read_text() == "x\n"

    def test_project_code_is_held(self, arena: Arena):
        (arena.root / "x.py").write_text("open('.claude/settings.json', 'w')\n")
        with self.guard(arena) as guard:
            ran = guard.run(["python3", "x.py"], agent="builder")
            assert ran.code == 1
            assert ran.messages == ("Remit: `.claude/settings.json` is protected; the command could not write it",)

    def test_a_limit_of_the_policy_is_told(self, arena: Arena):
        with self.guard(arena, sandbox={"network": "none", "limits": {"time": "1s"}}) as guard:
            ran = guard.run(["sleep", "600"], agent="builder")
            assert (ran.timed_out, len(ran.messages)) == (True, 1)

    def test_a_long_run_is_watched(self, arena: Arena):
        with self.guard(arena) as guard:
            text = script(arena, "mkdir -p docs/.claude; echo x > docs/.claude/x; sleep 600")
            ran = guard.run(text, agent="builder", seconds=300)
            assert (ran.code, ran.timed_out) == (None, False)
            assert [one.code for one in ran.findings] == ["protected-made"]
        assert not (arena.root / "docs/.claude").exists()

    def test_talked_to_launched_and_in_a_loop(self, arena: Arena):
        protected = arena.protected()
        with self.guard(arena) as guard:
            text = script(arena, "echo x > remit.yaml; echo said")
            with guard.popen(text, agent="builder", stdout=subprocess.PIPE) as process:
                assert process.communicate()[0] == b"said\n"
            text = script(arena, "mkdir docs/.codex; touch docs/.codex/x")
            with guard.launching(text, agent="builder") as launch:
                subprocess.run(launch.words, env=launch.environment, cwd=launch.cwd, check=True)
            assert [one.path for one in launch.findings] == ["docs/.codex"]
            ran = asyncio.run(guard.arun(script(arena, "rm -rf .claude"), agent="builder"))
            assert ran.code == 1
            assert len(events(guard)) == 3
        assert arena.protected() == protected

    def test_a_scope_is_held(self, arena: Arena):
        scoped = {"builder": {"may": ["Bash"], "locks": {"may": ["docs/**"]}}}
        with self.guard(arena, agents=scoped) as guard:
            (arena.root / "x.py").write_text("open('docs/a', 'w'); open('src/a', 'w')\n")
            assert guard.run("python3 x.py", agent="builder").code == 1
        assert (arena.root / "docs/a").exists()
        assert not (arena.root / "src/a").exists()

    def test_hosts_are_reached_through_the_proxy_and_each_attempt_is_recorded(self, arena: Arena):
        def answer(listener: socket.socket) -> None:
            while True:
                try:
                    came, _ = listener.accept()
                except OSError:
                    return
                with came:
                    came.recv(4096)
                    came.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")

        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            threading.Thread(target=answer, args=(listener,), daemon=True).start()
            may = ["Bash", {"fetch": {"url": f"http://127.0.0.1:{port}/**"}}]
            tools = {**TOOLS, "fetch": {"args": {"url": "url"}, "does": {"network": "url"}}}
            sandbox = {"network": "policy"}
            with self.guard(arena, tools=tools, agents={"builder": {"may": may}}, sandbox=sandbox) as guard:
                fetch = "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:{}/\").read())'"
                ran = guard.run(script(arena, fetch.format(port)), agent="builder")
                assert (ran.code, ran.out) == (0, "b'hi'\n"), ran
                ran = guard.run(script(arena, fetch.format(1)), agent="builder")
                assert ran.code == 1
                assert len(ran.refused) == 1
                assert ran.messages[0].startswith("Remit: the command could not reach `http://127.0.0.1:1/`")
                said = [(one["what"], one.get("verdict")) for one in events(guard)]
                assert said == [("contact", "allowed"), ("ran", None), ("contact", "refused"), ("ran", None)]
            listener.shutdown(socket.SHUT_RDWR)

    def test_runners_are_confined_by_the_same_call(self, arena: Arena):
        checks = {"ok": ["sh", "ok.sh"], "bad": ["sh", "bad.sh"]}
        (arena.root / "ok.sh").write_text("echo fine > out/result")
        (arena.root / "bad.sh").write_text("echo x > .claude/settings.json")
        agents = {"ValidationRunner": {"may": ["runner/validation"]}}
        guard = self.guard(arena, agents=agents)
        runner = ValidationRunner(guard, checks)
        with guard:
            assert runner.stage("ok").ok
            bad = runner.stage("bad")
            assert (bad.ok, "Remit: `.claude/settings.json` is protected" in bad.err) == (False, True)
            assert [said["backend"] for said in events(guard)] == ["bubblewrap", "bubblewrap"]
        assert (arena.root / "out/result").read_text() == "fine\n"
