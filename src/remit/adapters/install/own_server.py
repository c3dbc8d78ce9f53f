"""Remit's own MCP server in the host's list of servers, for one project: put there by install, taken out by uninstall.

Most hosts have one list for all projects of the user (`shared_servers`): it is edited and restored like the settings
that hooks stand in. Where a host has one for each project, it lies in a file that the host itself goes on writing. So
nothing of it is kept: only our own entry is put in and taken out again, with the objects that were made for it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from remit.adapters.hooks.roots import server_command as shared_command
from remit.adapters.hosts.setup import Setup
from remit.adapters.install.changes import Change
from remit.adapters.install.files import EditError, read_file, remove_file, write_file
from remit.adapters.install.originals import text_of
from remit.adapters.install.place import Place
from remit.enforce.own_names import OWN_IN_HOST
from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.model.rulebook import Rulebook
from remit.model.text import shown


class Registered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What install has put where."""

    path: str
    made: int
    """How many objects were made in it."""
    created: bool
    """There was no such file."""


_REGISTERED = Decoding(Registered)


def server_command(state: Path, host: str) -> tuple[str, ...]:
    """What the host starts: this interpreter, deaf to PYTHON*."""
    return (sys.executable, "-I", "-m", "remit", "mcp", host, str(state))


def record_path(state: Path, host: str) -> Path:
    """Where it is kept what was put where."""
    return state / "hooks" / f"{host}.server.json"


class Registration(msgspec.Struct, frozen=True):
    """What is to be done: the change of the host's file, and what is kept of it afterwards."""

    place: Place
    change: Change
    kept: Registered | None

    def write(self) -> None:
        """Raises EditError. What is kept is written first: uninstalling takes out only what is there."""
        path = record_path(self.place.state, self.place.name)
        if self.change.needed and _read(self.change.path) != self.change.now:
            raise EditError(f"{shown(self.change.path, 300)}: changed meanwhile; run this again")
        if self.kept is not None:
            write_file(path, msgspec.json.encode(self.kept), private=True)
        if self.change.needed and self.change.wanted is not None:
            write_file(self.change.path, self.change.wanted, private=self.change.now is None)
        elif self.change.needed:
            remove_file(self.change.path)
        if self.kept is None:
            remove_file(path)


def registration(place: Place, rulebook: Rulebook) -> Registration | None:
    """What registering would do, or no longer doing so if the policy has none of its tools. Raises EditError."""
    path = place.setup.servers_path(place.root)
    before = _registered(place)
    if path is None or place.setup.servers_are_shared or not _is_served(place, rulebook):
        return removal(place)
    if before is not None and before.path != str(path):
        raise EditError(f"{shown(before.path, 300)}: has our server; uninstall first, then install again")
    now = _read(path)
    try:
        text = text_of(str(path), now) if now is not None else None
        new, made = place.setup.put_server(text, place.root, server_command(place.state, place.name))
    except RemitError as error:
        raise EditError(f"{shown(path, 300)}: {error}", code=error.code, help=error.help) from None
    if before is not None:
        kept = Registered(str(path), max(before.made, made), before.created or now is None)
    else:
        kept = Registered(str(path), made, now is None)
    return Registration(place, Change("settings", path, now, new.encode()), kept)


def shared_servers(place: Place, rulebook: Rulebook) -> Path | None:
    """The list of servers of all projects that ours belongs in; None if the host has none, or the policy no tools."""
    path = place.setup.servers_path(place.root)
    if path is None or not place.setup.servers_are_shared or not _is_served(place, rulebook):
        return None
    return Path(os.path.realpath(path))


def is_registered(setup: Setup, root: Path, state: Path, host: str) -> bool | None:
    """Whether our server stands in the host's list as this Remit writes it; None: the host has no list."""
    path = setup.servers_path(root)
    if path is None:
        return None
    try:
        text = path.read_text("utf-8")
        command = shared_command(host) if setup.servers_are_shared else server_command(state, host)
        return setup.put_server(text, root, command)[0] == text
    except (OSError, UnicodeDecodeError, RemitError):
        return False


def _is_served(place: Place, rulebook: Rulebook) -> bool:
    return place.host.can_change_args and bool(OWN_IN_HOST & rulebook.book.tools.keys())


def removal(place: Place) -> Registration | None:
    """What taking it out would do; None if nothing was put there. Raises EditError."""
    before = _registered(place)
    if before is None:
        return None
    path = Path(before.path)
    now = _read(path)
    wanted = now
    if now is not None:
        try:
            text = place.setup.take_server(text_of(before.path, now), place.root, before.made)
            wanted = None if before.created and place.setup.is_empty(text) else text.encode()
        except RemitError as error:
            raise EditError(f"{shown(path, 300)}: {error}", code=error.code) from None
    return Registration(place, Change("settings", path, now, wanted), None)


def _registered(place: Place) -> Registered | None:
    path = record_path(place.state, place.name)
    data = read_file(path, place.state)
    if data is None:
        return None
    try:
        return _REGISTERED.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise EditError(f"{shown(path, 300)}: can't be read: {error}") from None


def _read(path: Path) -> bytes | None:
    """It lies outside the project, in a folder of the user's."""
    return read_file(path, path.parent)
