"""Opens pages in a real browser and does what a reader would. Run by test_pages.py, with a Python with Playwright.

    python browse.py BROWSER STEPS

STEPS is a JSON file: pages by name, each with a path and a list of steps. What was seen comes back as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright


def main(browser: str, steps: str) -> None:
    """Prints what each page showed, step by step, and whatever it complained about or asked of the network."""
    seen: dict[str, Any] = {}
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, told in json.loads(Path(steps).read_text("utf-8")).items():
            page = running.new_page(viewport={"width": 1280, "height": 800})
            troubles: list[str] = []
            page.on("console", lambda message, into=troubles: into.append(message.text))
            page.on("pageerror", lambda error, into=troubles: into.append(str(error)))
            page.on("dialog", lambda dialog, into=troubles: (into.append("a dialog"), dialog.dismiss()))
            page.on("request", lambda request, into=troubles: _asked(request.url, into))
            page.goto(Path(told["path"]).as_uri())
            found = [_done(page, *step) for step in told["steps"]]
            if told.get("picture"):
                page.screenshot(path=told["picture"])
            seen[name] = {"seen": found, "troubles": troubles}
            page.close()
        running.close()
    print(json.dumps(seen))


def _asked(url: str, into: list[str]) -> None:
    if not url.startswith("file:"):
        into.append(f"asked for {url}")


def _done(page: Page, what: str, where: str, value: str = "") -> Any:
    if what == "click":
        return page.click(where, timeout=20_000)
    if what == "fill":
        return page.fill(where, value, timeout=20_000)
    if what == "select":
        return page.select_option(where, value, timeout=20_000) and None
    if what == "press":
        return page.keyboard.press(where)
    if what == "texts":
        return [(one.text_content() or "").strip() for one in page.query_selector_all(where) if one.is_visible()]
    if what == "focus":
        return page.evaluate("document.activeElement.dataset.c || document.activeElement.id")
    raise SystemExit(f"no step {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
