"""A second sink: every entry once more, as a line of a file elsewhere, after the log itself has it.

    Ledger(store, point="guard", sink=FileSink(Path("/mnt/other/entries.jsonl")))

A sink that fails fails nobody's call: the log counts, and says how often its sink did not.
"""

from __future__ import annotations

import os
from pathlib import Path


class FileSink:
    """Appends `{"seq": …, "entry": …}` a line, and waits for the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, entries: list[tuple[int, bytes]]) -> None:
        text = b"".join(b'{"seq":%d,"entry":%s}\n' % (seq, body) for seq, body in entries)
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.write(handle, text) != len(text):
                raise OSError("the second sink took only a part")
            os.fsync(handle)
        finally:
            os.close(handle)
