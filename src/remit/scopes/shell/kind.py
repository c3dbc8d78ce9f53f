"""Shell texts as a kind. What reads commands is loaded only when there is one, or a scope about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from remit.model.facts import PLAIN_NAMES
from remit.model.pattern import compile_later
from remit.model.terms import PROJECT, UNKNOWN
from remit.scopes.interface import Declared, Kind, Matcher, Misnamed, Unit, Values, in_quotes

if TYPE_CHECKING:
    from remit.forms.shapes import Shape
    from remit.model.call import Call
    from remit.model.facts import Facts
    from remit.scopes.glob import Glob
    from remit.scopes.shell.sole import Sole

NAMES = frozenset(("run", "sets", "filters"))
"""What names commands; the rest of a scope limits them."""
PUSH_FLAGS = frozenset(
    ("-u", "--set-upstream", "-q", "--quiet", "-v", "--verbose", "--progress", "--no-progress", "--atomic")
)
"""Options of `git push` that change nothing about what is pushed, and how."""
_PLAIN = compile_later(r"[A-Za-z0-9_./:=@%+,~^-]+")


class ShellKind(Kind):
    """A text that bash would run."""

    name = unit = "shell"
    noun = "command"
    about = "which commands it may run"
    limited_by = ("shell", "sql")
    must_be_mentioned = True
    judges = frozenset(("network",))
    language = True
    graded = True
    tests = frozenset()
    instead = "`shell:`"
    touched = frozenset(("path", "url", "host", "shell", "sql"))
    no_scope = "let a person run it, or name a command that is understood in the shell scope of {caller}"

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        from remit.scopes.shell.units import shell_units  # here, as below: few callers have shells

        new = arg.tool.args[arg.name].new_shell
        plain = PLAIN_NAMES in facts.changes
        return shell_units(
            arg.name,
            value,
            call.context.cwd,
            facts.root,
            facts.schema,
            facts.links,
            installed=facts.installed,
            objects=facts.objects,
            files=facts.files if facts.resolved is not None else None,
            new_shell=new,
            plain_names=plain,
            changes=facts.changes,
            there=facts.there,
        )

    def paths(self, text: str, cwd: str | None, root: str | None) -> Iterable[str]:
        from remit.scopes.shell.units import named_paths

        return named_paths(text, cwd, root)

    def local_programs(self, text: str, cwd: str | None, root: str | None) -> Iterable[str]:
        from remit.scopes.shell.units import local_programs

        return local_programs(text, cwd, root)

    def patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        from remit.scopes.shell.units import named_patterns

        return named_patterns(text, cwd, root)

    def moved_folders(self, text: str, cwd: str | None, root: str | None) -> Iterable[tuple[Glob, str]]:
        from remit.scopes.shell.units import moved_folders

        return moved_folders(text, cwd, root)

    def taken_for_files(self, text: str, cwd: str | None, root: str | None) -> Iterable[tuple[str, ...]]:
        from remit.scopes.shell.units import taken_for_files

        return taken_for_files(text, cwd, root)

    def expanded_patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        from remit.scopes.shell.units import expanded_patterns

        return expanded_patterns(text, cwd, root)

    def standing_patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        from remit.scopes.shell.units import standing_patterns

        return standing_patterns(text, cwd, root)

    def standing_places(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        from remit.scopes.shell.units import standing_places

        return standing_places(text, cwd, root)

    def changed_patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        from remit.scopes.shell.units import changed_patterns

        return changed_patterns(text, cwd, root)

    def databases(self, text: str, cwd: str | None, root: str | None) -> Iterable[str]:
        from remit.scopes.shell.units import named_databases

        return named_databases(text, cwd, root)

    def found_files(self, text: str, cwd: str | None, root: str | None) -> tuple[Glob, ...]:
        from remit.scopes.shell.sole import found_files

        return found_files(text, cwd, root)

    def sole_search(self, text: str, cwd: str | None, root: str | None) -> Sole | None:
        from remit.scopes.shell.sole import sole_search

        return sole_search(text, cwd, root)

    def sole_change(self, text: str, cwd: str | None, root: str | None) -> Sole | None:
        from remit.scopes.shell.sole import sole_change

        return sole_change(text, cwd, root)

    def revisions(self, text: str, cwd: str | None, root: str | None) -> Iterable[tuple[str, str]]:
        from remit.scopes.shell.units import named_revisions

        return named_revisions(text, cwd, root)

    def git_reads(self, text: str, cwd: str | None, root: str | None) -> Iterable[Sole]:
        from remit.scopes.shell.sole import git_reads

        return git_reads(text, cwd, root)

    def form(self) -> Shape:
        from remit.scopes.shell.form import shell_scope

        return shell_scope

    def misnamed(self, data: Any) -> Iterable[Misnamed]:
        from remit.scopes.shell.names import misnamed

        return misnamed(data)

    def matcher(self, data: Any) -> Matcher:
        from remit.scopes.shell.scope import ShellMatcher

        return ShellMatcher(data)

    def might(self, unit: Unit, part: str, matcher: Any) -> bool:
        if part == "sql":
            return unit.grade == UNKNOWN or any(matcher.meets(statement) for statement in unit.value.act.statements)
        return part in ("path", "url", "host") and unit.grade == UNKNOWN

    def grade(self, unit: Unit) -> str | None:
        grade: str = unit.value.act.grade
        # Code of the workspace stays known for what it is, whatever rules make of it.
        return unit.grade if unit.grade == UNKNOWN and grade != PROJECT else grade

    def declared_files(self, unit: Unit) -> tuple[str, ...] | None:
        """Of an installation below the root of what the project declares; elsewhere others may have written it."""
        placed = unit.value
        if placed.act.declared is None or any(base is None or base.startswith("/") for base in placed.bases):
            return None
        texts: tuple[str, ...] = placed.act.declared
        return None if any(text[:1] in "/~" or ".." in text.split("/") or ":" in text for text in texts) else texts

    def to_own_branch(self, unit: Unit) -> bool:
        """A plain `git push origin NAME`: everything else may overwrite, delete, or go elsewhere."""
        act = unit.value.act
        words = [word.text for word in act.command.words if word.text and not word.glob and not word.deep]
        odd = act.via or act.command.assigns or act.grade == UNKNOWN or len(words) != len(act.command.words)
        if odd or words[:2] != ["git", "push"]:
            return False
        flags = [text for text in words[2:] if text[0] == "-"]
        remote, *refs = [text for text in words[2:] if text[0] != "-"] or [""]
        if not PUSH_FLAGS.issuperset(flags) or remote != "origin" or not refs:
            return False
        return len(act.branches) == len(refs) and not any(text[0] in "+:" for text in refs)

    def target(self, unit: Unit) -> str | None:
        return None

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        from json import dumps

        act = unit.value.act
        texts = [word.text for word in act.command.words]
        plain = len(texts) > 1 and all(text is not None and _PLAIN.fullmatch(text) for text in texts)
        if not plain or act.grade == UNKNOWN:
            return None
        command = " ".join(str(text) for text in texts)
        kept = {key: value for key, value in dict(beside or {}).items() if key not in NAMES}
        if not self.matcher({**kept, "run": [command]}).covers(unit):
            return None
        more = "".join(f", {key}: {dumps(value)}" for key, value in kept.items())
        return f"shell: {{run: [{in_quotes(command)}]{more}}}"

    def samples(self) -> list[Any]:
        from remit.scopes.shell.samples import SAMPLES

        return list(SAMPLES)


KINDS = (ShellKind(),)
