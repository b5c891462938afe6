"""Drives aiokafka: `python aiokafka_driver.py`."""

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Coroutine
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from aiokafka_admin import AdminCommands, error_of, partition_of
from line_loop import UnsupportedError, commands_of, items, serve

SECONDS = 9
CAPABILITIES = (
    *("plain", "scram", "oauthbearer", "tls", "idempotence", "transactions"),
    *("classic-groups", "static-members"),
)
ADMIN = {"client_id", "request_timeout_ms", "retry_backoff_ms", "metadata_max_age_ms"}
PRODUCER = ADMIN | {
    *("acks", "compression_type", "enable_idempotence", "transactional_id"),
    *("transaction_timeout_ms", "max_request_size"),
}
CONSUMER = ADMIN | {
    *("group_id", "group_instance_id", "auto_offset_reset", "enable_auto_commit"),
    *("session_timeout_ms", "heartbeat_interval_ms", "isolation_level"),
    *("fetch_max_bytes", "max_partition_fetch_bytes"),
}


def _typed(value: str) -> Any:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.lstrip("-").isdigit() else value


class Token(AbstractTokenProvider):
    """The token of the last log-in that was set."""

    text = ""

    async def token(self) -> str:
        return self.text


class Listener(ConsumerRebalanceListener):
    """Keeps what happened to a group member and was not waited for yet."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.events.append("assigned")

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        if revoked:
            self.events.append("revoked")


class Client(AdminCommands):
    """One client of the contract: an admin, a producer and a consumer, each made when needed."""

    def __init__(self, servers: str, settings: dict[str, str], login: Any = None, tls: Any = None):
        if settings.get("group.protocol", "classic") != "classic":
            raise UnsupportedError
        self._settings = {name.replace(".", "_"): _typed(text) for name, text in settings.items()}
        if self._settings.get("compression_type") == "none":
            del self._settings["compression_type"]
        protocol = ("SASL_" if login else "") + ("SSL" if tls else "PLAINTEXT")
        self._shared: dict[str, Any] = {"bootstrap_servers": servers, "security_protocol": protocol}
        if tls is not None:
            context = ssl.create_default_context(cafile=tls.get("ca"))
            if tls.get("certificate"):
                context.load_cert_chain(tls["certificate"], tls.get("key"))
            self._shared["ssl_context"] = context
        self._token = Token()
        if login is not None:
            self._log_in(login)
        self._made: dict[str, Any] = {}
        self._subscribed: list[str] = []
        self._listener = Listener()
        self._unread: list[str] = []

    def _log_in(self, login: dict[str, Any]) -> None:
        if login.get("is_delegation_token"):
            raise UnsupportedError
        self._shared["sasl_mechanism"] = login["mechanism"]
        if login["mechanism"] == "OAUTHBEARER":
            self._token.text = login["token"]
            self._shared["sasl_oauth_token_provider"] = self._token
        else:
            self._shared["sasl_plain_username"] = login["user"]
            self._shared["sasl_plain_password"] = login["password"]

    async def set_login(self, login: dict[str, Any]) -> None:
        if login["mechanism"] != "OAUTHBEARER":
            raise UnsupportedError  # a password stays for the life of a client
        self._token.text = login["token"]

    async def _of(self, name: str, kind: Any, known: set[str]) -> Any:
        if name not in self._made:
            settings = {key: value for key, value in self._settings.items() if key in known}
            made = kind(**self._shared, **settings)
            try:
                await made.start()
            except BaseException:
                await _end(name, made)
                raise
            self._made[name] = made
        return self._made[name]

    async def _admin(self) -> AIOKafkaAdminClient:
        return await self._of("admin", AIOKafkaAdminClient, ADMIN)

    async def _producer(self) -> AIOKafkaProducer:
        return await self._of("producer", AIOKafkaProducer, PRODUCER)

    async def _consumer(self) -> AIOKafkaConsumer:
        return await self._of("consumer", AIOKafkaConsumer, CONSUMER)

    async def close(self) -> None:
        for name, made in self._made.items():
            await _end(name, made)

    async def wait(self, events: list[str], seconds: float) -> Any:
        ends = asyncio.get_running_loop().time() + seconds
        happened = self._listener.events
        while not (found := [name for name in happened if name in events]):
            if (left := ends - asyncio.get_running_loop().time()) <= 0:
                return {"event": None}
            try:
                await self._poll(min(left, 0.1))
            except KafkaError as error:
                return {"event": "error", "error": error_of(error)}
        del happened[: happened.index(found[0]) + 1]
        return {"event": found[0]}

    async def list_offsets(self, partitions: list[str]) -> Any:
        asked = [partition_of(text) for text in partitions]
        found = await (await self._consumer()).end_offsets(asked)
        return items(partitions, lambda name: {"offset": found[partition_of(name)]}, error_of)

    async def produce(self, topic: str, values: list[str], partition: int | None = None) -> Any:
        producer = await self._producer()
        sent = [await producer.send(topic, text.encode(), partition=partition) for text in values]
        return {"offsets": [(await future).offset for future in sent]}

    async def begin(self) -> None:
        await (await self._producer()).begin_transaction()  # started, it is initialised

    async def send_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        offsets = {TopicPartition(topic, partition): offset}
        await (await self._producer()).send_offsets_to_transaction(offsets, group)

    async def commit(self) -> None:
        await (await self._producer()).commit_transaction()

    async def abort(self) -> None:
        await (await self._producer()).abort_transaction()

    async def consume(self, topics: list[str], count: int, seconds: float) -> Any:
        consumer = await self._consumer()
        if self._subscribed != topics:
            consumer.subscribe(topics, listener=self._listener)
            self._subscribed = topics
        return await self._read(count, seconds)

    async def consume_assigned(self, partitions: list[str], count: int, seconds: float) -> Any:
        consumer = await self._consumer()
        if self._subscribed != partitions:
            consumer.assign([partition_of(text) for text in partitions])
            self._subscribed = partitions
        return await self._read(count, seconds)

    async def _read(self, count: int, seconds: float) -> Any:
        ends = asyncio.get_running_loop().time() + seconds
        while len(self._unread) < count:
            if (left := ends - asyncio.get_running_loop().time()) <= 0:
                break
            await self._poll(left)
        values, self._unread = self._unread[:count], self._unread[count:]
        return {"values": values}

    async def _poll(self, seconds: float) -> None:
        if "consumer" not in self._made:
            await asyncio.sleep(seconds)
            return
        found = await self._made["consumer"].getmany(timeout_ms=int(seconds * 1000))
        self._unread += [row.value.decode() for rows in found.values() for row in rows]

    async def commit_offsets(self) -> None:
        await (await self._consumer()).commit()

    async def committed(self, partitions: list[str]) -> Any:
        consumer = await self._consumer()
        found = {name: await consumer.committed(partition_of(name)) for name in partitions}
        return items(partitions, lambda name: {"offset": found[name]}, error_of)


async def _end(name: str, made: Any) -> None:
    """The admin is closed, the others are stopped; what is not written within a second is lost."""
    ending = made.close() if name == "admin" else made.stop()
    with contextlib.suppress(TimeoutError, KafkaError):
        await asyncio.wait_for(ending, 1)


LOOP = asyncio.new_event_loop()
"""Runs in a thread of its own, so that members of groups live between commands, too."""


def _result(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait for a command; what takes longer than any of them may is an error."""
    return asyncio.run_coroutine_threadsafe(_in_time(work), LOOP).result()


async def _in_time(work: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.wait_for(work, 2 * SECONDS)


COMMANDS = commands_of(Client, _result)

if __name__ == "__main__":
    threading.Thread(target=LOOP.run_forever, daemon=True).start()
    serve("aiokafka", aiokafka.__version__, COMMANDS, error_of, CAPABILITIES)
