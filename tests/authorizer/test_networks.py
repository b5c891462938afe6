"""Networks as hosts; those that a real 4.4.0 accepted (tests/recordings/conformance)."""

import json
from pathlib import Path

import pytest

from kafka_shim.authorizer import networks
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.authorizer.networks import (
    covers_host,
    parse_client_address,
    parse_network,
    unmatchable_host_reason,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


@pytest.mark.parametrize(
    ("acl_host", "host", "covered"),
    [
        ("10.0.0.0/8", "10.255.255.255", True),
        ("10.1.2.3/8", "10.0.0.0", True),  # bits beyond the prefix do not matter
        ("10.0.0.0/8", "11.0.0.0", False),
        ("10.0.0.1/32", "10.0.0.1", True),
        ("010.0.0.0/8", "10.0.0.1", True),
        ("0.0.0.0/0", "255.255.255.255", True),
        ("0.0.0.0/0", "0.0.0.0", False),
        ("0.0.0.0/0", "0:0:0:0:0:0:0:1", False),
        ("::/0", "127.0.0.1", False),
        ("::/0", "0:0:0:0:0:0:0:1", True),
        ("2001:db8::/32", "2001:db8:0:0:0:0:0:a", True),
        ("2001:db8::/32", "2001:db9:0:0:0:0:0:a", False),
        ("fe80::1%1/64", "fe80:0:0:0:0:0:0:2%eth0", True),
        ("10.0.0.0/8", "10.1.0.0/16", True),
        ("10.1.0.0/16", "10.0.0.0/8", False),
        ("10.0.0.0/33", "10.0.0.1", False),
        ("10.0.0.0", "10.0.0.1", False),
        ("10.0.0.0/8", "localhost", False),
    ],
)
def test_a_network_includes_its_addresses(acl_host: str, host: str, covered: bool) -> None:
    assert covers_host(acl_host, host, host_networks=True) is covered
    assert not covers_host(acl_host, host, host_networks=False)


def test_a_host_without_a_slash_is_not_a_network() -> None:
    assert parse_network("10.0.0.1") is parse_network("*") is None


def acl(host: str) -> Acl:
    pattern = (ResourceType.TOPIC, "orders", PatternType.LITERAL)
    return Acl(*pattern, "User:alice", host, Operation.READ, Permission.ALLOW)


def test_a_store_forgets_networks_with_their_last_acl() -> None:
    store, actor = (
        AclStore([acl("10.0.0.0/8"), acl("10.0.0.0/16")]),
        Actor("User:alice", "10.0.0.1"),
    )
    assert [subject.host for subject in store.subjects_including(actor)] == [
        "10.0.0.0/8",
        "10.0.0.0/16",
    ]
    assert store.remove(acl("10.0.0.0/8"))
    assert [subject.host for subject in store.subjects_including(actor)] == ["10.0.0.0/16"]
    assert store.remove(acl("10.0.0.0/16"))
    assert not store.subjects_including(actor)


def test_a_store_is_read_by_the_rules_of_its_authorizer() -> None:
    store, actor = AclStore([acl("10.0.0.0/8")]), Actor("User:alice", "10.0.0.1")
    StandardAuthorizer(rules=acl_rules_of_release("4.3"), store=store)
    assert not store.subjects_including(actor)
    assert not list(store.subjects_covering("User:alice", "10.0.0.1"))
    StandardAuthorizer(rules=acl_rules_of_release("4.4"), store=store)
    assert len(store.subjects_including(actor)) == 1
    covering = store.subjects_covering("User:alice", "10.0.0.1")
    assert [subject.host for subject in covering] == ["10.0.0.0/8"]


def test_long_hosts_are_not_kept() -> None:
    before = networks._cached_network.cache_info().currsize
    zeros = "0" * networks.CACHED_CHARS_MAX
    assert parse_network(f"::{zeros}1/128") == parse_network("::1/128")
    assert parse_network("x" * 32_000) is None
    assert networks._cached_network.cache_info().currsize <= before + 1


RECORDED = json.loads(Path(__file__).with_name("recorded_addresses.json").read_text())


def test_typed_addresses_are_decided_as_by_kafka() -> None:
    """Compare with StandardAuthorizer of 4.4.0 (tests/oracle/addresses.py)."""
    different = [
        (host, address)
        for host, address, applies in RECORDED
        if covers_host(host, parse_client_address(address), host_networks=True) is not applies
    ]
    assert len(RECORDED) > 400
    assert not different


def test_hosts_that_are_no_clients_apply_to_no_recorded_address() -> None:
    """Compare with StandardAuthorizer of 4.4.0 (tests/oracle/addresses.py)."""
    unmatchable = {
        host
        for host, _, _ in RECORDED
        if "/" not in host and unmatchable_host_reason(host, host_networks=True) is not None
    }
    assert len(unmatchable) > 50
    assert not [host for host, _, applies in RECORDED if applies and host in unmatchable]


@pytest.mark.parametrize(
    "text", ["", "*", "localhost", "10.0.0.0/8", "10.1.2", "1.2.3.256", "::1%"]
)
def test_other_texts_are_not_the_address_of_a_client(text: str) -> None:
    with pytest.raises(AclTextError, match="expected the address of a client"):
        parse_client_address(text)


@pytest.mark.parametrize(
    ("host", "release", "reason"),
    [
        ("*", "3.9", None),
        ("10.1.2.3", "3.9", None),
        ("fe80:0:0:0:0:0:0:1%2", "3.9", None),
        ("10.0.0.0/8", "4.4", None),
        ("10.0.0.0/8", "4.3", "networks apply from Kafka 4.4 on"),
        ("::1", "4.4", "brokers write this host as `0:0:0:0:0:0:0:1`"),
        ("::ffff:10.1.2.3", "4.4", "brokers write this host as `10.1.2.3`"),
        ("kafka.test", "4.4", "no client's host is `kafka.test`: brokers compare addresses"),
    ],
)
def test_hosts_of_no_client_have_a_reason(host: str, release: str, reason: str | None) -> None:
    networks = acl_rules_of_release(release).host_networks
    found = unmatchable_host_reason(host, host_networks=networks)
    assert found is None if reason is None else reason in (found or "")
