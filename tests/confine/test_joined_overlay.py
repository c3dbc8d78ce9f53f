"""The overlay in a session's namespaces: its network is joined, and the same limits hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Unconfinable
from remit.confine.network import Session
from remit.confine.upper import NotCommitted
from remit.model.profile import Network
from tests.confine.places import Site, profile, told


def test_it_joins_a_session(tmp_path: Path) -> None:
    site = Site(tmp_path, Overlay)
    if not site.backend.holds():
        pytest.skip(f"the kernel lets no overlay be mounted here: {site.backend.lacking()}")
    try:
        session = Session.start(Network(), lambda contact: None)
    except Unconfinable as error:
        pytest.skip(str(error))
    with session:
        place = site.place(join=session.words)
        done = site.bash("echo x > docs/new; readlink /proc/self/ns/net; ls /proc | grep -c '^[0-9]'", profile(), place)
        again = site.bash("readlink /proc/self/ns/net", profile(), place)
        assert told(site.changes) == {}
        with pytest.raises(NotCommitted, match="is protected"):
            site.bash("echo x > .codex", profile(), place)
    network, processes = done.stdout.split()
    assert network == again.stdout.strip()
    assert int(processes) < 9
    assert (site.root / "docs/new").read_text() == "x\n"
