"""URLs: the strict grammar against what parsers disagree about, and patterns against single URLs."""

import pickle
import posixpath
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet
from remit.scopes.kinds import kind_of
from remit.scopes.url import Url, UrlError, UrlPattern, UrlSet, parse_url
from remit.scopes.url_grammar import parse_host
from tests.decide.kit import book, outcome

APIS = UrlSet(
    UrlPattern.parse(text)
    for text in ("https://api.github.com/**", "https://api.osv.dev/**", "https://docs.python.org/**")
)

ALLOWED = [
    "https://api.github.com",
    "https://api.github.com/",
    "https://api.github.com:443",
    "https://api.github.com:443/user",
    "https://api.github.com?per_page=5",
    "https://api.github.com#top",
    "https://api.github.com/?q=a@b",
    "https://api.github.com/@evil.com/",
    "https://api.github.com/a:b",
    "HTTPS://api.github.com/user",
    "hTtPs://API.GitHub.Com/user",
    "https://api.github.com/repos/a/b/contents/x?ref=main",
    "https://api.github.com/repos/a/b/issues?labels=bug&state=open",
    "https://api.github.com/repos/a/b/git/trees/main?recursive=1",
    "https://api.github.com/search?filter[name]=x",
    "https://api.github.com/a/../b",
    "https://api.github.com//evil.com/",
    "https://api.github.com/%2e%2e/x%00",
    "https://api.github.com/https://evil.com/",
    "https://api.osv.dev:443/simple/pip/",
    "https://api.osv.dev/project/evil.com/",
    "https://docs.python.org/3/library/sqlite3.html#sqlite3.Connection",
    "https://docs.python.org/3/search.html?q=%C3%BC",
]

NOT_ALLOWED = [  # well-formed, but another place
    "http://api.github.com/",
    "http://api.github.com:443/",
    "https://api.github.com:444/",
    "https://api.github.com:80/",
    "https://api.github.com.evil.com/",
    "https://evilapi.github.com/",
    "https://www.api.github.com/",
    "https://github.com/",
    "https://evil.com/https://api.github.com/",
    "https://evil.com/api.github.com/",
    "https://evil.com?.api.github.com",
    "https://evil.com#api.github.com",
    "https://xn--pi-7kc.github.com/",
    "https://api-github.com/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://localhost/",
    "file://api.github.com/etc/passwd",
    "wss://api.github.com/",
    "ftp://api.github.com/",
]

MALFORMED = {
    "": "begins with",
    "api.github.com/user": "begins with",
    "//api.github.com/": "begins with",
    "https:api.github.com/": "begins with",
    "https:/api.github.com/": "begins with",
    "https//api.github.com/": "begins with",
    "://api.github.com/": "begins with",
    "1https://api.github.com/": "begins with",
    "view-source:https://api.github.com/": "begins with",
    "javascript:alert(1)": "begins with",
    "https:///api.github.com/": "no host",
    "https://": "no host",
    "https://?api.github.com": "no host",
    "https://:443/": "malformed host",
    "https://user@api.github.com/": "user name",
    "https://user:pw@api.github.com/": "user name",
    "https://@api.github.com/": "user name",
    "https://api.github.com@evil.com/": "user name",
    "https://api.github.com:443@evil.com/": "user name",
    "https://api.github.com%2f@evil.com/": "user name",
    "https://a@b@api.github.com/": "user name",
    "https://evil.com\\@api.github.com/": "backslash",
    "https://api.github.com\\@evil.com/": "backslash",
    "https:\\\\api.github.com/": "backslash",
    "https://api.github.com\\.evil.com/": "backslash",
    "https://api.github.com/a\\b": "backslash",
    "https://api.github.com%2eevil.com/": "malformed host",
    "https://api%2egithub.com/": "malformed host",
    "https://api.github.com%00.evil.com/": "malformed host",
    "https://api.github.com$.evil.com/": "malformed host",
    "https://api.github.com&evil.com/": "malformed host",
    "https://api.github.com;evil.com/": "malformed host",
    "https://api.github.com,evil.com/": "malformed host",
    "https://*.github.com/": "malformed host",
    "https://api.github.com:/": "empty port",
    "https://api.github.com:": "empty port",
    "https://api.github.com:443:443/": "malformed host or port",
    "https://api.github.com:+443/": "malformed host or port",
    "https://api.github.com:4_4/": "malformed host or port",
    "https://api.github.com:0x1bb/": "malformed host or port",
    "https://api.github.com:0/": "between 1 and 65535",
    "https://api.github.com:0443/": "between 1 and 65535",
    "https://api.github.com:65536/": "between 1 and 65535",
    "https://api.github.com:99999/": "between 1 and 65535",
    "https://api.github.com./": "final dot",
    "https://.api.github.com/": "empty label",
    "https://api..github.com/": "empty label",
    "https://./": "empty label",
    "https://-api.github.com/": "malformed label",
    "https://api-.github.com/": "malformed label",
    f"https://{'a' * 64}.com/": "malformed label",
    f"https://{'a.' * 127}com/": "too long",
    "https://2130706433/": "IPv4",
    "https://0x7f000001/": "IPv4",
    "https://0x7f.1/": "IPv4",
    "https://127.1/": "IPv4",
    "https://127.0.0.01/": "IPv4",
    "https://0177.0.0.1/": "IPv4",
    "https://127.0.0.256/": "IPv4",
    "https://1.2.3.4.5/": "IPv4",
    "https://api.github.com.0x7f000001/": "IPv4",
    "https://127.0.0.0x1/": "IPv4",
    "https://[::1/": "malformed host",
    "https://::1/": "malformed host",
    "https://[::1%25eth0]/": "malformed host",
    "https://[v1.x]/": "malformed host",
    "https://[::ffff:127.0.0.1]/": "malformed host",
    "https://[::ffff:7f00:1]/": "canonical",
    "https://[0:0:0:0:0:0:0:1]/": "canonical",
    "https://[::01]/": "canonical",
    "https://[1:2:3]/": "malformed IPv6",
    "https://[::1]evil.com/": "malformed host",
    "https://api.github.com/\r\nX: y": "whitespace or control",
    "https://api.github.com/\nHost: evil.com": "whitespace or control",
    "https://evil.com\n@api.github.com/": "whitespace or control",
    "https://api.github.com/\n": "whitespace or control",
    "https://api.github.com\n": "whitespace or control",
    "https://api.git\thub.com/": "whitespace or control",
    "h\tttps://api.github.com/": "whitespace or control",
    " https://api.github.com/": "whitespace or control",
    "https://api.github.com/ ": "whitespace or control",
    "https://api.github.com/a b": "whitespace or control",
    "https://api.github.com/\x00": "whitespace or control",
    "https://api.github.com\x7f/": "whitespace or control",
    "https://аpi.github.com/": "ASCII",  # Cyrillic a
    "https://api.github.\u212aom/": "ASCII",  # Kelvin sign
    "https://api。github.com/": "ASCII",  # ideographic full stop
    "https://api.github.com\u2215@evil.com/": "ASCII",  # division slash
    "https://ａpi.github.com/": "ASCII",  # full width
    "https://api.github.com/ü": "ASCII",
    "https://api.github.com\u200b/": "ASCII",
    "https://api.github.com/%": "percent-encoding",
    "https://api.github.com/%2": "percent-encoding",
    "https://api.github.com/?q=%zz": "percent-encoding",
    "https://api.github.com/<x>": "RFC 3986",
    'https://api.github.com/"': "RFC 3986",
    "https://api.github.com/{x}": "RFC 3986",
    "https://api.github.com/a|b": "RFC 3986",
    "https://api.github.com/?a^b": "RFC 3986",
    "https://api.github.com/`id`": "RFC 3986",
    "https://api.github.com/[x]": "RFC 3986",
    "https://api.github.com/#a#b": "RFC 3986",
    "https://api.github.com/" + "a" * 8192: "more than 8192",
}


@pytest.mark.parametrize("text", ALLOWED)
def test_the_allow_list_has(text: str) -> None:
    assert APIS.matches(parse_url(text))
    assert APIS.first(parse_url(text)) is not None
    assert APIS.could_match(parse_url(text))


@pytest.mark.parametrize("text", NOT_ALLOWED)
def test_the_allow_list_has_not(text: str) -> None:
    assert not APIS.matches(parse_url(text))
    assert APIS.first(parse_url(text)) is None
    assert not APIS.could_match(parse_url(text))


@pytest.mark.parametrize("text", MALFORMED)
def test_refuses(text: str) -> None:
    with pytest.raises(UrlError, match=re.escape(MALFORMED[text])) as caught:
        parse_url(text)
    message = str(caught.value)
    assert message.isprintable()
    assert message[0].islower() or message.startswith("IPv")


def test_the_parts_of_a_url() -> None:
    url = parse_url("HTTPS://API.Example.com:8443/a%20b/?q=1#top")
    assert url == Url(
        scheme="https",
        host="api.example.com",
        port=8443,
        path="/a%20b/",
        query="q=1",
        fragment="top",
        ambiguous_path=False,
        plain_path="a b",
        is_directory=True,
    )
    assert str(url) == "https://api.example.com:8443/a%20b/?q=1#top"
    assert str(parse_url("https://h:443?")) == "https://h?"
    ports = {text: parse_url(f"{text}://h").port for text in ("http", "https", "ws", "wss", "ftp", "ssh", "git", "x+y")}
    assert list(ports.values()) == [80, 443, 80, 443, 21, 22, 9418, 0]
    assert [parse_url(f"https://{host}/").host for host in ("10.0.0.255", "[2001:db8::1]", "_dmarc.a-b.c")] == [
        "10.0.0.255",
        "[2001:db8::1]",
        "_dmarc.a-b.c",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/a/..",
        "/a/../b",
        "/.",
        "/./a",
        "/a/..;/b",
        "/a/.;x/b",
        "/%2e%2e/b",
        "/a%2Fb",
        "/a%2fb",
        "/a%5cb",
        "/x%00",
        "/%252e%252e/",
        "/a//b",
        "//a",
        "/%c0%ae%c0%ae/",
        "/a/%ff",
    ],
)
def test_a_path_that_can_be_read_in_two_ways_matches_only_any_path(path: str) -> None:
    url = parse_url("https://h" + path)
    assert url.ambiguous_path
    assert UrlPattern.parse("https://h/**").matches(url)
    for text in ("https://h/*", "https://h/a/**", "https://h/**/b", "https://h/*/*/*?*", "https://h/"):
        assert not UrlPattern.parse(text).matches(url)
        assert UrlPattern.parse(text).could_match(url)
    assert not UrlPattern.parse("https://other/a/**").could_match(url)


@pytest.mark.parametrize(
    "path", ["", "/", "/...", "/a..b", "/..a/b", "/.well-known/x", "/a;v=1/b", "/a%20b", "/%C3%A9", "/100%25"]
)
def test_a_path_that_can_be_read_in_one_way(path: str) -> None:
    assert not parse_url("https://h" + path).ambiguous_path


MATCHES = {
    "https://h/a": (
        ["https://h/a", "https://h/%61", "https://H:443/a"],
        [
            "https://h/a/",
            "https://h/a?",
            "https://h/a?q=1",
            "https://h/a#f",
            "https://h/A",
            "https://h/a/b",
            "https://h",
        ],
    ),
    "https://h/a/": (["https://h/a/"], ["https://h/a", "https://h/a/b", "https://h/a/b/"]),
    "https://h": (["https://h", "https://h/"], ["https://h/a", "https://h?q", "https://h/?q"]),
    "https://h/": (["https://h", "https://h/"], ["https://h/a", "https://h#f"]),
    "https://h/?*": (["https://h", "https://h/?q=1", "https://h?q=1"], ["https://h/a?q=1"]),
    "https://h/a?*": (["https://h/a", "https://h/a?q=1", "https://h/a?q=1#f"], ["https://h/a/?q=1"]),
    "https://h/a/*": (
        ["https://h/a/b", "https://h/a/*"],
        ["https://h/a/", "https://h/a/b/c", "https://h/a/b?q", "https://h/a"],
    ),
    "https://h/*/": (["https://h/a/"], ["https://h/a", "https://h/"]),
    "https://h/a/**": (
        ["https://h/a/", "https://h/a/b", "https://h/a/b/c/", "https://h/a/b?q#f", "https://h/a/?q"],
        ["https://h/a", "https://h/ab", "https://h/", "https://h/b/a/c"],
    ),
    "https://h/a,b/**": (["https://h/a,b/", "https://h/a,b/c"], ["https://h/a/", "https://h/b/c"]),
    "https://h/**/x": (["https://h/x", "https://h/a/b/x"], ["https://h/a/x/", "https://h/x/y"]),
    "https://h/{a,b}/v[0-9]": (["https://h/a/v1", "https://h/b/v2"], ["https://h/c/v1", "https://h/a/v"]),
    "https://h/caf%C3%89/**": (["https://h/caf%C3%89/x", "https://h/caf%c3%89/"], ["https://h/cafe/x"]),
    "https://h/a%2ab": (["https://h/a*b", "https://h/a%2Ab"], ["https://h/axb"]),
    "https://*.h.org/**": (
        ["https://a.h.org", "https://a.b.h.org/x"],
        ["https://h.org/", "https://ah.org/", "https://a.h.org.x/"],
    ),
    "https://**": (
        ["https://a", "https://a.b/c?d#e", "https://127.0.0.1/", "https://[::1]/x"],
        ["http://a", "https://a:8443/"],
    ),
    "https://**:*": (["https://a:1/x", "https://a/"], ["http://a:443/"]),
    "https://**/health": (["https://a/health"], ["https://a/", "https://a/health/x"]),
    "https://h:*/**": (["https://h:1/", "https://h/"], ["https://g:1/"]),
    "https://h:8443/**": (["https://h:8443/"], ["https://h/", "https://h:443/"]),
    "https://h:443/**": (["https://h/", "https://h:443/"], ["https://h:8443/"]),
    "https://[::1]/**": (["https://[::1]/x"], ["https://[::2]/"]),
    "https://10.0.0.1/**": (["https://10.0.0.1/x"], ["https://10.0.0.11/"]),
    "redis://cache:6379/**": (["redis://cache:6379/0"], ["redis://cache/0"]),
    "HTTPS://Api.H/**": (["https://api.h/"], ["https://h/"]),
}


@pytest.mark.parametrize("text", MATCHES)
def test_matches(text: str) -> None:
    pattern = UrlPattern.parse(text)
    yes, no = MATCHES[text]
    assert [url for url in yes if not pattern.matches(parse_url(url))] == []
    assert [url for url in no if pattern.matches(parse_url(url))] == []
    assert all(pattern.could_match(parse_url(url)) for url in yes)
    assert pattern.matches(parse_url(pattern.sample()))
    assert pattern.includes(pattern)
    assert pattern.intersects(pattern)
    assert pickle.loads(pickle.dumps(pattern)) == pattern


@pytest.mark.parametrize(
    "text",
    [
        "",
        "h/**",
        "https://",
        "https:///a",
        "*://h/**",
        "http*://h/**",
        "https://h/../a",
        "https://h/a/./b",
        "https://h/%2e%2e/",
        "https://h/a//b",
        "https://h//",
        "https://h/a%2fb",
        "https://h/a%5Cb",
        "https://h/%00",
        "https://h/%252e",
        "https://h/%ff",
        "https://u@h/**",
        "https://h/a?b=1",
        "https://h/a?",
        "https://h/a#f",
        "https://*/**",
        "https://*h.org/**",
        "https://a.*.org/**",
        "https://*.10.0.0.1/**",
        "https://*.1/**",
        "https://h./**",
        "https://h:0/**",
        "https://h:/**",
        "https://h/a**",
        "https://h/***",
        "https://h/{a,**}",
        "https://h/a/**/",
        "https://h/é/**",
        "https://hé/**",
        "https://h/a b",
        "https://h/a\n",
        "https://h/a\\b",
        "https://h/%",
        "https://127.1/**",
        "https://[::01]/**",
        "https://**.h/**",
        "https://h/[a",
    ],
)
def test_refuses_pattern(text: str) -> None:
    with pytest.raises(UrlError) as caught:
        UrlPattern.parse(text)
    assert str(caught.value).isprintable()


INCLUDED = [
    ("https://**", "https://h/**"),
    ("https://**", "https://*.h/a?*"),
    ("https://**:*", "https://h:8443/"),
    ("https://h/**", "https://h/a/**"),
    ("https://h/**", "https://h"),
    ("https://h/**", "https://h:443/a?*"),
    ("https://h/a/**", "https://h/a/b/*"),
    ("https://h/a/**", "https://h/a/"),
    ("https://h/a/**", "https://h/a/b?*"),
    ("https://h/a/**", "https://h/a/b/**"),
    ("https://h/a?*", "https://h/a"),
    ("https://*.h/**", "https://a.h/**"),
    ("https://*.h/**", "https://*.a.h/x"),
    ("https://h:*/**", "https://h/**"),
]

NOT_INCLUDED = [
    ("https://h/**", "https://**"),
    ("https://h/**", "http://h/**"),
    ("https://h/**", "https://h:*/**"),
    ("https://h/**", "https://h:8443/**"),
    ("https://*.h/**", "https://h/**"),
    ("https://*.a.h/**", "https://*.h/**"),
    ("https://*.h/**", "https://**"),
    ("https://h/a/**", "https://h/**"),
    ("https://h/a/**", "https://h/a"),
    ("https://h/a", "https://h/a?*"),
    ("https://h/a", "https://h/a/"),
    ("https://h/*", "https://h/a/**"),
    ("https://h/*/**", "https://h/**"),
]


@pytest.mark.parametrize(("wide", "narrow"), INCLUDED)
def test_includes(wide: str, narrow: str) -> None:
    assert UrlPattern.parse(wide).includes(UrlPattern.parse(narrow))
    assert UrlPattern.parse(narrow).intersects(UrlPattern.parse(wide))
    assert UrlSet([UrlPattern.parse("ftp://x"), UrlPattern.parse(wide)]).includes(UrlPattern.parse(narrow))


@pytest.mark.parametrize(("wide", "narrow"), NOT_INCLUDED)
def test_does_not_include(wide: str, narrow: str) -> None:
    assert not UrlPattern.parse(wide).includes(UrlPattern.parse(narrow))


_hosts = st.sampled_from(["h", "a.h", "b.a.h", "*.h", "*.a.h", "**"])
_ports = st.sampled_from(["", "", ":*", ":81"])
_paths = st.sampled_from(["", "/", "/**", "/a", "/a/", "/a/**", "/*", "/*/", "/**/a", "/a/*", "/{a,b}/**", "/*/**"])
texts = st.builds(
    "{}://{}{}{}{}".format,
    st.sampled_from(["http", "https"]),
    _hosts,
    _ports,
    _paths,
    st.sampled_from(["", "?*"]),
)
URLS = [
    parse_url(f"{scheme}://{host}{port}{path}{end}")
    for scheme in ("http", "https")
    for host in ("h", "a.h", "b.a.h", "ah", "1.2.3.4")
    for port in ("", ":81")
    for path in ("", "/", "/a", "/a/", "/b", "/b/", "/a/a", "/a/b/", "/b/a", "/a/../b", "/a/b/a")
    for end in ("", "?q", "#f")
]


@given(texts, texts)
@settings(max_examples=400, deadline=None)
@example("https://h/a/**", "https://h/*/")
def test_comparisons_hold_for_single_urls(one: str, two: str) -> None:
    wide, narrow = UrlPattern.parse(one), UrlPattern.parse(two)
    in_wide = {url for url in URLS if wide.matches(url)}
    in_narrow = {url for url in URLS if narrow.matches(url)}
    if wide.includes(narrow):
        assert in_narrow <= in_wide
    if in_wide & in_narrow:
        assert wide.intersects(narrow)
        assert UrlSet([narrow]).intersects(wide)
    assert in_wide <= {url for url in URLS if wide.could_match(url)}
    assert in_wide | in_narrow == {url for url in URLS if UrlSet([wide, narrow]).matches(url)}
    assert wide.matches(parse_url(wide.sample()))


@given(st.one_of(st.text(max_size=20), st.text("htps:/.@#?[]%\\ a1-", max_size=20).map("https://".__add__)))
@settings(max_examples=500, deadline=None)
def test_any_text_parses_to_itself_or_is_refused(text: str) -> None:
    try:
        url = parse_url(text)
    except UrlError:
        return
    assert parse_url(str(url)) == url


def test_sets_are_values() -> None:
    assert (len(APIS), bool(APIS), bool(UrlSet())) == (3, True, False)
    assert UrlSet(APIS) == APIS
    assert hash(UrlSet(list(APIS))) == hash(APIS)
    assert pickle.loads(pickle.dumps(APIS)) == APIS
    assert repr(APIS).startswith("UrlSet(['https://api.github.com/**'")
    assert not UrlSet().matches(parse_url("https://h"))
    assert not UrlSet().includes(UrlPattern.parse("https://h"))
    with pytest.raises(AttributeError):
        APIS.patterns = ()
    with pytest.raises(AttributeError):
        del APIS.patterns


# Path scopes as agents' matrices write them, with a naive normalisation in front.

SCOPES = {
    "research": ["research/*.yaml"],
    "reports": ["verification-reports/*.yaml"],
    "docs": ["docs/**"],
    "backend": ["src/**", "tests/**", "migrations/**"],
}


def _allowed(scope: str, argument: str) -> bool:
    root = "/workspace/proj"
    if not argument or "\\" in argument or re.search(r"[\x00-\x1f\x7f]", argument):
        return False
    path = posixpath.normpath(posixpath.join(root, argument))
    return path.startswith(root + "/") and GlobSet(map(Glob.parse, SCOPES[scope])).matches(path[len(root) + 1 :])


@pytest.mark.parametrize(
    ("scope", "arguments"),
    [
        (
            "research",
            [
                "research/2026-11-15-auth.yaml",
                "research/a b.yaml",
                "research/Zürich.yaml",
                "research/UP.yaml",
            ],
        ),
        (
            "research",
            ["research/résumé-études.yaml", "research/dotdot..yaml.yaml", "research/../research/x.yaml"],
        ),
        ("reports", ["./verification-reports/a.yaml", "/workspace/proj/verification-reports/V-002.yaml"]),
        (
            "docs",
            [
                "docs/index.md",
                "docs/C#-notes (draft).md",
                "docs/docs/docs.md",
                "docs/a..b.md",
                "./docs/f/i.html",
            ],
        ),
        (
            "backend",
            ["tests/unit/data/x.json", "src/.hidden/cfg.toml", "src/a b.py", "src/utils/..data/x.py"],
        ),
    ],
)
def test_paths_in_scope(scope: str, arguments: list[str]) -> None:
    assert [argument for argument in arguments if not _allowed(scope, argument)] == []


@pytest.mark.parametrize(
    ("scope", "arguments"),
    [
        (
            "research",
            [
                "",
                "research.yaml",
                "research/.yaml",
                "research/x.YAML",
                "research/x.yaml~",
                " research/x.yaml",
            ],
        ),
        (
            "research",
            ["rеsearch/x.yaml", "research\u200b/x.yaml", "~/research/x.yaml", "$HOME/research/x.yaml"],
        ),
        (
            "research",
            ["research/x\x00.yaml", "research/x.yaml\r", "../.env\nresearch/x.yaml", "C:\\research\\x.yaml"],
        ),
        ("research", ["research/./../config.yaml", "research/x.yaml/../../.env.yaml", "/research/x.yaml"]),
        ("reports", ["verification-reports/a.yaml\n", "verification-reports/../research/x.yaml"]),
        (
            "docs",
            ["docs", "docs/..", "docsx.md", "docs⁄x.md", "docs/../../etc/passwd", "/docs/x.md", "DOCS/x.md"],
        ),
        (
            "backend",
            [
                "src/app.py\n",
                "SRC/app.py",
                "src2/app.py",
                "tests/../migrations/../.env",
                "docs/explanation/x",
            ],
        ),
    ],
)
def test_paths_out_of_scope(scope: str, arguments: list[str]) -> None:
    assert [argument for argument in arguments if _allowed(scope, argument)] == []


@pytest.mark.parametrize(
    ("one", "two", "answer"),
    [
        ("https://x.example/a/**", "https://x.example/**", True),
        ("https://*.x.example/**", "https://a.x.example/b", True),
        ("https://x.example/a", "https://x.example/b", False),
        ("https://x.example/**", "http://x.example/**", False),
        ("https://x.example/**", "https://y.example/**", False),
        ("https://x.example:8443/**", "https://x.example/**", False),
        ("https://x.example:8443/**", "https://x.example:*/**", True),
        ("https://x.example:8443/a", "https://y.example:8443/a", False),
        ("http://x.example/a", "https://x.example/a", False),
    ],
)
def test_intersects(one: str, two: str, answer: bool) -> None:
    assert UrlPattern.parse(one).intersects(UrlPattern.parse(two)) is answer
    assert UrlPattern.parse(two).intersects(UrlPattern.parse(one)) is answer


@pytest.mark.parametrize(
    ("reach", "host", "expected"),
    [
        ("https://*.x.example/**", "a.x.example", "deny may-not"),  # it could be that one
        ("https://**", "a.x.example", "deny may-not"),
        ("https://a.x.example/**", "a.x.example", "deny may-not"),
        ("https://a.x.example/**", "*.x.example", "deny may-not"),
        ("https://b.x.example/**", "a.x.example", "allow"),
    ],
)
def test_a_prohibited_host_is_touched_by_every_url_that_could_be_there(reach: str, host: str, expected: str) -> None:
    tools = {"call": {"args": {}, "does": {"network": reach}}}
    agents = {"a": {"may": ["call"], "may_not": [{"host": host}]}}
    assert outcome(book(tools=tools, agents=agents, tiers={"2": "allow", "3": "allow"}), "call") == expected


def test_a_host_has_at_most_253_characters() -> None:
    host = ".".join(["a" * 63] * 3 + ["b" * 61])
    assert parse_host(host) == host
    with pytest.raises(UrlError, match="too long"):
        parse_host("b" + host)


@pytest.mark.parametrize(
    ("scheme", "port"),
    [("http", 80), ("https", 443), ("ws", 80), ("wss", 443), ("ftp", 21), ("ssh", 22), ("git", 9418)],
)
def test_the_usual_port_of_a_scheme_need_not_be_written(scheme: str, port: int) -> None:
    pattern = UrlPattern.parse(f"{scheme}://x.example/**")
    assert pattern.matches(parse_url(f"{scheme}://x.example:{port}/a"))
    assert pattern.matches(parse_url(f"{scheme}://x.example/a"))
    assert not pattern.matches(parse_url(f"{scheme}://x.example:{port + 1}/a"))


def test_a_url_has_at_most_8192_characters() -> None:
    start = "https://x.example/"
    assert parse_url(start + "a" * (8192 - len(start))).host == "x.example"
    with pytest.raises(UrlError, match="a URL of more than 8192 characters"):
        parse_url(start + "a" * (8193 - len(start)))
    with pytest.raises(UrlError, match="backslash"):
        parse_url(start + "\\" * (8192 - len(start)))


@pytest.mark.parametrize(
    ("text", "near"), [("htps://x.example/**", "https"), ("sftp://x.example/**", None), ("s3://x/**", None)]
)
def test_a_scheme_that_is_a_slip_of_a_known_one(text, near):
    assert [found.near for found in kind_of("url").misnamed([text])] == ([near] if near else [])
