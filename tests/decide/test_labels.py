"""The quick look-up of label globs says what the globs say."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.compile.defaults import labels
from remit.decide.labels import Labels, Paths, Things, _way
from remit.model.policy import Label
from remit.model.rulebook import LabelTier
from remit.scopes.glob import Glob, fold
from remit.scopes.interface import Unit
from remit.scopes.url import UrlPattern, parse_url

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
        ("**/*.c", ["a.c", "b/a.c"], [".c", "a.cc", "c"]),
        ("**/a/x", ["a/x", "b/a/x"], ["x", "a/x/b", "ba/x"]),
        ("**/a/x/**", ["a/x/b", "b/a/x/c", "b/a/x/c/d"], ["a/x", "x/b", "a/b/x/c", "ba/x/c"]),
        ("**/*.sql/**", ["a.sql/b", "c/a.sql/b"], ["a.sql", ".sql/b"]),
        ("a/*/x", ["a/b/x"], ["a/x", "a/b/c/x"]),
        ("x", ["x"], ["a/x", "x/a"]),
        ("x/**", ["x/a", "x/a/b"], ["x", "a/x/b", "xa/b"]),
        ("*.sql", ["a.sql"], [".sql", "b/a.sql"]),
        ("**/a/b/x/**", ["a/b/x/c", "d/a/b/x/c"], ["a/b/x", "b/x/c", "a/x/c"]),
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
        ("host", Label(name="production", host=("DB.example.",)), "db.example.", "example"),
        ("host", Label(name="production", host=("*.example",)), "a.b.example:80", "example"),
        ("host", Label(name="production", host=("2001:db8::1",)), "2001:db8::1", "2001:db8::2"),
        ("host", Label(name="production", host=("2001:db8::1",)), "[2001:db8::1]:5432", "[2001:db8::2]:5432"),
        ("host", Label(name="production", host=("[2001:DB8:0::1]",)), "2001:db8:0:0::1", "2001:db8"),
        ("host", Label(name="production", host=("2001:db8::a",)), "2001:db8::a", "2001:db8:"),
        ("host", Label(name="production", host=("1:2:3",)), "1:2:3", "1:2"),
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


@pytest.mark.parametrize("host", ["2001:db8::1", "[2001:db8::1]", "2001:DB8:0::1"])
def test_a_host_by_its_address_labels_its_urls(host: str) -> None:
    things = Things([Label(name="production", host=(host,))])
    urls = ("https://[2001:db8::1]/x", "https://[2001:db8::1]:8443/x", "https://[2001:db8::2]/x")
    assert [things.meets(Unit("url", "", parse_url(url))) for url in urls] == [True, True, False]
    patterns = ("https://**", "https://[2001:db8::1]/a/**", "https://[2001:db8::2]/**", "https://x.example/**")
    wide = [Unit("url", "", UrlPattern.parse(text), wide=True) for text in patterns]
    assert [things.meets(unit) for unit in wide] == [True, True, False, False]


@pytest.mark.parametrize("kind", ["path", "url", "host", "table", "branch", "kube_context"])
def test_a_label_with_one_sort_of_things_is_about_something(kind: str) -> None:
    assert Things(
        [
            msgspec.structs.replace(
                Label(name="production"), **{kind: ("https://x.example/**" if kind == "url" else "x",)}
            )
        ]
    )
    assert not Things([Label(name="production")])


def test_a_name_can_be_spared() -> None:
    found = Paths(("**/.env.*", "!**/.env.example", "**/wow!"))
    assert [path for path in (".env.x", "a/.env.example", ".env.example", "wow!") if found.matches(path)] == [
        ".env.x",
        "wow!",
    ]


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        (
            "**/api/keys/x",
            ["api/keys", "z/api/keys"],
            ["api", "z/api", "keys", "z/api/keys/x"],
        ),  # an API holds more
        ("**/conf/x", ["conf", "z/conf"], ["x", "xconf"]),
        ("**/conf/x/**", ["conf", "z/conf", "z/conf/x"], ["x", "conf/x/y"]),
        ("**/x/**", ["x", "z/x"], ["z", "zx", "x/y"]),
        ("a/b/x", ["a/b", "a"], ["b", "z/a", "a/b/x"]),
        ("a/b/**", ["a/b", "a"], ["b", "a/b/x"]),
        ("a/b/*x*", ["a/b", "a"], ["b", "a/b/x"]),
    ],
)
def test_which_folders_hold_some(glob: str, yes: list[str], no: list[str]) -> None:
    found = Paths((glob,))
    assert [folder for folder in (*yes, *no) if found.holds(folder)] == yes


@pytest.mark.parametrize(
    ("label", "glob", "expected", "some"),
    [
        ("**", "docs/*", True, True),  # all of it lies within
        ("**/key.pem", "key.pem/*.md", False, False),
        ("**/key.pem", "key.*/x", False, False),
        ("a*/*.pem", "**/*.pem", True, True),  # by how the names end
        ("a*/*.pem", "**/*.md", False, False),
        ("a*/*.pem", "b/*.pem", False, False),  # which are not there
        ("a*/x.pem", "**/x.*", True, True),  # by a name
        ("a*/x.pem", "b/x.pem", False, False),
        ("docs/**", "**/*.py", True, False),  # by where they lie, unless only some are meant
        ("**/*.pem", "**", False, False),
        ("docs/x", "d*/x", True, True),
    ],
)
def test_what_a_pattern_is_aimed_at(label: str, glob: str, expected: bool, some: bool) -> None:
    paths = Paths((label,))
    assert [paths.aimed(Glob.parse(glob), some=one) for one in (False, True)] == [expected, some]
    assert not Paths(()).aimed(Glob.parse(glob))


@pytest.mark.parametrize(("effect", "expected"), [("delete", True), ("write", False), ("read", False)])
def test_a_pattern_that_may_be_a_folder_with_some_in_it_meets_them_by_deleting(effect: str, expected: bool) -> None:
    things = Things([Label(name="production", path=("docs/a/x",))])
    effects = frozenset((effect,))
    assert things.meets(Unit("path", "", Glob.parse("d*s"), effects, wide=True)) is expected
    assert things.meets(Unit("path", "", "docs", effects)) is expected
    assert not things.meets(Unit("path", "", Glob.parse("x*s"), effects, wide=True))
    assert not Things([]).meets(Unit("path", "", Glob.parse("d*s"), effects, wide=True))


def test_what_lies_outside_the_root_is_no_data_of_the_project() -> None:
    things = Things([Label(name="data", path=("**/x",))])
    assert [things.might(Unit("path", "", text)) for text in ("x", "a/x", "/etc/x", "y")] == [True, True, False, False]


def test_some_of_everything_could_be_whatever_has_a_label() -> None:
    labels = Labels((Label(name="data", tier=2, path=("hr/**",)),), {})
    units = [Unit("path", "", Glob.parse(text), wide=True, some=True) for text in ("**", "x*", "hr/*")]
    assert [labels.of(unit).data_tier for unit in units] == [2, 0, 2]
    assert labels.of(Unit("path", "", Glob.parse("**"), untold="target")).data_tier == 2


@pytest.mark.parametrize(("tier", "expected"), [(2, (3, "own")), (3, (3, "own")), (4, (4, "shipped"))])
def test_what_a_text_does_not_tell_has_the_highest_tier_of_any_label(tier: int, expected: tuple[int, str]) -> None:
    own = Label(name="own", path=("docs/**",))
    shipped = Label(name="shipped", path=("**/.ssh/config",), shipped=True)
    labels = Labels((own, shipped), {"shipped": LabelTier(tier, ("write",)), "own": LabelTier(3, ("write",))})
    unit = Unit("path", "", "**", frozenset(("write",)), untold="place", also=("~/.ssh/config",))
    assert labels.of(unit)[1:] == expected
    assert labels.of(msgspec.structs.replace(unit, effects=frozenset(("read",))))[1:] == (0, None)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("**/Name.x", ("names", "name.x")),
        ("**/name/**", ("folders", "name")),
        ("**/*.end", ("ends", ".end")),
        ("**/*.end/**", ("rest", "**/*.end/**")),
        ("**/a/b", ("tails", "a/b")),
        ("**/a/b/**", ("inner", "a/b")),
        ("**/*a/b", ("rest", "**/*a/b")),
        ("a", ("exact", "a")),
        ("a/b", ("exact", "a/b")),
        ("a/**", ("bases", "a")),
        ("a/b/**", ("bases", "a/b")),
        ("*.a", ("rest", "*.a")),
        ("*a/**", ("rest", "*a/**")),
        ("a/*/b", ("rest", "a/*/b")),
        ("[ab]", ("rest", "[ab]")),
        ("**", ("rest", "**")),
        ("é", ("rest", "é")),
    ],
)
def test_most_globs_of_labels_need_no_matcher(text: str, way: tuple[str, str]) -> None:
    assert _way(text) == way
    first = ["name.x", "a/NAME.x", "name", "name/y", "x/name/y", ".end", "x.end", "a/x.end", "x.end/y", "a/b", "z/a/b"]
    paths = [*first, "a/b/c", "z/a/b/c", "xa/b", "z/xa/b", "a", "z/a", "a/c", "x.a", "xa/c", "a/z/b", "b", "ab", "É"]
    assert [Paths((text,)).matches(fold(path)) for path in paths] == [
        Glob.parse(text).folded().matches(fold(path)) for path in paths
    ]


@pytest.mark.parametrize(
    ("names", "declared", "expected"),
    [
        (["dependencies"], False, (2, "dependencies")),
        (["dependencies"], True, (0, None)),  # what these files say already
        (["dependencies", "production"], True, (4, "production")),
        (["dependencies", "ours"], True, (1, "ours")),
    ],
)
def test_a_declared_package_leaves_every_other_label(
    names: list[str], declared: bool, expected: tuple[int, str | None]
) -> None:
    tiers = {"dependencies": 2, "production": 4, "ours": 1}
    rules = {name: LabelTier(tier, ("write",)) for name, tier in tiers.items()}
    labels = Labels(tuple(Label(name, path=("lib/**",)) for name in names), rules)
    unit = Unit("path", "", "lib/x", frozenset({"write"}), declared=declared)
    assert labels.of(unit)[1:] == expected
