"""Drives librdkafka through confluent-kafka: `python confluent_kafka_driver.py`."""

import time
from typing import Any

import confluent_kafka
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
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)
from line_loop import items, serve

SECONDS = 8
TYPES = {"CLUSTER": ResourceType.BROKER}  # librdkafka has one word for both
RENAMED = {
    "request.timeout.ms": "socket.timeout.ms",
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
}
UNKNOWN = {"default.api.timeout.ms", "max.block.ms"}
PRODUCER = {"delivery.timeout.ms", "enable.idempotence", "transactional.id", "acks"}
CONSUMER = {
    *("auto.offset.reset", "enable.auto.commit", "allow.auto.create.topics", "group.id"),
    *("group.instance.id", "isolation.level", "session.timeout.ms", "group.protocol"),
}


class Client:
    """One client of the contract: an admin, a producer and a consumer, each made when needed."""

    def __init__(self, servers: str, login: dict[str, str] | None, settings: dict[str, str]):
        self.settings: dict[str, Any] = {
            RENAMED.get(name, name): value
            for name, value in settings.items()
            if name not in UNKNOWN
        }
        self.settings["bootstrap.servers"] = servers
        if login is not None:
            self.settings |= {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": login["mechanism"],
                "sasl.username": login["user"],
                "sasl.password": login["password"],
            }
        self.made: dict[str, Any] = {}
        self.subscribed: list[str] = []
        self.has_begun = False

    def _of(self, *without: set[str]) -> dict[str, Any]:
        left = set().union(*without)
        return {name: value for name, value in self.settings.items() if name not in left}

    @property
    def admin(self) -> AdminClient:
        if "admin" not in self.made:
            self.made["admin"] = AdminClient(self._of(PRODUCER, CONSUMER))
        return self.made["admin"]

    @property
    def producer(self) -> Producer:
        if "producer" not in self.made:
            self.made["producer"] = Producer(self._of(CONSUMER))
        return self.made["producer"]

    @property
    def consumer(self) -> Consumer:
        if "consumer" not in self.made:
            self.made["consumer"] = Consumer(self._of(PRODUCER))
        return self.made["consumer"]

    def close(self) -> None:
        if "consumer" in self.made:
            self.made["consumer"].close()
        if "producer" in self.made:
            self.made["producer"].purge()
        self.made.clear()


clients: dict[str, Client] = {}


def open_client(client: str, servers: str, login: Any, settings: dict[str, str]) -> None:
    clients[client] = Client(servers, login, settings)


def close(client: str) -> None:
    clients.pop(client).close()


def error_of(error: Exception) -> dict[str, Any]:
    found = error.args[0] if isinstance(error, KafkaException) and error.args else None
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


def _each(futures: dict[Any, Any], name: Any = str, shown: Any = lambda _: {}) -> dict[str, Any]:
    """What came of each future, by its name."""
    by_name = {name(key): future for key, future in futures.items()}
    return items(by_name, lambda key: shown(by_name[key].result(SECONDS)), error_of)


def create_topics(client: str, topics: dict[str, int]) -> dict[str, Any]:
    new = [NewTopic(name, partitions, 1) for name, partitions in topics.items()]
    return _each(clients[client].admin.create_topics(new))


def delete_topics(client: str, names: list[str]) -> dict[str, Any]:
    return _each(clients[client].admin.delete_topics(names))


def create_partitions(client: str, topics: dict[str, int]) -> dict[str, Any]:
    new = [NewPartitions(name, count) for name, count in topics.items()]
    return _each(clients[client].admin.create_partitions(new))


def describe_topics(client: str, names: list[str], operations: bool) -> dict[str, Any]:
    futures = clients[client].admin.describe_topics(
        TopicCollection(names), include_authorized_operations=operations
    )
    return _each(futures, shown=lambda found: {"operations": _operations(found, operations)})


def describe_cluster(client: str, operations: bool) -> dict[str, Any]:
    future = clients[client].admin.describe_cluster(include_authorized_operations=operations)
    return {"operations": _operations(future.result(SECONDS), operations)}


def _operations(described: Any, asked: bool) -> list[str] | None:
    if not asked:
        return None
    return [operation.name for operation in described.authorized_operations or ()]


def _resources(kind: str, names: list[str]) -> list[ConfigResource]:
    return [ConfigResource(ResourceType[kind.upper()], name) for name in names]


def describe_configs(client: str, type: str, names: list[str]) -> dict[str, Any]:
    futures = clients[client].admin.describe_configs(_resources(type, names))
    return _each(
        futures,
        lambda resource: resource.name,
        lambda found: {"settings": {name: entry.value for name, entry in found.items()}},
    )


def alter_configs(
    client: str,
    type: str,
    names: list[str],
    setting: str,
    value: str,
) -> dict[str, Any]:
    resources = _resources(type, names)
    for resource in resources:
        entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
        resource.add_incremental_config(entry)
    futures = clients[client].admin.incremental_alter_configs(resources)
    return _each(futures, lambda resource: resource.name)


def _acl(kind: type, acl: dict[str, Any]) -> Any:
    return kind(
        TYPES.get(acl["resource_type"]) or ResourceType[acl["resource_type"]],
        acl["name"],
        ResourcePatternType[acl["pattern_type"]],
        acl["principal"],
        acl["host"],
        AclOperation[acl["operation"]],
        AclPermissionType[acl["permission"]],
    )


def create_acls(client: str, acls: list[dict[str, Any]]) -> dict[str, Any]:
    bindings = [_acl(AclBinding, acl) for acl in acls]
    futures = clients[client].admin.create_acls(bindings)
    return _each(futures, lambda binding: str(bindings.index(binding)))


def describe_acls(client: str, filter: dict[str, Any]) -> dict[str, Any]:
    future = clients[client].admin.describe_acls(_acl(AclBindingFilter, filter))
    return {"acls": [_shown(acl) for acl in future.result(SECONDS)]}


def delete_acls(client: str, filters: list[dict[str, Any]]) -> dict[str, Any]:
    asked = [_acl(AclBindingFilter, acl) for acl in filters]
    return _each(
        clients[client].admin.delete_acls(asked),
        lambda acl: str(asked.index(acl)),
        lambda found: {"acls": [_shown(acl) for acl in found]},
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


def list_groups(client: str) -> dict[str, Any]:
    found = clients[client].admin.list_consumer_groups().result(SECONDS)
    if found.errors:
        raise found.errors[0]
    return {"groups": [group.group_id for group in found.valid]}


def describe_groups(client: str, names: list[str], operations: bool) -> dict[str, Any]:
    futures = clients[client].admin.describe_consumer_groups(
        names, include_authorized_operations=operations
    )
    return _each(futures, shown=lambda found: {"operations": _operations(found, operations)})


def delete_groups(client: str, names: list[str]) -> dict[str, Any]:
    return _each(clients[client].admin.delete_consumer_groups(names))


def _partition(text: str, offset: Any = -1001) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number), offset)


def _place(partition: TopicPartition) -> str:
    return f"{partition.topic}-{partition.partition}"


def group_offsets(client: str, group: str, partitions: list[str]) -> dict[str, Any]:
    asked = ConsumerGroupTopicPartitions(group, [_partition(text) for text in partitions])
    (future,) = clients[client].admin.list_consumer_group_offsets([asked]).values()
    found = {_place(row): row for row in future.result(SECONDS).topic_partitions}

    def offset(name: str) -> dict[str, Any]:
        if found[name].error is not None:
            raise KafkaException(found[name].error)
        return {"offset": found[name].offset if found[name].offset >= 0 else None}

    return items(partitions, offset, error_of)


def alter_group_offsets(client: str, group: str, topic: str, partition: int, offset: int) -> None:
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, partition, offset)])
    (future,) = clients[client].admin.alter_consumer_group_offsets([wanted]).values()
    for row in future.result(SECONDS).topic_partitions:
        if row.error is not None:
            raise KafkaException(row.error)


def list_offsets(client: str, partitions: list[str]) -> dict[str, Any]:
    asked = {_partition(text): OffsetSpec.latest() for text in partitions}
    futures = clients[client].admin.list_offsets(asked)
    return _each(futures, _place, lambda found: {"offset": found.offset})


def delete_records(client: str, topic: str, partition: int, before: int) -> None:
    asked = [TopicPartition(topic, partition, before)]
    for future in clients[client].admin.delete_records(asked).values():
        future.result(SECONDS)


def produce(client: str, topic: str, values: list[str]) -> dict[str, Any]:
    producer = clients[client].producer
    reports: list[tuple[KafkaError | None, int]] = []
    for value in values:
        producer.produce(
            topic,
            value.encode(),
            on_delivery=lambda error, row: reports.append((error, row.offset())),
        )
    producer.flush(SECONDS)
    for error, _ in reports:
        if error is not None:
            raise KafkaException(error)
    return {"offsets": [offset for _, offset in reports]}


def begin(client: str) -> None:
    if not clients[client].has_begun:
        clients[client].producer.init_transactions(SECONDS)
        clients[client].has_begun = True
    clients[client].producer.begin_transaction()


def commit(client: str) -> None:
    clients[client].producer.commit_transaction(SECONDS)


def abort(client: str) -> None:
    clients[client].producer.abort_transaction(SECONDS)


def consume(client: str, topics: list[str], count: int, seconds: float) -> dict[str, Any]:
    if clients[client].subscribed != topics:
        clients[client].consumer.subscribe(topics)
        clients[client].subscribed = topics
    values: list[str] = []
    ends = time.monotonic() + seconds
    while len(values) < count and (left := ends - time.monotonic()) > 0:
        message = clients[client].consumer.poll(left)
        if message is None:
            continue
        if message.error() is not None:
            raise KafkaException(message.error())
        values.append((message.value() or b"").decode())
    return {"values": values}


def commit_offsets(client: str) -> None:
    clients[client].consumer.commit(asynchronous=False)


COMMANDS = {
    "open": open_client,
    **{
        command.__name__: command
        for command in (
            *(close, create_topics, delete_topics, create_partitions, describe_topics),
            *(describe_cluster, describe_configs, alter_configs, create_acls, describe_acls),
            *(delete_acls, list_groups, describe_groups, delete_groups, group_offsets),
            *(alter_group_offsets, list_offsets, delete_records, produce, begin, commit, abort),
            *(consume, commit_offsets),
        )
    },
}

if __name__ == "__main__":
    library = confluent_kafka.libversion()[0]
    serve(
        "confluent-kafka",
        f"{confluent_kafka.__version__} (librdkafka {library})",
        COMMANDS,
        error_of,
    )
