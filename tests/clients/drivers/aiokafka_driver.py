"""Drives aiokafka."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import for_code
from aiokafka.structs import TopicPartition
from json_lines import Call, CallError, Login, serve

DEADLINE_SECONDS = 20


class Token(AbstractTokenProvider):
    """Provides the same token each time."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def token(self) -> str:
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
        context = ssl.create_default_context(cafile=login.authority)
        context.load_cert_chain(login.identity)
        found["ssl_context"] = context
    return found


@contextlib.asynccontextmanager
async def administering(servers: str, login: Login | None) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(**settings(servers, login))
    async with asyncio.timeout(DEADLINE_SECONDS):
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()


async def create_topic(servers: str, login: Login | None, topic: str) -> None:
    async with administering(servers, login) as admin:
        response = await admin.create_topics([NewTopic(topic, 1, 1)])
    for _, code, *_ in response.topic_errors:
        if code:
            raise for_code(code)


async def list_topics(servers: str, login: Login | None) -> list[str]:
    async with administering(servers, login) as admin:
        names: list[str] = await admin.list_topics()
    return names


async def produce(
    servers: str, login: Login | None, topic: str, values: list[str], idempotent: bool | None
) -> list[int]:
    more = {} if idempotent is None else {"enable_idempotence": idempotent}
    producer = AIOKafkaProducer(**settings(servers, login), **more)
    async with asyncio.timeout(DEADLINE_SECONDS), producer:
        sent = [await producer.send(topic, value.encode()) for value in values]
        return [(await future).offset for future in sent]


async def produce_transaction(
    servers: str, login: Login | None, topic: str, values: list[str], transactional_id: str
) -> None:
    producer = AIOKafkaProducer(**settings(servers, login), transactional_id=transactional_id)
    async with asyncio.timeout(DEADLINE_SECONDS), producer, producer.transaction():
        for value in values:
            await producer.send_and_wait(topic, value.encode())


async def consume(
    servers: str, login: Login | None, topic: str, group: str, count: int, seconds: float
) -> list[str]:
    consumer = AIOKafkaConsumer(
        topic,
        **settings(servers, login),
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    async with asyncio.timeout(seconds), consumer:
        values = [(await consumer.getone()).value.decode() for _ in range(count)]
        await consumer.commit()
        return values


async def offset_fetch(
    servers: str, login: Login | None, group: str, topic: str | None
) -> dict[str, int]:
    partitions = None if topic is None else [TopicPartition(topic, 0)]
    async with administering(servers, login) as admin:
        found = await admin.list_consumer_group_offsets(group, partitions=partitions)
    return {
        f"{partition.topic}-{partition.partition}": value.offset
        for partition, value in found.items()
    }


def _blocking(call: Callable[..., Coroutine[Any, Any, Any]]) -> Call:
    return lambda *args, **named: asyncio.run(call(*args, **named))


def _call_error(error: Exception) -> CallError:
    code = getattr(error, "errno", None)
    return CallError(code, type(error).__name__, str(error))


if __name__ == "__main__":
    driven = (create_topic, list_topics, produce, produce_transaction, consume, offset_fetch)
    calls = {call.__name__: _blocking(call) for call in driven}
    serve(calls, _call_error)
