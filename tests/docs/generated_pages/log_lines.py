"""docs/reference/log-lines.md, made from the calls of loggers in the code."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import kafka_shim.shim

_SHIM: Final = Path(kafka_shim.shim.__path__[0])
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

`--log-level warn` leaves out the less important levels `info` and `debug`. `--log-format json`
prints one JSON object per line. A line has an event in words, and named values.

## Decisions

Decisions are logged in the words of the chosen Kafka release. Denials have the level info. Allowed
accesses have the level debug:

```
Principal = User:carol is Denied operation = DESCRIBE from host = 127.0.0.1
on resource = Topic:LITERAL:orders for request = Metadata with resourceRefCount = 1
based on rule DefaultDeny [kafka.authorizer.logger]
to_allow='add {principal: User:carol, allow: Describe, topic: orders}'
```

The first denial of a request also has `to_allow`, the smallest change of ACLs that allows the
request. At most 200 decisions of a request are logged for each level. Further ones are only
counted.

## Events

| event | level | values | logged by |
|---|---|---|---|
"""


class LogCall(NamedTuple):
    """A call of a logger with a literal text."""

    event: str
    level: str
    values: tuple[str, ...]
    path: str


def log_lines_page() -> str:
    """Return the page: each event with its level and its values."""
    rows = [
        f"| {call.event} | {call.level} | {', '.join(f'`{name}`' for name in call.values)} |"
        f" `{call.path}` |"
        for call in sorted(set(_calls()))
    ]
    return _INTRODUCTION + "\n".join(rows) + "\n"


def _calls() -> Iterator[LogCall]:
    for path in _SHIM.rglob("*.py"):
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
                names = tuple(keyword.arg for keyword in node.keywords if keyword.arg)
                source = path.relative_to(_SHIM.parent).as_posix()
                yield LogCall(str(event.value), _LEVELS[node.func.attr], names, source)
