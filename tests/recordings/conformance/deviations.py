"""Intended differences between a real broker and the shim; see docs/explanation/differences.md."""

from collections.abc import Collection
from typing import Any, Final

import msgspec

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from tests.recordings.conformance.scenario import Step

WAITS: Final = {"waits": True}
CLOSES: Final = {"closed": True}
NEVER_ANSWERED: Final = frozenset(
    key.wire_name
    for key in (
        ApiKey.PRODUCE,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
    )
)
"""APIs with requests to which real brokers never respond."""

LEFT_OUT: Final = {
    ApiKey.ELECT_LEADERS.wire_name: "topic_partitions",
    ApiKey.OFFSET_FETCH.wire_name: "groups",
    ApiKey.ADD_PARTITIONS_TO_TXN.wire_name: "transactions",
}
"""By API, the list that a request must have, or real brokers may never respond."""

BROKER_LOGGER: Final = ConfigResourceType.BROKER_LOGGER
LOGGER_APIS: Final = {"DescribeConfigs": "results", "IncrementalAlterConfigs": "responses"}
UNKNOWN_SERVER_ERROR, INVALID_CONFIG = -1, 40
ROOT_LOGGERS: Final = {"root", "org.apache.kafka.server.logger.LoggingController"}
"""Loggers of a broker without Log4j."""


NOT_OURS: Final = {
    ApiKey.DESCRIBE_LOG_DIRS.wire_name: {"usable_bytes", "total_bytes"},
    ApiKey.DESCRIBE_QUORUM.wire_name: {"listeners"},
}
"""By API, fields about parts that the shim lacks: a disk, a controller listener."""

SHARE_FETCH: Final = ApiKey.SHARE_FETCH.wire_name

SHARED: Final = frozenset(
    key.wire_name for key in (ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_DESCRIBE)
)
"""APIs with assignments of share groups, whose partitions depend on a hash."""

UNORDERED: Final = {"subscribed_topic_names"}
"""Lists of names in the order of a hash."""

ONCE_KEPT: Final = {"batch_index_error_message"}
"""Texts that older recordings contain literally; only their presence is compared."""


LATER_SETTING: Final = "alter.config.policy.kraft.compatibility.enable"
"""A setting of 3.9.2, which 3.9.1 does not list."""


def is_meant(step: Step, wanted: Any, got: Any) -> bool:
    if wanted == WAITS and got != WAITS and _is_never_answered(step):
        return True
    if wanted == CLOSES and has_null_records(step):
        return True
    if step.api == ApiKey.DESCRIBE_CONFIGS.wire_name and LATER_SETTING not in str(wanted):
        got = _without_later_setting(got)
    if step.api == SHARE_FETCH and not step.request.get("max_wait_ms"):
        wanted, got = _without_nothing(wanted), _without_nothing(got)
    if step.api in SHARED:
        wanted, got = _counted(wanted), _counted(got)
    left_out = NOT_OURS.get(step.api, set())
    if _comparable(wanted, left_out) == _comparable(got, left_out):
        return True
    return step.api in LOGGER_APIS and _with_loggers(step.api, wanted, got) == got


def has_null_records(step: Step) -> bool:
    """Return whether 2.8 answers this Produce twice, or closes its connection instead."""
    return step.api == ApiKey.PRODUCE.wire_name and any(
        partition.get("records") is None
        for topic in step.request.get("topic_data", ())
        for partition in topic.get("partition_data", ())
    )


def _without_later_setting(value: Any) -> Any:
    if isinstance(value, list):
        kept = [row for row in value if not _is_later_setting(row)]
        return [_without_later_setting(row) for row in kept]
    if isinstance(value, dict):
        return {name: _without_later_setting(content) for name, content in value.items()}
    return value


def _is_later_setting(row: Any) -> bool:
    return isinstance(row, dict) and row.get("name") == LATER_SETTING


def _is_never_answered(step: Step) -> bool:
    if step.api == ApiKey.JOIN_GROUP.wire_name:
        names = [protocol["name"] for protocol in step.request.get("protocols", ())]
        return all(names.count(name) > 1 for name in names)
    left_out = LEFT_OUT.get(step.api)
    return step.api in NEVER_ANSWERED or (left_out is not None and not step.request.get(left_out))


def _without_nothing(response: Any) -> Any:
    """Remove empty rows of a ShareFetch without wait: they depend on the time of loading."""
    topics = []
    for topic in response.get("responses", ()):
        told = ("error_code", "acknowledge_error_code", "records")
        rows = [row for row in topic["partitions"] if any(row[name] for name in told)]
        topics += [topic | {"partitions": rows}] if rows else []
    return response | {"responses": topics}


def _counted(value: Any) -> Any:
    """Replace lists of partitions by their lengths."""
    if isinstance(value, list):
        return [_counted(element) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        name: len(content) if name == "partitions" else _counted(content)
        for name, content in value.items()
    }


def _comparable(value: Any, left_out: Collection[str]) -> Any:
    """Return a response without some fields, with unordered names sorted and texts masked."""
    if isinstance(value, list):
        return [_comparable(element, left_out) for element in value]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    for name, content in value.items():
        if name in UNORDERED and content is not None:
            found[name] = sorted(content)
        elif name in ONCE_KEPT:
            found[name] = content and "<text>"
        elif name not in left_out:
            found[name] = _comparable(content, left_out)
    return found


def _with_loggers(api: str, wanted: Any, got: Any) -> Any:
    """Return the wanted response, with the shim's loggers where the real broker had none.

    Brokers were recorded without Log4j. Without it, 2.4 to 2.8 fail for any logger, and 4.0 and
    later only have the root logger. tests/oracle/loggers.py records brokers with Log4j.
    """
    field = LOGGER_APIS[api]
    if field not in wanted or field not in got:
        return wanted
    failed = {
        row["resource_name"]
        for row in wanted[field]
        if row["resource_type"] == BROKER_LOGGER and _knows_none(row)
    }
    rows = [row for row in wanted[field] if not _is_logger(row, failed)]
    rows += [row for row in got[field] if _is_logger(row, failed)]
    return wanted | {field: sorted(rows, key=msgspec.json.encode)}


def _knows_none(row: Any) -> bool:
    is_unknown = row["error_code"] in (UNKNOWN_SERVER_ERROR, INVALID_CONFIG)
    names = {config["name"] for config in row.get("configs", ())}
    return is_unknown or ("configs" in row and names <= ROOT_LOGGERS)


def _is_logger(row: Any, names: Collection[str]) -> bool:
    return row["resource_type"] == BROKER_LOGGER and row["resource_name"] in names
