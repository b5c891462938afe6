"""Totals for Prometheus, in its text format."""

from collections.abc import Iterator

from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry

from kafka_shim.protocol.code_names import error_name
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.observing.request_history import History


class _BrokerCollector(Collector):
    """Reads the counts at each scrape, so that nothing is counted twice."""

    def __init__(self, broker: Broker, history: History) -> None:
        self._broker = broker
        self._history = history

    def collect(self) -> Iterator[Metric]:
        yield self._response_counts()
        yield self._decision_counts()
        counters = self._broker.cluster.counters
        for name, text, value in (
            ("connections", "Connections accepted since the start", counters.connections),
            ("connections_closed", "Connections that the broker closed", counters.closed),
            ("failed_authentications", "Failed authentications", counters.failed_logins),
            (
                "internal_errors",
                "Requests answered with UNKNOWN_SERVER_ERROR",
                counters.internal_errors,
            ),
        ):
            yield CounterMetricFamily(f"kafka_shim_{name}", text, value=value)
        fired = CounterMetricFamily(
            "kafka_shim_faults_fired", "Requests affected by a fault", labels=["fault"]
        )
        for fault in self._broker.faults:
            fired.add_metric([str(fault.fault_id)], fault.fired)
        yield fired
        yield GaugeMetricFamily(
            "kafka_shim_open_connections", "Clients connected", value=self._broker.connection_count
        )

    def _response_counts(self) -> Metric:
        counts = CounterMetricFamily(
            "kafka_shim_requests",
            "Responses by API, version and error: one count for each error in the response,"
            " or NONE if there is no error",
            labels=["api", "version", "error"],
        )
        for (api, version, error), count in self._history.response_counts.items():
            counts.add_metric([api, str(version), error_name(error)], count)
        return counts

    def _decision_counts(self) -> Metric:
        counts = CounterMetricFamily(
            "kafka_shim_authz_decisions",
            "Authorization decisions",
            labels=["operation", "resource_type", "result", "rule_kind", "api"],
        )
        for key, count in self._history.decision_counts.items():
            operation, resource_type, allowed, rule_kind, api = key
            result = "allowed" if allowed else "denied"
            counts.add_metric([operation, resource_type, result, rule_kind, api], count)
        return counts


def metrics_text(broker: Broker, history: History) -> str:
    """Return the metrics for a scrape."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_BrokerCollector(broker, history))
    return generate_latest(registry).decode()
