"""The JSON Schema for editors: valid itself, accepting what loads, rejecting what is wrong in shape."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from remit import catalog
from remit.declare.format import schema, schema_of_tests

ROOT = Path(__file__).parents[2]
BAD = Path(__file__).parent / "bad"
EXAMPLES = sorted((ROOT / "examples").glob("*/remit.yaml"))
TESTS = sorted((ROOT / "examples").glob("*/*.test.yaml"))
VALIDATOR = Draft202012Validator(schema())
OF_TESTS = Draft202012Validator(schema_of_tests())


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


def errors(text: str, validator: Draft202012Validator = VALIDATOR) -> list[str]:
    data = yaml.load(text, Loader)  # noqa: S506 - a safe loader of our own
    return [error.message for error in validator.iter_errors(plain(data))]


def undescribed(node: object, path: str = "") -> Iterator[str]:
    """Where properties stand that say nothing about themselves."""
    if isinstance(node, dict):
        known = node.get("properties")
        # A mapping of properties is known by its values; a property can be called `properties` itself.
        if isinstance(known, dict) and node.get("type") == "object":
            yield from (f"{path}/{key}" for key, one in known.items() if not one.get("description", "").strip())
        for key, item in node.items():
            yield from undescribed(item, f"{path}/{key}")
    elif isinstance(node, list):
        for number, item in enumerate(node):
            yield from undescribed(item, f"{path}/{number}")


@pytest.mark.parametrize("made", [schema, schema_of_tests])
def test_it_is_a_schema(made):
    found = made()
    Draft202012Validator.check_schema(found)
    assert found["$id"].startswith("urn:remit:")


@pytest.mark.parametrize("made", [schema, schema_of_tests])
def test_every_property_is_described(made):
    assert list(undescribed(made())) == []


def test_a_property_without_a_description_is_found():
    assert list(undescribed({"type": "object", "properties": {"a": {"type": "string"}}})) == ["/a"]


@pytest.mark.parametrize("made", [schema, schema_of_tests])
def test_every_reference_leads_somewhere(made):
    whole = made()
    wanted = {part.split('"')[0] for part in json.dumps(whole).split('"#/')[1:]}
    assert wanted
    for pointer in wanted:
        found = whole
        for key in pointer.split("/"):
            found = found[key]  # raises KeyError
        assert found


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
        "unknown-pack",
        "may-as-text",
        "misplaced-ask",
        "misplaced-except",
        pytest.param("bad-name"),
    ],
)
def test_it_rejects_what_is_wrong_in_shape(name):
    assert errors((BAD / f"{name}.yaml").read_text()) != []


def test_an_editor_proposes_packs_and_hosts():
    found = schema()["properties"]
    assert found["use"]["anyOf"][1]["items"] == {"enum": catalog.packs()}
    assert sorted(found["hosts"]["properties"]) == catalog.hosts()
    assert errors("remit: 1\nhosts: {claude-code: {mian: a}}\n") != []
    assert errors("remit: 1\nhosts: {one-of-a-plugin: {main: a}}\n") == []


@pytest.mark.parametrize(("file", "made"), [("policy.schema.json", schema), ("tests.schema.json", schema_of_tests)])
def test_the_published_schema_is_this_one(file, made):
    how = f"run: .venv/bin/remit schema{' --tests' if made is schema_of_tests else ''} > docs/{file}"
    assert json.loads((ROOT / "docs" / file).read_text()) == made(), how


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.parent.name)
def test_the_one_of_tests_accepts_those_of_the_examples(path):
    assert errors(path.read_text(), OF_TESTS) == []


GOOD = "remit_tests: 1\ntests:\n  - call: {agent: a, tool: t, args: {path: x}}\n    expect: deny\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("remit_tests: 1", "remit_tests: 2"),
        ("remit_tests: 1\n", ""),
        ("tests:", "test:"),
        ("agent: a, ", ""),
        ("agent: a", "agnet: a"),
        ("expect: deny", "expect: denied"),
        ("expect: deny", "expect: {code: x}"),
        ("expect: deny", "expect: {decision: deny, tier: 5}"),
        ("expect: deny", "expected: deny"),
        ("expect: deny", "expect: deny\n    facts: {capsule: {}}"),
        ("args: {path: x}", "args: x"),
        ("args: {path: x}", "context: {cwd: 7}"),
    ],
)
def test_the_one_of_tests_rejects_what_is_wrong_in_shape(before, after):
    assert errors(GOOD, OF_TESTS) == []
    assert errors(GOOD.replace(before, after), OF_TESTS) != []


def numbered(node: object) -> Iterator[dict]:
    """Objects with a property that YAML reads as a number."""
    if isinstance(node, dict):
        if any(str(key).isdigit() for key in node.get("properties", {})):
            yield node
        for item in node.values():
            yield from numbered(item)
    elif isinstance(node, list):
        for item in node:
            yield from numbered(item)


def test_editors_find_a_key_that_is_a_number():
    """A YAML language server has no text for the key `4`: it compares it with patterns, and not with names."""
    found = list(numbered(schema()))
    assert found
    for one in found:
        keys = [key for key in one["properties"] if key.isdigit()]
        patterns = one["patternProperties"]
        assert all(any(re.search(pattern, key) for pattern in patterns) for key in keys)
        assert not any(re.search(pattern, key) for pattern in patterns for key in ("5", "10", "04", "-1", ""))
    assert errors("remit: 1\ntiers: {5: deny}\nagents: {}\n")
