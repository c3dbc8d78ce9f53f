"""The `ledger:` section of a policy: where its events are streamed to, and where its checkpoints are kept."""

from __future__ import annotations

from typing import Any

from remit.forms.nodes import Node
from remit.forms.shapes import NAME, Choice, Field, ListOf, MapOf, Number, Reader, Record, Text
from remit.forms.texts import Parsed
from remit.model.policy import LedgerSettings, Stream, Witnesses
from remit.model.streams import check_target

_ENVIRONMENT = Text(r"[A-Za-z_][A-Za-z0-9_]{0,127}", "the name of an environment variable")
_ANCHOR = Text(
    r"(?:file:/|git:/|syslog:/|https://|http://|witness:https?://[^+\s]+\+[^+\s]+\+[0-9a-f]{8}\+)\S{1,2000}|syslog:",
    "an anchor: file:/PATH, git:/PATH#BRANCH, syslog:, https://…, witness:https://…+VKEY",
)
_FILE_KEYS = ("rotate", "keep")


def _stream(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    kind = values["to"].partition(":")[0]
    wrong = [key for key in _FILE_KEYS if key in values and kind != "file"]
    wrong += [key for key in ("token", "form") if key in values and kind not in ("http", "https")]
    wrong += ["ca"] if "ca" in values and kind not in ("https", "syslog+tls") else []
    if wrong:
        return reader.fail(node.at, "bad-value", f"`{wrong[0]}` does nothing for a stream to {kind}")
    return Stream(name="", at=node.at, **values)


stream = Record(
    {
        "to": Field(
            Parsed(check_target, "file:/PATH, syslog+tls://HOST:PORT or https://…", "bad-stream", quote=True),
            "file:/PATH, syslog+udp://, syslog+tcp://, syslog+tls://HOST:PORT, syslog+unix:/PATH, https://…",
            required=True,
        ),
        "token": Field(_ENVIRONMENT, "the environment variable that holds the bearer token of an HTTP collector"),
        "form": Field(Choice("ndjson", "json"), "what an HTTP collector gets: lines (the default) or an array"),
        "ca": Field(Text(r"/.{1,4000}", "an absolute path"), "certificates to trust instead of the system's"),
        "rotate": Field(Number(1, 100_000), "megabytes after which a new file is begun; 100 by default"),
        "keep": Field(Number(1, 100_000), "how many finished files are kept; all by default"),
    },
    _stream,
    what="a stream",
)

witnesses = Record(
    {
        "quorum": Field(Number(1, 32), "how many of the witnesses must have cosigned each entry", required=True),
        "grace": Field(Number(1, 10_080), "minutes that they have for it; 10 by default"),
        "clock": Field(Number(1, 1_440), "minutes that the clock here may differ from theirs; 5 by default"),
    },
    lambda values, node, reader: Witnesses(**values),
    what="witnesses",
)


def _ledger(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    anchors, wanted = tuple(dict.fromkeys(values.get("anchors", ()))), values.get("witnesses")
    keys = {one.partition("://")[2].partition("+")[2] for one in anchors if one.startswith("witness:")}
    if wanted is not None and wanted.quorum > len(keys):
        what = f"a quorum of {wanted.quorum} needs as many witnesses among the anchors, and there are {len(keys)}"
        return reader.fail(node.at, "bad-value", what)
    streams = tuple(_named(name, one) for name, one in values.get("streams", {}).items())
    return LedgerSettings(streams, anchors, wanted)


ledger = Record(
    {
        "streams": Field(MapOf(stream, keys=NAME, what="stream"), "where OCSF events go while entries are written"),
        "anchors": Field(
            ListOf(_ANCHOR),
            "where checkpoints are kept: file:/PATH, git:/PATH#BRANCH, syslog:, https://…, witness:https://…+VKEY",
        ),
        "witnesses": Field(witnesses, "how many of the witnesses among the anchors must cosign, and when"),
    },
    _ledger,
    what="ledger",
)


def _named(name: str, one: Stream) -> Stream:
    return Stream(name, one.to, one.token, one.form, one.ca, one.rotate, one.keep, one.at)
