"""The kinds of destinations of streams, one file each."""

from __future__ import annotations

from remit.model.policy import Stream
from remit.model.streams import check_target
from remit.record.stream import Destination, StreamError


def open_destination(stream: Stream) -> Destination:
    """The destination of a stream. Raises StreamError."""
    try:
        target = check_target(stream.to)
    except ValueError as error:
        raise StreamError(f"the stream `{stream.name}`: {error}") from None
    if target.kind == "file":
        from remit.record.streams.file import FileDestination  # here, as below: only those that are configured

        return FileDestination(target.path, rotate=stream.rotate * 1_000_000, keep=stream.keep)
    if target.kind in ("http", "https"):
        from remit.record.streams.http import HttpDestination

        return HttpDestination(target, token=stream.token, form=stream.form, ca=stream.ca)
    from remit.record.streams.syslog import open_syslog

    return open_syslog(target, stream.ca)
