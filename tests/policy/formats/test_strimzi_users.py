"""KafkaUser resources as the classes of `io.strimzi:api` 0.49.0 read them.

They have an ACL for each operation. In what is rejected here, they found no operation or type, or
no subtype without a `type`, or reject both `operation` and `operations`.
"""

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule

USER = """\
apiVersion: kafka.strimzi.io/v1
kind: KafkaUser
metadata:
  name: shop
spec:
  authentication: {type: tls}
  authorization:
    type: simple
    acls:
    - resource: {type: topic, name: orders}
      type: allow
      operations: [Read]
"""
AGAIN = USER.replace("name: shop", "name: pay")


def rules(text: str) -> list[str]:
    return [format_acl_rule(acl) for acl in parse_distinct_acls(text)]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[Read]", "[read]", "unknown operation `read`; did you mean `Read`?"),
        ("[Read]", "[READ]", "unknown operation `READ`"),
        ("[Read]", "[DESCRIBE_CONFIGS]", "unknown operation `DESCRIBE_CONFIGS`"),
        ("[Read]", "[CreateTokens]", "unknown operation `CreateTokens`"),
        ("[Read]", "[TwoPhaseCommit]", "unknown operation `TwoPhaseCommit`"),
        ("[Read]", "[Read, null]", "unknown operation `None`"),
        ("[Read]", "[]\n      operation: Read", "exclude each other"),
        ("type: allow", "type: Deny", "`Deny` is not one of allow, deny"),
        ("type: allow", "type: DENY", "`DENY` is not one of allow, deny"),
        ("{type: tls}", "{}", "`authentication`: `type` must be a string"),
        ("type: simple", "", "KafkaUser shop: `type` must be a string"),
        ("kafka.strimzi.io/v1", "kafka.banzaicloud.io/v1alpha1", "not a resource of Strimzi"),
        ("kafka.strimzi.io/v1", "aiven.io/v1alpha1", "not a resource of Strimzi"),
        ("name: orders", "name: $TOPIC", "`$TOPIC` is a template"),
    ],
)
def test_what_strimzi_does_not_read_is_rejected(old: str, new: str, said: str) -> None:
    assert old in USER
    with pytest.raises(AclTextError) as caught:
        rules(USER.replace(old, new, 1))
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("type: allow", "type: deny", ["TOPIC|orders|LITERAL|User:CN=shop|*|READ|DENY"]),
        ("operations: [Read]", "operations: []", []),
        (
            "operations: [Read]",
            "operation: DescribeConfigs",
            ["TOPIC|orders|LITERAL|User:CN=shop|*|DESCRIBE_CONFIGS|ALLOW"],
        ),
        (
            "{type: topic, name: orders}",
            "{type: transactionalId, name: t, patternType: prefix}",
            ["TRANSACTIONAL_ID|t|PREFIXED|User:CN=shop|*|READ|ALLOW"],
        ),
    ],
)
def test_what_strimzi_reads_is_read(old: str, new: str, expected: list[str]) -> None:
    assert rules(USER.replace(old, new)) == expected


CLUSTER = "name: {}\n  labels: {{strimzi.io/cluster: {}}}"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (CLUSTER.format("a", "one"), CLUSTER.format("b", "one"), ""),
        (CLUSTER.format("a", "one"), "name: b", ""),
        (
            CLUSTER.format("a", "one"),
            CLUSTER.format("b", "two"),
            "KafkaUser b is of the cluster two, not of one as a; give those of one",
        ),
        ("name: a", "name: a", "KafkaUser a is there twice; give one of them"),
        (
            "name: a\n  namespace: x",
            "name: a\n  namespace: y",
            "KafkaUser y/a has the principal of x/a; give one of them",
        ),
    ],
)
def test_users_are_those_of_one_cluster(first: str, second: str, said: str) -> None:
    """A User Operator keeps the users of its cluster, one for each principal."""
    text = USER.replace("name: shop", first) + "---\n" + AGAIN.replace("name: pay", second)
    if not said:
        assert len(rules(text)) == 2
        return
    with pytest.raises(AclTextError) as caught:
        rules(text)
    assert (caught.value.message, caught.value.line) == (
        said,
        text.count("\n", 0, text.index("---")) + 2,
    )
