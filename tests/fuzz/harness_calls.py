"""Coverage-guided fuzzing of calls and decisions: `python -m tests.fuzz.harness_calls FOLDER [libFuzzer options]`."""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["remit", "json"]):
    from tests.fuzz.kit import LINES, answer

FOLDER = Path(sys.argv.pop(1))

if __name__ == "__main__":
    seeds = FOLDER / "seeds"
    seeds.mkdir(exist_ok=True)
    for number, line in enumerate(LINES):
        (seeds / str(number)).write_bytes(line)
    atheris.Setup([*sys.argv, str(seeds)], answer)
    atheris.Fuzz()
