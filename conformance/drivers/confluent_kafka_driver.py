"""The driver of librdkafka, by confluent-kafka: `python confluent_kafka_driver.py`."""

from typing import Any

import confluent_kafka as kafka
import line_loop
from confluent_kafka import KafkaError, KafkaException, TopicPartition, admin
from confluent_kafka_admin import SECONDS, AdminCommands, offsets_of, partition_of, raise_if
from line_loop import Inbox, UnsupportedError, items

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


class Client(AdminCommands, line_loop.PolledClient):
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

    def produce(self, topic: str, values: list[str], partition: int = -1) -> Any:
        reports: list[tuple[KafkaError | None, int]] = []

        def report(error: KafkaError | None, message: kafka.Message) -> None:
            reports.append((error, message.offset()))

        for value in values:
            self._producer.produce(topic, value, partition=partition, on_delivery=report)
        self._producer.flush(SECONDS)
        for error, _ in reports:
            raise_if(error)
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
            raise_if(error)
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
        self._consumer.assign([partition_of(name, start) for name in partitions])

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
                raise_if(message.error())
                self._inbox.values.append((message.value() or b"").decode())

    def commit_offsets(self) -> None:
        for row in self._consumer.commit(asynchronous=False) or ():
            raise_if(row.error)

    def committed(self, partitions: list[str]) -> Any:
        rows = self._consumer.committed([partition_of(name) for name in partitions], SECONDS)
        return offsets_of(partitions, rows)


COMMANDS = line_loop.commands_of(Client)

if __name__ == "__main__":
    library = kafka.libversion()[0]
    version = f"{kafka.__version__} (librdkafka {library})"
    line_loop.serve("confluent-kafka", version, COMMANDS, error_of, CAPABILITIES)
