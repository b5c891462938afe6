"""Lists of kafka-acls."""

import pytest
from hypothesis import given

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import kafka_list, parse_distinct_acls
from kafka_shim.protocol.enums import Operation, Permission
from tests.policy.formats.samples import ACLS_LISTED, LINES, LISTED, acls_of


def test_a_list_is_printed_and_read_as_kafka_acls_does() -> None:
    assert parse_distinct_acls(LISTED, "list") == ACLS_LISTED
    assert kafka_list.format_acls(ACLS_LISTED[::-1]) == LISTED
    assert kafka_list.format_acls([]) == ""
    assert parse_distinct_acls("", "list") == []


def test_other_lines_of_the_tool_are_skipped() -> None:
    adding = LISTED.replace("Current ACLs", "Adding ACLs").replace("`:\n", "`: \n ")
    assert (
        parse_distinct_acls("ACLs for principal `User:alice`\r\n" + adding, "list") == ACLS_LISTED
    )


def test_lists_of_old_releases_are_read() -> None:
    old = (
        "Current ACLs for resource `Topic:LITERAL:a:b`: \n"
        " \tUser:CN=a, b has Allow permission for operations: Read from hosts: *\n"
        "Current ACLs for resource `Group:PREFIXED:g`: \n"
        "\tUser:bob has Deny permission for operations: All from hosts: 10.0.0.1 \n\n"
        "Current ACLs for resource `Cluster:kafka-cluster`: \n"
        " \tUser:bob has Allow permission for operations: ClusterAction from hosts: * \n"
    )
    found = parse_distinct_acls(old, "list")
    patterns = [(a.resource_type.name, a.resource_name, a.pattern_type.name) for a in found]
    assert patterns == [
        ("TOPIC", "a:b", "LITERAL"),
        ("GROUP", "g", "PREFIXED"),
        ("CLUSTER", "kafka-cluster", "LITERAL"),
    ]
    first, second, third = found
    assert (first.principal, first.permission, first.host) == (
        "User:CN=a, b",
        Permission.ALLOW,
        "*",
    )
    assert (second.operation, second.host) == (Operation.ALL, "10.0.0.1")
    assert third.operation is Operation.CLUSTER_ACTION


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hello", "line 1: not a line that kafka-acls --list prints: `hello`"),
        ("\n\t(principal=a, host=*, operation=READ, permissionType=ALLOW)", "line 2: not a line"),
        (LISTED.replace("DESCRIBE_CONFIGS", "LOOK"), "unknown operation `LOOK`"),
        (LISTED.replace("=TOPIC", "=SUBJECT"), "unknown resource type `SUBJECT`"),
    ],
)
def test_invalid_lists_are_reported(text: str, complaint: str) -> None:
    with pytest.raises(AclTextError, match=complaint):
        parse_distinct_acls(text, "list")


def test_an_invalid_line_is_cut_in_the_error() -> None:
    with pytest.raises(AclTextError) as refused:
        parse_distinct_acls("x" * 100_000, "list")
    assert len(str(refused.value)) < 1_000


@given(acls_of(LINES.filter(lambda text: ", host=" not in text and "patternType=" not in text)))
def test_lists_survive_a_round_trip(acls: list[Acl]) -> None:
    assert set(parse_distinct_acls(kafka_list.format_acls(acls), "list")) == set(acls)
