"""ACL files written by other tools and by hand, which differ from what the shim writes."""

import json

import msgspec
import pytest
from hypothesis import example, given, strategies as st

from kafka_shim.policy.formats import resources_without_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from tests.policy.formats.samples import ACLS_LISTED, refusal, rules


def test_rules_of_traces_survive_a_round_trip() -> None:
    assert [parse_acl_rule(format_acl_rule(acl)) for acl in ACLS_LISTED] == ACLS_LISTED
    assert parse_acl_rule("DefaultDeny") is None


@given(st.text("|\\:aLITERPFXD", max_size=30), st.text("|\\:aLITERPFXD", max_size=30))
@example("a|LITERAL|User:b", "x|LITERAL|User:c")
@example("a\\", "\\|LITERAL|x:y")
def test_rules_of_hostile_names_survive_a_round_trip(name: str, principal: str) -> None:
    acl = msgspec.structs.replace(ACLS_LISTED[0], resource_name=name, principal=f"User:{principal}")
    assert parse_acl_rule(format_acl_rule(acl)) == acl


# ------------------------------------------------------------------ Strimzi

STRIMZI = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaUser
metadata:
  name: billing
  labels: {strimzi.io/cluster: main}
spec:
  authentication: {type: %s}
  authorization:
    type: simple
    acls:
      - resource: {type: topic, name: orders-, patternType: prefix}
        operations: [Read, Describe]
      - resource: {type: cluster}
        operation: IdempotentWrite
        type: deny
        host: 10.0.0.1
---
kind: KafkaUser
metadata: {name: nobody}
spec: {authentication: {type: tls}}
"""


@pytest.mark.parametrize(
    ("login", "principal"),
    [
        ("scram-sha-512", "User:billing"),
        ("tls", "User:CN=billing"),
        ("tls-external", "User:CN=billing"),
    ],
)
def test_a_kafka_user(login: str, principal: str) -> None:
    assert rules(STRIMZI % login) == [
        f"TOPIC|orders-|PREFIXED|{principal}|*|READ|ALLOW",
        f"TOPIC|orders-|PREFIXED|{principal}|*|DESCRIBE|ALLOW",
        f"CLUSTER|kafka-cluster|LITERAL|{principal}|10.0.0.1|IDEMPOTENT_WRITE|DENY",
    ]


def test_a_list_of_kafka_users_as_kubectl_prints_it() -> None:
    user = {
        "kind": "KafkaUser",
        "metadata": {"name": "a"},
        "spec": {
            "authorization": {
                "type": "simple",
                "acls": [{"resource": {"type": "group", "name": "g"}, "operations": ["Read"]}],
            }
        },
    }
    text = json.dumps({"kind": "List", "items": [user]})
    assert rules(text) == ["GROUP|g|LITERAL|User:a|*|READ|ALLOW"]


def test_invalid_kafka_users_are_reported() -> None:
    text = STRIMZI % "tls"
    assert "`prefixed` is not one of literal, prefix" in refusal(
        text.replace("prefix}", "prefixed}")
    )
    assert "KafkaUser billing: acl 2: `host` must be" in refusal(text.replace("10.0.0.1", "[]"))
    assert "authorization `opa` has no ACLs" in refusal(text.replace("simple", "opa"))
    assert "unknown key `hosts`" in refusal(text.replace("host:", "hosts:"))
    assert "`resource`: unknown key `paternType`" in refusal(
        text.replace("patternType", "paternType")
    )
    assert "unknown kind `KafkaTopic`: expected KafkaUser" in refusal(
        text.replace("KafkaUser", "KafkaTopic"), "strimzi"
    )


def test_a_kafka_user_may_set_a_username() -> None:
    """Strimzi's KafkaUserSpec has this field after 0.51; `io.strimzi:api` 0.51.0 lacks it."""
    text = (STRIMZI % "tls").replace("spec:\n", "spec:\n  userName: Billing_1\n", 1)
    assert {rule.split("|")[3] for rule in rules(text)} == {"User:CN=Billing_1"}


def test_an_empty_acls_key_is_reported() -> None:
    text = (STRIMZI % "tls").partition("      - resource")[0]
    assert "KafkaUser billing: there is nothing below `acls`; write `acls: []`" in refusal(text)


@pytest.mark.parametrize(
    ("key", "misspelt", "complaint"),
    [
        ("spec:", "specs:", "resource: unknown key `specs`"),
        (
            "{type: tls}\n",
            "{typ: tls}\n",
            "`authentication`: unknown key `typ`; did you",
        ),
        (
            "{type: tls}\n",
            "{type: tsl}\n",
            "authentication `tsl` is not one of tls, tls",
        ),
        ("authorization:", "authorisation:", "billing: `spec`: unknown key `authorisation`"),
        (
            "acls:",
            "acl:",
            "billing: `authorization`: unknown key `acl`; did you mean `acls`",
        ),
    ],
)
def test_misspelt_keys_of_a_kafka_user_are_reported(
    key: str, misspelt: str, complaint: str
) -> None:
    said = refusal((STRIMZI % "tls").replace(key, misspelt))
    assert complaint in said
    assert said.startswith("line ")


# ------------------------------------------------------------------ jikkou

JIKKOU = """\
apiVersion: "kafka.jikkou.io/v1beta2"
kind: "KafkaPrincipalRole"
metadata: {name: readers}
spec:
  acls:
    - type: ALLOW
      operations: [READ]
      resource: {type: topic, pattern: public-, patternType: PREFIXED}
---
apiVersion: "kafka.jikkou.io/v1beta2"
kind: "KafkaPrincipalAuthorization"
metadata: {name: "User:Alice"}
spec:
  roles: [readers]
  acls:
    - resource: {type: 'user', pattern: 'bob', patternType: 'LITERAL'}
      type: "DENY"
      operations: ['CREATE_TOKEN']
      host: "10.0.0.1"
"""


def test_principals_of_jikkou_have_the_acls_of_their_roles() -> None:
    assert rules(JIKKOU) == [
        "USER|bob|LITERAL|User:Alice|10.0.0.1|CREATE_TOKENS|DENY",
        "TOPIC|public-|PREFIXED|User:Alice|*|READ|ALLOW",
    ]


def test_features_of_jikkou_alone_are_reported() -> None:
    assert "MATCH is a regular expression" in refusal(JIKKOU.replace("PREFIXED", "MATCH"))
    assert "unknown role `x`" in refusal(JIKKOU.replace("[readers]", "[x]"))


def test_misspelt_keys_of_jikkou_are_reported() -> None:
    first = refusal(JIKKOU.replace("acls:", "acl:", 1))
    assert "KafkaPrincipalRole readers: `spec`: unknown key `acl`; did you mean `acls`" in first
    second = refusal(JIKKOU.replace("roles:", "role:"))
    assert "line 14: KafkaPrincipalAuthorization User:Alice: `spec`: unknown key `role`" in second


# ------------------------------------------------------------------ kafka-security-manager


def test_tables_with_another_separator_or_without_pattern_types() -> None:
    old = "KafkaPrincipal,ResourceType,ResourceName,Operation,PermissionType,Host\n"
    assert rules(f"{old}User:a,Topic,t,Read,Allow,*\n\n") == ["TOPIC|t|LITERAL|User:a|*|READ|ALLOW"]
    table = (
        "\ufeffKafkaPrincipal;ResourceType;PatternType;ResourceName;Operation;PermissionType;Host\r\n"
        "User:CN=a,O=b;TransactionalId;PREFIXED;t;DescribeConfigs;Deny;10.0.0.1\r\n"
    )
    assert rules(table) == [
        "TRANSACTIONAL_ID|t|PREFIXED|User:CN=a,O=b|10.0.0.1|DESCRIBE_CONFIGS|DENY"
    ]


def test_invalid_tables_are_reported() -> None:
    head = "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
    assert "the column `Host` is missing" in refusal(head.replace(",Host", ""))
    assert "line 1: the columns: unknown key `Pattern`; did you mean `PatternType`" in refusal(
        head.replace("PatternType", "Pattern")
    )
    assert "line 2: the line must have as many fields" in refusal(
        f"{head}User:CN=a,O=b,Topic,LITERAL,t,Read,Allow,*\n"
    )
    assert "line 2: the line must have as many fields" in refusal(f"{head}User:a,Topic\n")
    assert "line 3: unknown operation `Raed`" in refusal(
        f"{head}User:a,Topic,LITERAL,t,Read,Allow,*\nUser:a,Topic,LITERAL,t,Raed,Allow,*\n"
    )
    assert "the first line must name the columns" in refusal("User:a,Topic\n", "csv")


# ------------------------------------------------------------------ ZooKeeper

NODE = (
    '{"version":1,"acls":[{"principal":"User:b","permissionType":"Allow",'
    '"operation":"All","host":"*"}]}'
)
"""A node as brokers of 2.0 to 2.8 wrote it."""


def test_nodes_of_zookeeper() -> None:
    nodes = {
        "/chroot/kafka-acl/TransactionalId/t": NODE,
        "/kafka-acl-extended/prefixed/Topic/pre": json.loads(NODE),
        "/kafka-acl-changes/acl_changes_0000000000": "whatever",
    }
    assert rules(json.dumps(nodes)) == [
        "TRANSACTIONAL_ID|t|LITERAL|User:b|*|ALL|ALLOW",
        "TOPIC|pre|PREFIXED|User:b|*|ALL|ALLOW",
    ]


def test_invalid_zookeeper_nodes_are_reported() -> None:
    assert "is not a path of ACLs" in refusal(json.dumps({"/brokers/ids": NODE}), "zookeeper")
    node = NODE.replace('"version":1', '"version":2')
    assert "version 2 is not 1" in refusal(json.dumps({"/kafka-acl/Topic/t": node}))
    assert "is not JSON" in refusal(json.dumps({"/kafka-acl/Topic/t": "{"}))


# ------------------------------------------------------------------ logs and scripts

DECISION = (
    "[2026-01-01 10:00:00,000] INFO Principal = User:a is Allowed operation = READ from host ="
    " 10.0.0.1 on resource = Topic:LITERAL:t for request = Fetch with resourceRefCount = 1"
)


def test_lines_of_the_authorizers_log() -> None:
    rule = (
        "MatchingAcl(acl=StandardAcl(resourceType=TOPIC, resourceName=t, patternType=LITERAL,"
        " principal=User:a, host=*, operation=READ, permissionType=ALLOW))"
    )
    log = (
        "[2026-01-01 10:00:00,000] INFO started (kafka.server.KafkaServer)\n"
        f"{DECISION} based on rule {rule} (kafka.authorizer.logger)\n"
        f"{DECISION} based on rule DefaultDeny (kafka.authorizer.logger)\n"
        f"{DECISION} based on rule {rule} (kafka.authorizer.logger)\n"
    )
    assert rules(log) == ["TOPIC|t|LITERAL|User:a|*|READ|ALLOW"]
    assert "does not name the rules" in refusal(DECISION)
    since_4_2 = log.replace("StandardAcl(", "StandardAcl[").replace("ALLOW))", "ALLOW])")
    assert rules(since_4_2) == rules(log)
    assert rules(rule.replace("Acl(r", "Acl[r").replace("W))", "W])")) == rules(log)


SCRIPT = """\
#!/bin/sh
# who may read
docker exec broker /opt/kafka/bin/kafka-acls.sh --bootstrap-server b:9092 --command-config x \\
  --add --allow-principal 'User:CN=a, O=b' --allow-host 10.0.0.1 \\
  --consumer --topic orders --group=billing

kafka-acls --bootstrap-server b:9092 --force --add --deny-principal User:c --cluster
"""


def test_a_script_of_commands() -> None:
    principal = "User:CN=a, O=b|10.0.0.1"
    assert set(rules(SCRIPT)) == {
        f"TOPIC|orders|LITERAL|{principal}|READ|ALLOW",
        f"TOPIC|orders|LITERAL|{principal}|DESCRIBE|ALLOW",
        f"GROUP|billing|LITERAL|{principal}|READ|ALLOW",
        "CLUSTER|kafka-cluster|LITERAL|User:c|*|ALL|DENY",
    }


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("echo hello", "no kafka-acls command in it that adds ACLs"),
        ("\nkafka-acls --list", "no kafka-acls command in it that adds ACLs"),
        ("\nkafka-acls --remove --topic t", "line 2: this command removes ACLs; only"),
        ("kafka-acls --add --topic t", "line 1: You must specify one of: --allow-principal"),
        ("kafka-acls --add --topik t", "line 1: unrecognized arguments: --topik t"),
        ("kafka-acls --add 'x", "line 1: incomplete command: a quote is open"),
    ],
)
def test_invalid_commands_are_reported(line: str, complaint: str) -> None:
    assert complaint in refusal(line, "commands")


def test_two_dashes_are_a_valid_name() -> None:
    assert rules("kafka-acls --add --allow-principal User:a --operation Read --topic=--") == [
        "TOPIC|--|LITERAL|User:a|*|READ|ALLOW"
    ]


# ------------------------------------------------------------------ what does not matter, or is not


STRIMZI_READ = "TOPIC|orders-|PREFIXED|User:CN=billing|*|READ|ALLOW"


@pytest.mark.parametrize(
    ("before", "with_more"),
    [
        ("{type: tls}", "{type: tls, validityDays: 30, renewalDays: 10}"),
        ("spec:\n", "spec:\n  quotas: {producerByteRate: 1, controllerMutationRate: 2}\n"),
        ("spec:\n", "spec:\n  template: {secret: {metadata: {labels: {a: b}}}}\n"),
        ("spec:\n", "spec:\n  ofALaterRelease: [1, {a: 2}]\n"),
        ("kind: KafkaUser", "status: {username: CN=billing}\nx-team: shop\nkind: KafkaUser"),
        ("\n", "\r\n"),
        ("apiVersion", "# a comment\n---\napiVersion"),
    ],
)
def test_keys_of_a_kafka_user_outside_its_authorization_do_not_matter(
    before: str, with_more: str
) -> None:
    text = (STRIMZI % "tls").replace(before, with_more, -1 if before == "\n" else 1)
    assert rules(text)[0] == STRIMZI_READ
    assert len(rules(text)) == 3


@pytest.mark.parametrize("key", ["authorisation", "authorizations", "kafkaAcls"])
def test_unknown_keys_that_may_hold_acls_are_rejected(key: str) -> None:
    text = (STRIMZI % "tls").replace("authorization:", f"{key}:", 1)
    assert f"unknown key `{key}`" in refusal(text)


PAUSED = "strimzi.io/pause-reconciliation"


@pytest.mark.parametrize("value", ["true", '"true"', "'true'", "True", '"True"'])
@pytest.mark.parametrize(
    ("text", "annotation"),
    [(STRIMZI % "tls", PAUSED), (JIKKOU, "jikkou.io/ignore")],
    ids=["strimzi", "jikkou"],
)
def test_resources_that_their_tool_does_not_apply_are_rejected(
    text: str, annotation: str, value: str
) -> None:
    """Strimzi's guide, "Pausing reconciliation", and jikkou's "Built-in annotations"."""
    metadata = "metadata:\n  annotations:\n    {}: {}\n  "
    if annotation == PAUSED:
        paused = text.replace("metadata:\n  ", metadata.format(annotation, value), 1)
    else:
        own = f'metadata: {{name: "User:Alice", annotations: {{{annotation}: {value}}}}}'
        paused = text.replace('metadata: {name: "User:Alice"}', own)
    assert f"`{annotation}` is set, so its ACLs are not applied" in refusal(paused)
    applied = paused.replace(f"{annotation}: {value}", f"{annotation}: false")
    assert rules(applied) == rules(text)


@pytest.mark.parametrize(
    "metadata",
    [
        'name: "User:Alice", annotations: {jikkou.io/delete: true}',
        'name: "User:Alice", annotations: {jikkou.io/delete: "true"}',
        "name: 'User:Alice', annotations: {'jikkou.io/delete': True}",
        '"annotations": {"a": "b", "jikkou.io/delete": true}, "name": "User:Alice"',
        'name: "User:Alice", deletionTimestamp: "2026-01-01T00:00:00Z"',
    ],
)
def test_resources_that_are_marked_for_deletion_grant_nothing(metadata: str) -> None:
    deleted = JIKKOU.replace('name: "User:Alice"', metadata)
    assert deleted != JIKKOU
    assert rules(deleted) == []
    assert resources_without_acls(deleted, "jikkou") == [
        "KafkaPrincipalAuthorization User:Alice (marked for deletion)"
    ]


def test_a_deleted_role_is_unknown() -> None:
    deleted = "{name: readers, annotations: {jikkou.io/delete: true}}"
    assert "unknown role `readers`" in refusal(JIKKOU.replace("{name: readers}", deleted))


def test_a_kafka_user_that_is_being_deleted_grants_nothing() -> None:
    text = (STRIMZI % "tls").replace(
        "metadata:\n", "metadata:\n  deletionTimestamp: 2026-01-01T00:00:00Z\n", 1
    )
    assert rules(text) == []


# ------------------------------------------------------------------ kafka-ui and rpk

KAFKA_UI = "Principal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host"


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (
            "User:shop,TOPIC,PREFIXED,orders-,WRITE,ALLOW,*",
            "TOPIC|orders-|PREFIXED|User:shop|*|WRITE|ALLOW",
        ),
        (
            "User:shop,GROUP,LITERAL,grp,READ,DENY,10.0.0.1",
            "GROUP|grp|LITERAL|User:shop|10.0.0.1|READ|DENY",
        ),
        (
            "User:shop,TRANSACTIONAL_ID,LITERAL,tx,DESCRIBE,ALLOW,*",
            "TRANSACTIONAL_ID|tx|LITERAL|User:shop|*|DESCRIBE|ALLOW",
        ),
        (
            "User:*,CLUSTER,LITERAL,kafka-cluster,IDEMPOTENT_WRITE,ALLOW,*",
            "CLUSTER|kafka-cluster|LITERAL|User:*|*|IDEMPOTENT_WRITE|ALLOW",
        ),
        (
            '"User:CN=a,O=b",DELEGATION_TOKEN,LITERAL,t,DESCRIBE,ALLOW,*',
            "DELEGATION_TOKEN|t|LITERAL|User:CN=a,O=b|*|DESCRIBE|ALLOW",
        ),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_tables_of_kafka_ui(row: str, rule: str, end: str, bom: str) -> None:
    """Its AclCsv writes this heading, and Kafka's own names of the values."""
    assert rules(f"{bom}{KAFKA_UI}{end}{row}{end}") == [rule]


def test_names_with_commas_that_kafka_ui_does_not_quote_are_rejected() -> None:
    row = "User:CN=a,O=b,TOPIC,LITERAL,t,READ,ALLOW,*"
    assert "line 2: the line must have as many fields" in refusal(f"{KAFKA_UI}\n{row}\n")


RPK = {
    "principal": "RedpandaRole:ops",
    "host": "*",
    "resource_type": "TRANSACTIONAL_ID",
    "resource_name": "orders",
    "resource_pattern_type": "PREFIXED",
    "operation": "DESCRIBE_CONFIGS",
    "permission": "DENY",
}
"""An ACL as rpk prints it: the fields of `acl` in its acl/common.go."""
RPK_RULE = "TRANSACTIONAL_ID|orders|PREFIXED|RedpandaRole:ops|*|DESCRIBE_CONFIGS|DENY"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"matches": [RPK]}),
        json.dumps({"matches": [RPK]}, indent=2).replace("\n", "\r\n"),
        json.dumps({"filters": [RPK | {"message": "", "host": "ANY"}], "matches": [RPK]}),
        "matches:\n- " + "\n  ".join(f"{key}: '{value}'" for key, value in RPK.items()),
        json.dumps([RPK]),
    ],
)
def test_lists_of_rpk(text: str) -> None:
    assert rules(text) == [RPK_RULE]
    if text.startswith(("{", "[")):
        assert rules(text, "json") == [RPK_RULE]


def test_an_empty_list_of_rpk() -> None:
    assert rules('{"matches":null}') == rules('{"matches":null}', "json") == []


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_matches_of_another_tool_are_no_list_of_rpk(form: str) -> None:
    assert "the key `acls` is missing" in refusal('{"matches": [], "total": 0}', form)
    registry = json.dumps({"matches": [RPK | {"resource_type": "REGISTRY_SUBJECT"}]})
    assert "unknown resource type `REGISTRY_SUBJECT`" in refusal(registry, form)


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_what_rpk_could_not_list_is_an_error(form: str) -> None:
    failed = RPK | {"message": "CLUSTER_AUTHORIZATION_FAILED"}
    said = "rpk could not list ACLs: CLUSTER_AUTHORIZATION_FAILED"
    assert said in refusal(json.dumps({"filters": [failed], "matches": []}), form)
    part = {key: value for key, value in RPK.items() if key != "permission"}
    assert "acl 1: `permission` is missing" in refusal(json.dumps({"matches": [part]}), form)
    named = RPK | {"message": ""}
    assert rules(json.dumps({"matches": [named]}), form) == [RPK_RULE]


@pytest.mark.parametrize("heading", [KAFKA_UI, KAFKA_UI.lower(), KAFKA_UI.replace(",", ", ")])
def test_spaces_in_tables_of_kafka_ui_are_left_out(heading: str) -> None:
    row = " User:a, TOPIC, LITERAL, t, READ, DENY, * "
    assert rules(f"{heading}\n{row}\n") == ["TOPIC|t|LITERAL|User:a|*|READ|DENY"]


@pytest.mark.parametrize(
    ("heading", "row", "said"),
    [
        (f"Kafka{KAFKA_UI}", "User:a, Topic, LITERAL, t, Read, Deny, *", "spaces around `Topic`"),
        (KAFKA_UI, "User:a,TOPIC,LITERAL,t,READ,DENY,", "line 2: a cell is empty"),
        (f"{KAFKA_UI},Host", "User:a,TOPIC,LITERAL,t,READ,DENY,*,x", "a column is there several"),
    ],
)
def test_doubtful_tables_are_rejected(heading: str, row: str, said: str) -> None:
    assert said in refusal(f"{heading}\n{row}\n")


# ------------------------------------------------------------------ what would be a guess

USER_AGAIN = "---\nkind: KafkaUser\nmetadata: {name: nobody}\nspec: {}\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "said"),
    [
        (
            STRIMZI % "tls",
            "operations: [",
            "operation: Write\n        operations: [",
            "exclude each",
        ),
        (
            STRIMZI % "tls",
            "name: orders-",
            'name: "{{ .Values.a }}"',
            "`{{ .Values.a }}` is a temp",
        ),
        (STRIMZI % "tls", "name: billing", "name: ${USER}", "`${USER}` is a template"),
        (JIKKOU, "pattern: public-", 'pattern: "{{ values.a }}"', "`{{ values.a }}` is a template"),
        (JIKKOU, "operations: [READ]", "operations: []", "there are no `operations`"),
        (
            JIKKOU,
            "spec:",
            "spec:\n  acls: []\n---\nkind: KafkaPrincipalRole\nmetadata: {name: readers}\nspec:",
            "readers is there twice",
        ),
        (
            JIKKOU,
            "{name: readers}",
            "{name: readers, annotations: {jikkou.io/delete: 1}}",
            "must be true or false",
        ),
    ],
)
def test_resources_with_two_meanings_are_rejected(text: str, old: str, new: str, said: str) -> None:
    assert old in text
    assert said in refusal(text.replace(old, new, 1))


def test_a_kafka_user_that_is_there_twice_is_rejected() -> None:
    assert "KafkaUser nobody is there twice" in refusal(STRIMZI % "tls" + USER_AGAIN)
    assert rules(STRIMZI % "tls" + USER_AGAIN.replace("y}", "y, namespace: x}"))


def test_a_principal_of_jikkou_that_is_there_twice_is_rejected() -> None:
    """Jikkou's `AclChangeComputer` has one resource for each name."""
    again = JIKKOU.partition("---\n")[2]
    said = "KafkaPrincipalAuthorization User:Alice is there twice"
    assert said in refusal(f"{JIKKOU}---\n{again}")


def test_the_cluster_of_a_kafka_user_has_one_name() -> None:
    named = (STRIMZI % "tls").replace("{type: cluster}", "{type: cluster, patternType: prefix}")
    assert rules(named) == rules(STRIMZI % "tls")


def test_users_of_jikkou_beside_authorizations() -> None:
    user = "---\napiVersion: kafka.jikkou.io/v1\nkind: KafkaUser\nmetadata: {name: a}\n"
    assert rules(f"{user}---\n{JIKKOU}") == rules(JIKKOU)


def test_zookeeper_nodes_without_acls() -> None:
    parents = {"/kafka-acl": None, "/a/kafka-acl/Topic": "", "/kafka-acl-extended/prefixed": ""}
    assert rules(json.dumps(parents)) == []
    misspelt = {"/kafka-acl/Topic/t": {"version": 1, "acl": []}}
    assert "/kafka-acl/Topic/t: the key `acls` is missing" in refusal(json.dumps(misspelt))


def test_the_yaml_of_rpk() -> None:
    """Printed by rpk's struct and yaml.v3, which makes keys of Go's names, without underscores."""
    listed = """\
filters: []
matches:
    - principal: User:a
      host: '*'
      resourcetype: TOPIC
      resourcename: "yes"
      resourcepatterntype: PREFIXED
      operation: READ
      permission: DENY

"""
    assert rules(listed) == ["TOPIC|yes|PREFIXED|User:a|*|READ|DENY"]
    assert refusal(listed.replace("resourcetype", "resourcetypes")).startswith("line 3: acl 1: ")
    assert rules("filters: []\nmatches: []\n\n") == []


def test_a_key_that_is_there_twice_is_an_error_in_json() -> None:
    text = '[{"principal": "User:a",\n"permission": "DENY",\n"permission": "ALLOW"}]'
    for form in ("json", "yaml"):
        assert refusal(text, form).endswith("duplicate key `permission`")
    assert refusal(text, "json").startswith("line 3: ")
