"""Reduces responses to the parts that must be equal on two brokers; each exception has a reason.

Order counts only where clients rely on it. The shim's error messages differ from Kafka's, so they
only compare as null, empty or a text. Generated values are replaced by names (`symbols.py`).
"""

import re
from typing import Any, Final

import msgspec

from kafka_shim.conformance.vectors.permission_fields import APIS_THAT_LIST_EVERYTHING
from kafka_shim.protocol.codec.message_spec import FieldSpec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.wire_json import PlainForm
from tests.recordings.conformance.scenario import Scenario
from tests.recordings.conformance.symbols import NO_ID, SOME, Symbols, moment
from tests.recordings.records.batches import summary

LEFT_OUT: Final = {
    "throttle_time_ms": "depends on how much was asked a moment ago",
    "unknown_tags": "unknown to the decoder",
    "finalized_features_epoch": "counts records of the metadata log",
    "broker_epoch": "counts records of the metadata log",
    "telemetry_max_bytes": "a setting of a plugin",
    "node_endpoints": "addresses; they come with NOT_LEADER, which a single broker never returns",
}
"""Fields that differ on any two brokers, with the reason."""

MASKED: Final = {
    "cluster_id": "each cluster has its own",
    "host": "an address",
    "port": "an address",
    "client_host": "an address",
    "hmac": "made with the secret of the cluster",
    "log_dir": "a folder of the machine",
    "usable_bytes": "the disk of the machine",
    "total_bytes": "the disk of the machine",
    "replica_directory_id": "made when a folder was formatted",
    "listeners": "addresses",
}
"""Fields that compare as null, empty, -1 or some value, with the reason."""

MOMENTS: Final = frozenset(
    {
        "timestamp",
        "log_append_time_ms",
        "issue_timestamp_ms",
        "issue_timestamp",
        "expiry_timestamp_ms",
        "expiry_timestamp",
        "max_timestamp_ms",
        "max_timestamp",
        "start_timestamp_ms",
        "transaction_start_time_ms",
        "last_timestamp",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
    }
)
TEXTS: Final = frozenset(
    {
        *("error_message", "acknowledge_error_message", "batch_index_error_message"),
        *("status_detail", "documentation"),
    }
)
SETS: Final = frozenset({"subscribed_topic_names"})
"""Lists in no defined order."""

NAMED: Final = {
    "member_id": "member_id",
    "leader": "member_id",  # of JoinGroup
    "producer_id": "producer_id",
    "ongoing_txn_producer_id": "producer_id",
    "session_id": "session_id",
    "token_id": "token_id",
}
"""Fields with generated values, and the kind of each value."""

ORDERED: Final = {ApiKey.CREATE_ACLS: "results", ApiKey.DELETE_ACLS: "filter_results"}
"""Lists in the order of the request, on which clients rely. The order within a result is undefined.
"""

_NAMES = ("name", "group_id", "transactional_id", "resource_name", "topic", "topic_name", "user")
_OF_LOGS: Final = frozenset(
    {
        *("records", "high_watermark", "last_stable_offset", "log_start_offset", "low_watermark"),
        *("offset", "old_style_offsets", "end_offset", "base_offset", "partition_size"),
        *("timestamp", "leader_epoch", "active_producers"),
    }
)
_OF_MACHINE = re.compile(
    r"listeners|log\.dirs?|zookeeper\.connect|quorum\.(voters|bootstrap\.servers)"
)
"""Settings whose values contain addresses or folders."""


class Comparing(PlainForm):
    """Turns the responses of one play into plain, comparable values."""

    def __init__(self, scenario: Scenario, symbols: Symbols, now_ms: int) -> None:
        self._scenario = scenario
        self._symbols = symbols
        self._now_ms = now_ms
        self._ordered_field: str | None = None
        self._api = ApiKey.API_VERSIONS

    def plain(self, api: ApiKey, version: int, response: msgspec.Struct) -> Any:
        self._api = api
        self._ordered_field = ORDERED.get(api)
        plain = self.message(response, version)
        _mask_internal(plain)
        if api in APIS_THAT_LIST_EVERYTHING:
            return self._ours(plain)
        if api is ApiKey.DESCRIBE_DELEGATION_TOKEN:
            plain["tokens"] = [token for token in plain["tokens"] if token["token_id"] != SOME]
        if api is ApiKey.DESCRIBE_CONFIGS:
            _mask_machine(plain)
        if api is ApiKey.DESCRIBE_QUORUM:
            _mask_offsets(plain)
        return plain

    def has(self, field: FieldSpec, content: Any, version: int) -> bool:
        return field.attribute not in LEFT_OUT and super().has(field, content, version)

    def name(self, field: FieldSpec) -> str:
        return field.attribute

    def rows(self, field: FieldSpec, rows: list[Any]) -> list[Any]:
        if field.struct is None:
            return sorted(rows) if field.attribute in SETS else rows
        is_ordered = field.attribute == self._ordered_field
        return rows if is_ordered else sorted(rows, key=msgspec.json.encode)

    def leaf(self, field: FieldSpec, value: Any) -> Any:
        name = field.attribute
        if name in TEXTS:
            return value and "<text>"
        if name in MASKED and not self._is_acl_host(name) and value not in ("", b"", -1, 0, NO_ID):
            return SOME
        if name in MOMENTS:
            return moment(value, self._now_ms)
        if name in NAMED:
            return self._symbols.of(NAMED[name], value)
        if field.element_kind == "uuid":
            return self._symbols.topic_id(value)
        return value.hex() if isinstance(value, bytes) else value

    def _is_acl_host(self, name: str) -> bool:
        """Return whether a host is one of an ACL; only rules compare these."""
        is_host = name == "host" and self._api in (ApiKey.DESCRIBE_ACLS, ApiKey.DELETE_ACLS)
        return is_host and bool(self._scenario.rule)

    def records(self, content: bytes | None) -> list[str] | None:
        """Return a line for each batch; braces in summaries contain times and producer ids."""
        if content is None:
            return None
        lines = summary(content) or []
        return [re.sub(r"(producer=)?\{(-?\d+)\}", self._braced, line) for line in lines]

    def _ours(self, value: Any) -> Any:
        """Return the response without entries of other scenarios."""
        if isinstance(value, dict):
            return {key: self._ours(content) for key, content in value.items()}
        if isinstance(value, list):
            return [self._ours(entry) for entry in value if self._is_ours(entry)]
        return value

    def _is_ours(self, entry: Any) -> bool:
        if not isinstance(entry, dict):
            return True
        if "entity" in entry:  # a client quota
            names = [component["entity_name"] for component in entry["entity"]]
        else:
            names = [next((entry[key] for key in _NAMES if key in entry), None)]
        prefix = self._scenario.prefix
        return all(
            name is None
            or self._symbols.was_sent(str(name))
            or str(name).startswith((f"{prefix}-", f"{prefix}."))
            for name in names
        )

    def _braced(self, match: re.Match[str]) -> str:
        number = int(match[2])
        if match[1]:
            return f"{match[1]}{self._symbols.of('producer_id', number)}"
        return str(moment(number, self._now_ms))


def _mask_internal(value: Any, *, is_internal: bool = False) -> None:
    """Mask offsets, times and records of internal topics, which depend on the implementation."""
    if isinstance(value, list):
        for element in value:
            _mask_internal(element, is_internal=is_internal)
    elif isinstance(value, dict):
        name = value.get("name") or value.get("topic") or ""
        is_internal = is_internal or str(name).startswith("__")
        for key, content in value.items():
            if is_internal and key in _OF_LOGS:
                value[key] = SOME
            elif isinstance(content, list | dict):
                _mask_internal(content, is_internal=is_internal)


def _mask_machine(plain: dict[str, Any]) -> None:
    for result in plain["results"]:
        for entry in result["configs"]:
            if _OF_MACHINE.search(entry["name"]):
                for row in (entry, *entry.get("synonyms", ())):
                    row["value"] = row["value"] and SOME


def _mask_offsets(plain: dict[str, Any]) -> None:
    """Mask offsets of the metadata log, which grows without requests."""
    for topic in plain["topics"]:
        for partition in topic["partitions"]:
            for row in (partition, *partition["current_voters"], *partition["observers"]):
                for name in ("high_watermark", "log_end_offset", "leader_epoch"):
                    row.update({name: SOME} if row.get(name, -1) > 0 else {})
