"""What a scenario is given: verbs to ask a broker with, and the list of its answers.

Answers are kept as plain values without what differs from run to run: times of now are `now`,
producer ids `pid1`, `pid2` in the order of their first appearance, error texts `text`.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from kafka_shim.protocol.api_versions import parse_release
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafka_shim.protocol.messages.init_producer_id_request import InitProducerIdRequest
from kafka_shim.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kafka_shim.protocol.records import batches
from kafka_shim.protocol.spec import StructSpec, load
from kafka_shim.shim.state.config_definitions import definitions
from tests.recordings.peers.peer import UNREADABLE, WAITS, Peer, ask, versions
from tests.recordings.peers.topics import create
from tests.recordings.records.batches import summary

CONNECTION = "answers"
IGNORED = frozenset({"throttle_time_ms", "unknown_tags", "node_endpoints"})
BUSY = frozenset({14, 15, 16, 51})
DAY_MS = 86_400_000
KEPT = {"retention.ms": "-1", "segment.ms": str(2**63 - 1)}
"""Topics of scenarios keep their records, however old those say they are, in one segment."""


class Play:
    """One scenario on one broker. Its topics are called `name-x`; in answers they are `x`."""

    def __init__(self, name: str, peer: Peer) -> None:
        self.name = name
        self.peer = peer
        self.steps: list[tuple[str, Any]] = []
        self.ids: dict[str, bytes] = {}
        self._producers: dict[int, str] = {}
        self._sessions: dict[int, str] = {}

    # --- setting up, without a trace

    def topic(self, name: str = "a", partitions: int = 1, **configs: str) -> str:
        full = f"{self.name}-{name}"
        settings = KEPT | {key.replace("_", "."): value for key, value in configs.items()}
        self.ids |= create(self.peer, [full], partitions, settings)
        return full

    def unknown(self, name: str = "unknown") -> str:
        full = f"{self.name}-{name}"
        self.ids[full] = b"\x77" * 16
        return full

    def now(self) -> int:
        return self.peer.now_ms()

    def topic_has(self, setting: str) -> bool:
        """Whether topics of this release have a setting."""
        return setting in definitions(parse_release(self.peer.release)).topic

    def text(self, name: str) -> str:
        """A transactional id or group of this scenario."""
        return f"{self.name}-{name}"

    def versions(self, api: ApiKey) -> range:
        return versions(self.peer.release, api)

    def newest(self, api: ApiKey, at_most: int = 99) -> int:
        return min(at_most, self.versions(api)[-1])

    def has(self, api: ApiKey) -> bool:
        return bool(self.versions(api))

    # --- asking, on record

    def ask(self, label: str, api: ApiKey, version: int, request: Any) -> Any:
        """Ask and keep the answer; the request loses what its version cannot say."""
        _fit(load(f"{api.wire_name}Request").struct, request, version)
        answer = self.asked(api, version, request)
        self.steps.append((label, self._plain(api, version, answer)))
        return answer

    def ask_when_idle(self, label: str, api: ApiKey, version: int, request: Any) -> Any:
        """Ask, and keep the first answer that does not say that a coordinator is busy."""
        _fit(load(f"{api.wire_name}Request").struct, request, version)
        answer = self.settled(api, version, request)
        self.steps.append((label, self._plain(api, version, answer)))
        return answer

    def asked(self, api: ApiKey, version: int, request: Any) -> Any:
        """Ask without a trace; a broker that does not answer in time fails without a word."""
        answer = ask(self.peer, CONNECTION, api, version, request)
        return UNREADABLE if answer == WAITS else answer

    def settled(self, api: ApiKey, version: int, request: Any) -> Any:
        """Ask without a trace, until no coordinator says that it is busy, or for three seconds."""
        answer = self.asked(api, version, request)
        for _ in range(60):
            if not BUSY & set(_codes(answer)):
                break
            self.peer.pause(50)
            answer = self.asked(api, version, request)
        return answer

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
        return self.ask(label, ApiKey.PRODUCE, version, request)

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
                    topic_id=self.ids.get(name, b"\x77" * 16),
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
        return self.ask(label, ApiKey.FETCH, version, request)

    def read_on(self, label: str, topic: str, offset: int = 0, *, isolation: int = 0) -> None:
        """Fetch as a consumer does, from `offset` to the end; kept is what it has got in all.

        A real broker's answers end where a file of its log does, wherever that is.
        """
        version = self.newest(ApiKey.FETCH)
        rows: list[str] = []
        aborted: set[tuple[str | int, int]] = set()
        while True:
            wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = self.fetch_request([(topic, [wanted])], isolation)
            _fit(load("FetchRequest").struct, request, version)
            found = self.asked(ApiKey.FETCH, version, request).responses[0].partitions[0]
            if not found.records:
                break
            rows += self._value("records", None, found.records, version)
            aborted |= {
                (self._producer(transaction.producer_id), transaction.first_offset)
                for transaction in found.aborted_transactions or ()
            }
            *_, last = batches(found.records)
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
                    topic=name, topic_id=self.ids.get(name, b"\x77" * 16), partitions=partitions
                )
                for name, partitions in topics
            ],
        )

    def producer(self, transactional_id: str | None = None) -> tuple[int, int]:
        """A producer id and epoch, without a trace."""
        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=60_000
        )
        version = self.newest(ApiKey.INIT_PRODUCER_ID, 4)
        answer = self.settled(ApiKey.INIT_PRODUCER_ID, version, request)
        assert answer.error_code == 0, answer
        self._producer(answer.producer_id)
        return answer.producer_id, answer.producer_epoch

    # --- what is kept of an answer

    def _plain(self, api: ApiKey, version: int, answer: Any) -> Any:
        if isinstance(answer, str):
            return answer
        if api is ApiKey.LIST_TRANSACTIONS:  # others' are not this scenario's business
            answer.transaction_states = [
                state
                for state in answer.transaction_states
                if state.transactional_id.startswith(self.name)
            ]
        return self._struct(load(f"{api.wire_name}Response").struct, answer, version)

    def _struct(self, spec: StructSpec, value: msgspec.Struct, version: int) -> dict[str, Any]:
        found = {}
        for field in spec.fields:
            if field.attribute in IGNORED or not field.versions.has(version):
                continue
            content = getattr(value, field.attribute)
            found[field.attribute] = self._value(field.attribute, field.struct, content, version)
        return found

    def _value(self, name: str, spec: StructSpec | None, content: Any, version: int) -> Any:
        if isinstance(content, list):
            rows = [self._value(name, spec, row, version) for row in content]
            if spec is None:
                return sorted(rows) if name == "partitions" else rows
            return sorted(_merged(rows), key=_place)
        if spec is not None and content is not None:
            return self._struct(spec, content, version)
        if name == "records":
            lines = summary(content)
            return lines and [re.sub(r"\{(-?\d+)\}", self._braced, line) for line in lines]
        if isinstance(content, bytes):
            found = next((key for key, value in self.ids.items() if value == content), None)
            return content.hex() if found is None else found.removeprefix(f"{self.name}-")
        if isinstance(content, str):
            shown = "text" if name.endswith("error_message") and content else content
            return shown.replace(f"{self.name}-", "")
        if name == "session_id" and content > 0:
            return self._sessions.setdefault(content, f"session{len(self._sessions) + 1}")
        if name.endswith("producer_id"):
            return self._producer(content)
        return self._number(content)

    def _producer(self, producer_id: int) -> int | str:
        """Ids that a broker gave out are a thousand and more on real ones, ours too."""
        if producer_id in self._producers:
            return self._producers[producer_id]
        if producer_id < 0 or producer_id >= 400_000:
            return producer_id
        return self._producers.setdefault(producer_id, f"pid{len(self._producers) + 1}")

    def _number(self, number: Any) -> Any:
        is_now = type(number) is int and abs(number - self.now()) < DAY_MS
        return "now" if is_now else number

    def _braced(self, match: re.Match[str]) -> str:
        """A time or a producer id in a summary."""
        number = int(match[1])
        return str(self._producers.get(number, self._number(number)))


def _fit(spec: StructSpec, message: msgspec.Struct, version: int) -> None:
    """Reset the fields that a version does not have."""
    for field in spec.fields:
        content = getattr(message, field.attribute)
        if not field.versions.has(version):
            setattr(message, field.attribute, getattr(type(message)(), field.attribute))
        elif field.struct is not None:
            for row in content if isinstance(content, list) else [content]:
                _fit(field.struct, row, version)


def _merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of fetched topics, those of one topic together: only their order parted them."""
    found: dict[Any, dict[str, Any]] = {}
    for at, row in enumerate(rows):
        is_topic = set(row) in ({"topic", "partitions"}, {"topic_id", "partitions"})
        key = row.get("topic") or row.get("topic_id") if is_topic else at
        known = found.setdefault(key, row)
        if known is not row:
            known["partitions"] = sorted(known["partitions"] + row["partitions"], key=_place)
    return list(found.values())


def _place(row: dict[str, Any]) -> tuple[str, int]:
    """The order of answers by topic and partition means nothing; other lists stay as they are."""
    names = ("topic", "name", "topic_id", "transactional_id", "producer_id")
    topic = next((row[name] for name in names if row.get(name)), "")
    return str(topic), int(row.get("partition_index", row.get("index", row.get("partition", 0))))


def _codes(value: Any) -> list[int]:
    """Every error code in an answer."""
    if isinstance(value, list):
        return [code for row in value for code in _codes(row)]
    if not isinstance(value, msgspec.Struct):
        return []
    found: list[int] = []
    for name in value.__struct_fields__:
        content = getattr(value, name)
        found += [content] if name.endswith("error_code") else _codes(content)
    return found
