"""What every host's module must keep to: answers that the host obeys, last words that block, settings put back."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.adapters.hooks.client import LastResort
from remit.adapters.hooks.installed import client_file
from remit.adapters.hooks.roots import server_command, shared_command
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import Host
from remit.adapters.hosts.patches import files_of
from remit.enforce.refusal import refusal
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.terms import ALLOW, ASK, DENY

HOSTS = [registry.find(name) for name in registry.BUILT_IN]
OTHERS = [host for host in HOSTS if host.name != "claude-code"]
COMMAND = "[ -r '/home/o brien/remit/hosts/HOST.sh' ] && . '/home/o brien/remit/hosts/HOST.sh'; exit 2"
pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("COPILOT_HOME", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def each(hosts: list[Host]):
    return pytest.mark.parametrize("host", hosts, ids=lambda host: host.name)


def decision(verdict, reason='it\'s so: "quoted" — ünd\nmore', would=None) -> Decision:
    found = refusal(Call("a", "t"), "some-code", reason)
    return msgspec.structs.replace(found, verdict=verdict, would=would)


@each(HOSTS)
def test_what_is_decided_is_what_the_host_understands(host: Host):
    setup = host.setup()
    for verdict in (ALLOW, DENY):
        said = setup.understood(*_of(host.answer(decision(verdict), None)))
        assert (said.decision, said.alarm) == (verdict.word, None)
    assert "(some-code)" in setup.understood(*_of(host.answer(decision(DENY), None))).reason
    observed = setup.understood(*_of(host.answer(decision(DENY, would=DENY), None)))
    assert (observed.decision, observed.alarm) == (None, "it gave no decision")
    asked = setup.understood(*_of(host.answer(decision(ASK), None)))
    assert asked.decision in ("ask", "deny")
    noticed = setup.understood(*_of(host.with_notice(host.answer(decision(DENY), None), "a copy is gone")))
    assert noticed.decision == "deny"
    assert setup.understood(*_of(host.with_notice(host.answer(decision(ALLOW), None), "x"))).decision == "allow"


def _of(reply) -> tuple[int, bytes, bytes]:
    return reply.code, reply.out, reply.err


@each(HOSTS)
def test_only_a_host_that_puts_questions_reads_that_somebody_sits_there(host: Host, tmp_path: Path):
    setup = host.setup()
    event = host.read_event(_question(host, tmp_path))
    asked = setup.understood(*_of(host.answer(decision(ASK), None)))
    assert event.person == (asked.decision == "ask")


def _question(host: Host, root: Path, agent: str | None = None) -> bytes:
    setup = host.setup()
    sample = setup.sample("shell", "ls")
    assert sample is not None
    return setup.question(session="s-1", root=root, tool=sample[0], args=sample[1], use="u-1", agent=agent)


@each(HOSTS)
def test_a_question_and_the_report_about_it_belong_together(host: Host, tmp_path: Path):
    setup = host.setup()
    question = _question(host, tmp_path)
    asked, told = host.read_event(question), host.read_event(setup.not_run(question))
    assert (asked.when, told.when) == ("before", "after")
    assert asked.session == told.session
    assert asked.cwd == str(tmp_path)
    assert told.use == asked.use if told.use else asked.use.startswith(f"{told.alike}.")
    if setup.catalog.names_agents:
        handed = host.read_event(_question(host, tmp_path, "scribe"))
        assert (handed.agent, handed.handed) == ("scribe", True)


@each(HOSTS)
def test_the_last_words_block(host: Host, tmp_path: Path):
    """What the client says when nothing else works, read by the client itself from the file that install writes."""
    path = tmp_path / "client"
    path.write_bytes(client_file(host))
    path.chmod(0o600)
    last = LastResort()
    last.read(str(path))
    assert last.known
    setup = host.setup()
    question = _question(host, tmp_path)
    out, err, code = last.answer(question, "the daemon is gone")
    said = setup.understood(code, out, err)
    assert said.decision == "deny"
    assert "the daemon is gone" in said.reason
    assert last.answer(setup.not_run(question), "x") == tuple(host.last_resort.silence)
    assert last.answer(b"junk", "x")[0] == host.last_resort.refusal.out.replace(b"{why}", b"x")


@each(OTHERS)
def test_a_refusal_has_a_reason_on_stderr_or_in_json(host: Host):
    """Codex and Gemini CLI run the tool after a bare 2."""
    reply = host.answer(decision(DENY), None)
    assert reply.code == 2
    assert reply.out or reply.err.strip()
    assert b"\n" not in reply.err.rstrip(b"\n")


TEXTS = {
    "json": [
        None,
        "{}",
        '{"a": [1, 2],\n   "b": {}}\n',
        '{\n\t"hooks": {},\n\t"permission": {}\n}',
        '{"plugin": ["x"]}',
    ],
    "toml": [None, "", "a = 1", "[t]\nb = 2\n\n", '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "x"\n'],
}


@each(OTHERS)
def test_hooks_come_and_go_without_a_trace(host: Host):
    setup = host.setup()
    command = COMMAND.replace("HOST", host.name)
    for text in TEXTS["toml" if host.name == "codex" else "json"]:
        put, _ = setup.put_hooks(text, command, [], ())
        (tomllib if host.name == "codex" else json).loads(put)
        assert setup.put_hooks(put, command, [], ())[0] == put
        other, _ = setup.put_hooks(put, shared_command(host.name), [], ())
        back, _ = setup.put_hooks(other, command, [], ())
        assert back == put if host.name == "codex" else json.loads(back) == json.loads(put)
        gone = setup.take_hooks(put, (), text)
        if text is None:
            assert setup.is_empty(gone)
        elif host.name == "codex":
            assert gone == (text if not text or text.endswith("\n") else f"{text}\n")
        else:
            assert json.loads(gone) == json.loads(text)
            assert list(json.loads(gone)) == list(json.loads(text))
        if text is not None:
            assert setup.put_hooks(text, None, [], ())[0] in (text, gone)


@each(OTHERS)
def test_what_status_says_of_its_settings(host: Host, home: Path):
    setup = host.setup()
    command = COMMAND.replace("HOST", host.name)
    path = setup.settings_path(home / "project", "user")
    path.parent.mkdir(parents=True, exist_ok=True)

    def codes() -> list[str]:
        return [one.code for one in setup.hook_faults(home / "project", path, command) if one.level == "fault"]

    assert codes() == ["settings-gone"]
    path.write_text(setup.put_hooks(None, command, [], ())[0])
    assert codes() == []
    assert list(setup.switches(home / "project", path)) == []
    assert setup.survey(home / "project").hooked == (path,)
    [run] = setup.hooks(home / "project", path, "before", None)
    assert run.words == ("/bin/sh", "-c", command)
    assert run.timeout is not None
    assert run.timeout > 18
    path.write_text(setup.put_hooks(None, command.replace("exit 2", "exit 3"), [], ())[0])
    assert "hook-other-command" in codes()
    path.write_text("{" if host.name != "codex" else "a = ")
    assert codes() == ["settings-invalid"]
    path.write_text("{}" if host.name != "codex" else "")
    assert "hook-missing" in codes()


def test_codex_runs_only_what_is_trusted(home: Path):
    setup = registry.find("codex").setup()
    path = setup.settings_path(home, "user")
    path.parent.mkdir()
    command = COMMAND.replace("HOST", "codex")
    whole = setup.put_hooks(None, command, [], ())[0]
    path.write_text('[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "x"\n' + whole)
    found = [one.text for one in setup.hook_faults(home, path, command)]
    assert len(found) == 1
    assert "not trusted" in found[0]
    path.write_text(whole.replace('trusted_hash = "sha256:', 'trusted_hash = "sha256:0', 1))
    assert [one.code for one in setup.hook_faults(home, path, command)] == ["hook-incomplete"]
    path.write_text("[features]\nhooks = false\n" + whole)
    assert [one.code for one in setup.switches(home, path)] == ["hooks-disabled"]


def test_opencode_denies_everything_until_the_plugin_lifts_it(home: Path):
    setup = registry.find("opencode").setup()
    text = '{"permission": "ask"}'
    put = setup.put_hooks(text, COMMAND.replace("HOST", "opencode"), [], ())[0]
    assert list(json.loads(put)["permission"].items()) == [("*", "ask"), ("**", "deny")]
    assert json.loads(setup.take_hooks(put, (), text)) == json.loads(text)


@pytest.mark.parametrize(
    ("patch", "writes", "deletes"),
    [
        ("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch", ["a"], []),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: b c\n*** End Patch\n", ["a"], ["b c"]),
        ("*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n*** End Patch", ["a", "../b"], ["a", "../b"]),
        ("  *** Add File: a\n *** Delete File: b\r\n", ["a"], ["b"]),
        ("*** Add File: a\n+*** Add File: not a header\n x\n *** Update File: quoted\n", ["a", "quoted"], []),
    ],
)
def test_the_files_of_a_patch(patch: str, writes: list[str], deletes: list[str]):
    assert files_of(patch) == {"writes": writes, "deletes": deletes}


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "x",
        "*** Begin Patch\n*** End Patch",
        "*** Add File:a",
        "*** Add File:  a",
        "*** Rename File: a\n*** Add File: b",
    ],
)
def test_a_patch_that_is_not_plain_names_no_file(patch: str):
    assert files_of(patch) is None


def test_vs_code_runs_the_hooks_of_copilot_with_its_own_fields(tmp_path: Path):
    """As its documentation has it: no agent is named, and the decision stands in `hookSpecificOutput`."""
    host = registry.find("copilot-cli")
    said: dict[str, Any] = {
        "timestamp": "2026-11-18T00:00:00Z",
        "hookEventName": "PreToolUse",
        "sessionId": "s",
        "cwd": str(tmp_path),
    }
    said |= {"tool_name": "read_file", "tool_input": {"filePath": "a"}, "tool_use_id": "u"}
    event = host.read_event(json.dumps(said).encode())
    assert (event.when, event.tool, event.agent, event.use, event.person) == ("before", "read_file", None, "u", True)
    told = json.loads(host.answer(decision(ALLOW), {"filePath": "b"}).out)
    assert told["hookSpecificOutput"]["updatedInput"] == told["modifiedArgs"] == {"filePath": "b"}
    after = host.read_event(json.dumps({**said, "hookEventName": "PostToolUse"}).encode())
    assert (after.when, after.use) == ("after", "u")
    for more in ({"tool_use_id": ""}, {"tool_input": "x"}, {"cwd": "relative"}, {"hookEventName": "New"}):
        with pytest.raises(CallError):
            host.read_event(json.dumps({**said, **more}).encode())


@each(OTHERS)
def test_our_server_is_put_beside_others_and_taken_out_again(host: Host, home: Path):
    setup, name = host.setup(), host.name
    command = server_command(name)
    path = setup.servers_path(home / "proj")
    assert path is not None
    assert path.is_relative_to(home)
    toml = path.suffix == ".toml"
    other = "[mcp_servers.notes]\ncommand = 'x'\n" if toml else json.dumps({_key(name): {"notes": {"command": "x"}}})
    for before in (None, other):
        hooked = setup.put_hooks(before, COMMAND.replace("HOST", name), (), ())[0] if path == _hooks(host) else before
        text, _ = setup.put_server(hooked, home / "proj", command)
        assert setup.put_server(text, home / "proj", command) == (text, 0)
        data = tomllib.loads(text)["mcp_servers"] if toml else json.loads(text)[_key(name)]
        assert json.dumps(command[2])[1:-1] in json.dumps(data["remit"])
        assert ("notes" in data) is (before is not None)
        back = setup.take_hooks(text, (), before)
        assert setup.is_empty(back) if before is None else back == before


def _key(host: str) -> str:
    return "mcp" if host == "opencode" else "mcpServers"


def _hooks(host: Host) -> Path:
    return host.setup().settings_path(Path("/nowhere"), "user")


@each(HOSTS)
def test_a_tool_of_our_own_server_has_its_plain_name(host: Host):
    start = host.setup().catalog.server_tools
    called = f"{start.replace('{server}', 'remit')}remit_why" if start is not None else "MCP:remit_why"
    assert "remit_why" in host.names_of(called)
    assert "remit_why" not in host.names_of(called.replace("remit", "other", 1)[:-1] + "x")
