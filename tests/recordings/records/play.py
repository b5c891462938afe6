"""Requests of scenarios about records and transactions.

In recordings, current times are `now`, producer ids are `pid1`, `pid2` in the order of their first
appearance, and error messages are `text`.
"""

import re
from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.codec.message_spec import StructSpec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.shim.state.settings.config_definitions import definitions_of_release
from tests.recordings import play
from tests.recordings.codes import has_code
from tests.recordings.peers.peer import UNREADABLE, WAITS, Peer
from tests.recordings.play import BRACED, UNKNOWN_ID
from tests.recordings.records.batches import summary

BUSY = frozenset({14, 15, 16, 51})
DAY_MS = 86_400_000
KEPT = {"retention.ms": "-1", "segment.ms": str(2**63 - 1)}
"""Topic settings that keep records of any timestamp, in one segment."""


class Play(play.Play):
    """A play whose topics are named `name-x` on the broker, and `x` in recordings."""

    ignored = play.Play.ignored | {"node_endpoints"}
    unordered = play.Play.unordered | {"partition_ids"}

    def __init__(self, name: str, peer: Peer) -> None:
        super().__init__(name, peer)
        self._producers: dict[int, str] = {}
        self._sessions: dict[int, str] = {}

    # --- preparation, which is not recorded

    def topic(self, name: str = "a", partitions: int = 1, **configs: str) -> str:
        full = f"{self.name}-{name}"
        settings = KEPT | {key.replace("_", "."): value for key, value in configs.items()}
        self.make_topics([full], partitions, settings)
        return full

    def now(self) -> int:
        return self.peer.now_ms()

    def topic_has(self, setting: str) -> bool:
        """Return whether topics of this release have a setting."""
        return (
            setting in definitions_of_release(parse_minor_release(self.peer.release)).topic_configs
        )

    def broker_has(self, setting: str) -> bool:
        """Return whether brokers of this release have a setting."""
        return setting in definitions_of_release(parse_minor_release(self.peer.release)).broker

    def text(self, suffix: str = "") -> str:
        """Return a transactional id or group of this scenario."""
        return f"{self.name}-{suffix}"

    def newest(self, api: ApiKey, at_most: int = 99) -> int:
        return min(at_most, self.versions(api)[-1])

    # --- requests

    def ask(self, api: ApiKey, version: int, request: Any, connection: str = "a") -> Any:
        """Send a request, record nothing; return UNREADABLE without a response in time."""
        response = super().ask(api, version, request, connection)
        return UNREADABLE if response == WAITS else response

    def call_when_idle(self, label: str, api: ApiKey, version: int, request: Any) -> Any:
        """Send a request until no coordinator is busy, and record the response."""
        response = self.settled(api, version, request)
        self.keep(label, api, version, response)
        return response

    def settled(self, api: ApiKey, version: int, request: Any) -> Any:
        """Repeat a request while a coordinator is busy, for up to three seconds; record nothing."""
        response = self.ask(api, version, request)
        for _ in range(60):
            if not has_code(response, BUSY):
                break
            self.peer.pause(50)
            response = self.ask(api, version, request)
        return response

    def produce(
        self,
        label: str,
        topic: str,
        records: bytes | None,
        *,
        version: int | None = None,
        index: int = 0,
        acks: int = -1,
        transactional_id: str | None = None,
    ) -> Any:
        version = self.newest(ApiKey.PRODUCE) if version is None else version
        request = self.produce_request([(topic, [(index, records)])], acks, transactional_id)
        return self.call(label, ApiKey.PRODUCE, version, request)

    def produce_request(
        self,
        topics: Sequence[tuple[str, Sequence[tuple[int, bytes | None]]]],
        acks: int = -1,
        transactional_id: str | None = None,
    ) -> ProduceRequest:
        return ProduceRequest(
            transactional_id=transactional_id,
            acks=acks,
            timeout_ms=5000,
            topic_data=[
                TopicProduceData(
                    name=name,
                    topic_id=self._id_of(name),
                    partition_data=[
                        PartitionProduceData(index=index, records=records)
                        for index, records in partitions
                    ],
                )
                for name, partitions in topics
            ],
        )

    def fetch(
        self,
        label: str,
        topic: str,
        offset: int = 0,
        *,
        version: int | None = None,
        index: int = 0,
        bytes_max: int = 1 << 20,
        partition_bytes_max: int = 1 << 20,
        isolation: int = 0,
        epoch: int = -1,
    ) -> Any:
        version = self.newest(ApiKey.FETCH) if version is None else version
        partition = FetchPartition(
            partition=index,
            current_leader_epoch=epoch,
            fetch_offset=offset,
            partition_max_bytes=partition_bytes_max,
        )
        request = self.fetch_request([(topic, [partition])], isolation)
        request.max_bytes = bytes_max
        return self.call(label, ApiKey.FETCH, version, request)

    def read_on(self, label: str, topic: str, offset: int = 0, *, isolation: int = 0) -> None:
        """Fetch as a consumer does, from `offset` to the end; record all records together.

        A real broker's responses end with a segment, which would show in single responses.
        """
        version = self.newest(ApiKey.FETCH)
        rows: list[str] = []
        aborted: set[tuple[str | int, int]] = set()
        while True:
            wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = self.fetch_request([(topic, [wanted])], isolation)
            found = self.ask(ApiKey.FETCH, version, request).responses[0].partitions[0]
            if not found.records:
                break
            rows += self._records(found.records) or ()
            aborted |= {
                (self._producer(transaction.producer_id), transaction.first_offset)
                for transaction in found.aborted_transactions or ()
            }
            *_, last = iterate_batches(found.records)
            offset = last.last_offset + 1
        kept = {"records": rows, "aborted": sorted(map(list, aborted)), "next_offset": offset}
        self.steps.append((label, kept))

    def fetch_request(
        self, topics: list[tuple[str, list[FetchPartition]]], isolation: int = 0
    ) -> FetchRequest:
        return FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            isolation_level=isolation,
            topics=[
                FetchTopic(
                    topic=name,
                    topic_id=self._id_of(name),
                    partitions=partitions,
                )
                for name, partitions in topics
            ],
        )

    def _id_of(self, topic: str) -> bytes:
        return self.topic_ids.get(topic, UNKNOWN_ID)

    def producer(self, transactional_id: str | None = None) -> tuple[int, int]:
        """Return a new producer id and epoch; record nothing."""
        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=60_000
        )
        version = self.newest(ApiKey.INIT_PRODUCER_ID, 4)
        response = self.settled(ApiKey.INIT_PRODUCER_ID, version, request)
        assert response.error_code == 0, response
        self._producer(response.producer_id)
        return response.producer_id, response.producer_epoch

    # --- recording of responses

    def keep(self, label: str, api: ApiKey, version: int, response: Any) -> None:
        if api is ApiKey.LIST_TRANSACTIONS and not isinstance(response, str):
            response.transaction_states = [  # only those of this scenario
                state
                for state in response.transaction_states
                if state.transactional_id.startswith(self.name)
            ]
        super().keep(label, api, version, response)

    def _value(self, name: str, spec: StructSpec | None, content: Any, version: int) -> Any:
        if name == "session_id" and content > 0:
            return self._sessions.setdefault(content, f"session{len(self._sessions) + 1}")
        if name.endswith("producer_id"):
            return self._producer(content)
        return self._number(super()._value(name, spec, content, version))

    def _sorted(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(_merged(rows), key=_place)

    def _records(self, content: bytes | None) -> list[str] | None:
        lines = summary(content)
        return lines and [BRACED.sub(self._braced, line) for line in lines]

    def _text(self, name: str, content: str) -> str:
        return "text" if name.endswith("error_message") and content else self._own(content)

    def _own(self, text: str) -> str:
        return text.replace(f"{self.name}-", "")

    def _producer(self, producer_id: int) -> int | str:
        """Return the name of a broker's producer id; ids of 400,000 and more are scenarios' own."""
        if producer_id in self._producers:
            return self._producers[producer_id]
        if producer_id < 0 or producer_id >= 400_000:
            return producer_id
        return self._producers.setdefault(producer_id, f"pid{len(self._producers) + 1}")

    def _number(self, number: Any) -> Any:
        is_now = type(number) is int and abs(number - self.now()) < DAY_MS
        return "now" if is_now else number

    def _braced(self, match: re.Match[str]) -> str:
        """Replace a time or a producer id in a summary."""
        number = int(match[1])
        return str(self._producers.get(number, self._number(number)))


def _merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge adjacent rows of the same topic, which a response may have in several parts."""
    found: dict[Any, dict[str, Any]] = {}
    for at, row in enumerate(rows):
        is_topic = set(row) in ({"topic", "partitions"}, {"topic_id", "partitions"})
        key = row.get("topic") or row.get("topic_id") if is_topic else at
        known = found.setdefault(key, row)
        if known is not row:
            known["partitions"] = sorted(known["partitions"] + row["partitions"], key=_place)
    return list(found.values())


def _place(row: dict[str, Any]) -> tuple[str, int]:
    """Return a sort key: only rows of topics and partitions are sorted, others keep their order."""
    names = ("topic", "name", "topic_id", "transactional_id", "producer_id")
    topic = next((row[name] for name in names if row.get(name)), "")
    return str(topic), int(row.get("partition_index", row.get("index", row.get("partition", 0))))
