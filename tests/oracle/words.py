"""The names, patterns and values that the generator draws from.

Names and wildcards are those that the universe of `naive_globs` was made for.
"""

from __future__ import annotations

from typing import Any

AGENTS = ("ann", "bob", "cy", "dee")
ROLES = ("dev", "ops", "lead", "any:one")
RUNNERS = ("git-run", "ci-run")
SKILLS = ("plan", "test", "ship")
MOMENTS = ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z", "2027-01-01T00:00:00Z")
EFFECTS = (
    *("read", "write", "delete", "execute", "network", "install"),
    *("migrate", "publish", "deploy", "system", "pay", "message", "delegate"),
)
PATH_EFFECTS = ("read", "read", "write", "write", "delete")

PATTERNS = (
    *("**", "docs/**", "src/**", "a/**", "a/b/**", "**/*.md", "*.md", "docs/*.md", "*", "a/*", "src/a", "docs/x.md"),
    *(
        "DOCS/**",
        "{a,docs}/**",
        "[ab]/**",
        "?/**",
        "a*",
        "src/[!a]",
        "**/a",
        "a/**/b",
        "deploy/**",
        "*/**",
        "docs/**/*.md",
    ),
    *("docs/a*", "**/z", "src/{a,b}", "**/.git/**", "a/b", "c", "**/docs/**", "[a-c]"),
)
GLOBS = (
    *("**", "*", "*.md", "docs/*", "docs/**", "a/**", "**/*.md", "src/", "a*", "docs/a*", "?", "{a,docs}/*", "[ab]/*"),
    *("DOCS/**", "**/a", "a/b/*", "src/**/*.md", "a.md", ".r*/z", "{a,.remit}/*", "./a/*", "/w/a/*", "/w/**", "docs"),
    *("src/*.md", "z", "**/", "?remit"),
)
BAD_GLOBS = ("[", "{a", "../a/*", "a/../*", "/etc/*", "/**", "a\\b", "a\u200b*", "a//b")
SEGMENTS = ("a", "b", "c", "z", "docs", "src", "x.md", "a.md", "ab", "DOCS", "deploy", ".git", ".remit", ".github")
STRANGE_PATHS = (
    *("", "a//b", "../a", "a/../../b", "a/../b", "./a", "a/.", ".", "..", "/", "/w", "/w/docs/x.md", "/w/../tmp/z"),
    *("/tmp/z", "/tmp", "/etc/a", "~/a", "C:/a", "$HOME/a", "${A}/a", "$(a)", "a\\b", "docs/", "src/a/", "a\u200bb"),
    *(
        "a\x00",
        "ＤＯＣＳ/a",
        ".GIT/config",
        ".Remit/x",
        "a/.git",
        ".github/hooks/z",
        ".github/hooks",
        ".github",
        ".vscode",
    ),
    *("deploy", "DEPLOY/z", "package.json", "A/Package.json", "a.pem", "db/migrations/z", ".mcp.json", "a" * 4097),
    *("a/" * 20 + "b", "ſrc/a", "/w/a/", "/ww/a", "/w/.remit/z", "docs/..", "src/./a", "Jenkinsfile", "q/q/q/q/q"),
)
CWDS = (None, None, None, None, ".", "a", "docs", "src/a", "/w/docs", "/tmp", "a/..", "..", "a//b", "/w")
ROOTS = (None, "/w", "/w", "/w", "/w/p")
OUTSIDES = ("/tmp/**", "/etc/*", "/**", "/tmp/z")
LINKS = (
    "/w/a",
    "/w/docs/x.md",
    "/w",
    "/tmp/z",
    "/w/.git/z",
    "/w/src/a",
    "/w/DOCS/a",
    "/etc/a",
    "/w/deploy/z",
    "/w/.g\u200bit/z",
)

ARGS: dict[str, Any] = {
    "p": "path",
    "q": "path",
    "ps[]": "path",
    "items[].path": "path",
    "items[].note": "text",
    "opt.path": "path",
    "g": "glob",
    "gs[]": "glob",
    "u": "url",
    "us[]": "url",
    "to": "agent",
    "s": "skill",
    "t": "text",
    "n": "number",
    "f": "flag",
    "j": "json",
    "mode": {"one_of": ["fast", "slow", 1, True, 2.5]},
    "deep.in[].url": "url",
    "ns[]": "number",
    "items[].to": "account",
    "mail": "email",
    "mails[]": "email",
    "iban": "account",
    "at": "host",
    "day": "date",
    "gp": {"glob": "p"},
    "gs2[]": {"glob": "p"},
}
ADDRESSES: dict[str, tuple[str, ...]] = {
    "email": (
        *("a@x.example", "A@x.example", "a+1@x.example", "b@X.example", "a@y.x.example", "Ann <a@x.example>"),
        *('"A. B" <b@x.example>', "b@other.example"),
    ),
    "account": (
        "DE89370400440532013000",
        "de89 3704 0044 0532 0130 00",
        "C-17",
        "c17",
        "C-18",
        "GB82 WEST 1234 5698 7654 32",
    ),
    "host": ("x.example", "X.example", "x.example:8080", "w.x.example", "a.example", "127.0.0.1", "a.example:443"),
    "date": (
        *("2027-03-01", "2027-03-02", "2027-02-28T23:30:00Z", "2027-03-01T00:30:00+01:00", "2027-03-01T12:00Z"),
        *("2027-03-02T00:00:00.5Z", "2026-01-01"),
    ),
}
BAD_ADDRESSES: dict[str, tuple[str, ...]] = {
    "email": ("a@x", "a@b@x.example", "a,b@x.example", "<a@x.example", "a..b@x.example", "-a@x.example", "é@x.example"),
    "account": ("DE88370400440532013000", "C 17", "-C", "", "C-17\n", "ä"),
    "host": ("x.example.", "http://x.example", "x.example:0", "127.1", "x..example", "x.example:"),
    "date": ("2027-02-30", "2027-3-1", "2027-03-01T12:00", "2027-W09-1", "2027-03-01T25:00Z", "tomorrow"),
}
ADDRESS_SCOPES: dict[str, tuple[object, ...]] = {
    "email": ("a@x.example", "*@x.example", "*@*.x.example", "A@x.example", "b@other.example"),
    "account": ("DE89 3704 0044 0532 0130 00", "C-17", "C-18", "gb82west12345698765432"),
    "host": ("x.example", "*.x.example", "x.example:8080", "x.example:*", "a.example", "127.0.0.1"),
    "date": (
        *("2027-03-01", "2027-03-01T12:00Z", {"from": "2027-03-01"}, {"until": "2027-03-02"}),
        {"from": "2027-03-01", "until": "2027-03-02T00:00:00.5Z"},
    ),
}
COMMON = (
    *(
        "p",
        "p",
        "p",
        "q",
        "ps[]",
        "items[].path",
        "g",
        "gp",
        "u",
        "u",
        "to",
        "s",
        "t",
        "n",
        "mode",
        "opt.path",
        "mail",
        "iban",
    ),
)

RARE = tuple(ARGS)
"""Shell and SQL texts have tests of their own (tests/languages); the oracle draws none."""


def kind_of(declared: Any) -> str:
    """The kind of an argument as it is declared."""
    return declared if isinstance(declared, str) else next(iter(declared))
