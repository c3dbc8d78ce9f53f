"""The protocol, line by line: strict, bounded, and in the era that the client opens with."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.adapters.mcp.protocol import HANDSHAKE, LIMIT, MODERN, Conversation, serve

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN[0],
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Echo:
    """One tool that says what it was given."""

    def listed(self) -> list[dict[str, Any]]:
        return [{"name": "echo", "description": "says it again", "inputSchema": {"type": "object"}}]

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        if name == "break":
            raise RuntimeError("secret")
        return json.dumps([name, arguments]), name != "echo"


def conversation() -> Conversation:
    return Conversation(Echo(), version="1", instructions="ask")


def say(talk: Conversation, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params}), **more}
    answer = talk.answer(json.dumps(message).encode())
    assert answer is not None
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    return dict(json.loads(answer))


def begun() -> Conversation:
    talk = conversation()
    say(talk, "initialize", {"protocolVersion": HANDSHAKE[-1], "capabilities": {}, "clientInfo": {}})
    return talk


@pytest.mark.parametrize("asked", [*HANDSHAKE, *MODERN, "1999-01-01"])
def test_the_handshake_agrees_on_a_version(asked: str):
    result = say(conversation(), "initialize", {"protocolVersion": asked})["result"]
    assert result["protocolVersion"] == (asked if asked in HANDSHAKE else HANDSHAKE[-1])


def test_tools_are_listed_and_called_in_both_eras():
    for talk, params in ((begun(), {}), (conversation(), {"_meta": META})):
        assert [tool["name"] for tool in say(talk, "tools/list", params)["result"]["tools"]] == ["echo"]
        result = say(talk, "tools/call", {**params, "name": "echo", "arguments": {"a": 1}})["result"]
        assert json.loads(result["content"][0]["text"]) == ["echo", {"a": 1}]
        assert result["isError"] is False
        assert say(talk, "tools/call", {**params, "name": "other"})["result"]["isError"] is True


@pytest.mark.parametrize(
    ("talk", "method", "params", "code"),
    [
        (conversation, "tools/list", {}, -32600),
        (conversation, "tools/call", {"name": "echo"}, -32600),
        (
            conversation,
            "tools/list",
            {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}},
            -32022,
        ),
        (conversation, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN[0]}}, -32602),
        (conversation, "ping", {"_meta": META}, -32601),
        (conversation, "initialize", {}, -32602),
        (begun, "tools/list", {"_meta": META}, -32600),
        (begun, "server/discover", {}, -32601),
        (begun, "resources/list", {}, -32601),
        (begun, "tools/list", {"cursor": "x"}, -32602),
        (begun, "tools/list", {"_meta": 1}, -32602),
        (begun, "tools/call", {}, -32602),
        (begun, "tools/call", {"name": 1}, -32602),
        (begun, "tools/call", {"name": "echo", "arguments": []}, -32602),
        (begun, "tools/call", {"name": "echo", "task": {"ttl": 1}}, -32602),
        (begun, "tools/call", {"name": "break"}, -32603),
        (begun, "ping", [], -32600),
    ],
)
def test_everything_else_is_an_error(talk: Any, method: str, params: Any, code: int):
    found = say(talk(), method, params)
    assert found["error"]["code"] == code
    assert "secret" not in json.dumps(found)


def test_after_the_modern_opening_there_is_no_handshake():
    talk = conversation()
    say(talk, "server/discover", {"_meta": META})
    assert say(talk, "initialize", {"protocolVersion": HANDSHAKE[-1]})["error"]["code"] == -32602
    assert say(talk, "initialize", {"_meta": META, "protocolVersion": "x"})["error"]["code"] == -32022


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
        b'{"jsonrpc": "2.0", "id": 1}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 100 + b"]" * 100 + b"}",
        b"\xff",
        b" " * (LIMIT + 1),
    ],
)
def test_what_is_no_request_is_refused(line: bytes):
    answer = conversation().answer(line)
    assert answer is not None
    assert json.loads(answer)["error"]["code"] in (-32700, -32600)


def test_notifications_and_answers_get_no_answer():
    for message in (
        {"method": "notifications/initialized"},
        {"method": "notifications/cancelled", "params": {"requestId": 1}},
        {"id": 1, "result": {}},
        {"id": 1, "error": {"code": 1, "message": "x"}},
    ):
        assert conversation().answer(json.dumps({"jsonrpc": "2.0", **message}).encode()) is None


@given(
    st.binary(max_size=200)
    | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists).map(
        lambda value: json.dumps(value).encode()
    )
)
def test_no_line_stops_it(data: bytes):
    talk, out = conversation(), io.BytesIO()
    end = b'\n{"jsonrpc": "2.0", "id": 9, "method": "ping"}\n'
    serve(talk, io.BytesIO(data.replace(b"\n", b" ") + end), out)
    assert json.loads(out.getvalue().splitlines()[-1])["id"] == 9


def test_a_line_that_is_too_long_costs_no_more_than_itself():
    out = io.BytesIO()
    serve(conversation(), io.BytesIO(b"[" * 5 * LIMIT + b'\n{"jsonrpc": "2.0", "id": 9, "method": "ping"}\n'), out)
    assert [json.loads(line).get("id") for line in out.getvalue().splitlines()] == [None, 9]
