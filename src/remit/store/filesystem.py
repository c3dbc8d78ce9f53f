"""Which file system a path is on, and whether locks and shared memory hold there.

SQLite's log needs memory that all its users share and locks that all of them see. Across a network neither is certain,
and what breaks is the database. Only Linux tells the type in a file; elsewhere nothing is refused.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from remit.model.pattern import compile_later
from remit.store.errors import StoreUnsafe

MOUNTS = Path("/proc/self/mountinfo")

# Files that another machine, or the host of a virtual machine, may change as well.
# fmt: off
NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "ncp", "afs", "auristorfs", "coda", "ceph",
    "glusterfs", "lustre", "beegfs", "gpfs", "gfs", "gfs2", "ocfs2", "orangefs", "pvfs2", "panfs", "wekafs", "9p",
    "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "acfs", "davfs", "fuse", "autofs",
})
# FUSE mostly means a network; these keep their files on a local disk.
LOCAL_FUSE = frozenset({
    "fuse.fuse-overlayfs", "fuse.gocryptfs", "fuse.cryfs", "fuse.encfs", "fuse.ecryptfs", "fuse.ext2", "fuse.ext4",
    "fuse.btrfs", "fuse.zfs", "fuse.ntfs-3g", "fuse.bindfs",
})
# fmt: on
_ESCAPE = compile_later(r"\\([0-7]{3})")


def file_system(path: Path, mounts: Path | None = None) -> str | None:
    """The type that the kernel gives for where a directory lies, such as `ext4`; None if it doesn't tell."""
    try:
        lines = os.fsdecode((mounts or MOUNTS).read_bytes()).splitlines()
    except OSError:
        return None
    place = os.path.realpath(path)
    best, found = "", None
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if len(fields) < 5 or not rest[0]:
            continue
        point = os.fsdecode(_ESCAPE.sub(lambda code: chr(int(code[1], 8)), fields[4]))
        below = point == "/" or place == point or place.startswith(point + "/")
        if below and len(point) >= len(best):  # a later mount covers an earlier one at the same place
            best, found = point, rest[0]
    return found


def check_file_system(path: Path) -> None:
    """Raises StoreUnsafe if a database at a path could break because of where it lies."""
    if not sys.platform.startswith("linux"):
        return
    kind = file_system(path)
    if kind is None:
        raise StoreUnsafe(f"can't tell the file system of `{path}`: `{MOUNTS}` can't be read")
    if kind in NETWORK or (kind.startswith("fuse.") and kind not in LOCAL_FUSE):
        raise StoreUnsafe(
            f"`{path}` is on a network file system ({kind}), where SQLite loses data",
            help="keep the state on a local disk (XDG_STATE_HOME), or in PostgreSQL (REMIT_STORE=postgresql://…)",
        )
