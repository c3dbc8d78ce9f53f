"""What a definition says that its agent works with: skills, commands and agents, in its head and under headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remit.scan.files import Text
from remit.scan.front_matter import Head, read_head
from remit.scan.markdown import read_markdown
from remit.scan.model import Place
from remit.scan.rosters import Mention, is_name
from remit.scan.vocabulary import bare, section, without_emoji, words

_ITEM = re.compile(r"^(?:\*\*)?`([@/$]?[\w][\w./-]*)(?:\s+[<\[(][^`]*)?`(?:\*\*)?\s*(?:[—–:：(,-]|$)")
"""An item that begins with a name in marks of code."""
_COLLEAGUE = re.compile(
    r"^(\*\*|`|\*\*`|)@?([A-Za-z][\w.&-]*(?: [\w.&-]+){0,3}?)[`*]*(?:\s+(?:[—–→-]|\()\s*|\s*[:：]|$)"
)
"""An item that begins with the name of an agent, set off or alone."""
_MOST = 200


def needs_of(text: Text) -> Iterator[Mention]:
    """The names in the head and in the lists of a definition; the form of each is the kind of what it names."""
    head = read_head(text.text)
    if head is None:
        return
    yield from list(_in_head(text, head))[:_MOST]
    yield from list(_in_lists(text, head))[:_MOST]


def _in_head(text: Text, head: Head) -> Iterator[Mention]:
    for kind, keys in section("needs_in_heads").items():
        for key in keys:
            value = head.values.get(key)
            for name in value if isinstance(value, list) else ():
                if isinstance(name, str) and re.fullmatch(r"[@/]?\w[\w.-]*", name):
                    at = _line(text, head.line(key), name)
                    yield Mention(name, kind, Place(text.path, at))


def _line(text: Text, first: int, name: str) -> int:
    """The line of a name in a list of the head that begins at a line."""
    rows = text.text.split("\n")[first - 1 : first + 60]
    return next(
        (first + n for n, row in enumerate(rows) if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", row)), first
    )


def _in_lists(text: Text, head: Head) -> Iterator[Mention]:
    headings = {word: kind for kind, found in section("needs_in_lists").items() for word in found}
    for line in read_markdown(head.body[:60_000], head.body_line).lines:
        if line.item and line.headings:
            title = without_emoji(bare(line.headings[-1])).lower().strip(" :：")
            match = _ITEM.match(line.text) if title in headings else None
            if match is not None:
                yield Mention(match[1], headings[title], Place(text.path, line.line))


def colleagues_of(text: Text) -> Iterator[Mention]:
    """The agents that a definition lists as those its agent works with; the form is how they are set off."""
    head = read_head(text.text)
    if head is None:
        return
    titles = words("colleagues", "")
    under = ""
    above: tuple[str, ...] = ()
    for line in read_markdown(head.body[:60_000], head.body_line).lines[: 10 * _MOST]:
        title = _title(line.text) if not line.item else ""
        if line.headings != above:
            under, above = _title(line.headings[-1]) if line.headings else "", line.headings
        if not line.item:
            under = title if title in titles else ""
            continue
        match = _COLLEAGUE.match(line.text) if under in titles else None
        if match is not None and is_name(match[2]):
            yield Mention(match[2], match[1], Place(text.path, line.line))


def _title(written: str) -> str:
    """A heading, or a line that introduces a list, in plain words."""
    plain = without_emoji(bare(written)).lower().replace("*", "").strip(" :：")
    return re.sub(r"^(?:this|the) agent ", "", plain)
