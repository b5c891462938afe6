"""Requests of all group scenarios. Member ids in responses are replaced by `<a#0>`, `<b#1>`."""

import re
from typing import Any

from kafka_shim.protocol.codec.message_spec import StructSpec
from kafka_shim.protocol.enums import ApiKey
from tests.recordings import play
from tests.recordings.peers.topics import delete

MEMBER_ID = re.compile(r"(.*?)-?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHORT_ID = re.compile(r"[A-Za-z0-9_-]{22}")
PATIENCE_MS = 12_000
SOON_MS = 400
KNOWN_MS = 800
GONE_MS = 2_000
"""Time after which coordinators have noticed a topic that Metadata shows as deleted."""


class Play(play.Play):
    """A play with versions that the broker supports, and with several connections at once."""

    ignored = play.Play.ignored | {"host", "port", "node_id"}
    unordered = play.Play.unordered | {"subscribed_topic_names"}
    patience_ms = PATIENCE_MS

    def __init__(self, name: str, peer: Any) -> None:
        super().__init__(name, peer)
        self._members: dict[str, str] = {}
        self._expected: dict[str, tuple[ApiKey, int]] = {}

    def topic(self, *suffixes: str, partitions: int = 2) -> list[str]:
        names = [self.text(f"-{suffix}") for suffix in suffixes]
        self.make_topics(names, partitions)
        self.peer.pause(KNOWN_MS)
        return names

    def delete_topic(self, topic: str) -> None:
        delete(self.peer, [topic])
        self.peer.pause(GONE_MS)

    def version(self, api: ApiKey, wanted: int) -> int:
        """Return the version, or the nearest one that the broker supports."""
        versions = self.versions(api)
        return max(versions[0], min(wanted, versions[-1]))

    def ask(self, api: ApiKey, version: int, request: Any, connection: str = "a") -> Any:
        return super().ask(api, self.version(api, version), request, connection)

    def call(
        self, label: str, api: ApiKey, version: int, request: Any, connection: str = "a"
    ) -> Any:
        """Send a request and record the response, if the release has the API."""
        if not self.has(api):
            return None
        return super().call(label, api, self.version(api, version), request, connection)

    def begin(self, api: ApiKey, version: int, request: Any, connection: str) -> None:
        """Send a request without waiting; `outcome` receives the response."""
        version = self.version(api, version)
        self.send(api, version, request, connection)
        self._expected[connection] = api, version

    def outcome(self, label: str, connection: str, patience_ms: int = PATIENCE_MS) -> Any:
        api, version = self._expected[connection]
        response = self.peer.receive(connection, patience_ms)
        self.keep(label, api, version, response)
        return response

    def waits(self, label: str, connection: str) -> None:
        self.outcome(label, connection, SOON_MS)

    def _value(self, name: str, spec: StructSpec | None, content: Any, version: int) -> Any:
        if name == "status" and spec is not None and content:  # in any order
            return [self.struct(spec, row, version) for row in content]
        return super()._value(name, spec, content, version)

    def _text(self, name: str, content: str) -> str:
        if name.endswith(("error_message", "status_detail")):
            return content if content in ("", "NONE") else "text"
        match = MEMBER_ID.fullmatch(content)
        short = name in ("member_id", "leader") and SHORT_ID.fullmatch(content)
        if match or short:
            prefix = match[1] if match else "short"
            return self._members.setdefault(content, f"<{prefix}#{len(self._members)}>")
        return self._own(content)
