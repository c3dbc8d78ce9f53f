"""The quick look-up of label globs says what the globs say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.compile.defaults import labels
from remit.decide.labels import Paths, Things
from remit.model.policy import Label
from remit.scopes.glob import fold
from remit.scopes.interface import Unit

SHIPPED = tuple(text for label in labels() for text in label.path)
WORDS = ("a", "b.py", ".x", "src", "docs", "V1__a.sql", ".env", "x.env", "migrations", "workflows", ".github", "db")
segments = st.sampled_from([*WORDS, *(part for text in SHIPPED for part in text.split("/") if "*" not in part)])
paths = st.lists(segments, min_size=1, max_size=4).map("/".join)
wild = st.sampled_from(["*", "**", "*.py", "*.yml", "*a*", "?", *WORDS])
globs = st.lists(wild, min_size=1, max_size=4).map(lambda parts: "/".join(parts).replace("**/**", "**"))
label_globs = st.lists(st.one_of(globs, st.sampled_from(SHIPPED)), min_size=1, max_size=5).map(tuple)


@given(label_globs, paths)
def test_paths_are_found_as_the_globs_find_them(texts: tuple[str, ...], path: str) -> None:
    found = Paths(texts)
    assert found.matches(fold(path)) == found.all.matches(fold(path))


@given(paths)
def test_the_shipped_ones_too(path: str) -> None:
    found = Paths(SHIPPED)
    spared = fold(path).rpartition("/")[2] in found.spared
    assert found.matches(fold(path)) == (found.all.matches(fold(path)) and not spared)


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("**/x", ["x", "a/x", "a/b/x"], ["x/a", "ax", "a/xb"]),
        ("**/x/**", ["x/a", "a/x/b", "a/x/b/c"], ["x", "a/x", "ax/b"]),
        ("a/x", ["a/x"], ["x", "b/a/x", "a/x/b"]),
        ("a/x/**", ["a/x/b", "a/x/b/c"], ["a/x", "b/a/x/c"]),
        ("**/*.sql", ["a.sql", "b/a.sql"], [".sql", "b/.sql", "a.sql/b"]),
        ("**/a/x", ["a/x", "b/a/x"], ["x", "a/x/b", "ba/x"]),
        ("**/a/x/**", ["a/x/b", "b/a/x/c", "b/a/x/c/d"], ["a/x", "x/b", "a/b/x/c", "ba/x/c"]),
        ("**/*.sql/**", ["a.sql/b", "c/a.sql/b"], ["a.sql", ".sql/b"]),
        ("a/*/x", ["a/b/x"], ["a/x", "a/b/c/x"]),
    ],
)
def test_each_way_of_looking_a_path_up(glob: str, yes: list[str], no: list[str]) -> None:
    for texts in ((glob,), (glob, "other/**", "**/other", "**/*.other", "**/o/ther/**")):
        found = Paths(texts)
        assert [path for path in (*yes, *no) if found.matches(path)] == yes


@pytest.mark.parametrize(
    ("kind", "label", "named", "other"),
    [
        ("host", Label(name="production", host=("db.example",)), "db.example", "x.example"),
        ("host", Label(name="production", host=("db.example",)), "DB.example:5432", "db.example.x"),
        ("table", Label(name="production", table=("users",)), "public.users", "users.other"),
        ("branch", Label(name="production", branch=("main", "release/*")), "release/1", "mains"),
        ("context", Label(name="production", kube_context=("prod*",)), "prod-1", "dev"),
    ],
)
def test_what_is_not_told_could_be_anything_that_has_a_label(kind: str, label: Label, named: str, other: str) -> None:
    things, nothing = Things([label]), Things([Label(name="production", path=("x",))])
    assert things.meets(Unit(kind, "", named))
    assert not things.meets(Unit(kind, "", other))
    assert things.meets(Unit(kind, "", "", wide=True))
    assert not nothing.meets(Unit(kind, "", named))
    assert not nothing.meets(Unit(kind, "", "", wide=True))
