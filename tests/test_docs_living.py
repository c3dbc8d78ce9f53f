"""The page on tasks names every key of one; tests/test_docs_pages.py runs it."""

from __future__ import annotations

from pathlib import Path

from remit.declare.tasks import task

ROOT = Path(__file__).parent.parent


def test_every_key_of_a_task_is_documented() -> None:
    page = (ROOT / "docs" / "tasks.md").read_text("utf-8")
    for key in task.fields:
        assert f"`{key}`" in page, key
    budget = getattr(task.fields["budget"].shape, "fields", {})
    assert set(budget) == {"calls", "writes", "tools", "sum"}
    for key in budget:
        assert f"`{key}`" in page, key
