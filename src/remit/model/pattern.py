"""Regular expressions that are compiled when they are first used: most calls need few of them, and a hook starts anew
for each call."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def compile_later(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but later; a fault in the text shows at first use."""
    return cast("re.Pattern[AnyStr]", _Later(text, flags))


class _Later:
    """Stands for a compiled pattern. What was asked for once is kept, and costs no more than the pattern's own."""

    def __init__(self, text: Any, flags: int) -> None:
        self._source = (text, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(*self._source), name)  # `re` keeps what it compiled
        setattr(self, name, found)
        return found
