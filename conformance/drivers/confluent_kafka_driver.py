"""Drives librdkafka through confluent-kafka: `python confluent_kafka_driver.py`."""

import base64
import json
import time
from typing import Any

import confluent_kafka
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    Producer,
    ShareConsumer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka_admin import (
    SECONDS,
    AdminCommands,
    error_of,
    offsets_of,
    partition_of,
    raise_if,
)
from line_loop import Events, UnsupportedError, commands_of, serve

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
    *("compression.type", "transaction.timeout.ms"),
}
CONSUMER = {
    *("auto.offset.reset", "enable.auto.commit", "allow.auto.create.topics", "group.id"),
    *("group.instance.id", "isolation.level", "session.timeout.ms", "group.protocol"),
    *("heartbeat.interval.ms", "fetch.max.bytes", "max.partition.fetch.bytes"),
}


class Client(AdminCommands):
    """One client of the contract: an admin, a producer and a consumer, each made when needed."""

    def __init__(self, servers: str, settings: dict[str, str], login: Any = None, tls: Any = None):
        self._settings: dict[str, Any] = {
            RENAMED.get(name, name): value
            for name, value in {**settings, **(tls or {})}.items()
            if name not in UNKNOWN and value is not None
        }
        if settings.get("group.protocol") == "consumer":  # then the broker decides on these
            for name in ("session.timeout.ms", "heartbeat.interval.ms"):
                self._settings.pop(name, None)
        self._settings["bootstrap.servers"] = servers
        self._settings.setdefault("group.id", "none")  # a consumer must have one, member or not
        protocol = ("SASL_" if login else "") + ("SSL" if tls else "PLAINTEXT")
        self._settings["security.protocol"] = protocol
        self._events = Events()
        self._settings["error_cb"] = self._told
        if login is not None:
            self._settings["sasl.mechanism"] = login["mechanism"]
            self._log_in(login)
        self._made: dict[Any, Any] = {}
        self._subscribed: list[str] = []
        self._unread: list[str] = []
        self._error: KafkaError | None = None
        self._has_begun = False

    def _log_in(self, login: dict[str, Any]) -> None:
        if login.get("is_delegation_token"):
            raise UnsupportedError
        if login["mechanism"] == "OAUTHBEARER":
            self._token = login["token"]
            self._settings["oauth_cb"] = lambda _: (self._token, _ends(self._token))
        else:
            self._settings["sasl.username"] = login["user"]
            self._settings["sasl.password"] = login["password"]

    def set_login(self, login: dict[str, Any]) -> None:
        self._log_in(login)
        if login["mechanism"] != "OAUTHBEARER":
            for client in self._made.values():
                client.set_sasl_credentials(login["user"], login["password"])

    def _told(self, error: KafkaError) -> None:
        self._error = error
        self._events.add("error")

    def _of(self, kind: Any, *without: set[str]) -> Any:
        if kind not in self._made:
            left = set().union(*without)
            settings = {name: value for name, value in self._settings.items() if name not in left}
            self._made[kind] = kind(settings)
        return self._made[kind]

    @property
    def _admin(self) -> AdminClient:  # type: ignore[override]
        return self._of(AdminClient, PRODUCER, CONSUMER)

    @property
    def _producer(self) -> Producer:
        return self._of(Producer, CONSUMER)

    @property
    def _consumer(self) -> Consumer:
        return self._of(Consumer, PRODUCER)

    @property
    def _member(self) -> ShareConsumer:
        return self._of(ShareConsumer, PRODUCER, CONSUMER - {"group.id"})

    def close(self) -> None:
        if Consumer in self._made:
            self._consumer.close()
        if ShareConsumer in self._made:
            self._member.close()
        if Producer in self._made:
            self._producer.purge()
        self._made.clear()

    def wait(self, events: list[str], seconds: float) -> Any:
        found = self._events.wait(events, seconds, self._run)
        if found["event"] == "error" and self._error is not None:
            found["error"] = error_of(confluent_kafka.KafkaException(self._error))
        return found

    def _run(self, seconds: float) -> None:
        if Consumer in self._made:
            self._poll(seconds)
        elif Producer in self._made:
            self._producer.poll(seconds)
        else:
            self._admin.poll(seconds)

    def produce(self, topic: str, values: list[str], partition: int = -1) -> Any:
        reports: list[tuple[KafkaError | None, int]] = []
        for value in values:
            self._producer.produce(
                topic,
                value.encode(),
                partition=partition,
                on_delivery=lambda error, row: reports.append((error, row.offset())),
            )
        self._producer.flush(SECONDS)
        for error, _ in reports:
            raise_if(error)
        if len(reports) < len(values):
            raise TimeoutError(f"{len(reports)} of {len(values)} records are done")
        return {"offsets": [offset for _, offset in reports]}

    def begin(self) -> None:
        if not self._has_begun:
            self._producer.init_transactions(SECONDS)
            self._has_begun = True
        self._producer.begin_transaction()

    def send_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        # only a consumer can hand over the group metadata
        member = Consumer(self._settings_of_group(group))
        try:
            self._producer.send_offsets_to_transaction(
                [TopicPartition(topic, partition, offset)],
                member.consumer_group_metadata(),
                SECONDS,
            )
        finally:
            member.close()

    def _settings_of_group(self, group: str) -> dict[str, Any]:
        left = {name: value for name, value in self._settings.items() if name not in PRODUCER}
        return left | {"group.id": group}

    def commit(self) -> None:
        self._producer.commit_transaction(SECONDS)

    def abort(self) -> None:
        self._producer.abort_transaction(SECONDS)

    def consume(self, topics: list[str], count: int, seconds: float) -> Any:
        if self._subscribed != topics:
            self._consumer.subscribe(
                topics,
                on_assign=lambda *_: self._events.add("assigned"),
                on_revoke=lambda *_: self._events.add("revoked"),
                on_lost=lambda *_: self._events.add("lost"),
            )
            self._subscribed = topics
        return self._read(count, seconds)

    def consume_assigned(self, partitions: list[str], count: int, seconds: float) -> Any:
        if self._subscribed != partitions:
            is_first = self._settings.get("auto.offset.reset") == "earliest"
            start = OFFSET_BEGINNING if is_first else OFFSET_END  # else what its group committed
            self._consumer.assign([partition_of(text, start) for text in partitions])
            self._subscribed = partitions
        return self._read(count, seconds)

    def consume_share(self, topics: list[str], count: int, seconds: float) -> Any:
        if self._subscribed != topics:
            self._member.subscribe(topics)
            self._subscribed = topics
        values: list[str] = []
        ends = time.monotonic() + seconds
        while len(values) < count and (left := ends - time.monotonic()) > 0:
            for message in self._member.poll(left):
                raise_if(message.error())
                values.append((message.value() or b"").decode())
        self._member.commit_sync()
        return {"values": values}

    def _read(self, count: int, seconds: float) -> Any:
        ends = time.monotonic() + seconds
        while len(self._unread) < count and (left := ends - time.monotonic()) > 0:
            self._poll(left)
        values, self._unread = self._unread[:count], self._unread[count:]
        return {"values": values}

    def _poll(self, seconds: float) -> None:
        message = self._consumer.poll(seconds)
        if message is not None:
            raise_if(message.error())
            self._unread.append((message.value() or b"").decode())

    def commit_offsets(self) -> None:
        for row in self._consumer.commit(asynchronous=False) or ():
            raise_if(row.error)

    def committed(self, partitions: list[str]) -> Any:
        rows = self._consumer.committed([partition_of(text) for text in partitions], SECONDS)
        return offsets_of(partitions, rows)


def _ends(token: str) -> float:
    """When a JSON web token expires, in seconds of the clock."""
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return float(claims["exp"])


COMMANDS = commands_of(Client)

if __name__ == "__main__":
    library = confluent_kafka.libversion()[0]
    version = f"{confluent_kafka.__version__} (librdkafka {library})"
    serve("confluent-kafka", version, COMMANDS, error_of, CAPABILITIES)
