"""A minute each of coverage-guided fuzzing, in a process of its own (`make test-long`)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
SECONDS = 60
OPTIONS = [f"-max_total_time={SECONDS}", "-timeout=20", "-max_len=4096", "-rss_limit_mb=2048", "-print_final_stats=1"]


@pytest.mark.parametrize("harness", ["loader", "calls"])
def test_a_minute_of_fuzzing_finds_nothing(harness, tmp_path):
    pytest.importorskip("atheris", reason="atheris is not installed: requirements/long.txt")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            f"tests.fuzz.harness_{harness}",
            str(tmp_path),
            *OPTIONS,
            f"-artifact_prefix={tmp_path}/",
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS + 240,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    assert executed is not None
    assert int(executed[1]) > 500
