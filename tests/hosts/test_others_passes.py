"""What the other hosts let through although the hook is installed, as their catalogs say: seen in the real programs.

Each is something that whoever starts the host, or owns the machine, can do; no call of an agent gets there
(`test_others_attempts.py`). If one of these stops being so, its entry goes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.adapters.hosts import registry
from tests.hosts.others import Codex, Copilot, Gemini, OpenCode, Other, other

pytestmark = pytest.mark.hosts

Env = dict[str, str]


def set_in(path: str, **values: object) -> Callable[[Other], Env]:
    """These keys stand in settings of the user."""

    def do(host: Other) -> Env:
        place = host.home / path
        said = json.loads(place.read_text()) if place.exists() else {}
        place.write_text(json.dumps({**said, **values}))
        return {}

    return do


def switched_off(host: Other) -> Env:
    """In the project, whose folder a person trusts; in the user's own settings the same key changes nothing."""
    host.put(".github/copilot/settings.json", '{"disableAllHooks": true}')
    return {}


def junk(host: Other) -> Env:
    """The hook ends well and says something that the host does not know."""
    (host.home / "state" / "remit" / "hosts" / f"{host.name}.sh").write_text("echo junk\nexit 0\n")
    return {}


def elsewhere(variable: str, folder: str, *gone: str) -> Callable[[Other], Env]:
    """Another place for the user's settings: the same, without these."""

    def do(host: Other) -> Env:
        place = host.base / "another"
        shutil.copytree(host.home / host.folder, place / folder)
        for path in (place / folder).rglob("*.json"):
            said = json.loads(path.read_text())
            path.write_text(json.dumps({key: value for key, value in said.items() if key not in gone}))
        return {variable: str(place)}

    return do


def nothing(host: Other) -> Env:
    return {}


OPEN = {"OPENCODE_PURE": "1", "OPENCODE_PERMISSION": '{"*": "allow"}'}
SEEN: list[tuple[type[Other], str, Callable[[Other], Env], tuple[str, ...]]] = [
    (Copilot, "settings that switch hooks off", switched_off, ()),
    (Copilot, "a session with another home", elsewhere("COPILOT_HOME", ".", "hooks"), ()),
    (Copilot, "everything, if the hook hangs or writes anything but one answer", junk, ()),
    (OpenCode, "everything, if the plugin does not load and something opens the floor", lambda host: OPEN, ()),
    (Codex, "everything, if the hook hangs, fails or answers `ask`", junk, ()),
    (Codex, "a session that is told to leave hooks out", nothing, ("--disable", "hooks")),
    (Gemini, "settings that switch hooks off", set_in(".gemini/settings.json", hooksConfig={"enabled": False}), ()),
    (Gemini, "everything, if the hook hangs, fails or answers `ask`", junk, ()),
    (Gemini, "a session with another home", elsewhere("GEMINI_CLI_HOME", ".gemini", "hooks"), ()),
]


@pytest.mark.parametrize(("kind", "what", "prepare", "options"), SEEN, ids=lambda one: getattr(one, "name", None))
def test_it_is_so(
    kind: type[Other], what: str, prepare: Callable[[Other], Env], options: tuple[str, ...], tmp_path: Path
):
    assert what in [gap.what for gap in registry.find(kind.name).setup().catalog.passes]
    host = other(kind, tmp_path)
    host.install()
    if kind in (OpenCode, Gemini):
        host.run({"main": ["done"]})  # its settings that name the model are there
    run = host.run({"main": [host.write("src/a.txt"), "done"]}, *options, env=prepare(host))
    assert "src/a.txt" in host.files(), (run.said, run.stderr[-2000:])
