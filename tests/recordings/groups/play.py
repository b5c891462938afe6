"""What a group scenario is given: verbs to ask a broker with, and the list of its answers.

Answers are kept as plain values without what differs from run to run: member ids are `<a#0>`,
`<b#1>` in the order of their first appearance, topic ids the topics' names, error texts `text`.
"""

import json
import re
from typing import Any

import msgspec

from kafka_shim.protocol.catalogue import classes
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.spec import StructSpec, load
from tests.recordings.peers.peer import Peer, ask, versions
from tests.recordings.peers.topics import create, delete
from tests.recordings.records.batches import summary

IGNORED = frozenset({"throttle_time_ms", "unknown_tags", "host", "port", "node_id"})
MEMBER_ID = re.compile(r"(.*?)-?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHORT_ID = re.compile(r"[A-Za-z0-9_-]{22}")
MADE_UP = re.compile(r"\{-?\d+\}")
"""Times and producer ids in a summary of records."""
PATIENCE_MS = 12_000
SOON_MS = 400
KNOWN_MS = 800
GONE_MS = 2_000
"""After which coordinators know of a topic that Metadata shows, or shows no more."""


class Play:
    """One scenario on one broker. Its names begin with the scenario's, which answers leave out."""

    def __init__(self, name: str, peer: Peer) -> None:
        self.name = name
        self.peer = peer
        self.steps: list[tuple[str, Any]] = []
        self.topic_ids: dict[str, bytes] = {}
        self._members: dict[str, str] = {}
        self._expected: dict[str, tuple[ApiKey, int]] = {}

    # --- names and versions

    def text(self, suffix: str = "") -> str:
        return self.name + suffix

    def topic(self, *suffixes: str, partitions: int = 2) -> list[str]:
        names = [self.text(f"-{suffix}") for suffix in suffixes]
        self.topic_ids |= create(self.peer, names, partitions)
        self.peer.pause(KNOWN_MS)
        return names

    def delete_topic(self, topic: str) -> None:
        delete(self.peer, [topic])
        self.peer.pause(GONE_MS)

    def unknown(self, suffix: str = "unknown") -> str:
        name = self.text(f"-{suffix}")
        self.topic_ids[name] = b"\x77" * 16
        return name

    def versions(self, api: ApiKey) -> range:
        return versions(self.peer.release, api)

    def has(self, api: ApiKey, version: int = 0) -> bool:
        versions = self.versions(api)
        return bool(versions) and versions[-1] >= version

    def version(self, api: ApiKey, wanted: int) -> int:
        """The wanted one, or the nearest that the broker serves."""
        versions = self.versions(api)
        return max(versions[0], min(wanted, versions[-1]))

    # --- asking

    def ask(self, api: ApiKey, version: int, request: dict[str, Any], connection: str = "a") -> Any:
        """Ask without a trace."""
        version = self.version(api, version)
        message = self._message(api, version, request)
        return ask(self.peer, connection, api, version, message, PATIENCE_MS)

    def call(
        self,
        label: str,
        api: ApiKey,
        version: int,
        request: dict[str, Any],
        connection: str = "a",
    ) -> Any:
        """Ask and keep the answer."""
        if not self.has(api):
            return None
        answer = self.ask(api, version, request, connection)
        self.keep(label, api, self.version(api, version), answer)
        return answer

    def begin(self, api: ApiKey, version: int, request: dict[str, Any], connection: str) -> None:
        """Send what may have to wait; `outcome` has the answer."""
        version = self.version(api, version)
        self.peer.send(connection, api, version, self._message(api, version, request))
        self._expected[connection] = api, version

    def outcome(self, label: str, connection: str, patience_ms: int = PATIENCE_MS) -> Any:
        api, version = self._expected[connection]
        answer = self.peer.receive(connection, patience_ms)
        self.keep(label, api, version, answer)
        return answer

    def waits(self, label: str, connection: str) -> None:
        self.outcome(label, connection, SOON_MS)

    def _message(self, api: ApiKey, version: int, request: dict[str, Any]) -> Any:
        name = f"{api.wire_name}Request"
        known = _in_version(load(name).struct, request, version)
        return msgspec.convert(known, classes(name)[name])

    # --- what is kept of an answer

    def keep(self, label: str, api: ApiKey, version: int, answer: Any) -> None:
        plain = answer
        if not isinstance(answer, str):
            plain = self._struct(load(f"{api.wire_name}Response").struct, answer, version)
        self.steps.append((label, plain))

    def _struct(self, spec: StructSpec, value: msgspec.Struct, version: int) -> dict[str, Any]:
        return {
            field.attribute: self._value(
                field.attribute, field.struct, getattr(value, field.attribute), version
            )
            for field in spec.fields
            if field.versions.has(version) and field.attribute not in IGNORED
        }

    def _value(self, name: str, spec: StructSpec | None, content: Any, version: int) -> Any:
        if isinstance(content, list):
            rows = [self._value(name, spec, row, version) for row in content]
            if spec is None:
                return sorted(rows) if name in ("partitions", "subscribed_topic_names") else rows
            return sorted(rows, key=json.dumps)
        if spec is not None and content is not None:
            return self._struct(spec, content, version)
        if name == "records":
            return [MADE_UP.sub("{}", line) for line in summary(content) or ()]
        if isinstance(content, bytes):
            found = next(
                (key for key, topic_id in self.topic_ids.items() if topic_id == content), None
            )
            return content.hex() if found is None else found.replace(self.name, "")
        if isinstance(content, str):
            return self._text(name, content)
        return content

    def _text(self, name: str, content: str) -> str:
        if name.endswith(("error_message", "status_detail")):
            return content if content in ("", "NONE") else "text"
        match = MEMBER_ID.fullmatch(content)
        short = name in ("member_id", "leader") and SHORT_ID.fullmatch(content)
        if match or short:
            prefix = match[1] if match else "short"
            return self._members.setdefault(content, f"<{prefix}#{len(self._members)}>")
        return content.replace(self.name, "")


def _in_version(spec: StructSpec, request: dict[str, Any], version: int) -> dict[str, Any]:
    """What a version of a request can carry."""
    kept = {}
    for field in spec.fields:
        if not field.versions.has(version) or field.attribute not in request:
            continue
        value = request[field.attribute]
        if field.struct is not None and isinstance(value, list):
            value = [_in_version(field.struct, row, version) for row in value]
        elif field.struct is not None and value is not None:
            value = _in_version(field.struct, value, version)
        kept[field.attribute] = value
    return kept
