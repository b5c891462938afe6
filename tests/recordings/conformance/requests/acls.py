"""Random requests about ACLs, also with invalid codes and names."""

from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest
from tests.recordings.conformance.draw import Asked, Draw

ANY = 1
ODD_NETWORKS = (
    *("10.0.0.0/8", "10.1.2.3/8", "010.0.0.0/8", "10.0.0.0/33", "10.0.0.256/8", "10.0.0/8"),
    *("10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/008", "10.0.0.0/8/8", "/8", "a/b", "localhost/8"),
    *("2001:db8::/32", "2001:db8::1/+32", "[2001:db8::]/32", "[::1/64", "2001:0000db8::/32"),
    *("2001:db8::/129", "2001:db8::/-0", "2001:db8::/", "fe80::1%1/64", "fe80::1%/64"),
    *("::ffff:10.0.0.0/104", "::10.0.0.0/104", "::010.0.0.0/104", "g::/8", ":::/8", "::/0"),
    *("1:2:3:4:5:6:7::/64", "::2:3:4:5:6:7:8/64", "1:2:3:4:5:6:7:8::/64", "12345::/16", "::/0 "),
)
"""Hosts that brokers since 4.4 accept or reject as networks."""

UNMAPPED = 99
"""A code without a meaning in any release."""


def create_acls(draw: Draw, version: int) -> Asked:
    creations = [_creation(draw) for _ in range(draw.number(1, 4))]
    if draw.chance(0.1):
        creations.append(creations[0])
    if draw.chance(0.04):
        creations = []
    return Asked(CreateAclsRequest(creations=creations))


def _creation(draw: Draw) -> AclCreation:
    acl = draw.acl()
    if draw.chance(0.6):
        acl.principal = "User:nobody"  # most new ACLs do not affect later steps
    kind = draw.weighted(
        {"good": 66, "name": 6, "operation": 6, "permission": 5, "type": 5, "pattern": 5, "host": 4}
        | {"principal": 3}
    )
    if kind == "name":
        acl.resource_name = draw.pick("", "*", "a/b", "kafka-cluster", "x" * 300)
    elif kind == "operation":
        acl.operation = draw.pick(ANY, 0, 2, UNMAPPED, 13, 15)
    elif kind == "permission":
        acl.permission_type = draw.pick(ANY, 0, UNMAPPED)
    elif kind == "type":
        acl.resource_type = draw.pick(ANY, 0, 4, UNMAPPED, 6, 7)
    elif kind == "pattern":
        acl.resource_pattern_type = draw.pick(ANY, 2, 0, UNMAPPED)
    elif kind == "host":
        acl.host = draw.pick("", "not-an-ip", "::1", *ODD_NETWORKS)
    elif kind == "principal":
        acl.principal = draw.pick("nocolon", "", "User:", ":name", ":", "Role:x", "User:a:b")
    return acl


def describe_acls(draw: Draw, version: int) -> Asked:
    acl_filter = _filter(draw)
    request = DescribeAclsRequest(
        resource_type_filter=acl_filter.resource_type_filter,
        resource_name_filter=acl_filter.resource_name_filter,
        pattern_type_filter=acl_filter.pattern_type_filter,
        principal_filter=acl_filter.principal_filter,
        host_filter=acl_filter.host_filter,
        operation=acl_filter.operation,
        permission_type=acl_filter.permission_type,
    )
    return Asked(request)


def delete_acls(draw: Draw, version: int) -> Asked:
    filters = [_filter(draw) for _ in range(draw.number(1, 3))]
    for acl_filter in filters:
        if draw.chance(0.7):
            acl_filter.principal_filter = "User:nobody"
    if draw.chance(0.04):
        filters = []
    return Asked(DeleteAclsRequest(filters=filters))


def _filter(draw: Draw) -> DeleteAclsFilter:
    acl = draw.acl()
    found = DeleteAclsFilter(
        resource_type_filter=draw.pick(ANY, acl.resource_type, acl.resource_type),
        resource_name_filter=draw.pick(None, None, acl.resource_name, draw.topics[0], ""),
        pattern_type_filter=draw.pick(ANY, 2, 2, 3, 4),
        principal_filter=draw.pick(None, None, acl.principal),
        host_filter=draw.pick(None, None, acl.host),
        operation=draw.pick(ANY, ANY, acl.operation),
        permission_type=draw.pick(ANY, ANY, acl.permission_type),
    )
    if draw.chance(0.08):
        field = draw.pick("resource_type_filter", "pattern_type_filter", "operation")
        setattr(found, field, draw.pick(0, UNMAPPED))
    return found
