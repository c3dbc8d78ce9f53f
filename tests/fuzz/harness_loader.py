"""Coverage-guided fuzzing of the loader: `python -m tests.fuzz.harness_loader FOLDER [libFuzzer options]`."""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["remit"]):
    from tests.fuzz.kit import EXAMPLES, check_protection, load_text

FOLDER = Path(sys.argv.pop(1))


def one(data: bytes) -> None:
    rulebook = load_text(data, FOLDER)
    if rulebook is not None:
        check_protection(rulebook)


if __name__ == "__main__":
    seeds = FOLDER / "seeds"
    seeds.mkdir(exist_ok=True)
    for name, text in EXAMPLES.items():
        (seeds / name).write_text(text)
    (seeds / "small").write_text("remit: 1\ntools: {t: {args: {p: path}, does: {write: p}}}\nagents: {a: {may: [t]}}\n")
    atheris.Setup([*sys.argv, str(seeds)], one)
    atheris.Fuzz()
