"""ACLs as rules, as in the state file."""

import pytest
import yaml
from hypothesis import given, strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.yaml_rules import acl_line, acls_to_rules, parse_acls, parse_rule
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.policy.formats.samples import ACLS_LISTED, ANY_TEXT, acls_of
from tests.support.acls import make_acl


def rule_of(text: str) -> list[Acl]:
    return parse_rule(yaml.safe_load(text), "acl 3")


def test_a_rule_expands_to_all_its_combinations() -> None:
    acls = rule_of(
        "{principal: [User:alice, 'User:CN=a,O=b'], allow: [Read, DESCRIBE_CONFIGS], deny: write,"
        " topic: [orders, payments], pattern: prefixed, host: [10.0.0.1, '*']}"
    )
    assert len(acls) == len(set(acls)) == 2 * 3 * 2 * 2
    assert {acl.pattern_type for acl in acls} == {PatternType.PREFIXED}
    denied = [acl for acl in acls if acl.permission is Permission.DENY]
    assert {acl.operation for acl in denied} == {Operation.WRITE}
    assert {acl.operation for acl in acls} - {Operation.WRITE} == {
        *(Operation.READ, Operation.DESCRIBE_CONFIGS)
    }


@pytest.mark.parametrize(
    ("key", "resource_type"),
    [
        ("topic: x", ResourceType.TOPIC),
        ("group: x", ResourceType.GROUP),
        ("transactional-id: x", ResourceType.TRANSACTIONAL_ID),
        ("transactional_id: x", ResourceType.TRANSACTIONAL_ID),
        ("delegation-token: x", ResourceType.DELEGATION_TOKEN),
        ("user: x", ResourceType.USER),
    ],
)
def test_resources_have_their_keys(key: str, resource_type: ResourceType) -> None:
    (acl,) = rule_of(f"{{principal: User:a, allow: All, {key}}}")
    assert acl == make_acl(Operation.ALL, "x", principal="User:a", resource_type=resource_type)


@pytest.mark.parametrize("key", ["cluster:", "cluster: kafka-cluster"])
def test_the_cluster_needs_no_name(key: str) -> None:
    (acl,) = rule_of(f"principal: User:a\nallow: Alter\n{key}\n")
    assert (acl.resource_type, acl.resource_name) == (ResourceType.CLUSTER, "kafka-cluster")


def test_a_trailing_asterisk_must_be_explicit() -> None:
    rule = "principal: User:a, allow: Read, topic: 'orders-*'"
    with pytest.raises(AclTextError, match="acl 3: `orders-\\*` is not a pattern"):
        rule_of(f"{{{rule}}}")
    (acl,) = rule_of(f"{{{rule}, pattern: literal}}")
    assert (acl.resource_name, acl.pattern_type) == ("orders-*", PatternType.LITERAL)
    (acl,) = rule_of("{principal: User:a, allow: Read, topic: '*'}")
    assert acl.resource_name == "*"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("5", "acl 3: `5` is not a mapping"),
        (
            "{principal: User:a, alow: Read, topic: t}",
            "unknown key `alow`; did you mean `allow`",
        ),
        ("{principal: User:a, topic: t}", "acl 3: a rule needs `principal`, and `allow` or `deny`"),
        ("{allow: Read, topic: t}", "acl 3: a rule needs `principal`"),
        (
            "{principal: User:a, allow: Read}",
            "acl 3: expected exactly one resource, with one of the keys cluster, ",
        ),
        (
            "{principal: User:a, allow: Read, topic: t, group: g}",
            "acl 3: expected exactly one resource",
        ),
        ("{principal: User:a, allow: Raed, topic: t}", "acl 3: unknown operation `Raed`"),
        ("{principal: User:a, allow: [], topic: t}", "acl 3: `allow` must be a string or a list"),
        ("{principal: User:a, allow: Read, topic: 5}", "acl 3: `topic` must be a string"),
        ("{principal: User:a, allow: Read, topic: }", "acl 3: `topic` must be a string"),
        (
            "{principal: User:a, allow: Read, topic: t, pattern: x}",
            "acl 3: unknown pattern type `x`",
        ),
    ],
)
def test_invalid_rules_are_reported(text: str, complaint: str) -> None:
    with pytest.raises(AclTextError, match=complaint):
        rule_of(text)


def test_a_rule_is_short() -> None:
    assert acls_to_rules(ACLS_LISTED) == [
        {"principal": "User:CN=a, b", "allow": ["Read"], "topic": "x, y", "pattern": "prefixed"},
        {
            "principal": "User:alice",
            "allow": ["DescribeConfigs"],
            "topic": "x, y",
            "pattern": "prefixed",
        },
        {
            "principal": "User:bob",
            "deny": ["All"],
            "cluster": "kafka-cluster",
            "host": "10.0.0.1",
        },
    ]
    (rule,) = acls_to_rules(rule_of("{principal: User:a, allow: [Write, Read], topic: t}"))
    assert rule == {"principal": "User:a", "allow": ["Read", "Write"], "topic": "t"}


@given(acls_of(ANY_TEXT | st.sampled_from(["a*", "*", "null", "5", "no"])))
def test_rules_survive_a_round_trip_through_yaml(acls: list[Acl]) -> None:
    text = yaml.safe_dump(acls_to_rules(acls))
    rules = yaml.safe_load(text) or []
    assert {acl for rule in rules for acl in parse_rule(rule)} == set(acls)


def test_printed_lines_are_read() -> None:
    """What outputs print of ACLs is read back, one line for each."""
    acls = [
        Acl(kind, name, pattern, principal, host, Operation.READ, permission)
        for kind in (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID)
        for name in ("orders", "*", "a b", "yes", "1", "x: y", "]}", "e*", "\x1b\n")
        for pattern in (PatternType.LITERAL, PatternType.PREFIXED)
        for principal in ("User:alice", "User:*", "User:CN=a, O=b")
        for host in ("*", "10.0.0.1", "2001:db8::1", "10.0.0.0/8")
        for permission in (Permission.ALLOW, Permission.DENY)
    ]
    text = "\n".join(map(acl_line, acls))
    assert {acl for acl, _ in parse_acls(text)} == set(acls)
