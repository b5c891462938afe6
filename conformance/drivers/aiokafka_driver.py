"""The driver of aiokafka: `python aiokafka_driver.py`."""

import asyncio
import contextlib
import inspect
import ssl
import threading
import time
from collections.abc import Coroutine, Iterable
from typing import Any

import aiokafka
import line_loop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code
from line_loop import Inbox, UnsupportedError, items, offset_or_null, place_of, python_settings

SECONDS = 9
CAPABILITIES = (
    *("plain", "scram", "oauthbearer", "tls", "idempotence", "transactions"),
    *("classic-groups", "static-members"),
)


def error_of(error: Exception) -> dict[str, Any]:
    is_own = isinstance(error, KafkaError)
    return {
        "class": type(error).__name__,
        "code": getattr(error, "errno", None) if is_own else None,
        "text": str(error),
        "retriable": error.retriable if is_own else None,
    }


def _error(code: int) -> Exception | None:
    return for_code(code)() if code else None


def _each(rows: Iterable[Any]) -> dict[str, Any]:
    """Return items from the rows of a response: name, error code, and further fields."""
    codes = {name: code for name, code, *_ in rows}
    return items(codes, lambda name: _error(codes[name]))


def _partitions(names: list[str]) -> dict[str, TopicPartition]:
    return {name: TopicPartition(*place_of(name)) for name in names}


class Token(AbstractTokenProvider):
    """Provides the token of the latest credentials."""

    def __init__(self, login: Any) -> None:
        self.login = login

    async def token(self) -> str:
        return self.login["token"]


def _offset_or_error(done: Any) -> Any:
    return done if isinstance(done, BaseException) else {"offset": done.offset}


class Listener(Inbox, ConsumerRebalanceListener):
    """An inbox with the type that the client requires of listeners."""


class Client:
    """A client of the contract: an admin, a producer and a consumer, each created on first use."""

    def __init__(self, servers: str, settings: dict[str, str], login: Any = None, tls: Any = None):
        self._settings = python_settings(servers, settings, login, tls)
        self._token = Token(login)
        self._settings["sasl_oauth_token_provider"] = self._token
        if tls is not None:
            context = ssl.create_default_context(cafile=tls.get("ca"))
            if tls.get("certificate"):
                context.load_cert_chain(tls["certificate"], tls.get("key"))
            self._settings["ssl_context"] = context
        self._made: dict[Any, Any] = {}
        self._subscribed: list[str] = []
        self._inbox = Listener()

    async def set_login(self, login: dict[str, Any]) -> None:
        if login["mechanism"] != "OAUTHBEARER":
            raise UnsupportedError  # this client cannot change its password
        self._token.login = login

    async def _of(self, kind: Any) -> Any:
        if kind not in self._made:
            known = inspect.signature(kind).parameters
            made = kind(**{name: self._settings[name] for name in self._settings if name in known})
            try:
                await made.start()
            except BaseException:
                await _end(made)
                raise
            self._made[kind] = made
        return self._made[kind]

    async def _admin(self) -> AIOKafkaAdminClient:
        return await self._of(AIOKafkaAdminClient)

    async def _producer(self) -> AIOKafkaProducer:
        return await self._of(AIOKafkaProducer)

    async def _consumer(self) -> AIOKafkaConsumer:
        return await self._of(AIOKafkaConsumer)

    async def close(self) -> None:
        for made in self._made.values():
            await _end(made)

    async def wait(self, events: list[str], seconds: float) -> Any:
        ends = time.monotonic() + seconds
        while not (event := self._inbox.take_event(events)):
            if (left := ends - time.monotonic()) <= 0:
                break
            try:
                await self._poll(min(left, 0.1))
            except KafkaError as error:
                return {"event": "error", "error": error}
        return {"event": event}

    async def create_topics(self, topics: dict[str, int], configs: Any = None) -> Any:
        admin = await self._admin()
        new = [NewTopic(name, count, 1, topic_configs=configs) for name, count in topics.items()]
        return _each((await admin.create_topics(new)).topic_errors)

    async def delete_topics(self, names: list[str]) -> Any:
        admin = await self._admin()
        return _each((await admin.delete_topics(names)).topic_error_codes)

    async def create_partitions(self, topics: dict[str, int]) -> Any:
        admin = await self._admin()
        new = {name: NewPartitions(count) for name, count in topics.items()}
        return _each((await admin.create_partitions(new)).topic_errors)

    async def list_topics(self) -> Any:
        admin = await self._admin()
        return {"topics": await admin.list_topics()}

    async def describe_topics(self, names: list[str], operations: bool) -> Any:
        admin = await self._admin()
        found = {row["topic"]: row for row in await admin.describe_topics(names)}

        def shown(name: str) -> Any:
            count = len(found[name]["partitions"])
            return _error(found[name]["error_code"]) or {"operations": None, "partitions": count}

        return items(names, shown)

    async def describe_cluster(self, operations: bool) -> Any:
        admin = await self._admin()
        found = await admin.describe_cluster()
        return {"operations": None, "brokers": [row["node_id"] for row in found["brokers"]]}

    async def describe_configs(self, type: str, names: list[str]) -> Any:
        if type.upper() not in ConfigResourceType.__members__:
            raise UnsupportedError
        admin = await self._admin()
        asked = [ConfigResource(ConfigResourceType[type.upper()], name) for name in names]
        responses = await admin.describe_configs(asked)
        found = {row[3]: row for response in responses for row in response.resources}

        def settings(name: str) -> Any:
            code, _, _, _, rows = found[name]
            return _error(code) or {"settings": {key: value for key, value, *_ in rows}}

        return items(names, settings)

    async def list_offsets(self, partitions: list[str]) -> Any:
        consumer = await self._consumer()
        asked = _partitions(partitions)
        found = await consumer.end_offsets(asked.values())
        return items(asked, lambda name: {"offset": found[asked[name]]})

    async def delete_records(self, topic: str, partition: int, before: int) -> None:
        admin = await self._admin()
        await admin.delete_records({TopicPartition(topic, partition): RecordsToDelete(before)})

    async def list_groups(self) -> Any:
        admin = await self._admin()
        return {"groups": [name for name, *_ in await admin.list_consumer_groups()]}

    async def describe_groups(self, names: list[str], operations: bool) -> Any:
        admin = await self._admin()
        responses = await admin.describe_consumer_groups(names)
        found = {row[1]: row for response in responses for row in response.groups}

        def shown(name: str) -> Any:
            code, _, _, _, _, members, *_ = found[name]
            return _error(code) or {"operations": None, "members": len(members)}

        return items(names, shown)

    async def group_offsets(self, group: str, partitions: list[str]) -> Any:
        admin = await self._admin()
        asked = _partitions(partitions)
        found = await admin.list_consumer_group_offsets(group, partitions=list(asked.values()))
        return items(asked, lambda name: offset_or_null(found[asked[name]].offset))

    async def produce(self, topic: str, values: list[str], partition: int | None = None) -> Any:
        producer = await self._producer()
        sent = [await producer.send(topic, text.encode(), partition=partition) for text in values]
        return {"offsets": [(await future).offset for future in sent]}

    async def produce_to_several(self, topics: list[str], value: str) -> Any:
        producer = await self._producer()
        sent = [await producer.send(topic, value.encode()) for topic in topics]
        done = await asyncio.gather(*sent, return_exceptions=True)
        return {
            "items": {
                topic: _offset_or_error(each) for topic, each in zip(topics, done, strict=True)
            }
        }

    async def begin(self) -> None:
        producer = await self._producer()  # its start initialises it
        await producer.begin_transaction()

    async def send_offsets(self, group: str, topic: str, partition: int, offset: int) -> None:
        producer = await self._producer()
        offsets = {TopicPartition(topic, partition): offset}
        await producer.send_offsets_to_transaction(offsets, group)

    async def commit(self) -> None:
        await (await self._producer()).commit_transaction()

    async def abort(self) -> None:
        await (await self._producer()).abort_transaction()

    async def consume(self, topics: list[str], count: int, seconds: float) -> Any:
        consumer = await self._consumer()
        if self._subscribed != topics:
            consumer.subscribe(topics, listener=self._inbox)
            self._subscribed = topics
        return await self._read(count, seconds)

    async def consume_assigned(self, partitions: list[str], count: int, seconds: float) -> Any:
        consumer = await self._consumer()
        if self._subscribed != partitions:
            consumer.assign(list(_partitions(partitions).values()))
            self._subscribed = partitions
        return await self._read(count, seconds)

    async def _read(self, count: int, seconds: float) -> Any:
        ends = time.monotonic() + seconds
        while len(self._inbox.values) < count and (left := ends - time.monotonic()) > 0:
            await self._poll(left)
        return self._inbox.take_values(count)

    async def _poll(self, seconds: float) -> None:
        if AIOKafkaConsumer not in self._made:
            await asyncio.sleep(seconds)
            return
        found = await self._made[AIOKafkaConsumer].getmany(timeout_ms=int(seconds * 1000))
        self._inbox.values += [row.value.decode() for rows in found.values() for row in rows]

    async def commit_offsets(self) -> None:
        await (await self._consumer()).commit()

    async def committed(self, partitions: list[str]) -> Any:
        consumer = await self._consumer()
        asked = _partitions(partitions)
        found = {name: await consumer.committed(asked[name]) for name in asked}
        return items(asked, lambda name: {"offset": found[name]})


async def _end(made: Any) -> None:
    """End a client; records that are not acknowledged within a second are lost."""
    ending = made.close() if isinstance(made, AIOKafkaAdminClient) else made.stop()
    with contextlib.suppress(TimeoutError, KafkaError):
        await asyncio.wait_for(ending, 1)


LOOP = asyncio.new_event_loop()
"""Runs in its own thread, so that group members send heartbeats between commands too."""


def _result(work: Coroutine[Any, Any, Any]) -> Any:
    """Wait for a command's result; TimeoutError after more time than any command may take."""
    return asyncio.run_coroutine_threadsafe(_in_time(work), LOOP).result()


async def _in_time(work: Coroutine[Any, Any, Any]) -> Any:
    return await asyncio.wait_for(work, 2 * SECONDS)


COMMANDS = line_loop.commands_of(Client, _result)

if __name__ == "__main__":
    threading.Thread(target=LOOP.run_forever, daemon=True).start()
    line_loop.serve("aiokafka", aiokafka.__version__, COMMANDS, error_of, CAPABILITIES)
