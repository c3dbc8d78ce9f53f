"""Which addresses a policy must name, in every spelling."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.confine.addresses import what_is

INSIDE = {
    "127.0.0.1": "loopback",
    "127.9.9.9": "loopback",
    "::1": "loopback",
    "0.0.0.0": "unspecified",  # noqa: S104 - nothing is bound
    "::": "unspecified",
    "10.1.2.3": "private",
    "172.31.255.255": "private",
    "192.168.0.1": "private",
    "100.100.100.200": "private",
    "169.254.169.254": "link-local",
    "fe80::1%lo": "link-local",
    "fd00:ec2::254": "private",
    "168.63.129.16": "metadata",
    "192.0.0.192": "reserved",
    "224.0.0.1": "multicast",
    "ff02::1": "multicast",
    "255.255.255.255": "reserved",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private",
    "::ffff:a9fe:a9fe": "link-local",
    "::127.0.0.1": "loopback",
    "64:ff9b::a9fe:a9fe": "link-local",
    "64:ff9b:1::a9fe:a9fe": "reserved",
    "2002:7f00:1::": "loopback",
    "2002:a9fe:a9fe::1": "link-local",
    "2001:0:7f00:1::": "reserved",
    "2001:db8::1": "reserved",
    "4000::1": "reserved",
}


@pytest.mark.parametrize(("address", "kind"), INSIDE.items())
def test_an_address_inside(address, kind):
    assert what_is(address) == kind


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"]
)
def test_an_address_of_the_public_network(address):
    assert what_is(address) is None


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_python_calls_nothing_public_less_than_we_do(address):
    """A second opinion: what we pass as public, Python does not take for private, loopback or the like."""
    if what_is(str(address)) is None:
        assert not any((address.is_private, address.is_loopback, address.is_link_local, address.is_multicast))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_in_every_ipv6_dress(address):
    number = int(address)
    plain = what_is(str(address))
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    nat64 = ipaddress.IPv6Address((0x0064_FF9B << 96) | number)
    six_to_four = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert {what_is(str(each)) for each in (mapped, nat64, six_to_four)} == {plain}


def test_what_is_no_address_is_an_error():
    with pytest.raises(ValueError, match="does not appear"):
        what_is("localhost")
