"""Who runs this command, for entries that name somebody."""

from __future__ import annotations

import os
import pwd


def user_name(given: str | None) -> str:
    """The name that was given, or that of the user of this process, which the environment can't change."""
    if given:
        return given[:200]
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return f"user {os.geteuid()}"
