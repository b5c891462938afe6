"""State of any size, and one small request of each API, for `benchmarks.growth` and its test."""

from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import Any, NamedTuple

import msgspec

from benchmarks.arrays.messages import Case
from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.sasl.scram_credential import ScramCredential, ScramMechanism
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from tests.shim.play import Stage
from tests.shim.request.busy_cluster import BusyCluster

SESSION_TIMEOUT_MS = 45_000
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.max.size": "100000",
    "group.consumer.max.session.timeout.ms": "3600000",
    "group.consumer.session.timeout.ms": "3600000",
    "group.share.max.session.timeout.ms": "3600000",
    "group.share.session.timeout.ms": "3600000",
    "group.streams.max.session.timeout.ms": "3600000",
    "group.streams.session.timeout.ms": "3600000",
}
NO_ID = bytes(16)
NOBODY = CommitIdentity("", None, -1, 0)
ADMIN = "User:admin"


def ask(stage: Stage, api: ApiKey, version: int, fields: dict[str, Any]) -> Any:
    """Send a request of these fields; return its decoded response."""
    name = "".join(word.capitalize() for word in api.name.split("_")) + "Request"
    response = stage.ask(api, version, _request(name, fields))
    if isinstance(response, PendingExchange):
        stage.clock.advance(1)
        response = stage.outcome(api, version, response)
    return response


def _request(name: str, fields: dict[str, Any]) -> Any:
    classes = message_classes_by_name(name)
    return msgspec.convert(fields, classes[name])


# what the state has


def add_topics(stage: Stage, count: int) -> None:
    for number in range(count):
        stage.topic(f"topic-{number}", configs={"retention.ms": "99999999"})


def add_partitions(stage: Stage, count: int) -> None:
    stage.topic("wide", count)


def add_deleted_topics(stage: Stage, count: int) -> None:
    for number in range(count):
        stage.topic(f"deleted-{number}")
        stage.cluster.topics.delete_topic(f"deleted-{number}")


def add_groups_with_offsets(stage: Stage, count: int) -> None:
    topic_id = stage.found("probe").topic_id
    commit = [OffsetCommit(topic_id, 0, CommittedOffset(1))]
    for number in range(count):
        stage.cluster.groups.commit_offsets(f"group-{number}", NOBODY, commit)


def add_consumer_groups(stage: Stage, count: int) -> None:
    for number in range(count):
        consumer_heartbeat(stage, f"consumer-{number}", "m", 0)


def add_share_groups(stage: Stage, count: int) -> None:
    for number in range(count):
        share_heartbeat(stage, f"share-{number}", "m", 0)


def add_streams_groups(stage: Stage, count: int) -> None:
    for number in range(count):
        streams_heartbeat(stage, f"streams-{number}", "m")


def add_streams_members(stage: Stage, count: int) -> None:
    for number in range(count):
        streams_heartbeat(stage, "streams members", f"m{number}")


def add_classic_groups(stage: Stage, count: int) -> None:
    for number in range(count):
        ask(stage, ApiKey.JOIN_GROUP, 3, classic_join(f"classic-{number}", ""))


def add_consumer_members(stage: Stage, count: int) -> None:
    for number in range(count):
        consumer_heartbeat(stage, "members", f"m{number}", 0)
    group = stage.cluster.groups.find_consumer_group("members")
    assert group is not None
    for _ in range(3):
        for member_id, member in list(group.members.items()):
            consumer_heartbeat(stage, "members", member_id, member.epoch, owned=[])


def add_classic_members(stage: Stage, count: int) -> None:
    """Let members join whose rebalance waits for those that have not joined again."""
    for _ in range(count):
        join = {**classic_join("classic members", ""), "rebalance_timeout_ms": 3_600_000}
        stage.ask(ApiKey.JOIN_GROUP, 3, _request("JoinGroupRequest", join))


def add_share_members(stage: Stage, count: int) -> None:
    for number in range(count):
        share_heartbeat(stage, "share members", f"m{number}", 0)
    group = stage.cluster.groups.find_share_group("share members")
    assert group is not None
    for member_id, member in list(group.members.items()):
        share_heartbeat(stage, "share members", member_id, member.epoch)


def add_batches(stage: Stage, count: int) -> None:
    for topic in ("probe", "wide-open"):
        for _ in range(count):
            produce(stage, topic)


def add_producers(stage: Stage, count: int) -> None:
    for number in range(count):
        produce(stage, "probe", producer_id=10_000 + number, producer_epoch=0, base_sequence=0)


def add_aborted_transactions(stage: Stage, count: int) -> None:
    for number in range(count):
        transact(stage, f"aborts-{number % 10}", committed=False)


def add_open_transactions(stage: Stage, count: int) -> None:
    for number in range(count):
        name = f"open-{number}"
        producer = init_producer(stage, name)
        add_to_transaction(stage, name, producer, "wide-open")
        produce(
            stage, "wide-open", name, producer_id=producer, producer_epoch=0, base_sequence=0,
            is_transactional=True,
        )  # fmt: skip


def add_users(stage: Stage, count: int) -> None:
    credential = ScramCredential(b"salt", 4096, b"stored", b"server")
    for number in range(count):
        stage.cluster.users.store_credential(
            ScramMechanism.SCRAM_SHA_256, f"user-{number}", credential
        )


def add_tokens(stage: Stage, count: int) -> None:
    for _ in range(count):
        stage.cluster.tokens.create_token(ADMIN, ADMIN, (), -1)


def add_quotas(stage: Stage, count: int) -> None:
    stage.cluster.quotas.alter_limits(
        [({"user": f"u{number}"}, {"producer_byte_rate": 1e9}) for number in range(count)]
    )


def add_acls(stage: Stage, count: int) -> None:
    """Add ACLs of other resources and of other principals, literal and prefixed."""
    authorizer = stage.cluster.policy.authorizer
    assert authorizer is not None
    for number in range(count):
        acls = [
            _acl(f"other-{number}", f"User:{number}"),
            _acl(f"other-{number}", "User:alice"),
            _acl(f"zz-{number}", "User:alice", PatternType.PREFIXED),
        ]
        authorizer.create_acls(Actor(ADMIN, "127.0.0.1"), acls)


def _acl(name: str, principal: str, pattern: PatternType = PatternType.LITERAL) -> Acl:
    return Acl(
        ResourceType.TOPIC, name, pattern, principal, "*", Operation.READ, Permission.ALLOW
    )  # fmt: skip


def add_group_settings(stage: Stage, count: int) -> None:
    for number in range(count):
        settings = {"consumer.session.timeout.ms": "50000"}
        stage.cluster.configs.store_group_settings(f"set-{number}", settings)


def add_telemetry_subscriptions(stage: Stage, count: int) -> None:
    for number in range(count):
        config = {"name": "metrics", "config_operation": 0, "value": "org.x."}
        resource = {"resource_type": 16, "resource_name": f"m-{number}", "configs": [config]}
        ask(stage, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [resource]})


def add_faults(stage: Stage, count: int) -> None:
    for number in range(count):
        stage.dispatcher.faults.add(
            {"match": {"api": "DescribeQuorum", "topic": f"zz-{number}"}, "action": {"error": 41}}
        )


def add_fetch_sessions(stage: Stage, count: int) -> None:
    for _ in range(count):
        ask(stage, ApiKey.FETCH, 11, fetch("probe", 0, session_epoch=0))


STATES: dict[str, Callable[[Stage, int], None]] = {
    name.removeprefix("add_").replace("_", " "): add
    for name, add in list(globals().items())
    if name.startswith("add_") and name != "add_to_transaction"
}
"""Functions that add so many of a kind to the state."""


# requests


def produce(stage: Stage, topic: str, transactional_id: str | None = None, **options: Any) -> None:
    result = ask(
        stage, ApiKey.PRODUCE, 9, produce_request(stage, topic, transactional_id, **options)
    )
    assert result.responses[0].partition_responses[0].error_code == 0, result


def produce_request(
    stage: Stage, topic: str, transactional_id: str | None = None, **options: Any
) -> dict[str, Any]:
    record = Record(0, stage.clock.now_ms(), b"key", b"value" * 20)
    batch = encode_batch([record], BatchOptions(**options))
    data = {"name": topic, "partition_data": [{"index": 0, "records": batch}]}
    return {
        "transactional_id": transactional_id,
        "acks": -1,
        "timeout_ms": 100,
        "topic_data": [data],
    }


def init_producer(stage: Stage, transactional_id: str) -> int:
    fields = {
        "transactional_id": transactional_id,
        "transaction_timeout_ms": 600_000,
        "producer_id": -1,
        "producer_epoch": -1,
    }
    return int(ask(stage, ApiKey.INIT_PRODUCER_ID, 4, fields).producer_id)


def add_to_transaction(stage: Stage, name: str, producer_id: int, topic: str) -> None:
    ask(stage, ApiKey.ADD_PARTITIONS_TO_TXN, 3, _partitions_to_add(name, producer_id, topic))


def _partitions_to_add(name: str, producer_id: int, topic: str) -> dict[str, Any]:
    return {
        "v3_and_below_transactional_id": name,
        "v3_and_below_producer_id": producer_id,
        "v3_and_below_producer_epoch": 0,
        "v3_and_below_topics": [{"name": topic, "partitions": [0]}],
    }


def transact(stage: Stage, name: str, *, committed: bool) -> None:
    """Run a whole transaction of an id with a record in `probe`."""
    transactions = stage.cluster.transactions
    known = transactions.get_for_reading(name)
    producer = init_producer(stage, name) if known is None else known.producer_id
    add_to_transaction(stage, name, producer, "probe")
    state = stage.found("probe").partitions[0].log.producers.get_producer(producer)
    sequence = 0 if state is None else state.last_sequence + 1
    produce(
        stage, "probe", name, producer_id=producer, producer_epoch=0, base_sequence=sequence,
        is_transactional=True,
    )  # fmt: skip
    end = {"transactional_id": name, "producer_id": producer, "producer_epoch": 0}
    ask(stage, ApiKey.END_TXN, 3, {**end, "committed": committed})


def consumer_heartbeat(
    stage: Stage, group: str, member: str, epoch: int, owned: list[Any] | None = None
) -> Any:
    fields: dict[str, Any] = {"group_id": group, "member_id": member, "member_epoch": epoch}
    if epoch == 0:
        fields |= {
            "rebalance_timeout_ms": 300_000,
            "subscribed_topic_names": ["assigned"],
            "topic_partitions": [],
        }
    elif owned is not None:
        fields["topic_partitions"] = owned
    return ask(stage, ApiKey.CONSUMER_GROUP_HEARTBEAT, 0, fields)


def share_heartbeat(stage: Stage, group: str, member: str, epoch: int) -> Any:
    fields: dict[str, Any] = {"group_id": group, "member_id": member, "member_epoch": epoch}
    if epoch == 0:
        fields["subscribed_topic_names"] = ["assigned"]
    return ask(stage, ApiKey.SHARE_GROUP_HEARTBEAT, 1, fields)


def streams_heartbeat(stage: Stage, group: str, member: str) -> Any:
    """Let a member join."""
    subtopology = {"subtopology_id": "s", "source_topics": ["assigned"]}
    subtopology |= {"state_changelog_topics": [], "repartition_sink_topics": []}
    fields = {
        "group_id": group,
        "member_id": member,
        "process_id": member,
        "rebalance_timeout_ms": 300_000,
        "topology": {"epoch": 1, "subtopologies": [subtopology]},
        "active_tasks": [],
        "standby_tasks": [],
        "warmup_tasks": [],
    }
    return ask(stage, ApiKey.STREAMS_GROUP_HEARTBEAT, 0, fields)


def classic_join(group: str, member: str) -> dict[str, Any]:
    return {
        "group_id": group,
        "session_timeout_ms": 300_000,
        "rebalance_timeout_ms": 60_000,
        "member_id": member,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b"\0"}],
    }


def fetch(topic: str, offset: int, **more: Any) -> dict[str, Any]:
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1}
    fields = {"replica_id": -1, "max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1}
    fields |= {"isolation_level": 0, "session_id": 0, "session_epoch": -1}
    return {**fields, "topics": [{"topic": topic, "partitions": [partition]}], **more}


def list_offsets(topic: str, timestamp: int) -> dict[str, Any]:
    partition = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": timestamp}
    topics = [{"name": topic, "partitions": [partition]}]
    return {"replica_id": -1, "isolation_level": 0, "topics": topics}


def commit(group: str, topic: str = "probe", **more: Any) -> dict[str, Any]:
    partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    topics = [{"name": topic, "partitions": [partition]}]
    fields = {"group_id": group, "generation_id_or_member_epoch": -1, "member_id": ""}
    return {**fields, "topics": topics, **more}


class Probe(NamedTuple):
    """A small request, in words, and what sends it."""

    name: str
    send: Callable[[], Any]


def prepare(stage: Stage) -> None:
    """Create what the probes use."""
    for name in ("probe", "other", "wide-open", "assigned"):
        stage.topic(name)
    ask(stage, ApiKey.OFFSET_COMMIT, 8, commit("probe group"))
    timeout = {"consumer.session.timeout.ms": str(SESSION_TIMEOUT_MS)}
    stage.cluster.configs.store_group_settings("probe timeout", timeout)


def probes(stage: Stage) -> Iterator[Probe]:
    """Yield a small request of each API whose cost could depend on the state, after `prepare`."""
    fixed = chain(_requests_about_topics(stage), _requests_about_groups_and_settings())
    for name, api, version, fields in fixed:
        yield Probe(name, lambda a=api, v=version, f=fields: ask(stage, a, v, f))  # type: ignore[misc]
    yield from _group_probes(stage)
    yield from _leaving_probes(stage)
    yield from _changing_probes(stage)


def requests_of_every_api(stage: BusyCluster) -> Iterator[Probe]:
    """Yield a valid request of each API, with one element in each array."""
    for api, (_, version) in sorted(stage.dispatcher.apis.advertised.items()):
        case = Case(api, version, (), is_equal=False)
        yield Probe(
            api.wire_name,
            lambda case=case: stage.responded(case.api, case.version, stage.valid(case)),  # type: ignore[misc]
        )


Fields = tuple[str, ApiKey, int, dict[str, Any]]
"""The words for a request, its API, version and fields."""


def _requests_about_topics(stage: Stage) -> Iterator[Fields]:
    topic = {"topic_id": NO_ID, "name": "probe"}
    end = stage.found("probe").partitions[0].log.end_offset
    yield "ApiVersions", ApiKey.API_VERSIONS, 3, {
        "client_software_name": "a", "client_software_version": "1"
    }  # fmt: skip
    yield "Metadata", ApiKey.METADATA, 12, {"topics": [topic]}
    yield "Metadata with operations", ApiKey.METADATA, 12, {
        "topics": [topic], "include_topic_authorized_operations": True
    }  # fmt: skip
    yield "DescribeTopicPartitions", ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, {
        "topics": [{"name": "probe"}], "response_partition_limit": 100
    }  # fmt: skip
    yield "DescribeCluster", ApiKey.DESCRIBE_CLUSTER, 1, {}
    yield "Produce", ApiKey.PRODUCE, 9, produce_request(stage, "probe")
    yield "Fetch of the first record", ApiKey.FETCH, 11, fetch("probe", 0)
    for words, offset in (("the last record", end - 1), ("the end", end)):
        yield f"Fetch of {words}", ApiKey.FETCH, 11, fetch("probe", offset)
        yield (
            f"Fetch of {words}, read_committed",
            ApiKey.FETCH,
            11,
            fetch("probe", offset, isolation_level=1),
        )
    yield "Fetch with a new session", ApiKey.FETCH, 11, fetch("probe", 0, session_epoch=0)
    for timestamp in (-1, -2, -3, 1):
        yield (
            f"ListOffsets of {timestamp}",
            ApiKey.LIST_OFFSETS,
            7,
            list_offsets("probe", timestamp),
        )
    yield "OffsetForLeaderEpoch", ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, {
        "replica_id": -1, "topics": [{"topic": "probe", "partitions": [
            {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]}]
    }  # fmt: skip


def _requests_about_groups_and_settings() -> Iterator[Fields]:
    yield "OffsetCommit", ApiKey.OFFSET_COMMIT, 8, commit("probe group")
    yield "OffsetFetch", ApiKey.OFFSET_FETCH, 8, {"groups": [
        {"group_id": "probe group", "topics": [{"name": "probe", "partition_indexes": [0]}]}
    ]}  # fmt: skip
    yield "FindCoordinator", ApiKey.FIND_COORDINATOR, 4, {
        "key_type": 0, "coordinator_keys": ["probe group"]
    }  # fmt: skip
    yield "InitProducerId", ApiKey.INIT_PRODUCER_ID, 4, {
        "transactional_id": "probe id", "transaction_timeout_ms": 60_000, "producer_id": -1,
        "producer_epoch": -1,
    }  # fmt: skip
    yield "DescribeTransactions", ApiKey.DESCRIBE_TRANSACTIONS, 0, {
        "transactional_ids": ["probe id"]
    }  # fmt: skip
    yield "DescribeConfigs of a topic", ApiKey.DESCRIBE_CONFIGS, 4, {"resources": [
        {"resource_type": 2, "resource_name": "probe", "configuration_keys": ["retention.ms"]}
    ]}  # fmt: skip
    yield "DescribeAcls", ApiKey.DESCRIBE_ACLS, 3, {
        "resource_type_filter": 2, "resource_name_filter": "probe", "pattern_type_filter": 3,
        "principal_filter": None, "host_filter": None, "operation": 1, "permission_type": 1,
    }  # fmt: skip
    yield "DescribeUserScramCredentials", ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, {
        "users": [{"name": "user-0"}]
    }  # fmt: skip
    yield "DescribeClientQuotas", ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, {
        "components": [{"entity_type": "user", "match_type": 0, "match": "u0"}], "strict": True
    }  # fmt: skip
    yield "DescribeLogDirs", ApiKey.DESCRIBE_LOG_DIRS, 4, {
        "topics": [{"topic": "probe", "partitions": [0]}]
    }  # fmt: skip
    yield "ListPartitionReassignments", ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, {
        "timeout_ms": 1000, "topics": [{"name": "probe", "partition_indexes": [0]}]
    }  # fmt: skip
    yield "ListConfigResources", ApiKey.LIST_CONFIG_RESOURCES, 1, {"resource_types": [4]}


def _group_probes(stage: Stage) -> Iterator[Probe]:
    join = ask(stage, ApiKey.JOIN_GROUP, 3, classic_join("probe classic", ""))
    named = {"group_id": "probe classic", "generation_id": 1, "member_id": join.member_id}
    sync = {**named, "assignments": [{"member_id": join.member_id, "assignment": b"a"}]}
    assert ask(stage, ApiKey.SYNC_GROUP, 3, sync).error_code == 0
    yield Probe("Heartbeat", lambda: ask(stage, ApiKey.HEARTBEAT, 3, named))
    yield Probe(
        "DescribeGroups",
        lambda: ask(stage, ApiKey.DESCRIBE_GROUPS, 5, {"groups": ["probe classic"]}),
    )
    for group in ("probe consumer", "members"):
        epoch = 0
        for _ in range(4):
            epoch = consumer_heartbeat(stage, group, "m0", epoch).member_epoch
        yield Probe(
            f"ConsumerGroupHeartbeat in `{group}`",
            lambda g=group, e=epoch: consumer_heartbeat(stage, g, "m0", e),  # type: ignore[misc]
        )
        member = {"member_id": "m0", "generation_id_or_member_epoch": epoch}
        yield Probe(
            f"OffsetCommit of a member of `{group}`",
            lambda g=group, m=member: ask(stage, ApiKey.OFFSET_COMMIT, 9, commit(g, **m)),  # type: ignore[misc]
        )
    expression = {
        "group_id": "probe expression", "member_id": "m0", "member_epoch": 0,
        "rebalance_timeout_ms": 300_000, "subscribed_topic_regex": "assig.*",
        "topic_partitions": [],
    }  # fmt: skip
    ask(stage, ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, expression)
    for _ in range(4):
        epoch = consumer_heartbeat(stage, "probe expression", "m0", 1).member_epoch
    yield Probe(
        "ConsumerGroupHeartbeat of a member with an expression",
        lambda e=epoch: consumer_heartbeat(stage, "probe expression", "m0", e),  # type: ignore[misc]
    )
    yield Probe(
        "ConsumerGroupDescribe",
        lambda: ask(stage, ApiKey.CONSUMER_GROUP_DESCRIBE, 0, {"group_ids": ["probe consumer"]}),
    )
    for group in ("probe share", "share members"):
        epoch = 0
        for _ in range(4):
            epoch = share_heartbeat(stage, group, "m0", epoch).member_epoch
        yield Probe(
            f"ShareGroupHeartbeat in `{group}`",
            lambda g=group, e=epoch: share_heartbeat(stage, g, "m0", e),  # type: ignore[misc]
        )
    yield Probe(
        "ShareGroupDescribe",
        lambda: ask(stage, ApiKey.SHARE_GROUP_DESCRIBE, 1, {"group_ids": ["probe share"]}),
    )


def _leaving_probes(stage: Stage) -> Iterator[Probe]:
    def join_and_leave() -> None:
        consumer_heartbeat(stage, "probe joins", "j", 0)
        consumer_heartbeat(stage, "probe joins", "j", -1)

    yield Probe("ConsumerGroupHeartbeat: join and leave", join_and_leave)

    def expire() -> None:
        """Let the session timeout of one member pass; those of others are longer."""
        consumer_heartbeat(stage, "probe timeout", "late", 0)
        stage.clock.advance(SESSION_TIMEOUT_MS + 1)

    yield Probe("the session timeout of a member", expire)

    def delete_group() -> None:
        ask(stage, ApiKey.OFFSET_COMMIT, 8, commit("probe deletion"))
        ask(stage, ApiKey.DELETE_GROUPS, 2, {"groups_names": ["probe deletion"]})

    yield Probe("OffsetCommit and DeleteGroups", delete_group)


def _changing_probes(stage: Stage) -> Iterator[Probe]:
    yield from _topic_probes(stage)
    yield from _transaction_probes(stage)
    yield from _access_probes(stage)
    yield from _setting_probes(stage)
    yield from _log_probes(stage)


def _topic_probes(stage: Stage) -> Iterator[Probe]:
    def create_and_delete_topic() -> None:
        topic = {"name": "made", "num_partitions": 1, "replication_factor": 1}
        ask(stage, ApiKey.CREATE_TOPICS, 7, {"topics": [topic], "timeout_ms": 1000})
        ask(stage, ApiKey.DELETE_TOPICS, 5, {"topic_names": ["made"], "timeout_ms": 1000})
        ask(stage, ApiKey.OFFSET_COMMIT, 8, commit("probe group"))

    yield Probe("CreateTopics, DeleteTopics and OffsetCommit", create_and_delete_topic)

    def reassign() -> None:
        partition = {"partition_index": 0, "replicas": [1]}
        topics = [{"name": "probe", "partitions": [partition]}]
        fields = {"timeout_ms": 1000, "topics": topics}
        ask(stage, ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, fields)

    yield Probe("AlterPartitionReassignments", reassign)

    def elect() -> None:
        partitions = [{"topic": "probe", "partitions": [0]}]
        fields = {"election_type": 0, "topic_partitions": partitions, "timeout_ms": 1000}
        ask(stage, ApiKey.ELECT_LEADERS, 2, fields)

    yield Probe("ElectLeaders", elect)


def _transaction_probes(stage: Stage) -> Iterator[Probe]:
    yield Probe("a whole transaction", lambda: transact(stage, "probe tx", committed=True))
    yield Probe("an aborted transaction", lambda: transact(stage, "probe tx", committed=False))

    def transaction_with_offsets() -> None:
        name = "probe offsets"
        producer = init_producer(stage, name)
        known = stage.cluster.transactions.get_for_reading(name)
        assert known is not None
        ids = {"transactional_id": name, "producer_id": producer, "producer_epoch": known.epoch}
        group = {**ids, "group_id": "probe group"}
        ask(stage, ApiKey.ADD_OFFSETS_TO_TXN, 3, group)
        partition = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        topics = [{"name": "probe", "partitions": [partition]}]
        ask(stage, ApiKey.TXN_OFFSET_COMMIT, 3, {**group, "topics": topics})
        ask(stage, ApiKey.END_TXN, 3, {**ids, "committed": True})

    yield Probe("a transaction with offsets", transaction_with_offsets)


def _access_probes(stage: Stage) -> Iterator[Probe]:
    def create_and_delete_acl() -> None:
        acl = {
            "resource_type": 2, "resource_name": "made", "resource_pattern_type": 3,
            "principal": "User:bob", "host": "*", "operation": 3, "permission_type": 3,
        }  # fmt: skip
        ask(stage, ApiKey.CREATE_ACLS, 3, {"creations": [acl]})
        acl_filter = {
            "resource_type_filter": 2, "resource_name_filter": "made", "pattern_type_filter": 3,
            "principal_filter": "User:bob", "host_filter": None, "operation": 1,
            "permission_type": 1,
        }  # fmt: skip
        ask(stage, ApiKey.DELETE_ACLS, 3, {"filters": [acl_filter]})

    yield Probe("CreateAcls and DeleteAcls", create_and_delete_acl)

    def alter_user() -> None:
        upsertion = {
            "name": "made", "mechanism": 1, "iterations": 4096, "salt": b"salt",
            "salted_password": bytes(32),
        }  # fmt: skip
        ask(stage, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, {"upsertions": [upsertion]})
        deletion = {"name": "made", "mechanism": 1}
        ask(stage, ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, {"deletions": [deletion]})

    yield Probe("AlterUserScramCredentials", alter_user)


def _setting_probes(stage: Stage) -> Iterator[Probe]:
    numbers = count()

    def alter_quota() -> None:
        entry = {
            "entity": [{"entity_type": "user", "entity_name": "probe"}],
            "ops": [{"key": "producer_byte_rate", "value": 1e9 + next(numbers), "remove": False}],
        }
        ask(stage, ApiKey.ALTER_CLIENT_QUOTAS, 1, {"entries": [entry], "validate_only": False})

    yield Probe("AlterClientQuotas", alter_quota)

    def alter_topic_config() -> None:
        config = {
            "name": "retention.ms", "config_operation": 0, "value": str(10**9 + next(numbers))
        }  # fmt: skip
        resource = {"resource_type": 2, "resource_name": "other", "configs": [config]}
        ask(stage, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [resource]})

    yield Probe("IncrementalAlterConfigs of a topic", alter_topic_config)

    def change_token() -> None:
        token = stage.cluster.tokens.create_token(ADMIN, ADMIN, (), -1)
        hmac = {"hmac": token.hmac}
        ask(stage, ApiKey.RENEW_DELEGATION_TOKEN, 2, {**hmac, "renew_period_ms": 1000})
        ask(stage, ApiKey.EXPIRE_DELEGATION_TOKEN, 2, {**hmac, "expiry_time_period_ms": -1})

    yield Probe("RenewDelegationToken and ExpireDelegationToken", change_token)


def _log_probes(stage: Stage) -> Iterator[Probe]:
    def delete_records() -> None:
        produce(stage, "other")
        partition = {"partition_index": 0, "offset": -1}
        topics = [{"name": "other", "partitions": [partition]}]
        ask(stage, ApiKey.DELETE_RECORDS, 2, {"topics": topics, "timeout_ms": 1000})

    yield Probe("Produce and DeleteRecords", delete_records)

    def delete_oldest_record() -> None:
        log = stage.found("probe").partitions[0].log
        partition = {"partition_index": 0, "offset": log.start_offset + 1}
        topics = [{"name": "probe", "partitions": [partition]}]
        ask(stage, ApiKey.DELETE_RECORDS, 2, {"topics": topics, "timeout_ms": 1000})

    yield Probe("DeleteRecords of the oldest record", delete_oldest_record)
