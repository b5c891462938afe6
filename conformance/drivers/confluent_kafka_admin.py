"""What librdkafka's admin client does for the driver, and how the driver reports its errors."""

from collections.abc import Callable
from typing import Any

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from line_loop import UnsupportedError, items

SECONDS = 8
TYPES = {"CLUSTER": "BROKER"}  # librdkafka has one word for both
ITERATIONS = 4096


def error_of(error: Exception) -> dict[str, Any]:
    told: BaseException = error
    if isinstance(error, SystemError) and error.__cause__ is not None:
        told = error.__cause__  # a fatal error that was raised within a callback
    found = told.args[0] if isinstance(told, KafkaException) and told.args else None
    if not isinstance(found, KafkaError):
        return {"class": type(error).__name__, "code": None, "text": str(error)}
    return {
        "class": found.name(),
        "code": found.code() if found.code() >= -1 else None,  # below are librdkafka's own
        "text": found.str(),
        "retriable": found.retriable(),
        "fatal": found.fatal(),
        "abortable": found.txn_requires_abort(),
    }


def raise_if(error: KafkaError | None) -> None:
    if error is not None:
        raise KafkaException(error)


def _each(
    futures: dict[Any, Any],
    name: Callable[[Any], str] = str,
    shown: Callable[[Any], Any] = lambda _: {},
) -> dict[str, Any]:
    """What came of each future, by its name."""
    by_name = {name(key): future for key, future in futures.items()}
    return items(by_name, lambda key: shown(by_name[key].result(SECONDS)), error_of)


def _operations(described: Any, asked: bool) -> dict[str, Any]:
    found = described.authorized_operations
    is_told = asked and found is not None
    return {"operations": [operation.name for operation in found] if is_told else None}


def _member(kind: Any, name: str) -> Any:
    """A word of the contract as the client's own; it does not know all of them."""
    try:
        return kind[TYPES.get(name, name)]
    except KeyError:
        raise UnsupportedError from None


def _resources(kind: str, names: list[str]) -> list[ConfigResource]:
    return [ConfigResource(_member(ResourceType, kind.upper()), name) for name in names]


def _acl(kind: type, acl: dict[str, Any]) -> Any:
    return kind(
        _member(ResourceType, acl["resource_type"]),
        acl["name"],
        _member(ResourcePatternType, acl["pattern_type"]),
        acl["principal"],
        acl["host"],
        _member(AclOperation, acl["operation"]),
        _member(AclPermissionType, acl["permission"]),
    )


def _shown(acl: AclBinding) -> dict[str, Any]:
    kind = "CLUSTER" if acl.restype is ResourceType.BROKER else acl.restype.name
    return {
        "resource_type": kind,
        "name": acl.name,
        "pattern_type": acl.resource_pattern_type.name,
        "principal": acl.principal,
        "host": acl.host,
        "operation": acl.operation.name,
        "permission": acl.permission_type.name,
    }


def partition_of(text: str, offset: int = -1001) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number), offset)


def place_of(partition: TopicPartition) -> str:
    return f"{partition.topic}-{partition.partition}"


def offsets_of(names: list[str], rows: list[TopicPartition]) -> dict[str, Any]:
    """The committed offsets; none is a negative one."""
    found = {place_of(row): row for row in rows}

    def offset(name: str) -> dict[str, Any]:
        raise_if(found[name].error)
        return {"offset": found[name].offset if found[name].offset >= 0 else None}

    return items(names, offset, error_of)


class AdminCommands:
    """The commands that a class of clients with an admin client has."""

    _admin: AdminClient

    def create_topics(self, topics: dict[str, int], configs: Any = None) -> Any:
        new = [NewTopic(name, count, 1, config=configs or {}) for name, count in topics.items()]
        return _each(self._admin.create_topics(new))

    def delete_topics(self, names: list[str]) -> Any:
        return _each(self._admin.delete_topics(names))

    def create_partitions(self, topics: dict[str, int]) -> Any:
        new = [NewPartitions(name, count) for name, count in topics.items()]
        return _each(self._admin.create_partitions(new))

    def list_topics(self) -> Any:
        return {"topics": sorted(self._admin.list_topics(timeout=SECONDS).topics)}

    def describe_topics(self, names: list[str], operations: bool) -> Any:
        def shown(topic: Any) -> Any:
            return _operations(topic, operations) | {"partitions": len(topic.partitions)}

        asked = TopicCollection(names)
        return _each(
            self._admin.describe_topics(asked, include_authorized_operations=operations),
            shown=shown,
        )

    def describe_cluster(self, operations: bool) -> Any:
        future = self._admin.describe_cluster(include_authorized_operations=operations)
        found = future.result(SECONDS)
        return _operations(found, operations) | {"brokers": [node.id for node in found.nodes]}

    def describe_configs(self, type: str, names: list[str]) -> Any:
        return _each(
            self._admin.describe_configs(_resources(type, names)),
            lambda resource: resource.name,
            lambda found: {"settings": {name: entry.value for name, entry in found.items()}},
        )

    def alter_configs(self, type: str, names: list[str], setting: str, value: str) -> Any:
        resources = _resources(type, names)
        for resource in resources:
            entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
            resource.add_incremental_config(entry)
        futures = self._admin.incremental_alter_configs(resources)
        return _each(futures, lambda resource: resource.name)

    def list_offsets(self, partitions: list[str]) -> Any:
        asked = {partition_of(text): OffsetSpec.latest() for text in partitions}
        futures = self._admin.list_offsets(asked)
        return _each(futures, place_of, lambda found: {"offset": found.offset})

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        asked = [TopicPartition(topic, partition, before)]
        for future in self._admin.delete_records(asked).values():
            future.result(SECONDS)

    def create_acls(self, acls: list[dict[str, Any]]) -> Any:
        bindings = [_acl(AclBinding, acl) for acl in acls]
        futures = self._admin.create_acls(bindings)
        return _each(futures, lambda binding: str(bindings.index(binding)))

    def describe_acls(self, filter: dict[str, Any]) -> Any:
        future = self._admin.describe_acls(_acl(AclBindingFilter, filter))
        return {"acls": [_shown(acl) for acl in future.result(SECONDS)]}

    def delete_acls(self, filters: list[dict[str, Any]]) -> Any:
        asked = [_acl(AclBindingFilter, acl) for acl in filters]
        return _each(
            self._admin.delete_acls(asked),
            lambda acl: str(asked.index(acl)),
            lambda found: {"acls": [_shown(acl) for acl in found]},
        )

    def describe_scram_users(self, users: list[str]) -> Any:
        def shown(found: Any) -> Any:
            rows = found.scram_credential_infos
            return {"mechanisms": [row.mechanism.name.replace("_", "-") for row in rows]}

        return _each(self._admin.describe_user_scram_credentials(users), shown=shown)

    def alter_scram_users(self, passwords: dict[str, str | None], mechanism: str) -> Any:
        named = ScramMechanism[mechanism.replace("-", "_")]
        wanted: list[Any] = [
            UserScramCredentialDeletion(user, named)
            if password is None
            else UserScramCredentialUpsertion(
                user, ScramCredentialInfo(named, ITERATIONS), password.encode()
            )
            for user, password in passwords.items()
        ]
        return _each(self._admin.alter_user_scram_credentials(wanted))

    def list_groups(self) -> Any:
        found = self._admin.list_consumer_groups().result(SECONDS)
        if found.errors:
            raise found.errors[0]
        return {"groups": [group.group_id for group in found.valid]}

    def describe_groups(self, names: list[str], operations: bool) -> Any:
        def shown(group: Any) -> Any:
            return _operations(group, operations) | {"members": len(group.members)}

        futures = self._admin.describe_consumer_groups(
            names, include_authorized_operations=operations
        )
        return _each(futures, shown=shown)

    def delete_groups(self, names: list[str]) -> Any:
        return _each(self._admin.delete_consumer_groups(names))

    def group_offsets(self, group: str, partitions: list[str]) -> Any:
        asked = ConsumerGroupTopicPartitions(group, [partition_of(text) for text in partitions])
        (future,) = self._admin.list_consumer_group_offsets([asked]).values()
        return offsets_of(partitions, future.result(SECONDS).topic_partitions)

    def alter_group_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, partition, offset)])
        (future,) = self._admin.alter_consumer_group_offsets([wanted]).values()
        for row in future.result(SECONDS).topic_partitions:
            raise_if(row.error)
