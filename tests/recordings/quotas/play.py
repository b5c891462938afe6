"""Requests of quota scenarios, which record error codes and throttle times."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from tests.recordings import play
from tests.recordings.peers.peer import ask_root
from tests.recordings.records.batches import batch

QUOTA_MS = 300


class Play(play.Play):
    """A play with quotas, which `end` removes."""

    def __init__(self, name: str, peer: Any) -> None:
        super().__init__(name, peer)
        self._limited: list[tuple[Mapping[str, str | None], Mapping[str, float | None]]] = []

    def ask(self, api: ApiKey, version: int, request: Any, connection: str = "a") -> Any:
        """Send a request; a connection with `/` in its name gets a unique one for the scenario."""
        if "/" in connection:
            user, _, rest = connection.partition("/")
            connection = f"{user}/{self.name}-{rest}"
        return super().ask(api, version, request, connection)

    def topic(self) -> str:
        self.make_topics([self.name], 1, {"retention.ms": "-1"})
        return self.name

    def limit(self, entity: Mapping[str, str | None], limits: Mapping[str, float | None]) -> None:
        """Set or remove a quota of an entity."""
        response = self._alter(entity, limits)
        assert response.entries[0].error_code == 0, response
        self._limited.append((entity, limits))

    def accepts(
        self, label: str, entity: Mapping[str, str | None], limits: Mapping[str, float | None]
    ) -> bool:
        """Set a quota and record the error; return whether there is none."""
        code = self._alter(entity, limits).entries[0].error_code
        self.steps.append((label, [code, None]))
        self._limited.append((entity, limits))
        return code == 0

    def end(self) -> None:
        for entity, limits in self._limited:
            self._alter(entity, dict.fromkeys(limits))

    def _alter(self, entity: Mapping[str, str | None], limits: Mapping[str, float | None]) -> Any:
        rows = [RequestEntityData(kind, name) for kind, name in entity.items()]
        ops = [OpData(key, value or 0.0, value is None) for key, value in limits.items()]
        response = ask_root(
            self.peer,
            ApiKey.ALTER_CLIENT_QUOTAS,
            AlterClientQuotasRequest([RequestEntryData(rows, ops)]),
        )
        self.peer.pause(QUOTA_MS)
        return response

    def look(self, label: str, client: str) -> None:
        """Send a request that needs no topic or group."""
        version = self.versions(ApiKey.METADATA)[-1]
        response = self.ask(ApiKey.METADATA, version, {"topics": []}, client)
        self._keep(label, response, 0)

    def produce(
        self,
        label: str,
        client: str,
        topic: str,
        size: int,
        *,
        acks: int = 1,
    ) -> None:
        rows = [{"index": 0, "records": batch([b"x" * size], times=[self.peer.now_ms()])}]
        topics = [{"name": topic, "topic_id": self.topic_ids[topic], "partition_data": rows}]
        request = {"acks": acks, "timeout_ms": 5_000, "topic_data": topics}
        version = self.versions(ApiKey.PRODUCE)[-1]
        response = self.ask(ApiKey.PRODUCE, version, request, client)
        code = None if acks == 0 else response.responses[0].partition_responses[0].error_code
        self._keep(label, response, code)

    def fetch(self, label: str, client: str, topic: str, offset: int = 0) -> None:
        partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
        row = {"topic": topic, "topic_id": self.topic_ids[topic], "partitions": [partition]}
        request = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "topics": [row]}
        version = self.versions(ApiKey.FETCH)[-1]
        response = self.ask(ApiKey.FETCH, version, request, client)
        if isinstance(response, str):
            self._keep(label, response, response)
            return
        found = [row for topic in response.responses for row in topic.partitions]
        sizes = [len(row.records or b"") for row in found]
        self._keep(label, response, [response.error_code, sizes])

    def create(
        self,
        label: str,
        client: str,
        version: int,
        name: str,
        *partitions: int,
        validate_only: bool = False,
    ) -> None:
        topics = [
            {"name": f"{self.name}-{version}-{name}{at}", "num_partitions": count}
            | {"replication_factor": 1}
            for at, count in enumerate(partitions)
        ]
        request = {"topics": topics, "timeout_ms": 5_000, "validate_only": validate_only}
        response = self.ask(ApiKey.CREATE_TOPICS, version, request, client)
        self._keep(label, response, sorted(topic.error_code for topic in response.topics))
        self.peer.pause(QUOTA_MS)

    def add_partitions(self, label: str, client: str, version: int, name: str, count: int) -> None:
        topic = {"name": f"{self.name}-{version + 3}-{name}0", "count": count, "assignments": None}
        request = {"topics": [topic], "timeout_ms": 5_000}
        response = self.ask(ApiKey.CREATE_PARTITIONS, version, request, client)
        self._keep(label, response, [result.error_code for result in response.results])
        self.peer.pause(QUOTA_MS)

    def delete(self, label: str, client: str, version: int, name: str) -> None:
        request = {"topic_names": [f"{self.name}-{version + 1}-{name}0"], "timeout_ms": 5_000}
        response = self.ask(ApiKey.DELETE_TOPICS, version, request, client)
        self._keep(label, response, [result.error_code for result in response.responses])
        self.peer.pause(QUOTA_MS)

    def _keep(self, label: str, response: Any, code: Any) -> None:
        told = None if isinstance(response, str) else response.throttle_time_ms
        self.steps.append((label, [code, told]))
