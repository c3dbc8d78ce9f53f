"""Which host a word of a command names: only what every program reads in the same way."""

from __future__ import annotations

import pytest

from remit.scopes.shell.hosts import host_in


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Web.Example", "web.example"),
        ("user@web.example:b", "web.example"),
        ("web.example:22", "web.example"),
        ("ssh://u@web.example:22/x", "web.example"),
        ("[::1]:22", "::1"),
        ("fe80::1", "fe80::1"),
        ("web.example.", "web.example"),
        ("evil.example:x@web.example:b", None),
        ("evil.example?@web.example", None),
        ("evil.example#@web.example", None),
        ("evil.example\\@web.example", None),
        ("a@b@web.example", None),
        ("", None),
    ],
)
def test_a_host_is_told_only_where_all_read_it_alike(text: str, host: str | None):
    assert host_in(text) == host
