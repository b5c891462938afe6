"""How Kafka releases differ about the metrics of clients (KIP-714).

Found by sending the same requests to brokers with a receiver for metrics.
"""

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.change import Change


class TelemetryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of a release about clients' metrics, since 3.7, the first release with them."""

    # subscriptions
    empty_metrics_match_selects_all_clients: bool = False
    """An empty `match` matches all clients (False: it is an invalid pattern)."""
    metrics_match_ignores_spaces: bool = False
    """Spaces around `=` are ignored (False: they are part of the pattern)."""
    invalid_metrics_interval_error: ErrorCode = ErrorCode.UNKNOWN_SERVER_ERROR
    """Error code of an interval that is not a number."""
    metrics_interval_ignores_spaces: bool = False
    """Spaces around an interval are ignored (False: it is invalid)."""
    # requests
    outdated_subscription_allows_immediate_get: bool = False
    """A client with an outdated subscription may ask again immediately."""
    pushed_metrics_are_decompressed: bool = False
    """Pushed metrics are decompressed (False: receivers get the bytes as sent)."""
    push_limit_counts_decompressed_bytes: bool = False
    """The limit for a push also applies to its decompressed size."""


CHANGES: tuple[Change, ...] = (
    Change(
        "3.8",
        "pushes are decompressed",
        pushed_metrics_are_decompressed=True,
        metrics_match_ignores_spaces=True,
    ),
    Change(
        "4.0",
        "settings of subscriptions are validated like other settings",
        empty_metrics_match_selects_all_clients=True,
        invalid_metrics_interval_error=ErrorCode.INVALID_CONFIG,
        metrics_interval_ignores_spaces=True,
    ),
    Change(
        "4.0.1",
        "clients fetch a new subscription immediately after errors",
        outdated_subscription_allows_immediate_get=True,
    ),
    Change(
        "4.2.2",
        "the limit also applies to decompressed pushes",
        push_limit_counts_decompressed_bytes=True,
    ),
)
