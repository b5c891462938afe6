"""Validation in CreateAcls, DescribeAcls and DeleteAcls, release by release."""

import msgspec
import pytest

from kafka_shim.authorizer.acl_requests import (
    AclElementError,
    ConnectionCloses,
    WireAcl,
    creation_error,
    deletion_filter_error,
    parse_creations,
    parse_filter,
    parse_filters,
)
from kafka_shim.authorizer.acl_rules import (
    NEWEST_RULES,
    AclRules,
    InvalidCodeHandling,
    acl_rules_of_release,
)
from kafka_shim.authorizer.model import AclFilter
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_acls import AclCreation
from tests.support.acls import make_acl

GOOD = WireAcl(2, "orders", 3, "User:alice", "*", 3, 3)
ANYTHING = WireAcl(1, None, 1, None, None, 1, 1)
FIELDS = ("resource_type", "pattern_type", "operation", "permission")

ZOOKEEPER_RULES = msgspec.structs.replace(
    NEWEST_RULES,
    zero_code_in_creation=InvalidCodeHandling.FAIL_ELEMENT,
    filter_code_in_creation=InvalidCodeHandling.CLOSE_CONNECTION,
    any_resource_type_in_creation=InvalidCodeHandling.FAIL_ELEMENT,
    zero_code_in_filter=InvalidCodeHandling.MATCH_NOTHING,
    unknown_code_in_deletion=InvalidCodeHandling.MATCH_NOTHING,
    principal_without_colon_error=ErrorCode.UNKNOWN_SERVER_ERROR,
    names_can_be_any_text=False,
    every_matching_filter_reports=False,
    batch_limit=None,
)


def changed(codes: WireAcl, **fields: object) -> WireAcl:
    return WireAcl(
        **{name: fields.get(name, getattr(codes, name)) for name in codes.__struct_fields__}  # type: ignore[arg-type]
    )


def creation(codes: WireAcl) -> AclCreation:
    return AclCreation(
        codes.resource_type,
        codes.resource_name or "",
        codes.pattern_type,
        codes.principal or "",
        codes.host or "",
        codes.operation,
        codes.permission,
    )


def outcomes(odd: WireAcl, rules: AclRules = NEWEST_RULES) -> list[int] | str:
    """Return the error codes of three creations, the unusual one in the middle."""
    read = parse_creations([creation(codes) for codes in (GOOD, odd, GOOD)], rules)
    if isinstance(read, ConnectionCloses):
        assert read.reason
        return "closed"
    return [item.error.value if isinstance(item, AclElementError) else 0 for item in read]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("code", "newest", "zookeeper"),
    [
        (0, "closed", [0, 42, 0]),
        (99, [0, 42, 0], [0, 42, 0]),
        (-1, [0, 42, 0], [0, 42, 0]),
        (1, [-1, -1, -1], "closed"),
    ],
)
def test_invalid_codes_are_rejected(
    field: str, code: int, newest: list[int] | str, zookeeper: list[int] | str
) -> None:
    odd = changed(GOOD, **{field: code})
    assert outcomes(odd) == newest
    if (field, code) == ("resource_type", 1):
        zookeeper = [0, 42, 0]
    assert outcomes(odd, ZOOKEEPER_RULES) == zookeeper


def test_match_is_for_filters() -> None:
    odd = changed(GOOD, pattern_type=PatternType.MATCH)
    assert outcomes(odd) == [-1, -1, -1]
    assert outcomes(odd, ZOOKEEPER_RULES) == "closed"


def test_closing_takes_precedence_over_errors() -> None:
    invalid = changed(GOOD, operation=1), changed(GOOD, permission=0)
    read = parse_creations([creation(codes) for codes in invalid])
    assert isinstance(read, ConnectionCloses)


def test_a_valid_acl_is_read() -> None:
    acl = make_acl(Operation.READ, "orders", pattern_type=PatternType.PREFIXED)
    assert parse_creations([creation(changed(GOOD, pattern_type=4))]) == [acl]
    assert parse_creations([]) == []


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"resource_type": 4, "resource_name": "foo"}, 42),
        ({"resource_type": 4, "resource_name": "*"}, 42),
        ({"resource_type": 4, "resource_name": ""}, 42),
        ({"resource_type": 4, "resource_name": "kafka-cluster"}, 0),
        ({"resource_type": 4, "resource_name": "kafka-cluster", "pattern_type": 4}, 0),
        ({"resource_name": ""}, 42),
        ({"principal": "alice"}, 42),
        ({"principal": ""}, 42),
        ({"host": ""}, 42),
        # unusual, but brokers accept all of these
        ({"principal": ":"}, 0),
        ({"principal": "User:"}, 0),
        ({"principal": "Role:x"}, 0),
        ({"principal": "User:CN=a,O=b:c"}, 0),
        ({"host": "not an ip"}, 0),
        ({"resource_type": 3, "operation": 5}, 0),
        ({"resource_name": "a b"}, 0),
        ({"resource_name": "a/b"}, 0),
        ({"resource_name": ".."}, 0),
        ({"resource_name": "*", "pattern_type": 4}, 0),
        ({"resource_type": 7, "resource_name": "no-colon"}, 0),
        ({"operation": 15, "resource_type": 5}, 0),
    ],
)
def test_elements_of_the_newest_release(fields: dict[str, object], error: int) -> None:
    assert outcomes(changed(GOOD, **fields)) == [0, error, 0]


@pytest.mark.parametrize("host", ["", "a/b", "10.0.0.0/33"])
def test_hosts_are_checked_since_4_4(host: str) -> None:
    assert outcomes(changed(GOOD, host=host), acl_rules_of_release("4.3")) == [0, 0, 0]
    assert outcomes(changed(GOOD, host=host), acl_rules_of_release("4.4")) == [0, 42, 0]


@pytest.mark.parametrize(
    ("name", "nested", "accepted"),
    [
        ("orders", False, True),
        ("a b", False, True),
        ("a/b", False, False),
        ("a/b", True, True),
        ("/a", True, False),
        ("a/", True, False),
        ("a/../b", True, False),
        (".", False, False),
        ("..", False, False),
        ("...", False, True),
        ("a\x01b", False, False),
        ("a\x00b", True, False),
        ("caf\u00e9", False, True),
        ("\ue000", False, False),
    ],
)
def test_names_that_are_invalid_zookeeper_paths_are_rejected(
    name: str, nested: bool, accepted: bool
) -> None:
    rules = msgspec.structs.replace(
        NEWEST_RULES, names_can_be_any_text=False, zookeeper_names_can_have_slash=nested
    )
    assert outcomes(changed(GOOD, resource_name=name), rules) == [0, 0 if accepted else -1, 0]


@pytest.mark.parametrize(
    ("error", "codes"),
    [
        (None, [0, 0, 0]),
        (ErrorCode.UNKNOWN_SERVER_ERROR, [-1, -1, -1]),  # ACLs of a pattern are stored together
        (ErrorCode.INVALID_REQUEST, [0, 42, 0]),
    ],
)
def test_a_principal_without_a_colon(error: ErrorCode | None, codes: list[int]) -> None:
    rules = msgspec.structs.replace(NEWEST_RULES, principal_without_colon_error=error)
    assert outcomes(changed(GOOD, principal="alice"), rules) == codes


def test_without_a_colon_only_acls_of_its_pattern_fail() -> None:
    rules = msgspec.structs.replace(
        NEWEST_RULES, principal_without_colon_error=ErrorCode.UNKNOWN_SERVER_ERROR
    )
    odd = changed(GOOD, principal="alice", resource_name="other")
    assert outcomes(odd, rules) == [0, -1, 0]


@pytest.mark.parametrize(
    ("fact", "fields"),
    [
        ("has_prefixed_patterns", {"pattern_type": 4}),
        ("has_delegation_token_resource", {"resource_type": 6}),
        ("has_user_resource", {"resource_type": 7}),
        ("has_user_resource", {"operation": 13}),
        ("has_user_resource", {"operation": 14}),
        ("has_two_phase_commit", {"operation": 15}),
    ],
)
def test_codes_of_later_releases_are_rejected(fact: str, fields: dict[str, object]) -> None:
    odd = changed(GOOD, **fields)
    assert outcomes(odd) == [0, 0, 0]
    assert outcomes(odd, msgspec.structs.replace(NEWEST_RULES, **{fact: False})) == [0, 42, 0]


def test_errors_name_the_invalid_part() -> None:
    texts = {
        "resource_name": ("", "the resource name is empty; name a resource, or `*` for all"),
        "principal": (
            "alice",
            "the principal `alice` must have the form `Type:name`, as in `User:alice`",
        ),
        "resource_type": (99, "this release does not support the resource type of the ACL"),
        "permission": (99, "this release does not support the permission of the ACL"),
    }
    for field, (value, text) in texts.items():
        (refusal,) = parse_creations([creation(changed(GOOD, **{field: value}))])  # type: ignore[misc]
        assert refusal == AclElementError(ErrorCode.INVALID_REQUEST, text)
    cluster = make_acl(
        Operation.READ, "foo", principal="User:a", resource_type=ResourceType.CLUSTER
    )
    refused = creation_error(cluster)
    assert refused is not None
    assert refused.message is not None
    assert "kafka-cluster" in refused.message


# ------------------------------------------------------------------ filters


def test_a_filter_keeps_its_nulls() -> None:
    assert parse_filter(ANYTHING) == AclFilter()
    assert parse_filter(WireAcl(2, "", 2, "", "", 3, 2)) == AclFilter(
        ResourceType.TOPIC, "", PatternType.MATCH, "", "", Operation.READ, Permission.DENY
    )


@pytest.mark.parametrize("field", FIELDS)
def test_a_zero_in_a_filter(field: str) -> None:
    filters = [ANYTHING, changed(ANYTHING, **{field: 0})]
    assert isinstance(parse_filters(filters), ConnectionCloses)
    read = parse_filters(filters, ZOOKEEPER_RULES)
    assert not isinstance(read, ConnectionCloses)
    assert read[0] == AclFilter()
    assert getattr(read[1], field).name == "UNKNOWN"
    assert deletion_filter_error(read[1], ZOOKEEPER_RULES) is None


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("code", [99, -1, 16])
def test_an_unmapped_code_in_a_filter(field: str, code: int) -> None:
    read = parse_filters([changed(ANYTHING, **{field: code})])
    assert not isinstance(read, ConnectionCloses)
    assert getattr(read[0], field).name == "UNKNOWN"
    refusal = deletion_filter_error(read[0])
    assert refusal is not None
    assert refusal.error is ErrorCode.INVALID_REQUEST
    assert field.replace("_", " ") in (refusal.message or "")


@pytest.mark.parametrize(
    ("fact", "fields"),
    [
        ("has_delegation_token_resource", {"resource_type": 6}),
        ("has_user_resource", {"resource_type": 7}),
        ("has_user_resource", {"operation": 13}),
        ("has_two_phase_commit", {"operation": 15}),
    ],
)
def test_a_filter_with_codes_of_later_releases(fact: str, fields: dict[str, object]) -> None:
    codes = changed(ANYTHING, **fields)
    assert deletion_filter_error(parse_filter(codes)) is None
    rules = msgspec.structs.replace(NEWEST_RULES, **{fact: False})
    assert deletion_filter_error(parse_filter(codes, rules)) is not None


def test_valid_filters_are_accepted() -> None:
    assert deletion_filter_error(AclFilter()) is None
    assert deletion_filter_error(AclFilter(pattern_type=PatternType.MATCH)) is None
    assert deletion_filter_error(AclFilter(resource_name="")) is None
