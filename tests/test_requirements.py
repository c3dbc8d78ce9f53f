"""The pinned requirements: in step with what asks for them, hashed, and free of addresses."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PINNED = sorted((ROOT / "requirements").glob("*.txt"))


def asked_for(pins: Path) -> list[Requirement]:
    """What a pinned file is made from: its `.in`, or pyproject.toml."""
    source = pins.with_suffix(".in")
    if not source.exists():
        lines = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"][pins.stem]]
    else:
        lines = [line for line in source.read_text("utf-8").splitlines() if line and line[0] not in "#-"]
    return [Requirement(line.partition(" #")[0]) for line in lines]


def pinned(pins: Path) -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in re.findall(r"^([A-Za-z0-9].*?) ?\\$", pins.read_text("utf-8"), re.MULTILINE):
        requirement = Requirement(line)
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize("pins", PINNED, ids=lambda pins: pins.name)
def test_pins_answer_what_is_asked_for(pins: Path):
    versions, asked = pinned(pins), list(asked_for(pins))
    assert asked
    for requirement in asked:
        candidates = versions.get(canonicalize_name(requirement.name), [])
        assert candidates, f"`{requirement.name}` is not pinned: run `make requirements`"
        for candidate in candidates:
            (exact,) = candidate.specifier
            assert requirement.specifier.contains(exact.version, prereleases=True), f"`{requirement}`: {exact}"


@pytest.mark.parametrize("pins", PINNED, ids=lambda pins: pins.name)
def test_every_pin_is_exact_and_hashed_and_names_no_address(pins: Path):
    entries = re.split(r"^(?=[^ #\n])", pins.read_text("utf-8"), flags=re.MULTILINE)[1:]
    assert entries
    for entry in entries:
        if entry.startswith("--no-binary "):  # a package without wheels, named; its pin is checked like the others
            continue
        assert re.match(r"[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==", entry), entry.splitlines()[0]
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
        assert not re.search(r"://|--index|--find-links|@ ", entry), entry.splitlines()[0]


def test_the_build_backend_is_pinned():
    (backend,) = map(Requirement, PROJECT["build-system"]["requires"])
    (pin,) = pinned(ROOT / "requirements" / "dev.txt")[backend.name]
    (exact,) = pin.specifier
    assert backend.specifier.contains(exact.version)


def test_what_the_demo_runs_on_is_what_is_tested():
    run, dev = (pinned(ROOT / "requirements" / name) for name in ("run.txt", "dev.txt"))
    assert {name: pins for name, pins in run.items() if dev.get(name) != pins} == {}


PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation")


def licence(package: str) -> str:
    """What an installed package says of its licence; the text of a licence itself says too much."""
    about = metadata(package)
    said = [about["License-Expression"] or "", (about["License"] or "").partition("\n")[0]]
    return "; ".join([*said, *(one for one in about.get_all("Classifier", []) if one.startswith("License ::"))])


def test_whatever_is_installed_with_it_has_a_permissive_licence():
    wanted, found = [Requirement(line.partition(" #")[0]).name for line in PROJECT["project"]["dependencies"]], {}
    while wanted:
        name = canonicalize_name(wanted.pop())
        if name not in found:
            found[name] = licence(name)
            needs = map(Requirement, requires(name) or [])
            wanted += [one.name for one in needs if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert len(found) > len(PROJECT["project"]["dependencies"])
    assert {name: said for name, said in found.items() if "GPL" in said or not PERMISSIVE.search(said)} == {}


def test_the_hosts_from_npm_are_pinned_by_hash_and_without_addresses():
    folder = ROOT / "requirements" / "hosts-npm"
    asked, locked = (json.loads((folder / name).read_text("utf-8")) for name in ("package.json", "package-lock.json"))
    assert all(re.fullmatch(r"[0-9.]+", version) for version in asked["dependencies"].values())
    packages = {name: one for name, one in locked["packages"].items() if name}
    assert {f"node_modules/{name}" for name in asked["dependencies"]} <= set(packages)
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert not any("resolved" in one for one in packages.values())
    assert "://" not in (folder / "package.json").read_text("utf-8")
