"""What hosts that speak JSON have in common: fields that must be there, and calls that the host gives no id.

A host without ids says when a call is made and with what. Before and after, tool and arguments are the same (`alike`);
the moment makes the question unique, so that two hooks that see one call see the same one.
"""

from __future__ import annotations

import posixpath
from typing import Any

import msgspec

from remit.adapters.hosts.interface import OWN_SERVER
from remit.model.digest import sha256
from remit.model.errors import CallError
from remit.model.wire import decode_json

LIMIT = 32 * 1024 * 1024


def decoded(data: bytes) -> dict[str, Any]:
    """The object that a host says. Raises CallError."""
    found = decode_json(data, limit=LIMIT)
    if not isinstance(found, dict):
        raise CallError("expected an object")
    return found


def text_in(found: dict[str, Any], name: str) -> str:
    """A text that must be there. Raises CallError."""
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise CallError(f"`{name}` must be text")
    return value


def cwd_in(found: dict[str, Any]) -> str:
    """Where the call is made. Raises CallError."""
    cwd = text_in(found, "cwd")
    if not cwd.startswith("/"):
        raise CallError("`cwd` must be an absolute path")
    return cwd


def server_names(tool: str) -> tuple[str, ...]:
    """The names of a tool that the host calls `mcp__server__tool`: also `server/tool`, and Remit's own by their own."""
    parts = tool.split("__", 2)
    if len(parts) < 3 or parts[0] != "mcp" or not all(parts):
        return (tool,)
    own = (parts[2],) if parts[1] == OWN_SERVER else ()
    return (tool, f"{parts[1]}/{parts[2]}", *own)


def own_names(tool: str, start: str) -> tuple[str, ...]:
    """The names of a tool where those of Remit's own server begin with `start`."""
    return (tool, tool[len(start) :]) if tool.startswith(start) and len(tool) > len(start) else (tool,)


def cwd_of(found: dict[str, Any], place: object) -> str:
    """The same for a call that says where it wants to be made, from there. Raises CallError."""
    cwd = cwd_in(found)
    if place is None:
        return cwd
    if not isinstance(place, str) or "\0" in place:
        raise CallError("the directory of a command must be text")
    return posixpath.normpath(posixpath.join(cwd, place)) if place else cwd


def args_in(found: dict[str, Any], name: str) -> dict[str, Any]:
    """The arguments of a call. Raises CallError."""
    args = found.get(name)
    if not isinstance(args, dict):
        raise CallError(f"`{name}` must be an object")
    return args


def alike(tool: str, args: dict[str, Any]) -> str:
    """What a call and the report about it share."""
    try:
        said = msgspec.json.encode((tool, args), order="sorted")
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        said = tool.encode("utf-8", "replace")
    return sha256(said).hexdigest()[:24]


def with_err(reason: str) -> bytes:
    """A reason for stderr: one line, since some hosts show only the first."""
    return " ".join(reason.split()).encode("utf-8", "replace") + b"\n"
