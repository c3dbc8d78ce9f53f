"""What goes wrong in the first ten minutes: no standard input, a full stderr, an odd folder, no policy yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = "---\nname: reviewer\ndescription: Reviews.\ntools: Read, Grep\n---\nReview.\n"
POLICY = (
    "remit: 1\nuse: [claude-code]\nhosts: {claude-code: {main: reviewer}}\nagents: {reviewer: {may: [Read, Grep]}}\n"
)


def remit(words: str, folder: Path, home: Path, shell: str = "") -> subprocess.CompletedProcess[bytes]:
    """The program in a process of its own; `shell` closes or redirects its streams."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    line = f'exec "{sys.executable}" -m remit {words} {shell}'
    return subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("activate", "nobody is there to agree: say --yes"),
        ("install claude-code", "no policy is activated"),
        ("credential set", "no terminal"),
        ("understand -", "standard input is closed"),
        ("init --tools - --output new.yaml", "standard input is closed"),
        ("decide --calls -", "standard input is closed"),
        ("capsule new -", "standard input is closed"),
    ],
)
def test_without_a_standard_input(words: str, said: str, tmp_path: Path, home: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "remit.yaml").write_text(POLICY)
    done = remit(words, project, home, "<&-")
    assert (done.returncode, said in done.stderr.decode()) == (2, True), done.stderr.decode()


def test_input_that_is_not_utf_8(tmp_path: Path, home: Path) -> None:
    done = remit("understand -", tmp_path, home, "< <(printf 'ls \\xff')")
    assert done.returncode == 2
    assert done.stderr.decode() == "remit: -: standard input is not UTF-8, at byte 3\n"


def test_the_exit_code_survives_a_full_stderr(tmp_path: Path, home: Path) -> None:
    assert remit("check", tmp_path, home, "2>/dev/full").returncode == 2


def test_no_policy_yet(tmp_path: Path, home: Path) -> None:
    done = remit("check", tmp_path, home)
    assert done.returncode == 2
    assert b"draft one with `remit init`" in done.stderr


def test_a_folder_whose_name_is_not_utf_8(tmp_path: Path, home: Path) -> None:
    project = tmp_path / os.fsdecode(b"caf\xe9")
    (project / ".claude" / "agents").mkdir(parents=True)
    (project / ".claude" / "agents" / "reviewer.md").write_text(AGENT)
    for words in ("scan", "init", "check", "matrix", "activate --yes", "ledger verify", "status --all"):
        done = remit(words, project, home)
        assert done.returncode == (1 if words.startswith("status") else 0), (words, done.stderr.decode())
    done = remit("install claude-code --yes", project, home)
    assert done.returncode == 2
    assert "its name is not UTF-8\n    rename the folder" in done.stderr.decode()


def test_a_folder_with_blanks_and_letters(tmp_path: Path, home: Path) -> None:
    project = tmp_path / "sp ace ünï"
    (project / ".claude" / "agents").mkdir(parents=True)
    (project / ".claude" / "agents" / "reviewer.md").write_text(AGENT)
    for words in ("scan", "init", "activate --yes", "install claude-code --yes", "status --probe"):
        done = remit(words, project, home)
        assert done.returncode == 0, (words, done.stderr.decode())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("check other.yaml", "another policy is `--policy other.yaml`"),
        ("suggest dev", "what it takes are options: --since"),
        ("check --policy nowhere", "remit: nowhere: no such file"),
        ("init --tools remit.yaml --output new.yaml", "--tools remit.yaml: not JSON"),
        ("init --tools none.json --output new.yaml", "can't read `none.json`: No such file or directory\n"),
        ("halt reviwer --because x", "unknown agent `reviwer`; did you mean `reviewer`?"),
        ("ledger show --state /none", "--state: no such directory `/none`"),
    ],
)
def test_what_people_type(words: str, said: str, tmp_path: Path, home: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "remit.yaml").write_text(POLICY)
    done = remit(words, project, home)
    assert (done.returncode, said in done.stderr.decode()) == (2, True), done.stderr.decode()


def test_a_folder_is_a_policy(tmp_path: Path, home: Path) -> None:
    (tmp_path / "remit.yaml").write_text(POLICY)
    (tmp_path / "src").mkdir()
    assert remit("check --policy ..", tmp_path / "src", home).returncode == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("agents: [a, b]", "write a key for each instead of a list: {AGENT: …}"),
        ("agents: {a: {tools: [Read]}}", "what an agent may use stands under `may: […]`"),
        ("hosts: {emacs: {main: a}}\nagents: {a: {may: [Read]}}", "known once that package is installed"),
    ],
)
def test_policies_that_people_write(wrong: str, said: str, tmp_path: Path, home: Path) -> None:
    (tmp_path / "remit.yaml").write_text(f"remit: 1\nuse: [claude-code]\n{wrong}\n")
    done = remit("check", tmp_path, home)
    assert (done.returncode, said in (done.stdout + done.stderr).decode()) == (1, True)


def test_an_unknown_agent_of_a_layer_is_named_where_it_stands(tmp_path: Path, home: Path) -> None:
    (tmp_path / "remit.yaml").write_text(
        "remit: 1\ntools: {x: {args: {}, does: nothing, layer: l}}\nagents: {dev: {may: []}}\n"
        "defaults: {accessible_by: {layer: {l: [dve]}}}\n"
    )
    done = remit("check", tmp_path, home)
    assert b"remit.yaml:4:" in done.stdout + done.stderr


def test_an_empty_test_file_is_no_policy(tmp_path: Path, home: Path) -> None:
    (tmp_path / "remit.yaml").write_text(POLICY)
    (tmp_path / "remit.test.yaml").write_text("- a\n")
    done = remit("check", tmp_path, home)
    assert b"such as `remit_tests: 1`" in done.stdout + done.stderr
