"""Publishing what a program's functions declare, so that people see these tools: `remit.tools.yaml` beside the policy.

found = Publication.of({"app.py:guard": guard})
print(*found.difference, sep="\n")
found.write()

The file is part of the policy: in its digest, protected, and activated with it. A guard compares it with its functions
when it starts (`remit.declare.functions`).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from remit.compile.functions import is_program, published_path, read_published, to_publish
from remit.enforce.errors import GuardError
from remit.enforce.guard import Guard
from remit.model.errors import InputError, PolicyError, RemitError
from remit.model.text import shown
from remit.store.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORM = "write FILE.py:GUARD or MODULE:GUARD, such as app.py:guard"


class Publication(msgspec.Struct, frozen=True):
    """What publishing writes, and what stands there now."""

    path: Path
    old: str | None
    new: str

    @classmethod
    def of(cls, guards: Mapping[str, Guard], policy: Path | None = None) -> Self:
        """What these programs' guards declare. Without `policy`, it is theirs. Raises RemitError."""
        files = {_file(name, guard, policy) for name, guard in guards.items()}
        if len(files) != 1:
            raise InputError("the programs have different policies: publish them one by one")
        functions: dict[str, Mapping[str, Any]] = {}
        for name, guard in guards.items():
            for tool, declaration in guard.declarations.items():
                if functions.setdefault(tool, declaration) != declaration:
                    raise GuardError(f"`{tool}` is another tool in {name}", code="bad-tool", help="rename one of them")
        file = files.pop()
        programs = [_named(name, file) for name in guards]
        return cls(published_path(file), read_published(file), to_publish(file, programs, functions))

    @property
    def same(self) -> bool:
        """True if there is nothing to write."""
        return self.old == self.new

    @property
    def difference(self) -> list[str]:
        """The lines that change, as `diff -u` shows them."""
        from difflib import unified_diff  # here: it brings much along that a program has no use for

        before, after = (self.old or "").splitlines(), self.new.splitlines()
        name = self.path.name
        return list(unified_diff(before, after, name if self.old is not None else "/dev/null", name, lineterm=""))

    def write(self) -> None:
        """Afterwards the file is there, whole. Raises InputError."""
        try:
            write_whole(self.path, self.new.encode(), mode=None if self.old is not None else 0o644)
        except OSError as error:
            raise InputError(f"{shown(self.path, 300)}: can't be written: {error.strerror}") from None


def _file(name: str, guard: Guard, policy: Path | None) -> Path:
    if policy is None:
        if not isinstance(guard.policy, str | os.PathLike):
            help = "name the policy with --policy, or give the guard its file"
            raise InputError(f"{shown(name)} has a policy that was built in Python", help=help)
        policy = Path(guard.policy)
    if not os.path.lexists(policy):
        raise InputError(f"{shown(policy, 300)}: no such file", code="no-policy")
    return policy.absolute()


def _named(program: str, policy: Path) -> str:
    """The program as the file names it: a path is relative to the policy's folder."""
    place, _, name = program.rpartition(":")
    if not place.endswith(".py"):
        return program
    found = os.path.relpath(os.path.abspath(place), policy.parent).replace(os.sep, "/")
    named = f"{found}:{name}"
    if not is_program(named):
        raise InputError(f"`{shown(named)}` can't be written down", help="use a path of ASCII letters, digits and ._-/")
    return named


# Finding a program's guard


def find_guard(program: str) -> Guard:
    """The guard of `app.py:guard` or `package.module:guard`; of a function without parameters, what it returns.

    This runs the program's code, as importing it does. Raises RemitError.
    """
    place, _, name = program.rpartition(":")
    if not is_program(program):
        raise InputError(f"`{shown(program)}` names no guard", help=_FORM)
    with _import_path(os.path.dirname(os.path.abspath(place)) if place.endswith(".py") else os.getcwd()):
        found: Any = _module(place, name)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is None:
            raise InputError(f"{shown(place)} has no `{shown(name)}`", help=_FORM)
        if inspect.isfunction(found) and not inspect.signature(found).parameters:
            found = found()
    if not isinstance(found, Guard):
        raise InputError(f"{shown(program)} is {type(found).__name__}, no Guard", help=_FORM)
    return found


def _module(place: str, name: str) -> ModuleType:
    """The program's module. A guard that it starts refuses what isn't published yet; it has all its tools by then."""
    spec = _spec(place)
    if spec is None or spec.loader is None:
        raise InputError(f"{shown(place)}: no such program", help=_FORM)
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(spec.name)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except RemitError as error:
        if not _is_unpublished(error) or not hasattr(module, name.split(".")[0]):
            raise
    except (Exception, SystemExit) as error:
        what = f"{shown(place)} can't be imported: {type(error).__name__}: {shown(error, 300)}"
        raise InputError(what, code="bad-program") from error
    finally:
        if before is not None:
            sys.modules[spec.name] = before
    return module


def _spec(place: str) -> Any:
    try:
        if place.endswith(".py"):
            name = Path(place).stem
            return importlib.util.spec_from_file_location(name, place) if os.path.isfile(place) else None
        return importlib.util.find_spec(place)
    except (ImportError, ValueError, AttributeError):
        return None


def _is_unpublished(error: RemitError) -> bool:
    codes = [problem.code for problem in error.problems] if isinstance(error, PolicyError) else [error.code]
    return not {"not-published", "undeclared-tool"}.isdisjoint(codes)


@contextmanager
def _import_path(folder: str) -> Iterator[None]:
    """The program finds its own modules, as it does when Python runs it.

    No bytecode is kept: of a file that is edited twice within a second, Python would take the older code.
    """
    before, bytecode = list(sys.path), sys.dont_write_bytecode
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = before, bytecode
