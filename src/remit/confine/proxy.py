"""The proxy: the only way out of a network namespace, for the places that the policy names.

It stands outside and accepts connections on a socket that was bound inside (see `confine.network`), so that nothing
of it runs where commands do. It resolves names itself, looks at the address that comes out, and connects to that
very address. Each attempt is recorded before a byte passes; what can't be recorded is refused.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import msgspec

from remit.confine.addresses import what_is
from remit.confine.destinations import Contact, Destinations, target_of
from remit.confine.messages import MOST_HEAD, BadMessage, Request, parse_chunk, parse_request, parse_response
from remit.confine.tls import NotTls, server_name
from remit.model.profile import Network
from remit.model.text import shown, shown_name

Record = Callable[[Contact], None]
Resolve = Callable[[str, int], Sequence[str]]
_PIECE = 65_536
_STATUS = {"bad-request": 400, "no-address": 502, "no-answer": 502, "not-recorded": 503}


class Bounds(msgspec.Struct, frozen=True):
    """How much one session may ask of its proxy. Whoever exceeds these harms only that session."""

    connections: int = 256
    head_seconds: float = 30
    """For a whole head to arrive, and for the first message inside a tunnel."""
    connect_seconds: float = 30
    """To resolve a name and connect."""
    idle_seconds: float = 900
    """Without a byte in either direction."""
    refusals: int = 1000
    """Refusals that are recorded, each once; the others are only refused."""


class Refused(Exception):
    """An attempt that the proxy doesn't serve."""

    def __init__(self, code: str, reason: str, address: str = "") -> None:
        super().__init__(reason)
        self.code, self.reason, self.address = code, reason, address


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine resolves it. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class Proxy:
    """Serves one listening socket from a thread of its own, until it is closed."""

    def __init__(
        self,
        listener: socket.socket,
        network: Network,
        record: Record,
        *,
        bounds: Bounds = Bounds(),  # noqa: B008 - frozen
        resolve: Resolve = resolve,
    ) -> None:
        self._listener = listener
        self._destinations = Destinations(network)
        self._record_with = record
        self._bounds = bounds
        self._resolve = resolve
        self._open: set[asyncio.Task[None]] = set()
        self._refused: set[tuple[str, str, str]] = set()
        self._contacts: deque[tuple[int, Contact]] = deque(maxlen=1000)
        self._count = 0
        self._recorder = ThreadPoolExecutor(1, thread_name_prefix="remit-proxy-record")
        self._resolver = ThreadPoolExecutor(8, thread_name_prefix="remit-proxy-resolve")
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="remit-proxy", daemon=True)
        self._thread.start()

    @property
    def count(self) -> int:
        """How many attempts were recorded so far: a mark for `since`."""
        return self._count

    def since(self, mark: int = 0) -> list[Contact]:
        """The attempts recorded after a mark, at most the last thousand."""
        return [contact for number, contact in tuple(self._contacts) if number > mark]

    def close(self) -> None:
        """Ends every connection; afterwards nothing is accepted."""
        with suppress(RuntimeError):  # closed before
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())
        self._recorder.shutdown()
        self._resolver.shutdown(wait=False, cancel_futures=True)

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, sock=self._listener, limit=MOST_HEAD)
        await self._ending.wait()
        server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._bounds.connections:
            writer.transport.abort()
            return
        self._open.add(task)
        try:
            await self._converse(reader, writer)
            writer.close()
            async with asyncio.timeout(self._bounds.head_seconds):
                await writer.wait_closed()  # until the client has read what is left
        except (OSError, EOFError, TimeoutError, asyncio.CancelledError):
            pass  # one of the two has gone, or was silent for too long, or the session ends
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, from its head to its end."""
        method, target = "?", "?"
        try:
            request = await self._read_request(reader)
            method, target = request.method, target_of(request.url)
            addresses = await self._admit(request)
            await self._record(Contact("allowed", method, target, address=addresses[0]))
            upstream = await self._connect(addresses, request.url.port)
        except Refused as refused:
            await self._refuse(method, target, refused, reader, writer)
            return
        try:
            if request.is_tunnel:
                await self._tunnel(request, reader, writer, *upstream)
            else:
                await self._pass_on(request, reader, writer, *upstream)
        except Refused as refused:
            await self._note(Contact("refused", method, target, refused.code, refused.reason, addresses[0]))
        finally:
            upstream[1].transport.abort()

    async def _read_request(self, reader: asyncio.StreamReader) -> Request:
        try:
            async with asyncio.timeout(self._bounds.head_seconds):
                return parse_request(await reader.readuntil(b"\r\n\r\n"))
        except BadMessage as error:
            raise Refused("bad-request", str(error)) from None
        except asyncio.LimitOverrunError:
            raise Refused("bad-request", "head too long") from None

    async def _admit(self, request: Request) -> Sequence[str]:
        """The addresses to connect to; raises Refused."""
        url = request.url
        known = self._destinations
        if not (known.has_tunnel(url.host, url.port) if request.is_tunnel else known.has_request(url)):
            raise Refused("not-in-policy", "no rule of the policy allows it")
        if url.host.startswith("["):
            addresses: Sequence[str] = (url.host[1:-1],)
        elif url.host.rpartition(".")[2].isdigit():
            addresses = (url.host,)
        else:
            addresses = await self._look_up(url.host, url.port)
        if not known.names(url):
            for address in addresses:
                kind = what_is(address)
                if kind is not None:
                    raise Refused("inside-address", f"its address is {kind}, and the policy does not name it", address)
        return addresses

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        try:
            async with asyncio.timeout(self._bounds.connect_seconds):
                found = await self._loop.run_in_executor(self._resolver, self._resolve, host, port)
        except (OSError, UnicodeError):
            found = ()
        if not found:
            raise Refused("no-address", "its name has no address") from None
        return found

    async def _connect(self, addresses: Sequence[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """To the first address that answers: an address, so that nothing is resolved again."""
        fault = ""
        for address in addresses[:8]:
            try:
                async with asyncio.timeout(self._bounds.connect_seconds / len(addresses[:8])):
                    return await asyncio.open_connection(address, port, limit=MOST_HEAD)
            except OSError as error:
                fault = error.strerror or type(error).__name__
        raise Refused("no-answer", f"it does not answer ({shown(fault)})", addresses[0])

    async def _record(self, contact: Contact) -> None:
        """Written down, or refused."""
        try:
            await self._loop.run_in_executor(self._recorder, self._record_with, contact)
        except Exception as error:
            raise Refused("not-recorded", "the attempt could not be recorded") from error
        self._count += 1
        self._contacts.append((self._count, contact))

    async def _note(self, contact: Contact) -> None:
        """Records a refusal once, and not without end: a program inside could ask for ever."""
        key = (contact.code, contact.target, contact.reason)
        if key in self._refused or len(self._refused) > self._bounds.refusals:
            return
        self._refused.add(key)
        if len(self._refused) > self._bounds.refusals:
            contact = Contact("refused", "?", "?", "too-many", "too many were refused to record more of them")
        with suppress(Refused):  # it is refused in any case
            await self._record(contact)

    async def _refuse(
        self,
        method: str,
        target: str,
        refused: Refused,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        contact = Contact("refused", method, target, refused.code, refused.reason, refused.address)
        if refused.code != "no-answer":  # recorded already, as allowed
            await self._note(contact)
        text = f"{contact.message}\n".encode()
        status = _STATUS.get(refused.code, 403)
        # Programs show little more of a refused tunnel than this line.
        head = (
            f"HTTP/1.1 {status} {shown_name(contact.message, 300)}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"X-Remit-Code: {refused.code}\r\nContent-Length: {len(text)}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + text)
        async with asyncio.timeout(self._bounds.head_seconds):
            await writer.drain()
            writer.write_eof()
            for _ in range(64):  # what is unread would make the kernel reset the connection, and the answer be lost
                if not await reader.read(_PIECE):
                    break

    async def _tunnel(
        self,
        request: Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answers: asyncio.StreamReader,
        upstream: asyncio.StreamWriter,
    ) -> None:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = b""
        if self._destinations.needs_tls(request.url.host, request.url.port):
            first = await self._first_message(reader, request.url.host)
        upstream.write(first)
        await self._both(_Copy(reader, upstream), _Copy(answers, writer))

    async def _first_message(self, reader: asyncio.StreamReader, host: str) -> bytes:
        """What a client sends first, once it is known to be TLS for this host."""
        data = b""
        async with asyncio.timeout(self._bounds.head_seconds):
            while True:
                piece = await reader.read(_PIECE)
                data += piece
                try:
                    name = server_name(data)
                    break
                except EOFError:
                    if not piece:
                        raise
                except NotTls as error:
                    raise Refused("not-tls", f"the policy allows only TLS there: {error}") from None
        if name not in (None, host.strip("[]")):
            raise Refused("not-tls", f"the tunnel is for another server: `{shown(name)}`")
        return data

    async def _pass_on(
        self,
        request: Request,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answers: asyncio.StreamReader,
        upstream: asyncio.StreamWriter,
    ) -> None:
        """A plain request: its head written anew, exactly its body, and the answer."""
        upstream.write(request.head())
        await self._both(_Body(reader, upstream, request.length), _Answer(answers, writer))

    async def _both(self, up: _Copy, down: _Copy) -> None:
        """Both directions, until the answers end or neither moves any more."""
        tasks = [asyncio.ensure_future(up.run()), asyncio.ensure_future(down.run())]
        try:
            before = -1
            while not tasks[1].done():
                done, _ = await asyncio.wait(
                    tasks if not tasks[0].done() else tasks[1:],
                    timeout=self._bounds.idle_seconds,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                for task in done:
                    task.result()
                if not done and up.moved + down.moved == before:
                    raise TimeoutError
                before = up.moved + down.moved
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Copy:
    """One direction of a connection, to its end."""

    def __init__(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        self.source, self.target, self.moved = source, target, 0

    async def run(self) -> None:
        while await self.piece(_PIECE):
            pass
        self.target.write_eof()

    async def piece(self, most: int) -> int:
        """Passes on some bytes, and says how many."""
        data = await self.source.read(most)
        await self.send(data)
        return len(data)

    async def send(self, data: bytes) -> None:
        self.target.write(data)
        await self.target.drain()
        self.moved += len(data)


class _Body(_Copy):
    """Exactly the body of one request: what a client sends behind it goes nowhere."""

    def __init__(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, length: int | None) -> None:
        super().__init__(source, target)
        self.length = length

    async def run(self) -> None:
        if self.length is not None:
            await self._exactly(self.length)
        while self.length is None:
            try:
                size = parse_chunk(await self.source.readuntil(b"\r\n"))
                await self.send(b"%x\r\n" % size)
                await self._exactly(size)
                end = await self.source.readexactly(2)
                if end != b"\r\n":
                    raise BadMessage("trailer, or a chunk longer than it says")
            except (BadMessage, asyncio.LimitOverrunError) as error:
                raise Refused("bad-request", str(error)) from None
            await self.send(end)
            if not size:
                break
        while await self.source.read(_PIECE):
            pass
        raise EOFError  # a client that has gone: nobody waits for the answer

    async def _exactly(self, count: int) -> None:
        while count:
            moved = await self.piece(min(count, _PIECE))
            if not moved:
                raise EOFError
            count -= moved


class _Answer(_Copy):
    """The answers of a server: their heads written anew, then bytes as they come."""

    async def run(self) -> None:
        status = 100
        while status < 200:
            try:
                response = parse_response(await self.source.readuntil(b"\r\n\r\n"))
            except (BadMessage, asyncio.LimitOverrunError) as error:
                raise Refused("bad-answer", f"the server does not speak HTTP/1: {error}") from None
            status = response.status
            if status == 101:
                raise Refused("bad-answer", "the server changes the protocol, which nobody asked for")
            await self.send(response.head())
        await super().run()
