"""A look before a run, written down: in a host, another process looks after the run."""

from __future__ import annotations

import base64
import json
from typing import Any

from remit.confine.git_trees import State
from remit.confine.hashes import Content
from remit.confine.interface import Place
from remit.confine.inventory import Identity, Inventory
from remit.confine.protected import Protected
from remit.confine.sweep import Before, _Writable
from remit.model.profile import Profile


def written(before: Before) -> bytes:
    """All that was seen; names that are no UTF-8 come back as they were."""
    seen = before.seen
    found = {
        "modes": before.modes,
        "took": before.took,
        "seen": {**vars(seen), "silent": sorted(seen.silent)},
        "contents": before.contents,
        "above": before.above,
        "work_trees": sorted(before.work_trees),
        "states": [_state(one) for one in before.states],
    }
    return json.dumps(found, separators=(",", ":")).encode()


def read(profile: Profile, place: Place, data: bytes) -> Before:
    """The same look, for the same profile and place. Raises ValueError, KeyError or TypeError for anything else."""
    found = json.loads(data)
    seen = Inventory()
    for name, value in found["seen"].items():
        setattr(seen, name, value)
    seen.silent = set(seen.silent)
    seen.tops, seen.repositories = _identities(seen.tops), _identities(seen.repositories)
    seen.links = {path: (value[0], value[1]) for path, value in seen.links.items()}
    contents = {path: Content(Identity(*first), *rest) for path, (first, *rest) in found["contents"].items()}
    before = Before.__new__(Before)
    before.profile, before.place, before.root = profile, place, str(place.root)
    before.protected, before._writes = Protected(profile), _Writable(profile)
    before.modes, before.took, before.seen, before.contents = found["modes"], found["took"], seen, contents
    before.above, before.work_trees = _identities(found["above"]), frozenset(found["work_trees"])
    before.states = [_state_of(before.root, one) for one in found["states"]]
    return before


def _identities(found: dict[str, Any]) -> dict[str, Identity]:
    return {path: Identity(*value) for path, value in found.items()}


def _state(state: State) -> dict[str, Any]:
    return {
        "path": state.path,
        "directory": state.directory,
        "at": state.at,
        "references": state.references,
        "index": _text(state.index),
        "tables": _text(state.tables),
        "info": {name: _text(value) for name, value in state.info.items()},
        "logged": sorted(state.logged),
        "packs": sorted(state.packs),
    }


def _state_of(root: str, found: dict[str, Any]) -> State:
    state = State.__new__(State)
    state.root, state.path, state.directory = root, found["path"], found["directory"]
    state.work = state.path.rpartition("/")[0]
    state.at, state.references = found["at"], found["references"]
    state.index, state.tables = _bytes(found["index"]), _bytes(found["tables"])
    state.info = {name: _bytes(value) for name, value in found["info"].items()}
    state.logged, state.packs = frozenset(found["logged"]), frozenset(found["packs"])
    return state


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _bytes(value: str) -> bytes:
    return base64.b64decode(value)
