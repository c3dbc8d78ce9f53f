"""`remit ledger …` on a real ledger: what each command says, for people and for programs, and its exit code."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.cli.table import COMMANDS, Group
from remit.record.errors import LedgerStopped
from remit.record.verify import main as verify_by_hand
from tests.cli.kit import Remit
from tests.record.project import Project, allow, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    monkeypatch.chdir(found.root)
    with found.open() as opened:
        receipt = allow(opened, agent="reader", args={"file": "a.md"}, tool="read")
        opened.ledger.outcome(receipt.call, "done")
        deny(opened, agent="writer", args={"file": "b.md"}, rule="remit.yaml:3:5")
        deny(opened, agent="writer", args={"file": "c.md"}, tool="ship", code="undeclared-tool")
        opened.ledger.flush()
        opened.checkpoint()
    return found


@pytest.fixture
def remit(project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    return Remit(project.root, capsys, monkeypatch)


def test_verify(remit: Remit, project: Project):
    ran = remit("ledger", "verify")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("verified: remit.local/project-")
    assert "no anchor" in ran.out
    found = remit("ledger", "verify", "--json").json
    assert (found["verified"], found["size"], found["checkpoints"], found["values"]) == (True, 4, 1, 3)
    project.harm("UPDATE leaf SET body = CAST('{}' AS BLOB) WHERE seq = 2")
    ran = remit("ledger", "verify")
    assert ran.code == 1
    assert ran.out.startswith("NOT VERIFIED: entry 2: ")
    found = remit("ledger", "verify", "--json")
    assert (found.code, found.json["verified"], found.json["problems"][0]["first"]) == (1, False, 2)


def test_verify_with_a_key_and_a_checkpoint_from_elsewhere(remit: Remit, project: Project, tmp_path: Path):
    key = remit("ledger", "keys", "show").out.strip()
    remit("ledger", "anchor", "add", f"file:{tmp_path}/kept")
    remit("ledger", "anchor", "remove", f"file:{tmp_path}/kept")
    kept = tmp_path / "checkpoint"
    kept.write_bytes((tmp_path / "kept").read_bytes().rstrip(b"\n") + b"\n")
    assert remit("ledger", "verify", "--key", key, "--anchor", str(kept)).code == 0
    project.cut(2)
    project.forget()
    assert remit("ledger", "anchor", "push").code == 0
    assert remit("ledger", "verify").code == 0
    ran = remit("ledger", "verify", "--anchor", str(kept))
    assert ran.code == 1
    assert "cut off" in ran.out
    assert remit("ledger", "verify", "--key", "rubbish").code == 2
    assert remit("ledger", "verify", "--anchor", "no-such-file").code == 2


@pytest.mark.parametrize(
    ("words", "seqs"),
    [
        ((), [0, 1, 2, 3]),
        (("--agent", "writer"), [2, 3]),
        (("--tool", "ship"), [3]),
        (("--decision", "allow"), [0]),
        (("--type", "outcome"), [1]),
        (("--since", "2020-01-01"), [0, 1, 2, 3]),
        (("--until", "2020-01-01"), []),
        (("--since", "2999-01-01T00:00:00Z"), []),
        (("--capsule", "none"), []),
        (("--limit", "2"), [2, 3]),
        (("--limit", "0", "--agent", "writer"), [2, 3]),
    ],
)
def test_show_filters(remit: Remit, words: tuple[str, ...], seqs: list[int]):
    ran = remit("ledger", "show", "--json", *words)
    assert (ran.code, [line["seq"] for line in ran.lines]) == (0, seqs)
    assert len(remit("ledger", "show", *words).out.splitlines()) == len(seqs)


def test_show_one(remit: Remit):
    ran = remit("ledger", "show", "2", "--values")
    assert "    file: b.md\n" in ran.out
    assert "committed to (" in remit("ledger", "show", "2").out
    found = remit("ledger", "show", "2", "--values", "--json").json
    assert found["values"] == {"args.file": "b.md"}
    ran = remit("ledger", "show", "99")
    assert (ran.code, ran.err) == (2, "remit: there is no entry 99\n")


@pytest.mark.parametrize(
    "words",
    [
        ("show", "--decision", "maybe"),
        ("show", "--type", "rumour"),
        ("show", "--since", "yesterday"),
        ("show", "-1"),
        ("show", "99999999999999999999999999"),
        ("prove", "x"),
        ("export", "pdf", "x"),
        ("export", "tiles", "-"),
        ("export", "ocsf", "x", "--values"),
        ("erase",),
        ("erase", "--seq", "1", "--agent", "x"),
        ("erase", "--seq", "2"),
        ("anchor", "add", "ftp://x"),
        ("anchor", "remove", "file:/x"),
        ("keys", "rotate", "--days", "-1"),
        ("verify", "--state", "/no/such/place"),
        ("nonsense",),
        ("check-proof", "no-such-file"),
    ],
)
def test_bad_usage_is_one_line_and_2(remit: Remit, words: tuple[str, ...]):
    ran = remit("ledger", *words, stdin=b"")
    assert (ran.code, ran.out) == (2, "")
    first, *help_ = ran.err.splitlines()
    assert first.startswith("remit: ")
    assert "internal-error" not in first
    assert all(line.startswith("    ") for line in help_)


def test_tail_and_follow(remit: Remit, project: Project):
    assert [line["seq"] for line in remit("ledger", "tail", "-n", "2", "--json").lines] == [2, 3]
    command = [sys.executable, "-m", "remit", "ledger", "tail", "-f", "-n", "1", "--interval", "0.05", "--json"]
    process = subprocess.Popen(command, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert json.loads(process.stdout.readline())["seq"] == 3
        with project.open() as opened:
            for _ in range(3):
                deny(opened, agent="late")
        found = [json.loads(process.stdout.readline()) for _ in range(3)]
        assert [(one["seq"], one["entry"]["agent"]) for one in found] == [(4, "late"), (5, "late"), (6, "late")]
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, complaint) == (0, "")


def test_prove_and_check(remit: Remit, project: Project, tmp_path: Path):
    receipt = tmp_path / "receipt"
    assert remit("ledger", "prove", "2", "--to", str(receipt)).code == 0
    key = remit("ledger", "keys", "show").out.strip()
    offline = tmp_path / "elsewhere"
    offline.mkdir()
    remit.patch.chdir(offline)
    ran = remit("ledger", "check-proof", str(receipt), "--key", key)
    assert ran.code == 0
    assert "agent: writer" in ran.out
    found = remit("ledger", "check-proof", str(receipt), "--key", key, "--json").json
    assert (found["verified"], found["seq"], found["size"], found["witnesses"]) == (True, 2, 4, [])
    assert verify_by_hand([str(receipt), "--key", key]) == 0
    data = receipt.read_bytes()
    for place in range(0, len(data), 61):  # that every bit counts is tested in tests/record
        receipt.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        ran = remit("ledger", "check-proof", str(receipt), "--key", key)
        assert ran.code == 1, place
        assert ran.err.count("\n") == 1
    assert remit("ledger", "check-proof", str(receipt), "--key", key, "--json").json["verified"] is False


def test_an_entry_that_no_checkpoint_is_over_is_signed_for_its_receipt(remit: Remit, project: Project):
    with project.open() as opened:
        deny(opened)
    assert remit("ledger", "prove", "4").out.startswith("c2sp.org/tlog-proof@v1\n")
    assert remit("ledger", "prove", "5").code == 2


def test_export(remit: Remit, tmp_path: Path):
    assert [line["seq"] for line in remit("ledger", "export", "jsonl", "-").lines] == [0, 1, 2, 3]
    assert [line["seq"] for line in remit("ledger", "export", "jsonl", "-", "--from", "2").lines] == [2, 3]
    assert len(remit("ledger", "export", "ocsf", "-").lines) == 4
    assert remit("ledger", "export", "jsonl", str(tmp_path / "x.jsonl"), "--values", "--json").json["entries"] == 4
    assert len((tmp_path / "x.jsonl").read_text().splitlines()) == 4
    assert remit("ledger", "export", "tiles", str(tmp_path / "tiles")).code == 0
    key = remit("ledger", "keys", "show").out.strip()
    assert verify_by_hand([str(tmp_path / "tiles"), "--key", key]) == 0
    ran = remit("ledger", "export", "jsonl", str(tmp_path / "no" / "such"))
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_erase(remit: Remit):
    assert remit("ledger", "erase", "--agent", "writer", "--dry-run", "--json").json["entries"] == 2
    ran = remit("ledger", "erase", "--agent", "writer", "--yes", "--who", "officer")
    assert (ran.code, ran.out) == (0, "erased 2 values of 2 entries\n")
    assert "    file: erased\n" in remit("ledger", "show", "2", "--values").out
    assert remit("ledger", "verify").code == 0
    [entry] = remit("ledger", "show", "--type", "erasure", "--json").lines
    assert (entry["entry"]["who"], entry["entry"]["entries"]) == ("officer", [[2, 3]])


def test_keys(remit: Remit):
    first = remit("ledger", "keys", "show").out.strip()
    ran = remit("ledger", "keys", "rotate", "--days", "3")
    assert ran.code == 0
    second = remit("ledger", "keys", "show", "--json").json["vkey"]
    assert ran.out.strip() == second != first
    assert remit("ledger", "keys", "list", "--json").json == [first, second]
    assert remit("ledger", "verify").code == 0


def test_stats(remit: Remit, project: Project):
    with project.open() as opened:
        allow(opened, agent="writer", would="deny")
    found = remit("ledger", "stats", "--json").json
    assert found["agent"] == {"writer": 3, "reader": 1}
    assert found["decision"] == {"allow": 2, "deny": 2}
    assert found["tool"] == {"read": 2, "ship": 1, "write": 1}
    assert found["rule"] == {"remit.yaml:3:5": 1}
    assert found["would"] == {"deny: allowed": 1}
    assert found["results"] == {"done": 1}
    assert (found["size"], found["checkpoint"], found["anchors"]) == (5, 5, [])
    assert list(found["days"].values()) == [5]
    text = remit("ledger", "stats").out
    assert "under observe" in text
    assert remit("ledger", "stats", "--until", "2020-01-01", "--json").json["entries"] == 0


def test_a_page_of_counts_has_a_timeline(remit: Remit, project: Project):
    with project.open() as opened:
        opened.ledger.event("halt", {"what": "halted", "who": "writer", "by": "ann"})
        deny(opened)
        opened.ledger.flush()
    assert remit("ledger", "stats", "--html", "stats.html").code == 0
    page = (project.root / "stats.html").read_text("utf-8")
    numbers = remit("ledger", "stats", "--json").json
    assert f'aria-label="{sum(numbers["decision"].values())} calls of {len(numbers["agent"])} agents from ' in page
    drawn = [[int(n) for n, _ in re.findall(r"(\d+) (allowed|asked|denied)", one)] for one in _titles(page)]
    # The bars of all calls, and again those of each agent.
    assert sum(map(sum, drawn)) == 2 * sum(numbers["decision"].values())
    assert all(part in page for part in ("what: halted", "who: writer", "by: ann"))
    assert "out-of-scope" in page
    assert remit("ledger", "stats", "--until", "2020-01-01", "--html", "none.html").code == 0
    assert "no entries" in (project.root / "none.html").read_text("utf-8")


def _titles(page: str) -> list[str]:
    return re.findall(r"<g><title>([^<]*)</title><rect", page)


def test_anchors(remit: Remit, project: Project, tmp_path: Path):
    assert remit("ledger", "anchor", "list").out == "no anchors\n"
    name = f"file:{tmp_path}/kept"
    assert remit("ledger", "anchor", "add", name).out == f"{name}: 4 entries\n"
    assert remit("ledger", "anchor", "add", name).code == 2
    with project.open() as opened:
        deny(opened)
    assert remit("ledger", "anchor", "list", "--json").json == [{"anchor": name, "size": 4, "error": None}]
    assert remit("ledger", "anchor", "push").code == 0
    assert "keeps 5 entries" in remit("ledger", "verify").out
    project.cut(3)
    project.forget()
    ran = remit("ledger", "verify")
    assert (ran.code, "it was cut" in ran.out) == (1, True)
    (tmp_path / "kept").unlink()
    (tmp_path / "kept").mkdir()
    assert remit("ledger", "anchor", "list").code == 1


def test_anchor_remove(remit: Remit, tmp_path: Path):
    name = f"file:{tmp_path}/kept"
    remit("ledger", "anchor", "add", name)
    assert remit("ledger", "anchor", "remove", name).code == 0
    assert remit("ledger", "anchor", "list").out == "no anchors\n"
    assert remit("ledger", "anchor", "remove", name).code == 2


def test_an_anchor_that_knows_more_is_not_added(remit: Remit, project: Project, tmp_path: Path):
    name = f"file:{tmp_path}/kept"
    remit("ledger", "anchor", "add", name)
    remit("ledger", "anchor", "remove", name)
    project.cut(2)
    project.forget()
    ran = remit("ledger", "anchor", "add", name)
    assert (ran.code, "it was cut" in ran.err) == (2, True)
    assert remit("ledger", "anchor", "list").out == "no anchors\n"


def test_a_witness_as_people_run_it(remit: Remit, project: Project, tmp_path: Path):
    key = remit("ledger", "keys", "show").out.strip()
    command = [sys.executable, "-m", "remit", "witness", "--state", str(tmp_path / "w"), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen([*command, "--log", key, "--name", "w/1"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().endswith("watching 1 logs\n")
        name = process.stdout.readline().removeprefix("anchor: ").strip()
        assert remit("ledger", "anchor", "add", name).code == 0
        remit("ledger", "prove", "2", "--to", str(tmp_path / "receipt"))
        keys = ("--key", key, "--key", name.partition("+")[2])
        assert "cosigned by w/1" in remit("ledger", "check-proof", str(tmp_path / "receipt"), *keys).out
        assert remit("ledger", "verify").code == 0
        project.cut(2)
        project.forget()
        assert remit("ledger", "verify").code == 1
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    ran = remit("witness", "--state", str(tmp_path / "w"), "--print-key")
    assert ran.out.strip() == name.partition("+")[2]
    assert remit("witness", "--state", str(tmp_path / "w"), "--listen", "nonsense").code == 2
    assert remit("witness", "--state", str(tmp_path / "w"), "--log", "nonsense", "--print-key").code == 2


def test_a_state_directory_by_name(remit: Remit, project: Project, tmp_path: Path):
    remit.patch.chdir(tmp_path)
    assert remit("ledger", "verify").code == 2, "no policy here"
    assert remit("ledger", "verify", "--state", str(project.state)).code == 0
    assert remit("ledger", "verify", "--policy", str(project.root / "remit.yaml")).code == 0


def test_groups_alone_print_their_help(remit: Remit):
    for words in ((), ("keys",), ("anchor",)):
        ran = remit("ledger", *words)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("Usage: ")


def test_every_command_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text("utf-8")
    group = COMMANDS["ledger"]
    assert isinstance(group, Group)
    for name, command in group.commands.items():
        for inner in command.commands if isinstance(command, Group) else ("",):
            assert f"remit ledger {name} {inner}".rstrip() in page, (name, inner)


@pytest.mark.parametrize("with_anchor", [False, True])
def test_verify_stops_a_log_that_was_cut(remit: Remit, project: Project, tmp_path: Path, with_anchor: bool):
    if with_anchor:
        remit("ledger", "anchor", "add", f"file:{tmp_path}/kept")
    project.cut(2)
    if with_anchor:
        project.forget()  # then only the anchor knows
    ran = remit("ledger", "verify")
    assert (ran.code, "remit ledger resume" in ran.out) == (1, True)
    for place in (project.state, None):
        if place is not None:
            (place / "stopped").unlink()  # the one in the store is enough
        with pytest.raises(LedgerStopped, match="stopped since"):
            project.open()


def test_verify_stops_nothing_for_less(remit: Remit, project: Project):
    project.harm("UPDATE leaf SET body = CAST('{}' AS BLOB) WHERE seq = 2", "DELETE FROM secret WHERE seq = 3")
    assert remit("ledger", "verify").code == 1
    assert not (project.state / "stopped").exists()


def test_verify_with_a_key_from_elsewhere_stops_nothing(remit: Remit, project: Project):
    key = remit("ledger", "keys", "show").out.strip()
    project.cut(2)
    assert remit("ledger", "verify", "--key", key).code == 1
    assert not (project.state / "stopped").exists()
