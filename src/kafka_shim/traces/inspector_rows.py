"""The rows of a trace in the format of the inspector."""

from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, Action, Actor, DecisionReason
from kafka_shim.authorizer.remedy import (
    UNKNOWN_AFTER_REMOVAL,
    CheckedAction,
    Remedy,
    RequiredAccess,
    side_effects_of_steps,
    steps_to_allow,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats.trace_rule import parse_acl_rule, parse_reason_rule
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.protocol.code_names import error_name
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.shim.observing.request_history import RESPONSE_BYTES_MAX
from kafka_shim.shim.observing.request_remedy import remedy_json
from kafka_shim.traces.trace_rows import DERIVED_RULE_PREFIX

REQUESTS_MAX = 20_000
"""More requests than these are not shown: the page keeps all of its rows."""

_HEAD = ("time_us", "principal", "host")
_DENIALS_MAX = 20
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
        self._details: dict[int, dict[str, Any]] = {}
        self._acls: set[Acl] = set()
        for row in rows:
            self._add_row(row)
        self.decisions.sort(key=lambda decision: int(decision["number"]))
        self._add_remedies()

    def _add_row(self, row: dict[str, Any]) -> None:
        key = (row["node_id"], row["connection"], row["sequence"])
        if row["entry"] == "request":
            self._add_limited_request(key, row)
        elif row["entry"] == "response" and key in self._open_requests:
            self._add_response(self._open_requests[key], row)
        elif row["entry"] == "access":
            self._add_decision(self._open_requests.get(key), row)

    def _add_limited_request(self, key: _Key, row: dict[str, Any]) -> None:
        if self.last >= REQUESTS_MAX:
            self.left_out += 1
            return
        self._open_requests[key] = self._add_request(row)

    def add_unanswered_request(self, row: dict[str, Any], error: str, reason: Any) -> None:
        """Add a request that is not in the trace, with the name of an error, and the reason in
        place of a response.
        """
        request = self._add_request(row)
        request |= {"errors": [-1], "error_names": [error]}
        nothing = {"request_hex": "", "response_hex": "", "response_bytes": 0}
        self._details[request["number"]] |= nothing | {"response": reason}

    def _add_request(self, row: dict[str, Any]) -> dict[str, Any]:
        """Add a request with the next number; return what the list of requests has of it."""
        request = self._number_row(row)
        for name in "correlation_id", "connection", "node_id", "request":
            request[name] = row.get(name)
        request |= {"errors": None, "error_names": [], "faults": [], "decisions_left_out": 0}
        request["latency_us"] = None
        self.requests.append(request)
        self._details[self.last] = {
            "number": self.last,
            "request": row.get("request"),
            "request_hex": row["frame"].hex() if "frame" in row else None,
            "response": None,
            "response_hex": None,
            "response_bytes": None,
        }
        return request

    def _add_response(self, request: dict[str, Any], row: dict[str, Any]) -> None:
        """Add the errors, the time and the content of a response to its request."""
        codes, frame = row.get("error_codes", []), row["frame"]
        request |= {
            "errors": codes,
            "error_names": [error_name(code) for code in codes],
            "latency_us": row["time_us"] - request["time_us"],
        }
        detail = self._details[request["number"]]
        detail["response_bytes"] = len(frame)
        if len(frame) <= RESPONSE_BYTES_MAX:
            detail |= {"response": row.get("response"), "response_hex": frame.hex()}

    def request_detail(self, number: int) -> dict[str, Any] | None:
        """Return a request and its response, decoded and as bytes; None if there is none."""
        return self._details.get(number)

    def _add_decision(self, request: dict[str, Any] | None, row: dict[str, Any]) -> None:
        if request is None and self.last >= REQUESTS_MAX:
            self.left_out += 1
            return
        names = ("operation", "resource_type", "resource_name", "allowed", "rule", "count")
        head = (
            self._number_row(row)
            if request is None
            else {name: request[name] for name in _REQUEST_FIELDS}
        )
        self.decisions.append(
            head
            | {name: row[name] for name in names}
            | {"would_allow": None, "logged": True}
            | self._reason_fields(row["rule"])
        )

    def _reason_fields(self, rule: str) -> dict[str, str]:
        """Return the reason of a decision in the words of the live page."""
        acl, reason = parse_acl_rule(rule), parse_reason_rule(rule)
        if acl is not None:
            self._acls.add(acl)
            return {"rule": acl_line(acl), "because": DecisionReason.ACL.value}
        if reason is not None:
            return {"rule": reason.value, "because": reason.value}
        is_derived = rule.startswith(DERIVED_RULE_PREFIX)
        return {"rule": rule, "because": "derived" if is_derived else "recorded"}

    def _add_remedies(self) -> None:
        """Add what would have allowed the denied accesses of each request.

        A trace has the ACLs that decided, not all, and not the checks after a denial: so no remedy
        is complete.
        """
        denied_by_request: dict[int, list[dict[str, Any]]] = {}
        for row in self.decisions:
            if not row["allowed"] and row["operation"] in Operation.__members__:
                denied_by_request.setdefault(row["number"], []).append(row)
        cache: dict[str, dict[str, Any] | None] = {}
        for rows in denied_by_request.values():
            accesses = [_required_access(row) for row in rows[:_DENIALS_MAX]]
            key = repr(accesses)
            if key not in cache:
                cache[key] = self._remedy(accesses)
            for row in rows:
                row["would_allow"] = cache[key]

    def _remedy(self, accesses: list[RequiredAccess]) -> dict[str, Any] | None:
        authorizer = StandardAuthorizer(store=AclStore(self._acls))
        steps = steps_to_allow(authorizer, accesses)
        if not steps:
            return None
        remedy = Remedy.from_steps(steps, complete=False)
        advice = [*side_effects_of_steps(authorizer, steps, accesses)]
        advice += [f"not known: {UNKNOWN_AFTER_REMOVAL}"] if remedy.remove else []
        return remedy_json(msgspec.structs.replace(remedy, advice="; ".join(advice)))

    def _number_row(self, row: dict[str, Any]) -> dict[str, Any]:
        self.last += 1
        numbered = {"number": self.last, "api": row["api"] or "unknown", "version": row["version"]}
        return numbered | {name: row[name] for name in _HEAD} | {"client_id": row.get("client_id")}


_REQUEST_FIELDS = ("number", "api", "version", *_HEAD, "client_id")


def _required_access(row: dict[str, Any]) -> RequiredAccess:
    action = Action(
        Operation[row["operation"]], ResourceType[row["resource_type"]], row["resource_name"]
    )
    return RequiredAccess(Actor(row["principal"], row["host"]), ((CheckedAction(action),),))
