"""What `kill` ends: each way to write a signal, and two of them, in real shells."""

import itertools
import shutil
import subprocess
import time

import pytest

from remit.languages.programs.understand import understand

SIGNALS = ["", "-0", "-9", "-s 0", "-s 9", "-s9", "-n 0", "-n 9", "-n9", "-l", "-KILL", "-s KILL", "--"]
TEXTS = list(dict.fromkeys(" ".join(filter(None, ("kill", *pair))) for pair in itertools.product(SIGNALS, repeat=2)))


@pytest.mark.parametrize("shell", ["bash", "dash"])
def test_what_is_said_to_end_nothing_ends_nothing(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    victims = [subprocess.Popen(["sleep", "60"]) for _ in TEXTS]
    try:
        script = "\n".join(f"{text} {victim.pid}" for text, victim in zip(TEXTS, victims, strict=True))
        subprocess.run([program, "-c", f"{script}\ntrue"], capture_output=True, start_new_session=True, check=False)
        time.sleep(0.5)  # until the last one has ended
        ended = {text for text, victim in zip(TEXTS, victims, strict=True) if victim.poll() is not None}
    finally:
        for victim in victims:
            victim.kill()
            victim.wait()
    assert {"kill", "kill -9", "kill -s KILL"} <= ended
    assert "kill -0" not in ended
    harmless = {text for text in TEXTS if "system" not in understand(f"{text} 1234").acts[0].effects}
    assert "kill -0" in harmless
    assert ended.isdisjoint(harmless)
