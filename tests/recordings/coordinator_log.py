"""Reads the records that a coordinator writes to its internal topic."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.records.batches import iterate_batches, marker_commits_transaction
from tests.recordings.peers.peer import ask_root
from tests.recordings.play import Play

RANDOM = {
    "ConsumerGroupMetadataValue": ("metadata_hash",),
    "ShareGroupMetadataValue": ("metadata_hash",),
    "StreamsGroupMetadataValue": ("metadata_hash",),
    "ConsumerGroupRegularExpressionValue": ("version",),
}
"""Fields that depend on the ids of topics, or on the offset in the metadata log."""
BY_NAME = 12
"""The last version of Fetch that names topics."""
DAY_MS = 86_400_000


class CoordinatorLog:
    """The records about the keys of one scenario that were written since the last look."""

    def __init__(
        self,
        play: Play,
        topic: str,
        messages: Callable[[int], tuple[str, str] | None],
        *,
        is_alone: bool = False,
    ) -> None:
        """Follow a topic; `messages` returns the names of key and value for a key's version, or
        None if the record does not count.

        `is_alone`: the broker plays no other scenario, so offsets and markers count.
        """
        self._play = play
        self._topic = topic
        self._messages = messages
        self._is_alone = is_alone
        self.partitions = self._count_partitions()
        self._next = dict.fromkeys(range(self.partitions), 0)

    def _count_partitions(self) -> int:
        request = MetadataRequest([MetadataRequestTopic(name=self._topic)], False)
        for _ in range(100):
            found = ask_root(self._play.peer, ApiKey.METADATA, request).topics[0].partitions
            if found and all(partition.leader_id >= 0 for partition in found):
                return len(found)
            self._play.peer.pause(50)
        raise AssertionError(f"{self._topic} is not there")

    def new(self) -> list[dict[str, Any]]:
        """Return the scenario's new records, partition by partition."""
        wanted = [
            FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
            for index, offset in self._next.items()
        ]
        topics = [FetchTopic(topic=self._topic, partitions=wanted)]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 24, topics=topics)
        version = min(BY_NAME, self._play.versions(ApiKey.FETCH)[-1])
        response = self._play.ask(ApiKey.FETCH, version, request)
        found: list[dict[str, Any]] = []
        for row in response.responses[0].partitions:
            assert row.error_code == 0, row
            found += self._rows(row.partition_index, row.records or b"")
        return found

    def starts(self) -> list[int]:
        """Return the first offsets of partitions that have lost records."""
        rows = [ListOffsetsPartition(index, timestamp=-2) for index in self._next]
        topics = [ListOffsetsTopic(self._topic, rows)]
        request = ListOffsetsRequest(replica_id=-1, topics=topics)
        response = self._play.ask(ApiKey.LIST_OFFSETS, 1, request)
        found = (row.offset for topic in response.topics for row in topic.partitions)
        return sorted(offset for offset in found if offset)

    def _rows(self, index: int, records: bytes) -> Iterator[dict[str, Any]]:
        for batch in iterate_batches(records, allows_truncated_end=True):
            self._next[index] = batch.last_offset + 1
            assert batch.is_intact()
            for record in batch.records():
                row = self._row(record.key or b"", record.value)
                if batch.is_control and self._is_alone:
                    row = {"marker": "commit" if marker_commits_transaction(record) else "abort"}
                if row is None:
                    continue
                if self._is_alone:
                    row["at"] = [index, record.offset]
                yield row | {
                    "batch": [batch.attributes, batch.record_count, batch.producer_id],
                    "leader_epoch": batch.partition_leader_epoch,
                    "headers": list(record.headers),
                    "time": self._time("timestamp", record.timestamp),
                }

    def _row(self, key: bytes, value: bytes | None) -> dict[str, Any] | None:
        """Return a record's key and value; None if it is another scenario's."""
        names = self._messages(int.from_bytes(key[:2], "big"))
        if names is None:
            return None
        read_key = codecs.read_message(names[0], 0, key, 2)
        if self._play.name not in str(read_key):
            return None
        row: dict[str, Any] = {"key": self._plain(read_key, 0), "value": None}
        if value is not None:
            version = int.from_bytes(value[:2], "big")
            read = codecs.read_message(names[1], version, value, 2)
            assert codecs.write_message(read, version) == value[2:]  # no further bytes
            row["value"] = {"version": version} | self._plain(read, version)
        return row

    def _plain(self, message: msgspec.Struct, version: int) -> dict[str, Any]:
        name = type(message).__name__
        found = self._play.struct(load_message_spec(name).top_level_struct, message, version)
        if found.get("expire_timestamp", -1) >= 0:
            found["expire_timestamp"] -= found["commit_timestamp"]
        if found.get("write_timestamp", -1) == found.get("create_timestamp"):
            found["write_timestamp"] = "created"
        for key in RANDOM.get(name, ()):
            found[key] = "some" if found.get(key) else found.get(key)
        return {"is": name} | {key: self._time(key, value) for key, value in found.items()}

    def _time(self, name: str, value: Any) -> Any:
        is_now = "timestamp" in name and isinstance(value, int)
        return "now" if is_now and abs(value - self._play.peer.now_ms()) < DAY_MS else value
