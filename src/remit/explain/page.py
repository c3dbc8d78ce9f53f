"""A page that a busy person reads, as Markdown or HTML. INVARIANT: text from outside is escaped and bounded here.

page = Page("Task TASK-12", "store sessions in SQLite", [Section("Files", [[code("src/a.py"), " written once"]])])
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from remit.explain.visible import bounded
from remit.model.html import html_file

LONGEST = 400
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|<>~&-])")


class Code(NamedTuple):
    """Text as it is: a path, a command, a name."""

    text: str


Item = Sequence["str | Code"]
"""One line: our words, and what came from outside as Code."""


class Section(NamedTuple):
    """A heading and its lines."""

    title: str
    items: Sequence[Item]
    empty: str = "none"
    """What to say without any line."""
    alarm: bool = False


class Page(NamedTuple):
    """A title, a sentence, facts, and sections."""

    title: str
    about: str
    facts: Sequence[Item]
    sections: Sequence[Section]


def code(text: object) -> Code:
    """What came from outside, bounded; whatever can't be seen in it is named."""
    return Code(bounded(str(text), LONGEST))


def as_markdown(page: Page) -> str:
    """CommonMark."""
    lines = [f"# {_words(page.title)}", "", _words(page.about), "", *_list(page.facts)]
    for section in page.sections:
        lines += ["", f"## {'⚠ ' if section.alarm and section.items else ''}{_words(section.title)}", ""]
        lines += _list(section.items) if section.items else [_words(section.empty)]
    return "\n".join(lines) + "\n"


def as_html(page: Page) -> str:
    """One file that loads nothing and runs nothing."""
    parts = []
    for section in page.sections:
        alarm = section.alarm and section.items
        mark, kind = ("⚠ ", ' class="alarm"') if alarm else ("", "")
        parts.append(f"<section{kind}><h2>{mark}{escape(bounded(section.title, LONGEST))}</h2>")
        parts.append(_html_list(section.items) if section.items else f'<p class="none">{escape(section.empty)}</p>')
        parts.append("</section>")
    return html_file(
        "plain",
        title=page.title,
        heading=escape(bounded(page.title, LONGEST)),
        about=escape(bounded(page.about, 2_000)),
        facts=_html_list(page.facts),
        sections="\n".join(parts),
    )


def _list(items: Iterable[Item]) -> list[str]:
    return ["- " + "".join(_span(part) if isinstance(part, Code) else _words(part) for part in item) for item in items]


def _words(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", bounded(text, 2_000))


def _span(part: Code) -> str:
    """A code span, in more backticks than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", part.text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if part.text.startswith(("`", " ")) or part.text.endswith(("`", " ")) or not part.text else ""
    return f"{fence}{pad}{part.text}{pad}{fence}"


def _html_list(items: Iterable[Item]) -> str:
    lines = ("".join(_html(part) for part in item) for item in items)
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def _html(part: str | Code) -> str:
    return f"<code>{escape(part.text)}</code>" if isinstance(part, Code) else escape(bounded(part, 2_000))
