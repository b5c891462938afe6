"""Drives kafka-python: `python kafka_python_driver.py`."""

import re
import time
from typing import Any

import kafka
from kafka import (
    ConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    TopicPartition,
    errors,
)
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.structs import OffsetAndMetadata
from kafka_python_admin import AdminCommands, error_of, partition_of
from line_loop import Events, UnsupportedError, commands_of, items, serve

SECONDS = 8
CAPABILITIES = (
    *("plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions"),
    *("classic-groups", "static-members", "authorized-operations", "prefixed-acls"),
)


def _typed(value: str) -> Any:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if re.fullmatch(r"-?\d+", value) else value


class Token(AbstractTokenProvider):
    """The token of the last log-in that was set."""

    text = ""

    def token(self) -> str:
        return self.text


class Listener(ConsumerRebalanceListener):
    def __init__(self, events: Events) -> None:
        self._events = events

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._events.add("assigned")

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        if revoked:
            self._events.add("revoked")

    def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._events.add("lost")


class Client(AdminCommands):
    """One client of the contract: an admin, a producer and a consumer, each made when needed."""

    def __init__(self, servers: str, settings: dict[str, str], login: Any = None, tls: Any = None):
        if settings.get("group.protocol", "classic") != "classic":
            raise UnsupportedError
        self._settings: dict[str, Any] = {
            name.replace(".", "_"): _typed(value) for name, value in settings.items()
        }
        if self._settings.get("compression_type") == "none":
            del self._settings["compression_type"]
        self._settings["bootstrap_servers"] = servers.split(",")
        self._settings["bootstrap_timeout_ms"] = SECONDS * 1000
        names = {"ca": "ssl_cafile", "certificate": "ssl_certfile", "key": "ssl_keyfile"}
        self._settings |= {names[name]: path for name, path in (tls or {}).items()}
        protocol = ("SASL_" if login else "") + ("SSL" if tls else "PLAINTEXT")
        self._settings["security_protocol"] = protocol
        self._token = Token()
        if login is not None:
            self._log_in(login)
        self._made: dict[type, Any] = {}
        self._subscribed: list[str] = []
        self._events = Events()
        self._unread: list[str] = []
        self._has_begun = False

    def _log_in(self, login: dict[str, Any]) -> None:
        if login.get("is_delegation_token"):
            raise UnsupportedError
        self._settings["sasl_mechanism"] = login["mechanism"]
        if login["mechanism"] == "OAUTHBEARER":
            self._token.text = login["token"]
            self._settings["sasl_oauth_token_provider"] = self._token
        else:
            self._settings["sasl_plain_username"] = login["user"]
            self._settings["sasl_plain_password"] = login["password"]

    def set_login(self, login: dict[str, Any]) -> None:
        if login["mechanism"] != "OAUTHBEARER":
            raise UnsupportedError  # a password stays for the life of a client
        self._token.text = login["token"]

    def _of(self, kind: Any) -> Any:
        if kind not in self._made:
            known = kind.DEFAULT_CONFIG
            settings = {name: value for name, value in self._settings.items() if name in known}
            self._made[kind] = kind(**settings)
        return self._made[kind]

    @property
    def _admin(self) -> KafkaAdminClient:
        return self._of(KafkaAdminClient)

    @property
    def _producer(self) -> KafkaProducer:
        return self._of(KafkaProducer)

    @property
    def _consumer(self) -> KafkaConsumer:
        return self._of(KafkaConsumer)

    def close(self) -> None:
        if KafkaProducer in self._made:
            self._producer.close(timeout=1)
        if KafkaConsumer in self._made:
            self._consumer.close(autocommit=False, timeout_ms=1000)
        if KafkaAdminClient in self._made:
            self._admin.close()

    def wait(self, events: list[str], seconds: float) -> Any:
        try:
            return self._events.wait(events, seconds, self._poll)
        except errors.KafkaError as error:
            return {"event": "error", "error": error_of(error)}

    def produce(self, topic: str, values: list[str], partition: int | None = None) -> Any:
        futures = [
            self._producer.send(topic, value.encode(), partition=partition) for value in values
        ]
        return {"offsets": [future.get(SECONDS).offset for future in futures]}

    def begin(self) -> None:
        if not self._has_begun:
            self._producer.init_transactions()
            self._has_begun = True
        self._producer.begin_transaction()

    def send_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        offsets = {TopicPartition(topic, partition): OffsetAndMetadata(offset, "", -1)}
        self._producer.send_offsets_to_transaction(offsets, group)

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def consume(self, topics: list[str], count: int, seconds: float) -> Any:
        if self._subscribed != topics:
            self._consumer.subscribe(topics, listener=Listener(self._events))
            self._subscribed = topics
        return self._read(count, seconds)

    def consume_assigned(self, partitions: list[str], count: int, seconds: float) -> Any:
        if self._subscribed != partitions:
            self._consumer.assign([partition_of(text) for text in partitions])
            self._subscribed = partitions
        return self._read(count, seconds)

    def _read(self, count: int, seconds: float) -> Any:
        ends = time.monotonic() + seconds
        while len(self._unread) < count and (left := ends - time.monotonic()) > 0:
            self._poll(left)
        values, self._unread = self._unread[:count], self._unread[count:]
        return {"values": values}

    def _poll(self, seconds: float) -> None:
        for records in self._consumer.poll(seconds * 1000).values():
            self._unread += [record.value.decode() for record in records]

    def commit_offsets(self) -> None:
        self._consumer.commit()

    def committed(self, partitions: list[str]) -> Any:
        return items(
            partitions,
            lambda name: {"offset": self._consumer.committed(partition_of(name))},
            error_of,
        )


COMMANDS = commands_of(Client)

if __name__ == "__main__":
    serve("kafka-python", kafka.__version__, COMMANDS, error_of, CAPABILITIES)
