"""docs/reference/metrics.md, made from the metrics of the control API."""

import inspect
import re
from typing import Final

from kafka_shim.shim.control import prometheus_metrics

_INTRODUCTION: Final = """\
# Metrics

Metrics of a broker for monitoring with Prometheus, from `GET /metrics` of the [HTTP
API](http-api.md). The API needs the option `--control` and the [extra](../start/install.md#extras)
`control`. Denied permission checks have `result="denied"` in `kafka_shim_authz_decisions_total`.
Denied requests have an `error` such as `TOPIC_AUTHORIZATION_FAILED` in `kafka_shim_requests_total`.

In `prometheus.yml`, the target is the address of `--control`, such as `127.0.0.1:8082`. With
`--control-token`, Prometheus needs `authorization: {credentials: TOKEN}`. There is no JMX and no
OpenTelemetry. No metric has latencies: [`pipeline timeline`](../guides/pipeline.md#jobs) prints
them for a recorded trace. No metric has the lag of consumers: `GET /groups` has it. No metric has
the principal or the topic: `GET /decisions` has both. `curl -s http://127.0.0.1:8082/metrics` shows
whether the metrics can be read. In Python, [`broker.metrics()`](python-api.md#brokermetrics)
returns them.

`increase(kafka_shim_authz_decisions_total{result="denied"}[5m]) > 0` is an alert on denials.
Counters count since the start of the process. A reset of the broker does not set them to 0, but a
restart does, also with `--data-dir`. For brokers that are created over the HTTP API, each has
its own metrics. The brokers of one cluster (`--brokers 3`) share them: no metric names the node.

| metric | type | labels | meaning |
|---|---|---|---|
"""
_FAMILY: Final = re.compile(
    r'(Counter|Gauge)MetricFamily\(\s*"(kafka_shim_\w+)",\s*((?:"[^"]+"\s*)+)'
    r"(?:,\s*labels=\[([^\]]*)\])?"
)
_SIMPLE: Final = re.compile(r'\(\s*"(\w+)",\s*((?:"[^"]+"\s*)+),\s*counters\.')


def metrics_page() -> str:
    """Return the page: each metric with its type, its labels and its meaning."""
    source = inspect.getsource(prometheus_metrics)
    rows = [
        (name, kind.lower(), ", ".join(re.findall(r'"(\w+)"', labels)), text)
        for kind, name, text, labels in _FAMILY.findall(source)
    ]
    rows += [(f"kafka_shim_{name}", "counter", "", text) for name, text in _SIMPLE.findall(source)]
    lines = [
        f"| `{name}{'_total' if kind == 'counter' else ''}` | {kind} | {labels} | {_joined(text)} |"
        for name, kind, labels, text in sorted(rows)
    ]
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _joined(literals: str) -> str:
    """Return the text of adjacent literals."""
    return "".join(re.findall(r'"([^"]+)"', literals))
