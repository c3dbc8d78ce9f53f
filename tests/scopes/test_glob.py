"""Globs: what they match, against the oracle's matcher; how they compare, against all short paths."""

import contextlib
import copy
import itertools
import pickle
import re
import time
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from remit.scopes import glob_match
from remit.scopes.glob import Glob, GlobError, fold
from remit.scopes.glob_syntax import ANY, CharSet
from remit.scopes.globset import GlobSet
from tests.oracle.naive_globs import matches as naive

NAMES = ["".join(name) for size in (1, 2) for name in itertools.product("ab", repeat=size)]
PATHS = [
    ".",
    *("/".join(parts) for depth in (1, 2, 3, 4) for parts in itertools.product(NAMES, repeat=depth)),
]


_atoms = st.sampled_from(["a", "b", "a", "b", "*", "?", "[ab]", "[!a]", "{a,b}", "{a,ba}", "{a,*}"])
_segment = st.lists(_atoms, min_size=1, max_size=4).map("".join)
_part = st.one_of(_segment, _segment, st.just("**"), st.just("{a/b,**}"), st.just("*"), st.just("{a,{b/*,?}}"))
patterns = st.lists(_part, min_size=1, max_size=4).map("/".join)


def parsed(text: str) -> Glob:
    try:
        return Glob.parse(text)
    except GlobError:
        assume(False)
        raise


@given(patterns)
@settings(max_examples=200, deadline=None)
@example("**")
@example("**/**")
@example("**/**/**")
@example("{**,a}/**")
@example("a/**/**")
@example("**/*")
@example("**/*/**")
@example("*/**/?b/**/a")
def test_matches_what_the_naive_matcher_matches(text: str) -> None:
    glob = parsed(text)
    wrong = [path for path in PATHS[:260] + PATHS[260::9] if glob.matches(path) != naive(text, path)]
    assert wrong == []


@given(patterns)
@settings(max_examples=100, deadline=None)
@example("**")
@example("**/**")
@example("*")
@example("*/a")
def test_an_absolute_glob_matches_what_the_naive_matcher_matches(text: str) -> None:
    parsed(text)
    glob = Glob.parse(f"/{text}", absolute=True)
    paths = ["/", *(f"/{path}" for path in PATHS[1:200])]
    assert [path for path in paths if glob.matches(path) != naive(f"/{text}", path)] == []
    assert not any(map(glob.matches, PATHS[:50]))


def test_of_globs_with_nothing_but_deep_wildcards_only_a_single_one_matches_the_root() -> None:
    assert [Glob.parse("/".join(["**"] * size)).matches(".") for size in (1, 2, 3, 4)] == [True, False, False, False]
    assert [Glob.parse("/**" * size, absolute=True).matches("/") for size in (1, 2, 3)] == [True, False, False]
    assert Glob.parse("**/**").alternatives == Glob.parse("**/*").alternatives


@pytest.mark.parametrize(
    ("texts", "root"), [(["**", "a?/[bc]"], True), (["*", "a?/[bc]"], False), (["**/*", "?"], False)]
)
def test_a_set_has_the_root_only_if_a_member_is_all(texts: list[str], root: bool) -> None:
    union = GlobSet(map(Glob.parse, texts))
    assert (union.matches("."), union.matches("ax/b")) == (root, True)


@given(st.lists(patterns, min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_a_set_matches_what_any_member_matches(texts: list[str]) -> None:
    members = [parsed(text) for text in texts]
    union = GlobSet(members)
    for path in PATHS[::3]:
        first = next((glob for glob in members if glob.matches(path)), None)
        assert (union.matches(path), union.first(path)) == (first is not None, first)


@given(patterns, patterns)
@settings(max_examples=400, deadline=None)
@example("*/**", "**/*/a")
@example("**/*", "*/**")
@example("a*", "a?*")
@example("{a,b}/**", "[ab]/a")
def test_inclusion_is_sound_and_disjointness_is_real(one: str, two: str) -> None:
    wide, narrow = parsed(one), parsed(two)
    in_wide = {path for path in PATHS if wide.matches(path)}
    in_narrow = {path for path in PATHS if narrow.matches(path)}
    if wide.includes(narrow):
        assert in_narrow <= in_wide
        assert wide.intersects(narrow)
    if in_wide & in_narrow:
        assert wide.intersects(narrow)
        assert narrow.intersects(wide)
    assert wide.includes(wide)


@given(st.lists(patterns, min_size=1, max_size=4), patterns)
@settings(max_examples=150, deadline=None)
def test_inclusion_in_a_set_is_sound(texts: list[str], other: str) -> None:
    union, narrow = GlobSet(map(parsed, texts)), parsed(other)
    if union.includes(narrow):
        assert all(union.matches(path) for path in PATHS if narrow.matches(path))
    if not union.intersects(narrow):
        assert not any(union.matches(path) and narrow.matches(path) for path in PATHS)


@given(patterns, st.sampled_from(["x", "a", "file", "ab"]))
@settings(max_examples=200, deadline=None)
def test_a_sample_is_matched(text: str, filler: str) -> None:
    glob = parsed(text)
    assert glob.matches(glob.sample(filler))


@given(patterns, st.sampled_from(PATHS))
@settings(max_examples=300, deadline=None)
def test_a_literal_glob_is_included_exactly_when_matched(text: str, path: str) -> None:
    glob = parsed(text)
    assert glob.includes(Glob.literal(path)) == glob.matches(path) == glob.intersects(Glob.literal(path))


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_text_parses_or_is_refused_and_a_literal_matches_itself(name: str) -> None:
    with contextlib.suppress(GlobError):
        Glob.parse(name, absolute=True, fold=True)
    assume("/" not in name and name not in (".", ".."))
    literal = Glob.literal(f"d/{name}")
    assert literal.matches(f"d/{name}")
    assert not literal.matches("d/")
    assert Glob.below(name).matches(f"{name}/x")
    assert not Glob.below(name).matches(name)
    if "\\" not in name and not re.search("[\u2028\u2029]", name):
        assert Glob.parse(literal.text).matches(f"d/{name}")
        assert Glob.parse(literal.text) == literal
    assert fold(fold(name)) == fold(name)


YES = [
    ("research/*.yaml", "research/x.yaml"),
    ("research/*.yaml", "research/.x.yaml"),
    ("research/*.yaml", "research/a b c.yaml"),
    ("research/*.yaml", "research/Zürich.yaml"),
    ("research/*.yaml", "research/dotdot..yaml.yaml"),
    ("**", "."),
    ("**", ".env"),
    ("**", "a/b/c"),
    ("**/x", "x"),
    ("**/x", "a/b/x"),
    ("a/**/x", "a/x"),
    ("a/**/x", "a/b/c/x"),
    ("a/**/*.py", "a/x.py"),
    ("**/.env*", "a/.env.local"),
    ("**/*.py", "x.py"),
    ("docs/**", "docs/.hidden"),
    ("docs/**", "docs/a\nb"),
    ("docs/?.md", "docs/\n.md"),
    ("spikes/SPIKE-[0-9][0-9]/**", "spikes/SPIKE-42/run.py"),
    ("**/*.{ts,tsx}", "src/a.tsx"),
    ("{src,tests}/**", "tests/x"),
    ("a{,/b}", "a"),
    ("a{,/b}", "a/b"),
    ("[[]x]".replace("]x]", "]x"), "[x"),
    ("[]]x", "]x"),
    ("[a-]", "-"),
    ("a,b", "a,b"),
    ("[!a]b", ".b"),
    ("[+-9]x", "5x"),
    ("~/x", "~/x"),
]

NO = [
    ("research/*.yaml", "research/.yaml"),
    ("research/*.yaml", "research/a/b.yaml"),
    ("research/*.yaml", "research/x.YAML"),
    ("research/*.yaml", "research/x.yaml~"),
    ("research/*.yaml", "research/x.yaml\n"),
    ("research/*.yaml", "x.yaml\nresearch/x.yaml"),
    ("research/*.yaml", "research.yaml"),
    ("research/*.yaml", "/research/x.yaml"),
    ("docs/**", "docs"),
    ("docs/**", "docs/"),
    ("docs/**", "docsx.md"),
    ("docs/**", "Docs/x"),
    ("docs/**", "docs⁄x.md"),
    ("**", "/etc/passwd"),
    ("**", ""),
    ("**/passwd", "/etc/passwd"),
    ("**/*.pem", "/etc/x.pem"),
    ("**/*.pem", "a/.pem"),
    ("**/*.pem", ".pem"),
    ("**/a*.pem", "/a1.pem"),
    ("**/a*.pem", "b/a.pem"),
    ("*", "."),
    ("?", "."),
    ("**/*", "."),
    ("*", "a/b"),
    ("*", "/a"),
    ("a*", "a"),
    ("a?", "a/"),
    ("a[!b]c", "a/c"),
    ("[+-9]x", "/x"),
    ("a/**/b", "ab"),
    ("a/**/b", "a/xb"),
    ("src/**", "src2/app.py"),
    ("src/**/*.py", "src/.py"),
    ("src/**/*.py", "src/a/.py"),
    ("dir/**/name", "dir/xname"),
    ("dir/**/dir", "dir"),
    ("a[!.]b", "a/b"),
    ("a[!0]b", "a/b"),
    ("ab*ba", "aba"),
    ("ab*ba", "abba"),
    ("d/ab*ba", "d/aba"),
    ("**/ab*ba", "d/aba"),
    ("d/**/ab*ba", "d/e/abba"),
    ("a/b/**/b", "a/b"),
]


@pytest.mark.parametrize(("text", "path"), YES)
def test_matches(text: str, path: str) -> None:
    assert Glob.parse(text).matches(path)
    assert GlobSet([Glob.parse(text), Glob.parse("zz"), *(Glob.parse(f"y{n}/*") for n in range(9))]).matches(path)


@pytest.mark.parametrize(("text", "path"), NO)
def test_does_not_match(text: str, path: str) -> None:
    assert not Glob.parse(text).matches(path)
    assert not GlobSet([Glob.parse(text), Glob.parse("zz"), *(Glob.parse(f"y{n}/*") for n in range(9))]).matches(path)


def test_a_class_that_leaves_something_out_has_everything_else_but_the_slash() -> None:
    for out in ".0a":
        glob = Glob.parse(f"[!{out}]x")
        assert {char for char in map(chr, range(32, 127)) if not glob.matches(f"{char}x")} == {out, "/"}


def test_ranges_of_a_class_that_overlap_are_one_range_each() -> None:
    glob = Glob.parse("[a-bx-zy0-12]")
    assert "".join(char for char in map(chr, range(128)) if glob.matches(char)) == "012abxyz"


def test_a_set_of_absolute_globs_matches_files_and_directories() -> None:
    both = GlobSet([Glob.parse(text, absolute=True) for text in ("/etc/hosts", "/usr/**", "/opt/x/**")])
    found = [both.matches(path) for path in ("/etc/hosts", "/usr/a", "/usr/a/b", "/opt/x/y", "/usr", "/opt/y", "usr/a")]
    assert found == [True, True, True, True, False, False, False]


@pytest.mark.parametrize("depth", [1, 2, 7, 8])
def test_braces_may_be_nested_eight_deep(depth: int) -> None:
    assert Glob.parse("{a," * depth + "b" + "}" * depth).matches("b")
    with pytest.raises(GlobError, match="nested too deeply"):
        Glob.parse("{a," * 9 + "b" + "}" * 9)


def test_absolute_globs_match_absolute_paths_only() -> None:
    tmp = Glob.parse("/tmp/**", absolute=True)
    everything = Glob.parse("/**", absolute=True)
    assert [tmp.matches(path) for path in ("/tmp/x", "/tmp", "tmp/x", "/tmpx/y")] == [
        True,
        False,
        False,
        False,
    ]
    assert [everything.matches(path) for path in ("/", "/x", "x", ".")] == [True, True, False, False]
    assert Glob.parse("/*", absolute=True).matches("/x")
    assert not Glob.parse("/*", absolute=True).matches("/")
    assert everything.includes(tmp)
    assert not Glob.parse("**").includes(tmp)
    assert not Glob.parse("**").intersects(tmp)
    assert (tmp.base, everything.base, tmp.sample()) == ("/tmp", "/", "/tmp/x")
    both = GlobSet([tmp, Glob.parse("a")])
    assert [both.matches(path) for path in ("/tmp/x", "a", "/a", "tmp/x")] == [True, True, False, False]
    many = GlobSet(Glob.parse(f"/d{n}/**", absolute=True) for n in range(20))
    assert [many.matches(path) for path in ("/d7/x", "/d7", "/d77/x", "d7/x")] == [True, False, False, False]
    assert Glob.below("/").matches("/etc")
    assert Glob.literal("/").matches("/")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("docs/", "ends in `/`"),
        ("a//b", "empty segment"),
        ("./a", "segment `.`"),
        (".", "segment `.`"),
        ("a/../b", "segment `..`"),
        ("[.]./x", "segment `..`"),
        ("a\\b", "backslash"),
        ("a\nb", "control character in glob `a\\nb`"),
        ("a\x00", "control character"),
        ("a\x85", "control character"),
        ("/etc/**", "absolute glob"),
        ("{/a,b}", "partly absolute"),
        ("a**b", "`**` must be a whole segment"),
        ("**.md", "whole segment"),
        ("{a,b}**", "whole segment"),
        ("a/***", "more than two"),
        ("*{*,a}", "two adjacent"),
        ("{a,}", "empty"),
        ("a/{b,}", "ends in"),
        ("{a}", "without a comma"),
        ("{}", "without a comma"),
        ("{a,b", "unclosed `{`"),
        ("a}", "unmatched `}`"),
        ("a]", "unmatched `]`"),
        ("[a", "unclosed `[`"),
        ("[]", "unclosed `[`"),
        ("[!]", "unclosed `[`"),
        ("[z-a]", "reversed"),
        ("[\u4e00-\u9fff]", "too wide"),
        ("[a/b]", "not supported"),
        ("[[:alpha:]]", "not supported"),
        ("[^a]", "write `[!`"),
        ("{a,b}" * 9, "more than 256"),
        ("{" + "a," * 300 + "}", "more than 256"),
        ("{" * 20 + "a,b" + "}" * 20, "nested too deeply"),
        ("a" * 2000, "more than 1024"),
        ("{a,b}" * 8 + "c" * 900, "too much"),
    ],
)
def test_refuses(text: str, words: str) -> None:
    with pytest.raises(GlobError, match=re.escape(words)) as caught:
        Glob.parse(text, absolute=text == "{/a,b}")
    assert str(caught.value)[0].islower() or str(caught.value)[0] == "`"


INCLUDED = [
    ("**", "."),
    ("**", "**"),
    ("**", "**/*"),
    ("**", "a/**/b*/{c,d}"),
    ("**/*", "a"),
    ("**/*", "docs/**"),
    ("docs/**", "docs/a/*.md"),
    ("docs/**", "docs/**/*.md"),
    ("docs/**", "docs/*"),
    ("docs/**", "docs/a/**"),
    ("src/**", "src/x/**"),
    ("src/**/*.py", "src/*.py"),
    ("src/**/*.py", "src/a/b/test_*.py"),
    ("**/*.py", "src/**/*.py"),
    ("**/*.py", "a/b.py"),
    ("**/.env", "a/**/.env"),
    ("*.yaml", "a*.yaml"),
    ("*.yaml", "?.yaml"),
    ("*.yaml", "[0-9]*.yaml"),
    ("*/**", "**/*/*"),
    ("?*", "*?"),
    ("*", "?*"),
    ("[a-z]*", "[b-f]x"),
    ("[!a]*", "bc"),
    ("[!a]*", "[b-c]*"),
    ("{src,tests}/**", "tests/**"),
    ("{src,tests}/**", "{tests,src}/a"),
    ("a/**/b/**/c", "a/x/b/y/**/c"),
    ("**/a/**", "a/**"),
    ("**/a/**", "x/a/b"),
]

NOT_INCLUDED = [
    ("docs/**", "docs"),
    ("docs/**", "**"),
    ("docs/**", "docs*/a"),
    ("docs/*", "docs/**"),
    ("**/*", "**"),
    ("*/**", "**/*"),
    ("*.yaml", ".yaml"),
    ("*.yaml", "*"),
    ("a?", "a*"),
    ("[a-c]", "[a-d]"),
    ("[!a]", "?"),
    ("src/**/*.py", "src/**"),
    ("Docs/**", "docs/a"),
    ("a/**", "**/a/**"),
    ("a/**/b", "**/a/**/b"),
    ("a*", "*a*"),
    ("{x,x*}", "*x*"),
    ("*x", "*x*"),
]


@pytest.mark.parametrize(("wide", "narrow"), INCLUDED)
def test_includes(wide: str, narrow: str) -> None:
    other = Glob.literal(".") if narrow == "." else Glob.parse(narrow)
    assert Glob.parse(wide).includes(other)
    assert Glob.parse(wide, fold=True).includes(other)
    assert GlobSet([Glob.parse("zz"), Glob.parse(wide)]).includes(other)


@pytest.mark.parametrize(("wide", "narrow"), NOT_INCLUDED)
def test_does_not_include(wide: str, narrow: str) -> None:
    assert not Glob.parse(wide).includes(Glob.parse(narrow))


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        ("docs/**", "docs", False),
        ("docs/**", "**/x", True),
        ("*.py", "*.md", False),
        ("*.py", "a*", True),
        ("a*b", "b*a", False),
        ("a/*/c", "a/b/*", True),
        ("**/a", "b/**", True),
        ("**/a", "**/b", False),
        ("[a-c]", "[d-f]", False),
        ("[a-c]", "[c-f]", True),
        ("[a-c]x", "[b-f]x", True),
        ("[!a]", "a", False),
        (".git/**", "src/**", False),
        (".git/**", "*/config", True),
        ("**/*.pem", "secrets/**", True),
        ("*", "a/b", False),
    ],
)
def test_intersects(one: str, two: str, answer: bool) -> None:
    assert Glob.parse(one).intersects(Glob.parse(two)) is answer
    assert Glob.parse(two).intersects(Glob.parse(one)) is answer
    assert GlobSet([Glob.parse(one)]).intersects(Glob.parse(two)) is answer


def test_the_alternatives_of_one_glob_may_lie_in_different_members() -> None:
    union = GlobSet([Glob.parse("src/**"), Glob.parse("tests/**")])
    assert union.includes(Glob.parse("{src,tests}/*.py"))
    assert not union.includes(Glob.parse("{src,tests,docs}/*.py"))
    assert not union.includes(Glob.parse("**"))


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("a*b", ["ab", "axb"], ["a", "a/b"]),
        ("*.py", [".py", "a.py"], ["py"]),
        ("*", ["a"], [".", "a/b"]),  # a star alone stands for a name
        ("a/*", ["a/x"], ["a", "a/x/y"]),
        ("a/*/b", ["a/x/b"], ["a/b", "ab"]),
    ],
)
def test_loosened_a_star_beside_other_characters_may_match_nothing(text: str, yes: list[str], no: list[str]) -> None:
    loose = Glob.parse(text).loosened()
    assert [path for path in (*yes, *no) if loose.matches(path)] == yes
    assert loose.includes(Glob.parse(text))


def test_either_of_two_globs() -> None:
    both = Glob.parse("a/*").or_else(Glob.parse("b"))
    assert [both.matches(path) for path in ("a/x", "b", "c")] == [True, True, False]
    for other in (Glob.parse("/b", absolute=True), Glob.parse("b", fold=True)):
        with pytest.raises(ValueError, match="different kinds"):
            both.or_else(other)


def test_an_empty_set_has_nothing() -> None:
    empty = GlobSet(())
    assert (bool(empty), empty.matches("a"), empty.first("a")) == (False, False, None)
    assert not empty.includes(Glob.parse("a"))
    assert not empty.intersects(Glob.parse("**"))
    with pytest.raises(ValueError, match="partly folded"):
        GlobSet([Glob.parse("a"), Glob.parse("b", fold=True)])


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("SECRETS/Key.PEM", "secrets/key.pem"),
        ("ﬁle", "FILE"),
        ("Straße", "STRASSE"),
        ("re\u0301sume\u0301", "RÉSUMÉ"),
        (".g\u200cit/config", ".GIT/config"),
        ("\u212aey", "key"),
        (".claude", "．ＣＬＡＵＤＥ"),
        ("ıx".upper(), "ix"),
    ],
)
def test_fold_makes_equal(one: str, two: str) -> None:
    assert fold(one) == fold(two)


def test_folded_globs_ignore_case_and_form_on_both_sides() -> None:
    glob = Glob.parse("Secrets/**/*.PEM", fold=True)
    assert glob.matches(fold("SECRETS/a/KEY.pem"))
    assert glob.intersects(Glob.parse("sEcrets/*.pem"))
    assert Glob.parse("sEcrets/*.pem").intersects(glob)
    assert glob.includes(Glob.parse("SECRETS/K.Pem"))
    assert not Glob.parse("**").includes(glob)  # in which form would its paths be?
    assert Glob.parse("[A-F]x", fold=True).matches("cx")
    assert not Glob.parse("[A-F]x", fold=True).matches("gx")
    assert Glob.parse("[ß]x", fold=True).matches(fold("ßx"))
    assert Glob.parse("[!a]x", fold=True).matches(fold("Ax"))  # as the glob itself does
    assert not Glob.parse("[!aA]x", fold=True).matches(fold("Ax"))
    assert Glob.literal("Straße").folded().matches("strasse")
    assert Glob.below(".GIT").folded().matches(fold(".Git/hooks/x"))


@given(patterns, st.sampled_from(PATHS))
@settings(max_examples=200, deadline=None)
def test_folding_both_sides_loses_no_match(text: str, path: str) -> None:
    upper = parsed(text.replace("a", "A").replace("b", "B"))
    swapped = path.upper()
    if upper.matches(swapped):
        assert upper.folded().matches(fold(swapped))


def test_base_sample_below_and_literal() -> None:
    texts = [
        "docs/**/*.md",
        "*.md",
        "a/b/c.md",
        "README.md",
        "{a/b,a/c}/**",
        "a/{b,c}/d",
        "a[[]b/**",
        "a/b*/c",
    ]
    assert [Glob.parse(text).base for text in texts] == ["docs", ".", "a/b", ".", "a", "a", "a[b", "a"]
    assert (Glob.below(".").text, Glob.below("a*b").text, Glob.below("a/b").base) == ("**", "a[*]b/**", "a/b")
    assert Glob.below("a*b").matches("a*b/c")
    assert not Glob.below("a*b").matches("axb/c")
    assert Glob.literal("a[1].md").matches("a[1].md")
    assert not Glob.literal("a[1].md").matches("a1.md")
    assert (Glob.literal(".").matches("."), Glob.literal(".").sample(), Glob.literal(".").base) == (
        True,
        ".",
        ".",
    )
    assert Glob.parse("**").includes(Glob.literal("."))
    assert [Glob.parse(text).sample("f") for text in ("docs/**", "**", "[0-9]?*", "[!f]")] == [
        "docs/f",
        "f",
        "0ff",
        "x",
    ]
    with pytest.raises(GlobError):
        Glob.literal("")


def test_globs_are_values() -> None:
    glob = Glob.parse("a/{b,c}*/**")
    assert len({glob, Glob.parse("a/{b,c}*/**"), glob.folded()}) == 2
    assert glob.matches("a/bx/c")
    for twin in (copy.copy(glob), copy.deepcopy(glob), pickle.loads(pickle.dumps(glob))):
        assert twin == glob
        assert twin.matches("a/bx/c")
    union = GlobSet([glob])
    assert pickle.loads(pickle.dumps(union)) == union
    assert (len(union), list(union), hash(union)) == (1, [glob], hash(GlobSet([glob])))
    for value in (glob, union):
        with pytest.raises(AttributeError):
            value.text = "x"
        with pytest.raises(AttributeError):
            del value.matches
    assert "folded" in repr(glob.folded())
    assert repr(union).startswith("GlobSet([Glob(")


@pytest.mark.parametrize(
    "text",
    [
        "*a*a*a*a*a*b",
        "*" + "?*a" * 60 + "b",
        "**/a/**/a/**/a/**/b",
        "**/*a*a*/**/*a*a*/**/*a*b",
        "/".join(["**", "a*a*a"] * 40) + "/b",
        "**/a/a/a/a/a/a/a/a/b",
        "**/*/a/**/*/a/**/*/a/b",
        "{a,aa}*" * 8 + "b",
        "**/" + "[ab]*" * 100 + "c",
    ],
)
def test_hostile_paths_take_no_time(text: str) -> None:
    glob = Glob.parse(text)
    union = GlobSet([glob, Glob.parse("zz/*x"), Glob.parse("**/*y*z")])
    glob.matches("warm"), union.matches("warm")
    for path in (
        "a" * 4096,
        "a/" * 2047 + "a",
        "aa/" * 1365 + "a",
        "a/" * 1000 + "a" * 2096,
        "ba" * 2048,
        "\n" * 4096,
    ):
        start = time.process_time()
        assert not glob.matches(path)
        assert not union.matches(path)
        assert time.process_time() - start < 5


@pytest.mark.more
def test_hostile_globs_are_compared_in_polynomial_time() -> None:
    texts = [
        "*a" * 100 + "b",
        "**/a/" * 40 + "b",
        "{a,b}*" * 8 + "c",
        "[!a]*?" * 30,
        "/".join(["*a*"] * 60),
    ]
    start = time.process_time()
    for one, two in itertools.product(map(Glob.parse, texts), repeat=2):
        one.includes(two)
        one.intersects(two)
    assert time.process_time() - start < 20


EVERYDAY = [
    ("**", ["a", "a/b", "."], ["/a"]),
    ("a", ["a"], ["b", "a/a", "."]),
    ("{a,b/c}", ["a", "b/c"], ["b", "c"]),
    ("a/**", ["a/b", "a/b/c"], ["a", "b/a", "ab/c"]),
    ("{a,b}/**", ["a/x", "b/x/y"], ["a", "a/", "c/x"]),
    ("{a,b/**}", ["a", "b/x"], ["b", "a/x"]),
    ("**/a", ["a", "b/a", "c/b/a"], ["/a", "/b/a", "ba", "a/b"]),
    ("d/**/a", ["d/a", "d/b/a", "d/c/b/a"], ["a", "da", "d/ba", "e/d/a", "d/a/b"]),
    ("d/*.py", ["d/a.py", "d/..py"], ["d/.py", "d/a.pyc", "d/e/a.py", "a.py", "da.py"]),
    ("d/a*", ["d/ab", "d/a.py"], ["d/a", "d/b", "d/ab/c", "ab", "e/d/ab"]),
    ("d/a*b", ["d/acb", "d/abb"], ["d/ab", "d/acbc", "d/a/b"]),
    ("ab*ba", ["abcba", "abba_ba"], ["aba", "abba"]),
    ("*.py", ["a.py"], [".py", "d/a.py", "/a.py"]),
    ("a*", ["ab"], ["a", "ab/c", "/ab"]),
    ("**/*.py", ["a.py", "d/a.py", "d/e/a.py"], [".py", "d/.py", "/a.py", "/d/a.py", "a.pyc"]),
    ("d/**/*.py", ["d/a.py", "d/e/a.py"], ["a.py", "d/.py", "e/a.py", "ad/a.py"]),
    ("**/a*.py", ["ab.py", "d/ab.py"], ["a.py", "d/a.py", "ab.py/c", "/ab.py", "d/cab.py"]),
    ("d/**/a*", ["d/ab", "d/e/ab"], ["d/a", "ab", "d/ba", "e/ab"]),
]
"""Shapes for which comparing texts is enough."""


def calls_of(monkeypatch: pytest.MonkeyPatch, name: str) -> list[object]:
    """Grows with each call of a function of `glob_match`."""
    calls: list[object] = []
    function = getattr(glob_match, name)

    def noted(*given: object) -> object:
        calls.append(given)
        return function(*given)

    monkeypatch.setattr(glob_match, name, noted)
    return calls


@pytest.mark.parametrize(("text", "yes", "no"), EVERYDAY)
def test_everyday_shapes_need_no_compiled_pattern(
    monkeypatch: pytest.MonkeyPatch, text: str, yes: list[str], no: list[str]
) -> None:
    compiled = calls_of(monkeypatch, "_pattern")
    glob, absolute = Glob.parse(text), Glob.parse(f"/{text}", absolute=True)
    assert [path for path in (*yes, *no) if glob.matches(path)] == yes
    below = [path for path in (*yes, *no) if path[0] not in "/." and path != "a/"]
    assert [path for path in below if absolute.matches(f"/{path}")] == [path for path in yes if path != "."]
    assert [path for path in below if absolute.matches(path)] == []
    assert compiled == []
    Glob.parse("a?").matches("ab")
    assert len(compiled) == 1


@pytest.mark.parametrize("lead", ["", "/"])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 10, 30])
def test_large_sets_are_looked_up_by_the_first_segment(monkeypatch: pytest.MonkeyPatch, size: int, lead: str) -> None:
    dispatched = calls_of(monkeypatch, "_dispatched")
    shapes = ("a{}", "a{}/**", "a{}/b/*.py", "**/a{}", "*{}", "?{}")
    texts = [lead + shapes[n % len(shapes)].format(n) for n in range(size)]
    union = GlobSet(Glob.parse(text, absolute=True) for text in texts)
    paths = [lead + form.format(n) for n in range(size + 1) for form in ("a{}", "a{}/c", "a{}/b/c.py", "b/a{}", "b{}")]
    paths += ["/", "."]
    assert [path for path in paths if union.matches(path)] == [p for p in paths if any(naive(t, p) for t in texts)]
    assert len(dispatched) == (size >= 9)


def test_a_path_is_tested_by_a_pattern_only_if_it_ends_or_begins_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tested: list[str] = []
    pattern = glob_match._pattern

    def noting(*given: Any) -> glob_match.Matcher:
        test = pattern(*given)

        def noted(path: str) -> bool:
            tested.append(path)
            return test(path)

        return noted

    monkeypatch.setattr(glob_match, "_pattern", noting)
    union = GlobSet(Glob.parse(text) for text in ("**/?.pem", "**/.env?", "a?/b.key"))
    paths = ["a.pem", "x/.envy", ".envy", "ab/b.key", "x/b.key", "a.txt", "x/y", "env", ".env/x", "."]
    assert [path for path in paths if union.matches(path)] == ["a.pem", "x/.envy", ".envy", "ab/b.key"]
    assert tested == ["a.pem", "x/.envy", ".envy", "ab/b.key", "x/b.key"]


def test_the_set_of_all_characters() -> None:
    assert CharSet(((0, 46), (48, 0x10FFFF))) == ANY
    assert (ANY.size(), ANY.inverse()) == (0x10FFFF, CharSet(()))
    assert "/" not in ANY


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("a" * 1024, True),
        ("a" * 1025, False),
        ("{a,b}" * 8, True),  # 256 alternatives
        ("{a,b}" * 8 + "{a,b}", False),
        ("{" + ",".join(chr(0x4E00 + n) for n in range(256)) + "}", True),
        ("{" + ",".join(chr(0x4E00 + n) for n in range(257)) + "}", False),
        ("{a,b}" * 8 + "a" * 56, True),  # 256 alternatives of 64 characters
        ("{a,b}" * 8 + "a" * 57, False),
        ("[\u0100-\u01ff]", True),  # 256 characters
        ("[\u0100-\u0200]", False),
        ("[b-b]", True),
        ("[b-a]", False),
    ],
)
def test_how_large_a_glob_may_be(text: str, good: bool) -> None:
    if good:
        Glob.parse(text)
    else:
        with pytest.raises(GlobError):
            Glob.parse(text)


def test_a_segment_has_at_most_four_stars_that_may_match_nothing() -> None:
    four, five = Glob.parse("a*b*c*d*e").loosened(), Glob.parse("a*b*c*d*e*f").loosened()
    assert [path for path in ("abcde", "axbcde", "zzz", "x") if four.matches(path)] == ["abcde", "axbcde"]
    assert all(five.matches(path) for path in ("abcdef", "zzz", "x"))
    assert not five.matches("x/y")
    assert not Glob.parse(".*").loosened().matches(".")
    many = Glob.parse("*a*/*b*/*c*/*d*").loosened()  # 256 ways: each segment may be anything
    assert many.matches("x/x/x/x")
    few = Glob.parse("*a*/*b*/*c*").loosened()
    assert few.matches("a/xb/cx")
    assert not few.matches("a/x/c")


def test_which_folded_globs_include_each_other() -> None:
    plain, folded = Glob.parse("Docs/**"), Glob.parse("Docs/**", fold=True)
    assert folded.includes(folded)
    assert folded.includes(plain)
    assert not plain.includes(folded)
    assert plain.includes(plain)
    assert folded.includes(Glob.parse("docs/X", fold=True))


def words(parts: str, longest: int) -> list[tuple[str, ...]]:
    """All words of some letters, up to a length."""
    return [word for size in range(1, longest + 1) for word in itertools.product(parts, repeat=size)]


def compared(texts: list[str], paths: list[str]) -> list[tuple[str, str, str]]:
    """Pairs of globs that are compared otherwise than their paths show, or that differ although one is the other."""
    globs = [Glob.parse(text) for text in texts]
    matched = [sum(1 << bit for bit, path in enumerate(paths) if glob.matches(path)) for glob in globs]
    wrong = []
    for one, mine in zip(globs, matched, strict=True):
        for other, theirs in zip(globs, matched, strict=True):
            if one.includes(other) and theirs & ~mine:
                wrong.append((one.text, "does not include", other.text))
            if one.intersects(other) != bool(mine & theirs):
                wrong.append((one.text, "meets or misses", other.text))
            if one.alternatives == other.alternatives and not one.includes(other):
                wrong.append((one.text, "is", other.text))
    return wrong


def test_all_short_runs_of_segments_compare_as_their_paths_do() -> None:
    texts = ["/".join({"d": "**"}.get(part, part) for part in word) for word in words("a*d", 4)]
    paths = [".", *("/".join(word) for word in words("ab", 7))]
    assert compared(texts, paths) == []


def test_all_short_segments_compare_as_their_texts_do() -> None:
    texts = ["".join(word) for word in words("a*?", 4) if "**" not in "".join(word)]
    assert compared(texts, ["".join(word) for word in words("ab", 8)]) == []


def test_every_segment_before_the_last_counts() -> None:
    wide, narrow = Glob.parse("*/x/**"), Glob.parse("**/x/x/**")
    assert narrow.matches("y/z/x/x/w")
    assert not wide.matches("y/z/x/x/w")
    assert not wide.includes(narrow)
