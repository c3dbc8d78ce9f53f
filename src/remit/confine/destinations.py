"""Where a profile's network leads: which requests and tunnels it admits, by the policy's own patterns of URLs.

A plain request shows its whole URL, so that all of a pattern counts. A tunnel shows a host and a port: the path of
`https://x.example/v1/**` can't be held, and any path of that host is reached.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from remit.model.profile import Network
from remit.model.text import shown
from remit.scopes.url import UrlPattern, UrlSet
from remit.scopes.url_grammar import DEFAULT_PORTS, Url

_TLS = frozenset(("https", "wss"))


class Contact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One attempt to reach something through the proxy, and what became of it: what is recorded."""

    verdict: Literal["allowed", "refused"]
    method: str
    target: str
    """The URL without its query; of a tunnel the host and port."""
    code: str = ""
    """Why it was refused: `not-in-policy`, `inside-address`, `bad-request`, `no-address`, `not-tls`, `too-many`."""
    reason: str = ""
    address: str = ""
    """The address that was connected to, or that was the reason."""

    @property
    def message(self) -> str:
        """For the agent whose command it was."""
        if self.verdict == "allowed":
            return f"Remit: the command reached `{self.target}`"
        return f"Remit: the command could not reach `{self.target}`: {self.reason}"


class Destinations:
    """The places of a profile's network, compiled."""

    def __init__(self, network: Network) -> None:
        self._may = UrlSet(UrlPattern.parse(text) for text in network.urls) if network.mode == "hosts" else UrlSet()
        self._never = UrlSet(UrlPattern.parse(text) for text in network.except_)

    def has_request(self, url: Url) -> bool:
        """Whether a plain request for this URL is admitted."""
        return self._may.matches(url) and not self._never.could_match(url)

    def has_tunnel(self, host: str, port: int) -> bool:
        """Whether a tunnel to this host and port is admitted."""
        return bool(self._tunnels(host, port)) and not any(_leads(each, host, port) for each in self._never)

    def needs_tls(self, host: str, port: int) -> bool:
        """Whether every pattern that admits the tunnel says that TLS runs in it."""
        return all(pattern.scheme in _TLS for pattern in self._tunnels(host, port))

    def names(self, url: Url) -> bool:
        """Whether the policy names that very host, by no wildcard: then it may be an address inside."""
        return any(pattern.host == url.host and pattern.port in (None, url.port) for pattern in self._may)

    def names_host(self, host: str) -> bool:
        """The same, whatever the port."""
        return any(pattern.host == host for pattern in self._may)

    def _tunnels(self, host: str, port: int) -> list[UrlPattern]:
        """A pattern of plain HTTP that limits the path admits none: the path would not be seen."""
        return [each for each in self._may if _leads(each, host, port) and (each.scheme != "http" or each.any_path)]


def _leads(pattern: UrlPattern, host: str, port: int) -> bool:
    return pattern.has_host(host) and pattern.port in (None, port)


def target_of(url: Url) -> str:
    """What a record keeps of a URL: not its query, which could hold secrets."""
    if url.scheme == "connect":
        return f"{url.host}:{url.port}"
    port = "" if url.port == DEFAULT_PORTS.get(url.scheme, 0) else f":{url.port}"
    return shown(f"{url.scheme}://{url.host}{port}{url.path}", 500)
