"""Which names mean the same agent: `Code Reviewer`, `code-reviewer`, `CodeReviewerAgent`; `AdvRev` beside them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from remit.scan.vocabulary import bare, without_emoji

_FILLER = frozenset({"agent", "the", "subagent", "bot"})
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_LANGUAGES = ((r"c\+\+", "cpp"), (r"\b([cf])#", r"\1sharp"), (r"(?<!\w)\.net\b", "dotnet"))
# Words with a capital inside that are one word.
_ONE_WORD = re.compile(
    r"\b(?:(?:Dev|DevSec|Sec|Git|ML|Data|Fin|AI)Ops|Git(?:Hub|Lab)|(?:Type|Java)Script|(?:Postgre|My|No)SQL|GraphQL"
    r"|(?:Fast|Open)API|Next\.?JS|Node\.?JS|DevEx|OAuth)"
)
_SPELLED = {"sr": "senior", "jr": "junior", "mgr": "manager"}
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_BLANK = re.compile(r"<[^<>]*>|\{+[^{}]*\}+|\[[^\[\]]*\]|\$\{?\w+\}?|%\w+%|_{3,}|\.{3}|…")
_NUMBER = re.compile(r"^(?:§\s*)?[\d.]+[.):]?\s+")


@lru_cache(maxsize=20_000)
def parts_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, without pictures, `@`, numbering and the word "agent"."""
    plain = re.sub(r"§\s*\d+(\.\d+)*", "", without_emoji(bare(name)))
    for written, said in _LANGUAGES:
        plain = re.sub(written, said, plain, flags=re.IGNORECASE)
    plain = _ONE_WORD.sub(lambda found: found[0].lower(), plain)
    plain = _NUMBER.sub("", plain.strip().lstrip("@").removesuffix(".md").removesuffix(".agent"))
    plain = _in_ascii(re.sub(r"\([^)]*\)\s*$", "", plain))
    words = [_SPELLED.get(word.lower(), word.lower()) for word in _PARTS.findall(plain)]
    kept = [word for word in words if word not in _FILLER]
    return tuple(kept or words)


def _in_ascii(text: str) -> str:
    """Latin letters as the names of files write them: `Prüfer` is `pruefer`, `Vérificateur` is `verificateur`."""
    spelled = re.sub(r"(?<=[A-Z])[ÄÖÜ]|[ÄÖÜ](?=[A-Z])", lambda found: found[0].translate(_GERMAN).upper(), text)
    split = unicodedata.normalize("NFD", spelled.translate(_GERMAN))
    return unicodedata.normalize("NFC", re.sub(r"(?<=[A-Za-z])[\u0300-\u036f]+", "", split))


@lru_cache(maxsize=20_000)
def key_of(name: str) -> str:
    """One text for all spellings of a name that differ in form only; a name without words is its own."""
    return "-".join(parts_of(name)) or name


def is_blank(name: str) -> bool:
    """Whether a name is a blank for a person to fill in: `<agent>`, `{name}`, `[your agent]`, `$AGENT`."""
    return _BLANK.fullmatch(name.strip()) is not None


def is_short_for(short: str, full: str) -> bool:
    """Whether `AdvRev` may stand for `adversarial-reviewer`: each part begins a word, in order, from the first on."""
    few, many = parts_of(short), parts_of(full)
    if not few or few == many or len(few) > len(many):
        return False
    if many[: len(few)] == few:
        return len("".join(few)) >= 3
    return (
        all(len(part) >= 2 and word.startswith(part) for part, word in zip(few, many, strict=False))
        and len("".join(few)) >= 3
    )


class Names:
    """Names that are known, to be found by another form of theirs or by what is short for them."""

    def __init__(self, known: Iterable[str]) -> None:
        self.by_key: dict[str, str] = {}
        self.by_start: dict[str, list[str]] = {}
        self.by_letters: dict[str, list[str]] = {}
        for name in sorted(set(known)):
            if self.by_key.setdefault(key_of(name), name) == name and parts_of(name):
                self.by_letters.setdefault("".join(parts_of(name)), []).append(name)
                for size in (1, 2):
                    self.by_start.setdefault(parts_of(name)[0][:size], []).append(name)

    def resolve(self, short: str) -> str | None:
        """The only known name that this one stands for: itself in another form, or short for it."""
        same = self.by_key.get(key_of(short))
        few = parts_of(short)
        if same is not None or not few:
            return same
        joined = self.by_letters.get("".join(few), ())  # `OpenSourceCheck` beside `opensource-check`
        if len(joined) == 1:
            return joined[0]
        spelled = re.search(r"\(`?([\w .-]{2,50})`?\)\s*$", short)  # `검토자 (reviewer)`
        if spelled is not None and key_of(spelled[1]) in self.by_key:
            return self.by_key[key_of(spelled[1])]
        near = [name for name in self.by_start.get(few[0][:2], ()) if is_short_for(short, name)]
        return near[0] if len(near) == 1 else None


def resolve(short: str, known: Iterable[str]) -> str | None:
    """The only one of a few names that this one stands for."""
    return Names(known).resolve(short)


def common_prefix(names: Iterable[str]) -> str | None:
    """The first word that most of a team's names share (`acme-` in `acme-reviewer`), if at least three do."""
    firsts = [parts[0] for name in sorted(set(names)) if len(parts := parts_of(name)) > 1]
    best = max(sorted(set(firsts)), key=firsts.count, default=None)
    if best is None or firsts.count(best) < max(3, 0.6 * len(set(names))):
        return None
    return best


def short_names(names: Iterable[str]) -> dict[str, str]:
    """The names of a team without the prefix that they share, by their keys; only those that are no other's name."""
    known = sorted(set(names))
    prefix = common_prefix(known)
    if prefix is None:
        return {}
    taken = {key_of(name) for name in known}
    found = {key_of(name).removeprefix(f"{prefix}-"): name for name in known if parts_of(name)[0] == prefix}
    return {key: name for key, name in found.items() if key and key not in taken}
