"""Rules about what responses contain: nothing of what is denied, and all of what is allowed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from tests.recordings.conformance.rules.rule import (
    ALLOW,
    DENY,
    NAME,
    ROOT,
    Ask,
    Entry,
    Rule,
    cluster_asks,
    describe_acls,
    describe_cluster,
    fetch,
    produce,
)

OTHER: Final = "{p}-other"
"""What the user is allowed to do everything with, next to NAME."""
CLUSTER: Final = [ResourceType.CLUSTER]
MEMBER: Final = {"member_id": "join:member_id", "generation_id": "join:generation_id"}


def content_rules() -> Iterator[Rule]:
    """Yield rules about requests for something denied next to something allowed."""
    allowed = [Entry(ALLOW, OTHER, operation=Operation.ALL)]
    names = (NAME, OTHER)
    carries = "a denied element carries content"
    yield Rule(carries, "partitions", allowed, [*_filled(), *_partitions()], names, [OTHER])
    yield Rule(carries, "settings", allowed, [*_settings()], names)
    yield Rule(carries, "groups", allowed, [*_joined(), *_groups()], names, names)
    yield Rule(carries, "cluster", [], [*_cluster()])
    lists = "a list has what is denied"
    yield Rule(lists, "without rights", [], [*_joined(), *_lists()], names, names)
    yield Rule(lists, "with rights on some", allowed, [*_joined(), *_lists()], names, names)
    others = [Entry(ALLOW, "*", operation=Operation.ALL), Entry(DENY, operation=Operation.DESCRIBE)]
    yield Rule(lists, "with DENY on some", others, [*_joined(), *_lists()], names, names)
    yield Rule("tokens of others are described", "", [], _tokens(), since="3.6")
    everything = [
        Entry(ALLOW, "*", operation=Operation.ALL),
        Entry(ALLOW, "kafka-cluster", operation=Operation.ALL, types=CLUSTER),
    ]
    asks = [*_filled(), *_partitions(), *_settings(), *_groups(), *_lists(), *_cluster()]
    yield Rule("what is allowed is missing", "", everything, asks, names, names)
    same = [Ask(ask.api, ask.newest, ask.request, "admin") for ask in asks]
    yield Rule("what super users are allowed is missing", "", [], same, names, names)


def effect_rules() -> Iterator[Rule]:
    """Yield rules about what is done: nothing of what is denied, and all of what is allowed."""
    stored = Entry(ALLOW, "{p}-stored", principal="User:nobody", types=[ResourceType.TOPIC])
    allowed = [
        Entry(ALLOW, "*", operation=Operation.ALL),
        Entry(ALLOW, "kafka-cluster", operation=Operation.ALL, types=CLUSTER),
    ]
    asks = [
        ask for effect in (_changed_topics(), _changed_groups(), _changed_acls()) for ask in effect
    ]
    names, groups = (NAME, OTHER), (NAME,)
    yield Rule("what is denied is done", "", [stored], asks, names, groups)
    yield Rule("what is allowed is not done", "", [stored, *allowed], asks, names, groups)
    alter = Entry(ALLOW, "kafka-cluster", operation=Operation.ALTER, types=CLUSTER)
    mistake = "ALLOW of ALTER does not imply DESCRIBE on the cluster"
    yield Rule(mistake, "", [alter], [*cluster_asks(), describe_cluster()])
    missing = "what is allowed is missing"
    yield Rule(missing, "members", allowed, [*_joined(), *_groups()], names, names)


def later_content_rules() -> Iterator[Rule]:
    """Yield rules that were added after others had been recorded, which keep their numbers."""
    users = _ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, users=[{"name": "nobody"}])
    asks = [users, *cluster_asks()]
    yield Rule("a denied element carries content", "passwords", [], asks)


def _changed_topics() -> Iterator[Ask]:
    everything = {"allow_auto_topic_creation": False}
    listed = [{"name": name} for name in (NAME, OTHER, "{p}-new")]
    yield produce(NAME)
    yield fetch(user=ROOT)
    created = [{"name": "{p}-new", "num_partitions": 1, "replication_factor": 1}]
    yield _ask(ApiKey.CREATE_TOPICS, 5, topics=created, timeout_ms=5000)
    yield _ask(ApiKey.DELETE_TOPICS, 5, topic_names=[OTHER], timeout_ms=5000)
    more = [{"name": NAME, "count": 3, "assignments": None}]
    yield _ask(ApiKey.CREATE_PARTITIONS, 1, topics=more, timeout_ms=5000)
    yield _ask(ApiKey.METADATA, 9, ROOT, topics=listed, **everything)


def _changed_groups() -> Iterator[Ask]:
    rows = [{"partition_index": 1, "committed_offset": 3}]
    topics = [{"name": NAME, "partitions": rows}]
    group: dict[str, Any] = {"group_id": NAME, "generation_id_or_member_epoch": -1}
    offsets = [{"name": NAME, "partition_indexes": [0, 1]}]
    yield _ask(ApiKey.OFFSET_COMMIT, 7, **group, topics=topics)
    yield _ask(ApiKey.OFFSET_FETCH, 5, ROOT, group_id=NAME, topics=offsets)
    yield _ask(ApiKey.DELETE_GROUPS, 1, groups_names=[NAME])
    yield _ask(ApiKey.OFFSET_FETCH, 5, ROOT, group_id=NAME, topics=offsets)


def _changed_acls() -> Iterator[Ask]:
    new = next(Entry(ALLOW, "{p}-x", principal="User:nobody").acls())
    stored = describe_acls().request | {"resource_name_filter": "{p}-stored"}
    yield _ask(ApiKey.CREATE_ACLS, 2, creations=[new])
    yield describe_acls(ROOT, principal_filter="User:nobody")
    yield _ask(ApiKey.DELETE_ACLS, 2, filters=[stored])
    yield describe_acls(ROOT, principal_filter="User:nobody")


def _ask(api: ApiKey, newest: int, user: str = "bob", **request: Any) -> Ask:
    return Ask(api, newest, request, user)


def _filled() -> Iterator[Ask]:
    yield produce(NAME, OTHER, user=ROOT)


def _partitions() -> Iterator[Ask]:
    one = {"partition": 0, "partition_max_bytes": 1 << 20}
    topics: list[dict[str, Any]] = [{"topic": name, "partitions": [one]} for name in (NAME, OTHER)]
    for version in (4, 11, 12):
        yield Ask(ApiKey.FETCH, version, {**fetch().request, "topics": topics})
    yield produce(NAME, OTHER)
    rows = [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}]
    topics = [{"name": name, "partitions": rows} for name in (NAME, OTHER)]
    yield _ask(ApiKey.LIST_OFFSETS, 5, replica_id=-1, topics=topics)
    rows = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]
    topics = [{"topic": name, "partitions": rows} for name in (NAME, OTHER)]
    yield _ask(ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, replica_id=-1, topics=topics)
    topics = [{"name": name, "partition_indexes": [0]} for name in (NAME, OTHER)]
    yield _ask(ApiKey.DESCRIBE_PRODUCERS, 0, topics=topics)
    yield _ask(ApiKey.OFFSET_FETCH, 5, group_id=OTHER, topics=topics)
    rows = [{"partition_index": 0, "offset": 0}]
    topics = [{"name": name, "partitions": rows} for name in (NAME, OTHER)]
    yield _ask(ApiKey.DELETE_RECORDS, 1, topics=topics, timeout_ms=5000)


def _settings() -> Iterator[Ask]:
    def resources(**more: Any) -> list[Mapping[str, Any]]:
        return [{"resource_type": 2, "resource_name": name} | more for name in (NAME, OTHER)]

    keys = ["retention.ms", "cleanup.policy"]
    yield _ask(ApiKey.DESCRIBE_CONFIGS, 1, resources=resources(configuration_keys=keys))
    yield _ask(ApiKey.DESCRIBE_CONFIGS, 4, resources=resources(configuration_keys=keys))
    configs = [{"name": "retention.ms", "value": "-1"}]
    for api in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS):
        yield _ask(api, 0, resources=resources(configs=configs), validate_only=True)
    topics = [{"name": name, "count": 4, "assignments": None} for name in (NAME, OTHER)]
    yield _ask(ApiKey.CREATE_PARTITIONS, 1, topics=topics, timeout_ms=5000, validate_only=True)
    named = [{"name": name} for name in (NAME, OTHER)]
    operations: dict[str, Any] = {"include_topic_authorized_operations": True}
    creating: dict[str, Any] = {"allow_auto_topic_creation": False}
    yield _ask(ApiKey.METADATA, 4, topics=named, **creating)
    yield _ask(ApiKey.METADATA, 9, topics=named, **creating, **operations)
    yield _ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, topics=named)
    creations = [
        {"name": name, "num_partitions": 1, "replication_factor": 1}
        for name in ("{p}-new", "{p}-other")
    ]
    yield _ask(ApiKey.CREATE_TOPICS, 5, topics=creations, timeout_ms=5000, validate_only=True)


def _joined() -> Iterator[Ask]:
    """Let a super user join NAME, so that there is a member whose state could leak."""
    protocols = [{"name": "range", "metadata": ""}]
    request = {
        "group_id": NAME,
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 30_000,
        "protocol_type": "consumer",
        "protocols": protocols,
    }
    yield Ask(ApiKey.JOIN_GROUP, 3, request, ROOT, "join")
    assignments = [{"member_id": "", "assignment": "AAA="}]
    takes = MEMBER | {"assignments.0.member_id": "join:member_id"}
    synced = {"group_id": NAME, "assignments": assignments}
    yield Ask(ApiKey.SYNC_GROUP, 3, synced, ROOT, takes=takes)


def _groups() -> Iterator[Ask]:
    both = [NAME, OTHER]
    yield _ask(ApiKey.DESCRIBE_GROUPS, 1, groups=both)
    yield _ask(ApiKey.DESCRIBE_GROUPS, 5, groups=both, include_authorized_operations=True)
    yield _ask(ApiKey.CONSUMER_GROUP_DESCRIBE, 0, group_ids=both)
    topics = [{"name": name, "partition_indexes": [0]} for name in both]
    for name in both:
        yield _ask(ApiKey.OFFSET_FETCH, 5, group_id=name, topics=topics)
        yield _ask(ApiKey.OFFSET_FETCH, 5, group_id=name, topics=None)
        yield _ask(ApiKey.FIND_COORDINATOR, 3, key=name, key_type=0)
        yield _ask(ApiKey.FIND_COORDINATOR, 3, key=name, key_type=1)
    yield _ask(ApiKey.FIND_COORDINATOR, 4, key_type=0, coordinator_keys=both)
    groups = [{"group_id": name, "topics": topics} for name in both]
    yield Ask(ApiKey.OFFSET_FETCH, 8, {"groups": groups}, oldest=8)
    rows = [{"partition_index": 0, "committed_offset": 1}]
    committed = [{"name": name, "partitions": rows} for name in both]
    yield _ask(
        ApiKey.OFFSET_COMMIT, 7, group_id=OTHER, generation_id_or_member_epoch=-1, topics=committed
    )
    yield _ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, transactional_ids=both)
    join = next(_joined()).request
    yield Ask(ApiKey.JOIN_GROUP, 3, join | {"member_id": "x"})
    yield _ask(ApiKey.SYNC_GROUP, 3, group_id=NAME, member_id="x", generation_id=1)
    yield _ask(ApiKey.HEARTBEAT, 3, group_id=NAME, member_id="x", generation_id=1)
    leaving = [{"member_id": "x"}]
    yield _ask(ApiKey.LEAVE_GROUP, 3, group_id=NAME, members=leaving)
    for name in both:
        yield _ask(ApiKey.INIT_PRODUCER_ID, 3, transactional_id=name, transaction_timeout_ms=60_000)
        yield _ask(
            ApiKey.ADD_OFFSETS_TO_TXN, 2, transactional_id=name, producer_id=424_242, group_id=name
        )
    yield _ask(ApiKey.DELETE_GROUPS, 1, groups_names=["{p}-none", OTHER])


def _lists() -> Iterator[Ask]:
    for version in (1, 9):
        yield _ask(ApiKey.METADATA, version, topics=None, include_topic_authorized_operations=True)
    yield _ask(ApiKey.LIST_GROUPS, 2)
    yield _ask(ApiKey.LIST_GROUPS, 4)
    yield _ask(ApiKey.LIST_TRANSACTIONS, 0)
    yield _ask(ApiKey.OFFSET_FETCH, 5, group_id=OTHER, topics=None)
    topics = [{"topic": name, "partitions": [0]} for name in (NAME, OTHER)]
    yield _ask(ApiKey.DESCRIBE_LOG_DIRS, 1, topics=topics)
    yield _ask(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, topics=[])


def _cluster() -> Iterator[Ask]:
    acl = next(Entry(ALLOW, "{p}-x", principal="User:nobody").acls())
    nobody: dict[str, Any] = {"principal_filter": "User:nobody"}
    everything = describe_acls().request
    yield describe_acls(**nobody)
    yield _ask(ApiKey.CREATE_ACLS, 2, creations=[acl])
    yield _ask(ApiKey.DELETE_ACLS, 2, filters=[everything | nobody])
    yield _ask(ApiKey.DESCRIBE_CLUSTER, 0, include_cluster_authorized_operations=True)
    yield _ask(ApiKey.METADATA, 9, topics=[], include_cluster_authorized_operations=True)
    broker = {
        "resource_type": 4,
        "resource_name": "1",
        "configuration_keys": ["log.retention.hours"],
    }
    yield _ask(ApiKey.DESCRIBE_CONFIGS, 1, resources=[broker])
    yield _ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, components=[])
    yield _ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, users=None)
    yield _ask(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, topics=None)
    entity = [{"entity_type": "user", "entity_name": "nobody"}]
    ops = [{"key": "producer_byte_rate", "value": 1e9}]
    entries = [{"entity": entity, "ops": ops}]
    yield _ask(ApiKey.ALTER_CLIENT_QUOTAS, 0, entries=entries, validate_only=True)


def _tokens() -> list[Ask]:
    created = {"max_lifetime_ms": -1}
    own = Ask(ApiKey.CREATE_DELEGATION_TOKEN, 2, created, "bob", "own")
    other = Ask(ApiKey.CREATE_DELEGATION_TOKEN, 2, created, "alice", "other")
    for_other = created | {"owner_principal_type": "User", "owner_principal_name": "alice"}
    owner = {"principal_type": "User", "principal_name": "alice"}
    listing = _ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 2, owners=None)
    of_other = _ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 2, owners=[owner])
    forged = Ask(ApiKey.CREATE_DELEGATION_TOKEN, 3, for_other, oldest=3)
    older = _ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 1, owners=None)
    return [other, listing, of_other, own, listing, of_other, forged, older]
