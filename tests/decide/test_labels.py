"""The quick look-up of label globs says what the globs say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remit.compile.defaults import labels
from remit.decide.labels import Paths
from remit.scopes.glob import fold

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
