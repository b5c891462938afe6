"""Validation in CreateAcls, DescribeAcls and DeleteAcls, release by release."""

import pytest

from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.rules import NEWEST_RULES, AclRules, Handling
from kafka_shim.authorizer.validate import (
    AclCodes,
    Closes,
    Refusal,
    check_acl,
    check_deletion,
    read_acls,
    read_filter,
    read_filters,
)
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

GOOD = AclCodes(2, "orders", 3, "User:alice", "*", 3, 3)
ANYTHING = AclCodes(1, None, 1, None, None, 1, 1)
FIELDS = ("resource_type", "pattern_type", "operation", "permission")

ZOOKEEPER_RULES = AclRules(
    create_zero_code=Handling.ELEMENT,
    create_filter_code=Handling.CLOSE,
    create_any_resource_type=Handling.ELEMENT,
    filter_zero_code=Handling.MATCH_NOTHING,
    delete_unmapped_code=Handling.MATCH_NOTHING,
    malformed_principal=ErrorCode.UNKNOWN_SERVER_ERROR,
    slash_in_name=False,
    overlapping_filters=False,
    batch_limit=None,
)


def changed(codes: AclCodes, **fields: object) -> AclCodes:
    return AclCodes(
        **{name: fields.get(name, getattr(codes, name)) for name in codes.__struct_fields__}  # type: ignore[arg-type]
    )


def outcomes(odd: AclCodes, rules: AclRules = NEWEST_RULES) -> list[int] | str:
    """Return the error codes of three creations, the unusual one in the middle."""
    read = read_acls([GOOD, odd, GOOD], rules)
    if isinstance(read, Closes):
        assert read.why
        return "closed"
    return [item.error.value if isinstance(item, Refusal) else 0 for item in read]


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
    read = read_acls([changed(GOOD, operation=1), changed(GOOD, permission=0)])
    assert isinstance(read, Closes)


def test_a_valid_acl_is_read() -> None:
    acl = Acl(
        ResourceType.TOPIC,
        "orders",
        PatternType.PREFIXED,
        "User:alice",
        "*",
        Operation.READ,
        Permission.ALLOW,
    )
    assert read_acls([changed(GOOD, pattern_type=4)]) == [acl]
    assert read_acls([]) == []


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
    assert outcomes(changed(GOOD, host=host), rules_of("4.3")) == [0, 0, 0]
    assert outcomes(changed(GOOD, host=host), rules_of("4.4")) == [0, 42, 0]


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
    rules = AclRules(slash_in_name=False, slash_inside_name=nested)
    assert outcomes(changed(GOOD, resource_name=name), rules) == [0, 0 if accepted else -1, 0]


@pytest.mark.parametrize(
    ("error", "code"),
    [(None, 0), (ErrorCode.UNKNOWN_SERVER_ERROR, -1), (ErrorCode.INVALID_REQUEST, 42)],
)
def test_a_principal_without_a_colon(error: ErrorCode | None, code: int) -> None:
    rules = AclRules(malformed_principal=error)
    assert outcomes(changed(GOOD, principal="alice"), rules) == [0, code, 0]


@pytest.mark.parametrize(
    ("fact", "fields"),
    [
        ("prefixed_patterns", {"pattern_type": 4}),
        ("delegation_token_resource", {"resource_type": 6}),
        ("user_resource", {"resource_type": 7}),
        ("user_resource", {"operation": 13}),
        ("user_resource", {"operation": 14}),
        ("two_phase_commit", {"operation": 15}),
    ],
)
def test_codes_of_later_releases_are_rejected(fact: str, fields: dict[str, object]) -> None:
    odd = changed(GOOD, **fields)
    assert outcomes(odd) == [0, 0, 0]
    assert outcomes(odd, AclRules(**{fact: False})) == [0, 42, 0]  # type: ignore[arg-type]


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
        (refusal,) = read_acls([changed(GOOD, **{field: value})])  # type: ignore[misc]
        assert refusal == Refusal(ErrorCode.INVALID_REQUEST, text)
    cluster = Acl(
        ResourceType.CLUSTER,
        "foo",
        PatternType.LITERAL,
        "User:a",
        "*",
        Operation.READ,
        Permission.ALLOW,
    )
    refused = check_acl(cluster)
    assert refused is not None
    assert refused.message is not None
    assert "kafka-cluster" in refused.message


# ------------------------------------------------------------------ filters


def test_a_filter_keeps_its_nulls() -> None:
    assert read_filter(ANYTHING) == AclFilter()
    assert read_filter(AclCodes(2, "", 2, "", "", 3, 2)) == AclFilter(
        ResourceType.TOPIC, "", PatternType.MATCH, "", "", Operation.READ, Permission.DENY
    )


@pytest.mark.parametrize("field", FIELDS)
def test_a_zero_in_a_filter(field: str) -> None:
    filters = [ANYTHING, changed(ANYTHING, **{field: 0})]
    assert isinstance(read_filters(filters), Closes)
    read = read_filters(filters, ZOOKEEPER_RULES)
    assert not isinstance(read, Closes)
    assert read[0] == AclFilter()
    assert getattr(read[1], field).name == "UNKNOWN"
    assert check_deletion(read[1], ZOOKEEPER_RULES) is None


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("code", [99, -1, 16])
def test_an_unmapped_code_in_a_filter(field: str, code: int) -> None:
    read = read_filters([changed(ANYTHING, **{field: code})])
    assert not isinstance(read, Closes)
    assert getattr(read[0], field).name == "UNKNOWN"
    refusal = check_deletion(read[0])
    assert refusal is not None
    assert refusal.error is ErrorCode.INVALID_REQUEST
    assert field.replace("_", " ") in (refusal.message or "")


@pytest.mark.parametrize(
    ("fact", "fields"),
    [
        ("delegation_token_resource", {"resource_type": 6}),
        ("user_resource", {"resource_type": 7}),
        ("user_resource", {"operation": 13}),
        ("two_phase_commit", {"operation": 15}),
    ],
)
def test_a_filter_with_codes_of_later_releases(fact: str, fields: dict[str, object]) -> None:
    codes = changed(ANYTHING, **fields)
    assert check_deletion(read_filter(codes)) is None
    assert check_deletion(read_filter(codes, AclRules(**{fact: False}))) is not None  # type: ignore[arg-type]


def test_valid_filters_are_accepted() -> None:
    assert check_deletion(AclFilter()) is None
    assert check_deletion(AclFilter(pattern_type=PatternType.MATCH)) is None
    assert check_deletion(AclFilter(resource_name="")) is None
