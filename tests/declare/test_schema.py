"""The JSON Schema for editors: valid itself, accepting what loads, rejecting what is wrong in shape."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from remit.declare.format import schema

ROOT = Path(__file__).parents[2]
BAD = Path(__file__).parent / "bad"
EXAMPLES = sorted((ROOT / "examples").glob("*/remit.yaml"))
VALIDATOR = Draft202012Validator(schema())


class Loader(yaml.SafeLoader):
    """YAML 1.2 as editors read it: `on` is text, and so is a date."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own interface
        first: [(tag, rule) for tag, rule in rules if tag.rsplit(":", 1)[1] not in ("bool", "timestamp")]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"true|false"), list("tf"))


def plain(value):
    """JSON has text for keys."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def errors(text: str) -> list[str]:
    data = yaml.load(text, Loader)  # noqa: S506 - a safe loader of our own
    return [error.message for error in VALIDATOR.iter_errors(plain(data))]


def test_it_is_a_schema():
    Draft202012Validator.check_schema(schema())


def test_every_reference_leads_somewhere():
    text = json.dumps(schema())
    wanted = {part.split('"')[0] for part in text.split('"#/$defs/')[1:]}
    assert wanted
    assert wanted <= set(schema()["$defs"])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_it_accepts_the_examples(path):
    assert errors(path.read_text()) == []


@pytest.mark.parametrize(
    "name",
    [
        "agents-as-list",
        "boolean-for-text",
        "misspelt-key",
        "misspelt-kind",
        "misspelt-section",
        "missing-grant-end",
        "missing-version",
        "nothing-for-text",
        "number-for-name",
        "number-for-text",
        "other-version",
        "text-for-number",
        "tier-too-high",
        "misspelt-effect",
        "misspelt-scope",
        "misspelt-when",
        "flag-no",
        "flag-on",
        "flag-quoted",
        pytest.param("bad-name"),
    ],
)
def test_it_rejects_what_is_wrong_in_shape(name):
    assert errors((BAD / f"{name}.yaml").read_text()) != []


def test_the_published_schema_is_this_one():
    assert json.loads((ROOT / "docs" / "policy.schema.json").read_text()) == schema()
