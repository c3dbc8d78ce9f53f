"""`remit credential`: set at a terminal, and by nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.grant.credential import check_passphrase, is_set
from remit.record.open import open_log
from tests.cli.terminal import Typed, at_terminal, without_terminal
from tests.explain.kit import POLICY
from tests.record.stores import said

RIGHT, OTHER = "correct horse battery", "staple the other one"
NEW, AGAIN, OLD = "new passphrase: ", "the new one again: ", "until now: "


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("REMIT_STORE", raising=False)
    root = tmp_path / "project"
    root.mkdir()
    (root / "remit.yaml").write_text(POLICY)
    return root


def first(project: Path, *more: str) -> Typed:
    return at_terminal("credential", "set", *more, cwd=project, answers=[(NEW, f"{RIGHT}\n"), (AGAIN, f"{RIGHT}\n")])


def works(project: Path, text: str) -> bool:
    with open_log(project) as opened:
        return check_passphrase(opened.store, text)


def events(project: Path) -> list[str]:
    with open_log(project) as opened:
        return [entry["what"] for entry in said(opened.store) if entry["type"] == "credential"]


def test_set_at_a_terminal_and_shown_nowhere(project: Path) -> None:
    assert without_terminal("credential", "status", cwd=project).out.startswith("no passphrase is set")
    ran = first(project)
    assert (ran.code, ran.out, ran.err) == (0, "the passphrase is set\n", "")
    assert RIGHT not in ran.screen
    assert works(project, RIGHT)
    assert events(project) == ["set", "given"]
    shown = without_terminal("credential", "status", "--json", cwd=project)
    told = json.loads(shown.out)
    assert (told["set"], told["kind"], told["failures"]) == (True, "passphrase", 0)
    for file in (project.parent / "state").rglob("*"):
        assert file.is_dir() or RIGHT.encode() not in file.read_bytes(), file


def test_without_a_terminal_nothing_is_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_PASSPHRASE", RIGHT)
    ran = without_terminal("credential", "set", cwd=project, stdin=f"{RIGHT}\n{RIGHT}\n".encode())
    assert ran.code == 2
    assert ran.err.startswith("remit: there is no terminal")
    assert "no passphrase" in without_terminal("credential", "status", cwd=project).out


def test_stdin_is_not_asked_even_if_there_is_a_terminal(project: Path) -> None:
    answers = [(NEW, f"{RIGHT}\n"), (AGAIN, f"{RIGHT}\n")]
    piped = f"{OTHER}\n{OTHER}\n".encode()
    assert at_terminal("credential", "set", cwd=project, answers=answers, stdin=piped).code == 0
    assert works(project, RIGHT)
    assert not works(project, OTHER)


def test_what_was_typed_before_the_question_is_no_answer(project: Path) -> None:
    answers = [(NEW, f"{RIGHT}\n"), (AGAIN, f"{RIGHT}\n")]
    assert at_terminal("credential", "set", cwd=project, answers=answers, typed=f"{OTHER}\n").code == 0
    assert works(project, RIGHT)


def test_changing_asks_for_the_old_one(project: Path) -> None:
    first(project)
    change = [(NEW, f"{OTHER}\n"), (AGAIN, f"{OTHER}\n")]
    wrong = at_terminal("credential", "set", cwd=project, answers=[(OLD, "not the right one\n"), *change])
    assert (wrong.code, wrong.err) == (2, "remit: wrong passphrase\n")
    right = at_terminal("credential", "set", "--json", cwd=project, answers=[(OLD, f"{RIGHT}\n"), *change])
    assert (right.code, right.json) == (0, {"what": "changed"})
    assert events(project) == ["set", "refused", "given", "changed"]
    assert works(project, OTHER)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([(NEW, f"{RIGHT}\n"), (AGAIN, f"{OTHER}\n")], "the two are not the same; nothing was set"),
        ([(NEW, "short\n")], "this passphrase can't be used: it has fewer than 8 characters"),
        ([(NEW, "\n")], "this passphrase can't be used: it has fewer than 8 characters"),
        ([(NEW, "\x04")], "no passphrase was entered"),
        ([(NEW, f"{'x' * 1001}\n")], "this passphrase can't be used: it has more than 1000 characters"),
    ],
)
def test_what_is_not_taken(project: Path, answers: list[tuple[str, str]], message: str) -> None:
    ran = at_terminal("credential", "set", cwd=project, answers=answers)
    assert (ran.code, ran.err.splitlines()[0]) == (2, f"remit: {message}")
    with open_log(project) as opened:
        assert not is_set(opened.store)


def test_interrupted_the_terminal_shows_again_what_is_typed(project: Path) -> None:
    ran = at_terminal("credential", "set", cwd=project, answers=[(NEW, "half a pass\x03")])  # at_terminal looks
    assert (ran.code, ran.err) == (130, "remit: interrupted\n")


def test_a_long_one_with_wide_letters(project: Path) -> None:
    long = "🔑" * 1000
    answers = [(NEW, f"{long}\n"), (AGAIN, f"{long}\n")]
    assert at_terminal("credential", "set", cwd=project, answers=answers).code == 0
    assert works(project, long)
    assert not works(project, long[:-1])


def test_where_there_is_no_project(tmp_path: Path) -> None:
    for command in ("set", "status"):
        ran = without_terminal("credential", command, "--policy", "missing.yaml", cwd=tmp_path)
        assert (ran.code, ran.err) == (2, "remit: missing.yaml: no such file\n")
