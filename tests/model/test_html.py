"""The frame of every page: nothing from elsewhere, only its own script, and no text becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from remit.model.html import html_file, text
from remit.model.shipped import HOME

EVIL = "<script>alert(1)</script><!--about-->\"'&\u202e"
PAGES = sorted(path.name.removesuffix(".html") for path in Path(HOME, "catalog/pages").glob("*"))


def test_parts_are_put_where_the_template_says():
    page = html_file("plain", title=EVIL, heading=text(EVIL), about="about", facts="", sections="")
    assert "<script>alert" not in page
    assert page.count("about") == 3  # the part itself, and what the two hostile texts show of theirs
    assert "script-src 'none'" in page


@pytest.mark.parametrize("parts", [{}, {"heading": "", "about": "", "facts": "", "sections": "", "more": ""}])
def test_a_part_too_many_or_too_few_is_a_fault(parts: dict[str, str]):
    with pytest.raises(KeyError):
        html_file("plain", title="x", **parts)


@pytest.mark.parametrize("name", [page for page in PAGES if page != "frame"])
def test_only_the_script_of_the_page_may_run(name: str):
    body = Path(HOME, "catalog", "pages", f"{name}.html").read_text("utf-8")
    parts = dict.fromkeys(re.findall(r"<!--([a-z_]+)-->", body), "")
    page = html_file(name, title="x", **parts)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    allowed = re.search(r"script-src ([^\"]*)", page)
    assert allowed is not None
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert allowed[1] == (" ".join(f"'sha256-{one}'" for one in hashes) or "'none'")
    assert not re.search(r"(?:src|href)=|@import|url\(|https?:", page)
