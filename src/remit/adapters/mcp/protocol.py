"""MCP over stdio, as far as a server with nothing but tools needs it: a line of JSON in, a line out.

Two eras are spoken, by whichever the client opens with: the handshake (`initialize`, 2024-11-05 to 2025-11-25), and
2026-07-28, where each request says its version itself. Everything is bounded and strict: what is not a request of the
protocol is an error, and no request can keep the next from being answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple, Protocol

import msgspec

from remit.model.errors import CallError
from remit.model.wire import decode_json

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
LIMIT = 1024 * 1024
"""Bytes of a line."""
_META = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES, _SERVER = _META + "protocolVersion", _META + "clientCapabilities", _META + "serverInfo"
PARSE, INVALID, NO_METHOD, BAD_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED = -32022
_CALL_KEYS = frozenset({"name", "arguments", "_meta"})


class Tools(Protocol):
    """What is served."""

    def listed(self) -> list[dict[str, Any]]:
        """The tools, as the protocol describes them."""

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The text that a call gives, and whether it is an error. Never raises."""


class ProtocolError(Exception):
    """What is wrong with a request."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


class _Request(NamedTuple):
    id: str | int
    method: str
    params: dict[str, Any]


class Conversation:
    """One client, from its first line to its last."""

    def __init__(self, tools: Tools, *, version: str, instructions: str) -> None:
        self._tools, self._instructions = tools, instructions
        self._info = {"name": "remit", "title": "Remit", "version": version}
        self._era: str | None = None
        self._methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "ping": lambda params: {},
            "tools/list": self._list,
            "tools/call": self._call,
        }

    def answer(self, line: bytes) -> bytes | None:
        """The answer to one line; None for a notification, or for what answers something. Never raises."""
        name: object = None
        try:
            found = _decoded(line)
            name = found.get("id")
            if "method" not in found and ("result" in found or "error" in found):
                return None  # nothing was asked
            request = _request(found)
            if request is None:
                return None
            return _line({"id": request.id, "result": self._result(request)})
        except ProtocolError as error:
            body: dict[str, Any] = {"code": error.code, "message": str(error)}
            return _line({"id": _id(name), "error": {**body, "data": error.data} if error.data else body})
        except Exception as error:  # one request that fails leaves the others alone
            return _line(
                {"id": _id(name), "error": {"code": INTERNAL, "message": f"it failed ({type(error).__name__})"}}
            )

    def _result(self, request: _Request) -> dict[str, Any]:
        """Raises ProtocolError."""
        meta = request.params.get("_meta", {})
        if type(meta) is not dict:
            raise ProtocolError(BAD_PARAMS, "`_meta` must be an object")
        if self._era is None:
            modern = request.method != "initialize" and _VERSION in meta
            if not modern and request.method not in ("initialize", "ping"):
                raise ProtocolError(INVALID, "`initialize` comes first, or each request says its version in `_meta`")
            self._era = "modern" if modern else "handshake" if request.method == "initialize" else None
        return self._modern(request, meta) if self._era == "modern" else self._handshake(request, meta)

    def _handshake(self, request: _Request, meta: dict[str, Any]) -> dict[str, Any]:
        if request.method == "initialize":
            return self._initialize(request.params)
        if _VERSION in meta:
            raise ProtocolError(INVALID, "this connection began with `initialize`: no request says a version itself")
        method = self._methods.get(request.method)
        if method is None:
            raise ProtocolError(NO_METHOD, "there is no such method")
        return method(request.params)

    def _modern(self, request: _Request, meta: dict[str, Any]) -> dict[str, Any]:
        asked = meta.get(_VERSION)
        if type(asked) is not str or type(meta.get(_CAPABILITIES)) is not dict:
            raise ProtocolError(BAD_PARAMS, f"`_meta` must have `{_VERSION}` and `{_CAPABILITIES}`")
        if asked not in MODERN or request.method == "initialize":
            raise ProtocolError(
                UNSUPPORTED, "this version is not spoken here", {"supported": [*MODERN], "requested": asked}
            )
        cached = {"ttlMs": 0, "cacheScope": "private"}
        if request.method == "server/discover":
            found = {"supportedVersions": [*MODERN], "capabilities": {"tools": {}}, **cached}
            found["instructions"] = self._instructions
        elif (method := self._methods.get(request.method)) is not None and request.method != "ping":
            found = method(request.params) | (cached if request.method == "tools/list" else {})
        else:
            raise ProtocolError(NO_METHOD, "there is no such method")
        return {**found, "resultType": "complete", "_meta": {_SERVER: self._info}}

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        if type(asked) is not str:
            raise ProtocolError(BAD_PARAMS, "`protocolVersion` must be text")
        return {
            "protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[-1],
            "capabilities": {"tools": {}},
            "serverInfo": self._info,
            "instructions": self._instructions,
        }

    def _list(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("cursor") is not None:
            raise ProtocolError(BAD_PARAMS, "all tools are in one list: there is no such `cursor`")
        return {"tools": self._tools.listed()}

    def _call(self, params: dict[str, Any]) -> dict[str, Any]:
        unknown = params.keys() - _CALL_KEYS
        if unknown:
            raise ProtocolError(BAD_PARAMS, "a call has `name` and `arguments`, and nothing else is understood here")
        name, arguments = params.get("name"), params.get("arguments", {})
        if type(name) is not str or type(arguments) is not dict:
            raise ProtocolError(BAD_PARAMS, "`name` must be text, and `arguments` an object")
        text, failed = self._tools.call(name, arguments)
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def serve(conversation: Conversation, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answers line by line until the client has gone."""
    while line := incoming.readline(LIMIT + 1):
        if len(line) > LIMIT and not line.endswith(b"\n"):
            while (rest := incoming.readline(LIMIT)) and not rest.endswith(b"\n"):
                pass
        if not line.strip():
            continue
        answer = conversation.answer(line)
        if answer is not None:
            try:
                outgoing.write(answer)
                outgoing.flush()
            except OSError:
                return


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        found = decode_json(line, limit=LIMIT)
    except CallError as error:
        raise ProtocolError(PARSE, f"this is not readable JSON: {error}") from None
    if type(found) is not dict or found.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID, "a message is one object of JSON-RPC 2.0")
    return found


def _request(found: dict[str, Any]) -> _Request | None:
    """None for a notification. Raises ProtocolError."""
    method, params = found.get("method"), found.get("params", {})
    if type(method) is not str or type(params) is not dict:
        raise ProtocolError(INVALID, "`method` must be text, and `params` an object")
    if "id" not in found:
        return None
    name = _id(found["id"])
    if name is None:
        raise ProtocolError(INVALID, "`id` must be text or a whole number")
    return _Request(name, method, params)


def _id(value: object) -> str | int | None:
    """An id that can be said again."""
    return value if (type(value) is str and len(value) <= 1_000) or type(value) is int else None


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
