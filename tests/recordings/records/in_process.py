"""The shim as a broker that scenarios are played on."""

from collections.abc import Callable
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.dispatch import Pending
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.wait import NoAnswer
from tests.recordings.records.peers import CLOSED, SILENT, versions
from tests.shim.play import Stage


class InProcess:
    """The shim; its time is moved by hand."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.stage = Stage(release)
        for key_type in (KeyType.GROUP, KeyType.TRANSACTION):
            self.stage.cluster.coordinators.topic(key_type)
        self.stage.cluster.transactions.new_producer_id()  # 0 is for who came before

    def versions(self, api: ApiKey) -> range:
        return versions(self.release, api)

    def create(self, topic: str, partitions: int, configs: dict[str, str]) -> bytes:
        found: bytes = self.stage.topic(topic, partitions, configs).topic_id
        return found

    def ask(self, api: ApiKey, version: int, request: Any) -> Any:
        try:
            answer = self.stage.ask(api, version, request)
            if isinstance(answer, Pending):
                self.stage.clock.advance(30_000)
                answer = self.stage.outcome(api, version, answer)
        except CloseConnection:
            return CLOSED
        return answer

    def ask_silently(self, api: ApiKey, version: int, request: Any) -> str:
        answer = self.ask(api, version, request)
        return {NoAnswer.SILENT: SILENT, NoAnswer.CLOSE: CLOSED}[answer]

    def pause(self, milliseconds: int) -> None:
        self.stage.clock.advance(milliseconds)

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        self.stage.compact(topic)
        roll()
