"""Programs outside of system and home: what of them is shown, and what nobody gets shown by pretending."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Backend, Place
from remit.confine.tools import tool_folders
from tests.confine.places import Site, profile


class Machine:
    """Folders outside of any system; `shown` says what of them a command of the project sees."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, self.home, self.state = (folder, *(folder / n for n in ("project", "home", "state")))
        for path in (self.root, self.home, self.state):
            path.mkdir()

    def put(self, *names: str) -> Path:
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
        return self.folder

    def python(self, prefix: str) -> Path:
        """Something that looks like an installation."""
        self.put(f"{prefix}/bin/python3.11", f"{prefix}/lib/python3.11/os.py")
        (self.folder / prefix / "bin/python3").symlink_to("python3.11")
        return self.folder / prefix

    def environment(self, prefix: str, base: Path) -> Path:
        """Something that looks like a virtual environment."""
        self.put(f"{prefix}/lib/python3.11/site-packages/x.py")
        found = self.folder / prefix
        (found / "bin").mkdir(exist_ok=True)
        (found / "bin/python3").symlink_to(base / "bin/python3")
        (found / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
        return found

    def shown(self, path: str = "", **variables: str) -> set[str]:
        place = Place(self.root, self.root, self.state, unseen=(self.state,))
        found = tool_folders({"PATH": path, **variables}, place, self.home)
        return {os.path.relpath(each, self.folder) for each in found}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_installation_on_the_search_path_is_shown_whole(machine: Machine):
    base = machine.python("srv/py")
    assert machine.shown(f"{base}/bin") == {"srv/py"}
    assert machine.shown(f"relative:{machine.folder}/none:{base}/bin/../bin:") == {"srv/py"}


def test_a_virtual_environment_brings_what_it_rests_on(machine: Machine):
    base = machine.python("opt2/py")
    venv = machine.environment("srv/venv", base)
    assert machine.shown(f"{venv}/bin") == {"srv/venv", "opt2/py"}
    assert machine.shown(VIRTUAL_ENV=str(venv)) == {"srv/venv", "opt2/py"}
    second = machine.environment("srv/second", venv)
    assert machine.shown(f"{second}/bin") == {"srv/second", "srv/venv", "opt2/py"}


@pytest.mark.parametrize("name", [".venv", "venv", "env-3.11", ".tox/py311", ".nox/tests"])
def test_the_project_s_own_environment_leads_out(machine: Machine, name: str):
    machine.environment(f"project/{name}", machine.python("srv/py"))
    assert machine.shown() == {"srv/py"}


def test_the_project_s_environment_may_be_a_link(machine: Machine):
    venv = machine.environment("other/.venv", machine.python("srv/py"))
    machine.put("other/secret", "other/.env")
    (machine.root / ".venv").symlink_to(venv)
    assert machine.shown() == {"other/.venv", "srv/py"}


def test_an_installation_behind_a_link_is_there_under_both_names(machine: Machine):
    machine.python("srv/py-3.11.7")
    (machine.folder / "srv/py").symlink_to("py-3.11.7")
    machine.environment("project/.venv", machine.folder / "srv/py")
    assert machine.shown() == {"srv/py", "srv/py-3.11.7"}


def test_of_a_folder_with_other_things_in_it_only_the_parts_are_shown(machine: Machine):
    machine.put("work/bin/tool", "work/lib/x.so", "work/share/x", "work/secret.txt", "work/src/a.py", "work/.env")
    (machine.folder / "work/lib64").symlink_to("lib")
    assert machine.shown(f"{machine.folder}/work/bin") == {"work/bin", "work/lib", "work/share"}
    (machine.folder / "work/.git").mkdir()
    assert machine.shown(f"{machine.folder}/work/bin") == {"work/bin"}  # a repository of somebody else


def test_links_in_a_folder_of_programs_lead_to_others(machine: Machine):
    machine.put("srv/node/bin/node", "srv/node/lib/x.js", "srv/secret/x", "tools/y")
    for name, target in (("node", "srv/node/bin/node"), ("x", "srv/secret/x")):
        (machine.folder / "tools" / name).symlink_to(machine.folder / target)
    assert machine.shown(f"{machine.folder}/tools") == {"tools", "srv/node"}


def test_tools_of_another_home_are_known_by_their_names(machine: Machine):
    machine.put("root/.pyenv/shims/python", "root/.pyenv/versions/3.11/bin/python", "root/.cargo/bin/cargo")
    (machine.folder / "root/.pyenv/.git").mkdir()
    path = f"{machine.folder}/root/.pyenv/shims:{machine.folder}/root/.cargo/bin"
    assert machine.shown(path) == {"root/.pyenv", "root/.cargo/bin"}


def test_installations_that_variables_name_are_shown(machine: Machine):
    machine.put("srv/jdk/bin/java", "srv/jdk/conf/security/x")
    assert machine.shown(JAVA_HOME=f"{machine.folder}/srv/jdk", NVM_DIR="relative") == {"srv/jdk"}


PRETENCES = {
    "a folder that is no installation": "other",
    "a repository": "repository",
    "a home's keys": "home/.ssh",
    "Remit's state": "state",
    "all around": "",
}


@pytest.mark.parametrize("place", PRETENCES.values(), ids=PRETENCES)
@pytest.mark.parametrize("how", ["home of pyvenv.cfg", "link of bin", "link of the environment"])
def test_nothing_else_is_shown_whatever_the_project_says(machine: Machine, place: str, how: str):
    """An agent writes its `.venv` as it likes."""
    machine.put("other/secret", "repository/bin/x", "home/.ssh/id", "state/keys", "other/bin/python3", "bin/python3")
    target = machine.folder / place
    if place in ("home/.ssh", "state"):
        machine.python(place)  # even if somebody had one there
    venv = machine.environment("project/.venv", machine.python("srv/py"))
    if how == "home of pyvenv.cfg":
        (venv / "pyvenv.cfg").write_text(f"home = {target}/bin\n")
    elif how == "link of bin":
        (venv / "bin/python").symlink_to(target / "bin/python3")
    else:
        (machine.root / "venv").symlink_to(target)
    assert machine.shown() == {"srv/py"}


def test_a_search_path_shows_nothing_of_remits_or_the_project_s_surroundings(machine: Machine):
    machine.put("state/bin/x", "home/.ssh/bin/x", "project/bin/x")
    folders = ("state/bin", "home/.ssh/bin", "project/bin", "", "home", "project", "state")
    assert machine.shown(":".join(f"{machine.folder}/{each}" for each in folders)) == set()
    assert machine.shown("/:/tmp:/proc/self/cwd:/proc/self/root/etc:/dev:/usr/bin") == set()


# In the kernel


@pytest.fixture(params=["/srv", "below /tmp"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    if request.param == "below /tmp":
        yield tmp_path / "elsewhere"
        return
    if not os.access("/srv", os.W_OK):
        pytest.skip("this user can't make a folder in /srv")
    folder = Path(tempfile.mkdtemp(dir="/srv", prefix="remit-"))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("backend", [pytest.param(Bubblewrap, marks=pytest.mark.hosts), Overlay])
def test_a_project_s_programs_run_wherever_their_environment_lies(
    backend: Callable[[Path], Backend], elsewhere: Path, tmp_path: Path
):
    if not backend(tmp_path / "trial").holds():
        pytest.skip("this backend does not work here")
    (tmp_path / "site").mkdir()
    site = Site(tmp_path / "site", backend)
    venv = elsewhere / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (venv / "bin/tool").write_text(f"#!{venv}/bin/python\nimport sys, json\nprint(sys.prefix)\n")
    (venv / "bin/tool").chmod(0o755)
    (elsewhere / "secret").write_text("TOPSECRET")
    (site.root / ".venv").symlink_to(venv)
    path = "/usr/local/bin:/usr/bin:/bin"
    asked = f"{venv}/bin/tool; .venv/bin/python -c 'import ssl, sqlite3'; cat {elsewhere}/secret; touch {venv}/x"
    done = site.bash(asked, profile(), PATH=path)
    assert (done.stdout, venv.joinpath("x").exists()) == (f"{venv}\n", False), done.stderr
    assert done.stderr.count("Read-only file system") == 1, done.stderr
    (site.root / ".venv").unlink()
    assert site.bash("tool", profile(), PATH=f"{venv}/bin:{path}").stdout == f"{venv}\n"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=site.root, check=True)
    assert site.bash(".venv/bin/python -c 'import json; print(1)'", profile(), PATH=path).stdout == "1\n"
