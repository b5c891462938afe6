"""What aiokafka's admin client does for the driver, and how the driver reports its errors."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code
from line_loop import UnsupportedError, items


def error_of(error: Exception) -> dict[str, Any]:
    is_own = isinstance(error, KafkaError)
    return {
        "class": type(error).__name__,
        "code": getattr(error, "errno", None) if is_own else None,
        "text": str(error),
        "retriable": error.retriable if is_own else None,
    }


def _raise(code: int) -> None:
    if code:
        raise for_code(code)


def partition_of(text: str) -> TopicPartition:
    topic, _, number = text.rpartition("-")
    return TopicPartition(topic, int(number))


def _each(rows: Iterable[Any]) -> dict[str, Any]:
    """What came of each row of an answer: a name, a code, and what this version has besides."""
    codes = {name: code for name, code, *_ in rows}
    return items(codes, lambda name: _raise(codes[name]), error_of)


class AdminCommands(ABC):
    """The commands that a class of clients with an admin client has."""

    @abstractmethod
    async def _admin(self) -> AIOKafkaAdminClient:
        """Return the admin client, made when it is needed first."""

    async def create_topics(self, topics: dict[str, int], configs: Any = None) -> Any:
        new = [
            NewTopic(name, count, 1, topic_configs=configs or {}) for name, count in topics.items()
        ]
        return _each((await (await self._admin()).create_topics(new)).topic_errors)

    async def delete_topics(self, names: list[str]) -> Any:
        return _each((await (await self._admin()).delete_topics(names)).topic_error_codes)

    async def create_partitions(self, topics: dict[str, int]) -> Any:
        new = {name: NewPartitions(count) for name, count in topics.items()}
        return _each((await (await self._admin()).create_partitions(new)).topic_errors)

    async def list_topics(self) -> Any:
        return {"topics": await (await self._admin()).list_topics()}

    async def describe_topics(self, names: list[str], operations: bool) -> Any:
        if operations:
            raise UnsupportedError
        rows = await (await self._admin()).describe_topics(names)
        found = {row["topic"]: row for row in rows}

        def shown(name: str) -> Any:
            _raise(found[name]["error_code"])
            return {"operations": None, "partitions": len(found[name]["partitions"])}

        return items(names, shown, error_of)

    async def describe_cluster(self, operations: bool) -> Any:
        if operations:
            raise UnsupportedError
        found = await (await self._admin()).describe_cluster()
        return {"operations": None, "brokers": [row["node_id"] for row in found["brokers"]]}

    async def describe_configs(self, type: str, names: list[str]) -> Any:
        if type.upper() not in ConfigResourceType.__members__:
            raise UnsupportedError
        asked = [ConfigResource(ConfigResourceType[type.upper()], name) for name in names]
        answers = await (await self._admin()).describe_configs(asked)
        found = {
            name: (code, rows) for told in answers for code, _, _, name, rows in told.resources
        }

        def settings(name: str) -> Any:
            code, rows = found[name]
            _raise(code)
            return {"settings": {setting: value for setting, value, *_ in rows}}

        return items(names, settings, error_of)

    async def delete_records(self, topic: str, partition: int, before: int) -> None:
        asked = {TopicPartition(topic, partition): RecordsToDelete(before)}
        await (await self._admin()).delete_records(asked)

    async def list_groups(self) -> Any:
        found = await (await self._admin()).list_consumer_groups()
        return {"groups": [name for name, *_ in found]}

    async def describe_groups(self, names: list[str], operations: bool) -> Any:
        if operations:
            raise UnsupportedError  # it hands out a number of bits
        answers = await (await self._admin()).describe_consumer_groups(names)
        found = {row[1]: row for told in answers for row in told.groups}

        def shown(name: str) -> Any:
            code, _, _, _, _, members, *_ = found[name]
            _raise(code)
            return {"operations": None, "members": len(members)}

        return items(names, shown, error_of)

    async def group_offsets(self, group: str, partitions: list[str]) -> Any:
        asked = [partition_of(text) for text in partitions]
        found = await (await self._admin()).list_consumer_group_offsets(group, partitions=asked)

        def offset(name: str) -> Any:
            committed = found[partition_of(name)].offset
            return {"offset": committed if committed >= 0 else None}

        return items(partitions, offset, error_of)
