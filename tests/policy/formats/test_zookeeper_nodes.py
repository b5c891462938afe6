"""ZooKeeper nodes of ACLs, as `AclEntry.fromBytes` of Kafka 3.9.1 reads them."""

import json

import pytest

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_distinct_acls

ENTRY = '{"principal":"User:a","permissionType":"Allow","operation":"Read","host":"*"}'


def read(node: str, *, as_text: bool) -> set[str]:
    value = json.dumps(node) if as_text else node
    return {
        f"{acl.principal}|{acl.host}|{acl.operation.name}|{acl.permission.name}"
        for acl in parse_distinct_acls(f'{{"/kafka-acl/Topic/t": {value}}}', "zookeeper")
    }


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", {"User:a|*|READ|ALLOW"}),
        ('"Allow"', '"ALLOW"', {"User:a|*|READ|ALLOW"}),
        ('"Allow"', '"deny"', {"User:a|*|READ|DENY"}),
        ('"Read"', '"describeconfigs"', {"User:a|*|DESCRIBE_CONFIGS|ALLOW"}),
        ('"Read"', '"CreateTokens"', {"User:a|*|CREATE_TOKENS|ALLOW"}),
        ("User:a", "User:CN=a,O=b", {"User:CN=a,O=b|*|READ|ALLOW"}),
        ("User:a", "Group:x:y", {"Group:x:y|*|READ|ALLOW"}),
        ("User:a", "User:\\u00e9", {"User:\u00e9|*|READ|ALLOW"}),
        ('"host":"*"', '"host":"10.0.0.1","x":1', {"User:a|10.0.0.1|READ|ALLOW"}),
        (ENTRY, "", set()),
    ],
)
def test_nodes_are_read_as_kafka_does(
    old: str, new: str, expected: set[str], *, as_text: bool
) -> None:
    node = f'{{"version":1,"acls":[{ENTRY}]}}'
    assert read(node.replace(old, new), as_text=as_text) == expected


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize(
    ("node", "said"),
    [
        ('{"version":1,"acls":null}', "there is nothing below `acls`"),
        ('{"version":1,"acls":{}}', "`acls` must be a list"),
        ('{"version":1}', "the key `acls` is missing"),
        (f'{{"acls":[{ENTRY}]}}', "version None is not 1"),
        (f'{{"version":2,"acls":[{ENTRY}]}}', "version 2 is not 1"),
        (f'{{"version":1,"acls":[{ENTRY.replace("host", "hosts")}]}}', "`host` must be a string"),
    ],
)
def test_nodes_that_kafka_rejects_are_rejected(node: str, said: str, *, as_text: bool) -> None:
    with pytest.raises(AclTextError) as caught:
        read(node, as_text=as_text)
    assert said in caught.value.message


def test_a_key_that_is_there_twice_in_json_is_rejected() -> None:
    text = '[{"principal": "User:a",\n"permission": "DENY",\n"permission": "ALLOW"}]'
    for form in ("json", "zookeeper"):
        with pytest.raises(AclTextError) as caught:
            parse_distinct_acls(text, form)
        assert str(caught.value) == "line 3: not JSON: duplicate key `permission`"
