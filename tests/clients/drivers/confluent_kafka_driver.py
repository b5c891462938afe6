"""Drives librdkafka through confluent-kafka."""

import sys
import time
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from json_lines import CallError, Login, serve

DEADLINE_SECONDS = 20
TOKEN_SECONDS = 3600
# In librdkafka the cluster has the type BROKER, as in resources of configurations.
RESOURCE_TYPES = {"CLUSTER": ResourceType.BROKER}
RESOURCE_NAMES = {ResourceType.BROKER: "CLUSTER"}

admins: dict[tuple[str, Login | None], AdminClient] = {}


def settings(servers: str, login: Login | None) -> dict[str, Any]:
    found: dict[str, Any] = {"bootstrap.servers": servers, "topic.metadata.propagation.max.ms": 0}
    if login is None:
        return found
    found["security.protocol"] = login.protocol
    if login.mechanism == "OAUTHBEARER":
        ends = datetime.now(UTC).timestamp() + TOKEN_SECONDS
        found |= {
            "sasl.mechanism": "OAUTHBEARER",
            "oauth_cb": lambda _: (login.token, ends),
        }
    elif login.mechanism:
        found |= {
            "sasl.mechanism": login.mechanism,
            "sasl.username": login.username,
            "sasl.password": login.password,
        }
    else:
        found |= {
            "ssl.ca.location": login.authority,
            "ssl.certificate.location": login.identity,
            "ssl.key.location": login.identity,
        }
    return found


def admin(servers: str, login: Login | None) -> AdminClient:
    key = (servers, login)
    if key not in admins:
        admins[key] = AdminClient(settings(servers, login) | {"socket.timeout.ms": 10_000})
    return admins[key]


def create_topic(servers: str, login: Login | None, topic: str) -> None:
    admin(servers, login).create_topics([NewTopic(topic, 1, 1)])[topic].result(DEADLINE_SECONDS)


def delete_topic(servers: str, login: Login | None, topic: str) -> None:
    admin(servers, login).delete_topics([topic])[topic].result(DEADLINE_SECONDS)


def list_topics(servers: str, login: Login | None) -> list[str]:
    return list(admin(servers, login).list_topics(timeout=DEADLINE_SECONDS).topics)


def create_acls(servers: str, login: Login | None, acls: list[dict[str, Any]]) -> list[int]:
    futures = admin(servers, login).create_acls([AclBinding(**_enums(acl)) for acl in acls])
    codes = []
    for future in futures.values():
        try:
            future.result(DEADLINE_SECONDS)
        except KafkaException as error:
            codes.append(error.args[0].code())
    return codes


def list_acls(servers: str, login: Login | None, filter: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: A002
    future = admin(servers, login).describe_acls(AclBindingFilter(**_enums(filter)))
    return [_plain(acl) for acl in future.result(DEADLINE_SECONDS)]


def delete_acls(
    servers: str, login: Login | None, filters: list[dict[str, Any]]
) -> list[list[dict[str, Any]]]:
    asked = [AclBindingFilter(**_enums(fields)) for fields in filters]
    futures = admin(servers, login).delete_acls(asked)
    return [
        [_plain(acl) for acl in futures[acl_filter].result(DEADLINE_SECONDS)]
        for acl_filter in asked
    ]


def _enums(acl: dict[str, Any]) -> dict[str, Any]:
    kind = acl["resource_type"]
    return {
        "restype": RESOURCE_TYPES.get(kind) or ResourceType[kind],
        "name": acl["name"],
        "resource_pattern_type": ResourcePatternType[acl["pattern_type"]],
        "principal": acl["principal"],
        "host": acl["host"],
        "operation": AclOperation[acl["operation"]],
        "permission_type": AclPermissionType[acl["permission"]],
    }


def _plain(acl: AclBinding) -> dict[str, Any]:
    return {
        "resource_type": RESOURCE_NAMES.get(acl.restype, acl.restype.name),
        "name": acl.name,
        "pattern_type": acl.resource_pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission_type.name,
    }


def cluster_operations(servers: str, login: Login | None) -> list[str]:
    future = admin(servers, login).describe_cluster(include_authorized_operations=True)
    return _names(future.result(DEADLINE_SECONDS))


def topic_operations(servers: str, login: Login | None, topic: str) -> list[str]:
    futures = admin(servers, login).describe_topics(
        TopicCollection([topic]), include_authorized_operations=True
    )
    return _names(futures[topic].result(DEADLINE_SECONDS))


def group_operations(servers: str, login: Login | None, group: str) -> list[str]:
    futures = admin(servers, login).describe_consumer_groups(
        [group], include_authorized_operations=True
    )
    return _names(futures[group].result(DEADLINE_SECONDS))


def _names(described: Any) -> list[str]:
    # librdkafka returns None for a bit field of 0 as well as for an omitted one.
    return [operation.name for operation in described.authorized_operations or ()]


def produce(
    servers: str, login: Login | None, topic: str, values: list[str], idempotent: bool | None
) -> list[int]:
    producer = Producer(
        settings(servers, login)
        | {"message.timeout.ms": DEADLINE_SECONDS * 1000}
        | ({} if idempotent is None else {"enable.idempotence": idempotent})
    )
    reports: list[tuple[KafkaError | None, int | None]] = []
    refused: list[KafkaError | None] = []
    try:
        for value in values:
            producer.produce(
                topic,
                value.encode(),
                on_delivery=lambda error, message: reports.append((error, message.offset())),
            )
    except KafkaException as error:
        refused.append(error.args[0])  # a consequence of an earlier failure, reported by flush
    producer.flush(DEADLINE_SECONDS)
    for error in [error for error, _ in reports] + refused:
        if error is not None:
            raise KafkaException(error)
    return [offset for _, offset in reports if offset is not None]


def produce_transaction(
    servers: str, login: Login | None, topic: str, values: list[str], transactional_id: str
) -> None:
    producer = Producer(settings(servers, login) | {"transactional.id": transactional_id})
    producer.init_transactions(DEADLINE_SECONDS)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value.encode())
    producer.commit_transaction(DEADLINE_SECONDS)


def consume(
    servers: str, login: Login | None, topic: str, group: str, count: int, seconds: float
) -> list[str]:
    consumer = Consumer(
        settings(servers, login)
        | {"group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    try:
        consumer.subscribe([topic])
        values: list[str] = []
        deadline = time.monotonic() + seconds
        while len(values) < count:
            message = consumer.poll(0.5)
            if message is None:
                if time.monotonic() > deadline:
                    raise CallError(None, "TimeoutError", f"{len(values)} of {count} values")
                continue
            if message.error() is not None:
                raise KafkaException(message.error())
            values.append(message.value().decode())
        consumer.commit(asynchronous=False)
        return values
    finally:
        consumer.close()


def commit_offset(servers: str, login: Login | None, group: str, topic: str, offset: int) -> None:
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])
    future = admin(servers, login).alter_consumer_group_offsets([wanted])[group]
    for partition in future.result(DEADLINE_SECONDS).topic_partitions:
        if partition.error is not None:
            raise KafkaException(partition.error)


def offset_fetch(
    servers: str, login: Login | None, group: str, topic: str | None
) -> dict[str, Any]:
    partitions = None if topic is None else [TopicPartition(topic, 0)]
    asked = ConsumerGroupTopicPartitions(group, partitions)
    future = admin(servers, login).list_consumer_group_offsets([asked])[group]
    return {
        f"{partition.topic}-{partition.partition}": (
            partition.offset
            if partition.error is None
            else _call_error(KafkaException(partition.error)).response
        )
        for partition in future.result(DEADLINE_SECONDS).topic_partitions
    }


def _call_error(error: Exception) -> CallError:
    if isinstance(error, SystemError) and isinstance(error.__cause__, Exception):
        # A fatal error is raised while delivery callbacks still run; Python then raises a
        # SystemError in whatever they call, with the fatal error as its cause.
        error = error.__cause__
    if isinstance(error, KafkaException):
        found = error.args[0]
        # librdkafka's own errors have negative codes.
        code = found.code() if found.code() > 0 else None
        return CallError(code, found.name(), found.str())
    return CallError(None, type(error).__name__, str(error))


if __name__ == "__main__":
    own = sys.modules[__name__]
    names = (
        "create_topic", "delete_topic", "list_topics", "create_acls", "list_acls", "delete_acls",
        "cluster_operations", "topic_operations", "group_operations",
        "produce", "produce_transaction", "consume", "commit_offset", "offset_fetch",
    )  # fmt: skip
    serve({name: getattr(own, name) for name in names}, _call_error)
