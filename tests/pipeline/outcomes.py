"""Results of jobs for tests of HTML pages, written by hand, so that they need no Spark."""

from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_shim.pipeline.jobs.report import summary_notes
from kafka_shim.pipeline.report.outcome import Outcome

BEGIN = datetime(2026, 1, 31, 22, 0, tzinfo=UTC)
HEAD = {"first_seen": BEGIN.isoformat(), "last_seen": (BEGIN + timedelta(hours=6)).isoformat()}
OBSERVED = HEAD | {
    "accesses": 60,
    "distinct": 9,
    "observed_principals": 3,
    "requests": 90,
    "brokers": 2,
    "super_users": [],
    "considered": 50,
    "left_out": [
        {"reason": "a try", "accesses": 10, "principals": {"User:bob": 10}},
    ],
    "unattributed": [],
    "log_has_denials_only": False,
    "damaged_blocks": 1,
    "damaged_bytes": 17,
}
AWKWARD = 'User:<script>alert("1")</script>'
PEOPLE = {"User:alice": 30, "User:bob": 12, AWKWARD: 3}


def denials() -> Outcome:
    rows: list[dict[str, Any]] = [
        {
            "principal": who,
            "operation": "READ",
            "resource_type": "TOPIC",
            "resource_name": f"orders-{n}",
            "requests": requests,
            "first_seen": BEGIN,
            "last_seen": BEGIN,
            "remedy": f"add {{principal: {who}, allow: Read, topic: orders-{n}}}",
        }
        for n, (who, requests) in enumerate(PEOPLE.items())
    ]
    trend = [
        {"time": BEGIN + timedelta(minutes=10 * n), "principal": who, "requests": n % 7 + at}
        for n in range(36)
        for at, who in enumerate(PEOPLE)
        if n % 5 != at
    ]
    shown = list(rows[0])
    notes = ["48 findings", "a note with <b>"]
    return Outcome("denials", shown, shown, rows, HEAD, notes, trend=trend, interval="10 minutes")


def timeline() -> Outcome:
    rows: list[dict[str, Any]] = [
        {
            "time": BEGIN + timedelta(minutes=10 * n),
            "principal": "User:alice",
            "client_id": f"app-{at % 2}",
            "api": api,
            "requests": (n * 37) % 50 + 10 * at,
            "errors": n % 3,
            "latency_us_median": 900 + 10 * n,
            "latency_us_99": 2000 + (n * 977) % 4000 if (n + at) % 6 else None,
        }
        for n in range(36)
        for at, api in enumerate(
            ("Fetch", "Produce", "Metadata", "JoinGroup", "Heartbeat", "Ack", "X")
        )
    ]
    shown = list(rows[0])
    return Outcome("timeline", shown, shown, rows, HEAD, ["252 rows"], interval="10 minutes")


def what_breaks() -> Outcome:
    rows: list[dict[str, Any]] = [
        {
            "change": change,
            "principal": f"User:service-{n}",
            "operation": "WRITE",
            "resource_type": "TOPIC",
            "resource_name": f"a-topic-with-a-rather-long-name-{n:03}",
            "requests": 1000 // (n + 1),
            "requests_changed": 900 // (n + 1),
            "requests_changed_of_principal": 950 // (n + 1),
            "last_seen": BEGIN,
        }
        for change in ("newly denied", "newly allowed")
        for n in range(20)
    ]
    shown = list(rows[0])
    totals = HEAD | {"newly_denied": 20, "requests_newly_failing": 900, "incomplete_input": []}
    return Outcome("what-breaks", shown, shown, rows, totals, ["20 newly denied, 20 newly allowed"])


def unused_acls() -> Outcome:
    acl = "TOPIC|orders|LITERAL|User:bob|*|READ|ALLOW"
    rows: list[dict[str, Any]] = [
        {
            "state": state,
            "can_go": state in ("never used", "shadowed"),
            "requests": 3,
            "acl": acl,
            "not_known": "the log has denials only" if state == "not known" else None,
        }
        for state in ("never used", "shadowed", "needed", "not known")
    ]
    totals: dict[str, Any] = HEAD | {"incomplete_input": []}
    shown = list(rows[0])
    return Outcome("unused-acls", shown, shown, rows, totals, ["2 of 4 ACLs can go"])


def whole_report() -> Outcome:
    nothing = Outcome("damage", ["path"], ["path"], [], {}, ["0 rows"])
    parts = [what_breaks(), denials(), unused_acls(), timeline(), nothing]
    notes = summary_notes(parts, OBSERVED)
    return Outcome("report", [], [], [], HEAD, notes, parts=parts)
