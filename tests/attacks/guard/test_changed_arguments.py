"""A caller that keeps its arguments and changes them: what was judged is what is asked, recorded and run."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.decide.questions import call_digest
from remit.enforce.errors import CallDenied, CallPending, GuardError
from remit.enforce.guard import Guard
from remit.model.call import Call
from remit.model.facts import NO_FACTS
from remit.record.reader import entries

ARGS: dict[str, Any] = {
    "order": {"to": "ann", "amount": 5, "lines": [{"sku": "a"}]},
    "tags": ["x"],
    "data": bytearray(b"ok"),
}


def spoil(args: dict[str, Any]) -> None:
    """Everything that can be changed is."""
    args["order"]["to"] = "mallory"
    args["order"]["lines"][0]["sku"] = "z"
    args["order"]["lines"].append({"sku": "y"})
    args["tags"].append("y")
    args["data"][:] = b"no"
    args["more"] = 1


def guarded(folder: Path, **more: Any) -> tuple[Guard, list[Any]]:
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["*"]}}}, root=folder, state=folder / ".state", **more)
    ran: list[Any] = []

    @guard.tool(does={"deploy": "https://prod.example/**"})
    def pay(order: dict[str, Any], tags: list[str]) -> None:
        ran.append(copy.deepcopy((order, tags)))
        order["to"] = "changed by the function"
        tags.clear()

    @guard.tool(does={"deploy": "https://prod.example/**"})
    async def apay(order: dict[str, Any], tags: list[str]) -> None:
        await asyncio.sleep(0)
        ran.append(copy.deepcopy((order, tags)))

    return guard, ran


EXPECTED = ({"to": "ann", "amount": 5, "lines": [{"sku": "a"}]}, ["x"])


@pytest.mark.parametrize("by_name", [True, False])
def test_changed_while_it_waits(tmp_path: Path, by_name: bool):
    args = copy.deepcopy({name: ARGS[name] for name in ("order", "tags")})
    shown: list[Any] = []

    def answer(asked: Any, seen: dict[str, Any]) -> Any:
        shown.append(copy.deepcopy(seen))
        spoil({**args, "data": bytearray()})
        seen["order"]["to"] = "the answerer's copy"
        return "approve"

    guard, ran = guarded(tmp_path, answer=answer, wait=5)
    with guard, guard.agent("a"):
        if by_name:
            guard.call("pay", args)
        else:
            call_wrapper(guard, args)
        guard.flush()
        with guard.authority.store.read() as view:
            said = [msgspec.json.decode(entry.body) for entry in entries(view)]
    assert ran == [EXPECTED]
    assert shown == [{"order": EXPECTED[0], "tags": EXPECTED[1]}]
    assert not any("mallory" in str(one) for one in said)


def call_wrapper(guard: Guard, args: dict[str, Any]) -> Any:
    declared = guard._functions["pay"]
    return guard._call(declared, guard._called("pay", declared.bind((), args)))


def test_changed_by_another_thread_all_the_time(tmp_path: Path):
    """An approval for one amount: whatever the other thread does, that one runs or another question is asked."""
    guard, ran = guarded(tmp_path)
    args = copy.deepcopy({name: ARGS[name] for name in ("order", "tags")})
    stop = threading.Event()

    def spoiling() -> None:
        while not stop.is_set():
            args["order"]["amount"] = 999_999 if args["order"]["amount"] == 5 else 5

    with guard, guard.agent("a"):
        with pytest.raises(CallPending) as pending:
            guard.call("pay", copy.deepcopy(args))
        guard.authority.answer(str(pending.value.approval), "approve", by="ann")
        thread = threading.Thread(target=spoiling)
        thread.start()
        try:
            for _ in range(200):
                if ran:
                    break
                try:
                    guard.call("pay", args)
                except CallPending as other:
                    guard.authority.cancel(str(other.approval), by="ann")
        finally:
            stop.set()
            thread.join()
    assert [order["amount"] for order, _ in ran] in ([], [5])


def test_changed_by_another_task(tmp_path: Path):
    guard, ran = guarded(tmp_path)

    async def main() -> None:
        args = copy.deepcopy({name: ARGS[name] for name in ("order", "tags")})
        with guard.agent("a"):
            with pytest.raises(CallPending) as pending:
                await guard.acall("apay", args)
            guard.authority.answer(str(pending.value.approval), "approve", by="ann")
            task = asyncio.create_task(guard.acall("apay", args))
            while not task.done():
                await asyncio.sleep(0)
                args["order"]["amount"] += 1
            await task

    with guard:
        asyncio.run(main())
    assert ran == [EXPECTED]


def test_bytes_that_change(tmp_path: Path):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["*"]}}}, root=tmp_path, state=tmp_path / ".state")

    @guard.tool(does="nothing")
    def keep(data: bytes) -> bytes:
        return data

    with guard, guard.agent("a"):
        assert keep(b"ok") == b"ok"
        given = bytearray(b"ok")
        with pytest.raises(CallDenied, match="not bytearray"):
            keep(given)  # type: ignore[arg-type]


ALIKE: list[Any] = [1, "1", 1.0, True, None, "null", [1], ["1"], {"1": 1}, {"a": None}, {}, [], "", 0, False, -1]
NO_JSON: list[Any] = [(1,), {1: 1}, [(1,)], {"a": (1,)}, {None: 1}, b"1", {True: 1}]


def test_no_two_values_share_a_digest():
    found = [call_digest(Call("a", "t", {"v": value}), "p", NO_FACTS) for value in ALIKE]
    assert len(set(found)) == len(ALIKE)
    for value in NO_JSON:
        with pytest.raises(TypeError):
            call_digest(Call("a", "t", {"v": value}), "p", NO_FACTS)


def test_a_request_with_what_is_no_json(tmp_path: Path):
    policy = {"remit": 1, "use": ["remit"], "agents": {"a": {"may": ["pay", "remit_request"]}}}
    guard = Guard(policy, root=tmp_path, state=tmp_path / ".state")
    guard.tool("pay", does={"deploy": "https://x.example/**"}, kinds={"v": "json"})(lambda v: v)
    said = {"intent": "i", "because": "b", "consequences": "c"}
    with guard, guard.agent("a"):
        for value in NO_JSON:
            with pytest.raises(Exception, match=r".") as refused:
                guard.call("remit_request", {"tool": "pay", "args": {"v": value}, **said})
            assert refused.value.code == "mistyped-argument"  # type: ignore[attr-defined]


def versioned(folder: Path, version: str | None) -> tuple[Guard, Callable[[str], str]]:
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["ship"]}}}, root=folder, state=folder / ".state")

    @guard.tool(does={"deploy": "https://prod.example/**"}, version=version)
    def ship(what: str) -> str:
        return f"{what} by {version}"

    return guard, ship


def test_an_approval_is_of_one_version(tmp_path: Path):
    guard, ship = versioned(tmp_path, "1")
    with guard, guard.agent("a"), pytest.raises(CallPending) as pending:
        ship("x")
    other, ship2 = versioned(tmp_path, "2")
    with other, other.agent("a"):
        other.authority.answer(str(pending.value.approval), "approve", by="ann")
        with pytest.raises(CallPending) as again:
            ship2("x")
        assert again.value.approval != pending.value.approval
    guard, ship = versioned(tmp_path, "1")
    with guard, guard.agent("a"):
        assert ship("x") == "x by 1"


def test_a_name_is_registered_once(tmp_path: Path):
    tools = {"query": {"args": {"v": "text"}, "does": "nothing", "aliases": ["run_query"]}}
    guard = Guard({"remit": 1, "tools": tools, "agents": {"a": {"may": ["query"]}}}, root=tmp_path)
    guard.tool("query", kinds={"v": "text"})(lambda v: v)
    with pytest.raises(GuardError, match="twice"):
        guard.tool("query", kinds={"v": "text"})(lambda v: v)
    guard.tool("run_query", does="nothing", kinds={"v": "text"})(lambda v: v)
    with pytest.raises(Exception, match="run_query"):
        guard.start()
