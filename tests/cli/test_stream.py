"""`remit decide --calls`: a line in, a line out, whatever the line is."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.enforce import answering as stream
from remit.enforce.call_facts import CallFacts
from remit.model.errors import InputError
from remit.model.facts import Facts
from remit.model.wire import MAX_LINE, decode_call
from tests.cli.kit import Remit, program

GOOD = b'{"id": "1", "agent": "reader", "tool": "read", "args": {"file": "a"}}\n'


def test_in_order_with_ids(remit: Remit):
    calls = [
        {"id": str(number), "agent": agent, "tool": "read", "args": {"file": "a"}}
        for number, agent in enumerate(["reader", "keeper", "nobody", "writer"])
    ]
    ran = remit("decide", "--calls", "-", stdin="".join(json.dumps(call) + "\n" for call in calls).encode())
    assert (ran.code, ran.err) == (0, "policy: remit.yaml\n")
    assert [(one["id"], one["decision"], one["code"]) for one in ran.lines] == [
        ("0", "allow", "allowed"),
        ("1", "deny", "not-permitted"),
        ("2", "deny", "unknown-agent"),
        ("3", "allow", "allowed"),
    ]


def test_a_file(remit: Remit, tmp_path: Path):
    (tmp_path / "calls.jsonl").write_bytes(GOOD * 3)
    assert [one["decision"] for one in remit("decide", "--calls", "calls.jsonl").lines] == ["allow"] * 3


BAD = {
    "no json": b"{",
    "a list": b"[]",
    "no agent": b'{"tool": "read"}',
    "unknown field": b'{"agent": "a", "tool": "t", "more": 1}',
    "a key twice": b'{"agent": "reader", "agent": "boss", "tool": "read", "args": {"file": "a"}}',
    "not a number": b'{"agent": "reader", "tool": "read", "args": {"file": NaN}}',
    "deep": b'{"agent": "reader", "tool": "read", "args": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "many digits": b'{"agent": "reader", "tool": "read", "args": {"file": ' + b"9" * 5_000 + b"}}",
    "lone surrogate": rb'{"agent": "reader", "tool": "read", "args": {"file": "\ud800"}}',
    "not utf-8": b'{"agent": "reader", "tool": "read", "args": {"file": "\xff"}}',
    "utf-16": '{"agent": "reader"}'.encode("utf-16"),
    "nul": b"\0",
    "bom": b"\xef\xbb\xbf" + GOOD.strip(),
    "context": b'{"agent": "reader", "tool": "read", "args": {"file": "a"}, "context": {"data_tier": "1"}}',
    "too long": b'{"agent": "' + b"x" * MAX_LINE + b'"}',
    "much too long": b"x" * (3 * MAX_LINE + 17),
}


@pytest.mark.sample(16)
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_bad_line_is_answered_and_does_not_stop_the_rest(remit: Remit, bad: bytes, end: bytes):
    ran = remit("decide", "--calls", "-", stdin=GOOD + b"\n  \n" + bad + end + (GOOD if end else b""))
    assert ran.code == 0
    found = [(one["decision"], one["code"]) for one in ran.lines]
    good, wrong = ("allow", "allowed"), ("deny", "malformed-call")
    assert found == ([good, wrong, good] if end else [good, wrong])


def test_a_bad_call_keeps_its_id(remit: Remit):
    ran = remit("decide", "--calls", "-", stdin=b'{"id": "9", "agent": 1, "tool": "t"}\n')
    assert ran.lines[0]["id"] == "9"


def test_nothing_in_nothing_out(remit: Remit):
    ran = remit("decide", "--calls", "-", stdin=b"")
    assert (ran.code, ran.out) == (0, "")


def test_fail_on_counts_every_line(remit: Remit):
    assert remit("decide", "--calls", "-", "--fail-on", "deny", stdin=GOOD).code == 0
    ran = remit("decide", "--calls", "-", "--fail-on", "deny", stdin=GOOD + b"{\n" + GOOD)
    assert ran.code == 3
    assert len(ran.lines) == 3


@pytest.mark.parametrize("length", [0, 1, MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, MAX_LINE + 2, 2 * MAX_LINE])
def test_lines_are_cut_at_the_limit(length: int):
    data = b"x" * length + b"\n" + b"y\n"
    long = length > MAX_LINE
    expected = ([None] if long else [b"x" * length] if length else []) + [b"y"]
    assert list(stream.lines(io.BytesIO(data))) == expected


def test_a_line_that_is_exactly_too_long_takes_only_its_own_end():
    data = b"x" * (MAX_LINE + 1) + b"\n\ny\n"
    assert list(stream.lines(io.BytesIO(data))) == [None, b"y"]


def test_input_that_breaks_off():
    class Broken(io.BytesIO):
        def readline(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(InputError, match="can't be read: Input/output error"):
        list(stream.lines(Broken()))


def test_a_fault_of_ours_denies_one_line_only(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    real = CallFacts.of

    def faulty(self, call):
        if call.id == "bad":
            raise RuntimeError("oops")
        return real(self, call)

    monkeypatch.setattr(CallFacts, "of", faulty)
    ran = remit("decide", "--calls", "-", stdin=GOOD.replace(b'"1"', b'"bad"') + GOOD)
    assert [(one["id"], one["code"]) for one in ran.lines] == [("bad", "internal-error"), ("1", "allowed")]


def test_the_clock_runs_while_it_streams(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    path = Path("remit.yaml")
    known = CallFacts(load_rulebook(path), path, given=Facts())
    call = decode_call(GOOD)
    monkeypatch.setattr(time, "time", lambda: 1_893_553_445.5)
    assert known.of(call).now == "2030-01-02T03:04:05Z"


def test_no_stdin(remit: Remit, tmp_path: Path):
    command = f'exec "{sys.executable}" -m remit decide --calls - <&-'
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (
        2,
        b"",
        b"remit: --calls -: standard input is closed\n    pipe something into it, or name a file\n",
    )


def test_each_answer_comes_at_once(remit: Remit, tmp_path: Path):
    """A program that asks and waits for the answer is not left waiting."""
    command = [sys.executable, "-m", "remit", "decide", "--calls", "-"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        if running.stdin is None or running.stdout is None:
            pytest.fail("no pipes")
        for _ in range(3):
            running.stdin.write(GOOD)
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["decision"] == "allow"
        running.stdin.close()
        assert running.wait(timeout=60) == 0


def test_stdout_closed_while_streaming(remit: Remit, tmp_path: Path):
    (tmp_path / "calls.jsonl").write_bytes(GOOD * 20_000)
    command = [sys.executable, "-m", "remit", "decide", "--calls", "calls.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        if running.stdout is None or running.stderr is None:
            pytest.fail("no pipes")
        running.stdout.readline()
        running.stdout.close()
        assert running.wait(timeout=60) == 141
        assert running.stderr.read() == b"policy: remit.yaml\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_output_that_cannot_be_written(remit: Remit, tmp_path: Path):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "remit", "matrix"]
        ran = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert ran.returncode == 2
    assert ran.stderr == b"remit: can't write the output: No space left on device\n"


MEASURE = """
import resource, sys
from remit.cli.main import run
code = run(["decide", "--calls", sys.argv[1]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def test_memory_stays_the_same(remit: Remit, tmp_path: Path):
    """Ten thousand lines, and one of 64 MiB, need no more memory than ten."""
    (tmp_path / "few.jsonl").write_bytes(GOOD * 10)
    (tmp_path / "many.jsonl").write_bytes(GOOD * 10_000)
    with (tmp_path / "long.jsonl").open("wb") as file:
        for _ in range(64):
            file.write(b"x" * MAX_LINE)
        file.write(b"\n" + GOOD)
    peaks = {}
    for name, answers in (("few", 10), ("many", 10_000), ("long", 2)):
        command = [sys.executable, "-c", MEASURE, f"{name}.jsonl"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=True)
        assert ran.stdout.count(b"\n") == answers
        peaks[name] = int(ran.stderr.split()[-1])
    unit = 1024 if sys.platform == "darwin" else 1
    assert peaks["many"] < peaks["few"] + 8 * 1024 * unit
    assert peaks["long"] < peaks["few"] + 16 * 1024 * unit


def test_the_program_itself(remit: Remit, tmp_path: Path):
    ran = program("decide", "--calls", "-", cwd=tmp_path, input=GOOD + b"{\n")
    assert ran.returncode == 0
    assert [json.loads(line)["decision"] for line in ran.stdout.splitlines()] == ["allow", "deny"]
