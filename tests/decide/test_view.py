"""The procedure sees a call and the facts only through views: nothing in the code reaches around them."""

import ast
from pathlib import Path

import pytest

from remit.decide.view import Noted, Now, Seen
from remit.model import Call, Context, Facts

SOURCE = Path(__file__).parents[2] / "src" / "remit"
SEEN_BY = [
    path
    for folder in ("decide", "scopes", "languages")
    for path in sorted((SOURCE / folder).rglob("*.py"))
    if path.name not in ("view.py", "memo.py")
]
BEHIND = frozenset({"_behind", "_noted", "_now", "_whole_call", "_whole_facts"})
OUTSIDE = frozenset({"gc", "inspect", "sys", "weakref", "threading", "time", "datetime", "random", "os"})


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_there_is_something_to_look_at():
    assert {"steps.py", "questions.py", "engine.py", "judge.py"} <= {path.name for path in SEEN_BY}


@pytest.mark.parametrize("path", SEEN_BY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_step_looks_behind_a_view(path):
    names = {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)}
    assert names.isdisjoint(BEHIND)
    texts = {node.value for node in ast.walk(tree(path)) if isinstance(node, ast.Constant)}
    assert texts.isdisjoint(BEHIND)


def test_only_the_engine_has_the_call_itself():
    """It makes the view, looks whether the call is well formed, and says who called what; `procedure` gets the view."""
    makers = [path.name for path in SEEN_BY if path.parent.name == "decide" and "Seen(" in path.read_text()]
    assert makers == ["engine.py"]
    functions = {
        node.name: node for node in tree(SOURCE / "decide" / "engine.py").body if isinstance(node, ast.FunctionDef)
    }
    assert [argument.arg for argument in functions["procedure"].args.args] == ["cell", "seen"]
    called = [ast.unparse(node) for node in ast.walk(functions["judged"]) if isinstance(node, ast.Call)]
    assert "procedure(grid.cell(row, tool), seen)" in called


@pytest.mark.parametrize("name", ["case", "steps", "questions", "measure", "protection", "labels", "index", "intake"])
def test_no_step_remembers_anything_or_looks_elsewhere(name):
    found = tree(SOURCE / "decide" / f"{name}.py")
    assert not [node for node in ast.walk(found) if isinstance(node, (ast.Global, ast.Nonlocal))]
    imports = [node for node in ast.walk(found) if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    assert modules.isdisjoint(OUTSIDE)


def seen(call: Call | None = None, **facts) -> Seen:
    return Seen(call or Call("a", "t", {"x": 1}), Facts(**facts))


def test_every_field_of_a_context_is_noted_when_it_is_read():
    for name in Context.__struct_fields__:
        one = seen()
        assert one.noted.context == set()
        assert getattr(one.call.context, name) == getattr(Context(), name)
        assert getattr(one.call.context, name) == getattr(Context(), name)
        assert one.noted.context == {name}


def test_every_field_of_the_facts_is_noted_when_it_is_read():
    one_by_one = {"now", "capsules"}
    for name in Facts.__struct_fields__:
        one = seen()
        getattr(one.facts, name)
        assert one.noted.facts == {name} - one_by_one
        assert one.noted.now is (name == "now")
    with pytest.raises(AttributeError):
        seen().facts.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_arguments_are_noted_one_by_one():
    one = seen(Call("a", "t", {"x": 1, "y": 2}))
    assert (one.call.agent, one.call.tool, one.call.args.get("x"), one.call.args.get("z")) == ("a", "t", 1, None)
    assert one.noted.args == {"x", "z"}
    for look in (list, dict, len):
        with pytest.raises(TypeError):
            look(one.call.args)


def test_lookups_are_noted_with_what_they_gave():
    one = seen(resolved={"x": "/x"})
    assert (one.facts.resolved or {}).get("x") == "/x"
    assert (one.facts.resolved or {}).get("y") is None
    assert one.facts.capsules.get("C") is None
    assert (one.noted.resolved, one.noted.capsules) == ({"x": "/x", "y": None}, {"C": None})
    assert seen().facts.resolved is None
    assert seen().noted.resolved is None


def test_the_time_is_noted_by_the_moments_around_it():
    noted = Noted()
    now = Now("5", noted)
    assert (now < "7", now < "6", now < "8", now >= "3", now >= "5", now < "4") == (True, True, True, True, True, False)
    assert (noted.since, noted.until) == ("5", "6")
    assert now < "9"
    for wrong in (str, repr, hash, lambda now: now == "5", lambda now: now > "5", lambda now: now <= "5"):
        with pytest.raises(TypeError):
            wrong(now)


def test_no_time_is_noted_too():
    one = seen()
    assert one.facts.now is None
    assert one.noted.now


def test_a_statement_is_known_only_by_being_complete():
    one = seen()
    assert not one.noted.stated
    assert one.call.stated is False
    assert one.noted.stated
    with pytest.raises(AttributeError):
        one.call.statement  # noqa: B018


def test_values_can_not_be_looked_at_as_a_whole():
    from remit.decide.intake import Intake
    from tests.decide.kit import may

    tool = may("think").book.tools["think"]
    one = seen(Call("a", "think", {"text": "x"}))
    values = one.values(Intake(tool))
    assert one.noted.args == set()
    for look in ("values", "items", "copy", "popitem"):
        with pytest.raises(TypeError):
            getattr(values, look)()
    with pytest.raises(TypeError):
        values == {}  # noqa: B015
    assert values["text"] == ["x"]
    assert one.noted.args == {"text"}


def test_what_is_inside_an_argument_is_noted_as_that_argument():
    from remit.decide.view import _Values

    inside = {"a": "a", "b[]": "b", "c.d": "c", "e[].f": "e", "g.h[]": "g", "i.j[].k": "i"}
    for name, whole in inside.items():
        for look in (_Values.__getitem__, _Values.get):
            noted = Noted()
            assert look(_Values({name: [1]}, noted), name) == [1]
            assert noted.args == {whole}


def test_a_call_with_faults_is_good_for_nobody_else():
    """Of two faults the first is named, and the memo does not know the order of arguments."""
    from remit.decide import decide
    from tests.decide.kit import may

    rulebook = may("write")
    for names in (("y", "z"), ("z", "y")) * 2:
        call = Call("a", "write", {"path": "x", **dict.fromkeys(names, 1)})
        assert decide(rulebook, call) == decide(rulebook, call, memo=False)
