"""What tree-sitter-bash says about the texts that our reader is tested with, and what bash does where they differ.

    pip install tree-sitter tree-sitter-bash        # in an environment of its own: no test needs them
    python -m tests.languages.bash.second_opinion --count 5000

Compared are the programs that a text would run, wherever they stand in it. docs/decisions/0006 has the figures.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tree_sitter_bash
import yaml
from tree_sitter import Language, Parser

from remit.languages.bash.lexer import words
from remit.languages.bash.reader import read_script
from remit.model.errors import NotUnderstood
from tests.languages.bash.bash_fuzz import Bash
from tests.languages.bash.bash_texts import PROGRAMS, texts

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "attacks" / "corpus.jsonl"
WRAPPERS = {"!", "builtin", "command", "exec", "time"}
"""They run their arguments. Who lists one of these, in the place of what it runs, has overlooked nothing yet."""
PARSER = Parser(Language(tree_sitter_bash.language()))

Programs = Counter[str | None]
"""How often each program would run; None where its name is not literal."""


def ours(text: str) -> Programs | None:
    """None where our reader refuses the text."""
    try:
        script = read_script(text)
    except NotUnderstood:
        return None
    return Counter(command.program for command in script.commands if command.words)


def theirs(text: str) -> Programs | None:
    """None where tree-sitter reports an error."""
    tree = PARSER.parse(text.encode("utf-8", "surrogatepass"))
    return None if tree.root_node.has_error else Counter(_programs(tree.root_node))


def _programs(node: Any) -> Iterator[str | None]:
    match node.type:
        case "command":
            name = node.child_by_field_name("name")
            if name is not None:
                yield _literal(name.text.decode("utf-8", "replace"))
        case "declaration_command" | "unset_command":
            yield node.children[0].text.decode()
        case "test_command":
            yield "[" if node.children[0].type == "[" else "test" if node.children[0].type == "[[" else "(("
    for child in node.children:
        yield from _programs(child)


def _literal(raw: str) -> str | None:
    """The word without its quotes; tree-sitter leaves that to its user."""
    try:
        found = words(raw)
    except NotUnderstood:
        return None
    return found[0].text if len(found) == 1 else None


def differ(one: Programs, two: Programs) -> bool:
    """Whether they are about different programs. `((` and `[[` run none, and each names them in its own way."""
    silent = ("((", "[[", "test")
    left, right = (Counter({key: n for key, n in each.items() if key not in silent}) for each in (one, two))
    return left != right


def missing(ran: set[str], listed: Programs) -> bool:
    """Whether bash ran a program that is not listed, though all names are literal and nothing runs its arguments."""
    return None not in listed and not WRAPPERS & set(listed) and not ran <= set(listed)


def compare(name: str, every: Iterable[str], bash: Bash | None = None) -> list[str]:
    """Prints a line of counts; the texts on which they differ."""
    count: Counter[str] = Counter()
    found = []
    for text in every:
        count["texts"] += 1
        mine, other = ours(text), theirs(text)
        if mine is None or other is None:
            count["we refuse" if other is not None else "they refuse" if mine is not None else "both refuse"] += 1
        elif not differ(mine, other):
            count["same"] += 1
        else:
            count["differ"] += 1
            found.append(text)
            if bash is not None:
                ran = {call.words[0] for call in bash.run(text).calls} & set(PROGRAMS)
                count["bash runs what we do not list"] += missing(ran, mine)
                count["bash runs what they do not list"] += missing(ran, other)
    print(f"{name}: {dict(count)}")
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=5000, help="generated texts")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", type=int, default=0, help="so many texts on which they differ")
    given = options.parse_args()
    print(f"tree-sitter {version('tree-sitter')}, tree-sitter-bash {version('tree-sitter-bash')}")
    rows = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
    found = compare("attacks/corpus.jsonl, shell", (row["input"] for row in rows if row["family"] == "shell"))
    cases = yaml.safe_load((HERE / "bash_cases.yaml").read_text("utf-8"))
    found += compare("bash_cases.yaml", (case["text"] for case in cases))
    with Bash() as bash:
        found += compare(f"generated, seed {given.seed}", texts(given.seed, given.count), bash)
    for text in found[: given.show]:
        print(json.dumps({"text": text, "ours": str(ours(text)), "theirs": str(theirs(text))}, ensure_ascii=False))


if __name__ == "__main__":
    main()
