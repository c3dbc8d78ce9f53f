"""All that scopes say about many inputs, compared to the letter: what is read, what is refused and why, what covers
what, and the words for it.

Whether an answer is right is tested elsewhere, by the oracle and by properties; here none may change unseen. Inputs lie
on both sides of each limit. `whole.txt` has a line for each. After a change that is meant:

    python -m tests.scopes.test_whole      # writes it again; look at the difference
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.compile.book import make_rulebook
from remit.declare import build_policy
from remit.model import PolicyError
from remit.model.call import Call, Context
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.policy import Condition, Scope, Tool
from remit.scopes import account, date, email, host, url_grammar
from remit.scopes.glob import Glob, fold
from remit.scopes.glob_syntax import CharSet
from remit.scopes.globset import GlobSet
from remit.scopes.interface import Declared, Kind, Matcher, Unit
from remit.scopes.judge import Judge
from remit.scopes.kinds import kind_of, names
from remit.scopes.path import PathScope, glob_argument, is_plain, names_base, normalise, path_units, relative_to
from remit.scopes.reach import reach_unit
from remit.scopes.regex import RegexError, compile_regex
from remit.scopes.url import UrlPattern, UrlSet
from remit.scopes.where import argument_test, context_holds

# Tables have a row of kin in each line.
# fmt: off
FILE = Path(__file__).parent / "whole.txt"
EFFECTS = frozenset({"read", "write"})


def said(does: Callable[[], object]) -> str:
    """What a function returns, or why it refuses."""
    try:
        return _text(does())
    except (ValueError, NotUnderstood) as error:
        return f"{type(error).__name__}: {error}"


def _text(value: object) -> str:
    """As text that is the same in each process."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_text, value))) + "}"
    if isinstance(value, msgspec.Struct):
        return f"{type(value).__name__}({', '.join(_fields(value))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(map(_text, value)) + ")"
    return ascii(value)


def _fields(value: msgspec.Struct) -> Iterator[str]:
    for field in msgspec.structs.fields(value):
        if getattr(value, field.name) != field.default:
            yield f"{field.name}={_text(getattr(value, field.name))}"


def bits(answers: Iterable[object]) -> str:
    """A row of answers: `+` for yes."""
    return "".join("+" if answer else "-" for answer in answers)


# Globs

GLOBS = (
    *("**", "*", "?", "a", "a/b", "a/*", "a/**", "**/a", "**/a/**", "**/*", "**/**", "a/**/b", "a/**/**/b", "*/*"),
    *("a*", "*a", "a*b", "a*b*c", "*a*", "?a", "a?", "??", "a/?", "a?/b*", "[ab]", "[!a]", "[a-c]x", "[!a-c]/x"),
    *("[]a]", "[!]]", "[a-]", "[-a]", "[*]", "[?]x", "[.]", "[a]", "[aa]", "[a-b-c]", "[a-ab-b]", "[.-0]", "x[!!]"),
    *("{a,b}", "{a,b}/c", "{a/b,c}", "{a,{b,c}}d", "{a,a}", "{,a}b", "a{b,}", "{a,b}{c,d}", "{a*,?b}/**", "{**,a}/b"),
    *("**/*.md", "docs/**/*.md", "docs/*.md", "docs/**/a*.md", "docs/a*.md", "**/x*", "**/.env*", "a/b/c/**", "A/b", "É"),
    *("*a?", "?*", "*?", "**/*/**", "**/?/**", "*/**", "**/**/**", "a/*/**", "[A-Z]*", "ß", "[ß]x", "**/[a-z][0-9].txt"),
    *("a b", "a,b", "a!b", "^a", "-", ".a", "..a", "a..", "...", "a.*", "*.{md,txt}", "{src,lib}/**/test_*.py"),
    *("/", "//", "/a", "/a/", "a/", "a//b", "", ".", "..", "a/.", "a/../b", "./a", "***", "****", "a**", "**a", "a/b**"),
    *("{a", "a}", "{a}", "{}", "{,}", "{a,b", "{a,{b}", "[", "[]", "[!]", "[a", "a]", "[^a]", "[!^a]", "[a^]", "[a/b]"),
    *("[[:alpha:]]", "[[.a.]]", "[[=a=]]", "[z-a]", "[a-a]", "a\\b", "a\nb", "a\u200bb", "a\ud800", "a\u2028b", "\x7f"),
    *("**{a,b}", "{a,*}*", "{*,a}{*,b}", "{a,**}/c", "{/a,b}", "{/a,/b}", "/**", "/*", "/a/**", "/{a,b}/*.c", "[!ß]", "*/a/**", "**/a/a/**", "a/*/**/b", "[éü]", "[!*]"),
    *("{" * 8 + "a,b" + "}" * 8, "{" * 9 + "a" + ",b}" * 9, "{" * 8 + "a" + ",b}" * 8, "a" * 1024, "a" * 1025),
    *("{" + ",".join(map(str, range(256))) + "}", "{" + ",".join(map(str, range(257))) + "}", "{a,b}" * 8, "{a,b}" * 9),
    *("[\x20-\u011f]", "[\x20-\u0120]", "{" + ",".join("a" * 64 for _ in range(2)) + "}", "{a,b}{c,d}" + "e" * 900),
    "{" + ",".join(f"{n:02x}{'x' * 30}" for n in range(16)) + "}{" + ",".join(map(str, range(16))) + "}" + "y" * 40,
)
NAMES = ("a", "b", "ab", "ba", "aab", "x", ".a", "a.md", ".md", "A")
PATHS = (
    *(".", "/", "a", "/a"),
    *(text for depth in (1, 2, 3) for text in map("/".join, itertools.product(NAMES[: 13 - 3 * depth], repeat=depth))),
    *("docs/a.md", "docs/b/a.md", "docs/a", "docs", "docs/", "a/", "a//b", "src/x/test_a.py", "lib/test_.py", "test_a.py"),
    *("a\nb", "É", "e\u0301", "ß", "ss", "[", "*", "?x", "x!", "x", "a0.txt", "z9.txt", "a/b/c", "a/b/c/d", "a b", ".."),
    *("/a/b", "/b/x.c", "/x", "/a/b/c", "b/c", "c/d", "abcd", "acd", "bd", "a/b/c/", "1", "255", "x/a0.txt", "aXb", "aXbYc"),
)


@functools.cache
def glob_of(text: str) -> Glob | None:
    try:
        return Glob.parse(text, absolute=True)
    except ValueError:
        return None


GOOD = [glob for text in GLOBS if (glob := glob_of(text)) is not None]
SOME = [glob for glob in GOOD if len(glob.text) < 30][::2]


def _about(glob: Glob) -> Iterator[str]:
    yield f"alternatives {_alternatives(glob)} base {glob.base} tails {glob.tails()} marks {glob.marks()}"
    yield f"sample {glob.sample()!a} {glob.sample('yz')!a} {glob.sample('.')!a} absolute {glob.absolute} {glob!r}"
    aims = bits(glob.aims_at(name) for name in NAMES)
    yield f"folded {_alternatives(glob.folded())} loosened {_alternatives(glob.loosened())} aims at {aims}"
    yield f"{glob.folded()!r}"


def _alternatives(glob: Glob) -> str:
    return ascii([tuple(_element(each) for each in one) for one in glob.alternatives])


def _element(element: Any) -> Any:
    return element if isinstance(element, str) else getattr(element, "value", None) or tuple(map(_atom, element))


def _atom(atom: Any) -> Any:
    return atom if isinstance(atom, str) else getattr(atom, "value", None) or ("any" if _is_any(atom) else atom.ranges)


def _is_any(atom: Any) -> bool:
    return bool(atom.size() > 0x10FFFE)


def globs() -> Iterator[str]:
    for text in GLOBS:
        glob = glob_of(text)
        name = ascii(text if len(text) < 60 else f"{text[:50]} and so on, {len(text)}")
        yield f"{name} below the root: {said(lambda text=text: _cut(Glob.parse(text)))}"  # type: ignore[misc]
        if glob is None:
            yield f"{name}: {said(lambda text=text: Glob.parse(text, absolute=True))}"  # type: ignore[misc]
        elif len(text) < 60:
            yield from (f"{name}: {line}" for line in _about(glob))


def _cut(glob: Glob) -> str:
    return f"{len(glob.alternatives)} alternatives, {sum(map(len, glob.alternatives))} elements"


def matches() -> Iterator[str]:
    for glob in GOOD:
        if len(glob.text) < 60:
            yield f"{glob.text!a} {bits(map(glob.matches, PATHS))} {bits(map(glob.folded().matches, map(fold, PATHS)))}"
    for start in (0, 7, 30, 51):
        relative = GlobSet(glob for glob in GOOD[start:] if not glob.absolute and len(glob.text) < 30 and glob.text != "**")
        for size in (0, 1, 2, 8, 9, 12, 30):
            few = GlobSet(list(relative)[:size])
            yield f"{start} {size} {bits(map(few.matches, PATHS))} {[one and one.text for one in map(few.first, PATHS)]!a}"
    both = GlobSet(glob for glob in GOOD[9::3] if len(glob.text) < 30)
    yield f"both {bits(map(both.matches, PATHS))} {bits(map(GlobSet(g for g in both if g.absolute).matches, PATHS))}"


def relations() -> Iterator[str]:
    folded = [glob.folded() for glob in SOME]
    halves = GlobSet(glob for glob in SOME[::3])
    for glob in SOME:
        yield f"{glob.text!a} includes {bits(map(glob.includes, SOME))} folded {bits(map(glob.folded().includes, SOME))}"
        yield f"{glob.text!a} {bits(map(glob.includes, folded))} meets {bits(map(glob.intersects, SOME))}"
        yield f"{glob.text!a} folded meets {bits(map(glob.intersects, folded))} {bits(map(glob.folded().intersects, SOME))}"
        yield f"{glob.text!a} in a set {halves.includes(glob)} {halves.intersects(glob)}"
        also = [said(lambda glob=glob, other=other: _cut(glob.or_else(other))) for other in SOME[:3]]  # type: ignore[misc]
        yield f"{glob.text!a} or {also}"
    yield f"equal {bits(one == other for one in SOME for other in SOME)} {bits(one == other for one in SOME for other in folded)}"
    sets = [GlobSet(SOME[:n]) for n in range(4)] + [GlobSet(folded[:n]) for n in range(1, 4)]
    yield f"sets {bits(one == other for one in sets for other in sets)} {bits(sets)} {[len(one) for one in sets]}"
    yield f"sets {sets!r} {said(lambda: GlobSet([SOME[0], folded[1]]))} {bits(hash(one) == hash(GlobSet(one)) for one in sets)}"
    yield f"{[sets[0] == 3, SOME[0] == 3, sets[1] == SOME[0]]} {[list(one) == list(one.globs) for one in sets]}"
    for text in ("a", "a/b", ".", "/", "/a", "a*", "[x]{y}", ""):
        yield f"literal {text!a} {said(lambda text=text: Glob.literal(text))} below {said(lambda text=text: Glob.below(text))}"  # type: ignore[misc]
        if text:
            yield f"{text!a} {bits(map(Glob.literal(text).matches, PATHS))} {bits(map(Glob.below(text).matches, PATHS))}"
    for path in PATHS:
        yield f"fold {path!a} {fold(path)!a}"


# Paths

TEXTS = (
    *("a", "a/b", "./a", ".", "..", "../a", "a/..", "a/../..", "a/../b", "a/./b", "a/", "a//b", "a//", "//a", "/", "/a"),
    *("/w", "/w/", "/w/a", "/w/a/", "/wa", "/w/../a", "/..", "/../a", "~", "~/a", "a~", "$HOME/a", "$a", "${x}/a", "$(x)"),
    *("$A", "$_", "a$A", "C:/a", "c:\\a", "C:a", "a:b", "a\\b", "", " ", "a b", "a\tb", "a\u200bb", "a\u00a0b", "é", "e\u0301"),
    *("...", ".a", "a/.b", "a/..b", "x" * 4096, "x" * 4097, "./.", "././a", "a/.", "a/b/", "*", "a/*.b", "[a]", "{a,b}", "!"),
    *("\ue000", "\U000e0001", "a\u2028", "/w/*.x", "./*.x", "./", "**", "**/a", "a/**", "../*", "a/../*", "/etc/*", "a*/*b*"),
    *("*a*b*c*d*", "*a*b*c*d*e*", "a*/b*/c*/d*/e*/f*", "a*/b*/c*/d*/e*/f*/g*", "*.", ".*", "?*", "[", "{a}", "a/b*c*/", "/w/"),
)


def _short(text: str) -> str:
    return ascii(text if len(text) < 60 else f"{text[:20]} and so on, {len(text)}")


def paths() -> Iterator[str]:
    for text in TEXTS:
        name = _short(text)
        yield f"{name} plain {is_plain(text)}"
        for cwd, root in ((None, None), (None, "/w"), ("d", None), ("d/e", "/w"), ("/w/d", "/w"), ("/x", "/w"), (".", "/"), ("", "/w/")):
            yield f"{name} {cwd} {root} {_short(said(lambda: normalise(text, cwd, root)))}"
        for base, deep, anywhere in ((".", False, True), (".", True, True), (".", True, False), ("d", False, True), ("/d", True, True)):
            found = said(lambda: _loose(text, base, deep, anywhere))
            yield f"{name} as a glob of {base} {deep} {anywhere}: {found}"
    for absolute, root in itertools.product(("/", "/w", "/w/a", "/wa", "/x"), (None, "/", "/w", "/w/", "/w/a")):
        yield f"{absolute} relative to {root}: {relative_to(absolute, root)}"
    for known in (None, {}, {"a": "/w/a", "a/b": "/w/c", "/": "/", "/w": "/w"}, {"a": "/etc", "a/b": "/w/a/b", "/w/a": "/v"}):
        for effects, below in itertools.product((frozenset[str](), EFFECTS, frozenset({"read"})), repeat=2):
            for text, root in itertools.product(("a", "a/b", "a/", "/", "/w/a", "/w"), (None, "/w", "/w/p")):
                facts = Facts(root=root, resolved=known)
                does = functools.partial(path_units, "arg", text, effects, below, None, facts)
                yield f"{text} {root} {known} {sorted(effects)} {sorted(below)}: {said(does)}"
    for glob in SOME:
        yield f"{glob.text!a} has its base among some: {[names_base(some, glob) for some in (('a',), ('a*', 'a/b/c'), ())]}"


def _loose(text: str, base: str, below: bool, anywhere: bool) -> str:
    glob = glob_argument(text, "/w", base=base, below=below, anywhere=anywhere)
    return f"{glob.text!a} {_alternatives(glob) if len(glob.alternatives) < 4 else len(glob.alternatives)}"


# URLs

URLS = (
    *("https://a.example", "https://a.example/", "https://a.example/x", "https://a.example/x/", "https://a.example/x/y"),
    *("https://a.example/x?q", "https://a.example/x#f", "https://a.example?q=1", "https://a.example/?q#f", "HTTP://A.example/X"),
    *("https://a.example:443/x", "https://a.example:8443/x", "http://a.example/x", "ftp://a.example/x", "other://a.example/x"),
    *("https://b.a.example/x", "https://c.b.a.example/x", "https://xa.example/", "https://.a.example/", "https://a.example./"),
    *("https://a.example/x/../y", "https://a.example/./x", "https://a.example//x", "https://a.example/x//", "https://a.example/%2e"),
    *("https://a.example/%2fx", "https://a.example/%41", "https://a.example/%", "https://a.example/%4", "https://a.example/%zz"),
    *("https://a.example/%252e", "https://a.example/%ff", "https://a.example/%c3%a9", "https://a.example/x;y", "https://a.example/..;/x"),
    *("https://a.example/a%00", "https://a.example/%5c", "https://a.example/..x", "https://u@a.example/", "https://u:p@a.example/"),
    *("https:///x", "https://", "https://a.example:/", "https://a.example:0/", "https://a.example:65535/", "https://a.example:65536/"),
    *("https://a.example:080/", "https://a.example:x/", "https://1.2.3.4/", "https://1.2.3/", "https://1.2.3.256/", "https://01.2.3.4/"),
    *("https://1.2.3.255/x", "https://0x7f.1/", "https://a.0x1/", "https://1.2.3.4.5/", "https://a.1/", "https://[::1]/", "https://[::01]/"),
    *("https://[::ffff:1.2.3.4]/", "https://[::ffff:102:304]/", "https://[1::G]/", "https://[::1]:8080/x", "https://[::1/", "a.example/x"),
    *("https:/a.example", "https:a", "//a.example", "1https://a.example/", "h+t.p-s://a.example/x", "https://a_b.example/", "https://-a.example/"),
    *("https://a-.example/", f"https://{'a' * 63}.example/", f"https://{'a' * 64}.example/", "https://a.example/ü", "https://ü.example/"),
    *("https://a.example/a b", "https://a.example/\x7f", "https://a.example\\x", "https://a.example/{x}", "https://a.example/x?{y}", "https://a.example/<"),
    *(f"https://a.example/{'x' * (8192 - 18)}", f"https://a.example/{'x' * (8192 - 17)}", "https://a.example/x?[y]", "https://a.example/[y]", ""),
    *(f"https://{'.'.join(['a' * 49] * 5)}abc/", f"https://{'.'.join(['a' * 49] * 5)}abcd/", f"https://{'.'.join(['a' * 49] * 5)}.abc/", "ssh://a.example/x"),
)
PATTERNS = (
    *("https://a.example/**", "https://a.example", "https://a.example/", "https://a.example/x", "https://a.example/x/", "https://a.example/x/**"),
    *("https://a.example/x?*", "https://a.example/x/*", "https://a.example/x/?*", "https://a.example:*/x", "https://a.example:8443/x", "https://**"),
    *("https://*.a.example/**", "https://*.a.example/x", "https://**/x", "https://**:*/**", "http://**", "HTTPS://A.example/X", "https://a.example/*/y"),
    *("https://a.example/{x,y}", "https://a.example/{x,y}/**", "https://a.example/%41", "https://a.example/%2a", "https://a.example/**/y", "other://**"),
    *("https://a.example/*", "https://a.example/**/", "https://b.a.example/x", "https://1.2.3.4/**", "https://[::1]/**", "https://[::1]:*/**", "https://*.b.a.example/**"),
    *("https://a.example:443/x", "https://*.1.2.3.4/", "https://*.4/", "https://*", "https://*.", "https://a.*/", "https://a.example/x?y", "https://a.example/x?"),
    *("https://a.example/%2f", "https://a.example/%5c", "https://a.example/%ff", "https://a.example/%", "https://a.example/%2541", "https://a.example/{a,**}"),
    *("https://a.example/a**", "https://a.example/..", "https://a.example//", "https://a.example:0/", "https://a.example/x#f", "https://ü.example/", "a.example/**", "**"),
    *("https://a.example/[ab]", "https://a.example/[!a]", "https://a.example/x y", f"https://a.example/{'x' * 1100}", f"https://a.example/{'x' * 8200}", ""),
    *("https://a.example/%5b%5d", "https://a.example/{x/,y}", "https://*.a.example", "https://u@a.example/", "ssh://a.example/**", "ftp://a.example:21/x", "**://a.example/"),
)


@functools.cache
def url_of(text: str) -> url_grammar.Url | None:
    try:
        return url_grammar.parse_url(text)
    except ValueError:
        return None


@functools.cache
def pattern_of(text: str) -> UrlPattern | None:
    try:
        return UrlPattern.parse(text)
    except ValueError:
        return None


def urls() -> Iterator[str]:
    good = [url for text in URLS if (url := url_of(text)) is not None]
    shapes = [pattern for text in PATTERNS if (pattern := pattern_of(text)) is not None]
    for text in URLS:
        url = url_of(text)
        yield f"{_short(text)}: {said(lambda text=text: url_grammar.parse_url(text)) if len(text) < 200 else url is None} {url is not None and str(url) == text}"  # type: ignore[misc]
        if url is None and len(text) > 200:
            yield f"{_short(text)}: {said(lambda text=text: url_grammar.parse_url(text))[:90]}"  # type: ignore[misc]
        if url is not None and len(text) < 200:
            unit = Unit("url", "arg", url, EFFECTS, text=text)
            yield f"{text}: shown {kind_of('url').target(unit)} scope {kind_of('url').scope_for(unit)}"
    for text in PATTERNS:
        pattern = pattern_of(text)
        yield f"{_short(text)}: {said(lambda text=text: _pattern(UrlPattern.parse(text)))[:300]}"  # type: ignore[misc]
        if pattern is not None:
            unit = Unit("url", "arg", pattern, EFFECTS, text=text, wide=True)
            yield f"{_short(text)} matches {bits(map(pattern.matches, good))} could {bits(map(pattern.could_match, good))}"
            yield f"{_short(text)} includes {bits(map(pattern.includes, shapes))} meets {bits(map(pattern.intersects, shapes))}"
            yield f"{_short(text)} sample {pattern.sample()[:90]} shown {kind_of('url').target(unit)!s:.90} {kind_of('url').scope_for(unit)!s:.90}"
    for start in (0, 1, 7, 11, 20):
        some = UrlSet(shapes[start :: start + 1])
        firsts = [one and shapes.index(one) for one in map(some.first, good)]
        yield f"set {start} {bits(map(some.matches, good))} {bits(map(some.could_match, good))} {firsts} {some!r:.200}"
        yield f"set {start} {bits(map(some.includes, shapes))} {bits(map(some.intersects, shapes))} {len(some)} {bool(some)} {some == UrlSet(some)}"
    few = [UrlSet(shapes[:n]) for n in range(4)]
    yield f"sets {bits(one == other for one in few for other in few)} {[few[0] == 3, bool(few[0]), list(few[2]) == shapes[:2], few[1] == shapes[0]]}"


def _pattern(pattern: UrlPattern) -> str:
    globs = [one and _alternatives(one) for one in (pattern.file, pattern.directory)]
    return f"{pattern.scheme} {pattern.host} {pattern.port} {pattern.any_path} {pattern.any_query} {globs}"


# Addresses, accounts, hosts, dates

ACCOUNTS = (
    *("DE89 3704 0044 0532 0130 00", "de89370400440532013000", "DE88370400440532013000", "GB82 WEST 1234 5698 7654 32", "gb82west12345698765432"),
    *("DE00370400440532013089", "DE99370400440532013000", "DE01370400440532013000", "C-17", "c-17", "C17", "c.17", "C 17", "-C", "C-", "a" * 64, "a" * 65, "a", ""),
    *("a b", "a  b", " a", "DE89", "DE8937040044053", "DE893704004405", "x/y", "x:y", "x_y", "x.y", "x@y", "x\ny", "é", "NO9386011117947", "NO93 8601 1117 947"),
    *("XX02" + "0" * 30, "XX02" + "0" * 31, "AA" + "11" + "A" * 11, "AA98" + "0" * 11),
)
DATES = (
    *("2027-03-01", "2027-3-1", "2027-02-29", "2028-02-29", "0001-01-01", "9999-12-31", "0000-01-01", "2027-13-01", "2027-060", "2027-W09-1", "20270301"),
    *("2027-03-01T12:00Z", "2027-03-01T12:00:00Z", "2027-03-01T12:00:00+01:00", "2027-03-01T00:00:00+01:00", "2027-03-01T12:00:00", "2027-03-01T24:00Z"),
    *("2027-03-01T12:00:60Z", "2027-03-01T12:00:00.5Z", "2027-03-01T12:00:00.1234567Z", "2027-03-01 12:00Z", "0001-01-01T00:00+01:00", "9999-12-31T23:59:59-01:00", ""),
    *("2027-03-02", "2027-03-02T00:00Z", "2027-03-01T23:59:59.999999Z", "2027-02-28T23:59:59Z", "2027-03-01T00:00Z", "9999-12-31T23:59:59Z", "2027-03-01T12:00:00.000001Z"),
)
RANGES: tuple[Any, ...] = (
    *("2027-03-01", "2027-03-01T12:00Z", "9999-12-31", {"from": "2027-03-01"}, {"until": "2027-03-02"}, {"from": "2027-03-01T12:00Z", "until": "2027-03-02"}),
    *({"from": "2027-03-01", "until": "2027-03-02T00:00Z"}, {"from": "0001-01-01", "until": "9999-12-31"}),
)
ADDRESSES = (
    *("ann@x.example", "Ann@X.example", "ANN@x.example", "ann+tag@x.example", "+@x.example", "+tag@x.example", "Ann <ann@x.example>", "<ann@x.example>", "Ann<ann@x.example>"),
    *('"Ann" <ann@x.example>', '" <ann@x.example>', '"" <ann@x.example>', "Ann, Bob <ann@x.example>", "Ann (x) <ann@x.example>", "Ann @ x <ann@x.example>", "Änn 2 <ann@x.example>"),
    *("a@b@x.example", "ann@", "@x.example", "ann", "", "a.b@x.example", "a..b@x.example", ".a@x.example", "a.@x.example", "a-b@x.example", "-a@x.example", "a'b=c~d_e@x.example"),
    *("ann@sub.x.example", "ann@sub.sub.x.example", "ann@xx.example", "ann@example", "ann@1.2.3.4", "ann@[::1]", "ann@x.example.", "ann@x_y.example", "ann@ü.example", "ann@xn--abc.example"),
    *("a" * 64 + "@x.example", "a" * 65 + "@x.example", "a@" + "b" * 60 + "." + "c" * 60 + "." + "d" * 60 + "." + "e" * 60 + ".example", "x" * 600, "ann@x.example, bob@x.example", "ann @x.example"),
    *("a@" + "b" * 60 + "." + "c" * 60 + "." + "d" * 60 + "." + "e" * 61 + ".ex", "aa@" + "b" * 60 + "." + "c" * 60 + "." + "d" * 60 + "." + "e" * 61 + ".exa", '"x <ann@x.example>', 'x" <ann@x.example>'),
    *(f"{'n' * 490} <ann@x.example>", f"{'n' * 493} <ann@x.example>", f"{'n' * 492} <ann@x.example>", "*@x.example", "ann@*.x.example", "A.n_n-1 <ann@x.example>", "A\u0301 <ann@x.example>"),
)
MAIL = ("ann@x.example", "*@x.example", "*@*.x.example", "Ann+t@x.example", "ann@*.x.example", "bob@X.example", "+@x.example")
HOSTS = (
    *("x.example", "X.Example", "x.example:8080", "x.example:", "x.example:0", "x.example:65536", "www.x.example", "a.www.x.example", "wx.example", ".x.example", "x.example."),
    *("1.2.3.4", "1.2.3.4:80", "1.2.3", "01.2.3.4", "[::1]", "[::1]:80", "[::1]x", "[::1]:", "[::1", "[::01]", "::1", "localhost", "", "x y", "x.example:80:90", "*.x.example", "[::1]]:80", "[::1]80"),
)
HOST_PATTERNS = ("x.example", "*.x.example", "x.example:8080", "x.example:*", "*.x.example:*", "1.2.3.4", "[::1]:*", "[::1]", "*.www.x.example")


def addresses() -> Iterator[str]:
    readers: dict[str, tuple[Any, Iterable[str]]] = {
        "account": (account.read_account, ACCOUNTS),
        "date": (date.read_date, DATES),
        "email": (email.read_address, ADDRESSES),
        "email pattern": (email.read_pattern, (*ADDRESSES, *MAIL, "*", "*@*", "*@*.", "a*@x.example", "*@1.2.3.4", "*@example")),
        "host": (host.read_host, HOSTS),
        "host pattern": (host.read_pattern, (*HOSTS, *HOST_PATTERNS, "*", "*.", "*.1.2.3.4", "*.4", "*.example", "*.[::1]", "*.com:*")),
    }
    for what, (read, texts) in readers.items():
        for text in texts:
            yield f"{what} {_short(text)}: {said(lambda read=read, text=text: read(text))}"  # type: ignore[misc]
    yield from _matched("account", ACCOUNTS, [[text] for text in ACCOUNTS])
    yield from _matched("date", DATES, [[one] for one in RANGES])
    yield from _matched("email", ADDRESSES, [[one] for one in MAIL])
    yield from _matched("host", HOSTS, [[one] for one in HOST_PATTERNS])
    yield from _matched("skill", ("a", "b", ""), [["a"], ["a", "b"]])
    yield from _matched("agent", ("a", "b", ""), [["a"], ["a", "b"]])
    for unknown in (Unit("host", "h", "", EFFECTS), Unit("host", "h", "x.example", EFFECTS, wide=True), Unit("host", "h", "x.example", derived=True)):
        rows = [kind_of("host").matcher([one]) for one in HOST_PATTERNS]
        yield f"{unknown.value!r} {unknown.wide} {bits(one.covers(unknown) for one in rows)} {bits(one.touches(unknown) for one in rows)}"
        if unknown.value:
            links = [kind_of("url").matcher([text]) for text in PATTERNS if pattern_of(text) is not None]
            yield f"{unknown.derived} might {bits(kind_of('host').might(unknown, 'url', one) for one in links)} {kind_of('host').might(unknown, 'path', links[0])}"


def _matched(kind: str, texts: Iterable[str], scopes: list[Any]) -> Iterator[str]:
    """What single scopes, all of them, and none say about all the texts that can be read."""
    units: list[Unit] = []
    for text in texts:
        try:
            units += kind_of(kind).units(Declared("arg", kind, Tool("t"), EFFECTS), text, {}, Call("a", "t"), Facts())
        except NotUnderstood as error:
            yield f"{kind} {_short(text)}: {error.code} {error}"
    good: list[Matcher] = []
    whole: list[Any] = []
    for scope in scopes:
        try:
            good.append(kind_of(kind).matcher(scope))
            whole += scope
        except ValueError as error:
            yield f"{kind} {scope!a:.80}: {error}"
    for matcher in (*good, kind_of(kind).matcher(whole[:3]), kind_of(kind).matcher([])):
        yield f"{kind} {matcher.describe()!a:.120} covers {bits(map(matcher.covers, units))} touches {bits(map(matcher.touches, units))}"
        yield f"{kind} {matcher.brief()!a:.60} {matcher.samples()!a:.120} {matcher.empty} {matcher.open} {matcher.obliges} {list(matcher.reach())}"
    yield from (f"{kind} {_short(unit.text)}: {_short(str(kind_of(kind).scope_for(unit)))} {_short(str(kind_of(kind).target(unit)))}" for unit in units)


# Conditions and judges

VALUES: tuple[Any, ...] = ("a", "b", "", "ab", "abc", "a\n", "1", 0, 1, 2, 3, 1.0, 1.5, -1, True, False, None, [], {})
CONDITIONS = (
    *(Condition(equals="a"), Condition(equals=1), Condition(equals=True), Condition(equals=1.0), Condition(equals=1.5), Condition(equals=False)),
    *(Condition(one_of=("a", 1)), Condition(one_of=(True,)), Condition(one_of=()), Condition(regex="a.?"), Condition(regex="[ab]+"), Condition(regex="a$|b")),
    *(Condition(min=1), Condition(max=1), Condition(min=1, max=2), Condition(min=1.5), Condition(max=0), Condition(min=0)),
    *(Condition(min_length=1), Condition(max_length=1), Condition(min_length=2, max_length=2), Condition(max_length=0), Condition(min_length=0)),
    *(Condition(optional=True), Condition(), Condition(same_as="task:x"), Condition(same_as="context:session"), Condition(same_as="task:x", min=1, optional=True)),
    *(Condition(parts={"path": {"allow": ["a/**"]}}), Condition(parts={"path": {"allow": ["a/**"], "new_only": True}, "email": ["*@x.example"]}, optional=True)),
    *(Condition(regex="x" * 130), Condition(equals="y" * 130), Condition(equals=-2.0), Condition(one_of=(False, 2.5, "z"))),
)
EACH = (
    Condition(each=({"n": Condition(max=1)},)),
    Condition(each=({"n": Condition(max=1)}, {"m": Condition(equals="a"), "n": Condition(min=2)}), optional=True),
    Condition(each=({"n": Condition(optional=True, min=1), "p": Condition(parts={"path": {"allow": ["a/**"], "new_only": True}})},)),
    Condition(each=({"p": Condition(parts={"path": {"allow": ["a/*"]}})}, {"n": Condition(equals=1)})),
)
ELEMENTS: tuple[dict[str, Any], ...] = (
    *({}, {"x[].n": [1]}, {"x[].n": [2]}, {"x[].n": [1, 2]}, {"x[].n": [2], "x[].m": ["a"]}, {"x[].p": ["a/b"]}, {"x[].p": ["b"], "x[].n": [1]}),
    {"x[].p": ["a/b"], "x[].n": [0]},
)


def conditions() -> Iterator[str]:
    context = Context(session="a")
    units = [Unit("path", "x", "a/b", EFFECTS, text="a/b"), Unit("path", "x", "b", EFFECTS, text="b"), Unit("path", "y", "a/b", text="a/b")]
    fields = [Unit("path", "x[].p", one, EFFECTS, text=one) for one in ("a/b", "b")]
    for condition in CONDITIONS:
        test = argument_test("x", condition)
        yield f"{test.describe()!a} / {test.must()!a} / {test.obliges} {_text(test.mentioned)}"
        for task in (None, "a", 1):
            known: dict[str, list[Any]] = {"task:x": [task]} if task is not None else {}
            rows = [{**known, "x": [value]} for value in VALUES] + [known, {**known, "x": []}, {**known, "x": ["a", "b"]}, {**known, "x": [1, 2]}]
            for some in ([], units[:1], units[1:2], units[:2], units[2:]):
                yield f"  {bits(test.holds_for_all(row, some, context) for row in rows)} {bits(test.holds_for_any(row, some, context) for row in rows)}"
        yield f"  asked of {[len(test.asked_of(arg)) for arg in ('x', 'y')]} {[len(test.matchers_of(unit)) for unit in units]}"
    for condition in EACH:
        each = argument_test("x[]", condition)
        yield f"{each.describe()!a} / {each.must()!a} / {each.obliges} {_text(each.mentioned)}"
        lists = [{"x[]": list(some)} for size in (0, 1, 2) for some in itertools.combinations(ELEMENTS, size)] + [{}]
        for some in ([], fields[:1], fields[1:], fields):
            yield f"  {bits(each.holds_for_all(row, some, context) for row in lists)} {bits(each.holds_for_any(row, some, context) for row in lists)}"
        yield f"  asked of {[len(each.asked_of(arg)) for arg in ('x[].p', 'x[].n', 'y')]} {[len(each.matchers_of(unit)) for unit in (*fields, *units)]}"
    for pattern in ("a", "a|b", "(a", "a.b", "a" * 2000, "a" * 2001, "(?=a)", "(a)\\1", "a{1001}", "^a$", "(?i)A"):
        texts = ("a", "b", "ab", "a\n", "\na", "a\nb", "A", "")
        yield f"regex {_short(pattern)}: {said(lambda pattern=pattern: bits(map(compile_regex(pattern), texts)))}"  # type: ignore[misc]
    wants: tuple[tuple[Any, ...], ...] = (("a",), ("a", "b"), ("",), (True,))
    for key, wanted, context in itertools.product(("mode", "environment", "session"), wants, (Context(), Context(mode="a"), Context(session="b"), Context(environment=""))):
        yield f"when {key} {wanted} {context.mode} {context.session} {context.environment!r}: {context_holds(((key, wanted),), context)} {context_holds(((key, wanted), ('mode', ('a',))), context)}"


SCOPES = (
    *(Scope(), Scope(effect=("read",)), Scope(effect=("read", "write")), Scope(parts={"path": {"allow": ["a/**"]}}), Scope(parts={"path": {"allow": []}})),
    *(Scope(parts={"path": {"allow": ["a/**"], "except": ["a/b"]}}), Scope(parts={"path": {"allow": ["**"], "outside": ["/tmp/**"]}}), Scope(parts={"url": ["https://a.example/**"]})),
    *(Scope(parts={"path": {"allow": ["a/**"], "new_only": True}}), Scope(parts={"agent": ["bob"]}), Scope(parts={"host": ["a.example"]}), Scope(parts={"email": ["*@x.example"], "path": {"allow": ["**"]}})),
    *(Scope(when={"mode": ("a",)}), Scope(when={"mode": ("a",)}, effect=("write",)), Scope(where={"x": Condition(equals="a")}), Scope(where={"p": Condition(parts={"path": {"allow": ["a/**"]}})})),
    *(Scope(where={"x": Condition(equals="b")}, effect=("read",)), Scope(parts={"path": {"allow": ["**"]}}, except_=Scope(parts={"path": {"allow": ["a/**"]}})), Scope(effect=("write",), except_=Scope(effect=("read",)))),
    *(Scope(parts={"url": ["https://a.example/**"], "path": {"allow": ["a/*"]}}), Scope(except_=Scope(where={"x": Condition(equals="a")})), Scope(except_=Scope(when={"mode": ("a",)}, parts={"path": {"allow": ["a/**"]}}))),
    *(Scope(parts={"shell": {"run": ["ls"]}}), Scope(parts={"path": {"allow": ["A/**"], "except": ["A/B"], "outside": ["/tmp/*"]}}), Scope(parts={"path": {"allow": [], "outside": ["/**"]}})),
)
UNITS = (
    Unit("path", "p", "é", EFFECTS, text="é"),
    Unit("path", "p", "/é", EFFECTS, text="/é"),
    *(Unit("path", "p", "a/b", EFFECTS, text="a/b"), Unit("path", "p", "A/B", EFFECTS, text="A/B"), Unit("path", "p", "c", frozenset({"read"}), text="c"), Unit("path", "p", "a/x", text="a/x")),
    *(Unit("path", "p", "/tmp/x", EFFECTS, text="/tmp/x"), Unit("path", "p", "c", EFFECTS, also=("a/b",), text="a/b"), Unit("path", "p", "a/c", EFFECTS, also=("c",), text="c")),
    *(Unit("path", "p", Glob.parse("a/*"), EFFECTS, wide=True, text="a/*"), Unit("path", "", Glob.parse("**"), EFFECTS, wide=True, text="**"), Unit("path", "p", Glob.parse("/tmp/*", absolute=True), EFFECTS, wide=True, text="/tmp/*")),
    *(Unit("path", "p", Glob.parse("**"), EFFECTS, wide=True, untold="target", text="$f"), Unit("path", "", Glob.parse("a/x*"), frozenset({"delete"}), wide=True, text="a/x*")),
    *(Unit("url", "u", url_of("https://a.example/x"), frozenset({"network"}), text="u"), Unit("url", "u", url_of("https://b.a.example/x"), frozenset({"network"}), text="u"), Unit("url", "", pattern_of("https://**"), frozenset({"network"}), wide=True)),
    *(Unit("agent", "to", "bob", frozenset({"delegate"}), text="bob"), Unit("agent", "to", "cy", frozenset({"delegate"}), text="cy"), Unit("skill", "s", "x"), Unit("email", "m", "a@x.example", frozenset({"message"}), text="m")),
    *(Unit("host", "h", "a.example", frozenset({"network"}), text="h"), Unit("host", "h", "a.example", frozenset({"network"}), derived=True), Unit("table", "q", "t", EFFECTS, derived=True), Unit("table", "q", "t", EFFECTS)),
    *(Unit("call", "", "", EFFECTS), Unit("call", "", ""), Unit("call", "", "", EFFECTS, args=("x",)), Unit("call", "", "", EFFECTS, args=("x", "y")), Unit("call", "", "", grade="not understood")),
    *(Unit("records", "", "r", frozenset({"read"}), text="r"), Unit("email", "m", "b@y.example", text="m"), Unit("path", "x", "a/b", frozenset({"write"}), text="a/b"), Unit("path", "x", "a/b", grade="not understood", text="a/b")),
)


def judges() -> Iterator[str]:
    contexts = (Context(), Context(mode="a"))
    rows: tuple[dict[str, list[Any]], ...] = ({}, {"x": ["a"]}, {"x": ["b"]}, {"x": ["a", "b"], "p": ["a/b"]})
    for scope in SCOPES:
        judge = Judge(scope)
        yield f"{judge.describe()!a} / {judge.brief()!a} / {judge.free} {judge.obliges} {judge.open} {judge.on_arguments}"
        yield f"  covers {bits(map(judge.covers, UNITS))} mentions {bits(map(judge.mentions, UNITS))} {[judge.obligation(unit) for unit in UNITS[:9]]}"
        for context, values in itertools.product(contexts, rows):
            applies = bits(judge.applies(context, values, [unit]) for unit in UNITS)
            touched = bits(judge.touches(context, values, [unit]) for unit in UNITS)
            pairs = [judge.touches(context, values, [one, other]) for one, other in itertools.pairwise(UNITS)]
            yield f"  {applies} {touched} {[UNITS.index(one) if one is not None else '-' for one in pairs]}"
        unmet = [judge.unmet(unit, context, values, [unit]) for unit in UNITS for context in contexts for values in rows[:3]]
        yield f"  unmet {sorted(set(map(tuple, unmet)))} {bits(unmet)}"
        for kind, part in judge.parts.items():
            mine = [unit for unit in UNITS if unit.kind == kind]
            yield f"  {kind} {bits(map(part.covers, mine))} {bits(map(part.touches, mine))} {bits(kind_of(unit.kind).might(unit, kind, part) for unit in UNITS if unit.kind != kind)}"
            yield f"  {kind} {part.samples()!a} {[text for _, text in part.reach()]} {part.empty} {[part.refuses(unit) for unit in mine]} {[part.concerns(unit) for unit in mine]}"
    for unit in UNITS:
        own = kind_of(unit.kind)
        yield f"{unit.kind} {unit.text!a} {own.target(unit)} {own.beyond(unit)} {own.grade(unit)} {own.to_own_branch(unit)} {own.bears('read')}"
        if unit.kind != "records":
            yield f"{unit.kind} {unit.text!a} {[own.scope_for(unit, beside) for beside in (None, {}, {'new_only': True}, {'new_only': False}, ['x'])]!a}"


# Kinds


def kinds() -> Iterator[str]:
    given = [name for name in vars(Kind) if not name.startswith("_") and not callable(getattr(Kind, name))]
    for name in (*names(), "table", "branch", "context", "records", "call"):
        kind = kind_of(name)
        attributes = {one: getattr(kind, one) for one in ("name", *given) if one != "schema"}
        yield f"{name}: {_text(attributes)} {dict(kind.schema)}"
        yield f"{name}: {[kind.bears(effect) for effect in ('read', 'write', 'delete', 'network', 'delegate', 'pay', 'message', 'other')]}"
        if kind.argument:
            yield f"{name}: {kind.harmless()!r} {kind.samples()!r} {[kind.problem(value) for value in (*VALUES, float('inf'), float('nan'))]}"
            yield f"{name}: {[said(lambda value=value: kind.check_default(value)) for value in ('a', '2027-03-01', '/a/*')]}"  # type: ignore[misc]
            yield f"{name}: {[text for _, text in kind.reach(('https://a.example/**',) if name == 'url' else ())]!a} {said(lambda: list(kind.paths('ls', None, None)))}"
    for bare in (Unit("kind", "arg", "value"), Declared("name", "kind", Tool("t"))):
        yield f"{type(bare).__name__} {[_text(getattr(bare, name)) for name in bare.__struct_fields__]}"
    plain = [name for name in vars(Matcher) if not name.startswith("_") and not callable(getattr(Matcher, name))]
    yield f"{[(name, getattr(Matcher, name)) for name in plain]}"
    for text in ("docs/**", "/tmp/**", "https://a.example/**", "**", "a://b", "https://", "{a"):
        yield f"reach {text} {said(lambda text=text: _reach(text))}"  # type: ignore[misc]
    for value, cwd, known, below in itertools.product(("*.md", "a/*", "/w/x*"), (None, "", "d", "/w/d"), ({}, {"base": ["s"]}, {"base": ["l"]}), (False, True)):
        arg = Declared("g", "glob", Tool("t"), frozenset({"read"}), EFFECTS if below else frozenset(), base="base")
        facts = Facts(root="/w", resolved={"s": "/w/s", "l": "/w/m"}) if known else Facts(root="/w")
        found = said(lambda: [(one.value.text, one.derived) for one in kind_of("glob").units(arg, value, known, Call("a", "t", context=Context(cwd=cwd)), facts)])
        yield f"glob {value} {cwd} {known} {below}: {found}"


def forms() -> Iterator[str]:
    """What is wrong with a scope, and the rulebook of what is right."""
    tool = {"args": {"d": "date", "m": "email", "k": "account", "h": "host", "u": "url", "p": "path", "x": "text"}}
    bad: dict[str, tuple[Any, ...]] = {
        "date": ({}, {"from": "2027-01-01", "until": "2027-01-01"}, {"from": "2027-01-02", "until": "2027-01-01"}, "x", {"till": "x"}),
        "email": ("x", "a@b", ["*@x.example", "y"], "a\nb"),
        "account": ("DE00370400440532013089", "-"),
        "host": ("x y", "*.1.2.3.4", "x.example:0"),
        "url": ("x", "https://a.example/**/x**", "https://*.4/"),
        "path": ("/a", "a//b", {"allow": []}, {"outside": []}, {"except": "a"}, {"outside": "a"}, {"allow": "a", "new_only": 1}),
        "agent": ("nobody", 1),
        "skill": (1,),
    }
    good: dict[str, tuple[Any, ...]] = {
        "date": ("2027-01-01", {"from": "2027-01-01", "until": "2027-01-02"}, {"from": "2027-01-01"}, ["2027-01-01", "2027-01-02"]),
        "path": ("a", [], {"allow": [], "outside": "/a"}, {"allow": "a", "except": [], "new_only": False}, {"outside": ["/a", "/b/**"]}),
        "email": ("a@x.example", []),
        "agent": ("ann", []),
    }
    for table in (bad, good):
        for kind, scopes in table.items():
            for scope in scopes:
                policy = {"remit": 1, "tools": {"t": {**tool, "does": "nothing"}}, "agents": {"ann": {"may": [{"t": {kind: scope}}]}}}
                yield f"{kind} {scope!a}: {_loaded(policy)}"


def _loaded(policy: dict[str, Any]) -> str:
    try:
        book = make_rulebook(build_policy(policy)).book
    except PolicyError as error:
        return ascii(str(error))
    return _text(book.callers["ann"].rules[0].scope.parts)


def _reach(text: str) -> str:
    unit = reach_unit(text, EFFECTS)
    return f"{unit.kind} {unit.arg!r} {unit.value.text} {_text(unit.effects)} {unit.wide} {unit.text}"


GROUPS: dict[str, Callable[[], Iterator[str]]] = {
    group.__name__: group for group in (globs, matches, relations, paths, urls, addresses, conditions, judges, kinds, forms)
}


def lines(group: str) -> list[str]:
    return [f"{group} {text}" for text in GROUPS[group]()]


def test_what_is_wrong_with_a_pattern_is_told_to_the_caller_alone(capfd: pytest.CaptureFixture[str]) -> None:
    for pattern in ("(a", "a" * 2000 + "(", "(?=a)"):
        with pytest.raises(RegexError):
            compile_regex(pattern)
    assert capfd.readouterr() == ("", "")


def test_what_was_read_can_not_be_changed() -> None:
    url, pattern = url_of("https://a.example/x"), pattern_of("https://a.example/x")
    read: tuple[Any, ...] = (url, pattern, UNITS[0], Declared("a", "path", Tool("t")), CharSet(()), PathScope(), SOME[0], UrlSet(), GlobSet())
    for one in read:
        with pytest.raises(AttributeError):
            one.text = one.name = one.host = one.ranges = one.allow = one.globs = 1
    assert msgspec.json.encode(PathScope()) == b"{}"


@pytest.mark.parametrize("group", GROUPS)
def test_what_scopes_say(group: str) -> None:
    written = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith(f"{group} ")]
    assert lines(group) == written, "meant? then: python -m tests.scopes.test_whole"


if __name__ == "__main__":
    FILE.write_text("".join(f"{text}\n" for group in GROUPS for text in lines(group)), encoding="utf-8")
