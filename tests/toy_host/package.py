"""The toy host as a package that is installed: an interpreter that has it, besides all that this one has."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import remit

ROOT = Path(__file__).parents[2]


@contextmanager
def installed() -> Iterator[None]:
    """Inside, this process finds the host, and so do all hooks that are installed meanwhile."""
    python, packages = _environment()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", str(python))
        patch.setattr(sys, "path", [*sys.path, str(packages)])
        yield


@cache
def _environment() -> tuple[Path, Path]:
    """An environment with the package, and the folder that it lies in; gone with this process."""
    kept = tempfile.TemporaryDirectory(prefix="remit-toy-")
    _keep.append(kept)
    home = Path(kept.name)
    packages = home / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    about = packages / "toy_host-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-host\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[remit.hosts]\ntoy = tests.toy_host.host:HOST\n")
    places = [Path(remit.__file__).parents[1], ROOT, *(Path(one) for one in sys.path if one.endswith("site-packages"))]
    (packages / "elsewhere.pth").write_text("".join(f"{place}\n" for place in places))
    (home / "pyvenv.cfg").write_text(f"home = {Path(sys._base_executable).parent}\n")  # type: ignore[attr-defined]
    python = home / "bin" / "python"
    python.parent.mkdir()
    os.symlink(os.path.realpath(sys.executable), python)
    return python, packages


_keep: list[tempfile.TemporaryDirectory[str]] = []
