"""The rows of a trace in the format of the inspector."""

from collections.abc import Iterable
from typing import Any

from kafka_shim.protocol.code_names import error_name_or_code
from kafka_shim.shim.traffic.traces.trace_rows import DERIVED_RULE_PREFIX

REQUESTS_MAX = 20_000
"""More requests than these are not shown: the page keeps all of its rows."""

_HEAD = ("time_us", "principal", "host")
_Key = tuple[int, int, int]


class InspectorRows:
    """The first requests of a trace with responses and decisions; `left_out` counts the others.

    A decision without a request, from an authorizer's log, is a row of its own.
    """

    def __init__(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        self.name = name
        self.requests: list[dict[str, Any]] = []
        self.decisions: list[dict[str, Any]] = []
        self.last = self.left_out = 0
        self._open_requests: dict[_Key, dict[str, Any]] = {}
        for row in rows:
            self._add_row(row)
        self.decisions.sort(key=lambda decision: int(decision["number"]))

    def _add_row(self, row: dict[str, Any]) -> None:
        key = (row["node_id"], row["connection"], row["sequence"])
        if row["entry"] == "request":
            self._add_request(key, row)
        elif row["entry"] == "response" and key in self._open_requests:
            codes = row.get("error_codes", [])
            self._open_requests[key] |= {
                "errors": codes,
                "error_names": [error_name_or_code(code) for code in codes],
            }
        elif row["entry"] == "access":
            self._add_decision(self._open_requests.get(key), row)

    def _add_request(self, key: _Key, row: dict[str, Any]) -> None:
        if self.last >= REQUESTS_MAX:
            self.left_out += 1
            return
        names = ("correlation_id", "connection", "node_id", "request")
        request_row = self._next_numbered_head(row) | {name: row.get(name) for name in names}
        request_row |= {"errors": None, "error_names": [], "faults": [], "decisions_left_out": 0}
        self._open_requests[key] = request_row
        self.requests.append(request_row)

    def _add_decision(self, request: dict[str, Any] | None, row: dict[str, Any]) -> None:
        if request is None and self.last >= REQUESTS_MAX:
            self.left_out += 1
            return
        names = ("operation", "resource_type", "resource_name", "allowed", "rule", "count")
        head = (
            self._next_numbered_head(row)
            if request is None
            else {name: request[name] for name in _REQUEST_FIELDS}
        )
        is_derived = row["rule"].startswith(DERIVED_RULE_PREFIX)
        decision_fields = {name: row[name] for name in names} | {"would_allow": None}
        self.decisions.append(
            head | decision_fields | {"because": "derived" if is_derived else "recorded"}
        )

    def _next_numbered_head(self, row: dict[str, Any]) -> dict[str, Any]:
        self.last += 1
        numbered = {"number": self.last, "api": row["api"] or "unknown", "version": row["version"]}
        return numbered | {name: row[name] for name in _HEAD} | {"client_id": row.get("client_id")}


_REQUEST_FIELDS = ("number", "api", "version", *_HEAD, "client_id")
