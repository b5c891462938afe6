"""What of an answer must be equal: all but ids, times, texts, addresses and offsets, and no order
where a client cannot rely on one."""

from typing import Any

import msgspec

from protocol.enums import ApiKey
from protocol.spec import StructSpec, load
from tests.conformance.scenario import Scenario

VOLATILE = frozenset(
    {
        "throttle_time_ms",
        "cluster_id",
        "brokers",
        "controller_id",
        "topic_id",
        "producer_id",
        "log_append_time_ms",
        "timestamp",
        "error_message",
        "member_id",
        "leader_epoch",
        "node_endpoints",
        "host",
        "port",
        "node_id",
        "usable_bytes",
        "total_bytes",
        "config_source",
        "start_timestamp_ms",
        "leader_id",
        "high_watermark",
        "last_stable_offset",
        "base_offset",
        "records",
        "offset",
        "log_start_offset",
        "low_watermark",
        "end_offset",
        "producer_epoch",
        "current_leader",
        "nodes",
        "heartbeat_interval_ms",
        "marked_offset",
        "last_known_elr",
        "eligible_leader_replicas",
        "is_cordoned",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
        "replica_directory_id",
        "unknown_tags",
    }
)
ORDERED = frozenset({ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS})
"""Results stand in the order of the request, and clients rely on it."""

OTHERS_SHOW = frozenset(
    {
        ApiKey.METADATA,
        ApiKey.LIST_GROUPS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.LIST_CONFIG_RESOURCES,
    }
)
"""Answers that list what other scenarios left behind."""

_NAMES = ("name", "group_id", "transactional_id", "resource_name")


def normalise(api: ApiKey, version: int, answer: msgspec.Struct, scenario: Scenario) -> Any:
    """Plain values of what counts in an answer."""
    spec = load(f"{api.wire_name}Response")
    plain = _plain(spec.struct, answer, version, ordered=api in ORDERED)
    if api is ApiKey.DESCRIBE_LOG_DIRS:
        for entry in plain["results"]:
            entry.pop("topics", None)
            entry.pop("log_dir", None)
    if api in OTHERS_SHOW:
        for key, entries in plain.items():
            if isinstance(entries, list) and entries and isinstance(entries[0], dict):
                plain[key] = [entry for entry in entries if _is_ours(entry, scenario.prefix)]
    return plain


def _plain(struct: StructSpec, value: msgspec.Struct, version: int, *, ordered: bool) -> Any:
    found = {}
    for field in struct.in_version(version):
        if field.attribute in VOLATILE:
            continue
        content = getattr(value, field.attribute)
        if field.tagged.has(version) and _is_default(content, field.default):
            continue
        found[field.attribute] = _content(field.struct, content, version, ordered=ordered)
    return found


def _content(struct: StructSpec | None, content: Any, version: int, *, ordered: bool) -> Any:
    if isinstance(content, list):
        rows = [_content(struct, row, version, ordered=ordered) for row in content]
        plain_rows = bool(rows) and not isinstance(rows[0], dict)
        return rows if ordered or plain_rows else sorted(rows, key=msgspec.json.encode)
    if struct is not None and content is not None:
        return _plain(struct, content, version, ordered=ordered)
    return content.hex() if isinstance(content, bytes) else content


def _is_default(content: Any, default: object) -> bool:
    if default is ...:
        return content == type(content)()
    return bool(content == default)


def _is_ours(entry: dict[str, Any], prefix: str) -> bool:
    name = next((entry[key] for key in _NAMES if key in entry), None)
    return name is None or str(name).startswith((f"{prefix}-", f"{prefix}."))
