"""A real witness over loopback: it answers as tlog-witness says, and never cosigns two histories."""

from __future__ import annotations

import base64
import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.record import witness_server
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.note import KeyKind, NoteError, Signer, Verifier, add_lines, open_note
from remit.record.tree import HashSource, consistency_proof, leaf_hash, root_at
from remit.record.witness import Witness
from remit.record.witness_server import WitnessServer


class Log:
    """A log that its test can make lie."""

    def __init__(self, origin: str = "log.example/one", salt: str = "") -> None:
        self.signer = Signer(origin, Ed25519PrivateKey.generate())
        leaves = [leaf_hash(f"{salt}{number}".encode()) for number in range(300)]
        self.source = HashSource(lambda start, count: leaves[start : start + count])

    @property
    def vkey(self) -> str:
        return self.signer.verifier.vkey

    def note(self, size: int) -> str:
        return Checkpoint(self.signer.name, size, root_at(size, self.source.hash_at)).sign(self.signer)

    def request(self, old: int, new: int) -> bytes:
        proof = consistency_proof(old, new, self.source.hash_at)
        lines = [f"old {old}", *(base64.b64encode(part).decode() for part in proof), "", ""]
        return ("\n".join(lines) + self.note(new)).encode()


class Served:
    """A witness and its server."""

    def __init__(self, folder: Path) -> None:
        self.witness = Witness(folder, "w.example/one", clock=lambda: 1_700_000_000.5)
        self.server = WitnessServer(("127.0.0.1", 0), self.witness)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def post(self, body: bytes, path: str = "/add-checkpoint") -> tuple[int, str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        connection.request("POST", path, body)
        answer = connection.getresponse()
        found = answer.status, answer.headers["Content-Type"], answer.read().decode()
        connection.close()
        return found

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.witness.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path / "w")
    yield found
    found.close()


@pytest.fixture
def log(served: Served) -> Log:
    found = Log()
    served.witness.watch([found.vkey])
    return found


def test_a_log_that_grows_is_cosigned(served: Served, log: Log):
    for old, new in ((0, 1), (1, 1), (1, 7), (7, 256), (256, 300)):
        status, _, body = served.post(log.request(old, new))
        assert status == 200
        note = open_note(add_lines(log.note(new), [body]), [Verifier.parse(served.witness.vkey)])
        assert [(s.by.kind, s.time) for s in note.signatures] == [(KeyKind.COSIGNATURE, 1_700_000_000)]
        assert served.witness.last(log.signer.name) == Checkpoint.parse(note.text)


def test_the_wrong_old_size_gets_the_right_one(served: Served, log: Log):
    assert served.post(log.request(0, 7))[0] == 200
    assert served.post(log.request(0, 9)) == (409, "text/x.tlog.size", "7\n")
    assert served.post(log.request(8, 9)) == (409, "text/x.tlog.size", "7\n")
    assert served.post(log.request(3, 5)) == (409, "text/x.tlog.size", "7\n"), "no way back"


def test_another_history_is_refused(served: Served, log: Log):
    liar = Log(salt="other")
    liar.signer = log.signer
    assert served.post(log.request(0, 7))[0] == 200
    assert served.post(liar.request(7, 9))[0] == 422
    assert served.post(liar.request(7, 7))[0] == 409
    assert served.post(log.request(7, 9).replace(b"\n\n", b"\n" + base64.b64encode(bytes(32)) + b"\n\n", 1))[0] == 422
    assert served.witness.last(log.signer.name) == Checkpoint.parse(log.note(7).partition("\n\n")[0] + "\n")


def test_who_is_not_known_is_refused(served: Served, log: Log):
    assert served.post(Log("log.example/two").request(0, 1))[0] == 404
    assert served.post(Log(log.signer.name).request(0, 1))[0] == 403
    assert served.post(log.request(0, 5).replace(b"\n5\n", b"\n6\n"))[0] == 403
    assert served.witness.last(log.signer.name) is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"old 0\n", 400),
        (b"old 00\n\n", 400),
        (b"old -1\n\nx", 400),
        (b"\xff\xfe", 400),
        (b"old 0\n\nnot a note\n", 400),
        (b"old 0\n" + b"AAAA\n" * 3 + b"\n", 400),
        (b"old 0\n" + (base64.b64encode(bytes(32)) + b"\n") * 64 + b"\n", 400),
    ],
)
def test_what_is_no_request_is_refused(served: Served, log: Log, body: bytes, status: int):
    assert served.post(body + log.note(3).encode() if body.startswith(b"old 0\nA") else body)[0] == status


def test_an_old_size_beyond_the_checkpoint(served: Served, log: Log):
    assert served.post(b"old 9\n\n" + log.note(3).encode())[0] == 400


def test_what_is_too_long_is_not_read(served: Served, log: Log):
    with socket.create_connection(("127.0.0.1", served.server.server_port)) as line:
        line.sendall(b"POST /add-checkpoint HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n")
        assert line.recv(100).split(b" ")[1] == b"413"
    with socket.create_connection(("127.0.0.1", served.server.server_port)) as line:
        line.sendall(b"POST /add-checkpoint HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert line.recv(100).split(b" ")[1] == b"411"


def test_other_paths_and_methods(served: Served, log: Log):
    assert served.post(log.request(0, 1), "/other")[0] == 404
    connection = http.client.HTTPConnection("127.0.0.1", served.server.server_port, timeout=10)
    connection.request("GET", "/add-checkpoint")
    assert connection.getresponse().status == 501
    connection.close()


def test_it_remembers_after_a_restart(tmp_path: Path):
    log = Log()
    first = Served(tmp_path / "w")
    first.witness.watch([log.vkey])
    vkey = first.witness.vkey
    assert first.post(log.request(0, 7))[0] == 200
    first.close()
    second = Served(tmp_path / "w")
    try:
        assert second.witness.vkey == vkey
        assert second.post(log.request(0, 9)) == (409, "text/x.tlog.size", "7\n")
        assert second.post(log.request(7, 9))[0] == 200
    finally:
        second.close()


def test_many_at_once_never_get_two_histories(served: Served, log: Log, monkeypatch: pytest.MonkeyPatch):
    """Forty requests from the same old size, and a disk that takes its time: one wins, and nothing goes back."""
    write = Witness._write

    def slowly(self: Witness, path: Path, text: str) -> None:
        time.sleep(0.05)
        write(self, path, text)

    monkeypatch.setattr(Witness, "_write", slowly)
    assert served.post(log.request(0, 5))[0] == 200
    answers: list[tuple[int, int]] = []

    def ask(new: int) -> None:
        answers.append((new, served.post(log.request(5, new))[0]))

    threads = [threading.Thread(target=ask, args=(new,)) for new in range(6, 46)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [new for new, status in answers if status == 200]
    assert len(won) == 1
    assert served.post(log.request(0, 50)) == (409, "text/x.tlog.size", f"{won[0]}\n")


def test_a_rotated_key_is_one_more_of_the_same_log(served: Served, log: Log):
    assert served.post(log.request(0, 5))[0] == 200
    log.signer = Signer(log.signer.name, Ed25519PrivateKey.generate())
    assert served.post(log.request(5, 6))[0] == 403
    served.witness.watch([log.vkey])
    assert served.post(log.request(5, 6))[0] == 200


def test_slow_clients_are_ended_and_others_served(served: Served, log: Log, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(witness_server, "LIFE", 0.5)
    monkeypatch.setattr(witness_server, "CONNECTIONS", 4)
    lines = [socket.create_connection(("127.0.0.1", served.server.server_port)) for _ in range(4)]
    for line in lines:
        line.sendall(b"POST /add-checkpoint HTTP/1.1\r\n")
    for line in lines:
        line.settimeout(60)
        assert line.recv(10) == b"", "closed from outside, though bytes could still come"
        line.close()
    while served.server.connections:
        time.sleep(0.02)
    assert served.post(log.request(0, 1))[0] == 200


def test_memory_that_can_not_be_read_cosigns_nothing(
    served: Served, log: Log, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert served.post(log.request(0, 5))[0] == 200
    [memory] = (tmp_path / "w").glob("log-*")
    memory.write_text("rubbish")
    assert served.post(log.request(0, 7))[0] == 500
    assert served.post(log.request(5, 7))[0] == 500
    assert "malformed" in capsys.readouterr().err


def test_the_key_is_private_and_checked(tmp_path: Path):
    folder = tmp_path / "w"
    Witness(folder, "w.example/one").close()
    key = folder / "witness.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with pytest.raises(LedgerError, match="another name"):
        Witness(folder, "w.example/two")
    key.chmod(0o644)
    with pytest.raises(LedgerError, match="others can read"):
        Witness(folder, None)
    key.chmod(0o600)
    key.write_text("PRIVATE+KEY+x\n")
    with pytest.raises(LedgerError, match="malformed"):
        Witness(folder, None)


def test_keys_survive_whatever_their_base64_has(tmp_path: Path):
    """Base64 has plus signs, and so does the form of a key."""
    for number in range(60):
        folder = tmp_path / str(number)
        first = Witness(folder, "w.example/one")
        first.close()
        again = Witness(folder, None)
        again.close()
        assert again.vkey == first.vkey


def test_one_witness_a_folder(tmp_path: Path):
    first = Witness(tmp_path / "w", None)
    with pytest.raises(LedgerError, match="another witness"):
        Witness(tmp_path / "w", None)
    first.close()


def test_only_keys_of_logs_are_watched(served: Served):
    with pytest.raises(NoteError):
        served.witness.watch([served.witness.vkey])
    with pytest.raises(NoteError):
        served.witness.watch(["rubbish"])


def test_killed_at_any_time_it_keeps_what_it_cosigned(tmp_path: Path):
    """The program itself, killed while it answers: what it cosigned is what it remembers."""
    log = Log()
    state = tmp_path / "w"
    command = [sys.executable, "-m", "remit", "witness", "--state", str(state), "--listen", "127.0.0.1:0"]
    command += ["--name", "w.example/one", "--log", log.vkey]
    at = 0
    for round_ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        port = int(process.stdout.readline().split(",")[0].rpartition(":")[2])
        cosigned = at

        def ask(start: int = at, port: int = port) -> None:
            nonlocal cosigned
            size = start
            try:
                while size < start + 80:
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                    connection.request("POST", "/add-checkpoint", log.request(size, size + 1))
                    if connection.getresponse().status != 200:
                        return
                    size += 1
                    cosigned = size
            except (OSError, http.client.HTTPException):
                return

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.15 + 0.1 * round_)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        thread.join()
        witness = Witness(state, None)
        seen = witness.last(log.signer.name)
        witness.close()
        at = seen.size if seen is not None else 0
        assert at >= cosigned > 0
        assert at <= cosigned + 1


def test_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A certificate that the client trusts works; one that it does not know is an anchor that is not reached."""
    import ipaddress
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    from remit.record.anchor import AnchorError
    from remit.record.anchors.http import Server

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "witness")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    cert = builder.add_extension(address, critical=False).sign(key, hashes.SHA256())
    (tmp_path / "cert").write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key").write_bytes(key.private_bytes(*form))
    witness = Witness(tmp_path / "w", "w.example/one")
    log = Log()
    witness.watch([log.vkey])
    server = WitnessServer(("127.0.0.1", 0), witness, cert=tmp_path / "cert", cert_key=tmp_path / "key")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        client = Server(f"https://127.0.0.1:{server.server_port}")
        with pytest.raises(AnchorError):
            client.ask("POST", "/add-checkpoint", log.request(0, 3))
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert"))
        assert client.ask("POST", "/add-checkpoint", log.request(0, 3)).status == 200
    finally:
        server.shutdown()
        server.server_close()
        witness.close()
    with pytest.raises(LedgerError, match="can't listen"):
        WitnessServer(("127.0.0.1", 0), witness, cert=tmp_path / "key", cert_key=tmp_path / "cert")
