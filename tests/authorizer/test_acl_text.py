"""ACLs as text, as objects, and in the state file's short form."""

import json

import pytest
import yaml
from hypothesis import given, strategies as st

from authorizer.acl_names import AclTextError
from authorizer.acl_text import (
    format_list,
    parse_list,
    parse_objects,
    parse_short,
    to_objects,
    to_short,
)
from authorizer.model import Acl
from protocol.enums import Operation, PatternType, Permission, ResourceType

HEADING = "Current ACLs for resource `ResourcePattern(resourceType="
LISTED = f"""\
{HEADING}TOPIC, name=x, y, patternType=PREFIXED)`:
\t(principal=User:CN=a, b, host=*, operation=READ, permissionType=ALLOW)
\t(principal=User:alice, host=*, operation=DESCRIBE_CONFIGS, permissionType=ALLOW)

{HEADING}CLUSTER, name=kafka-cluster, patternType=LITERAL)`:
\t(principal=User:bob, host=10.0.0.1, operation=ALL, permissionType=DENY)

"""
"""As kafka-acls prints it."""

ACLS_LISTED = [
    Acl(
        ResourceType.TOPIC,
        "x, y",
        PatternType.PREFIXED,
        "User:CN=a, b",
        "*",
        Operation.READ,
        Permission.ALLOW,
    ),
    Acl(
        ResourceType.TOPIC,
        "x, y",
        PatternType.PREFIXED,
        "User:alice",
        "*",
        Operation.DESCRIBE_CONFIGS,
        Permission.ALLOW,
    ),
    Acl(
        ResourceType.CLUSTER,
        "kafka-cluster",
        PatternType.LITERAL,
        "User:bob",
        "10.0.0.1",
        Operation.ALL,
        Permission.DENY,
    ),
]

LINES = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def acls_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[Acl]]:
    concrete = [
        st.sampled_from([m for m in enum if m not in (0, 1, *unwanted)])
        for enum, unwanted in (
            (ResourceType, ()),
            (PatternType, (PatternType.MATCH,)),
            (Operation, ()),
            (Permission, ()),
        )
    ]
    types, patterns, operations, permissions = concrete
    one = st.builds(Acl, types, texts, patterns, texts, texts, operations, permissions)
    return st.lists(one, max_size=6, unique=True)


# ------------------------------------------------------------------ lists of kafka-acls


def test_a_list_is_printed_and_read_as_kafka_acls_does() -> None:
    assert parse_list(LISTED) == ACLS_LISTED
    assert format_list(ACLS_LISTED[::-1]) == LISTED
    assert format_list([]) == ""
    assert parse_list("") == []


def test_what_the_tool_says_around_the_list_is_skipped() -> None:
    adding = LISTED.replace("Current ACLs", "Adding ACLs").replace("`:\n", "`: \n ")
    assert parse_list("ACLs for principal `User:alice`\r\n" + adding) == ACLS_LISTED


def test_lists_of_old_releases_are_read() -> None:
    old = (
        "Current ACLs for resource `Topic:LITERAL:a:b`: \n"
        " \tUser:CN=a, b has Allow permission for operations: Read from hosts: *\n"
        "Current ACLs for resource `Group:PREFIXED:g`: \n"
        "\tUser:bob has Deny permission for operations: All from hosts: 10.0.0.1 \n\n"
        "Current ACLs for resource `Cluster:kafka-cluster`: \n"
        " \tUser:bob has Allow permission for operations: ClusterAction from hosts: * \n"
    )
    read = [(a.resource_type.name, a.resource_name, a.pattern_type.name) for a in parse_list(old)]
    assert read == [
        ("TOPIC", "a:b", "LITERAL"),
        ("GROUP", "g", "PREFIXED"),
        ("CLUSTER", "kafka-cluster", "LITERAL"),
    ]
    first, second, third = parse_list(old)
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
        ("hello", "line 1 is not from a list of kafka-acls: `hello`"),
        ("\n\t(principal=a, host=*, operation=READ, permissionType=ALLOW)", "line 2 is not"),
        (LISTED.replace("DESCRIBE_CONFIGS", "LOOK"), "`LOOK` is not an acl's operation"),
        (LISTED.replace("=TOPIC", "=SUBJECT"), "`SUBJECT` is not an acl's resource type"),
    ],
)
def test_what_is_no_list_is_explained(text: str, complaint: str) -> None:
    with pytest.raises(AclTextError, match=complaint):
        parse_list(text)


@given(acls_of(LINES.filter(lambda text: ", host=" not in text and "patternType=" not in text)))
def test_lists_go_round(acls: list[Acl]) -> None:
    assert set(parse_list(format_list(acls))) == set(acls)


# ------------------------------------------------------------------ objects


def test_objects_have_texts_only() -> None:
    assert to_objects(ACLS_LISTED)[2] == {
        "principal": "User:bob",
        "host": "10.0.0.1",
        "resource_type": "CLUSTER",
        "resource_name": "kafka-cluster",
        "resource_pattern_type": "LITERAL",
        "operation": "ALL",
        "permission": "DENY",
    }


@given(acls_of(ANY_TEXT))
def test_objects_go_round_through_json(acls: list[Acl]) -> None:
    assert parse_objects(json.loads(json.dumps(to_objects(acls)))) == acls


def test_some_fields_may_be_left_out() -> None:
    entry = {
        "principal": "User:a",
        "resource_type": "TransactionalId",
        "resource_name": "t",
        "operation": "IdempotentWrite",
    }
    (acl,) = parse_objects([entry])
    assert (acl.host, acl.pattern_type, acl.permission) == (
        *("*", PatternType.LITERAL, Permission.ALLOW),
    )
    assert acl.resource_type is ResourceType.TRANSACTIONAL_ID


@pytest.mark.parametrize(
    ("objects", "complaint"),
    [
        ({}, "acls must be a list of objects"),
        ("[]", "acls must be a list of objects"),
        (["x"], "acl 1: `x` is not an object"),
        ([{}], "acl 1: `principal` is missing, or is not a text"),
        ([*to_objects(ACLS_LISTED), {**to_objects(ACLS_LISTED)[0], "host": 5}], "acl 4: `host`"),
        ([{**to_objects(ACLS_LISTED)[0], "hosts": "*"}], "acl 1: unknown key `hosts`; known are"),
        (
            [{**to_objects(ACLS_LISTED)[0], "operation": "x"}],
            "acl 1: `x` is not an acl's op",
        ),
    ],
)
def test_other_objects_are_explained(objects: object, complaint: str) -> None:
    with pytest.raises(AclTextError, match=complaint):
        parse_objects(objects)


# ------------------------------------------------------------------ the short form


def short(text: str) -> list[Acl]:
    return parse_short(yaml.safe_load(text), "acl 3")


def test_a_rule_stands_for_all_its_combinations() -> None:
    acls = short(
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
    (acl,) = short(f"{{principal: User:a, allow: All, {key}}}")
    assert acl == Acl(
        resource_type, "x", PatternType.LITERAL, "User:a", "*", Operation.ALL, Permission.ALLOW
    )


@pytest.mark.parametrize("key", ["cluster:", "cluster: kafka-cluster"])
def test_the_cluster_needs_no_name(key: str) -> None:
    (acl,) = short(f"principal: User:a\nallow: Alter\n{key}\n")
    assert (acl.resource_type, acl.resource_name) == (ResourceType.CLUSTER, "kafka-cluster")


def test_an_asterisk_at_the_end_has_to_be_meant() -> None:
    rule = "principal: User:a, allow: Read, topic: 'orders-*'"
    with pytest.raises(AclTextError, match="acl 3: `orders-\\*` is no pattern"):
        short(f"{{{rule}}}")
    (acl,) = short(f"{{{rule}, pattern: literal}}")
    assert (acl.resource_name, acl.pattern_type) == ("orders-*", PatternType.LITERAL)
    (acl,) = short("{principal: User:a, allow: Read, topic: '*'}")
    assert acl.resource_name == "*"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("5", "acl 3: `5` is not a mapping"),
        ("{principal: User:a, alow: Read, topic: t}", "acl 3: unknown key `alow`; known are allow"),
        ("{principal: User:a, topic: t}", "acl 3: a rule needs `principal`, and `allow` or `deny`"),
        ("{allow: Read, topic: t}", "acl 3: a rule needs `principal`"),
        ("{principal: User:a, allow: Read}", "acl 3: name one resource, by one of cluster, "),
        ("{principal: User:a, allow: Read, topic: t, group: g}", "acl 3: name one resource"),
        ("{principal: User:a, allow: Raed, topic: t}", "acl 3: `Raed` is not an acl's operation"),
        ("{principal: User:a, allow: [], topic: t}", "acl 3: `allow` must be a text or a list"),
        ("{principal: User:a, allow: Read, topic: 5}", "acl 3: `topic` must be a text"),
        ("{principal: User:a, allow: Read, topic: }", "acl 3: `topic` must be a text"),
        ("{principal: User:a, allow: Read, topic: t, pattern: x}", "acl 3: `x` is not an acl's p"),
    ],
)
def test_other_rules_are_explained(text: str, complaint: str) -> None:
    with pytest.raises(AclTextError, match=complaint):
        short(text)


def test_the_short_form_is_short() -> None:
    assert to_short(ACLS_LISTED) == [
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
    (rule,) = to_short(short("{principal: User:a, allow: [Write, Read], topic: t}"))
    assert rule == {"principal": "User:a", "allow": ["Read", "Write"], "topic": "t"}


@given(acls_of(ANY_TEXT | st.sampled_from(["a*", "*", "null", "5", "no"])))
def test_the_short_form_goes_round_through_yaml(acls: list[Acl]) -> None:
    text = yaml.safe_dump(to_short(acls))
    rules = yaml.safe_load(text) or []
    assert {acl for rule in rules for acl in parse_short(rule)} == set(acls)
