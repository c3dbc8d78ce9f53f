"""The site that `make docs` builds: every page has its place, nothing on it is broken, and it needs no other host."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.story import blocks_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPHINX = ROOT / ".venv-docs" / "bin" / "python"
FETCHED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""")
IN_STYLES = re.compile(r"""(?:@import\s+|url\()["']?((?:https?:)?//[^"')]+)""")


def in_trees() -> list[str]:
    """The pages that some table of contents names."""
    found = []
    for page in DOCS.glob("**/*.md"):
        for tree in TREE.findall(page.read_text("utf-8")):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            found += [(page.parent / f"{line}.md").relative_to(DOCS).as_posix() for line in lines]
    return found


def test_every_page_has_one_place() -> None:
    pages = Counter(page.relative_to(DOCS).as_posix() for page in DOCS.glob("**/*.md"))
    assert Counter(in_trees()) == pages - Counter(["index.md"])


def test_every_how_to_is_on_the_list_of_them() -> None:
    page = (DOCS / "howto" / "index.md").read_text("utf-8")
    names = {file.name for file in (DOCS / "howto").glob("*.md")} - {"index.md"}
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", page)) == names


def test_the_start_page_shows_the_commands_of_the_readme() -> None:
    [shown] = [block.text for block in blocks_of(DOCS / "index.md") if block.language == "sh"]
    assert shown == next(block.text for block in blocks_of(ROOT / "README.md") if block.language == "sh")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not SPHINX.exists():
        pytest.skip("`make docs` has not made .venv-docs")
    folder = tmp_path_factory.mktemp("site")
    command = [str(SPHINX), "-m", "sphinx", "--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "-d"]
    built = subprocess.run(
        [*command, str(folder / "trees"), "docs", str(folder / "html")], cwd=ROOT, capture_output=True
    )
    assert (built.returncode, built.stderr.decode()) == (0, "")
    return folder / "html"


@pytest.mark.hosts
def test_it_is_built_and_fetches_nothing(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    texts = {file: file.read_text("utf-8") for file in [*pages, *site.rglob("*.css")]}
    fetched = {
        file.name: found for file, text in texts.items() if (found := FETCHED.findall(text) + IN_STYLES.findall(text))
    }
    assert fetched == {}
    assert list(site.glob("_downloads/*/policy.schema.json"))
    assert "copybutton.js" in texts[site / "tutorial.html"], "code can be copied"


@pytest.fixture
def browser() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("there is no Chromium")
    return program


@pytest.mark.hosts
@pytest.mark.parametrize("width", [500, 820, 1200, 1440, 1920])
def test_no_page_is_wider_than_the_window(site: Path, browser: str, width: int, tmp_path: Path) -> None:
    """Tables and code scroll by themselves; the page and its contents on the right don't."""
    frame = tmp_path / "frame.html"
    pages = ["index.html", "tutorial.html", "policy.html", "codes.html", "benchmarks.html"]
    frames = "".join(f'<iframe src="{(site / name).as_uri()}" width="{width}" height="800"></iframe>' for name in pages)
    script = (
        "onload = () => document.title = [...document.querySelectorAll('iframe')].map(one => {"
        " const page = one.contentDocument.documentElement; return page.scrollWidth - page.clientWidth;"
        "}).join(' ')"
    )
    frame.write_text(f"<title>unset</title>{frames}<script>{script}</script>", "utf-8")
    shown, _ = in_browser(browser, frame.as_uri(), tmp_path, "--allow-file-access-from-files")
    assert re.findall("<title>(.*?)</title>", shown)[:1] == [" ".join("0" for _ in pages)]


@pytest.mark.hosts
def test_it_is_read_and_searched_in_a_browser_without_a_network(site: Path, browser: str, tmp_path: Path) -> None:
    search, fetched = in_browser(browser, f"{(site / 'search.html').as_uri()}?q=refund", tmp_path)
    assert "howto/refunds.html" in search, "the search finds the page"
    assert fetched == []
    front, fetched = in_browser(browser, (site / "index.html").as_uri(), tmp_path)
    assert [title for title in ("Start", "How-to", "Reference", "Explanation") if title not in front] == []
    assert fetched == []
    (tmp_path / "other.html").write_text('<img src="https://other.example/x.png">')
    assert in_browser(browser, (tmp_path / "other.html").as_uri(), tmp_path)[1] == ["https://other.example/x.png"]


def in_browser(program: str, url: str, folder: Path, *more: str) -> tuple[str, list[str]]:
    """The page as it is once its scripts have run, and what it asked other hosts for (the browser itself does, too)."""
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"]
    flags += [
        f"--user-data-dir={folder / 'browser'}",
        f"--log-net-log={folder / 'net.json'}",
        "--virtual-time-budget=10000",
    ]
    run = subprocess.run([program, *flags, *more, "--dump-dom", url], capture_output=True, timeout=300)
    assert run.returncode == 0, run.stderr.decode(errors="replace")[-2000:]
    events = json.loads((folder / "net.json").read_text("utf-8"))["events"]
    asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
    urls = {str(one.get("url")) for one in asked if one["initiator"] != "not an origin"}
    return run.stdout.decode(), sorted(url for url in urls if url.startswith(("http:", "https:")))
