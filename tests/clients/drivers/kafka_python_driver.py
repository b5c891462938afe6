"""Drives kafka-python (3.x)."""

import re
import sys
import time
from typing import Any

from json_lines import CallError, Login, serve
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    NewTopic,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from kafka.errors import BrokerResponseError, NoError, for_code
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.structs import OffsetAndMetadata

DEADLINE_SECONDS = 20

admins: dict[tuple[str, Login | None], KafkaAdminClient] = {}


class Token(AbstractTokenProvider):
    """Provides the same token each time."""

    def __init__(self, text: str) -> None:
        self._text = text

    def token(self) -> str:
        return self._text


def settings(servers: str, login: Login | None) -> dict[str, Any]:
    found: dict[str, Any] = {"bootstrap_servers": servers}
    if login is None:
        return found
    found["security_protocol"] = login.protocol
    if login.mechanism == "OAUTHBEARER":
        found |= {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Token(login.token)}
    elif login.mechanism:
        found |= {
            "sasl_mechanism": login.mechanism,
            "sasl_plain_username": login.username,
            "sasl_plain_password": login.password,
        }
    else:
        found |= {
            "ssl_cafile": login.authority,
            "ssl_certfile": login.identity,
            "ssl_keyfile": login.identity,
        }
    return found


def admin(servers: str, login: Login | None) -> KafkaAdminClient:
    key = (servers, login)
    if key not in admins:
        admins[key] = KafkaAdminClient(**settings(servers, login), request_timeout_ms=10_000)
    return admins[key]


def create_topic(servers: str, login: Login | None, topic: str) -> None:
    admin(servers, login).create_topics([NewTopic(topic, 1, 1)])


def delete_topic(servers: str, login: Login | None, topic: str) -> None:
    admin(servers, login).delete_topics([topic])


def list_topics(servers: str, login: Login | None) -> list[str]:
    names: list[str] = admin(servers, login).list_topics()
    return names


def create_acls(servers: str, login: Login | None, acls: list[dict[str, Any]]) -> list[int]:
    made = [ACL(**_entry(acl), resource_pattern=ResourcePattern(*_pattern(acl))) for acl in acls]
    result = admin(servers, login).create_acls(made)
    return [error.errno for error in result["failed"]]


def list_acls(servers: str, login: Login | None, filter: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: A002
    acls, _ = admin(servers, login).describe_acls(_filter(filter))
    return [_plain(acl) for acl in acls]


def delete_acls(
    servers: str, login: Login | None, filters: list[dict[str, Any]]
) -> list[list[dict[str, Any]]]:
    results = admin(servers, login).delete_acls([_filter(fields) for fields in filters])
    for _, _, error in results:
        if error is not NoError:
            raise error
    return [[_plain(acl) for acl in acls] for _, acls, _ in results]


def _filter(acl: dict[str, Any]) -> ACLFilter:
    return ACLFilter(**_entry(acl), resource_pattern=ResourcePatternFilter(*_pattern(acl)))


def _entry(acl: dict[str, Any]) -> dict[str, Any]:
    return {
        "principal": acl["principal"],
        "host": acl["host"],
        "operation": ACLOperation[acl["operation"]],
        "permission_type": ACLPermissionType[acl["permission"]],
    }


def _pattern(acl: dict[str, Any]) -> tuple[ResourceType, str | None, ACLResourcePatternType]:
    pattern_type = ACLResourcePatternType[acl["pattern_type"]]
    return ResourceType[acl["resource_type"]], acl["name"], pattern_type


def _plain(acl: ACL) -> dict[str, Any]:
    return {
        "resource_type": acl.resource_pattern.resource_type.name,
        "name": acl.resource_pattern.resource_name,
        "pattern_type": acl.resource_pattern.pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission_type.name,
    }


def cluster_operations(servers: str, login: Login | None) -> list[str]:
    names: list[str] = admin(servers, login).describe_cluster()["authorized_operations"]
    return names


def topic_operations(servers: str, login: Login | None, topic: str) -> list[str]:
    described = admin(servers, login).describe_topics([topic])[0]
    if described["error_code"]:
        raise for_code(described["error_code"])
    names: list[str] = described["authorized_operations"]
    return names


def group_operations(servers: str, login: Login | None, group: str) -> list[str]:
    described = admin(servers, login).describe_groups([group])[group]
    if described["error"]:
        raise RuntimeError(described["error"])  # kafka-python returns only the text of the error
    names: list[str] = described["authorized_operations"]
    return names


def produce(
    servers: str, login: Login | None, topic: str, values: list[str], idempotent: bool | None
) -> list[int]:
    producer = KafkaProducer(
        **settings(servers, login),
        **({} if idempotent is None else {"enable_idempotence": idempotent}),
        max_block_ms=DEADLINE_SECONDS * 1000,
    )
    try:
        futures = [producer.send(topic, value.encode()) for value in values]
        return [future.get(DEADLINE_SECONDS).offset for future in futures]
    finally:
        producer.close(5)


def produce_transaction(
    servers: str, login: Login | None, topic: str, values: list[str], transactional_id: str
) -> None:
    producer = KafkaProducer(
        **settings(servers, login),
        transactional_id=transactional_id,
        max_block_ms=DEADLINE_SECONDS * 1000,
    )
    try:
        producer.init_transactions()
        producer.begin_transaction()
        for value in values:
            producer.send(topic, value.encode())
        producer.commit_transaction()
    finally:
        producer.close(5)


def consume(
    servers: str, login: Login | None, topic: str, group: str, count: int, seconds: float
) -> list[str]:
    consumer = KafkaConsumer(
        **settings(servers, login),
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    try:
        consumer.subscribe([topic])
        values: list[str] = []
        deadline = time.monotonic() + seconds
        while len(values) < count:
            if time.monotonic() > deadline:
                raise CallError(None, "TimeoutError", f"{len(values)} of {count} values")
            for records in consumer.poll(timeout_ms=500).values():
                values += [record.value.decode() for record in records]
        consumer.commit()
        return values
    finally:
        consumer.close(autocommit=False)


def commit_offset(servers: str, login: Login | None, group: str, topic: str, offset: int) -> None:
    wanted = {TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}
    results = admin(servers, login).alter_group_offsets(group, wanted)
    for error in results.values():
        if error is not NoError:
            raise error


def offset_fetch(
    servers: str, login: Login | None, group: str, topic: str | None
) -> dict[str, Any]:
    partitions = None if topic is None else [TopicPartition(topic, 0)]
    found = admin(servers, login).list_group_offsets({group: partitions})[group]
    return {
        f"{partition.topic}-{partition.partition}": value.offset
        for partition, value in found.items()
    }


def _call_error(error: Exception) -> CallError:
    if isinstance(error, BrokerResponseError):
        return CallError(error.errno, type(error).__name__, str(error))
    # Some errors of the broker are only part of the text of a client error.
    found = re.search(r"\[Error (\d+)\]", str(error))
    return CallError(int(found[1]) if found else None, type(error).__name__, str(error))


if __name__ == "__main__":
    own = sys.modules[__name__]
    names = (
        "create_topic", "delete_topic", "list_topics", "create_acls", "list_acls", "delete_acls",
        "cluster_operations", "topic_operations", "group_operations",
        "produce", "produce_transaction", "consume", "commit_offset", "offset_fetch",
    )  # fmt: skip
    serve({name: getattr(own, name) for name in names}, _call_error)
