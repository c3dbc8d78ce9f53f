"""How models other than Anthropic's are spoken to: their requests as one of the Messages API, its answer as theirs.

The scripted model knows one form. Codex speaks OpenAI's Responses API, Gemini CLI speaks generateContent; Copilot CLI
and OpenCode speak the Messages API if they are told to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Blocks = Sequence[Mapping[str, Any]]


class Responses:
    """OpenAI's Responses API, as a stream."""

    @staticmethod
    def takes(path: str) -> bool:
        return path.endswith("/responses")

    @staticmethod
    def messages(body: Mapping[str, Any]) -> dict[str, Any]:
        """The request in the form that the script is followed by."""
        said, told = list[dict[str, Any]](), [str(body.get("instructions") or "")]
        for item in body.get("input", []):
            kind, role = item.get("type", "message"), item.get("role")
            if kind == "message" and role in ("developer", "system"):
                told.append(_text(item.get("content")))
            elif kind == "message":
                said.append({"role": role, "content": [{"type": "text", "text": _text(item.get("content"))}]})
            elif kind in ("function_call", "custom_tool_call"):
                said.append({"role": "assistant", "content": []})
            elif kind in ("function_call_output", "custom_tool_call_output"):
                block = {"type": "tool_result", "tool_use_id": item["call_id"], "content": _text(item.get("output"))}
                said.append({"role": "user", "content": [block]})
        offered = [*body.get("tools", [])]
        for item in body.get("input", []):  # newer models are offered theirs in a message
            offered += item.get("tools", []) if item.get("type") == "additional_tools" else []
        tools = [{**one, "input_schema": one.get("parameters", {})} for one in _flat(offered)]
        return {"system": "\n".join(told), "messages": said, "tools": tools}

    @staticmethod
    def answer(blocks: Blocks, number: int) -> tuple[str, bytes]:
        """The content type, and the stream."""
        items = []
        for n, block in enumerate(blocks):
            if block["type"] == "text":
                content = [{"type": "output_text", "text": block["text"], "annotations": []}]
                items.append({"type": "message", "role": "assistant", "id": f"msg_{number}_{n}", "content": content})
            elif set(block["input"]) == {"*"}:  # a tool without a schema: it takes one text
                item = {"type": "custom_tool_call", "call_id": block["id"], "input": block["input"]["*"]}
                items.append({**item, **_name(block["name"])})
            else:
                item = {"type": "function_call", "call_id": block["id"], "arguments": json.dumps(block["input"])}
                items.append({**item, **_name(block["name"])})
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": items, "usage": usage}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
        ]
        events += [{"type": "response.output_item.done", "output_index": n, "item": i} for n, i in enumerate(items)]
        events.append({"type": "response.completed", "response": whole})
        return "text/event-stream", b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
        )


class Gemini:
    """Google's generateContent, whole or as a stream."""

    @staticmethod
    def takes(path: str) -> bool:
        return path.endswith((":generateContent", ":streamGenerateContent"))

    @staticmethod
    def messages(body: Mapping[str, Any]) -> dict[str, Any]:
        """The request in the form that the script is followed by."""
        said = []
        for number, content in enumerate(body.get("contents", [])):
            blocks = []
            for n, part in enumerate(content.get("parts", [])):
                if "functionResponse" in part:
                    answer = part["functionResponse"]
                    response = answer.get("response", {})
                    name = answer.get("id") or f"{number}_{n}"
                    text = str(response.get("output", response.get("error", response)))
                    block = {"type": "tool_result", "tool_use_id": name, "content": text}
                    blocks.append({**block, "is_error": "error" in response})
                elif "text" in part:
                    blocks.append({"type": "text", "text": part["text"]})
            said.append({"role": "assistant" if content.get("role") == "model" else "user", "content": blocks})
        tools = [
            {**one, "input_schema": one.get("parametersJsonSchema") or one.get("parameters") or {}}
            for entry in body.get("tools", [])
            for one in entry.get("functionDeclarations", [])
        ]
        system = body.get("systemInstruction") or {}
        return {
            "system": [{"text": one.get("text", "")} for one in system.get("parts", [])],
            "messages": said,
            "tools": tools,
        }

    @staticmethod
    def answer(blocks: Blocks, number: int, path: str = ":streamGenerateContent") -> tuple[str, bytes]:
        """The content type, and the answer."""
        parts = [
            {"text": block["text"]}
            if block["type"] == "text"
            else {"functionCall": {"id": block["id"], "name": block["name"], "args": block["input"]}}
            for block in blocks
        ]
        whole = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if path.endswith(":generateContent"):
            return "application/json", json.dumps(whole).encode()
        return "text/event-stream", f"data: {json.dumps(whole)}\n\n".encode()


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(one.get("text", "")) for one in content if isinstance(one, dict))
    return json.dumps(content)


def _name(name: str) -> dict[str, str]:
    """`space.tool` is a tool in a namespace."""
    space, dot, tool = name.partition(".")
    return {"namespace": space, "name": tool} if dot else {"name": name}


def _flat(tools: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The tools, those of namespaces as `space.tool`."""
    for one in tools:
        if one.get("type") == "namespace":
            yield from ({**inner, "name": f"{one['name']}.{inner['name']}"} for inner in one.get("tools", []))
        else:
            yield {**one, "name": one.get("name") or str(one.get("type"))}
