"""ValidationRunner: the project's own checks, run by the workflow.

validation = ValidationRunner(guard, {"lint": ["ruff", "check", "."], "test": ["pytest", "-q"]}, path=[".venv/bin"])
with guard:
    found = validation.validate()
    if not found.ok:
        fix(found.failed)

Checks are code of the project: what they do is bounded by time, output and a clean environment, not by their text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from remit.confine.process import Finished
from remit.enforce.guard import Guard
from remit.model.arguments import check_arguments
from remit.model.text import did_you_mean, shown
from remit.runners.errors import RunnerError
from remit.runners.runner import Runner, quoted


class Validation(msgspec.Struct, frozen=True):
    """The results of the stages that ran, in order."""

    stages: dict[str, Finished]

    @property
    def ok(self) -> bool:
        """All of them ended well."""
        return all(stage.ok for stage in self.stages.values())

    @property
    def failed(self) -> dict[str, Finished]:
        """Those that did not."""
        return {name: stage for name, stage in self.stages.items() if not stage.ok}


class ValidationRunner(Runner):
    """Runs the stages of a project's validation: formatting, linting, types, tests."""

    tool = "runner/validation"

    def __init__(
        self,
        guard: Guard,
        stages: Mapping[str, Sequence[str]],
        name: str | None = None,
        *,
        seconds: float = 600.0,
        **more: Any,
    ) -> None:
        """`stages`: by name, the words of one command each."""
        check_arguments("ValidationRunner", {"stages": "mapping"}, stages=stages)
        super().__init__(guard, name, seconds=seconds, **more)
        self.stages = {stage: tuple(words) for stage, words in stages.items()}
        self._texts = {stage: quoted(words) for stage, words in self.stages.items()}
        if not all(self.stages.values()):
            raise RunnerError("a stage is a command: give its words")

    def command(self, *words: str) -> str:
        """The text of a stage. Raises RunnerError for any other command."""
        text = quoted(words)
        if text not in self._texts.values():
            raise RunnerError(f"`{shown(text, 200)}` is none of the stages")
        return text

    def stage(self, name: str) -> Finished:
        """Runs one stage."""
        words = self.stages.get(name)
        if words is None:
            known = list(self.stages)
            raise RunnerError(f"no stage `{shown(name)}`{did_you_mean(name, known)}: {', '.join(known)}")
        return self.run(*words)

    def validate(self, *names: str, keep_going: bool = False) -> Validation:
        """Runs these stages, all if none is named, until one fails."""
        found: dict[str, Finished] = {}
        for name in names or tuple(self.stages):
            found[name] = self.stage(name)
            if not found[name].ok and not keep_going:
                break
        return Validation(found)

    def _passed(self, command: str) -> Finished:
        """Only stages, whoever calls the tool."""
        if command not in self._texts.values():
            raise RunnerError(f"`{shown(command, 200)}` is none of the stages")
        return super()._passed(command)
