"""Fields: a commitment hides its value, binds to it and to its path, and is new each time."""

from __future__ import annotations

import os
from hashlib import sha256

from remit.record.fields import commit_all, digest_of


def test_a_commitment_is_what_the_format_says():
    [field] = commit_all({"args.a": {"x": 1}})
    assert field.value == b'{"x":1}'
    assert len(field.salt) == 16
    assert field.digest == sha256(field.salt + b"args.a\0" + b'{"x":1}').digest()
    assert field.digest != digest_of("args.b", field.salt, field.value)


def test_no_salt_comes_twice():
    salts = [field.salt for _ in range(300) for field in commit_all({"a": 1, "b": 1})]
    assert len(set(salts)) == 600


def test_no_salt_comes_twice_in_a_child():
    commit_all({"a": 1})
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b"".join(field.salt for _ in range(100) for field in commit_all({"a": 1})))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, 1600)
    os.close(reading)
    os.close(writing)
    assert len(theirs) == 1600
    mine = {field.salt for _ in range(300) for field in commit_all({"a": 1})}
    assert mine.isdisjoint(theirs[at : at + 16] for at in range(0, 1600, 16))


def test_a_secret_is_in_neither():
    fields = commit_all({"args.password": "hunter2 and more", "args.text": "token=abcdef123456"})
    assert all(b"hunter2" not in field.value and b"abcdef" not in field.value for field in fields)
    again = commit_all({"args.password": "something else"})
    assert again[0].value == fields[0].value
