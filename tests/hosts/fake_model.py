"""A scripted model on loopback that speaks the APIs of several makers, and remembers everything that it was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from tests.hosts.dialects import Gemini, Responses

MAIN = "main"
SIDE = "side"

# How a request says which agent asks: every agent that a test defines has this sentence in its prompt.
MARK = "You are the scripted agent {name}."
_MARK = re.compile(r"You are the scripted agent ([A-Za-z0-9_.:-]+)\.")


@dataclass(frozen=True, slots=True)
class Use:
    """One tool call that the model makes."""

    tool: str
    input: Mapping[str, Any]


# What the model says in one turn: text ends its work, calls are run by the host and answered in the next request.
Turn = str | Use | Sequence[Use]
Script = Mapping[str, Sequence[Turn]]


@dataclass(frozen=True, slots=True)
class Result:
    """What came back to the model for one of its calls."""

    id: str
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the model."""

    who: str
    path: str
    body: Mapping[str, Any]

    @property
    def tools(self) -> dict[str, Mapping[str, Any]]:
        """The tools on offer, by name."""
        return {tool["name"]: tool for tool in self.body.get("tools", [])}

    @property
    def results(self) -> list[Result]:
        """The answers to tool calls that are new in this request: those after the model's last turn."""
        found: list[Result] = []
        for said in reversed(self.body.get("messages", [])):
            if said["role"] == "assistant":
                break
            blocks = [block for block in said["content"] if isinstance(block, dict) and block["type"] == "tool_result"]
            found[:0] = [
                Result(block["tool_use_id"], plain(block.get("content", "")), bool(block.get("is_error")))
                for block in blocks
            ]
        return found


@dataclass(slots=True)
class FakeModel:
    """The turns of every agent by name (`main` for the session's own), and the requests so far.

    An agent's turn is the number of answers that it has in its conversation already, so agents of one name that run
    side by side each follow the script from its start. Requests that offer no tools are the host's own (titles,
    summaries) and get an empty answer.
    """

    script: Script
    asked: list[Asked] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    url: str = ""
    lock: Lock = field(default_factory=Lock)

    def answer(self, path: str, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The content blocks of the next turn."""
        who = asker(body)
        with self.lock:
            self.asked.append(Asked(who, path, body))
            number = len(self.asked)
        if who == SIDE:
            return [{"type": "text", "text": "{}"}]
        turns = self.script.get(who)
        if turns is None:
            return [{"type": "text", "text": f"no script for {who}"}]
        done = answers_so_far(body)
        turn = turns[done] if done < len(turns) else "done"
        if isinstance(turn, str):
            return [{"type": "text", "text": turn}]
        uses = [turn] if isinstance(turn, Use) else turn
        return [
            {"type": "tool_use", "id": f"toolu_{number:03}_{i}", "name": use.tool, "input": dict(use.input)}
            for i, use in enumerate(uses)
        ]

    def of(self, who: str) -> list[Asked]:
        """The requests of one agent, in order."""
        return [asked for asked in self.asked if asked.who == who]

    def results(self, who: str = MAIN) -> list[Result]:
        """Every tool result that reached an agent, in order."""
        return [result for asked in self.of(who) for result in asked.results]

    def offered(self, who: str = MAIN) -> set[str]:
        """The names of the tools in an agent's first request."""
        return set(self.of(who)[0].tools)


def asker(body: Mapping[str, Any]) -> str:
    """Who asks: by the mark in the system prompt, else `main`; `side` if no tool is on offer."""
    if not body.get("tools"):
        return SIDE
    marked = _MARK.search(plain(body.get("system", "")))
    return marked.group(1) if marked else MAIN


def answers_so_far(body: Mapping[str, Any]) -> int:
    """How many turns the agent has had; messages of the model that stand side by side are one."""
    roles = [message["role"] for message in body.get("messages", []) if message["role"] in ("user", "assistant")]
    return sum(role == "assistant" and (i == 0 or roles[i - 1] != "assistant") for i, role in enumerate(roles))


def plain(content: object) -> str:
    """The text of a content that may be a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return ""


def message(blocks: Sequence[Mapping[str, Any]], model: str, number: int) -> dict[str, Any]:
    """A whole answer, as it is sent when no stream was asked for."""
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(blocks),
        "stop_reason": "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def events(whole: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same answer as a stream of server-sent events."""
    yield "message_start", {"message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        yield "content_block_start", {"index": index, "content_block": start}
        yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": stop, "usage": {"output_tokens": 1}}
    yield "message_stop", {}


@contextmanager
def serving(script: Script) -> Iterator[FakeModel]:
    """A fake model that listens on a free port of the loopback for as long as the block lasts."""
    model = FakeModel(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_GET(self) -> None:
            with model.lock:
                model.other.append(f"{self.command} {self.path}")
            self.reply(404, "application/json", b"{}")

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            path = self.path.partition("?")[0]
            if path == "/v1/messages/count_tokens":
                return self.reply(200, "application/json", b'{"input_tokens": 1}')
            if Responses.takes(path):
                blocks = model.answer(path, Responses.messages(json.loads(raw)))
                return self.reply(200, *Responses.answer(blocks, len(model.asked)))
            if Gemini.takes(path):
                blocks = model.answer(path, Gemini.messages(json.loads(raw)))
                return self.reply(200, *Gemini.answer(blocks, len(model.asked), path))
            if path != "/v1/messages":
                return self.do_GET()
            body = json.loads(raw)
            blocks = model.answer(path, body)
            whole = message(blocks, body.get("model", "fake"), len(model.asked))
            if not body.get("stream"):
                return self.reply(200, "application/json", json.dumps(whole).encode())
            stream = "".join(
                f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n" for kind, data in events(whole)
            )
            return self.reply(200, "text/event-stream", stream.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
