"""The commands of librdkafka's admin client, for the driver in confluent_kafka_driver.py."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import confluent_kafka as kafka
import line_loop
from confluent_kafka import KafkaError, KafkaException, TopicPartition, admin
from line_loop import UnsupportedError, items, offset_or_null, place_of

SECONDS = 8
ITERATIONS = 4096


def raise_if(error: KafkaError | None) -> None:
    if error is not None:
        raise KafkaException(error)


def _each(futures: dict[Any, Any], shown: Callable[[Any], Any] = lambda _: {}) -> dict[str, Any]:
    """Return items from the results of futures, by the names of their keys."""
    by_name = {_name(key): future for key, future in futures.items()}
    return items(by_name, lambda key: shown(by_name[key].result(SECONDS)))


def _numbered(asked: list[Any], futures: dict[Any, Any], shown: Any = lambda _: {}) -> Any:
    return items(range(len(asked)), lambda number: shown(futures[asked[number]].result(SECONDS)))


def _name(key: Any) -> str:
    if isinstance(key, TopicPartition):
        return f"{key.topic}-{key.partition}"
    return key.name if isinstance(key, admin.ConfigResource) else key


def _operations(found: Any, asked: bool) -> list[str] | None:
    operations = found.authorized_operations if asked else None
    return None if operations is None else [operation.name for operation in operations]


def _known(kind: Callable[..., Any], *words: Any) -> Any:
    """Create an object from names of the contract, some of which the client does not support."""
    try:
        return kind(*words)
    except ValueError:
        raise UnsupportedError from None


def _resources(kind: str, names: list[str]) -> list[admin.ConfigResource]:
    return [_known(admin.ConfigResource, kind, name) for name in names]


def _acl(kind: type, acl: dict[str, Any]) -> Any:
    is_cluster = acl["resource_type"] == "CLUSTER"  # librdkafka has one type for both
    words = acl | {"resource_type": "BROKER" if is_cluster else acl["resource_type"]}
    return _known(kind, *(words[field] for field in line_loop.ACL_FIELDS))


def _shown(acls: list[admin.AclBinding]) -> dict[str, Any]:
    found = []
    for acl in acls:
        kind = "CLUSTER" if acl.restype is admin.ResourceType.BROKER else acl.restype
        entry = (acl.principal, acl.host, acl.operation, acl.permission_type)
        found.append(line_loop.acl_of((kind, acl.name, acl.resource_pattern_type, *entry)))
    return {"acls": found}


def partition_of(name: str, offset: int = kafka.OFFSET_INVALID) -> TopicPartition:
    return TopicPartition(*place_of(name), offset)


def offsets_of(names: list[str], rows: list[TopicPartition]) -> dict[str, Any]:
    found = {_name(row): row for row in rows}

    def offset(name: str) -> dict[str, Any]:
        raise_if(found[name].error)
        return offset_or_null(found[name].offset)

    return items(names, offset)


class AdminCommands(ABC):
    """The commands of the contract that an admin client can do."""

    @property
    @abstractmethod
    def _admin(self) -> admin.AdminClient: ...

    def create_topics(self, topics: dict[str, int], configs: Any = None) -> Any:
        new = [
            admin.NewTopic(name, count, 1, config=configs or {}) for name, count in topics.items()
        ]
        return _each(self._admin.create_topics(new))

    def delete_topics(self, names: list[str]) -> Any:
        return _each(self._admin.delete_topics(names))

    def create_partitions(self, topics: dict[str, int]) -> Any:
        new = [admin.NewPartitions(name, count) for name, count in topics.items()]
        return _each(self._admin.create_partitions(new))

    def list_topics(self) -> Any:
        return {"topics": sorted(self._admin.list_topics(timeout=SECONDS).topics)}

    def describe_topics(self, names: list[str], operations: bool) -> Any:
        asked = kafka.TopicCollection(names)
        found = self._admin.describe_topics(asked, include_authorized_operations=operations)

        def shown(topic: Any) -> Any:
            names = _operations(topic, operations)
            return {"operations": names, "partitions": len(topic.partitions)}

        return _each(found, shown)

    def describe_cluster(self, operations: bool) -> Any:
        future = self._admin.describe_cluster(include_authorized_operations=operations)
        found = future.result(SECONDS)
        brokers = [node.id for node in found.nodes]
        return {"operations": _operations(found, operations), "brokers": brokers}

    def describe_configs(self, type: str, names: list[str]) -> Any:
        def shown(found: dict[str, admin.ConfigEntry]) -> Any:
            return {"settings": {name: entry.value for name, entry in found.items()}}

        return _each(self._admin.describe_configs(_resources(type, names)), shown)

    def alter_configs(self, type: str, names: list[str], setting: str, value: str) -> Any:
        operation = admin.AlterConfigOpType.SET
        resources = _resources(type, names)
        for resource in resources:
            entry = admin.ConfigEntry(setting, value, incremental_operation=operation)
            resource.add_incremental_config(entry)
        return _each(self._admin.incremental_alter_configs(resources))

    def list_offsets(self, partitions: list[str]) -> Any:
        asked = {partition_of(name): admin.OffsetSpec.latest() for name in partitions}
        return _each(self._admin.list_offsets(asked), lambda found: {"offset": found.offset})

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        (future,) = self._admin.delete_records([TopicPartition(topic, partition, before)]).values()
        future.result(SECONDS)

    def create_acls(self, acls: list[dict[str, Any]]) -> Any:
        wanted = [_acl(admin.AclBinding, acl) for acl in acls]
        return _numbered(wanted, self._admin.create_acls(wanted))

    def describe_acls(self, filter: dict[str, Any]) -> Any:
        return _shown(
            self._admin.describe_acls(_acl(admin.AclBindingFilter, filter)).result(SECONDS)
        )

    def delete_acls(self, filters: list[dict[str, Any]]) -> Any:
        wanted = [_acl(admin.AclBindingFilter, acl) for acl in filters]
        return _numbered(wanted, self._admin.delete_acls(wanted), _shown)

    def describe_scram_users(self, users: list[str]) -> Any:
        def shown(found: Any) -> Any:
            names = [info.mechanism.name for info in found.scram_credential_infos]
            return {"mechanisms": [name.replace("_", "-") for name in names]}

        return _each(self._admin.describe_user_scram_credentials(users), shown)

    def alter_scram_users(self, passwords: dict[str, str | None], mechanism: str) -> Any:
        named = admin.ScramMechanism[mechanism.replace("-", "_")]
        info = admin.ScramCredentialInfo(named, ITERATIONS)
        wanted = [
            admin.UserScramCredentialDeletion(user, named)
            if password is None
            else admin.UserScramCredentialUpsertion(user, info, password.encode())
            for user, password in passwords.items()
        ]
        return _each(self._admin.alter_user_scram_credentials(wanted))

    def list_groups(self) -> Any:
        found = self._admin.list_consumer_groups().result(SECONDS)
        if found.errors:
            raise found.errors[0]
        return {"groups": [group.group_id for group in found.valid]}

    def describe_groups(self, names: list[str], operations: bool) -> Any:
        found = self._admin.describe_consumer_groups(
            names, include_authorized_operations=operations
        )

        def shown(group: Any) -> Any:
            return {"operations": _operations(group, operations), "members": len(group.members)}

        return _each(found, shown)

    def delete_groups(self, names: list[str]) -> Any:
        return _each(self._admin.delete_consumer_groups(names))

    def group_offsets(self, group: str, partitions: list[str]) -> Any:
        asked = kafka.ConsumerGroupTopicPartitions(
            group, [partition_of(name) for name in partitions]
        )
        (future,) = self._admin.list_consumer_group_offsets([asked]).values()
        return offsets_of(partitions, future.result(SECONDS).topic_partitions)

    def alter_group_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        wanted = kafka.ConsumerGroupTopicPartitions(
            group, [TopicPartition(topic, partition, offset)]
        )
        (future,) = self._admin.alter_consumer_group_offsets([wanted]).values()
        for row in future.result(SECONDS).topic_partitions:
            raise_if(row.error)
