"""The driver of librdkafka, by confluent-kafka: `python confluent_kafka_driver.py`."""

from collections.abc import Callable
from typing import Any

import confluent_kafka as kafka
import line_loop
from confluent_kafka import KafkaError, KafkaException, TopicPartition, admin
from line_loop import Inbox, UnsupportedError, items, offset_or_null, place_of

SECONDS = 8
ITERATIONS = 4096
CAPABILITIES = (
    *("plain", "scram", "oauthbearer", "tls", "idempotence", "transactions", "classic-groups"),
    *("consumer-groups", "static-members", "share-groups", "authorized-operations"),
    *("prefixed-acls", "rebootstrap"),
)
RENAMED = {
    "request.timeout.ms": "socket.timeout.ms",
    "max.request.size": "message.max.bytes",
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
    "ca": "ssl.ca.location",
    "certificate": "ssl.certificate.location",
    "key": "ssl.key.location",
}
UNKNOWN = {"default.api.timeout.ms", "max.block.ms"}
PRODUCER = {
    *("delivery.timeout.ms", "enable.idempotence", "transactional.id", "acks"),
    *("compression.type", "transaction.timeout.ms", "linger.ms"),
}
CONSUMER = {
    *("auto.offset.reset", "enable.auto.commit", "allow.auto.create.topics", "group.id"),
    *("group.instance.id", "isolation.level", "session.timeout.ms", "group.protocol"),
    *("heartbeat.interval.ms", "fetch.max.bytes", "max.partition.fetch.bytes", "check.crcs"),
}


def error_of(error: Exception) -> dict[str, Any]:
    told: BaseException = error
    if isinstance(error, SystemError) and error.__cause__ is not None:
        told = error.__cause__  # a fatal error raised in a callback
    found = told.args[0] if isinstance(told, KafkaException) and told.args else None
    if not isinstance(found, KafkaError):
        return {"class": type(error).__name__, "code": None, "text": str(error)}
    return {
        "class": found.name(),
        "code": found.code() if found.code() >= -1 else None,  # others are librdkafka's own
        "text": found.str(),
        "retriable": found.retriable(),
        "fatal": found.fatal(),
        "abortable": found.txn_requires_abort(),
    }


def _raise_if(error: KafkaError | None) -> None:
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


def _partition(name: str, offset: int = kafka.OFFSET_INVALID) -> TopicPartition:
    return TopicPartition(*place_of(name), offset)


def _offsets(names: list[str], rows: list[TopicPartition]) -> dict[str, Any]:
    found = {_name(row): row for row in rows}

    def offset(name: str) -> dict[str, Any]:
        _raise_if(found[name].error)
        return offset_or_null(found[name].offset)

    return items(names, offset)


class Client(line_loop.PolledClient):
    """A client of the contract: an admin, a producer and a consumer, each created on first use."""

    def __init__(self, servers: str, settings: dict[str, str], login: Any = None, tls: Any = None):
        super().__init__(Inbox())
        self._settings: dict[str, Any] = {
            RENAMED.get(name, name): value
            for name, value in {**settings, **(tls or {})}.items()
            if name not in UNKNOWN and value is not None
        }
        if settings.get("group.protocol") == "consumer":  # the broker decides these
            for name in ("session.timeout.ms", "heartbeat.interval.ms"):
                self._settings.pop(name, None)
        self._settings["bootstrap.servers"] = servers
        self._settings.setdefault("group.id", "none")  # required even without a group
        self._settings["security.protocol"] = line_loop.security_protocol(login, tls)
        self._settings["error_cb"] = lambda error: self._inbox.failed(KafkaException(error))
        if login is not None:
            self._settings["sasl.mechanism"] = login["mechanism"]
            self._log_in(login)
        self._made: dict[Any, Any] = {}
        self._has_begun = False

    def _log_in(self, login: dict[str, Any]) -> None:
        if login.get("is_delegation_token"):
            raise UnsupportedError
        if login["mechanism"] == "OAUTHBEARER":
            self._token = login["token"]
            self._settings["oauth_cb"] = lambda _: (
                self._token,
                line_loop.token_expires(self._token),
            )
        else:
            self._settings["sasl.username"] = login["user"]
            self._settings["sasl.password"] = login["password"]

    def set_login(self, login: dict[str, Any]) -> None:
        self._log_in(login)
        if login["mechanism"] != "OAUTHBEARER":
            for client in self._made.values():
                client.set_sasl_credentials(login["user"], login["password"])

    def _of(self, kind: Any, without: set[str]) -> Any:
        if kind not in self._made:
            self._made[kind] = kind(self._settings_without(without))
        return self._made[kind]

    def _settings_without(self, left: set[str]) -> dict[str, Any]:
        return {name: value for name, value in self._settings.items() if name not in left}

    @property
    def _admin(self) -> admin.AdminClient:
        return self._of(admin.AdminClient, PRODUCER | CONSUMER)

    @property
    def _producer(self) -> kafka.Producer:
        return self._of(kafka.Producer, CONSUMER)

    @property
    def _consumer(self) -> kafka.Consumer:
        return self._of(kafka.Consumer, PRODUCER)

    @property
    def _member(self) -> kafka.ShareConsumer:
        return self._of(kafka.ShareConsumer, (PRODUCER | CONSUMER) - {"group.id"})

    def close(self) -> None:
        for kind in self._made.keys() & {kafka.Consumer, kafka.ShareConsumer}:
            self._made[kind].close()
        if kafka.Producer in self._made:
            self._producer.purge()
        self._made.clear()

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
        asked = {_partition(name): admin.OffsetSpec.latest() for name in partitions}
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
        asked = kafka.ConsumerGroupTopicPartitions(group, [_partition(name) for name in partitions])
        (future,) = self._admin.list_consumer_group_offsets([asked]).values()
        return _offsets(partitions, future.result(SECONDS).topic_partitions)

    def alter_group_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        wanted = kafka.ConsumerGroupTopicPartitions(
            group, [TopicPartition(topic, partition, offset)]
        )
        (future,) = self._admin.alter_consumer_group_offsets([wanted]).values()
        for row in future.result(SECONDS).topic_partitions:
            _raise_if(row.error)

    def produce(self, topic: str, values: list[str], partition: int = -1) -> Any:
        reports: list[tuple[KafkaError | None, int]] = []

        def report(error: KafkaError | None, message: kafka.Message) -> None:
            reports.append((error, message.offset()))

        for value in values:
            self._producer.produce(topic, value, partition=partition, on_delivery=report)
        self._producer.flush(SECONDS)
        for error, _ in reports:
            _raise_if(error)
        if len(reports) < len(values):
            raise TimeoutError(f"{len(reports)} of {len(values)} records are done")
        return {"offsets": [offset for _, offset in reports]}

    def produce_to_several(self, topics: list[str], value: str) -> Any:
        reports: dict[str, tuple[KafkaError | None, int]] = {}

        def report(error: KafkaError | None, message: kafka.Message) -> None:
            reports[message.topic()] = (error, message.offset())

        for topic in topics:
            self._producer.produce(topic, value, on_delivery=report)
        self._producer.flush(SECONDS)

        def offset(topic: str) -> dict[str, Any]:
            error, offset = reports[topic]
            _raise_if(error)
            return {"offset": offset}

        return items(topics, offset)

    def begin(self) -> None:
        if not self._has_begun:
            self._producer.init_transactions(SECONDS)
            self._has_begun = True
        self._producer.begin_transaction()

    def send_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        offsets = [TopicPartition(topic, partition, offset)]
        # only a consumer has the group metadata
        member = kafka.Consumer(self._settings_without(PRODUCER) | {"group.id": group})
        try:
            metadata = member.consumer_group_metadata()
            self._producer.send_offsets_to_transaction(offsets, metadata, SECONDS)
        finally:
            member.close()

    def commit(self) -> None:
        self._producer.commit_transaction(SECONDS)

    def abort(self) -> None:
        self._producer.abort_transaction(SECONDS)

    def _subscribe(self, topics: list[str]) -> None:
        self._consumer.subscribe(
            topics,
            on_assign=lambda _, partitions: self._inbox.on_partitions_assigned(partitions),
            on_revoke=lambda _, partitions: self._inbox.on_partitions_revoked(partitions),
            on_lost=lambda _, partitions: self._inbox.on_partitions_lost(partitions),
        )

    def _assign(self, partitions: list[str]) -> None:
        is_first = self._settings.get("auto.offset.reset") == "earliest"
        # without an offset it would begin at the committed offset
        start = kafka.OFFSET_BEGINNING if is_first else kafka.OFFSET_END
        self._consumer.assign([_partition(name, start) for name in partitions])

    def consume_share(self, topics: list[str], count: int, seconds: float) -> Any:
        found = self._read(self._member.subscribe, topics, count, seconds)
        self._member.commit_sync()
        return found

    def _poll(self, seconds: float) -> None:
        messages = []
        if kafka.ShareConsumer in self._made:
            messages = self._member.poll(seconds)
        elif kafka.Consumer in self._made:
            messages = [self._consumer.poll(seconds)]
        elif kafka.Producer in self._made:
            self._producer.poll(seconds)
        else:
            self._admin.poll(seconds)
        for message in messages:
            if message is not None:
                _raise_if(message.error())
                self._inbox.values.append((message.value() or b"").decode())

    def commit_offsets(self) -> None:
        for row in self._consumer.commit(asynchronous=False) or ():
            _raise_if(row.error)

    def committed(self, partitions: list[str]) -> Any:
        rows = self._consumer.committed([_partition(name) for name in partitions], SECONDS)
        return _offsets(partitions, rows)


COMMANDS = line_loop.commands_of(Client)

if __name__ == "__main__":
    library = kafka.libversion()[0]
    version = f"{kafka.__version__} (librdkafka {library})"
    line_loop.serve("confluent-kafka", version, COMMANDS, error_of, CAPABILITIES)
