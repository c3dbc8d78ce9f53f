"""The state directory, the file system below it, and how a store is named."""

from __future__ import annotations

import builtins
import os
import re
import sys
from pathlib import Path

import pytest

from remit.store import (
    StoreMisconfigured,
    StoreUnavailable,
    StoreUnsafe,
    check_private,
    open_store,
    state_directory,
    store_url,
)
from remit.store.filesystem import file_system
from remit.store.place import make_private
from tests.store.place import code_of


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    root = tmp_path / "My Project"
    root.mkdir()
    return root


class TestDirectory:
    def test_it_is_made_for_its_owner_only(self, project: Path, tmp_path: Path):
        previous = os.umask(0o777)
        try:
            place = state_directory(project)
        finally:
            os.umask(previous)
        assert place.parent == tmp_path / "xdg" / "remit"
        assert re.fullmatch(r"My-Project-[0-9a-f]{16}", place.name)
        assert {path.stat().st_mode & 0o777 for path in (place, place.parent, place.parent.parent)} == {0o700}
        assert state_directory(project) == place

    def test_each_project_has_its_own(self, project: Path, tmp_path: Path):
        other = tmp_path / "other" / "My Project"
        other.mkdir(parents=True)
        link = tmp_path / "link"
        link.symlink_to(project)
        assert state_directory(other) != state_directory(project) == state_directory(link)

    @pytest.mark.parametrize("name", ["..", "ä ö", ".hidden", "a" * 200, "-rf"])
    def test_names_of_projects_are_tamed(self, project: Path, name: str):
        root = project / name if name != ".." else Path("/")
        root.mkdir(exist_ok=True)
        if name == "..":
            assert code_of(lambda: state_directory(root)) == "store-unsafe"  # everything is inside the root
        else:
            assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,39}-[0-9a-f]{16}", state_directory(root).name)

    def test_without_xdg_it_is_below_home(self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        for value in ("", "relative/path"):
            monkeypatch.setenv("XDG_STATE_HOME", value)
            assert state_directory(project).parent == tmp_path / "home" / ".local" / "state" / "remit"

    def test_never_inside_the_workspace(self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "sneaky").symlink_to(project)
        for inside in (project, project / "deep" / "er", tmp_path / "sneaky"):
            monkeypatch.setenv("XDG_STATE_HOME", str(inside))
            with pytest.raises(StoreUnsafe, match="inside the workspace"):
                state_directory(project)
        assert list(project.iterdir()) == []

    def test_no_home_at_all(self, project: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delenv("XDG_STATE_HOME")
        monkeypatch.setenv("HOME", "not/absolute")
        assert code_of(lambda: state_directory(project)) == "store-misconfigured"

    def test_a_file_where_it_should_be(self, project: Path, tmp_path: Path):
        (tmp_path / "xdg").write_text("")
        assert code_of(lambda: state_directory(project)) == "store-unavailable"

    def test_one_that_others_can_read_is_refused_with_what_to_do(self, project: Path):
        place = state_directory(project)
        place.chmod(0o755)
        with pytest.raises(StoreUnsafe) as caught:
            state_directory(project)
        assert caught.value.help == f"chmod 700 {place}"
        assert place.stat().st_mode & 0o777 == 0o755


class TestPrivate:
    def test_a_link_to_a_private_directory_is_none(self, tmp_path: Path):
        (tmp_path / "real").mkdir(mode=0o700)
        (tmp_path / "link").symlink_to(tmp_path / "real")
        check_private(tmp_path / "real")
        assert code_of(lambda: check_private(tmp_path / "link")) == "store-unsafe"

    def test_what_is_not_there(self, tmp_path: Path):
        assert code_of(lambda: check_private(tmp_path / "nothing")) == "store-unavailable"

    def test_a_parent_in_which_everyone_can_replace_it(self, tmp_path: Path):
        place = tmp_path / "open wide" / "state"
        place.mkdir(mode=0o700, parents=True)
        place.parent.chmod(0o777)
        with pytest.raises(StoreUnsafe) as caught:
            check_private(place)
        assert caught.value.help == f"chmod o-w '{place.parent}'"
        place.parent.chmod(0o1777)
        check_private(place)

    @pytest.mark.skipif(os.geteuid() != 0, reason="giving directories away needs root")
    def test_a_parent_of_another_user(self, tmp_path: Path):
        place = tmp_path / "theirs" / "state"
        place.mkdir(mode=0o700, parents=True)
        os.chown(place.parent, 12345, 12345)
        assert code_of(lambda: check_private(place)) == "store-unsafe"


class TestFileSystem:
    MOUNTS = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
23 22 0:5 / /home rw - nfs4 server:/home rw
24 23 0:6 / /home/me/local\040disk rw shared:3 master:2 - xfs /dev/sdb rw
25 22 0:7 / /mnt rw - ext4 /dev/sdc rw
26 25 0:8 / /mnt rw - cifs //server/share rw
bad line
"""

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("/", "ext4"),
            ("/etc", "ext4"),
            ("/home", "nfs4"),
            ("/home/me", "nfs4"),
            ("/homely", "ext4"),
            ("/home/me/local disk/x", "xfs"),
            ("/home/me/local", "nfs4"),
            ("/mnt/a/b", "cifs"),
        ],
    )
    def test_the_deepest_and_last_mount_counts(self, tmp_path: Path, path: str, kind: str):
        (tmp_path / "mounts").write_text(self.MOUNTS)
        assert file_system(Path(path), tmp_path / "mounts") == kind

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells")
    def test_the_kernel_tells(self):
        assert file_system(Path("/proc/self")) == "proc"


class TestUrls:
    def test_the_environment_names_the_store(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.delenv("REMIT_STORE", raising=False)
        assert store_url() is None
        monkeypatch.setenv("REMIT_STORE", "")
        assert store_url() is None
        monkeypatch.setenv("REMIT_STORE", "postgresql://h/d")
        assert store_url() == "postgresql://h/d"

    def test_without_one_it_is_a_file_in_the_state_directory(self, state: Path):
        store = open_store(None, state)
        assert store.describe() == f"SQLite in {state / 'remit.db'}"
        store.close()

    def test_a_file_elsewhere(self, tmp_path: Path, state: Path):
        store = open_store(f"sqlite://{tmp_path}/an%20other/my.db", state)
        store.close()
        assert (tmp_path / "an other" / "my.db").exists()
        assert (tmp_path / "an other").stat().st_mode & 0o777 == 0o700
        assert list(state.iterdir()) == []

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "sqlite:",
            "sqlite://",
            "sqlite:///",
            "sqlite://relative/x.db",
            "sqlite:///a/../b.db",
            "sqlite:///a?x=hunter2",
            "sqlite:///%ff",
            "sqlite:///a%00b",
            "sqlite:///a/",
            "mysql://u:hunter2@h/d",
            "hunter2",
            "/a/b",
        ],
    )
    def test_what_is_no_url_is_not_shown_either(self, state: Path, url: str):
        with pytest.raises(StoreMisconfigured) as caught:
            open_store(url, state)
        assert "hunter2" not in f"{caught.value} {caught.value.help}"

    @pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 1e9])
    def test_a_time_that_is_no_deadline(self, state: Path, timeout: float):
        assert code_of(lambda: open_store(None, state, timeout=timeout)) == "store-misconfigured"

    def test_without_the_driver_it_tells_what_to_install(self, state: Path, monkeypatch: pytest.MonkeyPatch):
        real = builtins.__import__

        def missing(name, *rest):
            if name.startswith("psycopg"):
                raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")
            return real(name, *rest)

        for module in ("remit.store.postgres", "remit.store.postgres_link"):
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.setattr(builtins, "__import__", missing)
        with pytest.raises(StoreMisconfigured) as caught:
            open_store("postgresql://h/d", state)
        assert caught.value.help == "pip install 'remit[postgres]'"


def test_a_place_that_can_not_be_made_is_said_with_another(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="can't make the state directory") as caught:
        make_private(tmp_path / "file" / "state")
    assert caught.value.help == "set XDG_STATE_HOME to a directory that you may write to"
