"""What tables say of agents besides their tools: the model that runs them, their skills, the commands that start them.

Each is compared with the heads of the definitions, with other tables, and with what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from remit.scan.files import Text
from remit.scan.front_matter import Head
from remit.scan.markdown import Document, Table
from remit.scan.model import Place
from remit.scan.rosters import thing_key
from remit.scan.statements import Statements
from remit.scan.vocabulary import bare, section, without_emoji, words

_ITEMS = re.compile(r"\s*(?:[,;、，·]|<br\s*/?>|\n|\s\+\s|\band\b)\s*")
_THING = re.compile(r"/?[a-z0-9][\w-]*(?::[\w-]+)?", re.IGNORECASE)
_COMMAND = re.compile(r"/[a-z][\w:-]{1,40}")
_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?", re.IGNORECASE)
_MOST = 300


class Attribute(msgspec.Struct, frozen=True):
    """What one place says of one agent under one heading."""

    agent: str
    kind: str
    """A key of the catalog's `attributes`."""
    values: tuple[str, ...]
    """The model as it is written, or the keys of names."""
    place: Place
    names: tuple[str, ...] = ()
    """The names as they are written."""
    whole: bool = True
    """Whether the heading means all of them."""


def in_head(agent: str, head: Head, path: str) -> Iterator[Attribute]:
    """What the head of a definition says."""
    model = head.values.get("model")
    if isinstance(model, str) and model.strip():
        yield Attribute(agent, "model", (model.strip(),), Place(path, head.line("model")))
    skills = head.values.get("skills")
    named = skills.split(",") if isinstance(skills, str) else skills
    if isinstance(named, list) and named and all(isinstance(one, str) for one in named):
        names = tuple(one.strip() for one in named if one.strip())
        yield Attribute(agent, "skills", tuple(map(thing_key, names)), Place(path, head.line("skills")), names)


def attributes_in(text: Text, document: Document, statements: Statements) -> Iterator[Attribute]:
    """What the tables of a document say of agents that are defined, and its groups of agents that one model runs."""
    for table in document.tables:
        column = statements.agents_down(table)
        if column is None:
            continue
        about = [_kind(heading) for heading in table.head.cells[:12]]
        for at, (kind, whole) in enumerate(about):
            if at == column or not kind or (kind == "model" and not whole):
                continue
            for row in table.rows[:_MOST]:
                agents = _agents(row.cells[column], statements)
                values = _values(kind, row.cells[at])
                if values is not None and (len(agents) == 1 or kind == "model"):
                    keys, names = values
                    for agent in agents:
                        yield Attribute(agent, kind, keys, Place(text.path, row.line), names, whole)
        model = _group_model(table.headings[-1]) if table.headings and ("model", True) not in about else None
        for row in table.rows[:_MOST] if model is not None else ():
            for agent in _agents(row.cells[column], statements):
                yield Attribute(agent, "model", (model or "",), Place(text.path, row.line), (model or "",))
    yield from _listed(text, document, statements)


def _agents(cell: str, statements: Statements) -> list[str]:
    """The agents of a cell; of a list only those that nothing more is said of."""
    parts = [one for one in _ITEMS.split(cell) if bare(one)]
    if len(parts) < 2:
        return statements.named(cell) or []
    each = [statements.named(one) for one in parts]
    if sum(one is not None for one in each) < 0.6 * len(each):
        return statements.named(cell) or []
    alone = zip(parts, each, strict=True)
    return [named[0] for part, named in alone if named is not None and not re.search(r"[(（]", part)]


def _group_model(heading: str) -> str | None:
    """The model that a heading gives to all agents below it: "Reviewers (opus)", "Haiku agents"."""
    plain = without_emoji(bare(heading[:200])).strip(" :")
    bracket = re.search(r"[(（\[]\s*([\w .-]{3,30}?)\s*[)）\]]\s*$", plain)
    model = bracket[1] if bracket is not None else ""
    if bracket is None:
        match = _OF_MODEL.fullmatch(plain)
        model = next((one for one in match.groups() if one), "") if match is not None else ""
    # the name of a model, and nothing about where or when
    return model if model and families(model) - {"inherit", "pro"} and _NAME_OF_MODEL.fullmatch(model) else None


_OF_MODEL = re.compile(
    r"([\w .-]{3,25}?)(?:[- ](?:tier|model))? (?:sub)?agents?(?: *[(（][^()]*[)）])?|(?:sub)?agents? (?:on|using|running on|with) ([\w .-]{3,25})",
    re.IGNORECASE,
)
_NAME_OF_MODEL = re.compile(r"(?:model:? ?)?(?:claude[ -]|gemini[ -])?[a-z]+(?:[ -]?\d+(?:\.\d+)?)?", re.IGNORECASE)
_ON_MODEL = re.compile(
    r"^\W{0,4}(?:\*\*|`)+@?([\w][\w .&-]{1,49}?)(?:\*\*|`)+\s*[(（\[]\s*(?:model:\s*)?`?([\w.-]{3,30})`?\s*[)）\]]",
    re.IGNORECASE,
)


_ALL_ON = re.compile(
    r"^\W{0,4}(?:all|every)\s+(?:of the |the |our )?(?:\d+ )?(?:sub)?agents?\s+(?:use|uses|run on|runs on|run with|are on|is on|default to)\s+(?:the |model )?[`*]*"
    r"(?P<model>[\w. -]{3,30}?)[`*]*(?: model)?\s*\.?$",
    re.IGNORECASE,
)


def _listed(text: Text, document: Document, statements: Statements) -> Iterator[Attribute]:
    """Items of a list that name an agent, with its model in brackets, or under a heading that gives all of them one."""
    for line in document.lines:
        if len(line.text) > 1_000:
            continue
        place = Place(text.path, line.line)
        every = _ALL_ON.match(line.text)
        if every is not None and _group_model(f"({every['model']})") is not None:
            for name in sorted(set(statements.known.by_key.values())):
                yield Attribute(name, "model", (every["model"],), place, (every["model"],))
        if not line.item:
            continue
        match = _ON_MODEL.match(line.text)
        named = statements.named(match[1]) if match is not None else None
        if match is not None and named and _group_model(f"({match[2]})") is not None:
            yield Attribute(named[0], "model", (match[2],), place, (match[2],))
            continue
        model = _group_model(line.headings[-1]) if line.headings else None
        first = _BEGINS.match(line.text)
        named = statements.named(first[1]) if model is not None and first is not None else None
        if model is not None and named is not None and len(named) == 1:
            yield Attribute(named[0], "model", (model,), place, (model,))


_BEGINS = re.compile(r"^\W{0,4}(?:\*\*|`)+@?([\w][\w .&-]{1,49}?)(?:\*\*|`)+")


def _kind(heading: str) -> tuple[str, bool]:
    """What a column says of an agent, and whether it means all of it."""
    plain = without_emoji(bare(heading)).lower().strip(" :：?")
    plain = re.sub(r"\s*(?:[/&+·]|\band\b).*$|\s*[(（][^()（）]*[)）]$", "", plain) or plain  # "Model / effort"
    for kind, headings in section("attributes").items():
        if plain in headings:
            return kind, True
        first, _, rest = plain.partition(" ")
        if rest in headings and first in words("some_of_them", ""):
            return kind, False
    return "", False


def _values(kind: str, cell: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """What a cell holds; None if it is no such thing, or leaves something open."""
    plain = bare(cell).strip()
    if re.fullmatch(r"\W*|(?i:none|n/a|tbd)", plain) or " / " in plain:  # nothing, or one of several
        return None
    if kind == "model":
        return ((plain,), (plain,)) if len(plain) < 60 and families(plain) else None
    names = [one.strip(" `*_[]()") for one in _ITEMS.split(plain) if one.strip(" `*_")]
    if not names or not all(_THING.fullmatch(one) for one in names):
        return None
    return tuple(map(thing_key, names)), tuple(names)


def families(model: str) -> frozenset[str]:
    """The words of a model's name that every spelling of it has: `sonnet-4-5-latest` is a sonnet."""
    return frozenset(
        word for word in _WORD.findall(model.lower()) if any(word in named for named in section("models").values())
    )


def versions(model: str) -> tuple[str, ...]:
    """The numbers of a model's name, without dates: 2.5 of `flash-2.5-pro-2025-05-06`."""
    undated = re.sub(r"\d{4}-?\d\d-?\d\d|[-_@]\d\d-\d\d\b|\d{4,}", "", model.lower())
    joined = re.sub(r"(?<=\d)-(?=\d(?!\d))", ".", undated)
    return tuple(re.sub(r"\.0$", "", number) for number in re.findall(r"\d+(?:\.\d+)?", joined))


def same_model(one: str, other: str) -> bool:
    """Whether two names may be of one model: what only one of them tells is no difference."""
    first, second = families(one), families(other)
    if (first and first <= words("model_programs", "")) or (second and second <= words("model_programs", "")):
        return True  # a program, whatever model it runs
    makers = [
        {made for made, named in section("models").items() if made != "any" and mine & set(named)}
        for mine in (first, second)
    ]
    if makers[0] and makers[1] and makers[0].isdisjoint(makers[1]):
        return True  # for another program
    if first and second and not (first <= second or second <= first):
        return False
    numbers, others = versions(one), versions(other)
    return not numbers or not others or not first & second or numbers[0] == others[0]


class Assignment(msgspec.Struct, frozen=True):
    """The agent that a table gives a command to."""

    command: str
    agents: tuple[str, ...]
    place: Place


def assignments_in(text: Text, document: Document, statements: Statements) -> Iterator[Assignment]:
    """Rows of commands, each with the agent that does the work."""
    for table in document.tables:
        commands = _commands(table)
        owner = next((at for at, cell in enumerate(table.head.cells[:12]) if _is_owner(cell)), None)
        if not commands or owner in (None, 0):
            continue
        for command, at in commands:
            row = table.rows[at]
            agents = statements.named(row.cells[owner])
            if agents is not None:
                yield Assignment(command, tuple(agents), Place(text.path, row.line))


def _commands(table: Table) -> Sequence[tuple[str, int]]:
    """The commands of a table that lists commands in its first column, with the index of each row."""
    named = ((_COMMAND.match(bare(row.cells[0])), at) for at, row in enumerate(table.rows[:_MOST]))
    found = [(match[0], at) for match, at in named if match is not None]
    return found if len(found) >= 3 and len(found) >= 0.8 * len(table.rows) else ()


def _is_owner(heading: str) -> bool:
    return without_emoji(bare(heading)).lower().strip() in words("command_owners", "")
