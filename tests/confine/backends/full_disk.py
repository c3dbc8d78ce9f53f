"""Run by a test, in a mount namespace of its own: a confined command, with the project or the state on a small disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Place
from remit.confine.run import run
from tests.attacks.confined.arena import contents
from tests.confine.places import populate, profile

COMMAND = (
    "rm src/a.py; echo changed > docs/a.md; mkdir new; echo x > new/y; "
    "head -c 5M /dev/zero > src/one; head -c 5M /dev/zero > src/two; echo last > zz"
)


def main(folder: Path, small: str) -> None:
    """Says whether the project is as it was."""
    disk, large = folder / "disk", folder / "large"
    disk.mkdir()
    large.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=7m", "tmpfs", str(disk)], check=True)
    root = (disk if small == "project" else large) / "project"
    state = (disk if small == "state" else large) / "state"
    state.mkdir(mode=0o700)
    populate(root)
    if not Overlay(state).holds():
        print(*Overlay(state).lacking(), file=sys.stderr)
        sys.exit(77)
    before = contents(root)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    place = Place(root, root, state, unseen=(state,))
    ran = run(("bash", "-c", COMMAND), profile(), place, backend=Overlay(state), environment=environment)
    print("the same" if contents(root) == before and ran.findings else f"changed: {ran}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
