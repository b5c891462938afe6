"""Fixed and random ACLs for the tests of ACL formats."""

import pytest
from hypothesis import strategies as st

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from tests.support.acls import make_acl

HEADING = "Current ACLs for resource `ResourcePattern(resourceType="
LISTED = f"""\
{HEADING}TOPIC, name=x, y, patternType=PREFIXED)`:
\t(principal=User:CN=a, b, host=*, operation=READ, permissionType=ALLOW)
\t(principal=User:alice, host=*, operation=DESCRIBE_CONFIGS, permissionType=ALLOW)

{HEADING}CLUSTER, name=kafka-cluster, patternType=LITERAL)`:
\t(principal=User:bob, host=10.0.0.1, operation=ALL, permissionType=DENY)

"""
"""Output of `kafka-acls --list`."""

ACLS_LISTED = [
    make_acl(Operation.READ, "x, y", principal="User:CN=a, b", pattern_type=PatternType.PREFIXED),
    make_acl(Operation.DESCRIBE_CONFIGS, "x, y", pattern_type=PatternType.PREFIXED),
    make_acl(
        Operation.ALL,
        "kafka-cluster",
        principal="User:bob",
        host="10.0.0.1",
        resource_type=ResourceType.CLUSTER,
        permission=Permission.DENY,
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
    acl = st.builds(Acl, types, texts, patterns, texts, texts, operations, permissions)
    return st.lists(acl, max_size=6, unique=True)


def rules(text: str, form: str | None = None) -> list[str]:
    """Return the ACLs of a text, each in the one-line form that traces use."""
    return [format_acl_rule(acl) for acl in parse_distinct_acls(text, form)]


def refusal(text: str, form: str | None = None) -> str:
    with pytest.raises(AclTextError) as caught:
        parse_distinct_acls(text, form)
    return str(caught.value)
