"""Examples in a document against its own tables: who may use a tool, how many tools there are, what a class has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from remit.scan.files import Text
from remit.scan.lint.finding import finding
from remit.scan.markdown import Code, Document, read_markdown
from remit.scan.model import Account, Entry, Finding, Kind, Place
from remit.scan.names import Names, is_short_for, key_of
from remit.scan.records import declared
from remit.scan.vocabulary import tool_key

_TOTAL = re.compile(
    r"\b(?P<part>\d{1,4})/(?P<total>\d{1,4}) tools\b|\btotal_?tools[\"']?\s*[:=]\s*(?P<whole>\d{1,4})\b", re.IGNORECASE
)
_OWN = re.compile(
    r"\b(?P<part>\d{1,4})/\d{1,4} tools accessible\b|\baccessible_?tools[\"']?\s*[:=]\s*(?P<whole>\d{1,4})\b",
    re.IGNORECASE,
)
_CALLER = re.compile(r"\b[A-Z]\w*\.([A-Z][A-Z0-9_]{2,60})\b")
_GROUP = re.compile(r"^[ \t]*[-*][ \t]+`?(\w{2,40})`?:[ \t]*(\d{1,3}) tools?[ \t]*$", re.MULTILINE)
_TAGGED = re.compile(r"^[ \t]*[-*][ \t]+`?[\w./-]{2,60}`?[ \t]+\((\w{2,40})/", re.MULTILINE)
_WRONG = re.compile(
    r"❌|🚫|\b(?:incorrect|wrong|bad|anti-?patterns?|mistakes?|don['’]ts?|do not|avoid|never|invalid|insecure"
    r"|falsch\w*|incorrect[oa]s?|errad[oa]s?"
    r"|mauvais\w*)\b|错误|反例|잘못|間違",
    re.IGNORECASE,
)
_MARKED_WRONG = re.compile(r"(?://|#|--|/\*)\s*(?:❌|🚫|✗|(?i:wrong|bad|incorrect|don['’]t)\b)")
_INVENTED = re.compile(r"(?:new|my|your|example|some|foo|sample|demo)[A-Z_]")


def example_findings(text: Text, accounts: Sequence[Account], tools: dict[str, Place]) -> Iterator[Finding]:
    """`accessibleBy` in a document's examples against its tables."""
    if not tools:
        return
    rows = {tool_key(name): place for name, place in tools.items()}
    table: dict[str, dict[str, Entry]] = {}
    for account in accounts:
        if account.kind is Kind.MATRIX and not account.closed:
            table.setdefault(key_of(account.agent), {}).update(
                {tool_key(entry.tool): entry for entry in account.entries}
            )
    missing: dict[str, Place] = {}
    seen: set[tuple[str, str]] = set()
    callers = Names(account.agent for account in accounts)
    for example in declared(_without_wrong(text)):
        agent = callers.resolve(example.agent)
        for entry in example.entries:
            key = tool_key(entry.tool)
            if key not in rows:
                missing.setdefault(entry.tool, entry.place)
            elif (example.agent, key) not in seen and _nobody_holds(key, agent, example.agent, table):
                seen.add((example.agent, key))
                yield finding(
                    "example-against-table",
                    f"an example grants `{entry.tool}`; the table does not",
                    entry.place,
                    rows[key],
                    agent=example.agent,
                )
    names = [name for name in missing if not _INVENTED.match(name)]
    if names:
        listed = ", ".join(f"`{name}`" for name in names[:6]) + (
            f" and {len(names) - 6} more" if len(names) > 6 else ""
        )
        yield finding(
            "undefined-name", f"in examples and in no table: {listed}", *tuple(missing[name] for name in names[:6])
        )


def _without_wrong(text: Text) -> Text:
    """The text without its examples of what is wrong, by a heading over them or by their first line; lines stay."""
    rows = text.text.split("\n")
    for block in read_markdown(text.text).code:
        first = block.text.lstrip().partition("\n")[0]
        if any(map(_WRONG.search, block.headings[-2:])) or _MARKED_WRONG.match(first):
            end = block.line - 1 + block.text.count("\n") + 1
            rows[block.line - 1 : end] = [""] * len(rows[block.line - 1 : end])
    return Text(text.path, "\n".join(rows))


def _nobody_holds(tool: str, agent: str | None, written: str, table: dict[str, dict[str, Entry]]) -> bool:
    """Whether the table gives a tool to none of those whom a name can mean."""
    meant = [key_of(agent)] if agent is not None else [key for key in table if is_short_for(written, key)]
    return bool(meant) and not any(tool in table.get(key, {}) for key in meant)


def total_findings(
    text: Text, document: Document, granted: Mapping[str, set[str]], total: int, tools: dict[str, Place]
) -> Iterator[Finding]:
    """Examples that count other tools than the tables have or grant, or than they list themselves."""
    seen: set[int] = set()
    names = Names(granted)
    for block in document.code:
        yield from _groups_of(text, block)
        for match in _OWN.finditer(block.text) if tools else ():
            callers = _CALLER.findall(block.text[max(0, match.start() - 1000) : match.start()])
            caller = names.resolve(callers[-1]) if callers else None
            said = int(match["part"] or match["whole"])
            if caller is not None and said != len(granted[caller]):
                yield finding(
                    "count-mismatch/miscount",
                    f"an example says that it may use {said} tools, the tables grant {len(granted[caller])}",
                    Place(text.path, block.line + block.text.count("\n", 0, match.start())),
                    next(iter(tools.values())),
                    agent=callers[-1],
                    real=len(granted[caller]),
                )
        for match in _TOTAL.finditer(block.text):
            said = int(match["total"] or match["whole"])
            if tools and said != total and said not in seen:
                seen.add(said)
                line = block.line + block.text.count("\n", 0, match.start())
                yield finding(
                    "count-mismatch/totals",
                    f"an example counts {said} tools; the tables list {total}",
                    Place(text.path, line),
                    next(iter(tools.values())),
                    total=total,
                )


def _groups_of(text: Text, block: Code) -> Iterator[Finding]:
    """ "atomic: 3 tools" in an example that lists four tools as atomic."""
    listed = [match[1].lower() for match in _TAGGED.finditer(block.text)]
    for match in _GROUP.finditer(block.text):
        said, real = int(match[2]), listed.count(match[1].lower())
        if real and said != real:
            place = Place(text.path, block.line + block.text.count("\n", 0, match.start(1)))
            name = match[1]
            yield finding(
                "count-mismatch", f"an example says {said} {name} tools, and lists {real} below", place, one=real
            )
