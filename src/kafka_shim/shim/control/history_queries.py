"""Past requests and decisions in the control API, and the ACLs that decided them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import parse_operation, parse_resource_type
from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.control.control_error import (
    ControlError,
    query_flag,
    query_number,
    query_principal,
)
from kafka_shim.shim.faults.spec import FaultError, parse_api_name
from kafka_shim.shim.observing.request_history import History, HistoryEntry
from kafka_shim.text.whole_number import parse_whole_number

_ROWS_MAX = 1000


class HistoryQueries:
    """The history of a broker, by a query's filters."""

    def __init__(self, history: History) -> None:
        self._history = history

    def list_requests(self, query: Mapping[str, str]) -> dict[str, Any]:
        rows, last = self._page_of_rows(query, lambda entry: [entry.request_row()])
        return {"requests": rows, "last": last}

    def request_detail(self, number: str) -> dict[str, Any]:
        """Return a request in full, if it is still kept."""
        requested_number = parse_whole_number(number)
        for entry in self._history:
            if entry.number == requested_number:
                return entry.decoded_row()
        raise ControlError(404, f"request {number} is unknown, or no longer kept")

    def list_decisions(self, query: Mapping[str, str]) -> dict[str, Any]:
        expected_values: dict[str, object] = _access_filter(query)
        if "resource_name" in query:
            expected_values["resource_name"] = query["resource_name"]
        for name in ("allowed", "logged"):
            if name in query:
                expected_values[name] = query_flag(query, name)

        left_out = 0

        def matching_decisions(entry: HistoryEntry) -> list[dict[str, Any]]:
            nonlocal left_out
            left_out += entry.left_out_decisions
            return [
                row
                for row in entry.decision_rows()
                if all(row[name] == value for name, value in expected_values.items())
            ]

        rows, last = self._page_of_rows(query, matching_decisions)
        return {"decisions": rows, "last": last, "left_out": left_out}

    def _page_of_rows(
        self, query: Mapping[str, str], rows_of: Callable[[HistoryEntry], list[dict[str, Any]]]
    ) -> tuple[list[dict[str, Any]], int]:
        """Return rows of whole requests, about as many as the limit, and the number to continue
        with.
        """
        limit = query_number(query, "limit", _ROWS_MAX)
        rows: list[dict[str, Any]] = []
        before = query_number(query, "after", 0)
        for entry in self._matching_entries(query) if limit else ():
            if len(rows) >= limit:
                return rows, before
            rows += rows_of(entry)
            before = entry.number
        return rows, self._history.last_number

    def _matching_entries(self, query: Mapping[str, str]) -> Iterator[HistoryEntry]:
        """Return the requests that match the query, oldest first."""
        api = _parse_api_filter(query.get("api"))
        principal, client_id = query_principal(query), query.get("client_id")
        after = query_number(query, "after", 0)
        for entry in self._history:
            if (
                entry.number > after
                and api in (None, entry.api)
                and principal in (None, entry.principal)
                and client_id in (None, entry.client_id)
            ):
                yield entry


def _parse_api_filter(name: str | None) -> ApiKey | None:
    """Return the API of a name; an unknown one would match no request, and a test pass."""
    try:
        return parse_api_name(name)
    except FaultError as error:
        raise ControlError(400, f"api: {error}") from error


def _access_filter(query: Mapping[str, str]) -> dict[str, object]:
    """Return the requested operation and resource type, by their names in rows."""
    filter_values: dict[str, object] = {}
    if "operation" in query:
        filter_values["operation"] = parse_operation(query["operation"]).name
    if "resource_type" in query:
        filter_values["resource_type"] = parse_resource_type(query["resource_type"]).name
    return filter_values


def acl_use(history: History) -> dict[str, Any]:
    """Return the ACLs that decided about kept requests, how often and when for the last time.

    An ACL that is missing decided about none of them, since `since_us`.
    """
    uses: dict[Acl, tuple[int, int]] = {}
    since_us = None
    for entry in history:
        since_us = since_us or entry.time_us
        for record in entry.records:
            acl = record.decision.acl
            if acl is not None:
                uses[acl] = uses.get(acl, (0, 0))[0] + 1, entry.time_us
    rows = [
        {"acl": acl, "decisions": count, "last_used_us": last_us}
        for acl, (count, last_us) in zip(acls_to_objects(uses), uses.values(), strict=True)
    ]
    return {"acls": rows, "since_us": since_us, "last": history.last_number}
