"""A connection to PostgreSQL that never waits for ever, and what its errors mean."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import pq
from psycopg.types.numeric import NumericLoader
from psycopg.waiting import Ready, Wait

from remit.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMisconfigured,
    StoreMisused,
    StoreRefused,
    StoreUnavailable,
)

if TYPE_CHECKING:
    from psycopg.abc import Buffer, PQGen

R = TypeVar("R")

# By SQLSTATE: the whole code, or its class.
_KINDS: dict[str, type[StoreError]] = {
    "08": StoreUnavailable,  # connection lost
    "22": StoreMisused,  # a value out of range
    "23": StoreRefused,  # a constraint
    "25006": StoreFull,  # a read-only server
    "25P03": StoreUnavailable,  # idle in a transaction for too long
    "28": StoreMisconfigured,  # not let in
    "3D": StoreMisconfigured,  # no such database
    "40": StoreBusy,  # deadlock, serialization
    "42": StoreMisused,  # wrong SQL
    "42501": StoreMisconfigured,  # no privilege
    "53": StoreFull,  # disk, memory
    "53300": StoreUnavailable,  # too many connections
    "55P03": StoreBusy,  # lock_timeout
    "57": StoreUnavailable,  # shutdown
    "57014": StoreBusy,  # statement_timeout
    "58": StoreFull,  # I/O error
    "P0001": StoreRefused,  # a trigger
    "XX": StoreUnavailable,
    "XX001": StoreCorrupt,
    "XX002": StoreCorrupt,
}


class Integers(NumericLoader):
    """`sum` of integers is a `numeric` here; it becomes an integer again."""

    def load(self, data: Buffer) -> Any:
        found = super().load(data)
        return int(found) if found.is_finite() and found == found.to_integral_value() else found


class Link(psycopg.Connection[tuple[Any, ...]]):
    """A connection with a limit on silence: a server that was stopped keeps its sockets open and says nothing."""

    patience = 10.0

    def wait(self, gen: PQGen[R], interval: float = 0.1, timeout: float | None = None) -> R:
        """What `psycopg` calls for everything that takes time. Each sign of life starts the time anew."""
        try:
            wanted = next(gen)
            poll = select.poll()
            socket = self.pgconn.socket
            poll.register(socket, _events(wanted))
            while True:
                seen = poll.poll(self.patience * 1000)
                if not seen:
                    gen.close()
                    raise psycopg.OperationalError(f"the server was silent for {self.patience:g} seconds")
                wanted = gen.send(_ready(seen[0][1], wanted))
                poll.modify(socket, _events(wanted))
        except StopIteration as end:
            answer: R = end.value
            return answer
        except (OSError, ValueError) as error:
            raise psycopg.OperationalError("the connection was closed") from error


def _events(wanted: Wait) -> int:
    return (select.POLLIN if wanted & Wait.R else 0) | (select.POLLOUT if wanted & Wait.W else 0)


def _ready(seen: int, wanted: Wait) -> Ready:
    """What became possible; an error counts as everything that was waited for, so that it is met."""
    if seen & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
        return Ready(int(wanted))
    return Ready((Ready.R if seen & select.POLLIN else 0) | (Ready.W if seen & select.POLLOUT else 0))


def connect(conninfo: str, *, timeout: float, deadline: float) -> Link:
    """A new connection; raises StoreErrors."""
    seconds = max(2, round(min(timeout, max(0.0, deadline - time.monotonic()))))  # libpq counts so
    try:
        link = Link.connect(
            conninfo,
            autocommit=True,
            connect_timeout=seconds,
            client_encoding="utf8",
            application_name="remit",
            cursor_factory=psycopg.RawCursor,
        )
    except (psycopg.Error, OSError) as error:
        raise translate(error) from error
    link.patience = timeout + 1.0  # the server's own limits come first, with a better message
    link.server_cursor_factory = psycopg.RawServerCursor
    link.adapters.register_loader("numeric", Integers)
    return link


def usable(link: Link) -> bool:
    """Whether the connection could begin a transaction now."""
    return not link.closed and link.info.transaction_status == pq.TransactionStatus.IDLE


def translate(error: BaseException) -> StoreError:
    """What an error of PostgreSQL means to those who know nothing of PostgreSQL."""
    state = getattr(error, "sqlstate", None)
    if state:
        kind = _KINDS.get(state) or _KINDS.get(state[:2], StoreMisused)
    elif isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | OSError):
        kind = _unanswered(str(error))
    else:
        kind = StoreMisused
    # Only the first part of a message: its details may hold values of a row.
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return kind(f"PostgreSQL: {' '.join((primary or str(error)).split())[:500]}")


def _unanswered(text: str) -> type[StoreError]:
    """While connecting there is no SQLSTATE, only a text (in English, as the server has not been told otherwise)."""
    refusals = ("authentication failed", "no pg_hba.conf entry", 'database "', 'role "', "password")
    refused = "FATAL" in text and any(word in text for word in refusals)
    return StoreMisconfigured if refused and "starting up" not in text else StoreUnavailable
