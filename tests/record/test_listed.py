"""Lists that this machine remembers: whoever adds to one, in whatever order it comes to know."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from remit.record.listed import STATES, list_of, listed_places, note_listed
from remit.record.state_memory import StateMemory
from tests.grant.world import open_world

PLACES = st.lists(st.integers(0, 60), max_size=12)


@settings(max_examples=60, deadline=None)
@given(PLACES, PLACES)
def test_whatever_was_added_is_listed(tmp_path_factory, one: list[int], other: list[int]):
    """Two processes of a machine, each of which knows what the other has noted before."""
    folder: Path = tmp_path_factory.mktemp("listed")
    (folder / "keys").mkdir()
    stores = [open_world(None, folder) for _ in "ab"]
    for store in stores:
        store.keep_notes(STATES, StateMemory(folder / "keys"))
    for at in range(max(len(one), len(other))):
        for store, places in zip(stores, (one, other), strict=True):
            with store.read() as view:
                for place in places[at : at + 1]:
                    note_listed(view, ("halt",), place)
                note_listed(view, ("capsule", "x"), 7)
    for store in stores:
        with store.read() as view:
            assert listed_places(view, ("halt",)) == sorted({*one, *other}, reverse=True)
            assert listed_places(view, ("incident",)) == []
        store.close()


def test_what_belongs_to_which_list():
    assert list_of(("halt", "boss"), {}) == list_of(("halt", "other"), None) == ("halt",)
    assert list_of(("answer", 17, "ann"), {}) == ("answer", 17)
    assert list_of(("capsule", "T"), {"agent": "boss"}) == ("capsule", "boss")
    assert list_of(("capsule", "T"), None) is list_of(("ask", 1), {}) is list_of((), {}) is None
