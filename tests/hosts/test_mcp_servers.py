"""A real MCP server (the package `mcp`) as a confined process: started, talked to, held, and gone with its session.

Its virtual environment lies outside of the project, as those of such servers do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remit import Guard
from tests.adapters.hooks.project import POLICY, Project
from tests.adapters.hooks.speech import SESSION
from tests.attacks.confined.arena import SECRET, Arena, alive
from tests.confine.populated import environment
from tests.enforce.test_commands import events, policy

VENV = Path(__file__).parents[2] / ".venv-hosts"
PYTHON = VENV / "bin/python"
pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not here: apt install bubblewrap"),
    pytest.mark.skipif(
        not list(VENV.glob("lib/*/site-packages/mcp")), reason="`mcp` is not here: run `make test-hosts`"
    ),
]
SERVER = """\
import pathlib, socket, sys
from mcp.server import MCPServer
server = MCPServer("shop")

@server.tool()
def put(path: str, text: str) -> str:
    try:
        pathlib.Path(path).write_text(text)
    except OSError as error:
        return f"failed: {type(error).__name__}"
    return "written"

@server.tool()
def get(path: str) -> str:
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        return f"failed: {type(error).__name__}"

@server.tool()
def reach(port: int) -> str:
    try:
        socket.create_connection(("127.0.0.1", port), 2)
    except OSError as error:
        return f"failed: {type(error).__name__}"
    return "reached"

if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run()
"""
CLIENT = """\
import anyio, json, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    asked = json.load(sys.stdin)
    words = asked["words"]
    server = StdioServerParameters(command=words[0], args=words[1:], env=asked["environment"], cwd=asked["cwd"])
    said = []
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        said.append(sorted(tool.name for tool in (await session.list_tools()).tools))
        for name, arguments in asked["calls"]:
            said.append((await session.call_tool(name, arguments)).content[0].text)
    print(json.dumps(said))

anyio.run(main)
"""
OVER_HTTP = """\
import anyio, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

async def main():
    for _ in range(20):
        try:
            async with streamable_http_client(f"http://127.0.0.1:{sys.argv[1]}/mcp") as streams:
                async with ClientSession(*streams[:2]) as session:
                    await session.initialize()
                    print((await session.call_tool("put", {"path": "docs/by-http", "text": "x"})).content[0].text)
                    return
        except BaseException as error:
            failed = error
            await anyio.sleep(0.2)
    sys.exit(repr(failed))

anyio.run(main)
"""


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    found = Arena(tmp_path / "a", Arena.build(tmp_path / "t"))
    (found.root / "server.py").write_text(SERVER)
    for name, value in environment(found.home).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{VENV}/bin:{os.environ['PATH']}")
    return found


def guard_of(arena: Arena) -> Guard:
    said = policy(confine="required", sandbox={"network": "none"})
    return Guard(said, root=arena.root, state=arena.folder / "own")


def calls(arena: Arena) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("put", {"path": "docs/made", "text": "x"}),
        ("put", {"path": ".claude/settings.json", "text": "x"}),
        ("put", {"path": f"{arena.folder}/other/new", "text": "x"}),
        ("get", {"path": f"{arena.home}/.ssh/id_ed25519"}),
        ("get", {"path": "README.md"}),
        ("reach", {"port": 22}),
    ]


TOOLS = ["get", "put", "reach"]
SAID = [
    "written",
    "failed: OSError",
    "failed: FileNotFoundError",
    "failed: FileNotFoundError",
    "# Shop\n\nSells things.\n",
]


def test_a_client_starts_it_itself_and_it_is_held(arena: Arena):
    protected = arena.protected()
    with guard_of(arena) as guard:
        with guard.launching([str(PYTHON), "server.py"], agent="builder") as launch:
            asked = {"words": launch.words, "environment": dict(launch.environment), "cwd": str(launch.cwd)}
            done = subprocess.run(
                [PYTHON, "-c", CLIENT],
                input=json.dumps({**asked, "calls": calls(arena)}),
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stderr
        tools, *said = json.loads(done.stdout)
        assert (tools, said[:5]) == (TOOLS, SAID)
        assert said[5].startswith("failed")
        assert [one["backend"] for one in events(guard)] == ["bubblewrap"]
    assert (arena.root / "docs/made").read_text() == "x"
    assert arena.protected() == protected


def test_it_is_talked_to_and_ends_when_it_is_to(arena: Arena):
    name = f"server-{os.getpid()}.py"
    (arena.root / "server.py").rename(arena.root / name)
    with guard_of(arena) as guard:
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        with guard.popen([str(PYTHON), name], agent="builder", **streams) as server:
            about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            assert said_to(server, 1, "initialize", about)["serverInfo"]["name"] == "shop"
            assert server.stdin is not None
            server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
            found = said_to(
                server, 2, "tools/call", {"name": "get", "arguments": {"path": f"{arena.folder}/state/remit.db"}}
            )
            assert SECRET not in json.dumps(found)
            assert len(alive(name)) > 0
            server.terminate()
        assert server.returncode != 0
        assert [one["code"] for one in events(guard)] == [server.returncode]
    assert alive(name) == []


def said_to(server: Any, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    while True:
        found = json.loads(server.stdout.readline())
        if found.get("id") == number:
            result: dict[str, Any] = found["result"]
            return result


# In a host's session: the keeper


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("PATH", f"{VENV}/bin:{os.environ['PATH']}")
    found = Project(tmp_path, {**POLICY, "confine": "required", "sandbox": {"network": "none"}})
    (found.root / "server.py").write_text(SERVER)
    (found.root / "client.py").write_text(OVER_HTTP)
    (found.root / "docs").mkdir(exist_ok=True)
    yield found
    _end(found)


def _end(project: Project) -> None:
    project.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode())


def _wrapped(project: Project, command: str) -> list[str]:
    said = project.run(json.dumps(project.question("Bash", {"command": command})).encode())
    assert said.decision == "allow", said
    return ["bash", "-c", said.answer["hookSpecificOutput"]["updatedInput"]["command"]]


def test_a_server_of_a_session_is_reached_by_its_commands_only_and_ends_with_it(project: Project):
    port, unheard = "18763", subprocess.DEVNULL
    with subprocess.Popen(_wrapped(project, f"{PYTHON} server.py {port}"), cwd=project.root, stderr=unheard) as server:
        done = subprocess.run(
            _wrapped(project, f"{PYTHON} client.py {port}"),
            cwd=project.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "written\n"), done.stderr
        assert (project.root / "docs/by-http").read_text() == "x"
        outside = subprocess.run([PYTHON, "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}))"],
                                 capture_output=True, check=False)  # fmt: skip
        assert b"ConnectionRefusedError" in outside.stderr
        assert len(alive(f"server.py\0{port}")) > 0
        _end(project)
        server.wait(60)
    _until(lambda: alive(f"server.py\0{port}") == [])


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
