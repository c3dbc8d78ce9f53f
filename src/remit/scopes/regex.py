"""Regular expressions by a linear-time engine only, always matching the whole text.

`.` matches a newline too, and there is no `$` that would match before a final one. The engine (RE2) has no
look-around and no back-references, so no pattern can take more than linear time. It is imported only when a
policy contains a regex.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

MAX_PATTERN = 2_000


class RegexError(ValueError):
    """A pattern that the engine refuses."""


_LACKING = {
    "(?=": "RE2 has no lookahead",
    "(?!": "RE2 has no lookahead",
    "(?<": "RE2 has no lookbehind",
    "escape sequence: \\1": "RE2 has no backreferences",
}


@lru_cache(maxsize=1024)
def compile_regex(pattern: str) -> Callable[[str], bool]:
    """A predicate for texts that `pattern` matches as a whole. Raises RegexError."""
    if len(pattern) > MAX_PATTERN:
        raise RegexError(f"longer than {MAX_PATTERN} characters")
    import re2  # type: ignore[import-untyped, unused-ignore]  # here: few policies have one; no stubs are published

    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    options.max_mem = 8 << 20
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        text = error.args[0] if error.args else error
        said = text.decode() if isinstance(text, bytes) else str(text)
        lacking = next((what for sign, what in _LACKING.items() if sign in said), None)
        raise RegexError(f"{said}{f'; {lacking}, since it takes linear time' if lacking else ''}") from None

    def matches(text: str) -> bool:
        return compiled.fullmatch(text) is not None

    return matches
