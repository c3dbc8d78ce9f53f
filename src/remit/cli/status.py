"""`remit status`: what is in force, what enforces it and for whom. It never claims enforcement where there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, NAME, InputError, find_policy
from remit.cli.ledger.lines import out_ascii
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, watched
from remit.cli.parameters import Option
from remit.cli.status_lines import all_as_text, as_json, as_text
from remit.compile.file import rulebook_path
from remit.enforce.in_force import InForce, read_in_force
from remit.model.errors import RemitError
from remit.model.text import shown
from remit.record.open import OpenLog
from remit.service.activation import Standing, standing
from remit.service.probe import Probes, run_probes
from remit.service.status.gather import NoStore, Project, gather, open_hooks_log
from remit.service.status.model import PolicyState, Status
from remit.store.place import state_directory
from remit.testing.check import Checked, examine

NOT_AS_IT_SHOULD = 1


def command(
    probe: Annotated[
        bool, Option("--probe", help="Send calls that must be denied through the installed hook, as the host does.")
    ] = False,
    everything: Annotated[
        bool, Option("--all", help="Show everything that was checked, including what is fine.")
    ] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Show what is in force, how strictly each agent is bound, and what gaps remain. Exit code 1: a problem.

    Examples: `remit status`, `remit status --all`, `remit status --probe`
    """
    project = _project(policy)
    status = look(project)
    probes = _probes(project, status, machine=json) if probe else None
    fine = not status.faults and (probes is None or probes.fine)
    if json:
        out_ascii(as_json(status, probes, fine))
    else:
        out(all_as_text(status, probes, fine) if everything else as_text(status, probes, fine))
    return FINE if fine else NOT_AS_IT_SHOULD


def _probes(project: Project, status: Status, *, machine: bool) -> Probes:
    with watched(machine=machine) as progress:
        return run_probes(project.root, project.policy, project.state, status, progress=progress)


def look(project: Project) -> Status:
    """How the project stands. Raises InputError if there is no policy."""
    opened = open_hooks_log(project)
    try:
        stand = _standing(project, opened)
        state = _policy_state(project, stand)
        rulebook = stand.force.rulebook if stand.force.rulebook is not None else stand.checked.rulebook
        problems = [str(problem).replace("\n", " ") for problem in stand.checked.problems]
        return gather(project, state, rulebook, opened, problems)
    finally:
        if not isinstance(opened, NoStore):
            opened.close()


def _project(option: Path | None) -> Project:
    """Raises InputError without a policy, and StoreError for a state directory that is not safe."""
    path = _policy_file(option)
    root = Path(os.path.realpath(path.parent))
    return Project(root, root / path.name, state_directory(root))


def _policy_file(option: Path | None) -> Path:
    """The policy; where it is gone and what was activated there still binds, where it was. Raises InputError."""
    try:
        path = find_policy(option)
        missing = InputError(f"{shown(path, 300)}: no such file", code="no-policy")
        if os.path.lexists(path):
            return path
    except InputError as error:
        missing = error
    folders = [option.parent] if option is not None else [Path.cwd(), *Path.cwd().parents]
    for folder in folders:
        if rulebook_path(folder).is_file():
            return folder / (option.name if option is not None else NAME)
    raise missing


def _standing(project: Project, opened: OpenLog | NoStore) -> Standing:
    force = InForce()
    if not isinstance(opened, NoStore):
        try:
            force = read_in_force(project.root, opened.store)
        except RemitError as error:
            force = InForce(fault=str(error))
    elif not opened.none:
        force = InForce(fault=f"what was activated can't be looked up: {opened.problem}")
    there = os.path.lexists(project.policy)
    return standing(examine(project.policy) if there else Checked(project.policy, None, ()), force)


def _policy_state(project: Project, stand: Standing) -> PolicyState:
    active, force = stand.force.activation, stand.force
    rulebook = force.rulebook if force.rulebook is not None else stand.checked.rulebook
    name = rulebook.book.name if rulebook is not None else None
    broken = stand.checked.rulebook is None or not stand.checked.fine
    return PolicyState(
        str(project.policy),
        name,
        "broken" if broken else stand.state,
        active.policy if active is not None else None,
        active.at if active is not None else None,
        active.by if active is not None else None,
        force.fault,
    )
