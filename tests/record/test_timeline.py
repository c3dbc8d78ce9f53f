"""When what was decided: every call in exactly one span, however long the log and however odd its clock."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.model.moments import moment
from remit.record import timeline as module
from remit.record.reader import Filter
from remit.record.stats import OTHERS
from remit.record.timeline import MOST_AGENTS, MOST_SPANS, timeline


def drawn(monkeypatch: pytest.MonkeyPatch, data: list[dict[str, Any]]):
    monkeypatch.setattr(module, "all_said", lambda view: [(None, one) for one in data])
    return timeline(None, Filter())  # type: ignore[arg-type]


CALLS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 10**6), st.integers(0, 4 * 10**9)),
        st.sampled_from([f"a{number}" for number in range(20)]),
        st.sampled_from(["allow", "ask", "deny"]),
    ),
    min_size=1,
    max_size=60,
)


@given(calls=CALLS)
def test_every_call_is_in_one_span(calls):
    data = [{"type": "intent", "at": moment(at), "agent": agent, "decision": word} for at, agent, word in calls]
    with pytest.MonkeyPatch.context() as patch:
        found = drawn(patch, data)
    assert found is not None
    assert sum(found.calls.values()) == len(calls)
    assert found.spans <= 10 * MOST_SPANS
    assert all(0 <= span < found.spans and agent in found.agents for span, agent, _ in found.calls)
    assert len(found.agents) <= MOST_AGENTS + 1
    assert (OTHERS in found.agents) == (len({agent for _, agent, _ in calls}) > MOST_AGENTS)
    first = min(at for at, _, _ in calls)
    assert found.moment(0) <= moment(first) < found.moment(1)


def test_what_has_no_moment_is_left_out(monkeypatch: pytest.MonkeyPatch):
    assert drawn(monkeypatch, [{"type": "intent", "at": "yesterday"}, {}]) is None


def test_events_and_denials_are_the_newest_first(monkeypatch: pytest.MonkeyPatch):
    data = [{"type": "halt", "at": moment(n), "who": n} for n in range(200)]
    data += [{"type": "intent", "at": moment(n), "agent": "a", "decision": "deny", "n": n} for n in range(200)]
    found = drawn(monkeypatch, data)
    assert found is not None
    assert [event["who"] for event in found.events] == list(range(199, 149, -1))
    assert [call["n"] for call in found.denied] == list(range(199, 149, -1))
