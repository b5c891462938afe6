"""Exports a trace as kroxylicious' protocol log: one entry per line, with its session."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.segments import Damage
from kafka_shim.traces.importers.request_log_export import exported_request_log_rows

_WITHHELD = frozenset(
    {
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    }
)
"""What carries credentials: kroxylicious leaves its payload out."""


def exported_protocol_log_entries(
    trace: Path,
    progress: Callable[[int], None] = lambda _: None,
    damage: list[Damage] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield each request that has a response, followed by the response."""
    for row in exported_request_log_rows(trace, progress, damage):
        yield _log_entry_withholding_credentials(row, "REQUEST", row["request"])
        if row.get("response") is not None:
            yield _log_entry_withholding_credentials(row, "RESPONSE", row["response"])


def _log_entry_withholding_credentials(
    row: dict[str, Any], kind: str, payload: Any
) -> dict[str, Any]:
    head = row["requestHeader"]
    header = {
        "type": kind,
        "apiKey": head["requestApiKeyName"],
        "apiVersion": head["requestApiVersion"],
        "correlationId": head["correlationId"],
    }
    if kind == "REQUEST":
        header["clientId"] = head["clientId"]
    has_withheld_payload = head["requestApiKey"] in _WITHHELD
    entry: dict[str, Any] = {"header": header, "payload": None if has_withheld_payload else payload}
    if has_withheld_payload:
        entry["payloadWithheld"] = "credential-bearing API"
    return entry | {"sessionId": row["connection"]}
