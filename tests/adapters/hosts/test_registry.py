"""Which hosts there are, and how a package adds one."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.adapters.hooks.carrier import HookAnswerer
from remit.adapters.hooks.client import LastResort
from remit.adapters.hooks.installed import client_file
from remit.adapters.hosts import registry
from remit.adapters.hosts.catalog import CatalogError, HostCatalog, load_catalog
from remit.adapters.hosts.claude_code.catalog import ClaudeCatalog
from remit.adapters.hosts.registry import UnknownHost
from remit.model.errors import RemitError
from tests.adapters.hooks.speech import SPEECHES, TOY, Speech


def package(folder: Path, patch: pytest.MonkeyPatch, *lines: str) -> None:
    """A package with these entry points, on the path."""
    about = folder / "other-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (about / "entry_points.txt").write_text("\n".join(["[remit.hosts]", *lines, ""]))
    patch.syspath_prepend(folder)


def test_a_package_adds_a_host():
    assert registry.names() == [*registry.BUILT_IN]
    with pytest.raises(UnknownHost, match="unknown host `toy`"):
        registry.find("toy")
    with TOY.available():
        assert registry.names() == [*registry.BUILT_IN, "toy"]
        assert registry.find("toy").name == "toy"


def test_no_package_replaces_a_host_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package(tmp_path, monkeypatch, "claude-code = tests.toy_host.host:HOST")
    assert registry.names() == [*registry.BUILT_IN]
    assert type(registry.find("claude-code")).__name__ == "ClaudeCode"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("tests.nowhere:HOST", "can't be loaded: ModuleNotFoundError"),
        ("tests.toy_host.host:NOTHING", "can't be loaded: AttributeError"),
        ("tests.toy_host.host:HOST", "is another host: its own name is `toy`"),
        ("tests.toy_host.host", "names a module and no object"),
    ],
)
def test_a_host_that_is_not_what_it_says(target: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package(tmp_path, monkeypatch, f"odd = {target}")
    with pytest.raises(UnknownHost, match=message):
        registry.find("odd")


def test_a_hook_of_a_host_that_is_gone_refuses_as_every_host_obeys():
    found = HookAnswerer.without("toy", b"{}", RemitError("x"))
    assert (found.out, found.code) == (b"", 2)
    assert b"unknown host `toy`" in found.err


@pytest.mark.parametrize("speech", SPEECHES, ids=lambda host: host.name)
def test_the_client_reads_what_install_writes(speech: Speech, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And by that it refuses so that the host obeys, and is silent about a report."""
    with speech.available():
        host = registry.find(speech.name)
    path = tmp_path / "client"
    path.touch(0o600)
    path.write_bytes(client_file(host))
    found = LastResort()
    found.read(str(path))
    assert found.known
    assert found.silence == tuple(host.last_resort.silence)
    for data, decision in ((b"", "deny"), (speech.begun, "deny"), (speech.ended, "-")):
        out, err, code = found.answer(data, "it broke")
        assert speech.understood(code, out, err.decode())[0] == decision
    out, err, _ = found.answer(b"", "it broke")
    assert b"Remit: it broke" in out + err
    assert b"{why}" not in out + err


GOOD = "passes: [{what: a, because: b, do: c}]\n"


def test_a_catalog_file_is_read_strictly():
    assert load_catalog(GOOD, "x", HostCatalog).passes[0].what == "a"
    for text in (
        "agents: {}\n",
        GOOD + "agent: {a: b}\n",
        GOOD + "agents: [a]\n",
        GOOD + "tools: Read\n",
        GOOD + "server_tools: mcp__\n",
        "passes: [{what: a, because: b}]\n",
        "passes: [{what: a, because: b, do: c, more: d}]\n",
    ):
        with pytest.raises(CatalogError, match="catalog x: "):
            load_catalog(text, "x", HostCatalog)
    with pytest.raises(CatalogError, match="settings"):
        load_catalog(GOOD, "x", ClaudeCatalog)
