"""Denials and refused authentications, as rows and as text for the report of a failed test."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import parse_operation, parse_resource
from kafka_shim.policy.formats.yaml_rules import rule_line
from kafka_shim.shim.control.control_error import (
    ControlError,
    query_number,
    query_principal,
)
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.state.cluster import Cluster

_EQUAL_COLUMNS = ("principal", "api", "operation", "resource_type", "resource_name", "rule")


def denial_report(history: History, cluster: Cluster, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the denials that Kafka's audit log has, equal ones once, and what a failed test shows.

    The text has other denials if there are none of the log.
    """
    after = query_number(query, "after", 0)
    rows = [
        row
        for entry in history
        if entry.number > after
        for row in entry.decision_rows()
        if not row["allowed"]
    ]
    logged = [row for row in rows if row["logged"]]
    authentications, last = (
        cluster.authentications,
        query_number(query, "after_authentication", 0),
    )
    refused = [msgspec.structs.asdict(row) for row in authentications if row.number > last]
    sections = {
        "Denied by the Kafka broker": _denials_text(logged),
        "Denied by the Kafka broker, without a line in Kafka's audit log": ""
        if logged
        else _denials_text(rows),
        "Not authenticated by the Kafka broker": refused_authentications_text(
            refused, cluster.mechanisms_by_listener
        ),
    }
    return {
        "denials": _deduplicate_denials(logged),
        "report": [{"title": title, "text": text} for title, text in sections.items() if text],
        "last": history.last_number,
        "last_authentication": authentications.last_number,
    }


def check_denial(history: History, cluster: Cluster, query: Mapping[str, str]) -> dict[str, Any]:
    """Return whether a principal was denied an operation, also without a line in the log, and a
    text for a test that expected it.
    """
    principal = query_principal(query)
    if principal is None:
        raise ControlError(400, "principal is missing; expected one such as alice or User:alice")
    operation = parse_operation(query.get("operation", ""))
    resource_type, name = parse_resource(query.get("resource", ""))
    expected = {
        "principal": principal,
        "operation": operation.name,
        "resource_type": resource_type.name,
        "resource_name": name,
        "allowed": False,
    }
    report = "\n".join(each["text"] for each in denial_report(history, cluster, {})["report"])
    return {
        "denied": any(
            all(row[column] == value for column, value in expected.items())
            for entry in history
            for row in entry.decision_rows()
        ),
        "text": f"{principal} was not denied {operation.name} on {resource_type.name} {name};"
        f" what was denied:\n{report or 'nothing'}",
    }


def _deduplicate_denials(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first one of equal denials, with the count of all."""
    first_rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        first = first_rows.setdefault(tuple(row[name] for name in _EQUAL_COLUMNS), row)
        if first is not row:
            first["count"] += row["count"]
    return list(first_rows.values())


def _denials_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one paragraph for each distinct denial."""
    counts: dict[tuple[str, ...], int] = {}
    for row in rows:
        remedy = row["would_allow"] or {"add": [], "remove": [], "advice": ""}
        resource = f"{row['resource_type']} {row['resource_name']}"
        key = (
            f"{row['principal']} was denied {row['operation']} on {resource}",
            f"{row['api']} v{row['version']}",
            row["rule"],
            _remedy_text(remedy),
        )
        counts[key] = counts.get(key, 0) + 1
    return "\n".join(
        f"{denial} ({api}{_repetition_suffix(count)}): {why}{advice}"
        for (denial, api, why, advice), count in counts.items()
    )


def refused_authentications_text(
    rows: Iterable[Mapping[str, Any]], enabled_mechanisms: Mapping[str, Iterable[str]]
) -> str:
    """Return one line for each distinct failed authentication; mechanisms are by listener."""
    counts: dict[str, int] = {}
    for row in rows:
        if row["error"] is None:
            continue
        user = "a client without a readable name" if row["user"] is None else row["user"]
        mechanisms = ", ".join(enabled_mechanisms.get(row["listener"], ())) or "nothing"
        line = (
            f"{user} was refused on {row['listener']} by {row['mechanism']}: {row['error']}"
            f" (enabled: {mechanisms})"
        )
        counts[line] = counts.get(line, 0) + 1
    return "\n".join(f"{line}{_repetition_suffix(count)}" for line, count in counts.items())


def _remedy_text(remedy: Mapping[str, Any]) -> str:
    """Return the lines about what would allow the whole request."""
    added, removed = remedy["add"], remedy["remove"]
    if not added and not removed:
        return ""
    advice = f"\n  ({remedy['advice']})" if remedy["advice"] else ""
    if len(added) == 1 and not removed:
        return f"\n  the smallest ACL that allows it: {rule_line(added[0])}{advice}"
    lines = [f"add {rule_line(rule)}" for rule in added]
    lines += [f"remove {rule_line(rule)}" for rule in removed]
    lead = "DENY always wins; " if removed else ""
    if len(lines) == 1:
        return f"\n  {lead}to allow it, {lines[0]}{advice}"
    return f"\n  {lead}to allow it, all of:" + "".join(f"\n    {line}" for line in lines) + advice


def _repetition_suffix(count: int) -> str:
    return "" if count == 1 else f", {count} times"
