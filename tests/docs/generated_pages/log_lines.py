"""docs/reference/log-lines.md, made from the calls of loggers in the code."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import kafka_shim

_PACKAGE: Final = Path(kafka_shim.__path__[0])
_LEVELS: Final = {
    "debug": "debug",
    "info": "info",
    "warning": "warn",
    "error": "error",
    "exception": "error",
}
_LOGGERS: Final = frozenset({"log", "logger"})
_INTRODUCTION: Final = """\
# Log lines

The lines that a broker, a proxy or a playback logs, on standard error.

`--log-level warn` leaves out the less important levels `info` and `debug`, and `none` leaves out
all lines. The default is `info`. There is no log file: redirect standard error. In pytest, the
report of a failed test has the denials, and [`broker.decisions()`](python-api.md#brokerdecisions)
returns all decisions. A line has an event in words, and named values.

`--log-format json` prints one JSON object per line, with the values, `event`, `level`, `logger` and
`timestamp` (UTC, such as `2026-01-31T18:03:15.910802Z`). At the level info, allowed requests have
no line: `GET /requests` of the [HTTP API](http-api.md), the [inspector](../guides/inspector.md) or
a [trace](../guides/replay.md) (`--record`) show all requests. Lines contain no
[secrets](../explanation/security.md#secrets).

## Decisions

Decisions are logged in the words of the chosen Kafka release. Denials have the level info. Allowed
accesses have the level debug:

```
Principal = User:carol is Denied operation = DESCRIBE from host = 127.0.0.1
on resource = Topic:LITERAL:orders for request = Metadata with resourceRefCount = 1
based on rule DefaultDeny [kafka.authorizer.logger]
to_allow='add {principal: User:carol, allow: Describe, topic: orders}
(a producer needs Write, a consumer Read; both include Describe)'
```

The first denial of a request also has `to_allow`, the smallest change of ACLs that allows the
request. At most 200 decisions of a request are logged for each level. Further ones are only
counted.

## Startup

On standard output, `kafka-shim serve` prints a line `listening on NAME://HOST:PORT` for each
listener, and then `[KafkaServer id=1] started, as Kafka 4.4`. From this line on, clients can
connect. Notes on standard error begin with `kafka-shim: note:`. They report what you probably did
not intend, such as an ACL without effect or an ignored setting.

## Events

| event | level | values | meaning |
|---|---|---|---|
"""
_REQUEST_VALUES: Final = ("api_key", "api_version", "correlation_id")
_REPORT: Final = "A defect of kafka-shim. Report it, with the traceback."
_MEANINGS: Final = {
    "a broker's address is invalid, or there are too many brokers: clients get the address"
    " unchanged, and the proxy does not record their requests to this broker": (
        "The cluster named a broker that the proxy cannot stand in for. The trace lacks the"
        " requests to it."
    ),
    "all TLS 1.3 suites are enabled: they cannot be chosen": (
        "Python's TLS library cannot choose among them. Use TLS 1.2 to test a choice of suites."
    ),
    "authentication failed": (
        "A user is unknown, a password is wrong, or a token is invalid: see `reason`, and"
        " [Troubleshooting](../guides/troubleshooting.md#wrong-user-or-password)."
    ),
    "broker created": "A test or program created a broker through the control API.",
    "broker not reached": (
        "The proxy could not connect to a broker of the cluster, or not authenticate there. The"
        " client was disconnected. Verify the address and the credentials of the proxy."
    ),
    "broker removed": "A broker that was created through the control API was stopped.",
    "cannot write": (
        "The data directory cannot be written, for `reason`: often the disk is full. The broker"
        " stops, so that no change is acknowledged that is not on disk."
    ),
    "cannot listen for a broker": (
        "The proxy found no port for a broker of the cluster. Clients connect to that broker"
        " directly, and the trace lacks their requests to it."
    ),
    "connection closed": (
        "The broker closed a connection, for `reason`:"
        " [Troubleshooting](../guides/troubleshooting.md#a-connection-was-closed)."
    ),
    "connections closed": "`count` further connections were closed for the same reason.",
    "further decisions of this request are not logged": (
        "The request had more than 200 denied, or 200 allowed, decisions. The values are the"
        " numbers of decisions that were left out."
    ),
    "handler failed": f"The client got UNKNOWN_SERVER_ERROR. {_REPORT}",
    "handler performed no authorization check": f"The client got UNKNOWN_SERVER_ERROR. {_REPORT}",
    "link broke: a bug of the proxy": f"A proxied connection was closed. {_REPORT}",
    "link ended": (
        "A connection through the proxy broke, or one side sent invalid bytes: see `reason`."
    ),
    "log cannot be compacted": (
        "Records of a compacted topic cannot be read, or need a package to decompress them:"
        " see `reason`. All records are kept."
    ),
    "no recorded response": (
        "The cassette has no response to a request: see"
        " [Cassettes](../guides/cassettes.md#mismatches)."
    ),
    "recording has ended early": (
        "The trace cannot be written, for `reason`. The broker goes on, and its later requests are"
        " not recorded."
    ),
    "records that cannot be masked are left out": (
        "The recorder could not read records that `--mask` applies to. The trace lacks them."
    ),
    "response cannot be written": f"The connection was closed. {_REPORT}",
    "the file `lock` is missing or from another time: whether the last changes are there is not"
    " known": ("Copy a data directory with its file `lock`, and only while no broker uses it."),
    "changed tls store not loaded": (
        "The file of a keystore or truststore has changed, or a stored setting names one, and it is"
        " invalid for `reason`. The listener keeps the one before."
    ),
    "host is not in the generated certificate": (
        "A certificate cannot name a host with `_`. Advertise another name, or use your own one."
    ),
    "tls settings without effect here": (
        "These settings of a real broker are accepted, and change nothing."
    ),
}
"""What each event says about the broker, and what to do about it."""


class LogCall(NamedTuple):
    """A call of a logger with a literal text."""

    event: str
    level: str
    values: tuple[str, ...]


def log_lines_page() -> str:
    """Return the page: each event with its level, its values and its meaning.

    Raises:
        ValueError: an event has no meaning here, or a meaning has no event.
    """
    calls = set(_calls())
    if {call.event for call in calls} != _MEANINGS.keys():
        differing = {call.event for call in calls} ^ _MEANINGS.keys()
        raise ValueError(f"events without a meaning, or meanings without an event: {differing}")
    rows = [
        f"| {call.event} | {call.level} | {', '.join(f'`{name}`' for name in call.values)} |"
        f" {_MEANINGS[call.event]} |"
        for call in sorted(calls)
    ]
    return _INTRODUCTION + "\n".join(rows) + "\n"


def _calls() -> Iterator[LogCall]:
    for path in _PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            logger, event = node.func.value, node.args[0] if node.args else None
            if (
                isinstance(logger, ast.Name)
                and logger.id in _LOGGERS
                and node.func.attr in _LEVELS
                and isinstance(event, ast.Constant)
            ):
                names = tuple(
                    keyword.arg
                    for keyword in node.keywords
                    if keyword.arg and keyword.arg != "exc_info"
                )
                if any(keyword.arg is None for keyword in node.keywords):
                    names += _REQUEST_VALUES
                yield LogCall(str(event.value), _LEVELS[node.func.attr], names)
