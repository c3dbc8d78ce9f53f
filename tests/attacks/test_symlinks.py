"""Leaving a scope through the file system: links that point elsewhere, set up for real below a temporary root."""

import pytest

from remit.compile import load_rulebook
from remit.enforce.paths import open_root
from remit.model import Facts
from tests.attacks.test_corpus import HERE, answer


@pytest.fixture(scope="module")
def rulebook():
    return load_rulebook(HERE / "policy.yaml")


# scope, links to set up (from → to, relative to the root), the path that is written, what must come of it
TRICKS = [
    ("docs_write", {}, "docs/a.md", "allow"),
    ("docs_write", {"docs/same": "guide"}, "docs/same/a.md", "allow"),
    ("docs_write", {"docs/up": ".."}, "docs/up/docs/a.md", "allow"),
    ("docs_write", {"manual": "docs"}, "manual/a.md", "allow"),
    ("docs_write", {"docs/out": "../src"}, "docs/out/a.md", "deny"),
    ("docs_write", {"docs/a.md": "../src/main.py"}, "docs/a.md", "deny"),
    ("docs_write", {"docs/etc": "/etc"}, "docs/etc/cron.d/x", "deny"),
    ("docs_write", {"docs/root": "/"}, "docs/root/tmp/x", "deny"),
    ("docs_write", {"docs/one": "two", "docs/two": "../src"}, "docs/one/a.md", "deny"),
    ("docs_write", {"docs/loop": "loop"}, "docs/loop", "deny"),
    ("docs_write", {"docs/gone": "../nowhere/x"}, "docs/gone", "deny"),
    ("docs_write", {"docs/hooks": "../.git/hooks"}, "docs/hooks/pre-commit", "deny"),
    ("docs_write", {"docs/out": "../src"}, "docs/out/../docs/a.md", "allow"),
    ("docs_write", {"docs/out": "../src/pkg"}, "docs/out/../a.md", "deny"),
    ("research_yaml_create", {"research": "src"}, "research/a.yaml", "deny"),
    ("research_yaml_create", {"research/a.yaml": "../.env"}, "research/a.yaml", "deny"),
    ("verification_reports_create", {"verification-reports": "research"}, "verification-reports/a.yaml", "deny"),
    ("backend_locks", {"src/pkg": "../docs"}, "src/pkg/a.py", "deny"),
    ("backend_locks", {"src/pkg": "../tests"}, "src/pkg/test_a.py", "allow"),
    ("backend_locks", {"src/pkg": "../docs/explanation"}, "src/pkg/a.md", "deny"),
]


def set_up(root, links) -> None:
    for name in ("docs/guide", "src", "research", "tests", "docs/explanation", ".git/hooks"):
        if not any(link == name or name.startswith(f"{link}/") for link in links):
            (root / name).mkdir(parents=True, exist_ok=True)
    for link, target in links.items():
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(target)


@pytest.mark.parametrize(("scope", "links", "path", "expected"), TRICKS)
def test_links(rulebook, tmp_path, scope, links, path, expected):
    set_up(tmp_path, links)
    _, facts = open_root(tmp_path, HERE / "policy.yaml", Facts())
    row = {"id": "x", "scope": scope, "input": path}
    assert answer(rulebook, row, facts)[0] == expected


@pytest.mark.parametrize(
    ("scope", "links", "path", "expected"), [trick for trick in TRICKS if trick[3] == "deny" and trick[1]]
)
def test_without_the_link_it_would_be_allowed(rulebook, tmp_path, scope, links, path, expected):
    """Each trick rests on its link alone."""
    set_up(tmp_path, {})
    _, facts = open_root(tmp_path, HERE / "policy.yaml", Facts())
    row = {"id": "x", "scope": scope, "input": path}
    assert answer(rulebook, row, facts)[0] == "allow"
