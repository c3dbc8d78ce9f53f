"""The Python API refuses arguments of a wrong type where they are given."""

from typing import Any

import pytest

import remit as public

remit: Any = public  # so that wrong types can be given

POLICY = {"remit": 1, "use": ["vscode"], "agents": {"dev": {"may": ["read_file"]}}}
WRONG: dict[str, list[Any]] = {
    "policy": [3, b"remit.yaml", None, ["remit.yaml"]],
    "root": [3, b"x"],
    "state": [3, b"x", ["x"]],
    "store": [3, b"x"],
    "point": [3, None],
    "wait": ["x", -1, True, None],
    "answer": [3, "x"],
    "on_question": ["x"],
    "refusals": ["rais", None, 1],
    "schemas": [3, ["x"]],
    "unsafe_no_activation": ["yes", 1, None],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_guard(name, value):
    with pytest.raises(remit.RemitError, match=f"`{name}` must be") as error:
        remit.Guard(**{"policy": POLICY, name: value})
    assert isinstance(error.value, TypeError)
    assert getattr(error.value, "code", None) == "bad-argument"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: remit.ToolAccess(3), "policy"),
        (lambda: remit.load_rulebook(3), "path"),
        (lambda: remit.load_rulebook(b"x"), "path"),
        (lambda: remit.load_rulebook(POLICY), "path"),
        (lambda: remit.build_rulebook("remit.yaml"), "data"),
        (lambda: remit.build_rulebook(3), "data"),
        (lambda: remit.Webhook(3), "url"),
        (lambda: remit.Webhook("https://a.example/x", 3), "secret"),
        (lambda: remit.open_log(3), "root"),
        (lambda: remit.IntentRouter(3, {"a": ["b"]}), "access"),
        (lambda: remit.GitRunner(3), "guard"),
        (lambda: remit.GitHubCLIRunner(remit.Guard(POLICY), 3), "repo"),
        (lambda: remit.ValidationRunner(remit.Guard(POLICY), 3), "stages"),
        (lambda: remit.Guard(POLICY).agent(3), "name"),
        (lambda: remit.Guard(POLICY).tools_for(3), "agent"),
    ],
)
def test_everything_else(call, name):
    with pytest.raises(remit.RemitError, match=f"`{name}` must be"):
        call()


def test_a_secret_is_never_shown():
    with pytest.raises(remit.RemitError) as error:
        remit.Webhook("https://a.example/x", {"secret": "hunter2"})
    assert "hunter2" not in str(error.value)


def test_a_guard_without_a_policy_says_so_at_once(tmp_path):
    with pytest.raises(remit.PolicyError, match="no such file"):
        remit.Guard(tmp_path / "nope.yaml")
