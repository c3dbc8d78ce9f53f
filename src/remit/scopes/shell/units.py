"""A shell text as units: one for each command that would run, and one for each path and URL that it touches."""

from __future__ import annotations

from remit.scopes.glob import Glob
from remit.scopes.interface import Unit
from remit.scopes.shell.reading import Word
from remit.scopes.shell.scope import Placed
from remit.scopes.shell.script import Command
from remit.scopes.shell.understand import UNKNOWN, Act, understand
from remit.scopes.url import Url, UrlError, parse_url


def shell_units(name: str, text: str, cwd: str | None, root: str | None) -> list[Unit]:
    """The units of a text; never empty. A text that can't be read is one command that is not understood."""
    found = understand(text)
    if found.problem is not None:
        lost = Act(None, (), frozenset(), frozenset(), frozenset(), UNKNOWN, Command(()), unknown=(found.problem,))
        return [Unit("shell", name, Placed(lost, cwd, root), text=text, grade=UNKNOWN)]
    units: list[Unit] = []
    for act in found.acts:
        placed = Placed(act, cwd, root)
        dubious = any(path is None for _, path in (*placed.touches, *placed.redirected))
        raw = act.command.raw
        urls = [url for word in act.urls for url in _addresses(word)]
        urls.extend(url for word in act.hosts for url in _addresses(word))
        # An address that no reading makes a URL of could be any.
        grade = UNKNOWN if any(not _addresses(word) for word in act.urls) else act.grade
        units.append(Unit("shell", name, placed, act.effects, text=raw, grade=grade, dubious=dubious))
        for touch, path in (*placed.touches, *placed.redirected):
            if path is not None:
                wide = isinstance(path, Glob)
                effects = frozenset({touch.effect})
                units.append(Unit("path", name, path, effects, wide=wide, text=touch.path.raw, derived=True))
        for url in urls:
            units.append(Unit("url", name, url, frozenset({"network"}), text=raw, derived=True))
    if not units:
        units.append(Unit("call", "", "", text=text))
    return units


def _addresses(word: Word) -> list[Url]:
    """The URLs that a word may mean: itself, or without a scheme (`example.com/x`, `host:path`) each likely one."""
    text = word.text or ""
    host, colon, path = text.partition(":")
    texts = [text] if "://" in text else [f"http://{text}", f"https://{text}"]
    if colon and "://" not in text:
        texts.append(f"ssh://{host.rpartition('@')[2]}/{path.lstrip('/')}")
    found = []
    for candidate in texts:
        try:
            found.append(parse_url(candidate))
        except UrlError:
            continue
    return found
