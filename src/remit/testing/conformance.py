"""The conformance suite: situations with calls and what must come of them, put to any way in which calls are decided.

    for situation in situations(Path("cases")):
        assert faults(situation, my_way(situation, folder)) == []

A way in takes a situation and gives decisions in their JSON form (`docs/formats/`), one for each call, in order. Guard,
`remit decide`, and the hook of every host are such ways. `through_python` is the one that all others must agree with.
Paths in the situations lie below `ROOT`, which does not exist.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from remit.compile import build_rulebook
from remit.compile.facts import facts_from
from remit.decide import decide
from remit.decide.questions import call_digest
from remit.declare.nodes import from_python, parse
from remit.enforce.paths import look_up, open_root
from remit.forms.texts import plain
from remit.model import CallError, Facts, Rulebook
from remit.model.wire import call_from, decode_call, encode_decision

JSON = dict[str, Any]
ROOT = Path("/cases/root")


class Situation(msgspec.Struct, frozen=True):
    """A policy and facts, with calls and what must come of them."""

    name: str
    policy: JSON
    facts: JSON
    calls: tuple[JSON, ...]
    expected: tuple[JSON, ...]


Way = Callable[[Situation, Path], list[JSON]]
"""A way in: it may use the directory."""


def situations(folder: Path) -> list[Situation]:
    """Those in the YAML files of a directory. Raises PolicyError for what is no YAML."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        data = plain(parse(path.read_text("utf-8"), path.name))
        for part in data.get("situations", [data]):
            name = f"{path.stem}: {part['name']}" if "name" in part else path.stem
            calls = tuple({"id": str(number), **entry["call"]} for number, entry in enumerate(part["calls"]))
            expected = tuple(_expectation(entry["expect"]) for entry in part["calls"])
            found.append(Situation(name, data["policy"], part.get("facts", {}), calls, expected))
    return found


def faults(situation: Situation, answers: Sequence[JSON]) -> list[str]:
    """What the answers say otherwise than expected."""
    if len(answers) != len(situation.calls):
        return [f"{len(answers)} answers to {len(situation.calls)} calls"]
    rows = zip(situation.calls, situation.expected, answers, strict=True)
    found = [fault for row in rows if (fault := wrong(*row)) is not None]
    asked, answered = [call["id"] for call in situation.calls], [answer.get("id") for answer in answers]
    return found if asked == answered else [*found, f"answers to {answered}, not to {asked}"]


def check(way: Way, cases: Iterable[Situation], folder: Path) -> list[str]:
    """What a way in does otherwise than expected, over all situations; each gets a directory of its own."""
    found = []
    for number, situation in enumerate(cases):
        place = folder / str(number)
        place.mkdir()
        found += [f"{situation.name}: {fault}" for fault in faults(situation, way(situation, place))]
    return found


def wrong(call: JSON, expected: JSON, answer: JSON) -> str | None:
    """What an answer says otherwise than expected."""
    got = {"of": (answer.get("needs") or {}).get("of"), **answer}
    if expected["decision"] == "allow" and expected.get("would") is None:
        expected = {"code": "allowed", **expected}
    differences = {key: got.get(key) for key, value in expected.items() if got.get(key) != value}
    return f"{json.dumps(call)} → {differences}, not {expected}: {answer.get('reason')}" if differences else None


def facts_of(situation: Situation, rulebook: Rulebook, folder: Path) -> Facts:
    """The facts of a situation, with the paths of its root."""
    given = facts_from(rulebook, from_python(with_digests(situation.facts, rulebook), "facts"))
    return open_root(ROOT, folder / "remit.yaml", given)[1]


def with_digests(facts: JSON, rulebook: Rulebook) -> JSON:
    """The facts with the digest of the call that each approval is for."""
    approvals = []
    for entry in facts.get("approvals", ()):
        fields = {key: value for key, value in entry.items() if key != "for"}
        call = call_from(entry["for"])
        approvals.append({**fields, "digest": call_digest(call, rulebook.hash, Facts(root=str(ROOT)))})
    return {**facts, **({"approvals": approvals} if approvals else {})}


def through_python(situation: Situation, folder: Path) -> list[JSON]:
    """`build_rulebook` and `decide`."""
    rulebook = build_rulebook(situation.policy)
    facts = facts_of(situation, rulebook, folder)
    answers = []
    for data in situation.calls:
        try:
            call = decode_call(json.dumps(data).encode())
        except CallError as error:
            answers.append({"id": error.id, "decision": "deny", "code": error.code})
            continue
        decision = decide(rulebook, call, look_up(rulebook, call, facts))
        answers.append(json.loads(encode_decision(decision.for_call(call.args), call.id)))
    return answers


def _expectation(value: Any) -> JSON:
    """`allow`, `deny CODE` or a mapping, as a mapping."""
    if isinstance(value, dict):
        return value
    decision, _, code = value.partition(" ")
    return {"decision": decision, "code": code or "allowed", "would": None}
