"""Whatever breaks: one deny that the host obeys, in time; recorded where there is something to record to."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from remit.adapters.hooks import client as client_module
from remit.adapters.hooks.installed import client_file, client_path, installed_path
from remit.adapters.hosts.registry import find
from remit.compile import load_rulebook
from remit.compile.file import encode_rulebook, rulebook_path
from tests.adapters.hooks.project import POLICY, Project, Said
from tests.adapters.hooks.speech import TOY

READ = {"file_path": "README.md"}


# --- what comes in ---


def junk() -> dict[str, bytes]:
    deep = b"[" * 10_000 + b"]" * 10_000
    names = b'"session_id":"s","tool_use_id":"u"'
    whole = b'{"hook_event_name":"PreToolUse","tool_name":"Read","cwd":"/","tool_input":%s,' + names + b"}"
    before, after = b'"hook_event_name":"PreToolUse"', b'"hook_event_name":"PostToolUse"'
    twice = b'{"file_path":"README.md"},"tool_input":{"file_path":"x"}'
    return {
        "empty": b"",
        "junk": b"\x00\x01junk",
        "a text": b'"PreToolUse"',
        "a list": b"[]",
        "nothing in it": b"{}",
        "no name": b'{"tool_name":"Read"}',
        "truncated": whole[:60],
        "two documents": whole % b"{}" + b"\n" + whole % b"{}",
        "a key twice": whole % twice,
        "both names": b"{%s,%s,%s}" % (before, after, names),
        "both names, turned": b"{%s,%s,%s}" % (after, names, before),
        "a list as the name": b'{"hook_event_name":["PostToolUse"]}',
        "NaN": whole % b'{"file_path":"README.md","limit":NaN}',
        "infinite": whole % b'{"file_path":"README.md","limit":1e999}',
        "a lone surrogate": whole % rb'{"file_path":"\ud800"}',
        "not UTF-8": whole % b'{"file_path":"\xff"}',
        "UTF-16": (whole % b"{}").decode().encode("utf-16"),
        "deep": whole % (b'{"file_path":' + deep + b"}"),
        "deep and open": b'{"tool_input":' + b"[" * 10_000,
        "no object": whole % b'"README.md"',
        "no cwd": (whole % b"{}").replace(b',"cwd":"/"', b""),
        "cwd is relative": (whole % b"{}").replace(b'"cwd":"/"', b'"cwd":"x"'),
    }


@pytest.mark.parametrize("name", junk())
@pytest.mark.sample(5)  # with a daemon, all of it
def test_junk(calm: Project, name):
    before = len(calm.calls())
    calm.run(junk()[name]).denied("can't be read", "(malformed-call)")
    assert [one["decision"] for one in calm.calls()[before:]] == ["deny"]


def test_a_report_in_the_arguments(calm: Project):
    calm.ask("Read", {"hook_event_name": "PostToolUse", "file_path": 7}).denied("(undeclared-argument)")


def test_junk_with_a_daemon(project: Project):
    with project.serving():
        for data in junk().values():
            project.run(data).denied("can't be read", "(malformed-call)")
    assert [one["decision"] for one in project.calls()] == ["deny"] * len(junk())


@pytest.mark.sample(1)
def test_too_much(quiet: Project):
    question = quiet.question("Write", {"file_path": "docs/new.md", "content": "x" * 40_000_000})
    said = quiet.run(question)
    said.denied("too large")
    quiet.run(quiet.report(question, "x" * 40_000_000)).nothing()


def test_much_is_still_judged(calm: Project):
    said = calm.ask("Write", {"file_path": "docs/new.md", "content": "[{x}]\n" * 1_000_000})
    assert (said.code, said.decision) == (0, "allow")


@pytest.mark.sample(1)
def test_stdin_that_never_ends(quiet: Project):
    command = quiet.impatient(DEADLINE=1.0)
    for start, answer in ((b"", "deny"), (quiet.host.begun, "deny"), (quiet.host.ended, "-")):
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=quiet.environment(),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(start)
        process.stdin.flush()
        out, err = process.stdout.read(), process.stderr.read().decode()
        code = process.wait(60)
        assert quiet.host.understood(code, out, err)[0] == answer
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def test_junk_of_each_host(quiet: Project):
    for _, data in quiet.host.junk():
        quiet.run(data).denied("can't be read", "(malformed-call)")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_told_to_stop(quiet: Project, number):
    process = quiet.reading()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert quiet.host.understood(process.returncode, out, (err or b"").decode())[0] == "deny"


def test_code_that_never_lets_go_of_the_interpreter(quiet: Project):
    """Not even the hook's own watch can run: its parent ends it, and with 2."""
    client = Path(client_module.__file__).read_text()
    harmed = client.replace("DEADLINE = 15.0", "DEADLINE = -1.0").replace(
        "    failed = None\n", "    while pow(7, 3**17): pass\n    failed = None\n"
    )
    assert harmed.count("pow(7") == 1
    path = quiet.folder / "harmed.py"
    path.write_text(harmed.replace("time.sleep(DEADLINE)", "time.sleep(99)"))
    command = quiet.command.replace(client_module.__file__, str(path))
    assert (quiet.run(quiet.question("Read", READ), command=command).code) == 2


@pytest.mark.parametrize("act", ["posix.kill(posix.getpid(), 9)", "posix.kill(posix.getpid(), 11)", "posix.abort()"])
def test_a_hook_that_crashes(quiet: Project, act):
    client = Path(client_module.__file__).read_text()
    path = quiet.folder / "harmed.py"
    path.write_text(client.replace("    failed = None\n", f"    {act}\n    failed = None\n"))
    command = quiet.command.replace(client_module.__file__, str(path))
    assert quiet.run(quiet.question("Read", READ), command=command).code == 2


@pytest.mark.parametrize(
    "data",
    [
        b'{"tool_input":{"hook_event_name":"PostToolUse"},"hook_event_name" : "PreToolUse"}',
        b'{"hook_event_name" : "PreToolUse","tool_input":{"hook_event_name":"PostToolUse"}}',
        b'{"hook_event_name" : "PreToolUse","a":[{"hook_event_name":"PostToolUse"}]}',
    ],
)
def test_arguments_that_read_like_a_report(tmp_path: Path, data):
    path = tmp_path / "claude-code.client"
    path.write_bytes(client_file(find("claude-code")))
    path.chmod(0o600)
    found = client_module.LastResort()
    found.read(str(path))
    assert found.known
    assert b'"permissionDecision":"deny"' in found.answer(data, "x")[0]
    assert found.answer(b'{"hook_event_name":"PostToolUse","tool_response":{}}', "x") == (b"{}", b"", 0)


# --- where the answer goes ---


def test_stdout_is_closed(calm: Project):
    assert calm.run(calm.question("Read", READ), command=f"{calm.command} >&-").code == 2
    reader, writer = os.pipe()
    os.close(reader)
    question = json.dumps(calm.question("Read", READ)).encode()
    done = subprocess.run(
        ["/bin/sh", "-c", calm.command], input=question, stdout=writer, env=calm.environment(), check=False, timeout=120
    )
    os.close(writer)
    assert done.returncode == 2


def test_other_descriptors_are_closed(calm: Project):
    calm.run(b"", command=f"{calm.command} <&-").denied()
    assert calm.run(calm.question("Read", READ), command=f"{calm.command} 2>&-").decision == "allow"
    calm.run(b"", command=f"{calm.command} <&- 2>&-").denied()


def test_stdout_is_full(calm: Project):
    """A host that never reads: the process ends by itself, and not with 0."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    question = json.dumps(calm.question("Read", READ)).encode()
    command = calm.impatient(DEADLINE=1.0)
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=question,
        stdout=writer,
        stderr=subprocess.DEVNULL,
        env=calm.environment(),
        check=False,
        timeout=120,
    )
    assert done.returncode != 0
    os.close(writer)
    os.close(reader)


def test_arguments(quiet: Project):
    """Nobody can say which host it is: the hook ends with 2, which every host takes for a deny."""
    for more in ("", " x y", " other-host STATE"):
        command = quiet.command if more.startswith(" x") else quiet.command.rsplit(" ", 2)[0]
        said = quiet.run(quiet.question("Read", READ), command=command + more.replace("STATE", str(quiet.state)))
        assert (said.code, said.stdout) == (2, b"")
        assert said.stderr.startswith("Remit: ")


# --- the file by which the hook knows its host ---

SPOILT: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "another version": lambda path: path.write_bytes(path.read_bytes().replace(b"client 2", b"client 1")),
    "without the code": lambda path: path.write_bytes(path.read_bytes().replace(b"refusal.code", b"refusal.odd")),
    "a code that is no number": lambda path: path.write_bytes(path.read_bytes().replace(b"code 0", b"code none")),
    "open to others": lambda path: path.chmod(0o644),
    "cut after a line": lambda path: path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:7])),
    "a line twice": lambda path: path.write_bytes(path.read_bytes().replace(b"silence.out", b"refusal.out", 1)),
    "refuses nothing": lambda path: _change(path, out=b"{}", code=b"0"),
    "a code that wraps": lambda path: _change(path, out=b"", code=b"256"),
    "a code that is signed": lambda path: _change(path, out=b"", code=b"+3"),
    "a mark that is in everything": lambda path: path.write_bytes(
        re.sub(rb"(?m)^report .*$", b"report ", path.read_bytes())
    ),
}


def _change(path: Path, *, out: bytes, code: bytes) -> None:
    data = re.sub(rb"(?m)^refusal.out .*$", b"refusal.out " + out, path.read_bytes())
    path.write_bytes(re.sub(rb"(?m)^refusal.code .*$", b"refusal.code " + code, data))


@pytest.mark.sample(2)
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=list(SPOILT))
@pytest.mark.sample(4)
def test_without_the_file_of_the_host(hosted: Project, spoil: Callable[[Path], object]):
    """It decides as before, takes the host for unattended, and refuses in the way that every host obeys."""
    spoil(client_path(hosted.state, hosted.host.name))
    assert hosted.ask("Read", READ).decision == "allow"
    hosted.ask("Write", {"file_path": "docs/new.md", "content": "x"}, "asker").denied("(ask-pending)")
    said = hosted.run(hosted.question("Write", {"file_path": "docs/x", "content": "x" * 40_000_000}))
    assert (said.code, said.stdout) == (2, b"")
    assert said.stderr == "Remit: the call is too large to be judged; nothing may run. Tell the person who runs you.\n"


# --- the state directory ---


def gone(project: Project) -> None:
    shutil.rmtree(project.state)


def open_to_all(project: Project) -> None:
    project.state.chmod(0o755)


def no_record(project: Project) -> None:
    installed_path(project.state, project.host.name).unlink()


def record_junk(project: Project) -> None:
    installed_path(project.state, project.host.name).write_text("{")


def record_open(project: Project) -> None:
    installed_path(project.state, project.host.name).chmod(0o644)


def record_link(project: Project) -> None:
    path = installed_path(project.state, project.host.name)
    path.rename(project.folder / "record.json")
    path.symlink_to(project.folder / "record.json")


def record_of_another(project: Project) -> None:
    path = installed_path(project.state, project.host.name)
    path.write_text(path.read_text().replace(f'"{project.host.name}"', '"another"', 1))


def store_gone(project: Project) -> None:
    for path in project.state.glob("remit.db*"):
        path.unlink()


def store_junk(project: Project) -> None:
    store_gone(project)
    (project.state / "remit.db").touch(0o600)
    (project.state / "remit.db").write_bytes(b"junk " * 5000)


def store_empty(project: Project) -> None:
    store_gone(project)
    (project.state / "remit.db").touch(0o600)


def store_open(project: Project) -> None:
    (project.state / "remit.db").chmod(0o666)


def store_folder(project: Project) -> None:
    store_gone(project)
    (project.state / "remit.db").mkdir(0o700)


def keys_gone(project: Project) -> None:
    shutil.rmtree(project.state / "keys")


# --- the rulebook ---


def book_gone(project: Project) -> None:
    rulebook_path(project.root).unlink()


def book_cut(project: Project) -> None:
    path = rulebook_path(project.root)
    path.write_bytes(path.read_bytes()[:-10])


def book_swapped(project: Project) -> None:
    """Another one that is perfectly fine, but was never activated."""
    (project.root / "remit.yaml").write_text(json.dumps({**POLICY, "name": "other"}))
    with TOY.available():  # which it names
        rulebook_path(project.root).write_bytes(encode_rulebook(load_rulebook(project.root / "remit.yaml")))


def book_open(project: Project) -> None:
    rulebook_path(project.root).chmod(0o666)


def book_folder_open(project: Project) -> None:
    rulebook_path(project.root).parent.chmod(0o777)


def book_fifo(project: Project) -> None:
    book_gone(project)
    os.mkfifo(rulebook_path(project.root), 0o600)


def book_folder(project: Project) -> None:
    book_gone(project)
    rulebook_path(project.root).mkdir()


def book_link(project: Project) -> None:
    path = rulebook_path(project.root)
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def nothing_activated(project: Project) -> None:
    link = sqlite3.connect(project.state / "remit.db")
    for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        link.execute(f"DROP TRIGGER {name}")
    link.execute("DELETE FROM activation")
    link.commit()
    link.close()


UNREACHABLE: dict[Callable[[Project], None], str] = {
    gone: "store",
    open_to_all: "0755",
    no_record: "(not-installed)",
    record_junk: "(not-installed)",
    record_open: "(not-installed)",
    record_link: "(not-installed)",
    record_of_another: "(not-installed)",
    store_gone: "the store is gone",
    store_junk: "(store-",
    store_open: "(store-",
    store_folder: "(store-",
    store_empty: "(no-ledger)",
    keys_gone: "(key-missing)",
}
RECORDED: dict[Callable[[Project], None], str] = {
    nothing_activated: "(state-forged)",
    book_gone: "(no-rulebook)",
    book_cut: "(not-activated)",
    book_swapped: "(not-activated)",
    book_open: "(bad-rulebook)",
    book_folder_open: "(bad-rulebook)",
    book_fifo: "(bad-rulebook)",
    book_folder: "(bad-rulebook)",
    book_link: "(bad-rulebook)",
}


@pytest.mark.sample(3)
@pytest.mark.sample(6)
@pytest.mark.parametrize("harm", UNREACHABLE, ids=lambda harm: harm.__name__)
def test_nothing_to_decide_with(hosted: Project, harm: Callable[[Project], None]):
    harm(hosted)
    question = hosted.question("Read", READ)
    said = hosted.run(question)
    said.denied(UNREACHABLE[harm] if harm is not gone else "Remit")
    hosted.run(hosted.report(question, {})).nothing()


@pytest.mark.sample(2)
@pytest.mark.sample(5)
@pytest.mark.parametrize("harm", RECORDED, ids=lambda harm: harm.__name__)
def test_no_rulebook_in_force(hosted: Project, harm: Callable[[Project], None]):
    harm(hosted)
    question = hosted.question("Read", READ)
    hosted.run(question).denied(RECORDED[harm])
    assert hosted.intent(question)["decision"] == "deny"
    hosted.run(hosted.report(question, {})).nothing()


def test_no_rulebook_in_force_with_a_daemon(project: Project):
    """It loaded the right one when it started, and looks again for each question."""
    path = rulebook_path(project.root)
    good = path.read_bytes()
    policy = (project.root / "remit.yaml").read_text()
    with project.serving():
        for harm in (book_gone, book_cut, book_swapped, book_open, book_fifo, book_folder, book_link):
            assert project.ask("Read", READ).decision == "allow"
            harm(project)
            project.ask("Read", READ).denied(RECORDED[harm])
            assert project.intent()["decision"] == "deny"
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)
            path.write_bytes(good)
            path.chmod(0o600)
            (project.root / "remit.yaml").write_text(policy)
        assert project.ask("Read", READ).decision == "allow"


@pytest.mark.more  # waits as long as the store does
def test_the_store_is_locked(project: Project):
    link = sqlite3.connect(project.state / "remit.db", isolation_level=None)
    link.execute("BEGIN IMMEDIATE")
    patient = project.impatient(DEADLINE=100.0)  # on a busy machine too, it is the store that gives up first
    project.run(project.question("Read", READ), command=patient).denied("(store-unavailable)")
    link.execute("ROLLBACK")
    link.close()
    assert project.ask("Read", READ).decision == "allow"


def test_the_disk_is_full(project: Project):
    """No file may grow further than some blocks: writes fail as on a full disk."""
    for blocks in (8, 80):
        command = f"ulimit -f {blocks}; {project.command}"
        said = project.run(
            project.question("Write", {"file_path": "docs/x.md", "content": "x" * 200_000}), command=command
        )
        said.denied("Remit")
        assert "unavailable" in said.reason or "store-" in said.reason
    assert project.ask("Read", READ).decision == "allow"
    project.verify()


def test_no_descriptors_left(quiet: Project):
    quiet.run(quiet.question("Read", READ), command=f"ulimit -n 6; {quiet.command}").denied()


def test_no_memory_left(calm: Project):
    """From the moment when the question comes: with or without words, it is a no that the host obeys."""
    process = calm.reading()
    size = int(Path(f"/proc/{process.pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    child = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
    for one in (process.pid, child):
        resource.prlimit(one, resource.RLIMIT_AS, (size, size))
    out, _ = process.communicate(json.dumps(calm.question("Read", READ)).encode(), timeout=60)
    if process.returncode != 2:
        Said(process.returncode, out, "").denied("the hook failed")


def test_no_memory_from_the_start(calm: Project):
    """The interpreter itself can't start: no answer, and a status that says so."""
    said = calm.run(calm.question("Read", READ), command=f"ulimit -v 2000; {calm.command}")
    assert (said.code != 0, said.stdout) == (True, b"")
