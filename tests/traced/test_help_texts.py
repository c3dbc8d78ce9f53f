"""No option that takes a file goes unseen: profiles compared with what the installed programs say in their own help."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.traced.help_text import file_options, help_of, installed, unseen

NO_FILE: dict[str, str] = yaml.safe_load((Path(__file__).parent / "help_texts.yaml").read_text())


@pytest.mark.long
@pytest.mark.parametrize("words", list(installed()), ids=" ".join)
def test_options_that_take_a_file_touch_it(words: tuple[str, ...], tmp_path: Path) -> None:
    text = help_of(words, tmp_path)
    found = {f"{words[0]} {option}": line for option, line in file_options(text) if unseen(words, option)}
    assert {name: line for name, line in found.items() if name not in NO_FILE} == {}


HELP = """
  -o, --output FILE   write to FILE
  -v, --verbose       say more about each file
      --log=PATH      a log
  -n NUM              how many
"""


def test_options_are_found_in_a_help_text() -> None:
    assert [name for name, _ in file_options(HELP)] == ["-o", "--output", "--log"]


@pytest.mark.parametrize(
    ("command", "option"), [("sort", "--output"), ("sort", "-o"), ("pkg-config", "--log-file"), ("figlet", "-f")]
)
def test_a_profile_that_knows_the_option_sees_the_file(command: str, option: str) -> None:
    assert not unseen((command,), option)


def test_a_profile_that_does_not_know_it_is_found() -> None:
    assert unseen(("sort",), "--parallel")
