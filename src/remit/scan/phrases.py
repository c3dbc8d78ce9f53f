"""What a few words about an agent's tools mean: "Read, Grep; no shell", "read-only", "✅ with approval".

```python
said("Read, Grep; no `Bash`").tools  # (("Read", YES, None), ("Grep", YES, None), ("Bash", NO, None))
said("read + edit").kinds  # (("read", True), ("write", True))
```

Only what is understood whole counts: a part that says anything else leaves what it would limit unsaid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import msgspec

from remit.scan.claims import claims_read_only, describes_read_only
from remit.scan.model import Mark
from remit.scan.vocabulary import bare, capability, mark_of, section, split_scope, unescaped, without_emoji, words

_SEPARATOR = re.compile(
    r"(?P<stop>[;。；.!](?=\s|$)|\s[—–-]{1,2}\s|\s→\s|\bbut\b)"
    r"|(?P<or>\s+(?:or|nor|oder|ou)\s+|(?<=[\w`])/(?=[A-Z`]))"
    r"|(?P<and>[,、，·•\n]|<br\s*/?>|\s?\+\s?(?=[\w`*])|\s&\s|\s+(?:and|und|et|plus|also)\s+)"
    r"|(?P<open>[(\[{（])|(?P<close>[)\]}）])",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"^(?:❌|✗|🚫|⛔|(?:has|have|had|with)?\s*\b(?:no|not|never|without|cannot|can['’]t|can ?not|must not|may not|mustn['’]t|does not|doesn['’]t|do not"
    r"|don['’]t|shall not|will not|won['’]t|kein(?:e|en|er)?|nie|nunca|sin|sem|sans|aucun[e]?|不|无|无法|不能|不可|禁止)\b)[:：]?\s*"
    r"|^(?:不能|不可|不得|无|不|禁止)",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"(?<!\s)\s*(?:(?:is|are) )?(?:[:=]\s*)?(?:denied|deny|forbidden|blocked|disallowed|prohibited|disabled|not allowed|not available|verboten|prohibido|interdit|false)$",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"^(?:(?:can|may|must|should|is allowed to|are allowed to|able to|gets?|has|have|holds?|uses?|limited to|restricted to|darf|dürfen|puede|pueden|pode|podem|peut|peuvent|usar|ejecutar|executar|utiliser|verwenden)\b\s*)+",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"^(?:only|just|solely|nur|solo|seulement)\s+|\s+(?:only|nur|seulement)$|^只(?:有)?|^仅", re.IGNORECASE
)
_FILLER = re.compile(
    r"^(?:(?:any|the|all|el|la|die|das|le|os?|an?|use(?: of)?|using|run|running|call(?:ing)?|access to|access|have|has|having|tools?:|directly|ever)\s+)+"
    r"|\s+(?:tools?|access|permissions?|rights|privileges|calls?|at all|whatsoever|of any kind|directly|itself|工具|权限)$",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(
    r"^(?:\*|everything|all|full|unrestricted|complete|inherits? all|全部|所有|전체|alle|todas?|todos|tous)"
    r"(?: (?:the |available |existing )?(?:tools?|toolsets?|access|tool access|toolset|permissions?|herramientas|werkzeuge|ferramentas|outils))?"
    r"(?: access)?(?: ?\(\*\))?$|^(?:全部|所有)工具$",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"^(?:all|everything|any|\*)(?: (?:other |the )?tools?)?,? (?:except|but|apart from|other than|minus)(?: for)? (.+)$",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^\(?(?:none|no tools?(?: at all)?|nothing|keine|ningun[oa]|aucun|∅|无|-|–|—)\)?$", re.IGNORECASE
)
_EXCEPTION = re.compile(
    r"\b(?:except|unless|other than|apart from|besides|outside|only (?:in|to|under|for|when|if|after|on)|until|without (?:approval|asking|permission|confirmation)"
    r"|if|when|by default|default|typically|usually|mostly|e\.g\.|for example|optional(?:ly)?|where needed|as needed|when needed|some|limited|proposes?|planned|should|prefer|mainly|plus)\b|\(\+|\+ ?(?:CHANGELOG|reports?|docs)",
    re.IGNORECASE,
)
"""What makes a right one with exceptions, or no right at all."""
_READ_ONLY = re.compile(
    r"^(?:strictly |purely |fully )?(?:read[- ]?only|readonly|no[- ]write|只读|只讀|읽기 전용|読み取り専用|nur lesen(?:d)?|lecture seule|s[oó]lo lectura|(?:somente|apenas) leitura|sola lettura|только чтение)"
    r"(?: (?:access|agent|mode|role|tools?|permissions?|posture|sandbox|analysis|review|research))?$",
    re.IGNORECASE,
)
_LONGEST = 600
"""Characters of a cell or of a line that say what an agent may do."""


class Said(msgspec.Struct, frozen=True):
    """What words say of an agent's tools; `whole` if every part of them was understood."""

    tools: tuple[tuple[str, Mark, str | None], ...] = ()
    kinds: tuple[tuple[str, bool], ...] = ()
    """Kinds of tools that it has or lacks altogether; `changes` is writing and running commands together."""
    everything: bool = False
    whole: bool = False
    adds: bool = False
    """Whether it adds to what was said before: "+ Edit"."""

    @property
    def granted(self) -> list[tuple[str, Mark, str | None]]:
        return [one for one in self.tools if one[1] is not Mark.NO]


@cache
def _things() -> dict[str, str]:
    return {word: kind for kind, found in section("things").items() for word in found}


@lru_cache(maxsize=4_000)
def said(written: str) -> Said:
    """What a cell, or the rest of a line about an agent, says. Nothing is said where an exception is made."""
    value = unescaped(written[:_LONGEST]).strip().strip("|").strip()
    plain = bare(without_emoji(value)).strip(" .:")
    if not plain or len(written) > _LONGEST:
        return Said()
    if _NOTHING.match(plain):
        return Said(whole=True)
    if _EVERYTHING.match(plain):
        return Said(everything=True, whole=True)
    excepted = _BUT.match(plain)
    if excepted is not None:
        rest = said(f"no {excepted[1]}")
        return Said(rest.tools, rest.kinds, everything=True, whole=rest.whole)
    if _READ_ONLY.match(plain):
        return Said(kinds=(("changes", False),), whole=True)
    adds = bool(re.match(r"^(?:\+|plus\b|adds?\b|and\b|additionally\b)", plain, re.IGNORECASE))
    value = re.sub(r"^\W*(?:\+|plus\b|adds?\b|additionally\b)\s*", "", value, flags=re.IGNORECASE) if adds else value
    found = [one for run in _runs(value) for one in _read(run)]
    whole = bool(found) and all(one is not None for one in found) and not _EXCEPTION.search(plain)
    known = [one for one in found if one is not None]
    if _EXCEPTION.search(plain) or any(one[0] == "?" for one in known):
        return Said()  # an exception, or a tool with words around it that may limit all of them
    return Said(
        tuple((name, mark, scope) for name, mark, scope in known if mark is not None),
        tuple(dict.fromkeys((name, scope == "yes") for name, mark, scope in known if mark is None and name != "*")),
        any(mark is None and name == "*" for name, mark, _ in known),
        whole,
        adds,
    )


_Part = tuple[str, Mark | None, str | None]
"""A tool with its mark and scope, or a kind with no mark, and `yes` or `no`; `*` for everything."""


def _runs(value: str) -> Iterator[list[tuple[str, str]]]:
    """The parts of a text with what separates each from the one before, cut where one statement ends."""
    run: list[tuple[str, str]] = []
    depth, start, before = 0, 0, ""
    for match in _SEPARATOR.finditer(value):
        kind = match.lastgroup or ""
        if kind in ("open", "close"):
            depth = max(0, depth + (1 if kind == "open" else -1))
        elif depth == 0:
            run.append((before, value[start : match.start()]))
            start, before = match.end(), kind
            if kind == "stop":
                yield run
                run = []
    run.append((before, value[start:]))
    yield run


def _read(run: Sequence[tuple[str, str]]) -> Iterator[_Part | None]:
    """What the parts of one statement mean; None for one that is not understood."""
    parts = [(sep, text.strip()) for sep, text in run if bare(text).strip(" .:*_")]
    if not parts:
        return
    negated = [_NEGATION.match(bare(text)) is not None for _, text in parts]
    chained = negated[0] and not any(negated[1:])  # "no Write, Edit or Bash"
    for at, (_, text) in enumerate(parts):
        yield from _thing(text, denied=negated[at] or chained)


def _thing(text: str, *, denied: bool) -> Iterator[_Part | None]:
    """One tool, or a kind of tools, that a part of a statement names."""
    spans = re.findall(r"`([^`]+)`", text)
    if len(spans) > 1 and not re.sub(r"`[^`]+`|[\s*_]", "", text):
        for span in spans:  # code spans with blanks between them
            yield from _thing(f"`{span}`", denied=denied)
        return
    code = bool(spans)
    plain = _NEGATION.sub("", bare(without_emoji(re.sub(r"❌|✗|🚫|⛔|✅|✓", "", text))).strip(" .:")).strip()
    after = _DENIED_AFTER.search(plain)
    if after is not None:
        plain, denied = plain[: after.start()], True
    plain = _ONLY.sub("", _MODAL.sub("", _ONLY.sub("", plain))).strip()
    if not denied and _READ_ONLY.match(plain):
        yield "changes", None, "no"
        return
    scoped = bool(re.search(r"🔒|✋|⚠", text))
    name, scope = split_scope(plain)
    if scope is not None and re.match(r"\W*(?:sub)?agent_type\b", scope):
        yield None  # how the agent is started, and no tool of its own
        return
    if scope is None:
        match = re.fullmatch(r"([\w.*/-]{2,60})\s*[(（](.{1,100})[)）]", plain)
        name, scope = (match[1], match[2]) if match is not None else (plain.rstrip("*") if code else plain, None)
    for phrase in dict.fromkeys((name, _FILLER.sub("", _FILLER.sub("", name)).strip())):
        lowered = phrase.lower().strip(" '’")
        if lowered in _things() and not (code or phrase in _host_names()):
            kind = _things()[lowered]
            yield (kind, None, "no" if denied else "yes") if scope is None else (phrase, Mark.SCOPED, scope)
            return
        if not denied and _EVERYTHING.match(phrase):
            yield "*", None, "yes"
            return
        if _A_PATH.search(phrase):
            break
        kind = capability(phrase)
        if phrase and " " not in phrase and kind != "unknown" and (kind != "mcp" or phrase.startswith("mcp__")):
            mark = Mark.NO if denied else (Mark.SCOPED if scope or scoped else Mark.YES)
            yield phrase, mark, scope
            return
        if phrase and code and re.fullmatch(r"[\w./:*-]{2,60}", phrase):
            yield phrase, Mark.NO if denied else Mark.YES, scope  # a tool, by its form, that nobody knows
            return
    about = any(word in _host_names() or word in _things() for word in re.findall(r"[\w-]+", plain))
    yield ("?", None, "no") if about else None


_A_PATH = re.compile(r"\*\*|^\*\.|/\*\.|\.\w{1,5}$|^\.|/$")
"""What is a path or a pattern of paths, and no name of a tool."""


@cache
def _host_names() -> frozenset[str]:
    """Names of tools as hosts write them, where the same word in small letters is a kind of tool."""
    return frozenset(words("host_names", ""))


def names_tools(found: Said) -> bool:
    """Whether words are a list of tools by the names that hosts give them, and of nothing else."""
    return (
        found.whole
        and not found.kinds
        and (
            found.everything
            or (
                len(found.tools) > 0
                and all(capability(name) != "unknown" for name, _, _ in found.tools)
                and any(name in _host_names() or name.startswith("mcp__") for name, _, _ in found.tools)
            )
        )
    )


def clauses(text: str) -> Iterator[str]:
    """The parts of a description that may say a right by themselves: "reviews code (Read, Grep), no shell"."""
    for part in re.split(r"[;。；]\s*|[.!](?=\s|$)|\s[—–]\s|\s-\s|[()（）]", text[:_LONGEST]):
        if part.strip():
            yield part.strip()


def is_posture(text: str) -> bool:
    """Whether a description says, without an exception, that the agent changes nothing."""
    return (
        _READ_ONLY.match(bare(text).strip(" .:")) is not None
        or claims_read_only(bare(text))
        or describes_read_only(bare(text))
    ) and not _EXCEPTION.search(text)


@cache
def _mentions() -> tuple[tuple[str, re.Pattern[str]], ...]:
    by_kind: dict[str, list[str]] = {}
    for word, kind in _things().items():
        by_kind.setdefault(kind, []).append(re.escape(word))
    return tuple(
        (kind, re.compile(rf"(?<![\w-])(?:{'|'.join(found)})(?![\w-])", re.IGNORECASE))
        for kind, found in by_kind.items()
    )


def mentioned(text: str) -> dict[str, bool | None]:
    """The kinds of tools that words speak of: whether they give them; None for a part of them."""
    found: dict[str, bool | None] = {}
    for clause in re.split(r"[;,.+]|\band\b|\bbut\b", bare(text)[:_LONGEST]):
        no = re.search(r"\b(?:no|not|never|without|cannot|nothing)\b|n['’]t\b", clause, re.IGNORECASE) is not None
        part = (
            re.search(r"\b(?:under|below|only|in|to|inside|within|except|for)\b|/", clause, re.IGNORECASE) is not None
        )
        for kind, pattern in _mentions():
            if pattern.search(clause) is not None:
                found.setdefault(kind, (None if part else False) if no else (None if part else True))
    return found


_PARTIAL = re.compile(
    r"\b(?:key|main|primary|typical|example|common|suggested|recommended|core|notable|additional|extra|external|cli|build|count|number|test(?:ing)?"
    r"|#|avg|total|preferred|related|required|used)\b",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"\b(?:tools?|toolsets?|toolkit|tool access|herramientas|ferramentas|outils|werkzeuge|инструменты)\b|工具|도구|ツール",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:cannot|can['’]t|can not|must not|may not|never|forbidden|prohibited|denied|denies|disallowed|disallow|deny|not allowed|blocked|restricted from|no access|off[- ]limits"
    r"|verboten|prohibid[oa]s?|interdit[es]*|без)\b|禁止|禁用|不可|不能",
    re.IGNORECASE,
)
_GRANTED = re.compile(
    r"^(?:can|may|allowed|allows?|permitted|can use|may use|able to|granted|允许|可以|darf|puede|peut)$", re.IGNORECASE
)
_WHO = re.compile(
    r"^(?:who(?: (?:can|may|has|is allowed))?.{0,20}|allowed (?:agents|callers|roles)|available to|accessible by|granted to|permitted (?:agents|roles)|may be used by|exclusive to|agents (?:with access|allowed))$",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"\b(?:level|tier|posture|profile|mode|class|group|permission set|preset|trust|clearance|sandbox|category|bundle|stance|band|grade|rank|stufe|nivel|niveau|profil)\b|级别|权限|等级|모드|권한",
    re.IGNORECASE,
)


@lru_cache(maxsize=4_000)
def topic(heading: str) -> str:
    """What a heading or a label is about: `tools`, `denied`, `granted`, `who`, `posture`, a kind of tool, or nothing."""
    plain = without_emoji(bare(heading)).lower().strip(" :：?")
    if not plain or len(plain) > 50:
        return ""
    kind = _labels().get(plain)
    if kind is not None:
        return "posture" if kind == "all" else kind
    if _WHO.match(plain):
        return "who"
    if plain in words("hand_overs", ""):
        return "elsewhere"
    if _DENIED.search(plain) and len(plain.split()) <= 4:
        return "denied"
    if _TOOLS.search(plain) and _PARTIAL.search(plain) and plain not in words("columns", "tools"):
        return "elsewhere"
    if plain in words("columns", "tools") or (
        _TOOLS.search(plain) and not _PARTIAL.search(plain) and len(plain.split()) <= 4
    ):
        return "tools"
    if _GRANTED.match(plain):
        return "granted"
    if plain in words("columns", "posture") or plain in words("columns", "permissions") or _LEVEL.search(plain):
        return "posture"
    return ""


@cache
def _labels() -> dict[str, str]:
    return {word: kind for kind, found in section("rights").items() for word in found}


def marked(value: str) -> bool | None:
    """Yes or no, where a mark says either without a scope."""
    found = mark_of(value)
    if found is None or found[1] or found[0] not in (Mark.YES, Mark.NO):
        return None
    return found[0] is Mark.YES
