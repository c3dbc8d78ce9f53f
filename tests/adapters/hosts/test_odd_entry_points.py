"""Entry points that are no hosts: each is refused with a reason, and no name of one becomes part of a path."""

import importlib.metadata

import pytest

from remit import catalog
from remit.adapters.hosts import registry


@pytest.mark.parametrize("name", ["../x", "a/b", "A", "", "a b", "-x", "x\n"])
def test_a_name_that_is_not_plain_names_no_host(monkeypatch, name):
    entry = importlib.metadata.EntryPoint(name, "os:path", catalog.HOSTS)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [entry])
    assert name not in registry.names()
    with pytest.raises(registry.UnknownHost, match="a host's name has at most 40"):
        registry.find(name)


def test_an_object_without_a_name(monkeypatch):
    entry = importlib.metadata.EntryPoint("odd", "os:sep", catalog.HOSTS)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [entry])
    with pytest.raises(registry.UnknownHost, match=r"`os:sep`\) is not a host: str has no `name`"):
        registry.find("odd")
