"""The list of installed projects, as a shell reads it: whom it sends where, and what it refuses."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from remit.adapters.hooks import roots
from remit.adapters.hooks.installed import InstallError
from remit.adapters.hooks.roots import (
    Root,
    change_roots,
    guard_command,
    read_roots,
    server_command,
    with_root,
    without_root,
)
from remit.adapters.hosts.claude_code import HOST

SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


class Guard:
    """A home with installed projects, and the command of the user's settings."""

    def __init__(self, base: Path, shell: str) -> None:
        self.home, self.shell = base / "home", shell
        self.client = base / "client.py"
        self.client.write_text("import sys; print(*sys.argv[1:])")
        for name in ("a", "a/sub", "b c", "other", "a-b"):
            (self.home / name).mkdir(parents=True)
        for name in ("a", "b c"):
            self.install(name)
        self.command = guard_command("claude-code")
        self.list = roots.roots_path("claude-code")

    def install(self, name: str) -> None:
        one = Root(str(self.home / name), f"/state/{name}", shutil.which("python3") or "", str(self.client))
        change_roots(HOST, lambda roots: with_root(roots, one))

    def ask(self, cwd: str, said: str = "{}", start: str | None = None) -> tuple[int, str]:
        words = ["busybox", "sh"] if self.shell == "busybox" else [self.shell]
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        env["CLAUDE_PROJECT_DIR"] = str(self.home / (cwd if start is None else start))
        done = subprocess.run(
            [*words, "-c", self.command],
            input=said.encode(),
            capture_output=True,
            cwd=self.home / cwd,
            env=env,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode().strip()

    def write(self, path: str) -> str:
        """A question about a call that names a path."""
        call = {"tool_name": "Write", "tool_input": {"file_path": path}}
        return json.dumps({"hook_event_name": "PreToolUse", **call}, separators=(",", ":"))


@pytest.fixture(params=SHELLS)
def guard(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "st ate"))
    return Guard(tmp_path, request.param)


def test_a_session_belongs_to_the_project_in_which_it_was_started(guard: Guard):
    assert guard.ask("a") == (0, "claude-code /state/a")
    assert guard.ask("a/sub") == (0, "claude-code /state/a")
    assert guard.ask("b c") == (0, "claude-code /state/b c")
    assert guard.ask("b c", start="a") == (0, "claude-code /state/a")  # going elsewhere does not change whose it is
    assert guard.ask("other", start="a") == (0, "claude-code /state/a")
    assert guard.ask("a", start="other") == (0, "claude-code /state/a")
    assert guard.ask("a-b") == (0, "{}")  # only the beginning of its name is the same
    assert guard.ask("other", start="gone") == (0, "{}")


def test_links_lead_where_they_lead(guard: Guard):
    (guard.home / "link").symlink_to("a")
    assert guard.ask("link/sub") == (0, "claude-code /state/a")
    assert guard.ask("other", start="link") == (0, "claude-code /state/a")


def test_the_nearest_project_counts(guard: Guard):
    guard.install("a/sub")
    assert guard.ask("a/sub") == (0, "claude-code /state/a/sub")
    assert guard.ask("a") == (0, "claude-code /state/a")


def test_elsewhere_only_calls_that_name_a_project_are_looked_at(guard: Guard):
    home = guard.home
    for path in (f"{home}/a/x", "~/a/x", "$HOME/a", "../a/x", f"{home}/b c/x", "../../home/a"):
        assert guard.ask("other", guard.write(path))[1].endswith(" elsewhere"), path
    for path in ("x", "/tmp/a", f"{home}/a-b/x", "~/other/a.txt", f"{home}/ab"):
        assert guard.ask("other", guard.write(path)) == (0, "{}"), path
    assert guard.ask(".", guard.write("a/x"))[1].endswith(" elsewhere")
    report = guard.write(f"{home}/a/x").replace("PreToolUse", "PostToolUse")
    assert guard.ask("other", report) == (0, "{}")


def test_a_large_call_elsewhere(guard: Guard):
    said = guard.write("x" * 3_000_000)
    assert guard.ask("other", said) == (0, "{}")
    assert guard.ask("other", said.replace('xxx"', f'{guard.home}/a/x"'))[1].endswith(" elsewhere")


@pytest.mark.parametrize("harm", ["gone", "empty", "cut", "junk"])
def test_a_list_that_cannot_be_read_denies_everything_everywhere(guard: Guard, harm: str):
    text = guard.list.read_text()
    if harm == "gone":
        guard.list.unlink()
    else:
        guard.list.write_text({"empty": "", "cut": text[: text.index("[ $best")], "junk": "\0(((\n"}[harm])
    for place in ("a", "other"):
        code, out = guard.ask(place)
        assert (code != 0, out) == (True, "")
        assert code == 2 or harm == "junk"
    if harm == "cut":
        with pytest.raises(InstallError, match="cut off"):
            read_roots("claude-code")


def test_a_program_that_is_gone_denies(guard: Guard):
    guard.client.unlink()
    assert guard.ask("a") == (2, "")
    assert guard.ask("other", guard.write("../a/x")) == (2, "")
    assert guard.ask("other") == (0, "{}")


def test_a_shared_hook_refuses_what_was_not_installed(guard: Guard):
    guard.command = f"remit_shared=1; {guard.command}"
    assert guard.ask("a") == (0, "claude-code /state/a")
    assert guard.ask("other") == (2, "")


def test_odd_names_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    odd = [Root(f"/a/{name}", "/s", "/p", "/c") for name in ("it's", '"q"', "$(touch x)", "`x`", "ü", "a\\b", "*", " ")]
    change_roots(HOST, lambda roots: [*roots, *odd])
    assert read_roots("claude-code") == odd
    script = roots.roots_path("claude-code").read_text()
    assert subprocess.run(["sh", "-nc", script], check=False).returncode == 0
    assert all(f"mind {shlex.quote(one.root)} " in script for one in odd)
    for one in odd:
        change_roots(HOST, lambda roots, one=one: without_root(roots, Path(one.root)))  # type: ignore[misc]
    assert not roots.roots_path("claude-code").exists()


def test_a_worktree_of_git_counts_as_the_project_that_it_mirrors(guard: Guard):
    main, place = guard.home / "a", guard.home / "wt"
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", str(place)]):
        subprocess.run(["git", *who, *words], cwd=main, check=True, capture_output=True)
    (place / "sub").mkdir()
    assert guard.ask("wt") == (0, "claude-code /state/a")
    assert guard.ask("wt/sub") == (0, "claude-code /state/a")
    assert guard.ask("other", start="wt/sub") == (0, "claude-code /state/a")
    (place / ".git").write_text("gitdir: ../a/.git/worktrees/wt")  # newer versions of git can write it like this
    assert guard.ask("wt/sub") == (0, "claude-code /state/a")
    for text in ("gitdir: /nowhere/.git/worktrees/wt\n", "gitdir: ../a/.git/modules/wt\n", "", "\n"):
        (place / ".git").write_text(text)
        assert guard.ask("wt/sub") == (0, "{}"), text


def test_a_server_without_tools_outside_of_every_project(guard: Guard):
    words = ["busybox", "sh"] if guard.shell == "busybox" else [guard.shell]
    said = [
        '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"method":"tools/list","jsonrpc":"2.0","id":"a-1"}',
        '{"method":"server/discover","params":{},"jsonrpc":"2.0","id":2}',
        "junk",
        '{"jsonrpc":"2.0","id":3,"method":"ping"}',
    ]
    done = subprocess.run(
        [*words, *server_command("claude-code")[1:]],
        input="\n".join(said) + "\n",
        capture_output=True,
        text=True,
        cwd=guard.home / "other",
        env={"PATH": os.environ["PATH"], "HOME": str(guard.home)},
        timeout=60,
        check=True,
    )
    found = {one["id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert found[0]["result"]["protocolVersion"] == "2025-06-18"
    assert found["a-1"]["result"] == {"tools": []}
    assert found[2]["error"]["code"] == -32601
    assert found[3]["result"] == {}
    assert len(found) == 4
