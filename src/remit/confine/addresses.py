"""Which addresses are the public network's: everything else is a place inside, and needs a policy that names it.

>>> what_is("8.8.8.8"), what_is("::ffff:127.0.0.1"), what_is("169.254.169.254")
(None, 'loopback', 'link-local')

The table is ours rather than `ipaddress.is_global`, whose answers differ between versions of Python.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from functools import cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_INSIDE = {
    "0.0.0.0/8": "unspecified",  # Linux connects 0.0.0.0 to itself
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "private",  # carrier-grade NAT; 100.100.100.200 gives out a cloud's credentials
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "metadata",  # a cloud's own service at an address that looks public
    "169.254.0.0/16": "link-local",  # 169.254.169.254 gives out credentials
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",  # 192.0.0.192 gives out credentials
    "192.0.2.0/24": "reserved",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "reserved",
    "198.51.100.0/24": "reserved",
    "203.0.113.0/24": "reserved",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "::/128": "unspecified",
    "::1/128": "loopback",
    "2001::/23": "reserved",
    "2001:db8::/32": "reserved",
    "3fff::/20": "reserved",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "fec0::/10": "private",
    "ff00::/8": "multicast",
}
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
# An IPv6 address that a router or the kernel turns into an IPv4 address: its network, and how many bits follow that.
_CARRIERS = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # mapped
    (ipaddress.IPv6Network("::/96"), 0),  # compatible
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)


@cache
def _table() -> tuple[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str], ...]:
    return tuple((ipaddress.ip_network(text), word) for text, word in _INSIDE.items())


def _forms(address: Address) -> Iterator[Address]:
    """The address, and the IPv4 address inside it."""
    yield address
    if isinstance(address, ipaddress.IPv6Address):
        for network, behind in _CARRIERS:
            if address in network:
                yield ipaddress.IPv4Address(int(address) >> behind & 0xFFFF_FFFF)


def what_is(text: str) -> str | None:
    """What kind of inside address this is, in a word; None for one of the public network. Raises ValueError.

    A machine's own public address counts as `own`: services that listen everywhere listen there too.
    """
    address = ipaddress.ip_address(text.partition("%")[0])  # the part behind `%` is an interface's name
    forms = list(_forms(address))
    for form in forms:
        for network, word in _table():
            if form.version == network.version and form in network:
                return word
    if isinstance(address, ipaddress.IPv6Address) and len(forms) == 1 and address not in _PUBLIC_IPV6:
        return "reserved"
    return "own" if _is_own(address) else None


def _is_own(address: Address) -> bool:
    """Whether packets for it stay on this machine: then the kernel would send them from that same address."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), 9))  # nothing is sent
        except OSError:
            return False  # no way there at all
        return ipaddress.ip_address(str(probe.getsockname()[0])) == address
