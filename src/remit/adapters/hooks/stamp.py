"""The stamp: how a hook tells Remit's own MCP server who calls, since the protocol has no word for it.

The hook adds one field to the arguments of a call that it allowed. It says the host's session and use of the tool, the
agent with its task and chain, and the tool; its MAC covers these and the arguments. The key lies in the state
directory, which no agent can read. A stamp counts once, and for a minute.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from remit.model.call import Call, Context
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.errors import RemitError
from remit.store.errors import StoreError
from remit.store.files import stage
from remit.store.place import check_private_file, make_private

FIELD = "remit_stamp"
LIFE = 60
"""Seconds."""
_KEY = "keys/stamp"
_USED = "stamps"
_LONGEST = 16 * 1024


class NotStamped(RemitError):
    """A call of one of Remit's own tools that no hook vouches for."""

    code = "not-stamped"


class Stamp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who calls, as the hook knew it."""

    host: str
    use: str
    """The id of the call in the ledger: the host's session, and its use of the tool."""
    agent: str
    tool: str
    """As the policy calls it."""
    context: Context
    args: str
    """The SHA-256 of the arguments."""
    at: int
    once: str
    """A number that no other stamp has."""


_STAMP = Decoding(Stamp)


def stamped(state: Path, host: str, use: str, call: Call, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with a stamp for the call. Raises RemitError."""
    stamp = Stamp(host, use, call.agent, call.tool, call.context, _digest(args), int(time.time()), os.urandom(16).hex())
    body = base64.urlsafe_b64encode(msgspec.json.encode(stamp)).decode()
    return {**args, FIELD: f"{body}.{_mac(_key(state), body)}"}


def unstamped(state: Path, host: str, tool: str, args: dict[str, Any]) -> tuple[Stamp, dict[str, Any]]:
    """The stamp, which counts now and never again, and the arguments without it. Raises NotStamped and StoreError."""
    text = args.get(FIELD)
    rest = {name: value for name, value in args.items() if name != FIELD}
    if type(text) is not str or not text.isascii() or len(text) > _LONGEST:
        raise NotStamped("no hook of Remit has seen this call, so nobody can tell who makes it")
    body, _, mac = text.partition(".")
    if not hmac.compare_digest(mac, _mac(_key(state), body)):
        raise NotStamped("the stamp of this call is not from Remit's hook")
    try:
        stamp = _STAMP.decode(base64.urlsafe_b64decode(body))
    except (msgspec.MsgspecError, ValueError) as error:
        raise NotStamped(f"the stamp of this call can't be read: {error}") from None
    if (stamp.host, stamp.tool) != (host, tool):
        raise NotStamped("the stamp is for another tool")
    if not hmac.compare_digest(stamp.args, _digest(rest)):
        raise NotStamped("the arguments are not those that the hook has judged")
    if not 0 <= time.time() + 1 - stamp.at <= LIFE:
        raise NotStamped("the stamp has run out: make the call again")
    _use_up(state, stamp.once)
    return stamp, rest


def _use_up(state: Path, once: str) -> None:
    """Raises NotStamped if it was used before."""
    folder = state / _USED
    make_private(folder)
    try:
        os.close(os.open(folder / once, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    except FileExistsError:
        raise NotStamped("the stamp was used already: make the call again") from None
    except OSError as error:
        raise StoreError(f"nobody can tell whether the stamp was used: {error.strerror}") from None
    with suppress(OSError), os.scandir(folder) as every:
        for one in every:
            with suppress(OSError):
                if one.stat(follow_symlinks=False).st_mtime < time.time() - 10 * LIFE:
                    os.unlink(one.path)


def _key(state: Path) -> bytes:
    """The key, made by whoever needs it first. Raises StoreError."""
    path = state / _KEY
    try:
        if check_private_file(path) is None:
            staged = stage(path, os.urandom(32))
            try:
                with suppress(FileExistsError):  # somebody else was quicker
                    os.link(staged, path)
            finally:
                staged.unlink()
        key = path.read_bytes()
    except OSError as error:
        raise StoreError(f"the key of stamps can't be used: {error.strerror}") from None
    if len(key) != 32:
        raise StoreError("the key of stamps is damaged", help=f"remove {path}; a new one is made")
    return key


def _mac(key: bytes, body: str) -> str:
    return hmac.new(key, body.encode(), "sha256").hexdigest()


def _digest(args: dict[str, Any]) -> str:
    text = json.dumps(_plain(args), sort_keys=True, allow_nan=False, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any) -> Any:
    """Numbers as any program writes them: hosts make 1 of 1.0."""
    if type(value) is dict:
        return {key: _plain(one) for key, one in value.items()}
    if type(value) is list:
        return [_plain(one) for one in value]
    return int(value) if type(value) is float and value.is_integer() else value
