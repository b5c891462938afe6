"""The play that a scenario gets: methods that send requests, and the recorded responses.

Responses are recorded as plain values, without the parts that differ in each run.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from tests.recordings.peers.peer import Peer, ask, versions
from tests.recordings.peers.topics import NO_SETTINGS, create
from tests.recordings.records.batches import summary

UNKNOWN_ID = b"\x77" * 16
BRACED = re.compile(r"\{(-?\d+)\}")
"""Times and producer ids in a summary of records."""


class Play:
    """A scenario on a broker. Its names begin with its own name, which is removed in recordings."""

    ignored: ClassVar[frozenset[str]] = frozenset({"throttle_time_ms", "unknown_tags"})
    unordered: ClassVar[frozenset[str]] = frozenset({"partitions"})
    """Fields with lists of plain values in no defined order."""
    patience_ms: ClassVar[int] = 4_000

    def __init__(self, name: str, peer: Peer) -> None:
        self.name = name
        self.peer = peer
        self.steps: list[tuple[str, Any]] = []
        self.topic_ids: dict[str, bytes] = {}

    # --- names and versions

    def text(self, suffix: str = "") -> str:
        """Return a name of this scenario."""
        return self.name + suffix

    def make_topics(
        self, names: Sequence[str], partitions: int, settings: Mapping[str, str] = NO_SETTINGS
    ) -> None:
        self.topic_ids |= create(self.peer, names, partitions, settings)

    def unknown(self, suffix: str = "unknown") -> str:
        """Return the name of a missing topic."""
        name = f"{self.name}-{suffix}"
        self.topic_ids[name] = UNKNOWN_ID
        return name

    def versions(self, api: ApiKey) -> range:
        return versions(self.peer.release, api)

    def has(self, api: ApiKey, version: int = 0) -> bool:
        found = self.versions(api)
        return bool(found) and found[-1] >= version

    # --- requests

    def ask(self, api: ApiKey, version: int, request: Any, connection: str = "a") -> Any:
        """Send a request and record nothing; fields that its version lacks get their defaults."""
        asked = message(api, version, request)
        return ask(self.peer, connection, api, version, asked, self.patience_ms)

    def call(
        self, label: str, api: ApiKey, version: int, request: Any, connection: str = "a"
    ) -> Any:
        """Send a request and record the response."""
        response = self.ask(api, version, request, connection)
        self.keep(label, api, version, response)
        return response

    def send(self, api: ApiKey, version: int, request: Any, connection: str) -> None:
        self.peer.send(connection, api, version, message(api, version, request))

    # --- recording of responses

    def keep(self, label: str, api: ApiKey, version: int, response: Any) -> None:
        plain = response
        if not isinstance(response, str):
            plain = self.struct(
                load_message_spec(f"{api.wire_name}Response").top_level_struct, response, version
            )
        self.steps.append((label, plain))

    def struct(self, spec: StructSpec, value: msgspec.Struct, version: int) -> dict[str, Any]:
        return {
            field.attribute: self._value(
                field.attribute, field.struct, getattr(value, field.attribute), version
            )
            for field in spec.fields
            if field.versions.has(version) and field.attribute not in self.ignored
        }

    def _value(self, name: str, spec: StructSpec | None, content: Any, version: int) -> Any:
        if isinstance(content, list):
            rows = [self._value(name, spec, row, version) for row in content]
            if spec is not None:
                return self._sorted(rows)
            return sorted(rows) if name in self.unordered else rows
        if spec is not None and content is not None:
            return self.struct(spec, content, version)
        if name == "records":
            return self._records(content)
        if isinstance(content, bytes):
            found = (key for key, topic_id in self.topic_ids.items() if topic_id == content)
            return self._own(next(found, content.hex()))
        return self._text(name, content) if isinstance(content, str) else content

    def _sorted(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=json.dumps)

    def _records(self, content: bytes | None) -> list[str] | None:
        return [BRACED.sub("{}", line) for line in summary(content) or ()]

    def _text(self, name: str, content: str) -> str:
        return self._own(content)

    def plain(self, text: str) -> str:
        """Return a text in its recorded form."""
        return self._own(text)

    def _own(self, text: str) -> str:
        """Return a text without the scenario's name."""
        return text.replace(self.name, "")


def message(api: ApiKey, version: int, request: Any) -> Any:
    """Return a request, also from plain values, without fields that its version lacks."""
    if isinstance(request, dict):
        name = f"{api.wire_name}Request"
        request = msgspec.convert(request, message_classes_by_name(name)[name])
    return reset_unsupported_fields(request, version)
