"""Numbers that documents give for agents, skills, tools and the like, each with what it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache

import msgspec

from remit.scan.markdown import is_rule
from remit.scan.model import Place
from remit.scan.vocabulary import bare, is_heading, section, tokens, words

NUMBERS = {word: int(number) for number, spelled in section("numbers").items() for word in spelled}
"""The words for numbers from two on, in several languages."""
_SPELLED = "|".join(sorted(NUMBERS, key=len, reverse=True))
_NUMERAL = re.compile(rf"\d|\b(?:{_SPELLED})\b|[两三四五六七八九十]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_TREE = re.compile(r"[\s│|]*(?:[├└]|[+`|]?--\s)|\s*(?:[^\w\s#|(]+\s)?[\w.-]+/\s+(?:#|<-|←|//|—|-|\()\s?")
_FOLDER = re.compile(r"(?<![\w/.-])((?:\.?[\w-]+/)*\.?[\w-]+)/(?![\w-])")
_PATH = re.compile(r"(?<![\w/.-])(?:\./)?((?:\.?[\w-]+/)+\.?[\w-]++(?:\.jsonc?\b|(?!\.\w))|\.?[\w-]+\.jsonc?)")
"""A folder, or a file of settings: what another page is called says nothing of a number."""
_BREAKS = (
    r"(?:and|or|for|of|with|to|in|on|from|by|the|that|which|are|is|as|can|und|oder|für|y|o|para|con|e|com|et|pour)\b"
)
"""Words that end what a number counts."""
_LONGEST = 1000
_MOST = 200
_CONTINUES = re.compile(r"\s*[^\W_]")
"""A line that may continue the one before: no item, heading, row or quotation."""
_BRANCH = re.compile(r"^([\s│|]*(?:[├└][─\s-]*|[+`]?--+\s*)?)(?:[^\w\s.#|(]+\s)?(\.?[\w.@-]+(?:/[\w.-]+)*)/(?=\s|$)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s")
_BOUND = re.compile(r"[\w.-]/[`*]*\s*(?:[#(（|:]|//|<-|←|—|–|-)?\s*$")
"""What ends with a folder, and at most a mark behind it."""
_POINTS = re.compile(
    rf"\s*[,(（]?\s*(?:{'|'.join(sorted(words('pointing', '')))})\s+(?:the\s+)?[`(\[]{{0,2}}(?:\./)?"
    r"((?:\.?[\w-]+/)*\.?[\w-]+(?:\.jsonc?)?)/?",
    re.IGNORECASE,
)
"""What names, right behind a number and its noun, where that lies: "3 servers (see `.mcp.json`)"."""
_MARKUP = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|\d{1,3}[.)])\s+(\S.*)$")
_NAME = re.compile(r"\W*(?:\*\*|`|\[|@|/)\S|\W*[\w/.-]+(?: [\w/.-]+){0,2}$")
_ARGUMENTS = re.compile(r"\s+(?:[\[<{-].*|[A-Z]+)$")
"""What follows the name of a command: `plan N` is `plan`."""
_LEAD = re.compile(r"[^\s\w]{0,3}(?:이다|입니다)?\s*[:：]\s*(?=[`*\w])|[*_`]{0,2}\s+[(（](?=[`*\w])")
_ONE_NAME = re.compile(r"[@/]?[^\W\d_][\w./:-]{1,40}")
_NAMES = re.compile(r"[@/]?[^\W\d_][\w./:&-]{1,40}(?: [\w./:&-]{1,40}){0,2}")
"""A name of up to three words, as long enumerations have them."""
_BETWEEN = re.compile(r"\s*[,、，]\s*(?:(?:and|und|y|et|e)\s)?|\s+(?:and|und|y|et)\s+")
_GROUP = re.compile(r"\b(?:and|und|y|et)\b|[,/&+]|<br")
_SIZED = re.compile(r"[^|()]{2,60}\((\d{1,3})\)")
"""A group with how many belong to it: `Search (2)`."""
_OPEN = re.compile(r"\.\.\.|…|\betc\b|\bmore\b|\bothers\b|\bexamples?\b|等", re.IGNORECASE)


_TERM_BEFORE = re.compile(r"\+\s*$")
_TERM_AFTER = re.compile(r"[^\d+|;.]{0,40}\+\s*\d")
"""What stands beside a number that is added to another: neither of them counts all."""
_MEASURES = "个|個|名|位|种|種|款|类|類|体|つ|개|종|명|가지"
_EAST = r"\u3040-\u9fff\uac00-\ud7af"
_SPAN = re.compile(r"`[^`]*`|(?<!\w)\"[^\"]*\"(?!\w)|“[^”]*”")
_DATED = re.compile(r"\b\d{4}[-/.]\d\d?[-/.]\d\d?\b|\|\s*v?\d+\.(?:\d+|x)(?:\.(?:\d+|x))?\s*\|")
_EXAMPLE = re.compile(
    r"\W*(?:for )?(?:examples?|e\.g|sample|beispiel|ejemplo|exemplo|exemple|示例|例如|예시)\b", re.IGNORECASE
)
_OF_A_SPRINT = re.compile(r"\b(?:sprint|milestone|iteration)[ -]?#?\d{1,4}\b", re.IGNORECASE)
_ALL_OF_THESE = re.compile(r"\b(?:all|these|those|both)\s+$", re.IGNORECASE)
_PART_OF = re.compile(r"\b(?:includ\w+|such as|like|examples?|e\.g|some)\b", re.IGNORECASE)


class Form(StrEnum):
    """How a number is written, which says how sure it is that it counts all of its kind."""

    TREE = "tree"
    """Beside a folder in a drawn tree, or in a line that names the folder."""
    HEADING = "heading"
    SENTENCE = "sentence"


class Count(msgspec.Struct, frozen=True):
    """A number beside the noun that it counts."""

    kind: str
    said: int
    more: bool
    """Whether it says "at least": `25+ skills`."""
    roughly: bool
    about: tuple[str, ...]
    """The words between the number and the noun, or around the noun of a heading."""
    before: tuple[str, ...]
    """The words before the number, in its sentence."""
    line: frozenset[str]
    """All words of its line."""
    around: frozenset[str]
    """Its own words, and those right before and behind it."""
    form: Form
    folders: tuple[str, ...]
    """The folders that its line names."""
    place: Place
    row: bool
    """Whether it stands in a row of a table that is about something else."""
    table: bool
    """Whether it stands in a table at all."""
    listed: frozenset[int]
    """How many rows or items follow it, in every way to count them; empty if that can't be said."""
    under: frozenset[str]
    """The words of the headings above it, and of the path of its page."""
    headings: frozenset[str]
    """The same, but for a page that some program reads by its name: it may speak of every program."""
    bound: bool
    """Whether it stands right behind the name of a folder: `skills/ (12)`."""
    named_first: bool = False
    """Whether the noun stands before the number: `Skills (40)`."""
    pointed: str = ""
    """The folder or file that it says, right behind the noun, holds what it counts."""
    ours: bool = False
    """Whether its sentence says no more than how many there are here: "We have 5 agents."."""
    home: str | None = None
    """The folder whose things it counts, if its file says so: a manifest's plugin."""


@cache
def _nouns() -> dict[str, str]:
    return {noun: kind for kind, one in section("countables").items() for noun in one["nouns"]}


@cache
def _stems() -> tuple[str, ...]:
    """A few texts, one of which every noun has: quick to look for."""
    last = {noun.split()[-1].rstrip("s") for noun in _nouns()}
    return tuple(sorted(one for one in last if not any(other != one and other in one for other in last)))


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    nouns = sorted(_nouns(), key=len, reverse=True)
    latin = "|".join(re.escape(one) for one in nouns if one[0] < "\u2e80")
    other = "|".join(re.escape(one) for one in nouns if one[0] >= "\u2e80")
    singular = "|".join(re.escape(one.removesuffix("s")) for one in nouns if one.isascii() and one.endswith("s"))
    number = rf"(?P<said>\d{{1,3}}|{_SPELLED})(?P<more>\+)?"
    east = rf"(?:{_MEASURES})(?:의|の)?\s?[{_EAST} ]{{0,10}}?(?:{singular})s?(?![a-z-])"
    forward = (
        rf"(?<![A-Za-z0-9_.,:#/$<>=–~≈第-])(?P<roughly>[~≈]\s?)?{number}\s*(?:(?:\s(?:(?!{_BREAKS})[^\W\d_][\w/.-]*\s+){{0,3}}?(?P<noun>{latin})\b)"
        rf"|(?:{_MEASURES})?(?:의|の)?\s*[{_EAST}]{{0,6}}?(?P<far>{other})|(?P<mixed>{east}))"
        r"(?!\s+(?:per|each|at)\b)"
    )
    of_all = (  # "the 20-agent team"
        rf"(?<![\w.,:#/$<>=–~≈-])(?P<said>\d{{1,3}}|{_SPELLED})(?P<more>\+)?-(?P<noun>{singular})\s+(?:[\w.-]+\s+){{0,3}}?"
        rf"(?:{'|'.join(sorted(words('companies', '')))})\b"
    )
    measured = rf"\s*(?P<more>\+)?\s*(?:{_MEASURES})?"
    named = rf"(?P<noun>{latin}|{other}|(?:{singular})(?=\s+(?:{'|'.join(sorted(words('counted_as', '')))})))"
    backward = (
        rf"{named}(?:\s?(?:{'|'.join(sorted(words('counted_as', '')))}))?/?\s*(?:total\s*)?"
        rf"(?:[(（]\s*(?:共\s*)?(?P<said>\d{{1,3}}){measured}(?:\s+(?:total|in total|available|files))?\s*[)）]"
        r"|[:：]\s*(?P<colon>\d{1,3})(?:\s+total)?\s*$|\s*\|\s*(?P<cell>\d{1,3})\s*"
        rf"(?:{_MEASURES})?\s*(?:\||$)|-(?P<badge>\d{{1,3}})-|(?:[는은이가はが])?\s?(?:[총共全]\s?)?(?P<east>\d{{1,3}})(?:{_MEASURES})(?![{_EAST}]{{0,2}}(?:째|번째)))"
    )
    return tuple(re.compile(one, re.IGNORECASE) for one in (forward, of_all, backward))


def counts_in(path: str, text: str) -> Iterator[Count]:
    """The counts of a text, line by line, drawn trees included."""
    rows = text.split("\n")
    found = 0
    drawn: list[tuple[int, str]] = []
    above: list[tuple[int, str]] = []
    fenced = False
    for at, raw in enumerate(rows):
        line = raw[:_LONGEST]
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and (heading := _HEADING.match(line)) is not None:
            above = [(depth, one) for depth, one in above if depth < len(heading[1])] + [(len(heading[1]), line)]
        drawn = _drawn(drawn, line) if "/" in line or drawn else drawn
        lowered = line.lower()
        if not any(stem in lowered for stem in _stems()) or _NUMERAL.search(lowered) is None:
            continue
        plain = _MARKUP.sub("", _SPAN.sub(_unquoted, line))
        if _OF_A_SPRINT.search(plain) or any(_OF_A_SPRINT.search(one) for _, one in above):
            continue  # how it was then
        if _EXAMPLE.match(plain) or (_DATED.search(plain) is not None and line.lstrip().startswith("|")):
            continue  # an example; a row of a history
        if fenced and "/" not in plain and _TREE.match(plain) is None:
            continue  # what a program prints
        numbers = _numbers(plain) or _of_folder(plain)
        for match, kind, number in numbers:
            headings = frozenset(_words(" ".join(one for _, one in above)))
            under = headings | frozenset(_words(path))
            headings = headings if path in words("main_documents", "") else under
            if kind != "servers" or "mcp" in plain.lower() or "mcp" in under:
                yield _count(path, rows, at, plain, match, kind, number, drawn, under, headings)
                found += 1
        if found > _MOST:
            return


def _unquoted(span: re.Match[str]) -> str:
    """A span of code, unless it is what a program prints, or what somebody else wrote."""
    printed = " " in span[0] and "/" not in span[0] and re.search(r"\d", span[0])
    return "" if printed else span[0]


def _numbers(plain: str) -> list[tuple[re.Match[str], str, int]]:
    """Each number of a line that counts all of something, with what it counts."""
    found: dict[int, tuple[re.Match[str], str, int]] = {}
    for pattern in _patterns():
        for match in pattern.finditer(plain):
            groups = match.groupdict()
            said = next(groups[key] for key in ("said", "colon", "cell", "badge", "east") if groups.get(key))
            number = NUMBERS.get(said.lower()) or int(said)
            if _is_of_some(plain, match, groups) or (groups.get("cell") and "|" in plain[: match.start()].strip(" |")):
                continue  # some of them; a number behind a cell that is not the first, which says what the row counts
            written = said.lower() in NUMBERS and "/" not in plain
            if number >= 2 and not (written and _ALL_OF_THESE.search(plain[: match.start()])):
                found.setdefault(match.start(), (match, _kind(groups), number))  # not "all three", of those just named
    return [one for one in found.values() if not _is_term(plain, one, list(found.values()))]


@cache
def _folder_pattern() -> re.Pattern[str]:
    kinds = "|".join(kind for kind in section("countables") if kind not in ("tools", "servers"))
    return re.compile(
        rf"(?<![\w.-])(?P<folder>{kinds})/[`*]*\s*(?:#|//|<-|←|—|–|-|[(（])*\s*[(（]?(?P<said>\d{{1,3}})(?P<more>\+)?"
        r"(?:\s*[)）]\s*$|\s+(?P<rest>[^\W\d][^,;.(+|]{2,60}))",
        re.IGNORECASE,
    )


def _of_folder(plain: str) -> list[tuple[re.Match[str], str, int]]:
    """A number right behind a folder whose name says what it counts: `skills/  # 12 cookbooks`."""
    match = _folder_pattern().search(plain)
    if match is None or int(match["said"]) < 2:
        return []
    no_files = (
        words("counts_no_files", "")
        | words("counts_of_programs", "")
        | ({"files", "assets"} if match["folder"].lower() == "skills" else set())
    )
    if not no_files.isdisjoint(_words(match["rest"] or "")):
        return []
    return [(match, match["folder"].lower(), int(match["said"]))]


def _is_of_some(plain: str, match: re.Match[str], groups: dict[str, str | None]) -> bool:
    """Whether the words around the noun tell that these are some of a kind, or none of it."""
    if (groups.get("noun") or "").lower() == "instructions" and "instructions/" not in plain:
        return True  # sentences of a prompt
    if not words("counts_of_programs", "").isdisjoint(_words(match[0])):
        return True
    before = re.search(r"([A-Za-z]+)\s+$", plain[: match.start()][-40:])
    if before is not None and before[1].lower() in words("numbered_products", ""):
        return True
    after = re.match(r"\s+([a-z]+)", plain[match.end() : match.end() + 40])
    return after is not None and after[1] in words("counts_some_after", "")


def _kind(groups: dict[str, str | None]) -> str:
    noun = (groups.get("noun") or groups.get("far") or "").lower().strip()
    if (mixed := groups.get("mixed")) is not None:
        noun = re.sub(rf"^.*[{_EAST}]\s*", "", mixed.lower()).strip()
    return _nouns().get(noun) or _nouns().get(f"{noun}s") or "agents"


def _is_term(plain: str, one: tuple[re.Match[str], str, int], others: Sequence[tuple[re.Match[str], str, int]]) -> bool:
    """Whether a number is added to another one of its kind, so that it counts a part."""
    match, kind, _ = one
    after = _TERM_AFTER.match(plain, match.end())
    if after is not None:
        return not any(other.start() == after.end() - 1 and named != kind for other, named, _ in others)
    before = _TERM_BEFORE.search(plain[: match.start()])
    if before is None:
        return False
    last = [named for other, named, _ in others if other.end() <= before.start() + 2 and other is not match]
    return not last or last[-1] == kind


def _count(
    path: str,
    rows: Sequence[str],
    at: int,
    plain: str,
    match: re.Match[str],
    kind: str,
    said: int,
    drawn: Sequence[tuple[int, str]],
    under: frozenset[str],
    headings: frozenset[str],
) -> Count:
    shown = match.groupdict()
    own = _words(shown["rest"] or "") if "folder" in shown else _words(match[0])
    led = rows[at - 1][-200:].rstrip() if at and _CONTINUES.match(rows[at]) else ""  # a sentence goes on
    sentence = re.split(r"[.!?;:•·|(](?:\s|$)", f"{led} {plain[: match.start()]}")[-1]
    heading = plain.lstrip().startswith("#") or "badge/" in plain or bool(shown.get("cell"))
    heading = heading or bool(
        re.match(rf"\s*[-*+]?\s*(?:\*\*|__){re.escape(shown['said'] or '')}\b[^*]*(?:\*\*|__)", rows[at])
    )
    tree = _TREE.match(plain) is not None
    if tree:  # a number beside a file counts what is in the file
        folders = ("/".join(name for _, name in drawn),) if _BRANCH.match(rows[at]) else ("",)
    else:
        folders = tuple(dict.fromkeys(one.rstrip("/") for one in (*_FOLDER.findall(plain), *_PATH.findall(plain))))
    around = _words(plain) if plain.lstrip().startswith("#") else own
    noun = (shown.get("noun") or "").lower().split()
    rest = plain[match.end() :].strip()
    pointed = _POINTS.match(plain, match.end())
    if tree and drawn and (held := _held(drawn[-1][1])) != kind and held.removesuffix("s") in own:
        kind = held  # `agents/  # 6 agent prompt files`
    follows = (heading and plain.lstrip().startswith("#")) or (rest.endswith((":", "：")) and len(rest.split()) < 4)
    follows = follows or (not tree and not heading and _heads_table(rows, at, kind, plain))
    return Count(
        kind=kind,
        said=said,
        more=bool(match.groupdict().get("more")),
        roughly=bool(match.groupdict().get("roughly")),
        about=tuple(word for word in around if word not in noun),
        before=_words(sentence[-200:])[-4:],
        line=frozenset(_words(plain)),
        around=frozenset(_words(plain[max(0, match.start() - 40) : match.end() + 60])),
        form=Form.TREE if tree else Form.HEADING if heading else Form.SENTENCE,
        folders=folders,
        place=Place(path, at + 1),
        table=plain.lstrip().startswith("|"),
        row=plain.lstrip().startswith("|") and not shown.get("cell") and _first_cell(plain).find(kind.rstrip("s")) < 0,
        listed=listed_behind(plain[match.end() :]) or (listed_after(rows, at, kind) if follows else frozenset()),
        under=under,
        headings=headings,
        bound=bool(shown.get("folder"))
        or _BOUND.search(plain[: match.start("said" if shown["said"] else 0)]) is not None,
        named_first=not match[0].lstrip("~≈ ")[:1].isdigit() and (shown.get("said") or "").lower() not in NUMBERS,
        ours=not heading and not tree and _is_ours(sentence, rest, match[0]),
        pointed=pointed[1] if pointed is not None and ("/" in pointed[1] or "." in pointed[1]) else "",
    )


def _is_ours(before: str, behind: str, own: str) -> bool:
    """Whether a sentence says how many there are here, and nothing else of them."""
    whose, here = _ours()
    whole = re.match(r"(?:[.!:;(—–]|\W*$)", behind) is not None
    if whose.fullmatch(before) is not None:
        return whole or here.match(behind) is not None
    plain = not before.strip(" *_") or re.fullmatch(r"\W*there are(?: (?:currently|now))?\W*", before, re.I) is not None
    return plain and here.match(behind) is not None and len(own.split()) <= 3


@cache
def _ours() -> tuple[re.Pattern[str], re.Pattern[str]]:
    def one_of(case: str) -> str:
        return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words("counts_ours", case)))

    whose = rf"\W*(?:(?:{one_of('who')})\s+(?:(?:currently|now)\s+)?(?:{one_of('has')})|{one_of('both')})[\s*_]*"
    return re.compile(whose, re.IGNORECASE), re.compile(rf"\W{{0,3}}(?:{one_of('here')})(?![\w-])", re.IGNORECASE)


def _held(folder: str) -> str:
    """The kind of the things that a folder holds by its name; nothing if its name does not say."""
    name = folder.rpartition("/")[2].lower()
    return next((kind for kind in section("countables") if name in (kind, kind.removesuffix("s"))), "")


def _words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case; where a script writes no blanks, the catalog's words in it."""
    found: list[str] = []
    for word in _WORD.findall(text):
        if word[0] < "\u3040":
            found.append(word.lower())
        else:
            known = [(word.find(one), one) for one in _unspaced() if one in word]
            found += [one for _, one in sorted(known)] or [word]
    return tuple(found)


@cache
def _unspaced() -> frozenset[str]:
    """The words of scripts without blanks that say whether a number counts all."""
    lists = ("own_agents", "counts_all", "counts_some", "part_of_agents", "counts_whole")
    return frozenset(word for name in lists for word in words(name, "") if word[0] >= "\u3040")


def _first_cell(line: str) -> str:
    return line.strip().strip("|").partition("|")[0].lower()


def _drawn(above: list[tuple[int, str]], line: str) -> list[tuple[int, str]]:
    """The folders of a drawn tree that lead to a line, with the column where each begins."""
    match = _BRANCH.match(line)
    if match is None:
        return above if line.strip() and not line.lstrip().startswith(("```", "#")) else []
    column = len(match[1])
    return [(depth, name) for depth, name in above if depth < column] + [(column, match[2])]


def _heads_table(rows: Sequence[str], at: int, kind: str, plain: str) -> bool:
    """Whether the line of a number is the last one over a table of what it counts."""
    below = [row for row in rows[at + 1 : at + 3] if row.strip()]
    if plain.lstrip().startswith(("|", "-", "*", ">")) or not below or not below[0].lstrip().startswith("|"):
        return False
    first = bare(below[0].strip().strip("|").partition("|")[0]).lower()
    return first == kind.removesuffix("s") or (kind == "agents" and is_heading(first, "agent"))


def listed_behind(rest: str) -> frozenset[int]:
    """How many names stand right behind a number, in its own line: "six tools: `Read`, `Grep` …"; empty if none do."""
    lead = _LEAD.match(rest)
    if lead is None:
        return frozenset()
    if lead[0].rstrip().endswith(("(", "（")):
        written, closed, _ = rest[lead.end() :].partition("）" if "（" in lead[0] else ")")
        return _names_in(written) if closed else frozenset()
    return _names_in(re.split(r"[.。;；](?:\s|$)|\s[—–-]\s", rest[lead.end() :])[0].rstrip("."))


def _names_in(written: str) -> frozenset[int]:
    """How many names a text enumerates, if it is nothing but an enumeration of them."""
    parts = [
        one.strip(' `*_"')
        for one in re.split(r"\s*[,、，]\s*(?:(?:and|und|y|et|e)\s)?|\s+(?:and|und|y|et)\s+", written)
    ]
    single = all(_ONE_NAME.fullmatch(one) for one in parts)
    if (
        len(parts) < 3
        or _OPEN.search(written)
        or not (single or (len(parts) > 4 and all(map(_NAMES.fullmatch, parts))))
    ):
        return frozenset()
    return frozenset({len(parts), len({one.lower() for one in parts})})


def listed_after(rows: Sequence[str], at: int, kind: str = "agents") -> frozenset[int]:
    """How many rows or items stand in the first table or list below a line, if its section has just one."""
    blocks: list[frozenset[int]] = []
    above = _ITEM.match(rows[at][:_LONGEST])
    row = at + 1
    while row < len(rows) and row < at + 400:
        line = rows[row][:_LONGEST]
        if line.lstrip().startswith("#"):
            break
        if line.lstrip().startswith(("```", "~~~")):
            return frozenset()
        if "|" in line and row + 1 < len(rows) and is_rule(rows[row + 1][:_LONGEST]):
            end = row + 2
            while end < len(rows) and "|" in rows[end]:
                end += 1
            blocks.append(_in_table([one[:_LONGEST].strip().strip("|") for one in (line, *rows[row + 2 : end])], kind))
            row = end
        elif (item := _ITEM.match(line)) is not None:
            if above is not None and len(item[1]) <= len(above[1]):
                break  # the number stands in an item: what follows it on its own level is no list of it
            found, end = [], row
            while end < len(rows) and not rows[end].lstrip().startswith(("#", "```")):
                other = _ITEM.match(rows[end][:_LONGEST])
                if other is not None and above is not None and len(other[1]) <= len(above[1]):
                    break
                if other is not None and len(other[1]) <= len(item[1]):
                    found.append(other[2])
                elif other is None and rows[end].strip() and not rows[end].startswith((" ", "\t")):
                    break
                end += 1
            led = next((one for one in reversed(rows[at + 1 : row]) if one.strip()), "")
            blocks.append(_sizes([] if _PART_OF.search(led[:_LONGEST]) else found, table=False))
            row = end
        else:
            row += 1
    if not blocks and rows[at].lstrip().startswith("#"):
        first = next((one for one in rows[at + 1 : at + 4] if one.strip()), "")
        return (
            frozenset() if first.lstrip().startswith("#") else _names_in(re.split(r"\.(?:\s|$)", first[:_LONGEST])[0])
        )
    return blocks[0] if len(blocks) == 1 else frozenset()


def _in_table(rows: Sequence[str], kind: str) -> frozenset[int]:
    """How many a table lists: by its rows, or by the names in a column for several agents each."""
    heads = rows[0].split("|") if kind == "agents" else []
    column = next((n for n, cell in enumerate(heads) if n and is_heading(cell, "agent")), None)
    cells = [row.split("|")[column : column + 1] for row in rows[1:]] if column is not None else []
    names = [name for cell in cells for part in cell for name in tokens(part)]
    if column is None or len(names) < len(rows) or not all(re.fullmatch(r"[@\w][\w.-]*", name) for name in names):
        return _sizes(rows[1:], table=True)
    return frozenset({len(names), len({name.lower() for name in names})})


def _sizes(entries: Sequence[str], *, table: bool) -> frozenset[int]:
    """Every way to count what begins these rows or items; empty if those are no names."""
    firsts = []
    for entry in entries:
        cells = entry.split("|") if table else [re.split(r"\s[—–-]\s|:\s|\s\(", entry)[0].rstrip(":")]
        if table and (bare(cells[0]).lower() in words("row_totals", "") or not any(map(str.strip, cells[1:]))):
            continue  # a sum, or a row that heads a group
        firsts.append(next((cell for cell in cells if not re.fullmatch(r"\W*\d*\W*", bare(cell))), ""))
    names = sum(bool(_NAME.match(first.strip())) for first in firsts)
    if len(firsts) < 2 or names < 0.8 * len(firsts) or any(_OPEN.search(first) for first in firsts):
        return frozenset()
    parts = sum(max(1, len([one for one in _GROUP.split(first) if one.strip()])) for first in firsts)
    plain = {_ARGUMENTS.sub("", first.strip("`* ")).lower() for first in firsts}
    groups = [int(size[1]) for entry in entries if (size := _SIZED.match(entry)) is not None]
    total = {sum(groups)} if len(groups) == len(firsts) else set()
    return frozenset({len(firsts), parts, len({first.lower() for first in firsts}), len(plain), *total})
