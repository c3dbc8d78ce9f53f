"""Which names mean the same agent: `Code Reviewer`, `code-reviewer`, `CodeReviewerAgent`; `AdvRev` beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from remit.scan.vocabulary import bare, without_emoji

_FILLER = frozenset({"agent", "the", "subagent", "bot"})
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_LANGUAGES = ((r"c\+\+", "cpp"), (r"\b([cf])#", r"\1sharp"), (r"(?<!\w)\.net\b", "dotnet"))
_NUMBER = re.compile(r"^(?:§\s*)?[\d.]+[.):]?\s+")


@lru_cache(maxsize=20_000)
def parts_of(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, without pictures, `@`, numbering and the word "agent"."""
    plain = re.sub(r"§\s*\d+(\.\d+)*", "", without_emoji(bare(name)))
    for written, said in _LANGUAGES:
        plain = re.sub(written, said, plain, flags=re.IGNORECASE)
    plain = _NUMBER.sub("", plain.strip().lstrip("@").removesuffix(".md").removesuffix(".agent"))
    plain = re.sub(r"\([^)]*\)\s*$", "", plain)
    words = [word.lower() for word in _PARTS.findall(plain)]
    kept = [word for word in words if word not in _FILLER]
    return tuple(kept or words)


@lru_cache(maxsize=20_000)
def key_of(name: str) -> str:
    """One text for all spellings of a name that differ in form only."""
    return "-".join(parts_of(name))


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


def resolve(short: str, known: Iterable[str]) -> str | None:
    """The only known name that this one stands for: itself in another form, or short for it."""
    names = sorted(set(known))
    same = [name for name in names if key_of(name) == key_of(short)]
    if same:
        return same[0]
    near = [name for name in names if is_short_for(short, name)]
    return near[0] if len({key_of(name) for name in near}) == 1 else None
