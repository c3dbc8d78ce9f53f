"""From a user's text to the mode that an agent works in: a router that chooses only among the modes it was given.

router = IntentRouter(access, {
    "orchestrator:KNOWLEDGE_QA": ["^how", "^what", "怎么", "best practice*"],
    "orchestrator:TOOL_EXECUTION": ["^create", "^add", "创建"],
})
router.mode("What files are there?")       # "orchestrator:KNOWLEDGE_QA"
router.mode("Hm.")                         # unsure: the least privileged of the two

The text is a user's, or whatever a user pasted: it can choose a mode, and never more than the mode's remit. So being
unsure costs nothing but a question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from remit.enforce.access import ToolAccess
from remit.enforce.errors import GuardError
from remit.explain.matrix import tool_for
from remit.model.arguments import check_arguments, unfit
from remit.model.pattern import compile_later
from remit.model.terms import CHANGING
from remit.model.text import shown, suggestion

MOST = 4_000
"""Characters of a text that count."""
_WORDS = compile_later(r"[^\W_]+(?:['’-][^\W_]+)*")
_WIDE = compile_later("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that put no spaces between words."""
_HARMLESS = frozenset(("read", "delegate"))


class Chosen(NamedTuple):
    """A mode, and why."""

    mode: str
    sure: bool
    because: str


class IntentRouter:
    """Chooses a mode by patterns. Raises GuardError for an unknown mode or a bad pattern.

    A pattern is one or more words: `^how` at the start of the text, `best practice*` with any ending, anything else
    anywhere. Case, accents' encoding and full-width forms don't matter. In scripts without spaces a pattern may
    stand within other characters.
    """

    def __init__(self, access: ToolAccess, modes: Mapping[str, Sequence[str]]) -> None:
        check_arguments("IntentRouter", {"modes": "mapping"}, modes=modes)
        if not isinstance(access, ToolAccess):
            raise unfit("IntentRouter", "access", "a ToolAccess", access)
        if not modes:
            raise GuardError("a router needs a mode", code="bad-mode")
        callers = access.rulebook.book.callers
        unknown = [mode for mode in modes if mode not in callers]
        if unknown:
            raise GuardError(
                f"the policy knows no `{shown(unknown[0])}`{suggestion(unknown[0], callers)}", code="bad-mode"
            )
        self.modes = tuple(sorted(modes, key=lambda mode: _power(access, mode)))
        """From the least to the most privileged."""
        self._patterns = {mode: tuple(map(_Pattern, modes[mode])) for mode in self.modes}

    def mode(self, text: str) -> str:
        """The mode for a text."""
        return self.choose(text).mode

    def choose(self, text: str) -> Chosen:
        """The same, with whether it was sure: exactly one mode's patterns match."""
        plain = _plain(text[:MOST])
        words = _WORDS.findall(plain)
        found = {
            mode: pattern.text
            for mode in self.modes
            for pattern in reversed(self._patterns[mode])
            if pattern.matches(words, plain)
        }
        if len(found) == 1 and len(text) <= MOST:
            mode, pattern = next(iter(found.items()))
            return Chosen(mode, True, f"`{pattern}`")
        if not found:
            return Chosen(self.modes[0], False, "no pattern matches: the least privileged mode")
        if len(text) > MOST:
            return Chosen(self.modes[0], False, "the text is too long to tell: the least privileged mode")
        least = next(mode for mode in self.modes if mode in found)
        return Chosen(least, False, f"patterns of {len(found)} modes match: the least privileged of them")


class _Pattern:
    def __init__(self, text: str) -> None:
        plain = _plain(text)
        self.text = text
        self.first = plain.startswith("^")
        self.words = _WORDS.findall(plain)
        self.open = plain.endswith("*")
        self.wide = bool(_WIDE.search(plain))
        self.plain = plain.strip("^*").strip()
        if not self.words or any(sign in self.plain for sign in "^*\\()[]|+$"):
            raise GuardError(
                f"`{text[:80]}` is not a pattern: write words, with `^` before and `*` after them", code="bad-pattern"
            )

    def matches(self, words: list[str], plain: str) -> bool:
        if self.wide:
            text = plain.lstrip()
            return text.startswith(self.plain) if self.first else self.plain in text
        starts = (0,) if self.first else range(len(words))
        return any(self._at(words, start) for start in starts)

    def _at(self, words: list[str], start: int) -> bool:
        found = words[start : start + len(self.words)]
        if len(found) < len(self.words) or found[:-1] != self.words[:-1]:
            return False
        return found[-1].startswith(self.words[-1]) if self.open else found[-1] == self.words[-1]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).casefold())


def _power(access: ToolAccess, mode: str) -> tuple[int, int, int, int, str]:
    """How much a mode can do: what changes things and what hands work on first, then the sheer number."""
    highest = changing = handing = 0
    tools = access.get_available_tools(mode)
    for available in tools:
        tool = tool_for(access.rulebook, mode, available.name)
        effects = {does.effect for does in tool.does} if tool is not None else set()
        highest = max(highest, tool.tier if tool is not None else 0)
        changing += bool(effects & CHANGING or effects - _HARMLESS - {"network"})
        handing += "delegate" in effects
    return (changing, handing, highest, len(tools), mode)
