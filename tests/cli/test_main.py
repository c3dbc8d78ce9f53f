"""The program as a whole: help, the policy it finds, exit codes, and what never reaches people."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from remit.cli import common
from tests.cli.kit import Remit, program
from tests.explain.kit import POLICY

COMMANDS = ("check", "decide", "explain", "matrix", "report", "who-can", "schema")


def test_help_lists_commands_and_exit_codes(remit: Remit):
    for args in ((), ("--help",), ("-h",)):
        ran = remit(*args)
        assert ran.code == 0
        assert all(f"  {command} " in ran.out for command in COMMANDS)
        assert "3   a decision that --fail-on names" in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(remit: Remit, command: str):
    ran = remit(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: remit {command} ")


def test_the_version(remit: Remit):
    assert remit("--version").out == f"remit {version('remit')}\n"


def test_the_nearest_policy_counts(remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    remit.policy(POLICY.replace("name: small", "name: near"), "a/remit.yaml")
    (tmp_path / "a" / "b").mkdir()
    monkeypatch.chdir(tmp_path / "a" / "b")
    ran = remit("matrix", "--format", "md")
    assert ran.err == f"policy: {tmp_path / 'a' / 'remit.yaml'}\n"
    assert ran.out.startswith("# Tool access matrix of near\n")
    assert remit("matrix", "--format", "md", "--policy", "../../remit.yaml").err == "policy: ../../remit.yaml\n"


def test_no_policy_anywhere(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(common, "NAME", "no-such-policy.yaml")
    ran = remit("check")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("remit: no no-such-policy.yaml in ")
    assert ran.err.endswith("or name one with --policy FILE\n")


@pytest.mark.parametrize("command", ["check", "matrix"])
def test_a_policy_that_is_not_there(remit: Remit, command: str):
    ran = remit(command, "--policy", "missing.yaml")
    assert (ran.code, ran.err) == (2, "remit: missing.yaml: no such file\n")


def test_a_policy_that_is_a_symlink_or_open_to_all(remit: Remit, tmp_path: Path):
    (tmp_path / "link.yaml").symlink_to("remit.yaml")
    ran = remit("matrix", "--policy", "link.yaml")
    assert ran.code == 1
    assert "the file is a symlink" in ran.err
    (tmp_path / "remit.yaml").chmod(0o666)
    ran = remit("matrix")
    assert ran.code == 1
    assert "everybody may write this file" in ran.err


def test_a_working_directory_that_is_gone(remit: Remit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        ran = remit("check")
    finally:
        os.chdir(tmp_path)
    assert (ran.code, ran.err) == (2, "remit: the working directory does not exist any more\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nothing",), "remit: no such command `nothing`; see `remit --help`\n"),
        (("chekc",), "remit: no such command `chekc`; did you mean `remit check`?"),
        (("tset",), "remit: no such command `tset`; did you mean `remit test`?"),
        (("why",), "remit: no such command `why`; did you mean `remit explain`?; see `remit --help`\n"),
        (
            ("check", "team.yaml"),
            "remit: got unexpected extra argument(s) (team.yaml); another policy is `--policy team.yaml`; see ",
        ),
        (("check", "--nothing"), "remit: no such option: --nothing"),
        (("check", "more"), "remit: got unexpected extra argument"),
        (("\x1b[31m\u202e",), "remit: no such command "),
        (("--nothing\nat all",), "remit: no such option: --nothing"),
    ],
)
def test_bad_usage_is_one_line(remit: Remit, args: tuple[str, ...], said: str):
    ran = remit(*args)
    assert ran.code == 2
    assert ran.err.startswith(said)
    assert ran.err.count("\n") == 1
    assert not [c for c in ran.err if not c.isprintable() and c != "\n"]


def broken(*args, **more):
    raise RuntimeError("oops \x1b[31m\nhere")


def test_an_error_of_ours_is_one_line(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(common, "load", broken)
    ran = remit("matrix", "--format", "json")
    assert ran.code == 70
    assert ran.err == (
        "policy: remit.yaml\nremit: internal-error: RuntimeError: oops \\x1b[31m\\nhere; REMIT_DEBUG=1 shows more\n"
    )
    monkeypatch.setenv("REMIT_DEBUG", "1")
    assert "Traceback (most recent call last)" in remit("matrix").err


def test_an_interrupt_is_one_line(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(common, "load", interrupted)
    ran = remit("matrix", "--format", "json")
    assert (ran.code, ran.err) == (130, "policy: remit.yaml\nremit: interrupted\n")


def test_an_interrupt_while_waiting_for_calls(remit: Remit, tmp_path: Path):
    command = [sys.executable, "-m", "remit", "decide", "--calls", "-"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        if running.stdin is None or running.stdout is None or running.stderr is None:
            pytest.fail("no pipes")
        running.stdin.write(b"{}\n")
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
        assert running.stderr.read() == b"policy: remit.yaml\nremit: interrupted\n"


def test_stdout_that_is_closed(remit: Remit, tmp_path: Path):
    command = f'exec "{sys.executable}" -m remit matrix >&-'
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (2, b"remit: stdout is closed\n")


def test_both_outputs_closed(remit: Remit, tmp_path: Path):
    command = f'exec "{sys.executable}" -m remit matrix >&- 2>&-'
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert ran.returncode == 2


def test_another_encoding(remit: Remit, tmp_path: Path):
    ran = program("check", cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0
    assert b"yes 4 agents" in ran.stdout


def test_the_installed_program(remit: Remit, tmp_path: Path):
    ran = subprocess.run(
        [Path(sys.executable).parent / "remit", "check"], cwd=tmp_path, capture_output=True, timeout=60, check=False
    )
    assert ran.returncode == 0
    assert ran.stdout.decode().startswith("policy: remit.yaml\n✅ 4 agents")


def test_deciding_draws_no_tables(remit: Remit, tmp_path: Path):
    code = (
        "import sys; from remit.cli.main import run; "
        "run(['decide', '--agent', 'reader', '--tool', 'log', '--arg', 'text=']); "
        "print(*sorted(name for name in sys.modules if name.partition('.')[0] == 'rich'), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=60, check=True)
    assert ran.stderr.strip() == b""


def test_help_as_a_command(remit: Remit):
    assert remit("help").out == remit("--help").out
    assert remit("help", "check").out == remit("check", "--help").out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("CHECK",), "no such command `CHECK`; did you mean `remit check`?"),
        (("ledger", "shwo"), "no such command `shwo`; did you mean `remit ledger show`?"),
        (("decide", "-agent", "a"), "no such option: -agent; did you mean `--agent`?"),
        (("understand", "git", "log"), "a command is one text, in quotation marks: remit understand 'git log'"),
        (("ledger", "show", "abc"), "'abc' is no whole number that it takes"),
    ],
)
def test_what_was_meant_is_named(remit: Remit, args: tuple[str, ...], said: str):
    ran = remit(*args)
    assert ran.code == 2
    assert said in ran.err


def test_a_policy_with_nearly_the_right_name_is_named(remit: Remit):
    (remit.folder / "remit.yaml").unlink(missing_ok=True)
    (remit.folder / "remit.yml").write_text("remit: 1\n")
    remit.patch.chdir(remit.folder)
    ran = remit("check")
    assert ran.code == 2
    assert "`remit.yml` is here: rename it to remit.yaml, or say --policy remit.yml" in ran.err
