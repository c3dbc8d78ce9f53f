"""Several hooks that see one use of a tool: one judgement, one entry, one approval; and hooks that are gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from remit.adapters.hooks import copies
from remit.adapters.hooks.installed import Copy, Installed, read_installed, write_installed
from remit.adapters.hooks.once import Uses
from remit.adapters.hooks.roots import guard_command, shared_command
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import OUTSIDE, Event, Reply
from remit.grant.authority import Authority
from remit.record.vault import Vault
from tests.adapters.hooks.project import JSON, Project
from tests.grant.world import open_state

WRITE = {"file_path": "docs/a.md", "content": "x"}
READ = {"file_path": "README.md"}


@pytest.fixture(params=["alone", "daemon"])
def asked(request: pytest.FixtureRequest, project: Project) -> Project:
    if request.param == "daemon":
        request.getfixturevalue("serving")
    return project


@pytest.fixture
def serving(project: Project) -> Iterator[None]:
    with project.serving():
        yield


def at_once(project: Project, said: JSON, count: int = 3) -> list[tuple[int, bytes, str]]:
    with ThreadPoolExecutor(count) as pool:
        return [(one.code, one.stdout, one.stderr) for one in pool.map(lambda _: project.run(said), range(count))]


def test_one_decision_one_entry_and_one_end(asked: Project):
    said = asked.question("Read", {"file_path": str(asked.root / "README.md")})
    answers = at_once(asked, said)
    assert len(set(answers)) == 1
    at_once(asked, asked.report(said))
    asked.outcome(said)
    kinds = [entry["type"] for entry in asked.calls() if entry["call"] == asked.call_id(said)]
    assert kinds == ["intent", "outcome"]


def test_one_approval_lets_one_use_run_whoever_asks(asked: Project):
    def ask() -> JSON:
        return asked.question("Write", WRITE, "asker", permission_mode="dontAsk")

    assert len(set(at_once(asked, ask()))) == 1
    store = open_state(asked.state)
    authority = Authority(store, Vault(store, asked.state / "keys"))
    [waiting] = authority.waiting()
    authority.answer(waiting.id, "approve", by="ann")
    store.close()
    said = ask()
    answers = at_once(asked, said)
    assert [json.loads(out)["hookSpecificOutput"]["permissionDecision"] for _, out, _ in answers] == ["allow"] * 3
    asked.intent(said)
    allowed = [entry["approval"] for entry in asked.calls() if entry["call"] == asked.call_id(said)]
    assert allowed == [waiting.id]
    assert asked.run(ask()).decision == "deny"  # another use needs another approval


def test_another_question_under_the_same_id_is_judged_by_itself(project: Project):
    first = project.question("Read", {"file_path": str(project.root / "README.md")}, "researcher")
    assert project.run(first).decision == "allow"
    key = "tool_input" if "tool_input" in first else "call"
    other = project.question("Write", {"file_path": str(project.root / "src/x"), "content": "x"}, "researcher")
    assert (
        project.run({**first, **{name: other[name] for name in (key, "tool_name") if name in other}}).decision == "deny"
    )


def test_what_was_answered_counts_for_a_while_and_only_until_it_ended(tmp_path: Path):
    uses, event, reply = Uses(tmp_path), Event("before", session="s", tool="t", use="u"), Reply(b"a", b"b", 3)
    with uses.of("s/u") as use:
        assert use is not None
        assert use.answered(event) is None
        use.answer(event, reply)
    with uses.of("s/u") as use:
        assert use is not None
        assert use.answered(event) == reply
        assert use.answered(msgspec.structs.replace(event, args={"a": 1})) is None
        use.end()
    with uses.of("s/u") as use:
        assert use is not None
        assert (use.ended, use.answered(event)) == (True, None)


def test_what_is_written_down_can_be_damaged(tmp_path: Path):
    uses, event = Uses(tmp_path), Event("before", session="s", tool="t", use="u")
    with uses.of("x") as use:
        assert use is not None
        use.answer(event, Reply(b"a"))
    [path] = (tmp_path / "hooks" / "uses").iterdir()
    for junk in (b"", b"{}", b"\xff", b'{"question": 5}'):
        path.write_bytes(junk)
        with uses.of("x") as use:
            assert use is not None
            assert use.answered(event) is None


# Hooks that are gone


def put(project: Project, *wanted: tuple[str, bool]) -> list[Path]:
    """Hooks in settings of these places, there or not."""
    found, made = [], []
    for where, there in wanted:
        path = project.folder / f"{where}.settings"
        command = f". /x/remit/hosts/{project.host.name}.sh; echo gone >&2; exit 2"
        path.write_text(f"before {command}" if there else "nothing")
        found.append(Copy(where, str(path), command))  # type: ignore[arg-type]
        made.append(path)
    with project.host.available():
        record = msgspec.structs.replace(read_installed(project.state, project.host.name), copies=tuple(found))
        write_installed(project.state, record)
    return made


def told(project: Project, session: str) -> bool:
    key = "session_id" if project.host.name == "claude-code" else "run"
    said = project.run({**project.question("Read", {"file_path": str(project.root / "README.md")}), key: session})
    assert said.code == 0
    text = (said.stdout + said.stderr.encode()).decode()
    return "its hook is gone from" in text


def events(project: Project) -> list[str]:
    return [Path(entry["path"]).name for entry in project.entries() if entry.get("what") == "hook-gone"]


def test_a_hook_that_is_gone_is_said_at_once_to_each_session_and_recorded_once(project: Project):
    user, managed = put(project, ("user", True), ("managed", True))
    assert not told(project, "a")
    text = user.read_text()
    user.write_text("nothing")
    assert [told(project, "a"), told(project, "a"), told(project, "b")] == [True, False, True]
    assert events(project) == ["user.settings"]
    user.write_text(text)
    assert not told(project, "a")
    user.unlink()
    assert told(project, "a")
    assert events(project) == ["user.settings"] * 2
    assert managed.exists()


def test_calls_stop_when_no_hook_outside_of_the_project_is_left(project: Project):
    put(project, ("user", False), ("managed", False), ("project", True))
    project.ask("Read", {"file_path": str(project.root / "README.md")}).denied("hooks-gone", "remit install")
    assert project.intent()["code"] == "hooks-gone"
    put(project, ("user", True), ("managed", False), ("project", False))
    assert told(project, "c")


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_a_hook_is_seen_in_the_settings_of_every_host(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "st ate"))
    setup = registry.find(name).setup()
    for where in setup.places:
        command = guard_command(name) if where in OUTSIDE else shared_command(name)
        text, _ = setup.put_hooks(None, command, [], ())
        path = tmp_path / where
        record = Installed(1, name, "/r", "/r/p", "/r/s", "now", copies=(Copy(where, str(path), command),))
        assert copies.gone(record) == [str(path)]
        path.write_text(text)
        assert copies.gone(record) == [], text
