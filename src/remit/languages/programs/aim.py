"""What a command is aimed at beyond paths and URLs: branches, contexts of clusters and clouds, remotes of git."""

from __future__ import annotations

from fnmatch import fnmatchcase

from remit.languages.bash.reading import Reading, Word
from remit.model.pattern import compile_later

AIMS = frozenset(("branch", "context"))
_REMOTE = compile_later(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/\s]+:|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}/\S")
"""A URL, `host:path`, or a path that begins with a host name (`example.com/x`)."""
_HELPER = compile_later(r"[A-Za-z0-9_-]+::")
_CURRENT = frozenset(("", "HEAD", "@"))


def aim(out: Reading, kind: str, word: Word) -> None:
    """A word that names a branch, perhaps as the destination of a refspec, or a context."""
    if kind == "context":
        out.contexts.append(word if word.text else Word(None, word.raw))
        return
    name = _destination(word.text or "")
    if not name.startswith("refs/tags/"):
        out.branches.append(Word(None if name in _CURRENT or "*" in name else name, word.raw))


def aim_unnamed(out: Reading, reaches: tuple[str, ...]) -> None:
    """What a program works on that no word named: it could be any."""
    if "branch" in reaches and not out.branches:
        out.branches.append(Word(None, "the current branch"))
    if "context" in reaches and not out.contexts:
        out.contexts.append(Word(None, "the current context"))


def aim_words(out: Reading, words: dict[str, tuple[str, ...]], plain: list[Word]) -> frozenset[str]:
    """The effects that words in a row add, such as `manage.py migrate`; options between them don't count."""
    if not words:
        return frozenset()
    texts = [word.text.rpartition("/")[2] for word in plain if word.text and word.text[0] != "-"]
    found: set[str] = set()
    for pattern, effects in words.items():
        parts = pattern.split()
        rows = zip(*(texts[index:] for index in range(len(parts))), strict=False)
        if any(all(map(fnmatchcase, row, parts)) for row in rows):
            found.update(effects)
    out.effects |= found
    return frozenset(found)


def aim_remote(out: Reading, word: Word) -> None:
    """A path, or a URL, or `host:path`: network unless it is clearly a local path."""
    text = word.text
    if text is not None and _HELPER.match(text):
        out.unknown.append(f"`{text}` names a helper")
    elif text is not None and _REMOTE.match(text) and not text.startswith(("./", "/", "../")):
        out.url(word)
    else:
        out.touch("read", word, deep=True)


def _destination(refspec: str) -> str:
    """The branch that a refspec changes: `x`, `+x:main`, `HEAD:refs/heads/main`, `:gone`."""
    name = refspec.removeprefix("+").rpartition(":")[2]
    return name.removeprefix("refs/heads/").removeprefix("heads/")
