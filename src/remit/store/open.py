"""Opens the store that a URL names, and brings it to the newest version."""

from __future__ import annotations

import os
from pathlib import Path

from remit.store.errors import StoreMisconfigured
from remit.store.interface import TIMEOUT, Migratable, Store
from remit.store.migrate import migrate

FILE = "remit.db"
_FORMS = "`sqlite:///ABSOLUTE/PATH` or `postgresql://USER@HOST/DATABASE`"


def store_url() -> str | None:
    """What REMIT_STORE says; None if it says nothing."""
    return os.environ.get("REMIT_STORE") or None


def default_url(state: Path) -> str:
    """The URL of the SQLite file in a state directory, whatever REMIT_STORE says."""
    from urllib.parse import quote

    return f"sqlite://{quote(str(state / FILE))}"


def open_store(url: str | None, state: Path, *, timeout: float = TIMEOUT) -> Store:
    """The store that a URL names, or without one an SQLite file in the state directory. Raises StoreError.

    Nothing waits longer than `timeout` seconds, now or later.
    """
    store = _connect(url, state, timeout)
    try:
        migrate(store)
    except BaseException:
        store.close()
        raise
    return store


def _connect(url: str | None, state: Path, timeout: float) -> Migratable:
    scheme = (url or "").partition(":")[0]
    if url is None or scheme == "sqlite":
        from remit.store.sqlite import SqliteStore

        return SqliteStore(state / FILE if url is None else _path(url), timeout=timeout)
    if scheme in ("postgresql", "postgres"):
        try:
            from remit.store.postgres import PostgresStore
        except ImportError as error:
            raise StoreMisconfigured(
                f"PostgreSQL needs a driver that is not installed: {error}", help="pip install 'remit[postgres]'"
            ) from error
        return PostgresStore(url, timeout=timeout)
    raise StoreMisconfigured("the URL of the store is of no known kind", help=f"REMIT_STORE is {_FORMS}")


def _path(url: str) -> Path:
    """The file of an `sqlite:` URL. The URL itself is not shown: someone may have put a password in."""
    from urllib.parse import unquote, urlsplit  # here: who uses the file of a project does without

    try:
        parts = urlsplit(url)
        path = unquote(parts.path, errors="strict")
    except ValueError:
        parts, path = urlsplit("sqlite:"), ""
    plain = not (parts.netloc or parts.query or parts.fragment) and "\0" not in path
    if not (plain and path.startswith("/") and not path.endswith("/")) or ".." in path.split("/"):
        raise StoreMisconfigured("not the URL of a file", help=f"REMIT_STORE is {_FORMS}")
    return Path(path)
