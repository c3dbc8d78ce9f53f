"""A guard for a project's own tests: the policy as it is written, and state that goes away.

with remit.testing.guard("remit.yaml") as guard: ...
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from remit.enforce.errors import GuardError
from remit.enforce.guard import Guard, Policy
from remit.store.open import default_url


class TestGuard(Guard):
    """Needs no activation, and records into a temporary directory. It starts only under a test runner."""

    __test__ = False

    def start(self) -> TestGuard:
        """Raises GuardError outside of tests."""
        if "PYTEST_CURRENT_TEST" not in os.environ and os.environ.get("REMIT_TESTING") != "1":
            what = "a guard for tests is started outside of them: it obeys no activation and keeps no record"
            raise GuardError(what, code="not-a-test", help="use remit.Guard; other test runners set REMIT_TESTING=1")
        return super().start()

    def _without_activation(self, above: Any) -> None:
        """Tests leave no trace in the project's own ledger."""


@contextmanager
def guard(policy: Policy, **more: Any) -> Iterator[TestGuard]:
    """A guard with the policy as it is written. Its state is in a temporary directory, removed afterwards."""
    folder = tempfile.mkdtemp(prefix="remit-test-")
    state = Path(folder, "state")
    more.setdefault("store", default_url(state))  # and not the one that REMIT_STORE names
    made = TestGuard(policy, state=state, unsafe_no_activation=True, **more)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)
